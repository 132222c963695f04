//! Options of rounds: the rotation of maps, the length of a round, its score limit and
//! votes.

use std::path::Path;
use std::time::Duration;

use crate::common::options::{options_of, parse_duration};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::Rules;

/// How long a round lasts if maps rotate and no other limit is given.
const DEFAULT_ROUND: Duration = Duration::from_secs(600);
/// The default of `--intermission`: long enough to read who has won.
const DEFAULT_INTERMISSION: &str = "10s";

/// The rotation of maps, and the rules of the rounds.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct RoundOptions {
    /// Maps that follow one another, separated by commas; a folder stands for all maps
    /// in it. The first is played first, unless there is `--map`
    #[arg(long, value_name = "LIST", env = "ARENA_MAPS", value_delimiter = ',')]
    pub maps: Vec<String>,

    /// How long a round lasts; by default, for ever on one map or with a score limit, else 10m
    #[arg(long, value_name = "D", env = "ARENA_ROUND_TIME", value_parser = parse_duration)]
    pub round_time: Option<Duration>,

    /// Score that ends a round
    #[arg(long, value_name = "N", env = "ARENA_SCORE_LIMIT",
          value_parser = clap::value_parser!(i16).range(1..))]
    pub score_limit: Option<i16>,

    /// Length of the warm-up before the first round; the warm-up begins with the first player, and
    /// its scores do not count
    #[arg(long, value_name = "D", env = "ARENA_WARM_UP", value_parser = parse_duration,
          default_value = "0")]
    pub warm_up: Duration,

    /// Time between two rounds, in which players cannot move
    #[arg(long, value_name = "D", env = "ARENA_INTERMISSION", value_parser = parse_duration,
          default_value = DEFAULT_INTERMISSION)]
    pub intermission: Duration,

    /// Votes that players may call by `/votemap NAME` and `/votekick NAME`, and answer by `/yes` or
    /// `/no`
    #[arg(long, value_name = "LIST", env = "ARENA_VOTES", value_delimiter = ',', value_enum)]
    pub votes: Vec<Vote>,
}

/// The votes that players may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Vote {
    /// To go on to another map of the rotation.
    Map,
    /// To remove a player.
    Kick,
}

impl Default for RoundOptions {
    fn default() -> Self {
        options_of(&[])
    }
}

impl RoundOptions {
    /// The maps in the order in which they are played, `first` in front if it is not
    /// empty.
    pub(crate) fn rotation(&self, first: &str) -> Vec<String> {
        let mut maps: Vec<String> = self.maps.iter().flat_map(|map| in_folder(map)).collect();
        if !first.is_empty() {
            maps.retain(|map| map != first);
            maps.insert(0, first.to_owned());
        }
        maps
    }

    /// The rules by which a rotation of this many maps is played.
    pub(crate) fn rules(&self, maps: usize) -> Rules {
        let rotates = maps > 1 && self.score_limit.is_none();
        Rules {
            warm_up: self.warm_up,
            round: self.round_time.or(rotates.then_some(DEFAULT_ROUND)),
            score_limit: self.score_limit,
            intermission: self.intermission,
        }
    }
}

/// The maps in a folder, sorted by name. If a map is there both compiled and as source, the
/// compiled one is taken. A path that is not a folder stands for itself.
fn in_folder(map: &str) -> Vec<String> {
    let Ok(entries) = Path::new(map).read_dir() else { return vec![map.to_owned()] };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let has = |path: &Path, suffix| path.extension().is_some_and(|own| own == suffix);
    let mut maps: Vec<_> = paths
        .filter(|path| {
            let is_source = has(path, "map") && !path.with_extension("obsp").is_file();
            has(path, "obsp") || is_source
        })
        .filter_map(|path| path.to_str().map(str::to_owned))
        .collect();
    maps.sort();
    maps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_the_maps_in_it() {
        let folder = std::env::temp_dir().join(format!("rotation-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for file in ["b.obsp", "b.map", "a.map", "notes.txt"] {
            std::fs::write(folder.join(file), "").unwrap();
        }
        let path = folder.to_str().unwrap().to_owned();
        let options = RoundOptions { maps: vec!["c".into(), path.clone()], ..Default::default() };
        let expected = ["d", "c", &format!("{path}/a.map"), &format!("{path}/b.obsp")];
        assert_eq!(options.rotation("d"), expected);
        assert_eq!(options.rotation("c")[0], "c");
        assert_eq!(options.rotation("").len(), 3);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn rounds_end_where_maps_rotate() {
        let options = RoundOptions::default();
        assert_eq!(options.rules(1).round, None);
        assert_eq!(options.rules(2).round, Some(DEFAULT_ROUND));
        let scored = RoundOptions { score_limit: Some(20), ..options };
        assert_eq!(scored.rules(2).round, None);
    }
}
