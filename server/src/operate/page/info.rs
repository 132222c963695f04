use axum::{Extension, Json};
use obsp_game::{self as game, WeaponKey, WeaponKind, Weapons};
use obsp_proto::PROTOCOL_VERSION;
use serde::Serialize;

use super::page_state::{AllPages, PageState};
use crate::door::public_endpoint::Family;
use crate::matches::match_handle::MatchHandle;
use crate::matches::match_handle::who_may_see::Viewer;
use crate::matches::recording;
use crate::matches::rounds::options::Vote;
use crate::operate::page::{All, Pages};

/// `/info`: the facts about the server that a program needs before it joins or lists it.
#[derive(Serialize)]
pub(super) struct Info {
    version: &'static str,
    protocol: u32,
    /// The name of the server, if it has one.
    name: Option<String>,
    /// The message of the day, if there is one.
    motd: Option<String>,
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
    /// The weapons of the arena game in the order of their keys, so that a page shows its player's
    /// own shots at once. `None` in any other game.
    weapons: Option<[Weapon; 3]>,
    /// Players in the match. `None` for those who may not see it.
    players: Option<usize>,
    max_players: u16,
    /// Places for spectators. If there are none, no page can show the match.
    max_spectators: u16,
    /// The votes that players may call. Without any, lines that begin with `/` are chat.
    votes: Vec<Vote>,
    /// Whether players and spectators need a password.
    password: bool,
    /// The host that players join. `None` if it is the host of this page.
    host: Option<String>,
    /// The UDP port that players join.
    port: u16,
    /// The families of the addresses at which the server listens. A `[::]` counts as both.
    families: Vec<Family>,
    /// The SHA-256 of the certificate that new connections are shown, in hexadecimal.
    certificate_sha256: String,
    /// The begin and the end of that certificate's validity, in seconds since 1970, if they are
    /// known.
    certificate_valid: Option<[i64; 2]>,
    /// The fault of the certificate, if it is not valid now. No browser can then enter.
    certificate_fault: Option<String>,
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

/// A weapon of the arena game.
#[derive(Serialize)]
struct Weapon {
    /// The kind, as `game.toml` has it.
    kind: &'static str,
    /// Seconds until the next shot.
    refire_seconds: f64,
    /// Length of a ray in units.
    reach: Option<f64>,
}

impl Weapon {
    fn of_key(weapons: &Weapons, key: WeaponKey) -> Self {
        let game::Weapon { refire_seconds, kind } = weapons.of_key(key);
        let reach = match kind {
            WeaponKind::Ray(ray) => Some(ray.reach),
            WeaponKind::Rocket(_) | WeaponKind::Grenade(_) => None,
        };
        Self { kind: kind.name(), refire_seconds: *refire_seconds, reach }
    }
}

/// A match in the list of all matches.
#[derive(Serialize)]
struct Match {
    /// The name by which clients ask for the match.
    name: String,
    map: String,
    /// Players in the match. `None` for those who may not see it.
    players: Option<usize>,
    max_players: u16,
    /// Whether the match has failed while others go on. Nobody may join a failed match.
    failed: bool,
}

impl Match {
    fn of(game: &MatchHandle, viewer: Viewer) -> Self {
        let match_info = game.match_info();
        Self {
            name: game.name.to_string(),
            map: match_info.map_name.as_str().to_owned(),
            players: players(game, viewer),
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
pub(super) async fn info(
    pages: Pages,
    all: All,
    Extension(viewer): Extension<Viewer>,
) -> Json<Info> {
    Json(of(&pages.0, &all, viewer))
}

/// The number of players, for those who may see the match.
fn players(game: &MatchHandle, viewer: Viewer) -> Option<usize> {
    game.may_be_seen_by(viewer).then(|| game.clients.players())
}

/// The current state of the server and of the match of these pages.
fn of(pages: &PageState, all: &AllPages, viewer: Viewer) -> Info {
    let game = &pages.game;
    let for_operators = viewer == Viewer::Operator;
    let recording = pages.recording.status().filter(|_| for_operators);
    let match_info = game.match_info();
    let address = game.endpoint.advertised.borrow().clone();
    let validity = *game.endpoint.validity.borrow();
    Info {
        version: env!("CARGO_PKG_VERSION"),
        protocol: PROTOCOL_VERSION,
        name: game.introduction.name().map(ToString::to_string),
        motd: game.introduction.motd().map(|motd| motd.to_string()),
        match_name: game.name.to_string(),
        matches: all.iter().map(|pages| Match::of(&pages.game, viewer)).collect(),
        map: match_info.map_name.as_str().to_owned(),
        map_hash: match_info.map.to_string(),
        tick: game.latest.borrow().state.tick,
        tick_rate: match_info.tick_rate.get(),
        snapshot_rate: match_info.snapshot_rate.get(),
        weapons: game.level().weapons.as_deref().map(|weapons| {
            [WeaponKey::Fire, WeaponKey::Rocket, WeaponKey::Grenade]
                .map(|key| Weapon::of_key(weapons, key))
        }),
        players: players(game, viewer),
        max_players: match_info.player_limit,
        max_spectators: game.access.max_spectators,
        votes: game.rounds.allowed.clone(),
        password: game.access.admittance.asks(),
        host: address.host,
        port: address.port,
        families: game.endpoint.families(),
        certificate_sha256: game.endpoint.certificate.borrow().to_string(),
        certificate_valid: validity.map(|validity| [validity.begin, validity.end]),
        certificate_fault: game.endpoint.certificate_fault(game.access.clock.now().wall),
        self_signed: game.endpoint.self_signed,
        uptime_seconds: game.epoch.elapsed().as_secs_f64(),
        draining_seconds: game.stop.draining().map(|left| left.as_secs_f64()),
        for_operators,
        recording: recording.as_deref().map(Recording::of),
    }
}
