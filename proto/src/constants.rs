//! The constants that both ends of a connection must share.

use std::time::Duration;

use obsp_sim::MAX_ENTITIES;

/// The version of the protocol, which both ends must share. Any change to `PROTOCOL.md` that an old
/// peer would misread increments it.
pub const PROTOCOL_VERSION: u32 = 17;

/// The application protocol that QUIC negotiates.
pub const ALPN: &[u8] = b"obsp/1";

/// Number of bits of a slot number on the wire. It is small enough that a hostile server cannot
/// make a client allocate much.
pub const SLOT_BITS: u32 = 12;
const _: () = assert!(MAX_ENTITIES == 1 << SLOT_BITS, "every slot needs a number");

/// Time of silence after which either end closes the connection. It is long enough for a server
/// that stands still for ten seconds, such as on a suspended machine, and for the round trips that
/// follow.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum time that a client may take to send a whole hello. It is shorter than [`IDLE_TIMEOUT`],
/// because such a client is not yet in a match that an outage of the network could interrupt.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
