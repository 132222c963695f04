//! The server as lists show it. All its matches are one entry of a list, so each answer covers all
//! of them.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use obsp_proto::PROTOCOL_VERSION;
use obsp_proto::control::RoundPhase;

use super::answer::{PlayerInfo, ServerInfo};
use crate::matches::Matches;
use crate::matches::match_handle::MatchHandle;
use crate::matches::match_handle::who_may_see::Viewer;

type Games = Matches<Arc<MatchHandle>>;

/// The entry of the server.
pub(super) fn info(games: &Games) -> ServerInfo {
    let few = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
    let first = games.first();
    let played = played(games);
    let name = first.introduction.name();
    ServerInfo {
        name: name.map_or_else(|| played.clone(), |name| name.as_str().to_owned()),
        map: maps(games),
        game: played,
        players: few(games.players()),
        max_players: few(games.player_limit().into()),
        private: is_private(first),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        port: first.endpoint.advertised.borrow().port,
        tags: tags(games),
    }
}

/// The players of the matches that `asker` may see. Other players are only counted, in [`info`].
pub(super) fn players(games: &Games, asker: IpAddr) -> Vec<PlayerInfo> {
    let may_be_seen = |game: &&Arc<MatchHandle>| game.may_be_seen_by(Viewer::Stranger(asker));
    let of_match = |game: &Arc<MatchHandle>| {
        let level = game.level();
        let players = game.clients.list().into_iter().filter(|client| !client.spectates);
        players.map(move |client| PlayerInfo {
            name: client.name.as_str().to_owned(),
            score: level.roster.score(&client.name).unwrap_or(0).into(),
            seconds: client.seconds() as f32,
        })
    };
    games.iter().filter(may_be_seen).flat_map(of_match).collect()
}

/// The rules of the server and of its matches. If there are several matches, the name of a match
/// precedes its rules.
pub(super) fn rules(games: &Games) -> Vec<(String, String)> {
    let first = games.first();
    let rule = |name: &str, value: String| (name.to_owned(), value);
    let mut rules = vec![
        rule("version", env!("CARGO_PKG_VERSION").to_owned()),
        rule("protocol", PROTOCOL_VERSION.to_string()),
        // Source's name for this rule, by which tools find it.
        rule("sv_password", u8::from(is_private(first)).to_string()),
        rule("tokens", u8::from(first.access.gate.is_some()).to_string()),
        rule("spectators_max", first.access.max_spectators.to_string()),
        rule("uptime", first.epoch.elapsed().as_secs().to_string()),
        rule("draining", u8::from(first.stop.draining().is_some()).to_string()),
        rule("tags", tags(games)),
    ];
    rules.extend(first.introduction.motd().map(|motd| rule("motd", motd.as_str().to_owned())));
    for game in games.iter() {
        let prefix = if games.count() > 1 { format!("{}.", game.name) } else { String::new() };
        let of_match = match_rules(game).into_iter();
        rules.extend(of_match.map(|(name, value)| (format!("{prefix}{name}"), value)));
    }
    rules
}

fn match_rules(game: &MatchHandle) -> Vec<(&'static str, String)> {
    let match_info = game.match_info();
    let status = game.rounds.status();
    let seconds = |time: Option<Duration>| time.unwrap_or_default().as_secs().to_string();
    let left = status.ends.map(|ends| ends.since(game.now()));
    vec![
        ("game", game.game_name.to_owned()),
        ("map", match_info.map_name.as_str().to_owned()),
        ("map_hash", match_info.map.to_string()),
        ("next_map", status.next_map.unwrap_or_default()),
        ("tick_rate", match_info.tick_rate.to_string()),
        ("snapshot_rate", match_info.snapshot_rate.to_string()),
        ("players", game.clients.players().to_string()),
        ("players_max", match_info.player_limit.to_string()),
        ("phase", phase(status.phase).to_owned()),
        ("phase_seconds_left", seconds(left)),
        ("round_seconds", seconds(status.rules.round)),
        ("score_limit", status.rules.score_limit.unwrap_or(0).to_string()),
        ("warm_up_seconds", status.rules.warm_up.as_secs().to_string()),
        ("intermission_seconds", status.rules.intermission.as_secs().to_string()),
        ("failed", u8::from(game.has_failed()).to_string()),
    ]
}

fn phase(phase: RoundPhase) -> &'static str {
    match phase {
        RoundPhase::WarmUp => "warm_up",
        RoundPhase::Playing => "playing",
        RoundPhase::Intermission => "intermission",
    }
}

/// Whether joining requires a token, a password or an entry in the list of players.
fn is_private(game: &MatchHandle) -> bool {
    let access = &game.access;
    access.gate.is_some() || access.admittance.asks() || access.admittance.has_list()
}

/// Words by which lists are filtered.
fn tags(games: &Games) -> String {
    let first = games.first();
    let mut tags = vec![format!("{}hz", first.match_info().tick_rate)];
    let optional = [
        (games.count() > 1, "matches"),
        (first.rounds.status().rules.round.is_some(), "rounds"),
        (first.rounds.maps.len() > 1, "rotation"),
        (first.access.gate.is_some(), "tokens"),
        (first.access.admittance.asks(), "password"),
        (first.access.admittance.has_list(), "allowlist"),
        (first.access.max_spectators > 0, "spectators"),
    ];
    tags.extend(optional.into_iter().filter(|(is_so, _)| *is_so).map(|(_, tag)| tag.to_owned()));
    tags.join(",")
}

/// The names of the games that are played, each once.
fn played(games: &Games) -> String {
    let mut names: Vec<&str> = Vec::new();
    for game in games.iter() {
        if !names.contains(&game.game_name) {
            names.push(game.game_name);
        }
    }
    names.join(", ")
}

/// The maps of all matches, in order. If there are several, each map follows the match's name and a
/// colon.
fn maps(games: &Games) -> String {
    let map = |game: &Arc<MatchHandle>| {
        let map = game.match_info().map_name.as_str().to_owned();
        if games.count() > 1 { format!("{}: {map}", game.name) } else { map }
    };
    games.iter().map(map).collect::<Vec<_>>().join(", ")
}
