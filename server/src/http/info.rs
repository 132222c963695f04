use axum::Json;
use obsp_proto::PROTOCOL_VERSION;
use serde::Serialize;

use super::page_state::{AllPages, PageState};
use super::{All, Audience, Pages};
use crate::match_handle::MatchHandle;
use crate::recording;

/// `/info`: the facts about the server that a program needs before it joins or lists it.
#[derive(Serialize)]
pub(super) struct Info {
    version: &'static str,
    protocol: u32,
    /// The match that the answer describes.
    #[serde(rename = "match")]
    match_name: String,
    /// All matches of the server. A request that names no match goes to the first.
    matches: Vec<Match>,
    map: String,
    map_hash: String,
    tick: u64,
    tick_rate: u16,
    snapshot_rate: u16,
    players: usize,
    max_players: u16,
    /// Places for spectators. If there are none, no page can show the match.
    max_spectators: u16,
    /// The host that players join. `None` if it is the host of this page.
    host: Option<String>,
    /// The UDP port that players join.
    port: u16,
    /// The SHA-256 of the certificate that new connections are shown, in hexadecimal.
    certificate_sha256: String,
    /// Whether the server has made the certificate itself.
    self_signed: bool,
    uptime_seconds: f64,
    /// Time until the server shuts down, if it is draining.
    draining_seconds: Option<f64>,
    /// Whether this listener also serves the pages for operators, such as `/figures`.
    for_operators: bool,
    /// The recording of the match, if there is one. Only operators get it.
    recording: Option<Recording>,
}

/// A match in the list of all matches.
#[derive(Serialize)]
struct Match {
    /// The name by which clients ask for the match.
    name: String,
    map: String,
    players: usize,
    max_players: u16,
    /// Whether the match has failed while others go on. Nobody may join a failed match.
    failed: bool,
}

impl Match {
    fn of(game: &MatchHandle) -> Self {
        let match_info = game.match_info();
        Self {
            name: game.name.to_string(),
            map: match_info.map_name.as_str().to_owned(),
            players: game.clients.players(),
            max_players: match_info.player_limit,
            failed: game.has_failed(),
        }
    }
}

/// The state of the recording.
#[derive(Serialize)]
struct Recording {
    /// The name of the recording's file, without its folder, which stays private.
    file: String,
    /// How many ticks the recording holds.
    ticks: u64,
    bytes: u64,
    /// The reason why the recording ended before the match, if it did.
    failure: Option<String>,
}

impl Recording {
    fn of(status: &recording::Status) -> Self {
        let file = status.path().file_name().unwrap_or_default();
        Self {
            file: file.to_string_lossy().into_owned(),
            ticks: status.ticks(),
            bytes: status.bytes(),
            failure: status.failure().map(str::to_owned),
        }
    }
}

/// The handler of `/info`.
pub(super) fn info(pages: &Pages, all: &All, audience: Audience) -> Json<Info> {
    Json(of(&pages.0, all, audience))
}

/// The current state of the server and of the match of these pages.
fn of(pages: &PageState, all: &AllPages, audience: Audience) -> Info {
    let game = &pages.game;
    let for_operators = audience == Audience::Operators;
    let recording = pages.recording.status().filter(|_| for_operators);
    let match_info = game.match_info();
    let address = game.endpoint.advertised.borrow().clone();
    Info {
        version: env!("CARGO_PKG_VERSION"),
        protocol: PROTOCOL_VERSION,
        match_name: game.name.to_string(),
        matches: all.iter().map(|pages| Match::of(&pages.game)).collect(),
        map: match_info.map_name.as_str().to_owned(),
        map_hash: match_info.map.to_string(),
        tick: game.latest.borrow().state.tick,
        tick_rate: match_info.tick_rate.get(),
        snapshot_rate: match_info.snapshot_rate.get(),
        players: game.clients.players(),
        max_players: match_info.player_limit,
        max_spectators: game.access.max_spectators,
        host: address.host,
        port: address.port,
        certificate_sha256: game.endpoint.certificate.borrow().to_string(),
        self_signed: game.endpoint.self_signed,
        uptime_seconds: game.epoch.elapsed().as_secs_f64(),
        draining_seconds: game.stop.draining().map(|left| left.as_secs_f64()),
        for_operators,
        recording: recording.as_deref().map(Recording::of),
    }
}
