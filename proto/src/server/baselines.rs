//! Tracks the content of each slot that one client is known to have, and chooses the slots of its
//! next snapshot.
//!
//! Call [`Baselines::prioritize`] and [`Baselines::encode`] for every snapshot, and
//! [`Baselines::acknowledge`] for every acknowledgement.

mod slots;

use std::collections::VecDeque;
use std::sync::Arc;

use obsp_sim::EntityId;

use self::slots::{SlotRevisions, SlotState};
use super::motion_schedule::{MotionSchedule, OwnPlayer};
use super::relevance::{self, Viewer};
use super::value_schedule::ValueSchedule;
use crate::commands::Acknowledgement;
use crate::quantise::{Quantised, QuantisedTraits};
use crate::snapshot::{
    DIGEST_INTERVAL, DIGEST_SLOTS, Digest, DigestSample, Extras, Header, MIN_SNAPSHOT,
    RecordToWrite, SnapshotCodec, VALUE_BLOCKS_BYTES,
};
use crate::{DatagramError, MAX_ENTITIES, Tick};

/// Number of snapshots that are remembered until they are acknowledged. It is more than an
/// acknowledgement's window plus a round trip of a second. It is also small, so that a client that
/// never acknowledges costs little.
const HISTORY: usize = 128;

/// Number of the latest ticks of a slot's sends that are remembered: enough for a round trip of a
/// quarter of a second at 60 Hz, if the slot is sent every tick.
const SENT_TICKS: usize = 16;

/// Urgency of an entity that is just due. An entity that has waited for twice its interval has
/// twice this urgency.
const DUE: u64 = 256;

/// Factor of the urgency of an entity whose traits have changed. Such an entity goes before every
/// entity that waits for less than this many of its intervals. Clients predict by layers and
/// solidity, and a wrong prediction takes effect in every further tick. The factor is finite, so a
/// game that changes traits in every tick delays the poses of other entities, but does not stop
/// them.
const TRAITS: u64 = 32;

/// For each slot, the content that one client is known to have, and the content that is on its way.
///
/// Contents are dated by the revisions of the quantiser. The revision 0 means never. So a
/// comparison of three numbers per slot decides whether the slot needs to be sent.
#[derive(Debug)]
pub(super) struct Baselines {
    codec: SnapshotCodec,
    /// The client's own entity; `None` for a spectator.
    player: Option<EntityId>,
    joined: Tick,
    /// The revisions are kept apart from `slots`, because all of them are read in each tick.
    revisions: Vec<SlotRevisions>,
    slots: Vec<SlotState>,
    /// The latest ticks in which each slot was sent, by send number modulo
    /// [`SENT_TICKS`].
    sent_ticks: Vec<[Tick; SENT_TICKS]>,
    motion: MotionSchedule,
    match_values: ValueSchedule,
    own_values: ValueSchedule,
    history: VecDeque<SentSnapshot>,
    /// The latest revision known to have arrived.
    arrived: u32,
    snapshots: u32,
    /// The first slot that the next digest samples.
    next_sample: usize,
    /// Scratch space: slots to send, with their urgency in the higher bits.
    urgent: Vec<u64>,
    /// The tick for which `urgent` was computed, if no snapshot has used it yet.
    prioritized: Option<Tick>,
    /// Scratch space: slots that the snapshot carries.
    carried: Vec<u16>,
}

/// A snapshot that the client may still acknowledge.
#[derive(Debug)]
struct SentSnapshot {
    state: Arc<Quantised>,
    acknowledged: bool,
    /// Whether the snapshot carried the authoritative motion.
    has_motion: bool,
    /// Whether the snapshot carried the values of the match, and those of the client's own player.
    has_match_values: bool,
    has_own_values: bool,
    /// The slots that the snapshot carried, in ascending order, each with its send number.
    carried: Vec<(u16, u32)>,
}

/// An encoded snapshot.
pub(super) struct Encoded {
    pub(super) datagram: Vec<u8>,
    pub(super) records: usize,
    pub(super) postponed: usize,
}

impl Baselines {
    /// The state of a client that joins as `player` after the tick `joined`.
    pub(super) fn new(codec: SnapshotCodec, player: Option<EntityId>, joined: Tick) -> Self {
        Self {
            codec,
            player,
            joined,
            revisions: Vec::new(),
            slots: Vec::new(),
            sent_ticks: Vec::new(),
            carried: Vec::new(),
            motion: MotionSchedule::default(),
            match_values: ValueSchedule::default(),
            own_values: ValueSchedule::default(),
            history: VecDeque::new(),
            arrived: 0,
            snapshots: 0,
            next_sample: 0,
            urgent: Vec::new(),
            prioritized: None,
        }
    }

