//! The datagram that a client sends each tick: an acknowledgement of snapshots, and its last few
//! commands, so that a lost datagram loses no command.

mod acknowledgement;
mod batch;
mod datagram;

pub use acknowledgement::{Acknowledgement, WINDOW};
pub use batch::{CommandBatch, MAX_COMMANDS};
pub use datagram::{CommandDatagram, MAX_COMMAND_DATAGRAM, MAX_VIEW_AGE, QUARTER_TURN};
