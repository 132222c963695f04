use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use proto::server::JitterStats;
use proto::snapshot::Lead;
use proto::{Tick, Time};
use sim::{Counters, EntityId, State, World};
use tokio::sync::watch;

use crate::error::RunError;
use crate::pacer::{Pacer, Turn};
use crate::seats::{JoinRequest, Seats};
use crate::stop::Stop;
use crate::telemetry::TickMetrics;

/// All that a tick leaves behind for others to look at. It never changes.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The match after the tick.
    pub(crate) state: State,
    /// How early each player's commands come.
    leads: Vec<(EntityId, Lead)>,
    /// What the simulation has counted.
    pub(crate) counters: Counters,
    /// What became of the players' commands.
    pub(crate) commands: JitterStats,
    /// When the tick was done.
    pub(crate) simulated: Instant,
}

/// The latest frame, wherever it is needed.
pub(crate) type LastFrame = watch::Receiver<Arc<Frame>>;

impl Frame {
    /// How early the commands of `player` come, if any came lately.
    pub(crate) fn lead(&self, player: EntityId) -> Option<Lead> {
        self.leads.iter().find(|(id, _)| *id == player).map(|&(_, lead)| lead)
    }

    fn of(world: &World, seats: &Seats) -> Arc<Self> {
        Arc::new(Self {
            state: world.state(),
            leads: seats.leads(),
            counters: *world.counters(),
            commands: seats.stats(),
            simulated: Instant::now(),
        })
    }
}

/// The match as the tick thread runs it: alone, and never waiting for anyone.
pub(crate) struct Match {
    world: World,
    seats: Seats,
    tick: Tick,
    published: watch::Sender<Arc<Frame>>,
}

impl Match {
    /// A match in `world` that players join by `requests`.
    pub(crate) fn new(
        world: World,
        tick_rate: NonZeroU16,
        requests: Receiver<JoinRequest>,
    ) -> (Self, LastFrame) {
        let seats = Seats::new(tick_rate, requests);
        let (published, frames) = watch::channel(Frame::of(&world, &seats));
        (Self { world, seats, tick: Tick(0), published }, frames)
    }

    /// Ticks on time until `stop`. `epoch` is the beginning of the server's
    /// [`Time`].
    pub(crate) fn run(
        mut self,
        tick_rate: u32,
        epoch: Instant,
        stop: &Stop,
        metrics: &TickMetrics,
    ) -> Result<(), RunError> {
        let _stops_the_others = stop.when_dropped();
        let start = Instant::now();
        let mut pacer = Pacer::new(tick_rate);
        while !stop.is_requested() {
            match pacer.turn(start.elapsed()) {
                Turn::Wait(time) => std::thread::sleep(time),
                Turn::Run { dropped } => {
                    let begin = Instant::now();
                    self.tick(Time::since_start(epoch.elapsed()))?;
                    metrics.ticked(begin.elapsed(), pacer.overran(start.elapsed()), dropped);
                }
            }
        }
        Ok(())
    }

    /// One tick: who joins and leaves, what each player wants, the simulation.
    fn tick(&mut self, now: Time) -> Result<(), RunError> {
        self.seats.let_in(&mut self.world, self.tick);
        let next = Tick::from_simulation(u64::from(self.tick.0) + 1).ok_or(RunError::Outlived)?;
        let commands = self.seats.commands(&mut self.world, next, now);
        self.world.step(&commands);
        self.tick = next;
        self.published.send_replace(Frame::of(&self.world, &self.seats));
        Ok(())
    }
}
