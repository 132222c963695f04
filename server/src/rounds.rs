//! Rounds: warm-up, play, intermission, and on to the next map of the rotation.
//!
//! [`flow`] is the state machine: it sees how many play and how they stand, and says
//! what is to be done. [`loader`] is a thread of low priority that loads or compiles
//! the next map ahead of time and sets its world up. [`direct`] ties them to the match:
//! it hands the tick thread the next world when it is time for it, which takes no longer
//! than a tick, and the connections see by the next frame that they are in another
//! [`Level`](crate::level::Level): each client says hello anew and plays on.

pub(crate) mod flow;
mod loader;
pub(crate) mod votes;

use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use obsp_proto::Time;
use obsp_proto::control::{ChatLine, MatchEvent, Reason, RoundPhase};
use tokio::sync::mpsc;
use tracing::{info, warn};

use crate::clients::Removal;
use crate::level::{Level, Prepared};
use crate::network::Lobby;
use crate::options::Vote;
use crate::recording::LevelRecordings;
use crate::tick_thread::NextWorld;

pub(crate) use flow::Rules;
use flow::{Flow, Seen, Step};
pub(crate) use loader::{Loaded, Loader};
use votes::{Motion, Outcome, Votes};

/// Time between two looks at the match.
const LOOK: Duration = Duration::from_millis(50);

/// What becomes of a line of chat that may be for a vote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It is none.
    Nothing,
    /// It is a voice.
    Counted,
    /// It opens a vote: everybody is told this.
    Called(String),
    /// It makes no sense now: who said it is told this.
    Mistake(String),
}

/// What an operator or a vote wants of the match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Go on to this map.
    Map(String),
    /// Begin the round anew.
    Restart,
    /// Play by these rules from now on.
    Rules(Rules),
}

/// The way to ask the match for something, and how it stands.
#[derive(Debug)]
pub(crate) struct Rounds {
    wishes: mpsc::UnboundedSender<Wish>,
    standing: Mutex<Standing>,
    /// Maps of the rotation.
    pub(crate) maps: Vec<String>,
    /// What players may vote on, and the vote that is open.
    allowed: Vec<Vote>,
    votes: Mutex<Votes>,
}

/// How the match stands.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) phase: RoundPhase,
    /// When the phase ends by time, on the server's clock.
    pub(crate) ends: Option<Time>,
    /// The map that comes next, if that is known.
    pub(crate) next_map: Option<String>,
    pub(crate) rules: Rules,
}

impl Rounds {
    /// Rounds by these rules on these maps, the first of which is played now.
    pub(crate) fn new(rules: Rules, maps: Vec<String>, allowed: Vec<Vote>) -> (Self, Director) {
        let (wishes, wished) = mpsc::unbounded_channel();
        let flow = Flow::new(rules, maps.clone());
        let standing = Mutex::new(Standing::of(&flow));
        let votes = Mutex::default();
        (Self { wishes, standing, maps, allowed, votes }, Director { flow, wished })
    }

    /// Asks for something; it is done soon.
    pub(crate) fn wish(&self, wish: Wish) {
        // Nobody hears it once the match is over.
        let _ = self.wishes.send(wish);
    }

    /// Takes a line of chat for a vote, if it is one. `by` are the caller's connection,
    /// name and who they are; `players` are the numbers and names of all.
    pub(crate) fn hear(
        &self,
        (by, name, caller): (u64, &str, &str),
        line: &str,
        players: &[(u64, String)],
        now: Time,
    ) -> Heard {
        let line = line.strip_prefix('/').filter(|_| !self.allowed.is_empty());
        let Some(line) = line else { return Heard::Nothing };
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut votes = self.votes.lock().unwrap_or_else(PoisonError::into_inner);
        let motion = match verb {
            "yes" | "no" if votes.say(by, verb == "yes") => return Heard::Counted,
            "yes" | "no" => return Heard::Mistake("No vote is open".to_owned()),
            "votemap" if self.allowed.contains(&Vote::Map) => {
                let known = self.maps.iter().find(|map| short(map) == rest.trim());
                known.cloned().map(Motion::Map)
            }
            "votekick" if self.allowed.contains(&Vote::Kick) => {
                let known = players.iter().find(|(_, name)| name == rest.trim());
                known.map(|&(number, _)| Motion::Kick(number))
            }
            _ => {
                let usage = "Votes: /votemap NAME, /votekick NAME, /yes, /no";
                return Heard::Mistake(usage.to_owned());
            }
        };
        let Some(motion) = motion else {
            return Heard::Mistake(format!("There is no {:?}", rest.trim()));
        };
        match votes.call((by, caller), motion, now) {
            Ok(()) => Heard::Called(format!("{name} calls a vote: {line}. Say /yes or /no")),
            Err(error) => Heard::Mistake(format!("No vote: {error}")),
        }
    }

    /// Plays by other rules from now on.
    pub(crate) fn change_rules(&self, rules: Rules) {
        // At once, so that two changes in a row do not undo one another.
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).rules = rules;
        self.wish(Wish::Rules(rules));
    }

    /// How the match stands.
    pub(crate) fn standing(&self) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Standing {
    fn of(flow: &Flow) -> Self {
        let (phase, ends) = flow.phase();
        Self { phase, ends, next_map: flow.next_map(), rules: *flow.rules() }
    }
}

/// The flow of a match that is about to begin.
pub(crate) struct Director {
    flow: Flow,
    wished: mpsc::UnboundedReceiver<Wish>,
}