    /// The tick of the last snapshot. If no snapshot was sent, the tick of joining.
    pub(super) fn latest_tick(&self) -> Tick {
        self.history.back().map_or(self.joined, |sent| sent.state.tick())
    }

    /// Applies an acknowledgement, and returns how many snapshots it newly acknowledges.
    pub(super) fn acknowledge(
        &mut self,
        acknowledgement: Acknowledgement,
    ) -> Result<usize, DatagramError> {
        let mut new = 0;
        for tick in acknowledgement.ticks() {
            // The snapshot was of an earlier world, and its acknowledgement was delayed until
            // after the client's new hello.
            if tick <= self.joined {
                break;
            }
            // For a state older than the history, it is no longer known whether it was sent.
            if self.history.front().is_some_and(|sent| tick < sent.state.tick()) {
                break;
            }
            let index = self
                .history
                .binary_search_by_key(&tick, |sent| sent.state.tick())
                .map_err(|_| DatagramError::UnsentAcknowledged { tick: tick.0 })?;
            new += usize::from(self.acknowledge_snapshot(index));
        }
        Ok(new)
    }

    /// Makes the content of a snapshot the baseline of each of its slots that has no later
    /// baseline. Returns whether the snapshot was not acknowledged before.
    fn acknowledge_snapshot(&mut self, index: usize) -> bool {
        let sent = &mut self.history[index];
        if std::mem::replace(&mut sent.acknowledged, true) {
            return false;
        }
        self.arrived = self.arrived.max(sent.state.revision());
        if sent.has_motion {
            self.motion.on_arrival(sent.state.tick());
        }
        if sent.has_match_values {
            self.match_values.on_arrival(sent.state.tick(), sent.state.of_match());
        }
        if let Some(player) = self.player.filter(|_| sent.has_own_values) {
            self.own_values.on_arrival(sent.state.tick(), sent.state.of_own_player(player));
        }
        for &(index, send) in &sent.carried {
            let slot = &mut self.slots[usize::from(index)];
            if send > slot.acknowledged_send {
                self.revisions[usize::from(index)].acknowledged = sent.state.revision();
                slot.acknowledged_tick = sent.state.tick();
                slot.acknowledged_send = send;
                let later = slot.sends - send;
                let next = self.sent_ticks[usize::from(index)][(send + 1) as usize % SENT_TICKS];
                let is_kept = later as usize <= SENT_TICKS;
                slot.next_tick = (later > 0).then_some(if is_kept { next } else { Tick(0) });
                slot.acknowledged_entity = sent.state.entity(index.into()).copied();
            }
        }
        true
    }

    /// Whether `state` is later than everything sent so far.
    fn is_later(&self, state: &Quantised) -> bool {
        let last = self.history.back().map(|sent| &sent.state);
        last.is_none_or(|last| last.tick() < state.tick() && last.revision() < state.revision())
            && state.tick() >= self.joined
    }

    /// Computes the slots of the snapshot of `state`, the most urgent first.
    pub(super) fn prioritize(&mut self, state: &Quantised) {
        if !self.is_later(state) {
            return;
        }
        let slots = state.slots().max(self.slots.len());
        self.revisions.resize(slots, SlotRevisions::default());
        self.slots.resize(slots, SlotState::default());
        self.sent_ticks.resize(slots, [Tick(0); SENT_TICKS]);
        self.rank(state);
        self.prioritized = Some(state.tick());
    }

    /// Encodes the snapshot of `state`, in at most `limit` bytes; `None` if the state is
    /// no later than the last one, or the limit is below [`MIN_SNAPSHOT`].
    pub(super) fn encode(
        &mut self,
        state: &Arc<Quantised>,
        own: &OwnPlayer,
        limit: usize,
    ) -> Option<Encoded> {
        if limit < MIN_SNAPSHOT || !self.is_later(state) {
            return None;
        }
        if self.prioritized != Some(state.tick()) {
            self.prioritize(state);
        }
        self.prioritized = None;

        let extras = self.extras(state, own, limit);
        let header = self.header(state, own, &extras);
        let mut count = self.urgent.len().min(usize::from(u8::MAX));
        let mut slots = std::mem::take(&mut self.carried);
        let datagram = loop {
            slots.clear();
            slots.extend(self.urgent[..count].iter().map(|&ranked| slot_of(ranked)));
            slots.sort_unstable();
            // At most 255 slots were taken.
            let header = Header { records: count as u8, ..header };
            match self.write(state, &header, &extras, &slots, limit) {
                Ok(datagram) => break datagram,
                // `fit` records fitted, but the most urgent ones may be longer, so a few fewer are
                // tried.
                Err(fit) => count = (fit * 15 / 16).min(count.saturating_sub(1)),
            }
        };
        if header.has_digest {
            let next = self.next_sample + DIGEST_SLOTS;
            self.next_sample = if next < self.slots.len() { next } else { 0 };
        }
        let mut carried = self.recycled();
        carried.extend(slots.iter().map(|&index| (index, self.record_send(state, index))));
        self.carried = slots;
        self.snapshots = self.snapshots.wrapping_add(1);
        let records = carried.len();
        self.history.push_back(SentSnapshot {
            state: Arc::clone(state),
            acknowledged: false,
            has_motion: extras.motion.is_some(),
            has_match_values: extras.match_values.is_some(),
            has_own_values: extras.own_values.is_some(),
            carried,
        });
        Some(Encoded { datagram, records, postponed: self.urgent.len() - records })
    }

