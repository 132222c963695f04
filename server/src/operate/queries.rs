//! Answers to server browsers by A2S (`--query`), as Valve's page "Server queries" describes it.
//!
//! Queries come to the ports of `--query`, which have a thread each, and to the game's own port.
//! One thread answers. Each datagram is read ([`query`]), the server is described ([`report`]), and
//! the description is written ([`answer`]) and split into packets ([`split`]).
//!
//! A sender that has not proven its address is sent a challenge and nothing else ([`challenge`]).
//! The challenge is never longer than the query, so nobody can use the server to amplify an attack
//! on others. The packets a second are limited, for one address ([`askers`]) and for all addresses.
//! The bytes that an address is sent are limited, too.

mod answer;
mod askers;
mod challenge;
pub(crate) mod options;
mod query;
mod report;
mod split;

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tracing::debug;

use crate::common::bind;
use crate::common::error::{RunError, StartError};
use crate::common::stop::Stop;
use crate::common::threads::Threads;
use crate::common::token_bucket::{Rate, TokenBucket};
use crate::door::outgoing::Purpose;
use crate::matches::Matches;
use crate::matches::match_handle::MatchHandle;
use crate::network::{Asked, Queries, ReceiveBuffer, UdpPort};
use askers::Askers;
use challenge::Challenges;
use options::QueryOptions;
use query::{Query, Subject};

/// Packets of answers a second, and challenges a second: enough for the browsers of a few hundred
/// players at once. Answers and challenges each have a bucket. So senders that forge addresses use
/// up only challenges, and senders that have proven their address are answered.
const PACKETS: Rate = Rate { per_second: 200.0, burst: 400.0 };

/// How long a thread waits for a query before it checks whether the server ends.
const READ_TIMEOUT: Duration = Duration::from_millis(200);

/// The ports of `--query` that wait to be served, and the queue of all queries.
pub(crate) struct QueryPorts {
    ports: Vec<UdpPort>,
    /// Addresses of `--query` that are the game's own.
    shared: Vec<SocketAddr>,
    queries: Queries,
    asked: Receiver<Asked>,
    challenges: Challenges,
}

impl QueryPorts {
    /// Binds the ports, except those at which the game listens: the game's sockets pass queries on.
    /// Sockets that are `handed_over` take the place of the addresses of the options.
    ///
    /// # Errors
    /// An address cannot be bound.
    pub(crate) fn bind(
        options: &QueryOptions,
        listens: &[SocketAddr],
        handed_over: Vec<UdpSocket>,
    ) -> Result<Self, StartError> {
        let addresses: &[_] = if handed_over.is_empty() { &options.query } else { &[] };
        let is_shared = |&address: &SocketAddr| is_covered(address, listens);
        let (shared, addresses): (Vec<_>, Vec<_>) = addresses.iter().copied().partition(is_shared);
        let bind = |&address: &SocketAddr| {
            // A socket of `[::]` does not take IPv4 addresses that the game or this option also
            // names.
            let others = [&addresses[..], listens].concat();
            let bound = bind::udp(address, &others)
                .and_then(|socket| UdpPort::new(socket.into(), READ_TIMEOUT));
            bound.map_err(|source| StartError::Query { address, source })
        };
        let mut ports = addresses.iter().map(bind).collect::<Result<Vec<_>, _>>()?;
        for socket in handed_over {
            ports.push(UdpPort::new(socket, READ_TIMEOUT).map_err(StartError::Endpoint)?);
        }
        let (queries, asked) = Queries::queue();
        let challenges = Challenges::new(Instant::now()).ok_or(StartError::Random)?;
        Ok(Self { ports, shared, queries, asked, challenges })
    }

    /// The queue into which the game's own port puts queries.
    pub(crate) fn queries(&self) -> Queries {
        self.queries.clone()
    }

    /// The addresses of `--query`, with the ports that the system chose.
    pub(crate) fn addresses(&self) -> std::io::Result<Vec<SocketAddr>> {
        let shared = self.shared.iter().map(|&address| Ok(address));
        self.ports.iter().map(UdpPort::address).chain(shared).collect()
    }

