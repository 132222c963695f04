//! The server's end: one [`Session`] per client, beside one [`JitterBuffer`]
//! per player.
//!
//! The two are apart because they live on different threads: the session
//! decodes and encodes on the network's, the jitter buffer is read by the
//! tick's. [`Session::receive_datagram`] gives commands, the caller carries
//! them to the tick thread, [`JitterBuffer::insert`]s them there, and
//! [`JitterBuffer::take`]s one a tick; [`JitterBuffer::lead`] travels back
//! beside the state to [`Session::encode_snapshot`].

mod baselines;
mod jitter_buffer;
mod session;

pub use jitter_buffer::{CommandSource, JitterBuffer, JitterStats};
pub use session::{Event, Session, SessionStats, Terms};
