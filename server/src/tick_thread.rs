use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use proto::control::MatchEvent;
use proto::server::{JitterStats, OwnPlayer};
use proto::snapshot::{Answer, Lead};
use proto::{Tick, Time};
use sim::{Contact, Counters, EntityId, State, World};
use tokio::sync::{broadcast, watch};

use crate::error::RunError;
use crate::pacer::{Pacer, Turn};
use crate::recording::LiveRecorder;
use crate::seats::{JoinRequest, Seats};
use crate::sessions::Sessions;
use crate::stop::Stop;
use crate::telemetry::{TickMetrics, TickPhases};

/// All that a tick leaves behind for others to look at. It never changes.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The match after the tick.
    pub(crate) state: State,
    /// How each player moves, and whether that must surprise their client.
    answers: Vec<(EntityId, Answer, bool)>,
    /// What happened in the tick; most often nothing, and then it costs nothing.
    pub(crate) happened: Box<[sim::Event]>,
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

/// A match without a new frame for this long is stuck: ten ticks at the
/// slowest rate there is.
const STALE: Duration = Duration::from_secs(1);

/// Each frame, one after the other; who is too slow misses some.
pub(crate) type Ticks = broadcast::Receiver<Arc<Frame>>;

/// Frames that may wait for whoever hears of each: a whole catching up.
const TICKS_WAITING: usize = 8;

impl Frame {
    /// Whether the tick is not long ago.
    pub(crate) fn is_fresh(&self) -> bool {
        self.simulated.elapsed() < STALE
    }

    /// What the snapshot of this tick tells `player` of themself.
    pub(crate) fn own(&self, player: EntityId, lead: Option<Lead>) -> OwnPlayer {
        let own = self.answers.iter().find(|(id, ..)| *id == player);
        OwnPlayer {
            lead,
            answer: own.map(|&(_, answer, _)| answer),
            surprised: own.is_some_and(|&(.., surprised)| surprised),
        }
    }