/// Where what was decided goes.
pub(crate) struct Stage {
    pub(crate) loader: Loader,
    /// Worlds for the tick thread.
    pub(crate) worlds: SyncSender<NextWorld>,
    pub(crate) recordings: Arc<LevelRecordings>,
}

/// Leads the match through its rounds, for as long as it is polled.
pub(crate) async fn direct(mut director: Director, mut stage: Stage, lobby: Arc<Lobby>) {
    let (mut ready, mut entered) = (None::<Prepared>, 0);
    let mut looks = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            Some(wish) = director.wished.recv() => director.heed(wish),
            Some(loaded) = stage.loader.next() => {
                director.take(loaded, &mut ready, &lobby);
            }
        }
        let level = lobby.level();
        // Until the tick thread has gone there, what is seen is of the world before.
        if level.number < entered {
            continue;
        }
        director.count_votes(&lobby);
        let best = level.sessions.best().map(|(_, score)| score);
        let seen = Seen { now: lobby.now(), players: level.sessions.len(), best };
        for step in director.flow.look(&seen) {
            match step {
                Step::Prepare(map) => stage.loader.load(map),
                Step::Enter => {
                    let Some(prepared) = ready.take() else { continue };
                    entered = prepared.level.number;
                    enter(prepared, &stage, &lobby);
                }
                Step::Freeze { next } => {
                    level.frozen.store(true, Ordering::Relaxed);
                    conclude(&level, next.as_deref(), &lobby);
                }
                Step::Phase(phase, lasts) => tell(&level, phase, lasts, &lobby),
            }
        }
        let mut standing = lobby.rounds.standing.lock().unwrap_or_else(PoisonError::into_inner);
        *standing = Standing::of(&director.flow);
    }
}

impl Director {
    fn heed(&mut self, wish: Wish) {
        match wish {
            Wish::Map(map) => self.flow.change_map(map),
            Wish::Restart => self.flow.restart(),
            Wish::Rules(rules) => self.flow.change_rules(rules),
        }
    }

    /// Does what players have voted for.
    fn count_votes(&mut self, lobby: &Lobby) {
        let clients = lobby.clients.list();
        let players = clients.iter().filter(|client| !client.spectates);
        let players: Vec<u64> = players.map(|client| client.number).collect();
        let mut votes = lobby.rounds.votes.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(outcome) = votes.close(&players, lobby.now()) else { return };
        info!(?outcome, "a vote is closed");
        let (told, motion) = match outcome {
            Outcome::Carried(motion) => ("The vote is carried", Some(motion)),
            Outcome::Rejected(_) => ("The vote is not carried", None),
        };
        if let Ok(line) = ChatLine::new(told) {
            lobby.announce(MatchEvent::Announced { line });
        }
        match motion {
            Some(Motion::Map(map)) => self.flow.change_map(map),
            Some(Motion::Kick(number)) => {
                if let Some(client) = lobby.clients.find(number) {
                    client.remove(Removal::new(Reason::Removed, "voted out"));
                }
            }
            None => {}
        }
    }

    /// Takes in what became of a map.
    fn take(&mut self, loaded: Loaded, ready: &mut Option<Prepared>, lobby: &Lobby) {
        match loaded.prepared {
            Ok(prepared) => {
                if self.flow.prepared(&loaded.map) {
                    *ready = Some(prepared);
                }
            }
            Err(error) => {
                warn!("map {} cannot be played and is left out: {error}", loaded.map);
                self.flow.failed(&loaded.map, lobby.now());
            }
        }
    }
}

/// Hands a world to the tick thread.
fn enter(prepared: Prepared, stage: &Stage, lobby: &Lobby) {
    let recorder = stage.recordings.begin(&prepared);
    let Prepared { world, level, .. } = prepared;
    let terms = &level.terms;
    info!(
        map = terms.map_name.as_str(),
        level = level.number,
        players = lobby.clients.players(),
        "the match goes on in another world",
    );
    lobby.telemetry.enters(terms.map_name.as_str(), &terms.map.to_string(), level.load_time);
    // There is room for one, and the last was entered before this one was prepared.
    if stage.worlds.try_send(NextWorld { world, level, recorder }).is_err() {
        warn!("the tick thread took no other world");
    }
}

/// Tells everybody which phase the match is in.
fn tell(level: &Level, phase: RoundPhase, lasts: Option<Duration>, lobby: &Lobby) {
    let ticks = |time: Duration| time.as_secs_f64() * f64::from(level.terms.tick_rate.get());
    // `as` saturates, and a round is shorter than that.
    let ends = lasts.map(|time| lobby.next_tick().after(ticks(time) as u32));
    let event = MatchEvent::Round { phase, ends };
    level.enter_phase(event.clone());
    lobby.announce_in(level, event);
}

/// Says who has won and what comes next.
fn conclude(level: &Level, next: Option<&str>, lobby: &Lobby) {
    let won = match level.sessions.best() {
        Some((name, score)) => format!("The round is over: {name} is best with {score}"),
        None => "The round is over".to_owned(),
    };
    let next = next.map(|map| format!(". Next map: {}", short(map)));
    info!("{won}");
    // A name and a map could be too long together, or hold what cannot be shown.
    for line in [won.clone() + &next.unwrap_or_default(), won] {
        if let Ok(line) = ChatLine::new(&line) {
            return lobby.announce_in(level, MatchEvent::Announced { line });
        }
    }
}

/// What people call a map: its file's name.
pub(crate) fn short(map: &str) -> &str {
    let file = map.rsplit(['/', '\\']).next().unwrap_or(map);
    file.strip_suffix(".obsp").or_else(|| file.strip_suffix(".map")).unwrap_or(file)
}
