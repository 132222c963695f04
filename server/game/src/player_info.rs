use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

/// The facts about a player that the simulation does not need.
///
/// ```
/// use std::sync::Arc;
///
/// use obsp_game::{Game, Match, PlayerInfo, RunningMatch, WorldMut};
/// use obsp_sim::{Config, EntityId, PlayerKind};
///
/// #[derive(Clone, Debug)]
/// struct Greeter;
///
/// impl Game for Greeter {
///     type State = ();
///
///     fn set_up(&self, _: &mut WorldMut<'_>) {}
///
///     fn joined(&self, _: &mut (), world: &mut WorldMut<'_>, player: EntityId) {
///         let name = world.player(player).map(|player| player.name.clone());
///         world.announce(format!("{} is here", name.unwrap_or_default()));
///     }
/// }
///
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut game = Match::new(Greeter, map, Config::default())?;
/// game.join(PlayerKind::Box, PlayerInfo::named("Ann"))?;
/// game.step(&[]);
/// let event = game.events().iter().find_map(|event| match event {
///     obsp_game::Event::Announced { line } => Some(line.as_str()),
///     _ => None,
/// });
/// assert_eq!(event, Some("Ann is here"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerInfo {
    /// The name under which the player plays. Empty if the match was not told a name.
    pub name: String,
    /// The number by which the player's connect token identifies the player, if there was a token,
    /// and if the game [uses such numbers](crate::Game::uses_player_ids). It stays the same from
    /// match to match.
    pub player_id: Option<u64>,
}

impl PlayerInfo {
    /// A player with a name and without a token.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), player_id: None }
    }
}

/// The players of a match whose name or number is known, in ascending order of id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KnownPlayers(Vec<(EntityId, PlayerInfo)>);

impl KnownPlayers {
    /// The players from a saved match; `None` if they are not in order.
    pub(crate) fn in_order(self) -> Option<Self> {
        self.0.is_sorted_by(|(a, _), (b, _)| a < b).then_some(self)
    }

    fn find(&self, id: EntityId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |(known, _)| *known)
    }

    /// Notes name and number of a player. A player without both is forgotten.
    pub(crate) fn note(&mut self, id: EntityId, info: PlayerInfo) {
        if info == PlayerInfo::default() {
            return self.forget(id);
        }
        match self.find(id) {
            Ok(at) => self.0[at].1 = info,
            Err(at) => self.0.insert(at, (id, info)),
        }
    }

    pub(crate) fn forget(&mut self, id: EntityId) {
        if let Ok(at) = self.find(id) {
            self.0.remove(at);
        }
    }

    pub(crate) fn get(&self, id: EntityId) -> Option<&PlayerInfo> {
        self.find(id).ok().map(|at| &self.0[at].1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(EntityId, PlayerInfo)> {
        self.0.iter()
    }
}
