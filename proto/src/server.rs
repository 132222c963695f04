//! The server's end: one [`Session`] per client, and one [`JitterBuffer`] per player.
//!
//! The two are separate because they live on different threads: the session decodes and encodes on
//! the network thread, and the tick thread reads the jitter buffer. [`Session::receive_datagram`]
//! returns commands. The caller carries them to the tick thread, where the [`JitterBuffer`]
//! receives them and returns one for each tick. [`JitterBuffer::lead`] and the player's own motion
//! travel back beside the state to [`Session::encode_snapshot`], which sends the entities that are
//! most relevant to this client. How often an entity is sent depends on where it is and how it
//! moves. Within a [`Budget`] of bytes the most overdue entities go first.

mod baselines;
mod budget;
mod effect_schedule;
mod jitter_buffer;
mod motion_schedule;
mod rate_limit;
mod relevance;
mod session;
mod value_schedule;

pub use budget::Budget;
pub(crate) use jitter_buffer::LEAD_WINDOW;
pub use jitter_buffer::{CommandSource, JitterBuffer, JitterStats};
pub use motion_schedule::OwnPlayer;
pub use session::{Event, MatchInfo, Session, SessionStats};
