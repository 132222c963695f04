//! A line that carries nothing for some seconds, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use quinn::congestion::ControllerFactory;
use quinn_proto::{IdleTimeout, TransportConfig};

use super::congestion::GameCongestion;
use super::snapshot_rate::SnapshotRate;
use super::virtual_line::{Direction, VirtualLine};
use crate::network::endpoint::{Limits, transport};

const TICK_RATE: u32 = 60;

/// Bytes of a datagram of commands.
const COMMANDS: usize = 60;

/// When the blackout begins: between two snapshots, and between two probes.
const BEGIN: Duration = Duration::from_millis(5_037);

fn limits(budget: u32) -> Limits {
    Limits { players: 32, budget, snapshot_rate: TICK_RATE }
}

/// Runs a connection through a blackout of `seconds`, with snapshots that spend the budget. Returns
/// the longest time without a snapshot, or `None` if either end gave the connection up.
fn gap(seconds: u64, budget: u32, server: TransportConfig) -> Option<Duration> {
    let bytes = (budget / TICK_RATE) as usize;
    let direction = Direction {
        delay: Duration::from_millis(20),
        blackout: BEGIN..BEGIN + Duration::from_secs(seconds),
        ..Direction::default()
    };
    let mut client = TransportConfig::default();
    let congestion: Arc<dyn ControllerFactory + Send + Sync> = Arc::new(ClientWindow);
    client
        .congestion_controller_factory(congestion)
        .max_idle_timeout(Some(IdleTimeout::try_from(obsp_proto::IDLE_TIMEOUT).unwrap()));
    let mut line = VirtualLine::connect([direction.clone(), direction], server, client, 1);
    let mut rate = SnapshotRate::new(TICK_RATE);
    let (mut last, mut longest) = (line.elapsed(), Duration::ZERO);
    for tick in 1..u64::from(TICK_RATE) * (10 + seconds) {
        let now = line.now();
        let path = GameCongestion::path_of(line.server().congestion_state().clone_box());
        let server = line.server();
        let empty = server.datagrams().send_buffer_space() > 4_000;
        if let (true, Some(most)) = (empty, rate.allows(tick, now, &path)) {
            server.datagrams().send(vec![0; bytes.min(most)].into(), true).unwrap();
            rate.sent(tick, 100);
        }
        let _ = line.client().datagrams().send(vec![0; COMMANDS].into(), true);
        line.pass(Duration::from_secs(1) / TICK_RATE);
        for (at, _) in line.take_received() {
            longest = longest.max(at - last);
            last = at;
        }
        if line.is_lost() {
            return None;
        }
    }
    Some(longest.max(line.elapsed() - last))
}

/// Stands for the client's congestion controller, which is private to the client's crate.
struct ClientWindow;

impl ControllerFactory for ClientWindow {
    fn build(
        self: Arc<Self>,
        now: std::time::Instant,
        current_mtu: u16,
    ) -> Box<dyn quinn::congestion::Controller> {
        Arc::new(super::congestion::GameCongestionConfig::new(16_000, 60, 0))
            .build(now, current_mtu)
    }
}

#[test]
fn snapshots_come_again_as_soon_as_the_line_is_back() {
    for budget in [16_000, 64_000] {
        for seconds in [1, 3, 5, 8, 14] {
            let gap = gap(seconds, budget, transport(limits(budget))).unwrap();
            let more = gap.saturating_sub(Duration::from_secs(seconds));
            println!("{budget} bytes/s, gone for {seconds} s: {gap:?} without a snapshot");
            assert!(more < Duration::from_millis(250), "{gap:?} for {seconds} s");
        }
    }
}

/// Shows why the controller is needed, and that the test above can fail.
#[test]
fn with_a_window_that_fills_they_do_not() {
    let mut usual = transport(limits(16_000));
    usual.congestion_controller_factory(Arc::new(quinn::congestion::CubicConfig::default()));
    let gap = gap(8, 16_000, usual).unwrap_or(Duration::MAX);
    assert!(gap > Duration::from_secs(9), "{gap:?}");
}
