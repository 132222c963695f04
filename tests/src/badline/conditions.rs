//! The faults of a line, for each direction.

use std::time::Duration;

/// The faults of one direction of a line. The default is a line without a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// Time that each datagram takes.
    pub delay: Duration,
    /// Maximum by which the delay is longer or shorter, evenly distributed. A jitter above the
    /// time between two datagrams reorders them.
    pub jitter: Duration,
    /// Share of datagrams that are lost, 0 to 1.
    pub loss: f64,
    /// Mean number of datagrams lost in a row (Gilbert's model). With 1 or less, each is lost
    /// independently of the others.
    pub burst: f64,
    /// Share of datagrams that arrive twice, 0 to 1.
    pub duplicate: f64,
    /// Share of datagrams that arrive [`Conditions::REORDER_HOLD`] later, after their successors;
    /// 0 to 1.
    pub reorder: f64,
    /// Bandwidth in kbit/s; unlimited if not set. Each datagram takes [`Conditions::OVERHEAD`]
    /// bytes more than its payload.
    pub bandwidth: Option<f64>,
    /// Longest time that a datagram waits at the narrow link for earlier ones. A datagram that
    /// would wait longer is dropped.
    pub queue: Duration,
    /// Largest UDP payload in bytes that passes.
    pub mtu: Option<usize>,
    /// Times in which nothing passes.
    pub blackouts: Vec<Blackout>,
}

/// A time in which nothing passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blackout {
    /// Start of the blackout, counted from the first datagram of the first client.
    pub start: Duration,
    /// Duration of the blackout.
    pub length: Duration,
}

impl Conditions {
    /// Bytes of the IPv4 and UDP headers of a datagram, which also take bandwidth.
    pub const OVERHEAD: usize = 28;

    /// Additional delay of a reordered datagram. It is longer than the time between two datagrams
    /// of a game at 60 Hz.
    pub const REORDER_HOLD: Duration = Duration::from_millis(20);

    /// Whether nothing passes at `time`.
    pub fn is_black(&self, time: Duration) -> bool {
        self.blackouts.iter().any(|blackout| {
            time >= blackout.start && time < blackout.start.saturating_add(blackout.length)
        })
    }
}

impl Default for Conditions {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            loss: 0.0,
            burst: 1.0,
            duplicate: 0.0,
            reorder: 0.0,
            bandwidth: None,
            // This is the queue of home routers without bufferbloat.
            queue: Duration::from_millis(200),
            mtu: None,
            blackouts: Vec::new(),
        }
    }
}

/// Both directions of a line. Each client has a line of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// From the client to the server.
    pub up: Conditions,
    /// From the server to the client.
    pub down: Conditions,
}

impl Line {
    /// A line that is the same in both directions.
    pub fn both(conditions: Conditions) -> Self {
        Self { up: conditions.clone(), down: conditions }
    }
}

/// The direction of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// From a client to the server.
    Up,
    /// From the server to a client.
    Down,
}
