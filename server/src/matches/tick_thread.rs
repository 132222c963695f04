//! The tick thread: it alone owns the simulation. Each tick it takes one command per
//! player, steps the world, and publishes the state; it never waits for another thread.

mod agents;
pub(crate) mod pacer;
pub(crate) mod published;
mod recent_effects;
pub(crate) mod send_groups;
pub(crate) mod stuck;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use obsp_game::{Audience, Event, RunningMatch};
use obsp_proto::control::{ChatLine, MatchEvent, Means};
use obsp_proto::effects::Effect;
use obsp_proto::{Tick, Time};
use obsp_sim::{Command, Counters, EntityId};
use tokio::sync::{broadcast, watch};

use super::level::{Level, News, Prepared};
use super::match_handle::MatchHandle;
use super::recording::LiveRecorder;
use super::seats::{JoinRequest, Seats};
use super::telemetry::TickPhases;
use super::watchdog::Gate;
use crate::common::error::RunError;
use agents::ListedAgents;
use pacer::{Pacer, Turn};
use published::{
    ContactSubscription, EFFECTS_KEPT, EffectsOfTick, LatestState, PublishedEffects,
    PublishedState, PublishedStates, STATES_WAITING,
};
use stuck::StuckWatch;

/// The current level, and the counts of the match when the level began.
struct CurrentLevel {
    level: Arc<Level>,
    /// Ticks simulated in earlier levels.
    earlier_ticks: u64,
    /// Counters of earlier levels.
    earlier_counters: Counters,
    stuck: StuckWatch,
    agents: ListedAgents,
}

impl CurrentLevel {
    /// The first level of a match, or the next one.
    fn new(level: Arc<Level>, (earlier_ticks, earlier_counters): (u64, Counters)) -> Self {
        let stuck = StuckWatch::new(u32::from(level.match_info.tick_rate.get()));
        let agents = ListedAgents::default();
        Self { level, earlier_ticks, earlier_counters, stuck, agents }
    }
}

/// The world that the match continues in.
pub(crate) struct NextWorld {
    pub(crate) simulation: Box<dyn RunningMatch>,
    pub(crate) level: Arc<Level>,
    pub(crate) recorder: Option<LiveRecorder>,
}

/// The match as the tick thread runs it. No other thread touches it, and it never waits for one.
pub(crate) struct Match {
    simulation: Box<dyn RunningMatch>,
    seats: Seats,
    current: CurrentLevel,
    next_worlds: Receiver<NextWorld>,
    /// The channel for worlds that are no longer played. Dropping one here would take too long.
    over: SyncSender<Box<dyn RunningMatch>>,
    tick: Tick,
    latest: watch::Sender<Arc<PublishedState>>,
    states: broadcast::Sender<Arc<PublishedState>>,
    effects: broadcast::Sender<EffectsOfTick>,
    contact_subscription: Arc<ContactSubscription>,
    recorder: Option<LiveRecorder>,
}

impl Match {
    /// A match on a prepared level. Players join by `requests`. The match goes on in each world
    /// that `next_worlds` brings, and hands the old one to `over`. A shot is judged against other
    /// players where its shooter saw them, but at most `rewind` ago.
    pub(crate) fn new(
        Prepared { simulation, level, .. }: Prepared,
        rewind: Duration,
        requests: Receiver<JoinRequest>,
        (next_worlds, over): (Receiver<NextWorld>, SyncSender<Box<dyn RunningMatch>>),
        contact_subscription: Arc<ContactSubscription>,
    ) -> (Self, LatestState) {
        let seats = Seats::new(level.match_info.tick_rate, rewind, requests);
        let mut current = CurrentLevel::new(level, (0, Counters::default()));
        let first =
            published_state(&*simulation, &seats, &contact_subscription, (&mut current, &[]));
        let (latest, receiver) = watch::channel(first);
        let states = broadcast::Sender::new(STATES_WAITING);
        let effects = broadcast::Sender::new(EFFECTS_KEPT);
        let tick = Tick(0);
        let game = Self {
            simulation,
            seats,
            current,
            next_worlds,
            over,
            tick,
            latest,
            states,
            effects,
            contact_subscription,
            recorder: None,
        };
        (game, receiver)
    }

