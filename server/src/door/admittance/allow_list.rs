//! The list of players who may play (`--allow`), for operators without a backend that seals tokens.
//!
//! A line names addresses, or the number of a player in connect tokens, as a ban does. A line with
//! a player's own word, `player:7 WORD NAME`, needs no tokens. A client that presents the word is
//! this player: bans and the log know it by this number and name.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use obsp_proto::control::PlayerName;

use super::secret;
use super::secret::{Tag, Tagger};
use crate::common::address_prefix::AddressPrefix;
use crate::door::bans::Subject;

/// Maximum number of lines that are read.
const MOST: usize = 10_000;

/// The players whom an operator admits.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AllowList {
    prefixes: Vec<AddressPrefix>,
    players: HashSet<u64>,
    /// The players who have words of their own.
    known: HashMap<Tag, Known>,
}

/// A player who is known by a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The player's number, as in connect tokens.
    pub(crate) player: u64,
    /// The player's name. `None` if the client may choose it.
    pub(crate) name: Option<PlayerName>,
}

impl AllowList {
    /// Parses the file. Empty lines and text after `#` are skipped.
    ///
    /// # Errors
    /// The number of the wrong line and the reason. The reason shows no word of a player.
    pub(super) fn parse(text: &str, tagger: &Tagger) -> Result<Self, String> {
        let mut list = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let wrong = |why: String| format!("line {}: {why}", index + 1);
            if list.len() >= MOST {
                return Err(wrong(format!("the list has more than {MOST} entries")));
            }
            list.add(line, tagger).map_err(wrong)?;
        }
        Ok(list)
    }

    fn add(&mut self, line: &str, tagger: &Tagger) -> Result<(), String> {
        let (subject, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        // The message does not quote the text, because the text may be a secret in the wrong place.
        let neither = "it does not begin with an address, a prefix or player:NUMBER";
        // A prefix may be broader here than in a ban: everybody at `fc00::/7` may be let in.
        let subject = match AddressPrefix::parse_host(subject) {
            Ok(prefix) => Subject::Prefix(prefix),
            Err(_) => subject.parse().map_err(|_| neither.to_owned())?,
        };
        let rest = rest.trim();
        let player = match subject {
            Subject::Prefix(_) if !rest.is_empty() => {
                return Err(
                    "a word and a name need player:NUMBER in front of them, not an address"
                        .to_owned(),
                );
            }
            Subject::Prefix(prefix) => {
                self.prefixes.push(prefix);
                return Ok(());
            }
            Subject::Player(player) => player,
        };
        if rest.is_empty() {
            self.players.insert(player);
            return Ok(());
        }
        let (word, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        secret::check(word).map_err(|why| format!("the word of player:{player}: {why}"))?;
        let name = match name.trim() {
            "" => None,
            name => Some(PlayerName::new(name).map_err(|error| error.to_string())?),
        };
        if self.known.insert(tagger.tag(word.as_bytes()), Known { player, name }).is_some() {
            return Err(format!(
                "player:{player} has the word of another player; choose another word"
            ));
        }
        Ok(())
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.prefixes.len() + self.players.len() + self.known.len()
    }

    /// Whether any player has a word.
    pub(super) fn has_words(&self) -> bool {
        !self.known.is_empty()
    }

    /// Whether somebody at this address, or with a connect token of this player, may play.
    pub(super) fn admits(&self, address: IpAddr, player: Option<u64>) -> bool {
        player.is_some_and(|player| self.players.contains(&player))
            || self.prefixes.iter().any(|prefix| prefix.contains(address))
    }

    /// The player whose word has this tag.
    pub(super) fn known(&self, word: &Tag) -> Option<&Known> {
        self.known.get(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(AllowList, Tagger), String> {
        let tagger = Tagger::new().unwrap();
        AllowList::parse(text, &tagger).map(|list| (list, tagger))
    }

    #[test]
    fn a_list_names_addresses_players_and_words() {
        let (list, tagger) = parse(
            "# friends\n192.0.2.0/24\n2001:db8::1 # home\nplayer:7\n\nplayer:8 mellon99 Ann Lee\n\
             player:9 sesame99\n",
        )
        .unwrap();
        for (address, player, is_admitted) in [
            ("192.0.2.77", None, true),
            ("::ffff:192.0.2.77", None, true),
            ("192.0.3.1", None, false),
            ("2001:db8::ffff", None, true),
            ("2001:db8:0:1::", None, false),
            ("192.0.3.1", Some(7), true),
            ("192.0.3.1", Some(8), false),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(list.admits(address, player), is_admitted, "{address} {player:?}");
        }
        let known = |word: &str| list.known(&tagger.tag(word.as_bytes())).cloned();
        let ann = known("mellon99").unwrap();
        assert_eq!((ann.player, ann.name.unwrap().as_str()), (8, "Ann Lee"));
        assert_eq!(known("sesame99"), Some(Known { player: 9, name: None }));
        assert_eq!(known("mellon98"), None);
        assert_eq!((list.len(), list.has_words()), (5, true));
    }

    /// Symptom: a prefix that is too broad for a ban was refused here, too, as if it were not a
    /// prefix.
    #[test]
    fn a_list_admits_any_prefix_however_broad() {
        let (list, _) = parse("fc00::/7\n").unwrap();
        assert!(list.admits("fd12::1".parse().unwrap(), None));
        assert!(!list.admits("fe80::1".parse().unwrap(), None));
        let (list, _) = parse("0.0.0.0/0\n::/0").unwrap();
        assert!(
            ["192.0.2.1", "2001:db8::1"].iter().all(|at| list.admits(at.parse().unwrap(), None))
        );
    }

    #[test]
    fn a_list_that_cannot_be_used_says_why_and_shows_no_word() {
        for (text, says) in [
            ("mellon99 player:7", "line 1: it does not begin with"),
            ("\n0.0.0.0/33", "line 2"),
            ("player:0", "line 1"),
            ("192.0.2.1 mellon99", "a word and a name need player:NUMBER"),
            ("player:7 short", "fewer than 6"),
            ("player:7 mellon99\nplayer:8 mellon99", "line 2: player:8 has the word of"),
            ("player:7 mellon99 \u{202e}", "line 1"),
        ] {
            let error = parse(text).err().unwrap();
            assert!(error.contains(says), "{text}: {error}");
            assert!(!error.contains("mellon99") && !error.contains("short"), "{error}");
        }
    }

    #[test]
    fn a_list_has_an_end() {
        let lines = |count: usize| (1..=count).map(|player| format!("player:{player}\n")).collect();
        let full: String = lines(MOST);
        assert_eq!(parse(&full).unwrap().0.len(), MOST);
        let more: String = lines(MOST + 1);
        assert!(parse(&more).err().unwrap().contains("line 10001"));
    }
}