    /// The blocks that are due, besides the records. The digest is added after the records are
    /// known.
    fn extras(&mut self, state: &Quantised, own: &OwnPlayer, limit: usize) -> Extras {
        let (tick, rate) = (state.tick(), self.codec.tick_rate);
        let mut extras = Extras::default();
        if self.codec.schema.has_shared_fields() {
            let acknowledged = self.acknowledged_tick();
            let of_match = state.of_match();
            extras.match_values = self.match_values.take_due(tick, of_match, acknowledged, rate);
            if let Some(player) = self.player {
                let values = state.of_own_player(player);
                extras.own_values = self.own_values.take_due(tick, values, acknowledged, rate);
            }
        }
        // If the limit may be too small for both, the motion waits for a snapshot without values.
        let has_values = extras.match_values.is_some() || extras.own_values.is_some();
        if !has_values || limit >= MIN_SNAPSHOT + VALUE_BLOCKS_BYTES {
            extras.motion = self.motion.take_due(tick, own, self.lacks_own_traits(state), rate);
        }
        extras
    }

    /// Whether the client has been sent its own player, but lacks the player's present traits.
    fn lacks_own_traits(&self, state: &Quantised) -> bool {
        let Some(index) = self.player.map(|player| usize::from(player.slot)) else { return false };
        let slot = self.slots.get(index).zip(self.revisions.get(index));
        slot.is_some_and(|(slot, revisions)| {
            slot.lacks_traits(state.entity(index), revisions.is_lost(self.arrived))
        })
    }

    /// The latest snapshot known to have arrived.
    pub(super) fn acknowledged_tick(&self) -> Option<Tick> {
        let acknowledged = self.history.iter().rev().find(|sent| sent.acknowledged);
        acknowledged.map(|sent| sent.state.tick())
    }

    /// Ticks between the last two snapshots.
    pub(super) fn interval(&self) -> Option<u32> {
        let mut latest = self.history.iter().rev().map(|sent| sent.state.tick());
        let (last, before) = (latest.next()?, latest.next()?);
        u32::try_from(last.distance(before)).ok()
    }

    /// Records that a slot is sent with its content in `state`, and returns the send number.
    fn record_send(&mut self, state: &Quantised, index: u16) -> u32 {
        let entity = state.entity(index.into());
        let slot = &mut self.slots[usize::from(index)];
        slot.sends += 1;
        self.revisions[usize::from(index)].sent = state.revision();
        slot.sent_tick = state.tick();
        slot.sent_generation = entity.map(|entity| entity.generation);
        slot.sent_traits = entity.map_or(QuantisedTraits::DEFAULT, |entity| entity.traits);
        slot.next_tick = slot.next_tick.or(Some(state.tick()));
        self.sent_ticks[usize::from(index)][slot.sends as usize % SENT_TICKS] = state.tick();
        slot.sends
    }

    /// Encodes these slots. The error is the number of slots that fit into the limit.
    fn write(
        &self,
        state: &Quantised,
        header: &Header,
        extras: &Extras,
        carried: &[u16],
        limit: usize,
    ) -> Result<Vec<u8>, usize> {
        let acknowledged = state.tick().before(header.acknowledged.into()).unwrap_or_default();
        let records = carried.iter().map(|&slot| RecordToWrite {
            slot,
            entity: state.entity(slot.into()),
            baseline: self.slots[usize::from(slot)].baseline(state.tick(), acknowledged),
        });
        let digest = header.has_digest.then(|| self.sample(state, carried));
        let has_traits = records.clone().any(|record| record.needs_traits());
        let header = Header { has_traits, ..*header };
        self.codec.encode(&header, &Extras { digest, ..*extras }, records, limit)
    }

