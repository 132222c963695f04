//! The server's end: one [`Session`] per client, beside one [`JitterBuffer`]
//! per player.
//!
//! The two are apart because they live on different threads: the session
//! decodes and encodes on the network's, the jitter buffer is read by the
//! tick's. [`Session::receive_datagram`] gives commands, the caller carries
//! them to the tick thread, [`JitterBuffer::insert`]s them there, and
//! [`JitterBuffer::take`]s one a tick; [`JitterBuffer::lead`] and the player's
//! own motion travel back beside the state to [`Session::encode_snapshot`],
//! which sends what is most relevant to this client: how often news of an
//! entity are due depends on where it is and how it moves, and within a
//! [`Budget`] of bytes the most overdue go first.

mod baselines;
mod budget;
mod chat_allowance;
mod jitter_buffer;
mod own_motion;
mod relevance;
mod session;

pub use budget::Budget;
pub use jitter_buffer::{CommandSource, JitterBuffer, JitterStats};
pub use own_motion::OwnPlayer;
pub use session::{Event, Session, SessionStats, Terms};
