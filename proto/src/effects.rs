//! The datagram of effects: what happened in a tick that is shown for a moment and that snapshots
//! do not hold, such as a ray. The server sends it to clients whose hello asks for it, and only
//! when there is something to show.
//!
//! A tick's effects are in up to [`REPEATS`] datagrams, so that a lost one loses nothing. The
//! server's memory of a client is in [`crate::server`]. A client's memory is in [`crate::client`].

mod datagram;
mod effect;

pub use datagram::EffectsDatagram;
pub use effect::{Effect, TickEffects};

/// Maximum number of effects of one tick that a client is sent.
pub const MAX_EFFECTS_OF_TICK: usize = 64;

/// Maximum number of records in a datagram.
pub const MAX_RECORDS: usize = 256;

/// Maximum number of ticks from the first record of a datagram to its last.
pub const MAX_SPAN: u32 = 32;

/// Number of datagrams that carry the effects of a tick.
pub const REPEATS: u8 = 3;

/// Largest damage that can be encoded, and largest radius in units.
pub const MAX_AMOUNT: u16 = (1 << AMOUNT_BITS) - 1;

/// Bits of a damage, and of a radius in units.
const AMOUNT_BITS: u32 = 12;
