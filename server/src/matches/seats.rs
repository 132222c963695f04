//! Seats in the match. A connection holds a [`Seat`] and sends commands through it. The tick thread
//! holds the other ends ([`Seats`]).

pub(crate) mod away;
mod fight;
pub(crate) mod view_limit;

use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::Duration;

use obsp_game::{Event, PlayerInfo, RunningMatch};
use obsp_proto::commands::CommandDatagram;
use obsp_proto::control::{ChatLine, MatchEvent, Vitals};
use obsp_proto::server::{CommandSource, JitterBuffer, JitterStats, OwnPlayer};
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_proto::{Tick, Time};
use obsp_sim::{AddPlayerError, Buttons, Command, EntityId, PlayerKind, World};
use tokio::sync::{broadcast, oneshot};

use super::level::roster::Roster;
use super::level::{Level, News};
use super::tick_thread::published::PlayerUpdate;
use crate::door::clients::steered::SteeredEntity;
pub(crate) use fight::ticks;
use fight::{Footing, Hit};
use view_limit::ViewLimit;

/// Command datagrams of one player that may wait for the tick thread: half a second of them at 60
/// Hz. A client that sends more ahead gains nothing.
const WAITING_BATCHES: usize = 32;

/// Lines of chat of one player that may wait for the tick thread. The budget of chat lets a player
/// say far fewer within a tick.
const WAITING_LINES: usize = 16;

/// How often a second a player's vitals are announced to all, if they change: as fast as a number
/// can be read.
const STANDINGS_A_SECOND: u16 = 5;

/// Whether the vitals of a player may be announced after `tick`. The players take turns, so that
/// not all are announced in the same tick.
pub(crate) fn standings_are_due(player: EntityId, tick: Tick, tick_rate: u16) -> bool {
    let interval = u32::from((tick_rate / STANDINGS_A_SECOND).max(1));
    (tick.0 + u32::from(player.slot)).is_multiple_of(interval)
}

/// A request to join, answered within a tick.
#[derive(Debug)]
pub(crate) struct JoinRequest {
    pub(crate) answer: oneshot::Sender<Result<Seat, AddPlayerError>>,
    /// The details of the player that the game receives.
    pub(crate) info: PlayerInfo,
    /// The place for the entity that the client steers. It is written before any state shows that
    /// entity.
    pub(crate) steered: Arc<SteeredEntity>,
}

/// A player's place in the match, held by the player's connection. Dropping a seat gives it up: the
/// tick thread sees that the queue is closed, and takes the player out. So no place is lost,
/// however a connection ends.
#[derive(Debug)]
pub(crate) struct Seat {
    /// The entity the player steers.
    pub(crate) player: EntityId,
    /// The last tick simulated when the seat was taken.
    pub(crate) tick: Tick,
    /// The world that the seat is in.
    pub(crate) level: Arc<Level>,
    /// The events since the player joined, until the connection takes them over.
    pub(crate) events: Option<broadcast::Receiver<News>>,
    commands: SyncSender<Received>,
    lines: SyncSender<ChatLine>,
    footing: Arc<Footing>,
}

/// Commands that arrived.
#[derive(Debug)]
struct Received {
    datagram: CommandDatagram,
    arrival: Time,
    view: ViewLimit,
}

/// The queue had no room for the commands or the line: the player sends more than the match can
/// use.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Surplus;

impl Seat {
    /// Leaves the body behind, because the player's connection has ended. Nothing harms it from
    /// `protected_from` on, unless the player is in a fight.
    pub(crate) fn leave_behind(&self, protected_from: Option<Tick>) {
        self.footing.leave(protected_from);
    }

    /// Takes up a body again that was left behind.
    pub(crate) fn take_up(&self) {
        self.footing.come_back();
    }

    /// Ticks after `tick` until the player's fight is over; 0 if the player is in none.
    pub(crate) fn fight_left(&self, tick: Tick) -> u32 {
        self.footing.fight_left(tick)
    }

