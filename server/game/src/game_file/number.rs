//! Numbers of a `game.toml`, each within its range.

use std::ops::RangeInclusive;

use toml::Spanned;

use super::GameFileError;

/// A number of the file: its name, and the range of its values.
pub(super) struct Number {
    pub(super) name: &'static str,
    pub(super) range: RangeInclusive<f64>,
}

impl Number {
    /// The number that is written in `text`, or the default.
    pub(super) fn read(
        &self,
        text: &str,
        written: Option<&Spanned<f64>>,
        usual: f64,
    ) -> Result<f64, GameFileError> {
        let Some(written) = written else { return Ok(usual) };
        let value = *written.get_ref();
        if self.range.contains(&value) {
            return Ok(value);
        }
        let (name, least, most) = (self.name, self.range.start(), self.range.end());
        let message = format!("{name} is {value}, not between {least} and {most}");
        Err(GameFileError::at(text, written.span().start, message))
    }

    /// [`Number::read`] for a whole number.
    pub(super) fn read_whole(
        &self,
        text: &str,
        written: Option<&Spanned<f64>>,
        usual: i16,
    ) -> Result<i16, GameFileError> {
        let value = self.read(text, written, f64::from(usual))?;
        match written {
            Some(written) if value.fract() != 0.0 => {
                let message = format!("{} is {value}, not a whole number", self.name);
                Err(GameFileError::at(text, written.span().start, message))
            }
            // The ranges of all whole numbers fit into the type.
            _ => Ok(value as i16),
        }
    }
}
