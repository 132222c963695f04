//! Answers to server browsers, byte by byte, before they are split into packets.

use super::query::SINGLE;

/// The version of the query protocol.
const PROTOCOL: u8 = 17;

/// Maximum number of players in an answer, because a byte counts them.
pub(super) const MOST_PLAYERS: usize = u8::MAX as usize;

/// Longest text of an answer, in bytes.
pub(super) const MAX_TEXT: usize = 256;

/// Maximum number of rules in an answer: more than a server of eight matches has.
const MOST_RULES: usize = 256;

/// In [`info`], says that the port to join at follows.
const HAS_PORT: u8 = 0x80;

/// In [`info`], says that tags follow.
const HAS_TAGS: u8 = 0x20;

/// The data of a server that a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerInfo {
    /// The server's name.
    pub(super) name: String,
    /// The map that is played.
    pub(super) map: String,
    /// The name of the game.
    pub(super) game: String,
    /// Number of players.
    pub(super) players: u8,
    /// Maximum number of players that the server accepts.
    pub(super) max_players: u8,
    /// Whether joining requires a token, a password or an entry in the list of players.
    pub(super) private: bool,
    /// The server's version.
    pub(super) version: String,
    /// The UDP port to join at.
    pub(super) port: u16,
    /// Words by which lists are filtered, separated by commas.
    pub(super) tags: String,
}

/// The data of a player that a list shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlayerInfo {
    /// The player's name.
    pub(super) name: String,
    /// The score, as the game counts it.
    pub(super) score: i32,
    /// Seconds since the player joined.
    pub(super) seconds: f32,
}

/// The answer that contains the sender's challenge. It is never longer than the query.
pub(super) fn challenge(challenge: u32) -> [u8; 9] {
    let [a, b, c, d] = challenge.to_le_bytes();
    [0xff, 0xff, 0xff, 0xff, b'A', a, b, c, d]
}

/// The answer to `A2S_INFO`.
pub(super) fn info(info: &ServerInfo) -> Vec<u8> {
    let mut answer = [&SINGLE[..], b"I", &[PROTOCOL]].concat();
    // Valve's games send the name of their folder here. This game has none and sends its own name.
    let folder = info.game.to_lowercase();
    for value in [&info.name, &info.map, &folder, &info.game] {
        text(&mut answer, value);
    }
    // In this order: no Steam application id, the players, their limit, and no bots.
    answer.extend([0, 0, info.players, info.max_players, 0]);
    // In this order: dedicated, on Linux, whether joining requires something, and no VAC.
    answer.extend([b'd', b'l', u8::from(info.private), 0]);
    text(&mut answer, &info.version);
    answer.push(HAS_PORT | HAS_TAGS);
    answer.extend(info.port.to_le_bytes());
    text(&mut answer, &info.tags);
    answer
}

/// The answer to `A2S_PLAYER`, with the first [`MOST_PLAYERS`] players.
pub(super) fn players(players: &[PlayerInfo]) -> Vec<u8> {
    let told = &players[..players.len().min(MOST_PLAYERS)];
    let mut answer = [&SINGLE[..], b"D", &[told.len() as u8]].concat();
    for player in told {
        // A number of the player. Source sends 0 for all, and so do most servers.
        answer.push(0);
        text(&mut answer, &player.name);
        answer.extend(player.score.to_le_bytes());
        answer.extend(player.seconds.to_le_bytes());
    }
    answer
}

/// The answer to `A2S_RULES`, with the first [`MOST_RULES`] rules.
pub(super) fn rules(rules: &[(String, String)]) -> Vec<u8> {
    let told = &rules[..rules.len().min(MOST_RULES)];
    let mut answer = [&SINGLE[..], b"E", &(told.len() as u16).to_le_bytes()].concat();
    for (name, value) in told {
        text(&mut answer, name);
        text(&mut answer, value);
    }
    answer
}

/// Appends a text that ends with a zero, cut to [`MAX_TEXT`] bytes.
fn text(answer: &mut Vec<u8>, text: &str) {
    let mut cut = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    answer.extend(text[..cut].bytes().filter(|&byte| byte != 0));
    answer.push(0);
}