    /// Passes commands on to the tick thread, without ever waiting. `view` limits how far back
    /// their shots are judged.
    pub(crate) fn send(
        &self,
        datagram: CommandDatagram,
        arrival: Time,
        view: ViewLimit,
    ) -> Result<(), Surplus> {
        match self.commands.try_send(Received { datagram, arrival, view }) {
            // A match that is over needs no commands. The stop signal tells the connection that the
            // match is over.
            Ok(()) | Err(TrySendError::Disconnected(_)) => Ok(()),
            Err(TrySendError::Full(_)) => Err(Surplus),
        }
    }

    /// Passes a line of chat on to the game, without ever waiting.
    pub(crate) fn say(&self, line: ChatLine) -> Result<(), Surplus> {
        match self.lines.try_send(line) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => Ok(()),
            Err(TrySendError::Full(_)) => Err(Surplus),
        }
    }
}

/// The tick thread's side of all seats.
pub(crate) struct Seats {
    tick_rate: NonZeroU16,
    /// How far back shots are judged at most, in sixteenths of a tick, as [`Command::view_age`]
    /// counts.
    most_view_age: u16,
    /// How many players are to drive hovertanks.
    tanks: usize,
    requests: Receiver<JoinRequest>,
    occupied: Vec<OccupiedSeat>,
    /// Ticks for which a player who was hurt by another is in a fight.
    combat_ticks: u32,
    /// When the last tick was simulated.
    last_time: Time,
    /// The outcomes of the commands of players who have left.
    past: JitterStats,
}

/// The tick thread's side of a seat that a connection holds.
struct OccupiedSeat {
    player: EntityId,
    commands: Receiver<Received>,
    lines: Receiver<ChatLine>,
    footing: Arc<Footing>,
    /// The last hit by each other player with whom this player is in a fight. There is at most one
    /// for each player of the match.
    hits: Vec<Hit>,
    steered: Arc<SteeredEntity>,
    buffer: JitterBuffer,
    /// How far back the player's shots are judged at most. `None` until a command came.
    view: Option<ViewLimit>,
    /// Whether the last tick used another command instead of the client's own for that tick.
    command_substituted: bool,
    /// The last tick in which the player was pushed.
    pushed: Option<Tick>,
    /// The vitals that were last announced.
    announced: Option<Vitals>,
}

impl Seats {
    /// The seats of a match, none of which is taken yet. Requests to join come from `requests`. A
    /// shot is judged against other players where its shooter saw them, but at most `rewind` ago.
    pub(crate) fn new(
        tick_rate: NonZeroU16,
        rewind: Duration,
        requests: Receiver<JoinRequest>,
    ) -> Self {
        let sixteenths = rewind.as_secs_f64() * f64::from(tick_rate.get()) * 16.0;
        // `as` saturates.
        let most_view_age = sixteenths as u16;
        let (occupied, past) = (Vec::new(), JitterStats::default());
        let (last_time, combat_ticks) = (Time::ZERO, 0);
        let tanks = 0;
        Self { tick_rate, most_view_age, tanks, requests, occupied, combat_ticks, last_time, past }
    }

    /// A player who was hurt by another is in a fight for this long.
    pub(crate) fn with_combat_time(self, time: Duration) -> Self {
        Self { combat_ticks: ticks(time, self.tick_rate), ..self }
    }

    /// Players who join get a hovertank while fewer than `tanks` drive one.
    pub(crate) fn with_tanks(self, tanks: u16) -> Self {
        Self { tanks: tanks.into(), ..self }
    }

    /// Receives the commands that arrived, takes out players who have left, and lets in players who
    /// asked. `tick` is the last one simulated.
    pub(crate) fn receive(
        &mut self,
        simulation: &mut dyn RunningMatch,
        tick: Tick,
        level: &Arc<Level>,
    ) {
        // The requests are read first. So a client that asks after a seat was given up finds it
        // free, however the two threads interleave.
        let requests: Vec<_> = self.requests.try_iter().collect();
        self.pass_on_chat(simulation);
        self.hear(simulation);
        self.let_in(requests, simulation, tick, level);
    }

