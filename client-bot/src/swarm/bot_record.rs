//! The measurements of one bot, from its first attempt to join to its end.
//!
//! Call [`BotRecord::has_joined`] after every join, and [`BotRecord::collect_stats`] before a
//! client is dropped. [`super::report`] sums up the records of all bots.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use obsp_client::quic::{Client, JoinError, Traffic};
use obsp_client::{Disconnected, Prediction, PredictionStats};
use obsp_proto::Tick;
use obsp_proto::control::PlayerName;
use obsp_sim::EntityId;

use super::activity::ActivityRecorder;
use super::histogram::Histogram;
use super::observations::Observations;
use super::server_clock::ServerClock;

/// Time after joining during which a bot's observations count as observations of joining.
pub(super) const JOINING: Duration = Duration::from_secs(1);

/// Ticks after the first snapshot in which a line of the server counts as its greeting.
const GREETING: i64 = 60;

/// Maximum number of lines of a greeting that are kept.
const GREETING_LINES: usize = 4;

/// The outcome of a bot.
pub(super) enum Outcome {
    /// The bot could not join.
    Failed(JoinError),
    /// The bot joined and was dropped.
    Dropped(Disconnected),
    /// The bot played to the end.
    Played,
}

/// The measurements of one bot.
pub(super) struct BotRecord {
    pub(super) name: PlayerName,
    pub(super) outcome: Outcome,
    /// How long the bot was in the match.
    pub(super) played: Duration,
    /// How often the bot lost its connection and rejoined.
    pub(super) reconnects: u64,
    /// Number of worlds that the bot was in: the first, and each world into which it followed the
    /// match.
    pub(super) worlds: u64,
    pub(super) snapshots: u64,
    /// Tick and arrival of the first and the last snapshot of this connection.
    pub(super) arrivals: Option<[(Tick, Instant); 2]>,
    pub(super) snapshot_bytes: u64,
    pub(super) digests: u64,
    pub(super) digest_mismatches: u64,
    pub(super) rtts: Histogram,
    pub(super) traffic: Traffic,
    /// When the bot last joined, with the map loaded.
    joined: Instant,
    /// The bot's observations until [`JOINING`] after it last joined.
    pub(super) joining: Observations,
    /// The bot's later observations.
    pub(super) play: Observations,
    /// The server's time since the bot joined.
    pub(super) clock: Option<ServerClock>,
    pub(super) prediction: PredictionStats,
    /// Number of other players that the bot killed.
    pub(super) kills: u64,
    /// The lines by which the server greeted the bot.
    pub(super) greeting: Vec<String>,
    /// How the bot spent its time.
    pub(super) activity: ActivityRecorder,
    pub(super) tick_rate: f64,
    pub(super) snapshot_rate: f64,
    /// All entities that the server has sent to the bot.
    pub(super) entities: HashSet<EntityId>,
}

impl BotRecord {
    /// The record of a bot that has not joined yet.
    pub(super) fn new(name: PlayerName) -> Self {
        Self {
            name,
            outcome: Outcome::Played,
            played: Duration::ZERO,
            reconnects: 0,
            worlds: 1,
            snapshots: 0,
            arrivals: None,
            snapshot_bytes: 0,
            digests: 0,
            digest_mismatches: 0,
            rtts: Histogram::new(),
            joined: Instant::now(),
            joining: Observations::new(),
            play: Observations::new(),
            clock: None,
            prediction: PredictionStats::default(),
            activity: ActivityRecorder::default(),
            tick_rate: 0.0,
            snapshot_rate: 0.0,
            traffic: Traffic::default(),
            kills: 0,
            greeting: Vec::new(),
            entities: HashSet::new(),
        }
    }

    /// Resets the fields that depend on a connection: `client` has just joined.
    pub(super) fn has_joined(&mut self, client: &Client) {
        self.joined = Instant::now();
        // Another server may count its ticks from the beginning.
        self.arrivals = None;
        let hello = client.session().hello();
        let clock = |rate: f64| ServerClock::new(rate, self.joined);
        self.clock = hello.map(|hello| clock(f64::from(hello.tick_rate.get())));
    }

    /// Counts another world, which `client` has just joined.
    pub(super) fn enter_world(&mut self, client: &Client) {
        self.worlds += 1;
        self.has_joined(client);
    }

    /// Keeps a line of the server if it is one of the first.
    pub(super) fn note_announced(&mut self, tick: Tick, line: &str) {
        let is_early = self.arrivals.is_none_or(|[(first, _), _]| tick.distance(first) <= GREETING);
        let is_new =
            self.greeting.len() < GREETING_LINES && !self.greeting.iter().any(|said| said == line);
        if self.worlds == 1 && self.reconnects == 0 && is_early && is_new {
            self.greeting.push(line.to_owned());
        }
    }

    /// The observations of the present phase: joining or play.
    pub(super) fn observations(&mut self) -> &mut Observations {
        if self.joined.elapsed() < JOINING { &mut self.joining } else { &mut self.play }
    }

    /// Adds the client's own counters. The client is dropped next.
    pub(super) fn collect_stats(&mut self, client: &Client) {
        let stats = client.session().stats();
        self.snapshot_bytes += stats.snapshot_bytes;
        self.digests += stats.digests;
        self.digest_mismatches += stats.digest_mismatches;
        self.prediction
            .add(client.prediction().map(Prediction::stats).unwrap_or(&Default::default()));
        let Traffic { down, up } = client.traffic();
        self.traffic = Traffic { down: self.traffic.down + down, up: self.traffic.up + up };
        let hello = client.session().hello();
        self.tick_rate = hello.map_or(0.0, |hello| f64::from(hello.tick_rate.get()));
        self.snapshot_rate = hello.map_or(0.0, |hello| f64::from(hello.snapshot_rate.get()));
        self.entities.extend(client.session().entities().map(|entity| entity.id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_of_the_server_are_its_greeting() {
        let mut record = BotRecord::new(PlayerName::new("bot").unwrap());
        let first = Tick(500);
        record.arrivals = Some([(first, Instant::now()); 2]);
        record.note_announced(first.after(61), "a player calls a vote");
        for line in ["Hall: Be kind", "Hall: Be kind", "b", "c", "d", "e"] {
            record.note_announced(first.after(60), line);
        }
        assert_eq!(record.greeting, ["Hall: Be kind", "b", "c", "d"]);
        // A bot that comes back is not greeted.
        let mut record = BotRecord { reconnects: 1, ..BotRecord::new(record.name) };
        record.note_announced(first, "Hall: Be kind");
        assert!(record.greeting.is_empty());
    }
}
