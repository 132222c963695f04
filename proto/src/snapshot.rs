//! What the server sends each tick, as a datagram: entities as differences
//! from what this client has acknowledged of each, the most urgent first, as
//! many as fit, and now and then an answer to what it predicted of its own motion. Each
//! datagram is decodable alone: the chances of its range coder begin anew.
//!
//! The bits live here for both directions, so that writer and reader cannot
//! drift apart; what the server remembers about a client lives in
//! [`crate::server`], what a client remembers in [`crate::client`].

mod answer;
mod codec;
mod digest;
mod header;
mod lead;
mod models;
mod record;

pub use answer::{Answer, Touched};
pub use codec::{DigestSample, Record, Snapshot, SnapshotCodec, Sought, Written};
pub use digest::Digest;
pub use header::{DatagramKind, Header, PLAIN_BYTES};
pub use lead::Lead;
pub use models::{CHANCES, PRIORS};
pub use record::Baseline;

/// How many values of an entity a client keeps: all that the server may use
/// as a baseline. The server counts what it sent of an entity after its
/// baseline and does without one when the client may have dropped it.
pub const BASELINES_KEPT: usize = 32;

/// Every which snapshot carries a digest: at 60 a second, some four checks a
/// second at a cost of five bits per snapshot.
pub const DIGEST_INTERVAL: u32 = 16;

/// Consecutive slots that a digest samples besides what its snapshot carries.
pub const DIGEST_SLOTS: usize = 32;

/// Least bytes that a snapshot is given: a header, a motion, a digest and the
/// least likely record there can be, so that each snapshot brings at least one
/// entity on.
pub const MIN_SNAPSHOT: usize = 256;