    /// Takes everybody out, because the match goes on in another world. Clients that follow it ask
    /// for a seat there.
    pub(crate) fn clear(&mut self) {
        for seat in self.occupied.drain(..) {
            seat.steered.set(None);
            seat.footing.fights_until(None);
            self.past = sum(&self.past, seat.buffer.stats());
        }
    }

    /// Passes the lines that players said on to the game.
    fn pass_on_chat(&self, simulation: &mut dyn RunningMatch) {
        for seat in &self.occupied {
            for line in seat.lines.try_iter() {
                simulation.say(seat.player, line.as_str());
            }
        }
    }

    /// Receives the commands that arrived, and takes out players who have left.
    fn hear(&mut self, simulation: &mut dyn RunningMatch) {
        let past = &mut self.past;
        self.occupied.retain_mut(|seat| {
            let stays = seat.receive();
            if !stays {
                seat.steered.set(None);
                simulation.leave(seat.player);
                *past = sum(past, seat.buffer.stats());
            }
            stays
        });
    }

    /// Answers requests to join.
    fn let_in(
        &mut self,
        requests: Vec<JoinRequest>,
        simulation: &mut dyn RunningMatch,
        tick: Tick,
        level: &Arc<Level>,
    ) {
        for JoinRequest { answer, info, steered } in requests {
            let world = simulation.world();
            let drives = |seat: &&OccupiedSeat| {
                world.player_kind(seat.player) == Some(PlayerKind::Hovertank)
            };
            let kind = if self.occupied.iter().filter(drives).count() < self.tanks {
                PlayerKind::Hovertank
            } else {
                PlayerKind::Box
            };
            let seat = simulation.join(kind, info).map(|player| {
                let (sender, commands) = sync_channel(WAITING_BATCHES);
                let (lines_sender, lines) = sync_channel(WAITING_LINES);
                let buffer = JitterBuffer::new(self.tick_rate, tick, self.last_time);
                let (command_substituted, pushed, announced) = (true, None, None);
                let (view, hits, footing) = (None, Vec::new(), Arc::<Footing>::default());
                let seat = Seat {
                    player,
                    tick,
                    level: Arc::clone(level),
                    events: Some(level.events.subscribe()),
                    commands: sender,
                    lines: lines_sender,
                    footing: Arc::clone(&footing),
                };
                steered.set(Some(player));
                self.occupied.push(OccupiedSeat {
                    player,
                    commands,
                    lines,
                    footing,
                    hits,
                    steered,
                    buffer,
                    view,
                    command_substituted,
                    pushed,
                    announced,
                });
                seat
            });
            // If the client no longer waits, the seat is dropped with the answer, and so given up
            // like any other.
            let _ = answer.send(seat);
        }
    }

    /// The one command of each player for `tick`.
    pub(crate) fn commands(&mut self, tick: Tick, now: Time) -> Vec<(EntityId, Command)> {
        self.last_time = now;
        let command = |seat: &mut OccupiedSeat| {
            let (command, source) = seat.buffer.take(tick, now);
            seat.command_substituted = source != CommandSource::Client;
            let most = seat.view.map_or(0, |view| view.at(tick)).min(self.most_view_age);
            let view_age = command.view_age.min(most);
            let mut buttons = command.buttons;
            if seat.footing.is_protected(tick) {
                buttons = buttons | Buttons::PROTECTED;
            }
            (seat.player, Command { view_age, buttons, ..command })
        };
        self.occupied.iter_mut().map(command).collect()
    }

    /// Notes that the match has fallen behind the clock, and that this many ticks were dropped at
    /// `now`.
    pub(crate) fn skip_time(&mut self, ticks: u64, now: Time) {
        self.occupied.iter_mut().for_each(|seat| seat.buffer.skip_time(ticks, now));
    }

    /// Notes who was pushed in `tick`, which `world` has just played.
    pub(crate) fn note_pushed(&mut self, world: &World, tick: Tick) {
        for seat in self.occupied.iter_mut().filter(|seat| world.was_pushed(seat.player)) {
            seat.pushed = Some(tick);
        }
    }

