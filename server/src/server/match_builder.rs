use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use obsp_game::AnyGame;
use obsp_game::arena::Arena;
use obsp_proto::control::{MAX_MATCHES, MatchName};

use super::options::Options;
use crate::common::error::StartError;

/// The name of a server's first match.
pub(super) const FIRST: &str = "main";

/// A further match of a server. It has some options of its own. All other options are the server's.
///
/// ```
/// use server::{MatchBuilder, Server};
///
/// let duel = MatchBuilder::new("warren").max_players(2);
/// let server = Server::builder().map("arena").add_match("duel", duel);
/// ```
#[derive(Clone)]
pub struct MatchBuilder {
    map: String,
    maps: Vec<String>,
    game: Arc<dyn AnyGame>,
    objects: u32,
    max_players: Option<u16>,
    seed: Option<u64>,
    tanks: u16,
    record: Option<PathBuf>,
}

impl fmt::Debug for MatchBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MatchBuilder").field("map", &self.map).finish_non_exhaustive()
    }
}

impl MatchBuilder {
    /// A match of the arena game on this map: a path, or a name found in `maps/`.
    pub fn new(map: impl AsRef<Path>) -> Self {
        Self {
            map: map.as_ref().to_string_lossy().into_owned(),
            maps: Vec::new(),
            game: Arc::new(Arena),
            objects: 0,
            max_players: None,
            seed: None,
            tanks: 0,
            record: None,
        }
    }

    /// The game.
    pub fn game(mut self, game: impl AnyGame + 'static) -> Self {
        self.game = Arc::new(game);
        self
    }

    /// Maps that follow the first one, in rounds by the server's rules.
    pub fn rotation(mut self, maps: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.maps = maps.into_iter().map(Into::into).collect();
        self
    }

    /// Props that are scattered in addition to the props of the map and the game.
    pub fn objects(mut self, objects: u32) -> Self {
        self.objects = objects;
        self
    }

    /// Maximum number of players at a time; by default as many as in the first match.
    pub fn max_players(mut self, players: u16) -> Self {
        self.max_players = Some(players);
        self
    }

    /// The seed of the random number generators; by default the first match's.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Maximum number of hovertanks. Players who join get one until so many players drive one.
    pub fn tanks(mut self, tanks: u16) -> Self {
        self.tanks = tanks;
        self
    }

    /// Records the match to this file. To replay it, run the program that serves the game with
    /// `--replay`.
    pub fn record(mut self, file: impl Into<PathBuf>) -> Self {
        self.record = Some(file.into());
        self
    }

    /// The options of this match.
    fn options(&self, server: &Options) -> Options {
        let mut options = Options {
            map: self.map.clone(),
            objects: self.objects,
            max_players: self.max_players.unwrap_or(server.max_players),
            seed: self.seed.unwrap_or(server.seed),
            tanks: self.tanks,
            record: self.record.clone(),
            ..server.clone()
        };
        options.rounds.maps.clone_from(&self.maps);
        options
    }
}

/// The name, the options and the game of a match that is to be set up.
pub(super) type Plan = (MatchName, Options, Arc<dyn AnyGame>);

/// All matches of a server: the first one, the matches of the command line, which play the same
/// game, and the matches that a program has added.
///
/// # Errors
/// A name is not valid or is taken, or there are too many matches.
pub(super) fn plan(
    options: &Options,
    game: &Arc<dyn AnyGame>,
    added: &[(String, MatchBuilder)],
) -> Result<(Plan, Vec<Plan>), StartError> {
    let first: Plan = (FIRST.parse()?, options.clone(), Arc::clone(game));
    let mut others: Vec<Plan> = Vec::new();
    for other in &options.matches {
        others.push((other.name.clone(), other.options(options), Arc::clone(game)));
    }
    for (name, builder) in added {
        others.push((name.parse()?, builder.options(options), Arc::clone(&builder.game)));
    }
    if others.len() >= MAX_MATCHES {
        return Err(StartError::TooManyMatches { matches: others.len() + 1 });
    }
    for (number, (name, ..)) in others.iter().enumerate() {
        if *name == first.0 || others[..number].iter().any(|(earlier, ..)| earlier == name) {
            return Err(StartError::MatchNameTaken(name.clone()));
        }
    }
    Ok((first, others))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(names: &[&str]) -> Result<Vec<String>, StartError> {
        let options = Options::new("arena");
        let added: Vec<_> =
            names.iter().map(|name| ((*name).to_owned(), MatchBuilder::new("warren"))).collect();
        let game: Arc<dyn AnyGame> = Arc::new(Arena);
        let (first, others) = plan(&options, &game, &added)?;
        Ok(std::iter::once(first).chain(others).map(|(name, ..)| name.to_string()).collect())
    }

    #[test]
    fn each_match_has_a_name_of_its_own_and_there_are_eight_at_most() {
        assert_eq!(planned(&["duel", "sumo"]).unwrap(), ["main", "duel", "sumo"]);
        assert!(matches!(planned(&["main"]), Err(StartError::MatchNameTaken(_))));
        assert!(matches!(planned(&["a", "b", "a"]), Err(StartError::MatchNameTaken(_))));
        assert!(matches!(planned(&["a b"]), Err(StartError::MatchName(_))));
        assert!(planned(&["a", "b", "c", "d", "e", "f", "g"]).is_ok());
        let many = planned(&["a", "b", "c", "d", "e", "f", "g", "h"]);
        assert!(matches!(many, Err(StartError::TooManyMatches { matches: 9 })));
    }
}