    /// The match as it is in `world` now.
    pub(crate) fn of(world: &World, seats: &Seats, curiosity: &Curiosity) -> Arc<Self> {
        let state = world.state();
        let tick = Tick::from_simulation(state.tick).unwrap_or_default();
        let contacts = curiosity.lasts(state.tick).then(|| world.contacts().collect());
        Arc::new(Self {
            state,
            answers: seats.answers(world, tick),
            happened: world.events().into(),
            contacts,
            counters: *world.counters(),
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

/// The match as the tick thread runs it: alone, and never waiting for anyone.
pub(crate) struct Match {
    world: World,
    seats: Seats,
    sessions: Arc<Sessions>,
    events: broadcast::Sender<(Tick, MatchEvent)>,
    tick: Tick,
    published: watch::Sender<Arc<Frame>>,
    ticks: broadcast::Sender<Arc<Frame>>,
    curiosity: Arc<Curiosity>,
    recorder: Option<LiveRecorder>,
}

impl Match {
    /// A match in `world` that players join by `requests`, and in which a shot
    /// meets others where its shooter saw them, at most `rewind` ago.
    pub(crate) fn new(
        world: World,
        tick_rate: NonZeroU16,
        rewind: Duration,
        requests: Receiver<JoinRequest>,
        sessions: Arc<Sessions>,
        events: broadcast::Sender<(Tick, MatchEvent)>,
    ) -> (Self, LastFrame) {
        let seats = Seats::new(tick_rate, rewind, requests);
        let curiosity = Arc::<Curiosity>::default();
        let (published, frames) = watch::channel(Frame::of(&world, &seats, &curiosity));
        let ticks = broadcast::Sender::new(TICKS_WAITING);
        let tick = Tick(0);
        let game = Self {
            world,
            seats,
            sessions,
            events,
            tick,
            published,
            ticks,
            curiosity,
            recorder: None,
        };
        (game, frames)
    }

    /// By which others ask for what frames do not hold unasked.
    pub(crate) fn curiosity(&self) -> Arc<Curiosity> {
        Arc::clone(&self.curiosity)
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
        metrics: &TickMetrics,
    ) -> Result<(), RunError> {
        let _stops_the_others = stop.when_dropped();
        let start = Instant::now();
        let mut pacer = Pacer::new(tick_rate);
        while !stop.is_requested() {
            match pacer.turn(start.elapsed()) {
                Turn::Wait(time) => std::thread::sleep(time),
                Turn::Run { dropped, late } => {
                    metrics.began(late);
                    let phases = self.tick(Time::since_start(epoch.elapsed()))?;
                    metrics.ticked(phases.work(), pacer.overran(start.elapsed()), dropped);
                    metrics.spent(phases);
                }
            }
        }
        Ok(())
    }

    /// One tick: who joins and leaves, what each player wants, the simulation.
    fn tick(&mut self, now: Time) -> Result<TickPhases, RunError> {
        let begin = Instant::now();
        self.seats.receive(&mut self.world, self.tick);
        let next = Tick::from_simulation(u64::from(self.tick.0) + 1).ok_or(RunError::Outlived)?;
        let commands = self.seats.commands(next, now);
        let input = Instant::now();
        self.world.step(&commands);
        let simulated = Instant::now();
        self.tick = next;
        if let Some(recorder) = &mut self.recorder {
            recorder.ticked(next.0.into(), &self.world, &commands);
        }
        let news = self.news(next);
        self.seats.note_pushed(&self.world, next);
        self.seats.report(&self.sessions);
        let frame = Frame::of(&self.world, &self.seats, &self.curiosity);
        self.published.send_replace(Arc::clone(&frame));
        let published = Instant::now();
        // Only now is anybody woken: the network thread may take this processor at
        // once, and the tick is done. Nobody to hear it is no error.
        for event in news {
            let _ = self.events.send((next, event));
        }
        let _ = self.ticks.send(frame);
        Ok(TickPhases {
            input: input - begin,
            simulation: simulated - input,
            publication: published - simulated,
            waking: published.elapsed(),
        })
    }

    /// What everybody is told of the tick that was just simulated.
    fn news(&mut self, tick: Tick) -> Vec<MatchEvent> {
        let died = |event: &sim::Event| match *event {
            sim::Event::Died { player, by } => Some(MatchEvent::Died { player, by }),
            _ => None,
        };
        let mut news: Vec<_> = self.world.events().iter().filter_map(died).collect();
        news.extend(self.seats.standings(&self.world, tick));
        news
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{SyncSender, sync_channel};

    use proto::commands::CommandBatch;
    use proto::control::PlayerName;
    use sim::{Command, JoinError};
    use tokio::sync::oneshot;

    use super::*;
    use crate::seats::{Seat, Surplus};
    use crate::test_match;

    /// A match in virtual time, and the way into it.
    struct Stage {
        game: Match,
        frames: LastFrame,
        joins: SyncSender<JoinRequest>,
        now: Duration,
    }

    impl Stage {
        fn new() -> Self {
            let (joins, requests) = sync_channel(8);
            let (game, frames) = test_match(requests);
            Self { game, frames, joins, now: Duration::ZERO }
        }

        fn now(&self) -> Time {
            Time::since_start(self.now)
        }

        fn tick(&mut self) -> Arc<Frame> {
            self.now += Duration::from_nanos(16_666_667);
            self.game.tick(self.now()).unwrap();
            self.frames.borrow().clone()
        }

        fn ask(&self) -> oneshot::Receiver<Result<Seat, JoinError>> {
            let (request, answer) = oneshot::channel();
            self.joins.try_send(request).unwrap();
            answer
        }

        fn join(&mut self) -> Result<Seat, JoinError> {
            let mut answer = self.ask();
            self.tick();
            answer.try_recv().unwrap()
        }
    }

    fn players(frame: &Frame) -> usize {
        let is_player = |kind: sim::Kind| kind.is_player();
        frame.state.entities.iter().filter(|entity| is_player(entity.kind)).count()
    }

    #[test]
    fn a_dropped_seat_is_free_again() {
        let mut stage = Stage::new();
        let first = stage.join().unwrap();
        let _second = stage.join().unwrap();
        assert_eq!(stage.join().unwrap_err(), JoinError::Full(2));
        drop(first);
        // Within the same tick.
        let _third = stage.join().unwrap();
        assert_eq!(players(&stage.tick()), 2);
    }

    #[test]
    fn a_full_queue_does_not_hide_that_its_seat_is_free() {
        let mut stage = Stage::new();
        let first = stage.join().unwrap();
        let _second = stage.join().unwrap();
        let batch = CommandBatch::new(first.tick.after(1), vec![Command::default()]).unwrap();
        while first.send(batch.clone(), stage.now()) != Err(Surplus) {}
        drop(first);
        let _third = stage.join().unwrap();
        assert_eq!(players(&stage.tick()), 2);
    }

    #[test]
    fn who_no_longer_waits_leaves_nobody_behind() {
        let mut stage = Stage::new();
        drop(stage.ask());
        stage.tick();
        assert_eq!(players(&stage.tick()), 0);
    }

    #[test]
    fn commands_reach_the_tick_they_are_for() {
        let mut stage = Stage::new();
        let seat = stage.join().unwrap();
        let name = PlayerName::new("walker").unwrap();
        stage.game.sessions.insert(seat.player, name);
        let forward = Command { forward: 127, ..Command::default() };
        for ahead in 0..60 {
            let batch = CommandBatch::new(seat.tick.after(ahead + 2), vec![forward]).unwrap();
            assert_eq!(seat.send(batch, stage.now()), Ok(()));
            stage.tick();
        }
        let frame = stage.tick();
        let own = frame.state.entities.iter().find(|entity| entity.id == seat.player).unwrap();
        assert!(own.velocity.x > 100.0, "after a second of walking: {own:?}");
        assert_eq!(frame.commands.in_time, 60);
        let answer = frame.own(seat.player, None).answer.unwrap();
        assert_eq!(answer.motion.position.as_dvec3(), own.position);
        assert!(stage.game.sessions.lead(seat.player).is_some());
    }

    #[test]
    fn ticks_that_catch_up_are_told_of_each() {
        let mut stage = Stage::new();
        let mut ticks = stage.game.ticks();
        (0..4).for_each(|_| drop(stage.tick()));
        let told: Vec<u64> =
            std::iter::from_fn(|| ticks.try_recv().ok()).map(|frame| frame.state.tick).collect();
        assert_eq!(told, [1, 2, 3, 4]);
    }

    #[test]
    fn nobody_shoots_farther_into_the_past_than_allowed() {
        let mut stage = Stage::new();
        let seat = stage.join().unwrap();
        let command = Command { buttons: sim::Buttons::FIRE, view_age: 4000, ..Command::default() };
        let tick = seat.tick.after(2);
        seat.send(CommandBatch::new(tick, vec![command]).unwrap(), stage.now()).unwrap();
        stage.game.seats.receive(&mut stage.game.world, seat.tick);
        let commands = stage.game.seats.commands(tick, stage.now());
        // 200 ms are 12 ticks of 16 parts.
        assert_eq!(commands, [(seat.player, Command { view_age: 192, ..command })]);
    }

    #[test]
    fn a_flood_is_bounded_and_keeps_its_seat() {
        let mut stage = Stage::new();
        let seat = stage.join().unwrap();
        let batch = CommandBatch::new(seat.tick.after(1), vec![Command::default()]).unwrap();
        let sent = (0..1000).filter(|_| seat.send(batch.clone(), Time::ZERO) != Err(Surplus));
        let sent = sent.count();
        assert!(sent < 100, "{sent} batches were queued");
        assert_eq!(players(&stage.tick()), 1);
        assert_eq!(seat.send(batch, stage.now()), Ok(()));
    }

    #[test]
    fn what_players_who_left_have_counted_stays_counted() {
        let mut stage = Stage::new();
        let seat = stage.join().unwrap();
        let neutral = stage.tick().commands.neutral;
        assert!(neutral > 0);
        drop(seat);
        assert_eq!(stage.tick().commands.neutral, neutral);
    }
}
