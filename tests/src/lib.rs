//! The parts that tests share: oracles, harness, and the faulty line `badline`.
//!
//! [`oracle`] says what is true, slowly and exactly, without a line of the
//! code it judges; [`laws`] says how bodies move, by formula; [`harness`] is what the integration tests in `tests/tests/`
//! share: seeded randomness, maps, and a crowd of players. [`badline`] is a faulty
//! UDP proxy, a program of its own too.

pub mod badline;
pub mod harness;
pub mod laws;
pub mod oracle;
