use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use obsp_proto::control::MatchEvent;
use obsp_proto::server::{JitterStats, OwnPlayer};
use obsp_proto::snapshot::{AuthoritativeMotion, Lead};
use obsp_proto::{Tick, Time};
use obsp_sim::{Command, Contact, Counters, EntityId, State, World};
use tokio::sync::{broadcast, watch};

use crate::error::RunError;
use crate::level::{Level, Prepared};
use crate::pacer::{Pacer, Turn};
use crate::recording::LiveRecorder;
use crate::seats::{JoinRequest, Seats};
use crate::stop::Stop;
use crate::telemetry::{Telemetry, TickPhases};
use crate::watchdog::Gate;

/// All that a tick leaves behind for others to look at. It never changes.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The world that it is of.
    pub(crate) level: Arc<Level>,
    /// The match after the tick.
    pub(crate) state: State,
    /// How each player moves, and whether that must surprise their client.
    answers: Vec<(EntityId, AuthoritativeMotion, bool)>,
    /// What happened in the tick; most often nothing, and then it costs nothing.
    pub(crate) happened: Box<[obsp_sim::Event]>,
    /// Where props touched something, if anybody wants to know.
    pub(crate) contacts: Option<Box<[Contact]>>,
    /// What the simulation has counted.
    pub(crate) counters: Counters,
    /// What became of the players' commands.
    pub(crate) commands: JitterStats,
    /// When the tick was done.
    pub(crate) simulated: Instant,
}

/// The latest frame, wherever it is needed.
pub(crate) type LastFrame = watch::Receiver<Arc<Frame>>;

/// Each frame, one after the other; who is too slow misses some.
pub(crate) type Ticks = broadcast::Receiver<Arc<Frame>>;

/// Frames that may wait for whoever hears of each: a whole catching up.
const TICKS_WAITING: usize = 8;

impl Frame {
    /// What the snapshot of this tick tells `player` of themself.
    pub(crate) fn own(&self, player: EntityId, lead: Option<Lead>) -> OwnPlayer {
        let own = self.answers.iter().find(|(id, ..)| *id == player);
        OwnPlayer {
            lead,
            motion: own.map(|&(_, motion, _)| motion),
            command_substituted: own.is_some_and(|&(.., command_substituted)| command_substituted),
        }
    }

    /// The match as it is in `world` now.
    fn of(world: &World, seats: &Seats, curiosity: &Curiosity, past: &Past) -> Arc<Self> {
        let mut state = world.state();
        // Ticks go on where the match goes on in another world.
        state.tick += past.ticks;
        let mut counters = *world.counters();
        counters.add_earlier(&past.counters);
        let tick = Tick::from_simulation(state.tick).unwrap_or_default();
        let contacts = curiosity.lasts(state.tick).then(|| world.contacts().collect());
        Arc::new(Self {
            level: Arc::clone(&past.level),
            state,
            answers: seats.answers(world, tick),
            happened: world.events().into(),
            contacts,
            counters,
            commands: seats.stats(),
            simulated: Instant::now(),
        })
    }
}

/// Ticks for which one question keeps frames answering: whoever looks on asks
/// again long before.
const CURIOUS_FOR: u64 = 240;

/// Whether anybody wants to know of contacts: copying them every tick for nobody
/// would be waste.
#[derive(Debug, Default)]
pub(crate) struct Curiosity(AtomicU64);

impl Curiosity {
    /// Somebody asks, who knows of this tick.
    pub(crate) fn ask(&self, tick: u64) {
        self.0.fetch_max(tick + CURIOUS_FOR, Ordering::Relaxed);
    }

    fn lasts(&self, tick: u64) -> bool {
        tick < self.0.load(Ordering::Relaxed)
    }
}

/// What there was before the first tick of the world that is played, and what world
/// that is.
struct Past {
    level: Arc<Level>,
    /// Ticks that were simulated in earlier worlds.
    ticks: u64,
    /// What was counted there.
    counters: Counters,
}

/// A world for the match to go on in.
pub(crate) struct NextWorld {
    pub(crate) world: World,
    pub(crate) level: Arc<Level>,
    pub(crate) recorder: Option<LiveRecorder>,
}

/// The match as the tick thread runs it: alone, and never waiting for anyone.
pub(crate) struct Match {
    world: World,
    seats: Seats,
    past: Past,
    next_worlds: Receiver<NextWorld>,
    /// Where worlds go that are no longer played: to drop one takes too long here.
    over: SyncSender<World>,
    tick: Tick,
    published: watch::Sender<Arc<Frame>>,
    ticks: broadcast::Sender<Arc<Frame>>,
    curiosity: Arc<Curiosity>,
    recorder: Option<LiveRecorder>,
}

