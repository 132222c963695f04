//! Server queries as Valve's server browsers send them: `A2S_INFO` and `A2S_PLAYER`. A query
//! without the right challenge gets only a challenge as answer. By returning it in the next query,
//! the sender proves its address.
//!
//! Call [`Query::parse`] for every datagram, then [`challenge`], [`info`] or [`players`] for
//! the answer.

/// The first bytes of an unsplit packet.
const SINGLE: [u8; 4] = [255; 4];

/// The text of an `A2S_INFO` query after its letter. A challenge may follow.
const INFO_TEXT: &[u8] = b"Source Engine Query\0";

/// Limit in bytes of an answer, so that one datagram carries it on any path.
pub const MAX_ANSWER: usize = 1200;

/// Longest text of an answer, in bytes.
const MAX_TEXT: usize = 64;

/// The version of the query protocol.
const PROTOCOL: u8 = 17;

/// A query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// Asks for the [`ServerInfo`].
    Info {
        /// The challenge, if the sender has one.
        challenge: Option<u32>,
    },
    /// Asks for the [`PlayerInfo`] of every player.
    Players {
        /// The challenge. `u32::MAX`, which is -1 for Valve, requests one.
        challenge: u32,
    },
}

/// The data of a server that a server browser shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo<'a> {
    /// The server's name.
    pub name: &'a str,
    /// The map that is played.
    pub map: &'a str,
    /// The name of the game.
    pub game: &'a str,
    /// Number of players.
    pub players: u8,
    /// Maximum number of players that the server accepts.
    pub max_players: u8,
    /// Whether joining requires a connect token.
    pub private: bool,
    /// The server's version.
    pub version: &'a str,
    /// The UDP port to join at.
    pub port: u16,
}

/// The data of a player that a server browser shows.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerInfo<'a> {
    /// The player's name.
    pub name: &'a str,
    /// Number of other players killed, less the number of suicides.
    pub score: i32,
    /// Seconds since the player joined.
    pub seconds: f32,
}

impl Query {
    /// Parses a datagram; `None` if it is not a query.
    pub fn parse(datagram: &[u8]) -> Option<Self> {
        let (&letter, rest) = datagram.strip_prefix(&SINGLE)?.split_first()?;
        let challenge = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_le_bytes);
        match letter {
            b'T' => match rest.strip_prefix(INFO_TEXT)? {
                [] => Some(Self::Info { challenge: None }),
                bytes => Some(Self::Info { challenge: Some(challenge(bytes)?) }),
            },
            b'U' => Some(Self::Players { challenge: challenge(rest)? }),
            _ => None,
        }
    }

    /// The query's challenge, if it has one.
    pub fn challenge(&self) -> Option<u32> {
        match *self {
            Self::Info { challenge } => challenge,
            Self::Players { challenge } => Some(challenge),
        }
    }
}

/// The answer that gives the sender its challenge. It is never longer than the query.
pub fn challenge(challenge: u32) -> Vec<u8> {
    [&SINGLE[..], b"A", &challenge.to_le_bytes()].concat()
}

/// The answer to [`Query::Info`].
pub fn info(info: &ServerInfo<'_>) -> Vec<u8> {
    let mut answer = [&SINGLE[..], b"I", &[PROTOCOL]].concat();
    // Valve's games send the name of their folder here. This game has none and sends its own name.
    let folder = info.game.to_lowercase();
    for value in [info.name, info.map, &folder, info.game] {
        text(&mut answer, value);
    }
    // In this order: no Steam application id, the players, their limit, and no bots.
    answer.extend([0, 0, info.players, info.max_players, 0]);
    // In this order: dedicated, on Linux, whether joining requires a token, and no VAC.
    answer.extend([b'd', b'l', u8::from(info.private), 0]);
    text(&mut answer, info.version);
    // This flag says that the port follows.
    answer.push(0x80);
    answer.extend(info.port.to_le_bytes());
    answer
}

/// The answer to [`Query::Players`], with as many of these players as fit.
pub fn players<'a>(players: impl IntoIterator<Item = PlayerInfo<'a>>) -> Vec<u8> {
    let mut answer = [&SINGLE[..], b"D", &[0]].concat();
    let counted = SINGLE.len() + 1;
    for player in players {
        let before = answer.len();
        answer.push(0);
        text(&mut answer, player.name);
        answer.extend(player.score.to_le_bytes());
        answer.extend(player.seconds.to_le_bytes());
        if answer.len() > MAX_ANSWER || answer[counted] == u8::MAX {
            answer.truncate(before);
            break;
        }
        answer[counted] += 1;
    }
    answer
}

/// Appends a zero-terminated text, cut to [`MAX_TEXT`] bytes.
fn text(answer: &mut Vec<u8>, text: &str) {
    let mut cut = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    answer.extend(text[..cut].bytes().filter(|&byte| byte != 0));
    answer.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_queries_are_parsed() {
        let info = [&SINGLE[..], b"T", INFO_TEXT].concat();
        assert_eq!(Query::parse(&info), Some(Query::Info { challenge: None }));
        let proven = [&info[..], &[1, 2, 0, 0]].concat();
        assert_eq!(Query::parse(&proven), Some(Query::Info { challenge: Some(513) }));
        let players = [&SINGLE[..], b"U", &[255; 4]].concat();
        assert_eq!(Query::parse(&players), Some(Query::Players { challenge: u32::MAX }));
        for noise in [&b""[..], b"\xff\xff\xff\xffT", &info[1..], &proven[..27], &players[..8]] {
            assert_eq!(Query::parse(noise), None, "{noise:?}");
        }
        assert!(challenge(1).len() <= players.len() && challenge(1).len() <= info.len());
    }

    #[test]
    fn answers_are_bounded() {
        let long = "ä".repeat(500);
        let crowd = (0..1000).map(|_| PlayerInfo { name: &long, score: -1, seconds: 1.5 });
        let answer = players(crowd);
        assert!(answer.len() <= MAX_ANSWER && answer[5] > 10, "{} bytes", answer.len());
        let server = ServerInfo {
            name: &long,
            map: &long,
            game: &long,
            players: 1,
            max_players: 2,
            private: true,
            version: &long,
            port: 4433,
        };
        assert!(info(&server).len() <= MAX_ANSWER);
    }
}
