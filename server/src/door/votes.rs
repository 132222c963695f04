//! Votes of players: at most one at a time, decided by more than half of all players.

use std::collections::BTreeMap;
use std::time::Duration;

use obsp_proto::Time;

/// How long players have to vote.
const OPEN: Duration = Duration::from_secs(30);

/// Time after a vote before the same player may call another.
const PAUSE: Duration = Duration::from_secs(120);

/// The subject of a vote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proposal {
    /// The match goes on to this map.
    Map(String),
    /// The player of this connection is removed.
    Kick(u64),
}

/// The outcome of a vote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// More than half of all players vote yes.
    Carried(Proposal),
    /// Too few players have voted yes in time.
    Rejected(Proposal),
}

/// Why a vote cannot be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoVote {
    #[error("another vote is open")]
    Open,
    #[error("you have called a vote lately; wait two minutes after it")]
    TooSoon,
}

/// The votes of a match, at most one at a time. Each player is known by the number of the
/// connection. The player who calls a vote counts as voting yes.
#[derive(Debug, Default)]
pub(crate) struct Votes {
    ballot: Option<Ballot>,
    /// When each caller may call again. A caller is a player or an address, not a connection,
    /// because somebody who comes back has another connection.
    callers: BTreeMap<String, Time>,
}

#[derive(Debug)]
struct Ballot {
    motion: Proposal,
    closes: Time,
    said: BTreeMap<u64, bool>,
}

impl Votes {
    /// Opens a vote that `caller` asks for, over the connection `by`.
    pub(crate) fn call(
        &mut self,
        (by, caller): (u64, &str),
        motion: Proposal,
        now: Time,
    ) -> Result<(), NoVote> {
        if self.ballot.is_some() {
            return Err(NoVote::Open);
        }
        self.callers.retain(|_, again| now < *again);
        if self.callers.contains_key(caller) {
            return Err(NoVote::TooSoon);
        }
        self.callers.insert(caller.to_owned(), now + PAUSE);
        let said = BTreeMap::from([(by, true)]);
        self.ballot = Some(Ballot { motion, closes: now + OPEN, said });
        Ok(())
    }

    /// Counts the ballot of a player. A later ballot of the same player replaces it. Returns false
    /// if no vote is open.
    pub(crate) fn say(&mut self, by: u64, yes: bool) -> bool {
        let Some(ballot) = &mut self.ballot else { return false };
        ballot.said.insert(by, yes);
        true
    }

    /// Closes the vote if it is decided among these players, or its time is over.
    pub(crate) fn close(&mut self, players: &[u64], now: Time) -> Option<Outcome> {
        let ballot = self.ballot.as_mut()?;
        // Ballots of players who have left do not count.
        ballot.said.retain(|player, _| players.contains(player));
        let count = |voice| ballot.said.values().filter(|&&said| said == voice).count();
        let (yes, no) = (count(true), count(false));
        let carried = yes * 2 > players.len();
        // The vote fails even if every player who has not voted yet votes yes.
        let hopeless = (players.len() - no) * 2 <= players.len();
        if !carried && !hopeless && now < ballot.closes {
            return None;
        }
        let Ballot { motion, .. } = self.ballot.take()?;
        Some(if carried { Outcome::Carried(motion) } else { Outcome::Rejected(motion) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    fn map() -> Proposal {
        Proposal::Map("warren".into())
    }

    #[test]
    fn more_than_half_of_all_carry_a_vote() {
        let mut votes = Votes::default();
        votes.call((1, "1"), map(), at(0)).unwrap();
        assert_eq!(votes.close(&[1, 2, 3, 4], at(0)), None);
        assert_eq!(votes.call((2, "2"), Proposal::Kick(3), at(0)), Err(NoVote::Open));
        votes.say(2, true);
        assert_eq!(votes.close(&[1, 2, 3, 4], at(1)), None, "a half is not more than a half");
        votes.say(3, true);
        assert_eq!(votes.close(&[1, 2, 3, 4], at(2)), Some(Outcome::Carried(map())));
        assert_eq!(votes.call((1, "1"), map(), at(3)), Err(NoVote::TooSoon));
        assert_eq!(votes.call((9, "1"), map(), at(3)), Err(NoVote::TooSoon), "another connection");
        votes.call((1, "1"), map(), at(120)).unwrap();
    }

    #[test]
    fn a_vote_ends_by_time_by_noes_and_without_those_who_left() {
        let mut votes = Votes::default();
        votes.call((1, "1"), map(), at(0)).unwrap();
        assert_eq!(votes.close(&[1, 2, 3], at(29)), None);
        assert_eq!(votes.close(&[1, 2, 3], at(30)), Some(Outcome::Rejected(map())));
        votes.call((2, "2"), map(), at(31)).unwrap();
        votes.say(1, false);
        votes.say(3, false);
        assert_eq!(votes.close(&[1, 2, 3], at(32)), Some(Outcome::Rejected(map())));
        votes.call((3, "3"), map(), at(33)).unwrap();
        assert_eq!(votes.close(&[1, 2], at(34)), None, "the caller has left");
        assert!(votes.say(1, true) && votes.say(2, true));
        assert_eq!(votes.close(&[1, 2], at(35)), Some(Outcome::Carried(map())));
        assert!(!votes.say(1, true));
    }

    #[test]
    fn one_alone_decides_alone() {
        let mut votes = Votes::default();
        votes.call((1, "1"), Proposal::Kick(1), at(0)).unwrap();
        assert_eq!(votes.close(&[1], at(0)), Some(Outcome::Carried(Proposal::Kick(1))));
        assert_eq!(votes.close(&[], at(0)), None);
    }
}
