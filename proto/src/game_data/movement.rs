//! The table `[movement]`.

use std::collections::BTreeMap;

use obsp_sim::MovementParameters;
use toml::Spanned;

use super::GameFileError;

/// The table as it is written: the keys are the names of [`MovementParameters::RANGES`].
pub(super) type RawMovement = BTreeMap<Spanned<String>, Spanned<f64>>;

/// The parameters that the table in `text` sets. A parameter that is left out has its default.
pub(super) fn parameters(
    raw: &RawMovement,
    text: &str,
) -> Result<MovementParameters, GameFileError> {
    let names = MovementParameters::RANGES.map(|(name, ..)| name);
    let mut parameters = MovementParameters::default();
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
}
