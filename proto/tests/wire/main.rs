//! Both ends of the wire over a line that misbehaves, in virtual time.
//!
//! A failure prints its seed; `Match::new` with that seed replays it.

mod delivery;
mod faults;
mod handshake;
mod hostile;
mod line;
mod random;
mod scene;
mod seeds;
mod staged_match;
mod vectors;
