//! What judges the other crates.
//!
//! [`oracle`] says what is true, slowly and exactly, without a line of the
//! code it judges; [`harness`] is what the integration tests in `tests/tests/`
//! share: seeded randomness, maps, and a crowd of players.

pub mod harness;
pub mod oracle;
