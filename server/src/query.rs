//! Answers server queries (`--query`) by A2S, so that server browsers list the server. It has a UDP
//! socket and a thread of its own. A sender that has not proven its address is sent a challenge and
//! nothing else. The number of answers a second is limited.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::a2s::{self, PlayerInfo, Query, ServerInfo};
use ring::hmac;
use ring::rand::SystemRandom;
use tracing::debug;

use crate::error::{RunError, StartError};
use crate::match_handle::MatchHandle;
use crate::matches::Matches;
use crate::token_bucket::{Rate, TokenBucket};

/// Answers a second, and challenges a second: enough for the browsers of a few hundred players at
/// once. Answers and challenges have a bucket each. So senders that forge addresses cannot use up
/// the answers to those who have proven theirs.
const ANSWERS: Rate = Rate { per_second: 200.0, burst: 400.0 };

/// How long a challenge is valid. The one of the period before is accepted, too.
const PERIOD: Duration = Duration::from_secs(60);

/// How long the thread waits for a query before it checks whether the server ends.
const READ_TIMEOUT: Duration = Duration::from_millis(200);

/// Bytes of the largest datagram that is read: more than any query has.
const LONGEST_QUERY: usize = 64;

/// A query port that waits to be served.
pub(crate) struct QueryPort {
    socket: UdpSocket,
    key: hmac::Key,
}

impl QueryPort {
    /// Binds the port.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub(crate) fn bind(address: SocketAddr) -> Result<Self, StartError> {
        let failed = |source| StartError::Query { address, source };
        let socket = UdpSocket::bind(address).map_err(failed)?;
        socket.set_read_timeout(Some(READ_TIMEOUT)).map_err(failed)?;
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .map_err(|_| failed(std::io::Error::other("the system gives no random bytes")))?;
        Ok(Self { socket, key })
    }

    /// The address that the port listens at.
    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Answers until the server ends.
    pub(crate) fn run(self, games: &Matches<Arc<MatchHandle>>) -> Result<(), RunError> {
        let begin = Instant::now();
        let [mut answers, mut challenges] = [TokenBucket::full(begin); 2];
        let mut datagram = [0; LONGEST_QUERY];
        while !games.first().stop.is_requested() {
            // An error is a time-out, or the system's report that an earlier answer did not arrive.
            let Ok((length, from)) = self.socket.recv_from(&mut datagram) else { continue };
            let Some(query) = Query::parse(&datagram[..length]) else { continue };
            let period = begin.elapsed().as_secs() / PERIOD.as_secs();
            let valid =
                [period, period.saturating_sub(1)].map(|period| self.challenge(from, period));
            let is_proven = query.challenge().is_some_and(|proof| valid.contains(&proof));
            let bucket = if is_proven { &mut answers } else { &mut challenges };
            if !bucket.take(ANSWERS, 1.0, Instant::now()) {
                continue;
            }
            let answer = if is_proven { answer(query, games) } else { a2s::challenge(valid[0]) };
            if let Err(error) = self.socket.send_to(&answer, from) {
                debug!("a query of {from} could not be answered: {error}");
            }
        }
        Ok(())
    }

    /// A secret that only a peer that receives at this address knows.
    fn challenge(&self, from: SocketAddr, period: u64) -> u32 {
        let tag = hmac::sign(&self.key, format!("{from} {period}").as_bytes());
        let bytes = tag.as_ref();
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

/// The answer to a server browser. It covers all matches together, because a browser shows one line
/// for each server.
fn answer(query: Query, games: &Matches<Arc<MatchHandle>>) -> Vec<u8> {
    let few = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
    let first = games.first();
    let played = played(games);
    match query {
        Query::Info { .. } => a2s::info(&ServerInfo {
            name: &played,
            map: &maps(games),
            game: &played,
            players: few(games.players()),
            max_players: few(games.player_limit().into()),
            private: first.access.gate.is_some(),
            version: env!("CARGO_PKG_VERSION"),
            port: first.endpoint.advertised.borrow().port,
        }),
        Query::Players { .. } => {
            let clients: Vec<_> = games
                .iter()
                .flat_map(|game| {
                    let level = game.level();
                    let players =
                        game.clients.list().into_iter().filter(|client| !client.spectates);
                    players.map(move |client| (Arc::clone(&level), client))
                })
                .collect();
            a2s::players(clients.iter().map(|(level, client)| PlayerInfo {
                name: client.name.as_str(),
                score: level.roster.score(&client.name).unwrap_or(0).into(),
                seconds: client.seconds() as f32,
            }))
        }
    }
}

/// The names of the games that are played, each once.
fn played(games: &Matches<Arc<MatchHandle>>) -> String {
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
fn maps(games: &Matches<Arc<MatchHandle>>) -> String {
    let map = |game: &Arc<MatchHandle>| {
        let map = game.match_info().map_name.as_str().to_owned();
        if games.count() > 1 { format!("{}: {map}", game.name) } else { map }
    };
    games.iter().map(map).collect::<Vec<_>>().join(", ")
}
