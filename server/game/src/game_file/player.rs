//! The table `[player]`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::GameFileError;
use super::number::Number;

/// Range of the health. Its values fit easily into the 16-bit numbers in which the arena game
/// counts.
const HEALTH: Number = Number { name: "health", range: 1.0..=10_000.0 };

/// Range of the seconds until a dead player comes back. The minimum is one tick at the lowest tick
/// rate. A player who came back at once would never be dead.
const RESPAWN: Number = Number { name: "respawn_seconds", range: 0.1..=60.0 };

/// The numbers of a player in the arena game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerParameters {
    /// Health of a player who has just spawned.
    pub health: i16,
    /// Seconds until a player who died comes back.
    pub respawn_seconds: f64,
}

impl Default for PlayerParameters {
    fn default() -> Self {
        Self { health: 100, respawn_seconds: 2.0 }
    }
}

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPlayer {
    health: Option<Spanned<f64>>,
    respawn_seconds: Option<Spanned<f64>>,
    /// [`PlayerSize`](obsp::PlayerSize) reads this key and the next two, on servers and in the map
    /// compiler.
    #[serde(rename = "width")]
    _width: Option<IgnoredAny>,
    #[serde(rename = "height")]
    _height: Option<IgnoredAny>,
    #[serde(rename = "crouched_height")]
    _crouched_height: Option<IgnoredAny>,
}

impl RawPlayer {
    pub(super) fn of(health: Option<Spanned<f64>>, respawn_seconds: Option<Spanned<f64>>) -> Self {
        Self { health, respawn_seconds, _width: None, _height: None, _crouched_height: None }
    }

    pub(super) fn parameters(self, text: &str) -> Result<PlayerParameters, GameFileError> {
        let usual = PlayerParameters::default();
        Ok(PlayerParameters {
            health: HEALTH.read_whole(text, self.health.as_ref(), usual.health)?,
            respawn_seconds: RESPAWN.read(
                text,
                self.respawn_seconds.as_ref(),
                usual.respawn_seconds,
            )?,
        })
    }
}
