//! A faulty line: a UDP proxy that delays, loses, duplicates and reorders what
//! passes, and carries no more than a narrow link does.
//!
//! [`Direction`] decides what becomes of each datagram of one client in one
//! direction. It knows neither sockets nor clocks: a time and a length in, a
//! [`Fate`] out, the same for the same seed whatever the machine does. The
//! [`Proxy`] carries the decisions out with real sockets, all on one thread.
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