    /// Notes from the events of `tick` who is in a fight. A fight is over once its time is up, the
    /// player has died, or all others who hurt the player have left. The fight goes on if only one
    /// of several attackers leaves. Otherwise a friend could hit the player last and leave, and so
    /// end the fight.
    pub(crate) fn note_fights(&mut self, events: &[Event], tick: Tick) {
        let until = tick.after(self.combat_ticks);
        for event in events {
            let (player, hit) = match *event {
                Event::Hurt { player, by, .. } if player != by => (player, Some(Hit { by, until })),
                Event::Died { player, .. } => (player, None),
                _ => continue,
            };
            if let Some(seat) = self.occupied.iter_mut().find(|seat| seat.player == player) {
                seat.hits.retain(|old| hit.is_some_and(|hit| hit.by != old.by));
                seat.hits.extend(hit);
            }
        }
        for index in 0..self.occupied.len() {
            let mut hits = std::mem::take(&mut self.occupied[index].hits);
            hits.retain(|hit| {
                let is_there =
                    |seat: &OccupiedSeat| seat.player == hit.by && !seat.footing.is_left();
                tick < hit.until && self.occupied.iter().any(is_there)
            });
            let seat = &mut self.occupied[index];
            seat.footing.fights_until(hits.iter().map(|hit| hit.until).max());
            seat.hits = hits;
        }
    }

    /// The updates of all players after `tick`.
    pub(crate) fn updates(&self, world: &World, tick: Tick) -> Vec<PlayerUpdate> {
        let update = |seat: &OccupiedSeat| {
            let motion = world.player_motion(seat.player).map(|motion| {
                AuthoritativeMotion::new(motion, tick, seat.pushed)
                    .with_touched(tick, world.touched_by(seat.player))
            });
            let command_substituted = motion.is_some() && seat.command_substituted;
            let own = OwnPlayer { lead: seat.buffer.lead(), motion, command_substituted };
            PlayerUpdate { player: seat.player, own }
        };
        self.occupied.iter().map(update).collect()
    }

    /// Notes each player's vitals in the roster.
    pub(crate) fn report(&self, roster: &Roster) {
        for seat in &self.occupied {
            roster.note(seat.player, seat.announced);
        }
    }

    /// The vitals that are due to be announced after `tick`, because they differ from the last
    /// announced vitals.
    pub(crate) fn standings(
        &mut self,
        simulation: &dyn RunningMatch,
        tick: Tick,
    ) -> Vec<MatchEvent> {
        let tick_rate = self.tick_rate.get();
        let due = |seat: &mut OccupiedSeat| {
            if !standings_are_due(seat.player, tick, tick_rate) {
                return None;
            }
            let vitals =
                simulation.vitals(seat.player).filter(|now| seat.announced != Some(*now))?;
            seat.announced = Some(vitals);
            Some(MatchEvent::Vitals { player: seat.player, vitals })
        };
        self.occupied.iter_mut().filter_map(due).collect()
    }

    /// The outcomes of all commands of the match.
    pub(crate) fn stats(&self) -> JitterStats {
        self.occupied.iter().fold(self.past, |total, seat| sum(&total, seat.buffer.stats()))
    }
}

impl OccupiedSeat {
    /// Moves arrived commands into the buffer. Returns false once the seat is given up.
    fn receive(&mut self) -> bool {
        // At most a full queue is read, so that a flood cannot delay the tick. One more read
        // notices that a full queue was given up.
        for _ in 0..=WAITING_BATCHES {
            match self.commands.try_recv() {
                Ok(Received { datagram, arrival, view }) => {
                    self.view = Some(view);
                    self.buffer.receive(&datagram, arrival);
                }
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
        true
    }
}

fn sum(a: &JitterStats, b: &JitterStats) -> JitterStats {
    JitterStats {
        accepted: a.accepted + b.accepted,
        redundant: a.redundant + b.redundant,
        conflicting: a.conflicting + b.conflicting,
        replaced: a.replaced + b.replaced,
        late: a.late + b.late,
        early: a.early + b.early,
        in_time: a.in_time + b.in_time,
        repeated: a.repeated + b.repeated,
        neutral: a.neutral + b.neutral,
    }
}
