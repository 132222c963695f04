//! The client's end: a [`Session`] says hello, decodes snapshots into a view of the world, and
//! sends commands. It steers its clock so that each command reaches the server just before its
//! tick. [`Session`] documents the order of the calls.

mod clock;
mod effect_queue;
mod event_queue;
mod history;
mod joined;
mod round_trip;
mod session;
mod view;

pub use joined::{CommandSent, SessionStats, SnapshotReceived};
pub use session::{Event, Observed, Session};