    /// Every state from now on.
    pub(crate) fn states(&self) -> PublishedStates {
        self.states.subscribe()
    }

    /// Every effect from now on.
    pub(crate) fn effects(&self) -> PublishedEffects {
        self.effects.subscribe()
    }

    /// Records the match from its first tick, if there is a recorder.
    pub(crate) fn recorded_by(self, recorder: Option<LiveRecorder>) -> Self {
        Self { recorder, ..self }
    }

    /// Players who join get a hovertank while fewer than `tanks` drive one.
    pub(crate) fn with_tanks(self, tanks: u16) -> Self {
        Self { seats: self.seats.with_tanks(tanks), ..self }
    }

    /// A player who was hurt by another is in a fight for this long.
    pub(crate) fn with_combat_time(self, time: Duration) -> Self {
        Self { seats: self.seats.with_combat_time(time), ..self }
    }

    /// Ticks on time until the server stops or the match has failed. A match fails, for example,
    /// because this thread hung and was given up.
    pub(crate) fn run(
        &mut self,
        tick_rate: u32,
        game: &MatchHandle,
        gate: &Gate,
    ) -> Result<(), RunError> {
        let telemetry = &game.telemetry;
        let metrics = &telemetry.tick;
        let start = Instant::now();
        let mut pacer = Pacer::new(tick_rate);
        metrics.begin();
        while !game.stop.is_requested() && !game.has_failed() {
            gate.pass();
            match pacer.turn(start.elapsed()) {
                Turn::Wait(time) => std::thread::sleep(time),
                Turn::Run { dropped, late } => {
                    metrics.began(late);
                    let now = game.now();
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

    /// Runs one tick: joins and leaves, the command of each player, the simulation, and the
    /// publication.
    fn tick(&mut self, now: Time) -> Result<TickPhases, RunError> {
        let begin = Instant::now();
        if let Ok(next) = self.next_worlds.try_recv() {
            self.enter(next);
        }
        self.seats.receive(&mut *self.simulation, self.tick, &self.current.level);
        let next = Tick::from_simulation(u64::from(self.tick.0) + 1).ok_or(RunError::Outlived)?;
        let mut commands = self.seats.commands(next, now);
        if self.current.level.frozen.load(Ordering::Relaxed) {
            hold_still(&mut commands);
        }
        let input = Instant::now();
        self.simulation.step(&commands);
        let simulated = Instant::now();
        self.tick = next;
        if let Some(recorder) = &mut self.recorder {
            recorder.ticked(&*self.simulation, &commands);
        }
        self.current.level.replay_buffer.ticked(&*self.simulation, &commands);
        let news = self.news(next);
        self.seats.note_pushed(self.simulation.world(), next);
        self.seats.note_fights(self.simulation.events(), next);
        if self.simulation.events().iter().any(|event| matches!(event, Event::Exited { .. })) {
            self.current.level.exited.store(true, Ordering::Relaxed);
        }
        self.seats.report(&self.current.level.roster);
        let state = published_state(
            &*self.simulation,
            &self.seats,
            &self.contact_subscription,
            (&mut self.current, &commands),
        );
        // The effects come before the state, because a page that sees the state may ask for them.
        let effects: Arc<[Effect]> = state.events.iter().filter_map(Event::effect).collect();
        if !effects.is_empty() {
            let _ = self.effects.send(EffectsOfTick { tick: state.state.tick, effects });
        }
        self.latest.send_replace(Arc::clone(&state));
        let published = Instant::now();
        // Other threads are woken last: the network thread may take this processor at
        // once. Sending fails only without receivers, which is not an error.
        for event in news {
            let _ = self.current.level.events.send(event);
        }
        let _ = self.states.send(state);
        Ok(TickPhases {
            input: input - begin,
            simulation: simulated - input,
            publication: published - simulated,
            waking: published.elapsed(),
        })
    }

    /// Enters another world, in which there are no players yet.
    fn enter(&mut self, NextWorld { simulation, level, recorder }: NextWorld) {
        self.seats.clear();
        let over = std::mem::replace(&mut self.simulation, simulation);
        let mut earlier = self.current.earlier_counters;
        earlier.add_earlier(over.world().counters());
        self.current = CurrentLevel::new(level, (self.tick.0.into(), earlier));
        self.recorder = recorder;
        // The thread that drops worlds ends after this one. If its queue is full, the world is
        // dropped here.
        let _ = self.over.try_send(over);
    }

    /// The events of the tick that was just simulated.
    fn news(&mut self, tick: Tick) -> Vec<News> {
        let public = |event: &Event| match event {
            Event::Died { player, by, means } => {
                Some(MatchEvent::Died { player: *player, by: *by, means: Means::new(means) })
            }
            Event::Announced { line } => {
                ChatLine::shortened(line).map(|line| MatchEvent::Announced { line })
            }
            Event::Game(event) => Some(MatchEvent::Game(event.clone())),
            _ => None,
        };
        let news_of = |event: &Event| match event {
            Event::Private { player, event } => Some(News {
                tick,
                event: MatchEvent::Game(event.clone()),
                to: Some([*player].into()),
            }),
            event => public(event).map(|event| News { tick, event, to: None }),
        };
        let CurrentLevel { level, agents, .. } = &mut self.current;
        let tick_rate = level.match_info.tick_rate.get();
        let listed = agents.follow(&*self.simulation, &level.roster, (tick, tick_rate)).into_iter();
        let mut news: Vec<_> = listed.map(|event| News { tick, event, to: None }).collect();
        news.extend(self.simulation.events().iter().filter_map(news_of));
        news.extend(self.simulation.events().iter().filter_map(|event| self.heard(event, tick)));
        let standings = self.seats.standings(&*self.simulation, tick).into_iter();
        news.extend(standings.map(|event| News { tick, event, to: None }));
        news
    }
}

impl Match {
    /// A line that a player said, for its listeners. `None` for another event, for a line that no
    /// client can show, and for a speaker whom clients no longer know.
    fn heard(&self, event: &Event, tick: Tick) -> Option<News> {
        let Event::Said { player, line, to } = event else { return None };
        let is_known = !self.current.level.roster.has_left(*player);
        let line = ChatLine::shortened(line).filter(|_| is_known)?;
        let to = match to {
            Audience::Everyone => None,
            Audience::Players(listeners) => Some(listeners.as_slice().into()),
            Audience::Nobody => return None,
        };
        Some(News { tick, event: MatchEvent::Said { player: *player, line }, to })
    }
}

/// The present state of `simulation`, after these commands, for publication.
fn published_state(
    simulation: &dyn RunningMatch,
    seats: &Seats,
    contact_subscription: &ContactSubscription,
    (current, commands): (&mut CurrentLevel, &[(EntityId, Command)]),
) -> Arc<PublishedState> {
    let world = simulation.world();
    let mut state = world.state();
    current.stuck.see(world, &state, commands);
    // Tick numbers continue from level to level.
    state.tick += current.earlier_ticks;
    let mut counters = *world.counters();
    counters.add_earlier(&current.earlier_counters);
    let tick = Tick::from_simulation(state.tick).unwrap_or_default();
    let subscribed = contact_subscription.covers(state.tick);
    let contacts = subscribed.then(|| world.contacts().collect());
    let awake_because = subscribed.then(|| world.awake_because().collect());
    Arc::new(PublishedState {
        level: Arc::clone(&current.level),
        pockets: world.pockets(),
        values: simulation.values(&state),
        state,
        players: seats.updates(world, tick),
        events: simulation.events().into(),
        contacts,
        awake_because,
        counters,
        stuck_players: current.stuck.now(),
        commands: seats.stats(),
        simulated: Instant::now(),
    })
}

/// Keeps players from moving and shooting. They may look about.
fn hold_still(commands: &mut [(EntityId, Command)]) {
    for (_, command) in commands {
        let Command { yaw, pitch, .. } = *command;
        *command = Command { yaw, pitch, ..Command::default() };
    }
}

#[cfg(test)]
mod tests;
