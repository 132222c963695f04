//! A swarm of bots for the arena server, built on the client library `obsp-client`.
//!
//! * [`behaviors`]: how bots decide what to do.
//! * [`swarm`]: many bots in one process, and the report of what they measured.

pub mod behaviors;
mod options;
pub mod swarm;

pub use options::Options;
pub use swarm::TooFewDescriptors;
