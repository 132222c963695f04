//! The parts that tests share: oracles, harness, and the faulty line `badline`.
//!
//! [`oracle`] computes correct answers slowly and exactly, without any of the code that it judges.
//! [`laws`] has the formulas by which bodies must move. [`harness`] is for the integration tests in
//! `tests/tests/`: seeded randomness, maps, server processes and a crowd of players. [`badline`] is
//! a faulty UDP proxy. [`scene`] plays scenes, each of which shows the cost of one part of the
//! simulation. `badline` and `scene` are also programs. [`raw_quic`] is a QUIC client that sends
//! any frame.

pub mod badline;
pub mod harness;
pub mod laws;
pub mod oracle;
pub mod raw_quic;
pub mod scene;
