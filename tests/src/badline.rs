//! A faulty line: a UDP proxy that delays, loses, duplicates and reorders datagrams, and limits
//! bandwidth.
//!
//! [`Direction`] decides the [`Fate`] of each datagram of one client in one direction, from the
//! time and the datagram's length. It uses no sockets and no clock, so its decisions for a
//! seed are the same on every machine. The [`Proxy`] carries the decisions out with real sockets,
//! all on one thread.
//! [`Options`] is the command line of the program `badline`.

mod bottleneck;
mod conditions;
mod direction;
mod loss;
mod options;
mod proxy;
mod stats;

pub use conditions::{Blackout, Conditions, Line};
pub use direction::{Cause, Direction, Fate};
pub use options::Options;
pub use proxy::{Proxy, Setup};
pub use stats::{Counts, Stats};
