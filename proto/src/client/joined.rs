//! The state of a client session that has joined: the view, the clock and the commands.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use obsp_sim::Command;

use super::clock::Clock;
use super::effect_queue::EffectQueue;
use super::event_queue::EventQueue;
use super::round_trip::RoundTrip;
use super::view::View;
use crate::commands::{
    Acknowledgement, CommandBatch, CommandDatagram, MAX_COMMANDS, MAX_VIEW_AGE, QUARTER_TURN,
};
use crate::control::ServerHello;
use crate::effects::EffectsDatagram;
use crate::snapshot::{AuthoritativeMotion, DatagramKind, Header, SnapshotCodec};
use crate::{DatagramError, Tick, Time};

/// A snapshot that was new and has been applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SnapshotReceived {
    /// Tick of the snapshot.
    pub tick: Tick,
    /// Time since the previous snapshot arrived; `None` for the first snapshot.
    pub gap: Option<Duration>,
    /// Whether the snapshot's digest matched; `None` if it had no digest that could be checked.
    pub digest_agrees: Option<bool>,
    /// The authoritative motion of the client's own player after this tick, if the snapshot carries
    /// it.
    pub own_motion: Option<AuthoritativeMotion>,
}

/// A datagram of commands to be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSent {
    /// The tick that the command is for.
    pub tick: Tick,
    /// The command as it was sent, with its fields clamped.
    pub command: Command,
    /// The command for the ticks that were skipped since the previous command. It is the previous
    /// command, which the server also repeats in such ticks.
    pub held: Command,
    /// The datagram.
    pub datagram: Vec<u8>,
}

/// Counters of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// Snapshots applied.
    pub snapshots: u64,
    /// Snapshots that the server sent: the applied ones, the lost ones, and those that came too
    /// late to be of use.
    pub snapshots_sent: u64,
    /// Bytes of the snapshots applied.
    pub snapshot_bytes: u64,
    /// Snapshots that arrived twice.
    pub duplicates: u64,
    /// Snapshots that arrived too late to be of use.
    pub stale: u64,
    /// Digests checked.
    pub digests: u64,
    /// Number of digests that did not match, which shows a defect in the codec of one end.
    pub digest_mismatches: u64,
    /// Entity records decoded.
    pub records: u64,
    /// Command datagrams sent.
    pub command_datagrams: u64,
    /// Bytes of the command datagrams sent.
    pub command_bytes: u64,
    /// Effects that were new.
    pub effects: u64,
    /// Bytes of the datagrams of effects.
    pub effect_bytes: u64,
}

/// The state once the server has accepted the client.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) hello: ServerHello,
    codec: SnapshotCodec,
    pub(super) view: View,
    pub(super) clock: Clock,
    pub(super) round_trip: RoundTrip,
    pub(super) received: Option<Acknowledgement>,
    last_arrival: Time,
    /// The latest commands, for consecutive ticks; the last is for the tick `newest`.
    commands: VecDeque<Command>,
    newest: Tick,
    pub(super) events: EventQueue,
    pub(super) effects: EffectQueue,
}

impl Joined {
    /// The state when the server's hello arrives at `now`. The client's hello was sent at
    /// `hello_sent`.
    pub(super) fn new(hello: ServerHello, hello_sent: Time, now: Time) -> Self {
        Self {
            codec: SnapshotCodec {
                bounds: hello.bounds,
                tick_rate: hello.tick_rate,
                schema: Arc::clone(&hello.schema),
            },
            view: View::default(),
            clock: Clock::new(hello.tick_rate, hello.tick, now - hello_sent, now),
            round_trip: RoundTrip::new(hello.tick_rate, now - hello_sent, now),
            received: None,
            last_arrival: now,
            commands: VecDeque::new(),
            newest: hello.tick,
            events: EventQueue::default(),
            effects: EffectQueue::new(hello.tick),
            hello,
        }
    }

