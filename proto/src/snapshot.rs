//! The datagram that the server sends each tick. It carries as many entities as fit, the most
//! urgent first. Each is coded as its difference from a value that this client has acknowledged.
//! Now and then it carries the authoritative motion of the client's own player. Each datagram can
//! be decoded alone, because the probabilities of its range coder start from a fixed table.
//!
//! The layout is written here once for both directions, so that writer and reader cannot diverge.
//! The server's memory of a client is in [`crate::server`], and a client's memory in
//! [`crate::client`].

mod authoritative_motion;
mod codec;
mod digest;
mod entity_traits;
mod field_values;
mod header;
mod lead;
mod probabilities;
mod record;
mod touched_body;

pub use authoritative_motion::AuthoritativeMotion;
pub use codec::{
    BaselineQuery, Baselines, DigestSample, Extras, Record, RecordToWrite, Snapshot, SnapshotCodec,
};
pub use digest::Digest;
pub use field_values::ValueBlock;
pub use header::{DatagramKind, Header, PLAIN_BYTES};
pub use lead::Lead;
pub use probabilities::{PRIORS, PROBABILITY_COUNT};
pub use record::Baseline;
#[cfg(test)]
pub(crate) use touched_body::UNKNOWN_BODY;
pub use touched_body::{TouchedArmedMove, TouchedBody, TouchedMove, TouchedSwing};

/// Number of values of an entity that a client keeps. The server uses only these as baselines. It
/// counts how often it sent an entity after its baseline, and sends the entity whole when the
/// client may have dropped the baseline.
pub const BASELINES_KEPT: usize = 32;

/// One snapshot in this many carries a digest. At 60 snapshots a second this makes about four
/// checks a second, at a cost of five bits per snapshot.
pub const DIGEST_INTERVAL: u32 = 16;

/// Number of consecutive slots that a digest samples besides the slots in its snapshot.
pub const DIGEST_SLOTS: usize = 32;

/// Smallest size limit of a snapshot, in bytes. It has room for a header, a motion, a digest and
/// the least likely record, so each snapshot carries at least one entity.
pub const MIN_SNAPSHOT: usize = 256;

/// Length in bytes that the values of the match and of the client's own player hardly ever exceed.
/// A snapshot of [`MIN_SNAPSHOT`] bytes has room for them or for a motion, but perhaps not for
/// both.
pub const VALUE_BLOCKS_BYTES: usize = 96;
