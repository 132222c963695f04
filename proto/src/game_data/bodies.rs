//! The table `[bodies]`: numbers for all bodies.

use obsp_sim::BODY_GRAVITIES;
use serde::Deserialize;
use toml::Spanned;

use super::GameFileError;

/// The table `[bodies]` as it is written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBodies {
    gravity: Option<Spanned<f64>>,
}

impl RawBodies {
    /// The gravity of bodies, in units per second squared.
    pub(super) fn gravity(&self, text: &str) -> Result<f64, GameFileError> {
        let Some(written) = &self.gravity else { return Ok(obsp_sim::BODY_GRAVITY) };
        let value = *written.get_ref();
        if BODY_GRAVITIES.contains(&value) {
            return Ok(value);
        }
        let (least, most) = BODY_GRAVITIES.into_inner();
        let message = format!("gravity is {value}, not between {least} and {most}");
        Err(GameFileError::at(text, written.span().start, message))
    }
}
