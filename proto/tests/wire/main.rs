//! Both ends of the protocol over a bad network, in virtual time.
//!
//! A failure prints its seed; `Match::new` with that seed replays it.

mod delivery;
mod effects;
mod faults;
mod handshake;
mod hostile;
mod link;
mod random;
mod scene;
mod seeds;
mod staged_match;
mod stalls;
mod traits;
mod values;
mod vectors;
