use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn::congestion::{Controller, ControllerFactory};

/// Number of bytes that may be in flight: all command datagrams that a client sends at the highest
/// tick rate within the idle time-out, and as much again for chat.
const WINDOW: u64 = 512 * 1024;

/// A congestion controller with a constant window.
///
/// A client sends one small datagram a tick and nothing in bulk, so its rate is bounded without
/// congestion control. A window that fills during an outage would delay the first command after it,
/// because QUIC's probes back off exponentially.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConstantWindow;

impl Controller for ConstantWindow {
    fn on_congestion_event(
        &mut self,
        _now: Instant,
        _sent: Instant,
        _is_persistent_congestion: bool,
        _lost_bytes: u64,
    ) {
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        WINDOW
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for ConstantWindow {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use obsp_proto::IDLE_TIMEOUT;

    use super::*;

    #[test]
    fn commands_of_an_outage_do_not_fill_the_window() {
        // The longest command datagram, plus QUIC's header, tag and acknowledgement.
        let packet = 83 + 64;
        let fastest = 128;
        assert!(WINDOW > 1 + fastest * packet * IDLE_TIMEOUT.as_secs());
    }
}
