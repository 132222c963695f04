//! The congestion controller of QUIC connections: a window that a dead line does not fill
//! within the idle time-out.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use obsp_proto::IDLE_TIMEOUT;
use quinn::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;

use super::UNHEARD;
use super::path_estimate::PathEstimate;
use super::snapshot_rate::{PROBE_BYTES, PROBE_RATE};

/// Bytes of a packet beside the snapshot in it: QUIC's header and authentication tag, and an
/// acknowledgement that goes along.
const PACKET_OVERHEAD: u64 = 64;

/// Bytes left for traffic that is neither snapshots nor the map: the handshake and the control
/// stream, whose rate depends on the match's events.
const CONTROL_RESERVE: u64 = 64 * 1024;

/// A congestion controller with a constant window. A line that is gone for less than the idle
/// time-out never fills the window.
///
/// A full window stops everything but probes, which back off exponentially, so a client would wait
/// for its first snapshot twice as long as its line was gone. A game is fair to other traffic
/// without such a window: its own budget limits its bytes, and it sends fewer while nothing is
/// acknowledged ([`SnapshotRate`](super::snapshot_rate::SnapshotRate)). Anything else that is sent
/// on such a connection must bound its own rate.
#[derive(Clone, Debug)]
pub(crate) struct GameCongestion {
    window: u64,
    path: PathEstimate,
}

impl GameCongestion {
    /// The path estimate of the controller of `connection`.
    pub(crate) fn path(connection: &quinn::Connection) -> PathEstimate {
        Self::path_of(connection.congestion_state())
    }

    /// The path estimate of this controller. A controller of another kind has none, so a new one is
    /// returned.
    pub(crate) fn path_of(controller: Box<dyn Controller>) -> PathEstimate {
        let controller = controller.into_any().downcast::<Self>();
        controller.map_or_else(|_| PathEstimate::new(Instant::now()), |controller| controller.path)
    }
}

impl Controller for GameCongestion {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        self.path.on_sent(now, bytes);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.path.on_acknowledged(now, sent, bytes);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        _app_limited: bool,
        _largest_acknowledged: Option<u64>,
    ) {
        self.path.on_batch_end(now, in_flight);
    }

    fn on_congestion_event(
        &mut self,
        _now: Instant,
        _sent: Instant,
        _is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.path.on_lost(lost_bytes);
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        self.window
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Makes a [`GameCongestion`] for each path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameCongestionConfig {
    window: u64,
}

impl GameCongestionConfig {
    /// The window for clients that are each sent at most `budget` bytes of snapshots and
    /// `snapshot_rate` snapshots a second. At most `streams` bytes are under way on their streams.
    pub(crate) fn new(budget: u32, snapshot_rate: u32, streams: u64) -> Self {
        // A saved budget may at first double what is sent.
        let rate = 2 * u64::from(budget) + u64::from(snapshot_rate) * PACKET_OVERHEAD;
        let before_probing = rate * UNHEARD.as_secs();
        let probe = PROBE_BYTES as u64 + PACKET_OVERHEAD;
        let probes = u64::from(PROBE_RATE) * probe * IDLE_TIMEOUT.as_secs();
        Self { window: before_probing + probes + streams + CONTROL_RESERVE }
    }
}

impl ControllerFactory for GameCongestionConfig {
    fn build(self: Arc<Self>, now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        Box::new(GameCongestion { window: self.window, path: PathEstimate::new(now) })
    }
}