    /// Decodes and applies a datagram; `None` if it has effects, or was a duplicate or stale.
    pub(super) fn receive(
        &mut self,
        now: Time,
        bytes: &[u8],
        stats: &mut SessionStats,
    ) -> Result<Option<SnapshotReceived>, DatagramError> {
        let near = self.received.map_or(self.hello.tick, |received| received.latest);
        if DatagramKind::Effects.is_of(bytes) {
            let datagram = EffectsDatagram::decode(bytes, &self.hello.bounds, near)?;
            stats.effects += self.effects.push(datagram.into_ticks());
            stats.effect_bytes += bytes.len() as u64;
            return Ok(None);
        }
        let tick = Header::of_plain(bytes, near)?.tick;
        // The snapshot is of an earlier world, and was delayed until after the hello.
        if tick <= self.hello.tick {
            stats.stale += 1;
            return Ok(None);
        }
        let in_order = self.received.is_none_or(|received| tick > received.latest);
        if let Some(received) = self.received {
            if received.contains(tick) {
                stats.duplicates += 1;
                return Ok(None);
            }
            if received.is_beyond(tick) {
                stats.stale += 1;
                return Ok(None);
            }
        }
        let decoded = self.codec.decode(bytes, near, &self.view);
        let snapshot = match decoded {
            // Later snapshots may have displaced the baseline that this one references.
            Err(DatagramError::UnknownBaseline { .. } | DatagramError::UnknownValues { .. })
                if !in_order =>
            {
                stats.stale += 1;
                return Ok(None);
            }
            decoded => decoded?,
        };
        // Only the latest snapshot can be compared with the whole view.
        let sample = snapshot.digest.filter(|_| in_order);
        let digest_agrees =
            sample.map(|sample| self.view.agrees(&snapshot, &sample, &self.hello.schema));
        self.view.apply(&snapshot);
        if in_order {
            // A snapshot that comes out of order was already counted as a missing one.
            let passed = self.received.map(|received| tick.distance(received.latest));
            stats.snapshots_sent += sent_within(passed.unwrap_or(0), snapshot.since.into());
        }
        let gap = self.received.is_some().then(|| now.since(self.last_arrival));
        self.last_arrival = now;
        stats.count(bytes.len(), snapshot.records.len(), digest_agrees);
        match &mut self.received {
            Some(received) => received.add(tick),
            None => self.received = Some(Acknowledgement::of(tick)),
        }
        if let Some(lead) = snapshot.lead.filter(|_| in_order) {
            self.clock.steer(now, tick, lead);
            self.round_trip.reported(now, tick, lead);
        }
        Ok(Some(SnapshotReceived { tick, gap, digest_agrees, own_motion: snapshot.own_motion }))
    }

    /// Sends the command for the tick that is due, if one is.
    pub(super) fn command(
        &mut self,
        now: Time,
        command: Command,
        render_tick: Option<f64>,
    ) -> Option<CommandSent> {
        let tick = self.clock.take_due(now)?;
        let aims = command.buttons.aims();
        let view_age = render_tick.filter(|_| aims).map_or(0, |shown| view_age(tick, shown));
        let command = Command {
            forward: command.forward.max(-i8::MAX),
            right: command.right.max(-i8::MAX),
            pitch: command.pitch.clamp(-QUARTER_TURN, QUARTER_TURN),
            view_age,
            ..command
        };
        self.discard_from(tick);
        // Skipped ticks repeat the last command, as on the server. Nothing was skipped before the
        // first command.
        let skipped = if self.commands.is_empty() { 0 } else { tick.distance(self.newest) };
        let count = skipped.clamp(1, MAX_COMMANDS as i64) as u32;
        let held = self.commands.back().copied().unwrap_or_default();
        self.commands.extend(std::iter::repeat_n(held, count as usize - 1));
        self.commands.push_back(command);
        let excess = self.commands.len().saturating_sub(MAX_COMMANDS);
        self.commands.drain(..excess);
        self.newest = tick;
        self.round_trip.sent(now, tick.before(count - 1).unwrap_or(tick));
        let oldest = tick.before(self.commands.len() as u32 - 1)?;
        let batch = CommandBatch::new(oldest, self.commands.iter().copied().collect())?;
        let datagram = CommandDatagram { acknowledgement: self.received, batch }.encode();
        Some(CommandSent { tick, command, held, datagram })
    }