    /// Lists the slots that are due, the most urgent first. Urgency is the time since the slot was
    /// last sent, divided by the slot's interval, so it grows until the slot is sent.
    fn rank(&mut self, state: &Quantised) {
        self.urgent.clear();
        let own = self.player.map(|player| usize::from(player.slot));
        let viewer = own.and_then(|own| state.entity(own)).map(Viewer::of);
        let longest = i64::from(relevance::longest(self.codec.tick_rate));
        for (index, revisions) in self.revisions.iter().enumerate() {
            let slot = &self.slots[index];
            // An entity that has a velocity but does not move, such as a player who runs against a
            // wall, is sent regularly. Otherwise the client would expect the entity to move.
            let lingers =
                || state.speed(index) > 0.0 && state.tick().distance(slot.sent_tick) >= longest;
            if !revisions.may_lack(state.changed(index), self.arrived) && !lingers() {
                continue;
            }
            let entity = state.entity(index);
            let never_sent = revisions.sent == 0;
            if never_sent && entity.is_none() {
                continue;
            }
            let interval = match entity {
                Some(entity) => {
                    let (viewer, own) = (viewer.as_ref(), Some(index) == own);
                    let speed = state.speed(index);
                    relevance::interval(viewer, entity, speed, own, self.codec.tick_rate)
                }
                None => 1,
            };
            let since = if never_sent { self.joined } else { slot.sent_tick };
            let age = state.tick().distance(since).max(0) as u64;
            // A slot is due at once if it was never sent, if its occupant or the occupant's traits
            // have changed, or if its last send was lost.
            let is_new = never_sent
                || revisions.is_lost(self.arrived)
                || slot.sent_generation != entity.map(|entity| entity.generation);
            let lacks_traits = slot.lacks_traits(entity, revisions.is_lost(self.arrived));
            let is_due_at_once = is_new || lacks_traits;
            if is_due_at_once || age >= u64::from(interval) {
                let overdue = if is_due_at_once { age.max(u64::from(interval)) } else { age };
                let factor = if lacks_traits { TRAITS * DUE } else { DUE };
                self.urgent.push(ranked(overdue * factor / u64::from(interval), index));
            }
        }
        self.urgent.sort_unstable_by(|a, b| b.cmp(a));
    }

    fn header(&self, state: &Quantised, own: &OwnPlayer, extras: &Extras) -> Header {
        let acknowledged = self
            .history
            .iter()
            .rev()
            .find(|sent| sent.acknowledged)
            .and_then(|sent| u8::try_from(state.tick().distance(sent.state.tick())).ok());
        let before = self.history.back().map(|sent| state.tick().distance(sent.state.tick()));
        Header {
            tick: state.tick(),
            has_digest: self.snapshots.is_multiple_of(DIGEST_INTERVAL),
            lead: own.lead,
            has_motion: extras.motion.is_some(),
            has_match_values: extras.match_values.is_some(),
            has_own_values: extras.own_values.is_some(),
            has_traits: false,
            acknowledged: acknowledged.unwrap_or(0),
            records: 0,
            since: before.and_then(|ticks| u8::try_from(ticks).ok()).unwrap_or(0),
        }
    }

    /// The digest of the carried slots, and of settled slots beginning where the last sample
    /// ended.
    fn sample(&self, state: &Quantised, carried: &[u16]) -> DigestSample {
        let mut digest = Digest::new(state.tick());
        for &slot in carried {
            digest.add(slot, state.entity(slot.into()), &self.codec.schema);
        }
        let first = self.next_sample;
        let mut slots = 0;
        for (bit, index) in (first..self.slots.len()).take(DIGEST_SLOTS).enumerate() {
            let entity = state.entity(index);
            let is_carried = carried.binary_search(&(index as u16)).is_ok();
            if !is_carried && self.revisions[index].is_settled(state.changed(index), entity) {
                slots |= 1 << bit;
                digest.add(index as u16, entity, &self.codec.schema);
            }
        }
        DigestSample { first: first as u16, slots, digest: digest.finish() }
    }

    /// Drops the oldest snapshot if there are too many, and returns its list, empty, for
    /// reuse.
    fn recycled(&mut self) -> Vec<(u16, u32)> {
        if self.history.len() < HISTORY {
            return Vec::new();
        }
        let mut carried = self.history.pop_front().map_or_else(Vec::new, |sent| sent.carried);
        carried.clear();
        carried
    }
}

/// A number that contains the slot and ranks it: more urgent slots have greater numbers, and among
/// equally urgent slots the lower slot has the greater number.
fn ranked(urgency: u64, slot: usize) -> u64 {
    urgency.min(u32::MAX.into()) << 32 | (MAX_ENTITIES - 1 - slot) as u64
}

fn slot_of(ranked: u64) -> u16 {
    (MAX_ENTITIES as u64 - 1 - (ranked & 0xffff_ffff)) as u16
}
