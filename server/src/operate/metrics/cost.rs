use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::server::JitterStats;
use obsp_sim::{Counters, State, World};

use super::server_telemetry::{ServerIdentity, ServerTelemetry};
use crate::common::error::MetricsError;
use crate::matches::telemetry::{Identity, Part, Telemetry, TickPhases};

/// The bookkeeping of a server, without the server around it, for a bench to time.
pub struct Bookkeeping {
    server: ServerTelemetry,
    telemetry: Telemetry,
    /// The state that a scrape would find published.
    state: State,
    counters: Counters,
}

/// Bytes of a snapshot of usual size.
const BYTES: usize = 300;
/// Entities in a snapshot of usual size.
const ENTITIES: u64 = 20;

impl Bookkeeping {
    /// The metrics of a server that plays `world` at this tick rate, all at zero.
    ///
    /// # Errors
    /// The edges of a histogram are wrong, which would be a defect.
    pub fn new(world: &World, tick_rate: u32) -> Result<Self, MetricsError> {
        let identity = Identity {
            label: None,
            map: "bench",
            map_hash: "",
            tick_rate,
            max_players: 32,
            map_load: 0.0,
            recording: Arc::default(),
        };
        let server = ServerTelemetry::new(&ServerIdentity::default())?;
        let telemetry = Telemetry::new(&server.registry, &identity);
        Ok(Self { server, telemetry, state: world.state(), counters: *world.counters() })
    }

    /// Counts one tick and its snapshots to this many clients, as a server does. The reading of
    /// clocks is included.
    pub fn note_tick(&self, clients: u32) {
        let Telemetry { tick, network, .. } = &self.telemetry;
        let begin = Instant::now();
        tick.began(Duration::from_micros(50));
        let parts = [(); 4].map(|()| black_box(Instant::now()));
        tick.ticked(begin.elapsed(), false, 0);
        let [first, second, third, fourth] = parts.map(|part| part - begin);
        let phases =
            TickPhases { input: first, simulation: second, publication: third, waking: fourth };
        tick.spent(phases);
        network.round.close();
        let quantised = network.round.spent(Part::Quantise, begin);
        for _ in 0..clients {
            network.received_commands();
            let interest = network.round.spent(Part::Interest, quantised);
            let encode = network.round.spent(Part::Encode, interest);
            network.sent_snapshot(BYTES, ENTITIES);
            network.round.spent(Part::Send, encode);
        }
    }

    /// Answers one scrape.
    pub fn answer_scrape(&self) -> String {
        let (state, counters) = (&self.state, &self.counters);
        let commands = JitterStats::default();
        self.server.render(|| self.telemetry.observe_match(state, counters, &commands, 0))
    }

    /// The work due every ten seconds: the figures of a status line, and upkeep.
    pub fn tidy_up(&self) {
        self.server.upkeep();
        black_box(self.telemetry.tick.take_summary());
    }
}