    /// Discards the commands that were sent for `tick` and later ticks, because the clock was set
    /// back and other commands are sent for these ticks.
    fn discard_from(&mut self, tick: Tick) {
        let (Some(before), outdated) = (tick.before(1), self.newest.distance(tick) + 1) else {
            return;
        };
        if outdated > 0 {
            let left = self.commands.len().saturating_sub(outdated as usize);
            self.commands.truncate(left);
            self.newest = before;
        }
    }
}

/// The number of snapshots that the server sent in the `passed` ticks up to a received snapshot, at
/// least 1. The server sent the snapshot before the received one `since` ticks earlier.
fn sent_within(passed: i64, since: i64) -> u64 {
    if since == 0 {
        return 1;
    }
    let sent = (passed + since / 2) / since;
    u64::try_from(sent).unwrap_or(1).max(1)
}

/// The time from the render tick to the end of `tick`, in the steps of [`Command::view_age`].
fn view_age(tick: Tick, render_tick: f64) -> u16 {
    // `as` turns NaN into 0.
    let sixteenths = ((f64::from(tick.0) - render_tick) * 16.0).round();
    sixteenths.clamp(0.0, f64::from(MAX_VIEW_AGE)) as u16
}

impl SessionStats {
    fn count(&mut self, bytes: usize, records: usize, digest_agrees: Option<bool>) {
        self.snapshots += 1;
        self.snapshot_bytes += bytes as u64;
        self.records += records as u64;
        self.digests += u64::from(digest_agrees.is_some());
        self.digest_mismatches += u64::from(digest_agrees == Some(false));
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;
    use std::sync::Arc;

    use glam::{DQuat, DVec3};
    use obsp_sim::{Attachment, EntityId, EntityState, Kind, ModelId, State, Substance, Traits};

    use crate::control::{MapHash, MapName, PlayerName};
    use crate::quantise::{Quantiser, WorldBounds};
    use crate::server::{MatchInfo, OwnPlayer};
    use crate::{Tick, Time, client, server};

    /// A server session, and a client session that joined it forty ticks ago. There are forty
    /// props, and all but the first are at rest.
    struct TestMatch {
        server: server::Session,
        client: client::Session,
        quantiser: Quantiser,
        state: State,
    }

    impl TestMatch {
        fn new() -> Self {
            let bounds = WorldBounds::new([0; 3], [12; 3]).unwrap();
            let rate = NonZeroU16::new(60).unwrap();
            let match_info = MatchInfo {
                tick_rate: rate,
                snapshot_rate: rate,
                map: MapHash::ANY,
                map_name: MapName::new("test"),
                bounds,
                player_limit: 1,
                schema: Arc::default(),
                game: None,
            };
            let name = PlayerName::new("tester").unwrap();
            let mut server = server::Session::new(Arc::new(match_info), Time::ZERO);
            let mut client = client::Session::new(&name, MapHash::ANY, Time::ZERO);
            server.receive_stream(Time::ZERO, &client.stream_output()).unwrap();
            server.accept(EntityId { slot: 0, generation: 0 }, Tick(0));
            client.receive_stream(Time::ZERO, &server.stream_output()).unwrap();
            let entity = |slot| EntityState {
                id: EntityId { slot, generation: 0 },
                kind: Kind::Prop { model: ModelId(1) },
                position: DVec3::splat(slot.into()),
                orientation: DQuat::IDENTITY,
                velocity: DVec3::ZERO,
                asleep: slot > 0,
                traits: Traits::default(),
            };
            let state = State { tick: 0, entities: (0..40).map(entity).collect() };
            let mut game = Self { server, client, quantiser: Quantiser::new(bounds), state };
            (0..40).for_each(|_| assert_ne!(game.tick(|_| ()), Some(false)));
            game
        }

        /// Plays a tick on a perfect connection, after `tamper` has changed the client's state.
        /// Returns whether the digest agreed.
        fn tick(&mut self, tamper: impl Fn(&mut client::Session)) -> Option<bool> {
            self.state.tick += 1;
            self.state.entities[0].position.x = (self.state.tick % 100) as f64;
            let state = Arc::new(self.quantiser.quantise(&self.state).unwrap());
            let datagram =
                self.server.encode_snapshot(&state, &OwnPlayer::default(), 1200).unwrap();
            tamper(&mut self.client);
            let received = self.client.receive_datagram(Time::ZERO, &datagram).unwrap().unwrap();
            let now = self.client.next_command_at().unwrap();
            if let Some(sent) = self.client.command(now, obsp_sim::Command::default(), None) {
                self.server.receive_datagram(now, &sent.datagram).unwrap();
            }
            received.digest_agrees
        }

        /// Passes a tick in which the server may send a snapshot, and the line may lose it.
        fn pass(&mut self, sends: bool, arrives: bool) {
            self.state.tick += 1;
            let state = Arc::new(self.quantiser.quantise(&self.state).unwrap());
            if sends {
                let own = OwnPlayer::default();
                let datagram = self.server.encode_snapshot(&state, &own, 1200).unwrap();
                if arrives {
                    self.client.receive_datagram(Time::ZERO, &datagram).unwrap();
                }
            }
        }

        /// Whether any digest disagrees within a whole cycle of samples.
        fn disagrees(&mut self, tamper: impl Fn(&mut client::Session)) -> bool {
            (0..48).any(|_| self.tick(&tamper) == Some(false))
        }
    }

    fn corrupt(client: &mut client::Session, slot: u16) {
        client.joined_mut().view.corrupt(slot);
    }

    #[test]
    fn lost_snapshots_are_counted_and_others_that_were_not_sent_are_not() {
        let mut game = TestMatch::new();
        let before = *game.client.stats();
        // Every third tick has a snapshot, and every fourth of these is lost.
        for tick in 0..240 {
            game.pass(tick % 3 == 0, tick % 12 != 3);
        }
        // Then the server stands still for a second. After that the line loses every snapshot of a
        // second.
        (0..60).for_each(|_| game.pass(false, false));
        game.pass(true, true);
        (0..60).for_each(|_| game.pass(true, false));
        game.pass(true, true);
        let after = game.client.stats();
        assert_eq!(after.snapshots - before.snapshots, 62);
        assert_eq!(after.snapshots_sent - before.snapshots_sent, 80 + 1 + 61);
    }

    /// The bytes and records of a second in which the first entity moves, and the last entity rests
    /// or follows the first.
    fn carries(follows: bool) -> [u64; 2] {
        let mut game = TestMatch::new();
        let (to, offset) = (game.state.entities[0].id, DVec3::new(-20.0, 0.5, 10.0));
        let attachment = Attachment { to, offset, rotation: DQuat::IDENTITY };
        if follows {
            game.state.entities[39].traits.substance = Substance::Attached(attachment);
        }
        let carry = |game: &mut TestMatch| {
            if follows {
                let [carrier, .., carried] = &mut game.state.entities[..] else { unreachable!() };
                let (position, orientation) =
                    attachment.pose(carrier.position, carrier.orientation);
                (carried.position, carried.orientation) = (position, orientation);
            }
            assert_ne!(game.tick(|_| ()), Some(false), "the digest disagrees");
        };
        (0..6).for_each(|_| carry(&mut game));
        let before = *game.client.stats();
        (0..60).for_each(|_| carry(&mut game));
        let after = *game.client.stats();
        let seen = game.client.entity(game.state.entities[39].id).unwrap().traits.substance;
        let expected = if follows { Substance::Attached(attachment) } else { Substance::Solid };
        assert_eq!(seen, expected);
        [after.snapshot_bytes - before.snapshot_bytes, after.records - before.records]
    }

    #[test]
    fn an_entity_that_follows_another_costs_no_byte() {
        assert_eq!(carries(true), carries(false));
    }

    #[test]
    fn the_digest_detects_a_wrong_value_of_a_moving_entity() {
        let mut game = TestMatch::new();
        assert!(game.disagrees(|client| corrupt(client, 0)));
        assert!(game.client.stats().digest_mismatches > 0);
    }

    #[test]
    fn the_digest_detects_a_wrong_value_of_a_resting_entity() {
        for slot in [1, 17, 39] {
            let mut game = TestMatch::new();
            corrupt(&mut game.client, slot);
            assert!(game.disagrees(|_| ()), "slot {slot}");
        }
    }

    #[test]
    fn the_digest_agrees_if_nothing_is_wrong() {
        let mut game = TestMatch::new();
        assert!(!game.disagrees(|_| ()));
        assert!(game.client.stats().digests > 3);
    }
}