    /// Starts the threads that read and answer queries until the server ends. Without `--query`, no
    /// thread is started, no list shows the server, and queries that come to the game's port are
    /// dropped.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(crate) fn start(
        self,
        threads: &mut Threads,
        games: &Matches<Arc<MatchHandle>>,
    ) -> Result<(), StartError> {
        let Self { ports, shared, queries, asked, challenges } = self;
        if ports.is_empty() && shared.is_empty() {
            return Ok(());
        }
        for port in ports {
            let (queries, stop) = (queries.clone(), games.first().stop.clone());
            threads.spawn("query port thread", move || {
                listen(port, &queries, &stop);
                Ok(())
            })?;
        }
        let begin = Instant::now();
        let answering = Answering {
            games: games.clone(),
            challenges,
            challenge_budget: TokenBucket::full(begin),
            askers: Askers::new(begin),
            count: 0,
        };
        threads.spawn("query thread", move || answering.run(&asked))
    }
}

/// Whether the game listens at this address.
fn is_covered(address: SocketAddr, listens: &[SocketAddr]) -> bool {
    listens.iter().any(|listen| {
        let is_any = match listen.ip() {
            IpAddr::V4(all) => all.is_unspecified() && address.is_ipv4(),
            IpAddr::V6(all) => all.is_unspecified(),
        };
        let port = address.port();
        port != 0 && listen.port() == port && (is_any || listen.ip() == address.ip())
    })
}

/// Queues the datagrams that arrive at a port until the server ends.
fn listen(port: UdpPort, queries: &Queries, stop: &Stop) {
    let (port, mut buffer) = (Arc::new(port), ReceiveBuffer::default());
    while !stop.is_requested() {
        // An error is a time-out, or the system's report that an earlier answer did not arrive.
        let _ = port.receive(&mut buffer, |datagram, ends| queries.put(datagram, ends, &port));
    }
}

/// The state of the thread that answers queries.
struct Answering {
    games: Matches<Arc<MatchHandle>>,
    challenges: Challenges,
    /// The part of [`PACKETS`] that challenges have used up.
    challenge_budget: TokenBucket,
    /// The part of [`PACKETS`] that answers have used up, and the shares of addresses.
    askers: Askers,
    /// Number of answers so far.
    count: u16,
}

impl Answering {
    /// Answers until the server ends.
    fn run(mut self, asked: &Receiver<Asked>) -> Result<(), RunError> {
        while !self.games.first().stop.is_requested() {
            match asked.recv_timeout(READ_TIMEOUT) {
                Ok(asked) => self.answer(&asked, Instant::now()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(())
    }

    fn answer(&mut self, asked: &Asked, now: Instant) {
        let from = asked.peer();
        let Some(query) = Query::parse(&asked.datagram) else { return };
        let is_proven =
            query.challenge.is_some_and(|proof| self.challenges.is_proof(proof, from, now));
        if !is_proven {
            if self.challenge_budget.take(PACKETS, 1.0, now) {
                send(asked, &answer::challenge(self.challenges.of(from, now)));
            }
            return;
        }
        let payer = self.games.first().outgoing.payer(from.ip(), Purpose::Queries);
        let address = (!payer.is_exempt()).then(|| from.ip().into());
        // An address that has used up its share costs no more than this check.
        if !self.askers.may_ask(address, now) {
            return;
        }
        let packets = split::split(self.describe(query.subject, from.ip()), self.count);
        self.count = self.count.wrapping_add(1);
        let bytes = packets.iter().map(Vec::len).sum();
        // Either the whole answer is sent or nothing, because a browser cannot use a part of an
        // answer.
        if self.askers.take(address, packets.len() as f64, now, || payer.pay_at_once(bytes)) {
            packets.iter().for_each(|packet| send(asked, packet));
        }
    }

    /// The whole answer to a query of `asker`.
    fn describe(&self, subject: Subject, asker: IpAddr) -> Vec<u8> {
        match subject {
            Subject::Info => answer::info(&report::info(&self.games)),
            Subject::Players => answer::players(&report::players(&self.games, asker)),
            Subject::Rules => answer::rules(&report::rules(&self.games)),
        }
    }
}

fn send(asked: &Asked, packet: &[u8]) {
    if let Err(error) = asked.answer(packet) {
        debug!("cannot answer a query from {}: {error}", asked.peer());
    }
}

#[cfg(test)]
mod reader;
#[cfg(test)]
mod tests;
