//! How much is sent on a path, and how often.
//!
//! The delay shows what a line carries; loss by chance shows nothing (after LEDBAT, RFC 6817).
//! [`path_estimate`] measures by acknowledgements: the round trip without a queue, the queue on top
//! of it, and the bytes that arrive. A line is clear while its queue is short, and congested while
//! a queue of more than 50 ms stands or much is lost. Two controllers act on this estimate:
//!
//! - [`snapshot_rate`] has priority. It sends every snapshot while the line is not known to be
//!   narrow. On a congested line it falls below the rate that arrives, and rises slowly again while
//!   the line is clear.
//! - [`background`] sends maps in what is left. Its window grows while the queue is short and
//!   shrinks before the queue is long enough to slow down snapshots.
//!
//! One controller for both was tried. On lines in virtual time, a map beside large snapshots at
//! 192 kbit/s took 263 s instead of 90, and snapshots at 64 kbit/s were 208 ms old instead of 160.
//! Snapshots must not wait for a window that grows and shrinks with a map.
//!
//! A newcomer starts slowly, and a silent line is only probed. The congestion window of QUIC
//! ([`congestion`]) bounds only the bytes in flight on a dead line. All of this is tested on lines
//! in virtual time.

pub(crate) mod background;
#[cfg(test)]
pub(crate) mod background_tests;
#[cfg(test)]
pub(crate) mod blackout_tests;
pub(crate) mod congestion;
#[cfg(test)]
pub(crate) mod narrow_tests;
pub(crate) mod path_estimate;
pub(crate) mod snapshot_rate;
#[cfg(test)]
pub(crate) mod snapshot_rate_tests;
#[cfg(test)]
pub(crate) mod virtual_line;

use std::time::Duration;

/// If at least this share of packets is lost, a line is congested even without a queue. No radio
/// link that can be played over loses this much by chance.
const HEAVY_LOSS: f64 = 0.25;

/// After a silence of this length, snapshots only probe the path. It is longer than the longest
/// playable round trip, so that no live line is taken for dead.
const UNHEARD: Duration = Duration::from_secs(1);
