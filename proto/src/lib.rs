//! The wire: messages, quantisation, the snapshot codec and both ends'
//! sessions as state machines.
//!
//! Nothing here opens a socket, reads a clock or starts a thread: bytes and a
//! [`Time`] go in, bytes and events come out, so that a whole match can be
//! tested in virtual time. `PROTOCOL.md` beside this crate states every byte.
//!
//! * [`control`]: what travels reliably, on the one bidirectional stream.
//! * [`commands`]: what a client sends each tick, as a datagram.
//! * [`quantise`]: a simulation state rounded once for all clients.
//! * [`snapshot`]: what the server sends each tick, as a datagram.
//! * [`bits`] and [`range`]: plain bits, and likely ones for less.
//! * [`map_transfer`]: how a client that lacks the map gets it.
//! * [`server`] and [`client`]: the two ends' sessions.

pub mod bits;
pub mod client;
pub mod commands;
pub mod control;
mod duration;
mod error;
mod fingerprint;
pub mod map_transfer;
pub mod quantise;
pub mod range;
pub mod server;
pub mod snapshot;
mod time;

pub use duration::parse_duration;
pub use error::{DatagramError, ProtocolError};
pub use fingerprint::{Fingerprint, FingerprintSyntax};
pub use time::{Tick, Time};

/// What both ends must have in common; any change to `PROTOCOL.md` that an
/// old peer would misread raises it.
pub const PROTOCOL_VERSION: u32 = 5;

/// The application protocol QUIC negotiates.
pub const ALPN: &[u8] = b"obsp/1";

/// Slots an entity may have on the wire: 12 bits, an order of magnitude above
/// the hundreds of entities a match holds, and small enough that a hostile
/// server cannot make a client allocate much.
pub const MAX_SLOTS: usize = 1 << 12;

/// Silence after which either end gives the other up.
pub const IDLE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

/// How long a client may take to say a whole hello. Shorter than
/// [`IDLE_TIMEOUT`]: who has said nothing yet has earned no patience.
pub const HANDSHAKE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
