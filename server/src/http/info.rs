use proto::PROTOCOL_VERSION;
use serde::Serialize;

use crate::network::Lobby;

/// What a program needs to know of a server before it joins, or shows it.
#[derive(Serialize)]
pub(super) struct Info {
    version: &'static str,
    protocol: u32,
    map: String,
    map_hash: String,
    tick: u64,
    tick_rate: u16,
    snapshot_rate: u16,
    players: usize,
    max_players: u16,
    /// UDP port on which players join, at the host of this page.
    port: u16,
    /// SHA-256 of the certificate that newcomers are shown, in hexadecimal.
    certificate_sha256: String,
    /// Whether nobody else vouches for it.
    self_signed: bool,
    uptime_seconds: f64,
}

/// The server as it is now.
pub(super) fn of(lobby: &Lobby) -> Info {
    let terms = &lobby.terms;
    Info {
        version: env!("CARGO_PKG_VERSION"),
        protocol: PROTOCOL_VERSION,
        map: terms.map_name.as_str().to_owned(),
        map_hash: terms.map.to_string(),
        tick: lobby.frames.borrow().state.tick,
        tick_rate: terms.tick_rate.get(),
        snapshot_rate: terms.snapshot_rate.get(),
        players: lobby.sessions.len(),
        max_players: terms.player_limit,
        port: lobby.port,
        certificate_sha256: lobby.certificate.borrow().to_string(),
        self_signed: lobby.self_signed,
        uptime_seconds: lobby.epoch.elapsed().as_secs_f64(),
    }
}
