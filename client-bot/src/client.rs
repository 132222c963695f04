//! The client library: from an address to a player in a match.
//!
//! A [`Connector`] owns one UDP socket and reaches one server with it; each
//! [`Connector::join`] gives a [`Client`], one player. A client is driven by
//! its owner: [`Client::next`] says when a snapshot came or a command is due,
//! [`Client::command`] sends one, and what the client knows of the match is
//! asked of its [session](Client::session).

mod connector;
mod trust;

use std::net::SocketAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::Time;
use proto::client::{Event, Session, SnapshotReceived};
use proto::control::ClosingReason;
use quinn::{Connection, ConnectionError, ReadError, RecvStream, SendStream, VarInt};
use sim::Command;
use thiserror::Error;
use tokio::time::{Sleep, timeout};

pub use connector::{ConnectError, Connector, JoinError};
pub use trust::{NoTrust, Pin as CertificatePin, PinSyntax, Trust};

/// Application error code of a connection that ends as it should.
const DONE: VarInt = VarInt::from_u32(0);

/// How long the server has to answer a goodbye.
const FAREWELL: Duration = Duration::from_secs(2);

/// How often a client with nothing to do looks whether the server is silent.
const IDLE_CHECK: Duration = Duration::from_millis(500);

/// Most bytes read from the control stream at a time.
const CHUNK: usize = 2048;

/// One player in a match.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    send: SendStream,
    receive: RecvStream,
    session: Session,
    /// The beginning of the session's [`Time`].
    epoch: Instant,
    /// Kept from one wait to the next: a timer that is only moved is cheap.
    timer: Pin<Box<Sleep>>,
}

/// What a client's owner may want to react to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// News of the match came.
    Snapshot(SnapshotReceived),
    /// It is time to call [`Client::command`].
    CommandDue,
}

/// Why a client is no longer in the match.
#[derive(Clone, Debug, Error)]
pub enum Lost {
    /// The server ended it.
    #[error("the server ended the session: {0}")]
    Closed(ClosingReason),
    /// Nothing was heard from the server.
    #[error("the server was silent too long")]
    TimedOut,
    /// The connection broke.
    #[error("the connection was lost: {0}")]
    Connection(#[from] ConnectionError),
    /// The server broke the protocol, or this client misreads it.
    #[error("the server broke the protocol: {0}")]
    Protocol(#[from] proto::ProtocolError),
}

/// Bytes of UDP payload that a connection has carried, QUIC's own included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// From the server.
    pub down: u64,
    /// To the server.
    pub up: u64,
}

impl Client {
    /// Waits for the next occasion. Giving up waiting loses nothing.
    ///
    /// # Errors
    /// The client is out of the match, and can only be dropped.
    pub async fn next(&mut self) -> Result<Occasion, Lost> {
        let mut chunk = [0; CHUNK];
        loop {
            let due = self.session.next_command_at();
            let wake = match due {
                Some(time) => self.epoch + time.elapsed(),
                None => Instant::now() + IDLE_CHECK,
            };
            self.timer.as_mut().reset(wake.into());
            tokio::select! {
                datagram = self.connection.read_datagram() => {
                    let datagram = datagram?;
                    let received = self.session.receive_datagram(self.now(), &datagram);
                    if let Some(snapshot) = self.checked(received)? {
                        return Ok(Occasion::Snapshot(snapshot));
                    }
                }
                read = self.receive.read(&mut chunk) => {
                    let Some(length) = read.map_err(broken_stream)? else {
                        // Whoever ends the stream is about to close, or is gone.
                        return Err(self.connection.closed().await.into());
                    };
                    let events = self.session.receive_stream(self.now(), &chunk[..length]);
                    for event in self.checked(events)? {
                        lost(event)?;
                    }
                }
                () = &mut self.timer => {
                    if let Some(event) = self.session.advance(self.now()) {
                        lost(event)?;
                    }
                    if due.is_some() {
                        return Ok(Occasion::CommandDue);
                    }
                }
            }
        }
    }

    /// Sends the command of the tick that is due, and says whether one was.
    pub fn command(&mut self, command: Command) -> bool {
        let Some(sent) = self.session.command(self.now(), command) else { return false };
        // A datagram that the path does not take is one that was lost, and the
        // next carries its command too; a connection that has ended is told by
        // `next`.
        let _ = self.connection.send_datagram(Bytes::from(sent.datagram));
        true
    }

    /// What the client knows of the match.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// How long a packet takes to the server and back, smoothed.
    pub fn rtt(&self) -> Duration {
        self.connection.rtt()
    }

    /// What the connection has carried so far.
    pub fn traffic(&self) -> Traffic {
        let stats = self.connection.stats();
        Traffic { down: stats.udp_rx.bytes, up: stats.udp_tx.bytes }
    }

    /// Where the server is.
    pub fn server(&self) -> SocketAddr {
        self.connection.remote_address()
    }

    /// Says goodbye and closes the connection.
    pub async fn leave(mut self) {
        self.session.leave();
        let output = self.session.stream_output();
        let goodbye = async {
            if self.send.write_all(&output).await.is_ok() && self.send.finish().is_ok() {
                self.connection.closed().await;
            }
        };
        // Whether the server answers or not, we are off.
        let _ = timeout(FAREWELL, goodbye).await;
        self.connection.close(DONE, b"goodbye");
    }

    fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }

    /// Tells the server too if it broke the protocol.
    fn checked<T>(&self, result: Result<T, proto::ProtocolError>) -> Result<T, Lost> {
        result.map_err(|error| {
            self.connection.close(VarInt::from_u32(error.code()), error.to_string().as_bytes());
            error.into()
        })
    }
}

/// What an event means to a client that has joined.
fn lost(event: Event) -> Result<(), Lost> {
    match event {
        Event::Closed(reason) => Err(Lost::Closed(reason)),
        Event::TimedOut => Err(Lost::TimedOut),
        // Hello and refusal are for those who have not joined; the session
        // lets neither through a second time.
        Event::Joined(_) | Event::Refused(_) => Ok(()),
    }
}

fn broken_stream(error: ReadError) -> Lost {
    match error {
        ReadError::ConnectionLost(error) => error.into(),
        // Reset by the server, which never does that to a player.
        _ => ConnectionError::Reset.into(),
    }
}
