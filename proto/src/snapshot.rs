//! What the server sends each tick, as a datagram.

/// How early a client's commands arrive, in quarters of a tick: the least of
/// late. Negative if they are late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lead(i8);

/// Least bytes that a snapshot needs.
pub const MIN_SNAPSHOT: usize = 64;
