use std::time::Duration;

use obsp_proto::control::PlayerName;

use super::Seat;
use crate::door::admission::KeptPlace;
use crate::door::clients::Registration;

/// The body, score and places of a player who is away.
#[derive(Debug)]
pub(crate) struct AwayPlayer {
    pub(crate) name: PlayerName,
    pub(crate) player_id: Option<u64>,
    /// The player's place among the clients.
    pub(crate) registration: Registration,
    /// The player's place in the table of addresses.
    pub(crate) place: KeptPlace,
    /// The player's body. `None` if the connection was lost between two levels.
    pub(crate) seat: Option<Seat>,
    /// Whether the player has left for good. The body then stays only until its fight is over.
    pub(crate) has_left: bool,
}

/// The rules for the bodies of players whose connection ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeavingRules {
    /// Whether the body of a player whose connection is lost cannot be hurt.
    pub(crate) protects: bool,
    /// How long a player is in a fight after another player has hurt them. A body is protected only
    /// after its player was silent for this long.
    pub(crate) combat_time: Duration,
}
