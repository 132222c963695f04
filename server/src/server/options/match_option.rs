use std::path::{Path, PathBuf};
use std::str::FromStr;

use obsp_proto::control::MatchName;

use super::Options;

/// A further match of a server, as `--match NAME=MAP` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchOption {
    /// The name by which clients ask for the match.
    pub name: MatchName,
    /// The map on which the match is played.
    pub map: String,
}

impl FromStr for MatchOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, map) = text
            .split_once('=')
            .filter(|(_, map)| !map.is_empty())
            .ok_or("write it as NAME=MAP, such as duel=warren; clients join it by that name")?;
        let name = name.parse::<MatchName>().map_err(|error| error.to_string())?;
        Ok(Self { name, map: map.to_owned() })
    }
}

impl MatchOption {
    /// The options of this match: the server's, but with one map, and with the match's name in the
    /// name of the recording.
    pub(crate) fn options(&self, server: &Options) -> Options {
        let mut options = Options { map: self.map.clone(), ..server.clone() };
        options.rounds.maps.clear();
        options.record = server.record.as_deref().map(|path| named(path, &self.name));
        options
    }
}

/// The path with the name of a match before the ending: `a.rec` becomes `a.duel.rec`.
fn named(path: &Path, name: &MatchName) -> PathBuf {
    match path.extension() {
        Some(ending) => path.with_extension(format!("{name}.{}", ending.to_string_lossy())),
        None => path.with_extension(name.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_has_a_name_and_a_map_and_a_recording_of_its_own() {
        let mut server = Options::new("arena.map");
        server.rounds.maps = vec!["arena.map".into(), "warren.map".into()];
        server.record = Some("out/a.rec".into());
        let duel: MatchOption = "duel=maps/warren=2.map".parse().unwrap();
        let options = duel.options(&server);
        assert_eq!((options.map.as_str(), options.rounds.maps.len()), ("maps/warren=2.map", 0));
        assert_eq!(options.record, Some("out/a.duel.rec".into()));
        for bad in ["", "duel", "duel=", "=warren", "a b=warren"] {
            assert!(bad.parse::<MatchOption>().is_err(), "{bad}");
        }
    }
}
