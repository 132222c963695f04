//! Rounds: warm-up, play, intermission, and on to the next map of the rotation.
//!
//! The rest of the server holds [`Rounds`]: the status, requests and votes. [`flow`] is the state
//! machine, which decides what to do from the number of players and their scores. [`loader`] is a
//! thread of low priority that loads or compiles the next map ahead of time and sets its world up.
//! [`director`] connects both to the match. When the next world is due, the director hands it to
//! the tick thread, which enters it within a tick. The next published state then shows the
//! connections that the match is in another [`Level`](crate::matches::level::Level). Each client
//! says hello again and plays on.

pub(crate) mod director;
pub(crate) mod flow;
mod loader;
pub(crate) mod options;

use std::sync::{Mutex, PoisonError};

use obsp_proto::Time;
use obsp_proto::control::RoundPhase;
use tokio::sync::mpsc;

use options::Vote;

use crate::door::votes::{Outcome, Proposal, Votes};
use flow::Flow;
pub(crate) use flow::Rules;
pub(crate) use loader::{Loader, LoaderThread};

/// The decision on a line of chat that may be about a vote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChatVerdict {
    /// It is ordinary chat.
    Chat,
    /// It is a ballot, which was counted.
    Counted,
    /// It calls a vote. All clients are sent this text.
    Called(String),
    /// It is a mistake. Only its author is sent this text.
    Mistake(String),
}

/// A change of the rounds that an operator or a vote asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RoundRequest {
    /// Change to this map.
    Map(String),
    Restart,
    /// Play by these rules from now on.
    Rules(Rules),
}

/// The rounds as other parts of the server see them: their status, requests, and votes.
#[derive(Debug)]
pub(crate) struct Rounds {
    requests: mpsc::UnboundedSender<RoundRequest>,
    status: Mutex<RoundStatus>,
    /// Maps of the rotation.
    pub(crate) maps: Vec<String>,
    /// The votes that players may call.
    pub(crate) allowed: Vec<Vote>,
    /// The vote that is open, and when players may call another.
    votes: Mutex<Votes>,
}

/// The phase of the match, its rules and what comes next.
#[derive(Clone, Debug)]
pub(crate) struct RoundStatus {
    pub(crate) phase: RoundPhase,
    /// When the phase ends by time, on the server's clock.
    pub(crate) ends: Option<Time>,
    /// The map that comes next, if that is known.
    pub(crate) next_map: Option<String>,
    pub(crate) rules: Rules,
}

impl Rounds {
    /// Rounds by these rules on these maps, the first of which is played now.
    pub(crate) fn new(rules: Rules, maps: Vec<String>, allowed: Vec<Vote>) -> (Self, Schedule) {
        let (requests, requested) = mpsc::unbounded_channel();
        let flow = Flow::new(rules, maps.clone());
        let status = Mutex::new(RoundStatus::of(&flow));
        let votes = Mutex::default();
        (Self { requests, status, maps, allowed, votes }, Schedule { flow, requests: requested })
    }

    /// Asks the director for a change.
    pub(crate) fn request(&self, request: RoundRequest) {
        // Sending fails once the match is over, when nothing is left to change.
        let _ = self.requests.send(request);
    }

    /// Handles a line of chat that may be a command of a vote. `by`, `name` and `caller`
    /// are its author's connection, name and identity; `players` are the numbers and names
    /// of all.
    pub(crate) fn on_chat(
        &self,
        (by, name, caller): (u64, &str, &str),
        line: &str,
        players: &[(u64, String)],
        now: Time,
    ) -> ChatVerdict {
        let line = line.strip_prefix('/').filter(|_| !self.allowed.is_empty());
        let Some(line) = line else { return ChatVerdict::Chat };
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut votes = self.votes.lock().unwrap_or_else(PoisonError::into_inner);
        let motion = match verb {
            "yes" | "no" if votes.say(by, verb == "yes") => return ChatVerdict::Counted,
            "yes" | "no" => return ChatVerdict::Mistake("No vote is open".to_owned()),
            "votemap" if self.allowed.contains(&Vote::Map) => {
                let known = self.maps.iter().find(|map| short(map) == rest.trim());
                known.cloned().map(Proposal::Map)
            }
            "votekick" if self.allowed.contains(&Vote::Kick) => {
                let known = players.iter().find(|(_, name)| name == rest.trim());
                known.map(|&(number, _)| Proposal::Kick(number))
            }
            _ => {
                let usage = "Votes: /votemap NAME, /votekick NAME, /yes, /no";
                return ChatVerdict::Mistake(usage.to_owned());
            }
        };
        let Some(motion) = motion else {
            return ChatVerdict::Mistake(format!("No map or player is named {:?}", rest.trim()));
        };
        match votes.call((by, caller), motion, now) {
            Ok(()) => ChatVerdict::Called(format!("{name} calls a vote: {line}. Say /yes or /no")),
            Err(error) => ChatVerdict::Mistake(format!("No vote was called: {error}")),
        }
    }

    /// Plays by other rules from now on.
    pub(crate) fn change_rules(&self, rules: Rules) {
        // The status changes at once, so that two changes in a row do not undo one another.
        self.status.lock().unwrap_or_else(PoisonError::into_inner).rules = rules;
        self.request(RoundRequest::Rules(rules));
    }

    /// The phase, the rules and the next map.
    pub(crate) fn status(&self) -> RoundStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Publishes the status of `flow`.
    fn publish(&self, flow: &Flow) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = RoundStatus::of(flow);
    }

    /// Closes the vote if these players have decided it, or its time is over.
    fn close_vote(&self, players: &[u64], now: Time) -> Option<Outcome> {
        self.votes.lock().unwrap_or_else(PoisonError::into_inner).close(players, now)
    }
}

/// The flow of a match and the requests to it, for [`director::direct`].
pub(crate) struct Schedule {
    flow: Flow,
    requests: mpsc::UnboundedReceiver<RoundRequest>,
}

impl RoundStatus {
    fn of(flow: &Flow) -> Self {
        let (phase, ends) = flow.phase();
        Self { phase, ends, next_map: flow.next_map(), rules: *flow.rules() }
    }
}

/// The short name of a map: the name of its file without folder and ending.
pub(crate) fn short(map: &str) -> &str {
    let file = map.rsplit(['/', '\\']).next().unwrap_or(map);
    file.strip_suffix(".obsp").or_else(|| file.strip_suffix(".map")).unwrap_or(file)
}
