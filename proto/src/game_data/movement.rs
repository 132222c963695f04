//! The table `[movement]`.

use obsp_sim::MovementParameters;
use serde::Deserialize;
use toml::Spanned;

use super::GameFileError;

/// The table as it is written: the names are those of [`MovementParameters::RANGES`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMovement {
    run_speed: Option<Spanned<f64>>,
    slow_share: Option<Spanned<f64>>,
    friction: Option<Spanned<f64>>,
    stop_speed: Option<Spanned<f64>>,
    ground_acceleration: Option<Spanned<f64>>,
    air_acceleration: Option<Spanned<f64>>,
    jump_speed: Option<Spanned<f64>>,
    gravity: Option<Spanned<f64>>,
    step_height: Option<Spanned<f64>>,
}

impl RawMovement {
    pub(super) fn parameters(self, text: &str) -> Result<MovementParameters, GameFileError> {
        let mut numbers = MovementParameters::default().to_array();
        let written = [
            self.run_speed,
            self.slow_share,
            self.friction,
            self.stop_speed,
            self.ground_acceleration,
            self.air_acceleration,
            self.jump_speed,
            self.gravity,
            self.step_height,
        ];
        for (index, value) in written.into_iter().enumerate() {
            let Some(value) = value else { continue };
            numbers[index] = *value.get_ref();
            MovementParameters::from_array(numbers)
                .map_err(|error| GameFileError::at(text, value.span().start, error.to_string()))?;
        }
        // Each number has been checked, so the default is never used.
        Ok(MovementParameters::from_array(numbers).unwrap_or_default())
    }
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
