//! What a designer sets without code: the file `game.toml` beside a map.

use obsp_sim::MovementParameters;
use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

/// The name of the file, in the folder of the map.
pub const GAME_FILE: &str = "game.toml";

/// The content of a `game.toml`. All of it may be left out.
///
/// ```
/// let file = obsp_game::GameFile::parse("[movement]\ngravity = 400\njump_speed = 300.0")?;
/// assert_eq!(file.movement.gravity, 400.0);
/// assert_eq!(file.movement.run_speed, 320.0, "as usual");
/// # Ok::<(), obsp_game::GameFileError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GameFile {
    /// The numbers by which players on foot move. Clients are told of them when they join,
    /// and predict by them.
    pub movement: MovementParameters,
}

/// Why a text is no `game.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct GameFileError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The fault there.
    pub message: String,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    movement: Option<Movement>,
}

/// The table `[movement]`: the names are those of [`MovementParameters::RANGES`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Movement {
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

impl GameFile {
    /// Reads the text of a `game.toml`.
    ///
    /// # Errors
    /// [`GameFileError`] says where the text is not TOML, a key is unknown, or a number out
    /// of its range.
    pub fn parse(text: &str) -> Result<Self, GameFileError> {
        let written: Written = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            GameFileError::new(text, at, error.message())
        })?;
        let Some(movement) = written.movement else { return Ok(Self::default()) };
        Ok(Self { movement: movement.parameters(text)? })
    }
}

impl GameFileError {
    fn new(text: &str, at: usize, message: impl Into<String>) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        Self { line, column, message: message.into() }
    }
}

impl Movement {
    fn parameters(self, text: &str) -> Result<MovementParameters, GameFileError> {
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
                .map_err(|error| GameFileError::new(text, value.span().start, error.to_string()))?;
        }
        // Each of them has been checked.
        Ok(MovementParameters::from_array(numbers).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        GameFile::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_number_is_read_and_what_is_left_out_is_as_usual() {
        assert_eq!(GameFile::parse(""), Ok(GameFile::default()));
        for (index, (name, least, _)) in MovementParameters::RANGES.into_iter().enumerate() {
            let file = GameFile::parse(&format!("[movement]\n{name} = {least}")).unwrap();
            let mut expected = MovementParameters::default().to_array();
            expected[index] = least;
            assert_eq!(file.movement.to_array(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let unknown = refused("[movement]\ngravity = 1\nrunspeed = 3\n");
        assert!(unknown.starts_with("line 3, column 1: ") && unknown.contains("run_speed"));
        assert!(refused("[weapon]\n").starts_with("line 1, column "), "{}", refused("[weapon]"));
        let range = refused("\n[movement]\nstep_height =  65");
        assert_eq!(range, "line 3, column 16: step_height is 65, not within 0 and 64");
        assert!(refused("[movement]\ngravity = nan").contains("not within"));
        assert!(refused("[movement]\ngravity = 'high'").starts_with("line 2, column 11: "));
        assert!(refused("[movement").starts_with("line 1, column "));
    }
}
