//! The wire protocol: messages, quantisation, the snapshot codec and both ends' sessions
//! as state machines.
//!
//! Nothing here opens a socket, reads a clock or starts a thread: bytes and a [`Time`]
//! go in, bytes and events come out, so that a whole match can be tested in virtual
//! time. `PROTOCOL.md` beside this crate specifies every byte.
//!
//! * [`server`] and [`client`]: the two ends' sessions. Start here.
//! * [`control`]: reliable messages, on the one bidirectional stream.
//! * [`commands`]: what a client sends each tick, as a datagram.
//! * [`quantise`]: a simulation state rounded once for all clients.
//! * [`snapshot`]: what the server sends each tick, as a datagram.
//! * [`bits`] and [`range`]: plain bit streams, and the range coder.
//! * [`map_transfer`]: how a client that lacks the map gets it.
//! * [`token`]: connect tokens, which a backend seals for clients.
//! * [`a2s`]: queries of server browsers.

pub mod a2s;
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
pub mod token;

pub use duration::parse_duration;
pub use error::{DatagramError, ProtocolError};
pub use fingerprint::{Fingerprint, FingerprintSyntax};
pub use obsp_sim::MAX_ENTITIES;
pub use time::{Tick, Time};

/// The version of the protocol, which both ends must share; any change to `PROTOCOL.md`
/// that an old peer would misread increments it.
pub const PROTOCOL_VERSION: u32 = 7;

/// The application protocol that QUIC negotiates.
pub const ALPN: &[u8] = b"obsp/1";

/// Bits of a slot number on the wire: small enough that a hostile server cannot make a
/// client allocate much.
pub const SLOT_BITS: u32 = 12;
const _: () = assert!(MAX_ENTITIES == 1 << SLOT_BITS, "every slot needs a number");

/// Silence after which either end gives the connection up. A server that stands still
/// for ten seconds (a suspended machine) and the round trips that follow fit into it
/// with room to spare.
pub const IDLE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(15);

/// How long a client may take to send a whole hello. Shorter than [`IDLE_TIMEOUT`],
/// since a client that has sent nothing has earned no patience.
pub const HANDSHAKE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
