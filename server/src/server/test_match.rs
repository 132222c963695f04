//! A level and a match on the arena for two players, for tests of the code around them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use super::match_setup::level_maker;
use super::options::Options;
use crate::matches::level::{LevelMaker, Prepared};
use crate::matches::seats::JoinRequest;
use crate::matches::tick_thread::Match;
use crate::matches::tick_thread::published::LatestState;

/// A level on the arena for two players, and the maker of further levels.
pub(crate) fn test_level(number: u64) -> (LevelMaker, Prepared) {
    let options = Options { max_players: 2, ..Options::new("arena.map") };
    let maker = level_maker(&options, Arc::new(obsp_game::arena::Arena));
    let prepared = maker.make("arena.map", number).unwrap();
    (maker, prepared)
}

/// A match on the arena for two players.
pub(crate) fn test_match(requests: Receiver<JoinRequest>) -> (Match, LatestState) {
    let (_, prepared) = test_level(0);
    let (_, next_worlds) = sync_channel(1);
    let (over, _) = sync_channel(1);
    let rewind = Duration::from_millis(200);
    Match::new(prepared, rewind, requests, (next_worlds, over), Arc::default())
}
