//! The table `[movement]`, and the tables `[movements.NAME]` of other sets.

use std::collections::BTreeMap;

use obsp_sim::{MovementParameters, MovementSetError, MovementSets};
use toml::Spanned;

use super::GameFileError;

/// The table as it is written: the keys are the names of [`MovementParameters::RANGES`].
pub(super) type RawMovement = BTreeMap<Spanned<String>, Spanned<f64>>;

/// The other sets as they are written, by their names.
pub(super) type RawMovements = BTreeMap<Spanned<String>, RawMovement>;

/// The sets that the tables in `text` declare. A parameter that is left out of `[movement]` has its
/// default. A parameter that is left out of another set is as in `[movement]`.
pub(super) fn sets(
    usual: &RawMovement,
    others: &RawMovements,
    text: &str,
) -> Result<MovementSets, GameFileError> {
    let usual = parameters(usual, MovementParameters::default(), text)?;
    let mut sets = MovementSets::from(usual);
    for (name, raw) in others {
        let set = parameters(raw, usual, text)?;
        sets = sets
            .with(name.get_ref(), set)
            .map_err(|error| GameFileError::at(text, name.span().start, error.to_string()))?;
    }
    Ok(sets)
}

/// The sets of a file, and those of the game's own code whose names the file does not have.
pub(super) fn with_own(
    mut sets: MovementSets,
    own: &[(&str, MovementParameters)],
) -> Result<MovementSets, MovementSetError> {
    for (name, parameters) in own {
        if sets.find(name).is_none() {
            sets = sets.with(name, *parameters)?;
        }
    }
    Ok(sets)
}

/// The parameters that a table in `text` sets. A parameter that is left out is as in `usual`.
fn parameters(
    raw: &RawMovement,
    usual: MovementParameters,
    text: &str,
) -> Result<MovementParameters, GameFileError> {
    let names = MovementParameters::RANGES.map(|(name, ..)| name);
    let mut parameters = usual;
    for (key, value) in raw {
        let Some(index) = names.iter().position(|name| name == key.get_ref()) else {
            let names = names.map(|name| format!("`{name}`")).join(", ");
            let message = format!("unknown field `{}`, expected one of {names}", key.get_ref());
            return Err(GameFileError::at(text, key.span().start, message));
        };
        let mut numbers = parameters.to_array();
        numbers[index] = *value.get_ref();
        parameters = MovementParameters::from_array(numbers)
            .map_err(|error| GameFileError::at(text, value.span().start, error.to_string()))?;
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::super::GameData;
    use super::*;

    #[test]
    fn every_number_is_read_and_what_is_left_out_is_as_usual() {
        assert_eq!(GameData::parse(""), Ok(GameData::default()));
        for (index, (name, least, _)) in MovementParameters::RANGES.into_iter().enumerate() {
            let file = GameData::parse(&format!("[movement]\n{name} = {least}")).unwrap();
            let mut expected = MovementParameters::default().to_array();
            expected[index] = least;
            assert_eq!(file.movement().to_array(), expected, "{name}");
        }
    }

    #[test]
    fn other_sets_follow_the_usual_one_and_the_code_adds_its_own() {
        let text = "[movement]\ngravity = 400\n[movements.haste]\nrun_speed = 640\n";
        let file = GameData::parse(text).unwrap();
        let slow = MovementParameters { run_speed: 80.0, ..MovementParameters::default() };
        let all = file.with_movements(&[("haste", slow), ("slow", slow)]).unwrap();
        let sent = GameData::from_bytes(all.bytes()).unwrap();
        let sets = sent.movement_sets();
        let speed = |name| sets.find(name).map(|id| (sets.get(id).run_speed, sets.get(id).gravity));
        assert_eq!(speed("haste"), Some((640.0, 400.0)), "the file comes before the code");
        assert_eq!((speed("slow"), speed("none")), (Some((80.0, 800.0)), None));
        // Sets of the code alone are data as well.
        let own = GameData::default().with_movements(&[("slow", slow)]).unwrap();
        assert_eq!(GameData::from_bytes(own.bytes()).unwrap(), own);
        assert!(own.hash().is_some());
        let many: String = (0..16).map(|n| format!("[movements.set{n}]\n")).collect();
        let error = GameData::parse(&many).unwrap_err().to_string();
        assert!(error.contains("one too many") && error.contains("line "), "{error}");
        let error = GameData::parse("[movements.haste]\nrunspeed = 3").unwrap_err().to_string();
        assert!(error.contains("unknown field `runspeed`"), "{error}");
    }
}
