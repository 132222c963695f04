//! The bodies of responses of the admin interface.

use std::sync::Arc;

use obsp_proto::control::RoundPhase;
use serde::Serialize;

use crate::door::clients::ConnectionStats;
use crate::matches::Matches;
use crate::matches::match_handle::MatchHandle;
use crate::matches::rounds::{Rules, short};

/// The state of the server and of one of its matches.
#[derive(Serialize)]
pub(super) struct Status {
    pub(super) version: &'static str,
    /// The match that the answer describes.
    #[serde(rename = "match")]
    pub(super) match_name: String,
    /// The names of all matches. A request that names no match goes to the first.
    pub(super) matches: Vec<String>,
    pub(super) map: String,
    pub(super) map_hash: String,
    /// The number of the level: 0 for the first, greater for later ones.
    pub(super) level: u64,
    pub(super) tick: u64,
    pub(super) tick_rate: u16,
    pub(super) players: usize,
    pub(super) max_players: u16,
    pub(super) reserved_slots: u16,
    pub(super) spectators: usize,
    pub(super) phase: &'static str,
    /// Seconds until the phase ends; `None` if no time is set for its end.
    pub(super) phase_seconds: Option<f64>,
    pub(super) next_map: Option<String>,
    pub(super) maps: Vec<String>,
    /// Whether clients need a connect token to join.
    pub(super) tokens: bool,
    pub(super) uptime_seconds: f64,
    pub(super) draining_seconds: Option<f64>,
    pub(super) settings: Settings,
}

/// The settings that can be changed while the server runs.
#[derive(Serialize)]
pub(super) struct Settings {
    pub(super) round_seconds: u64,
    pub(super) score_limit: i16,
    pub(super) intermission_seconds: u64,
    pub(super) idle_seconds: u64,
}

/// A player or spectator.
#[derive(Serialize)]
pub(super) struct Client {
    pub(super) number: u64,
    #[serde(rename = "match")]
    pub(super) match_name: String,
    pub(super) name: String,
    pub(super) role: &'static str,
    /// The number by which connect tokens identify the player.
    pub(super) player: Option<u64>,
    pub(super) address: String,
    pub(super) seconds: f64,
    pub(super) muted: bool,
    /// Whether the connection is lost and the player may still come back.
    pub(super) away: bool,
    #[serde(flatten)]
    pub(super) figures: ConnectionStats,
}

/// The answer to a command that was carried out.
#[derive(Serialize)]
pub(super) struct Done {
    pub(super) done: String,
}

/// The answer to a command that was not carried out, with the reason.
#[derive(Serialize)]
pub(super) struct Refused {
    pub(super) error: String,
}

pub(super) fn settings(game: &MatchHandle) -> Settings {
    let Rules { round, score_limit, intermission, .. } = game.rounds.status().rules;
    Settings {
        round_seconds: round.map_or(0, |round| round.as_secs()),
        score_limit: score_limit.unwrap_or(0),
        intermission_seconds: intermission.as_secs(),
        idle_seconds: game.access.idle_seconds.load(std::sync::atomic::Ordering::Relaxed),
    }
}

pub(super) fn status(game: &MatchHandle, games: &Matches<Arc<MatchHandle>>) -> Status {
    let (level, status) = (game.level(), game.rounds.status());
    let now = game.now();
    let clients = game.clients.list();
    Status {
        version: env!("CARGO_PKG_VERSION"),
        match_name: game.name.to_string(),
        matches: games.iter().map(|game| game.name.to_string()).collect(),
        map: level.match_info.map_name.to_string(),
        map_hash: level.match_info.map.to_string(),
        level: level.number,
        tick: game.latest.borrow().state.tick,
        tick_rate: level.match_info.tick_rate.get(),
        players: game.clients.players(),
        max_players: level.match_info.player_limit,
        reserved_slots: game.access.reserved_slots,
        spectators: clients.iter().filter(|client| client.spectates).count(),
        phase: match status.phase {
            RoundPhase::WarmUp => "warm_up",
            RoundPhase::Playing => "playing",
            RoundPhase::Intermission => "intermission",
        },
        phase_seconds: status.ends.map(|ends| ends.since(now).as_secs_f64()),
        next_map: status.next_map.map(|map| short(&map).to_owned()),
        maps: game.rounds.maps.iter().map(|map| short(map).to_owned()).collect(),
        tokens: game.access.gate.is_some(),
        uptime_seconds: game.epoch.elapsed().as_secs_f64(),
        draining_seconds: game.stop.draining().map(|left| left.as_secs_f64()),
        settings: settings(game),
    }
}

pub(super) fn clients(game: &MatchHandle) -> Vec<Client> {
    let clients = game.clients.list();
    let view = |client: &Arc<crate::door::clients::Client>| Client {
        number: client.number,
        match_name: game.name.to_string(),
        name: client.name.to_string(),
        role: if client.spectates { "spectator" } else { "player" },
        player: client.player_id,
        address: client.address().to_string(),
        seconds: client.seconds(),
        muted: game.access.mutes.holds_for(client, game.access.clock.now()),
        away: client.is_away(),
        figures: client.figures(),
    };
    clients.iter().map(view).collect()
}
