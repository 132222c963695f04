//! Why a connector cannot be created, and why a client could not join.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use obsp_proto::control::RefusalReason;
use quinn::ConnectionError;
use quinn::crypto::rustls::NoInitialCipherSuite;
use thiserror::Error;

use super::server_address::ServerAddress;
use super::trust::TrustError;
use crate::disconnected::is_final_refusal;
use crate::{Disconnected, MapError};

/// Why a connector cannot be created.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The system refuses a UDP socket.
    #[error("cannot open a UDP socket: {0}")]
    Socket(io::Error),
    /// TLS could not be configured.
    #[error("cannot set up TLS: {0}")]
    Tls(rustls::Error),
    /// TLS lacks a cipher suite that QUIC needs.
    #[error("cannot set up TLS for QUIC: {0}")]
    Cipher(NoInitialCipherSuite),
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        Self::Socket(error)
    }
}

impl From<rustls::Error> for ConnectError {
    fn from(error: rustls::Error) -> Self {
        Self::Tls(error)
    }
}

impl From<NoInitialCipherSuite> for ConnectError {
    fn from(error: NoInitialCipherSuite) -> Self {
        Self::Cipher(error)
    }
}

/// Why a client could not join.
#[derive(Clone, Debug, Error)]
pub enum JoinError {
    /// No server answers at the address.
    #[error(
        "no server answers at UDP {server}: there is none, a firewall drops UDP, or the line \
         carries no datagrams of 1200 bytes, the least that QUIC needs"
    )]
    NoAnswer {
        /// The server's name or address.
        server: ServerAddress,
    },
    /// The name cannot be looked up.
    #[error("cannot find {server}: {reason}")]
    Unresolved {
        /// The server's name.
        server: ServerAddress,
        /// The reason as the system's resolver gives it.
        reason: String,
    },
    /// This machine has no route to the address.
    #[error("no network of this machine leads to UDP {server}: {reason}")]
    NoRoute {
        /// The server's address.
        server: SocketAddr,
        /// The system's reason.
        reason: String,
    },
    /// Each address of a name failed.
    #[error("no address of {server} could be joined: {tried}")]
    NoneOf {
        /// The server's name.
        server: ServerAddress,
        /// How each address failed.
        tried: Tried,
    },
    /// The server cannot be told from an impostor.
    #[error(transparent)]
    Unverifiable(TrustError),
    /// The address cannot be reached at all.
    #[error("cannot connect to {server}: {reason}")]
    Unreachable {
        /// The server's address.
        server: SocketAddr,
        /// The reason that QUIC gives.
        reason: quinn::ConnectError,
    },
    /// The server refused the client.
    #[error("the server refused this client: {0}")]
    Refused(RefusalReason),
    /// The connection broke during the handshake, or the server is not trusted.
    #[error("the connection failed: {0}")]
    Connection(ConnectionError),
    /// The server ended the control stream, or sent nothing on it in time.
    #[error("the server did not answer the hello")]
    NoHello,
    /// The server broke the protocol, or this client is of another version.
    #[error("the server broke the protocol, or this client is of another version: {0}")]
    Protocol(obsp_proto::ProtocolError),
    /// The map could not be loaded.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The map did not arrive in time.
    #[error("the map did not arrive in time")]
    SlowMap,
    /// The client had joined, but lost the connection while the map was loading.
    #[error("the client was disconnected while the map was loading: {0}")]
    Disconnected(Box<Disconnected>),
}

impl From<ConnectionError> for JoinError {
    fn from(error: ConnectionError) -> Self {
        Self::Connection(error)
    }
}

impl From<obsp_proto::ProtocolError> for JoinError {
    fn from(error: obsp_proto::ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

impl JoinError {
    /// Whether a retry is pointless.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Refused(reason) => is_final_refusal(reason),
            Self::Disconnected(lost) => lost.is_final(),
            Self::Protocol(_) | Self::Unreachable { .. } | Self::Unverifiable(_) => true,
            Self::NoneOf { tried, .. } => tried.0.iter().all(|(_, error)| error.is_final()),
            Self::Unresolved { .. } | Self::NoRoute { .. } => false,
            Self::Map(_) | Self::SlowMap | Self::NoAnswer { .. } | Self::NoHello => false,
            Self::Connection(_) => false,
        }
    }

    /// Whether no server answered at all. A server that is still starting may answer later.
    pub fn is_silence(&self) -> bool {
        match self {
            Self::NoAnswer { .. } | Self::NoRoute { .. } => true,
            // If another program answers at one address, the server may still answer at another.
            Self::NoneOf { tried, .. } => tried.0.iter().any(|(_, error)| error.is_silence()),
            _ => false,
        }
    }
}

/// The reason why each address of a name failed, in the order in which the addresses were tried.
#[derive(Clone, Debug)]
pub struct Tried(pub Vec<(SocketAddr, JoinError)>);

impl fmt::Display for Tried {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (address, error)) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(formatter, "{separator}{address}: {error}")?;
        }
        Ok(())
    }
}