impl Match {
    /// A match in `world` that players join by `requests`, that goes on in each world
    /// that `worlds` brings, and in which a shot meets others where its shooter saw
    /// them, at most `rewind` ago. Worlds that are over go back to `worlds`.
    pub(crate) fn new(
        Prepared { world, level, .. }: Prepared,
        rewind: Duration,
        requests: Receiver<JoinRequest>,
        (next_worlds, over): (Receiver<NextWorld>, SyncSender<World>),
        curiosity: Arc<Curiosity>,
    ) -> (Self, LastFrame) {
        let seats = Seats::new(level.terms.tick_rate, rewind, requests);
        let past = Past { level, ticks: 0, counters: Counters::default() };
        let (published, frames) = watch::channel(Frame::of(&world, &seats, &curiosity, &past));
        let ticks = broadcast::Sender::new(TICKS_WAITING);
        let tick = Tick(0);
        let game = Self {
            world,
            seats,
            past,
            next_worlds,
            over,
            tick,
            published,
            ticks,
            curiosity,
            recorder: None,
        };
        (game, frames)
    }

    /// Every frame from now on.
    pub(crate) fn ticks(&self) -> Ticks {
        self.ticks.subscribe()
    }

    /// The same match, recorded from its first tick.
    pub(crate) fn recorded_by(self, recorder: Option<LiveRecorder>) -> Self {
        Self { recorder, ..self }
    }

    /// The same match, with this many hovertanks for those who join first.
    pub(crate) fn with_tanks(self, tanks: u16) -> Self {
        Self { seats: self.seats.with_tanks(tanks), ..self }
    }

    /// Ticks on time until `stop`. `epoch` is the beginning of the server's
    /// [`Time`].
    pub(crate) fn run(
        mut self,
        tick_rate: u32,
        epoch: Instant,
        stop: &Stop,
        gate: &Gate,
        telemetry: &Telemetry,
    ) -> Result<(), RunError> {
        let metrics = &telemetry.tick;
        let _stops_the_others = stop.when_dropped();
        let start = Instant::now();
        let mut pacer = Pacer::new(tick_rate);
        metrics.begin();
        while !stop.is_requested() {
            gate.pass();
            match pacer.turn(start.elapsed()) {
                Turn::Wait(time) => std::thread::sleep(time),
                Turn::Run { dropped, late } => {
                    metrics.began(late);
                    let now = Time::since_start(epoch.elapsed());
                    self.seats.skip_time(dropped, now);
                    let phases = self.tick(now)?;
                    metrics.ticked(phases.work(), pacer.overran(start.elapsed()), dropped);
                    metrics.spent(phases);
                    telemetry.spans.tick(self.tick.0, &phases);
                }
            }
        }
        Ok(())
    }

    /// One tick: who joins and leaves, what each player wants, the simulation.
    fn tick(&mut self, now: Time) -> Result<TickPhases, RunError> {
        let begin = Instant::now();
        if let Ok(next) = self.next_worlds.try_recv() {
            self.enter(next);
        }
        self.seats.receive(&mut self.world, self.tick, &self.past.level);
        let next = Tick::from_simulation(u64::from(self.tick.0) + 1).ok_or(RunError::Outlived)?;
        let mut commands = self.seats.commands(next, now);
        if self.past.level.frozen.load(Ordering::Relaxed) {
            hold_still(&mut commands);
        }
        let input = Instant::now();
        self.world.step(&commands);
        let simulated = Instant::now();
        self.tick = next;
        if let Some(recorder) = &mut self.recorder {
            recorder.ticked(&self.world, &commands);
        }
        let news = self.news(next);
        self.seats.note_pushed(&self.world, next);
        self.seats.report(&self.past.level.sessions);
        let frame = Frame::of(&self.world, &self.seats, &self.curiosity, &self.past);
        self.published.send_replace(Arc::clone(&frame));
        let published = Instant::now();
        // Other threads are woken last: the network thread may take this processor at
        // once. Sending fails only without receivers, which is no error.
        for event in news {
            let _ = self.past.level.events.send((next, event));
        }
        let _ = self.ticks.send(frame);
        Ok(TickPhases {
            input: input - begin,
            simulation: simulated - input,
            publication: published - simulated,
            waking: published.elapsed(),
        })
    }

    /// Goes on in another world, in which nobody is yet.
    fn enter(&mut self, NextWorld { world, level, recorder }: NextWorld) {
        self.seats.clear();
        let over = std::mem::replace(&mut self.world, world);
        self.past.counters.add_earlier(over.counters());
        self.past.ticks = self.tick.0.into();
        self.past.level = level;
        self.recorder = recorder;
        // The thread that drops worlds ends after this one; if its queue is full, the
        // world is dropped here.
        let _ = self.over.try_send(over);
    }

    /// What everybody is told of the tick that was just simulated.
    fn news(&mut self, tick: Tick) -> Vec<MatchEvent> {
        let died = |event: &obsp_sim::Event| match *event {
            obsp_sim::Event::Died { player, by } => Some(MatchEvent::Died { player, by }),
            _ => None,
        };
        let mut news: Vec<_> = self.world.events().iter().filter_map(died).collect();
        news.extend(self.seats.standings(&self.world, tick));
        news
    }
}

/// Lets nobody move or shoot: they may look about.
fn hold_still(commands: &mut [(EntityId, Command)]) {
    for (_, command) in commands {
        let Command { yaw, pitch, .. } = *command;
        *command = Command { yaw, pitch, ..Command::default() };
    }
}

#[cfg(test)]
mod tests;
