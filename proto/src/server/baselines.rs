use std::collections::VecDeque;
use std::sync::Arc;

use sim::{EntityId, PlayerMotion};

use super::own_motion::{OwnMotion, OwnPlayer};
use super::relevance::{self, Viewer};
use crate::bits::BitWriter;
use crate::commands::Acknowledgement;
use crate::quantise::{Quantised, QuantisedEntity};
use crate::snapshot::{
    BASELINES_KEPT, Baseline, DIGEST_INTERVAL, DIGEST_SLOTS, Digest, DigestSample, Header,
    MIN_SNAPSHOT, SnapshotCodec, digest_bits, write_motion,
};
use crate::{DatagramError, MAX_SLOTS, Tick};

/// Snapshots remembered until they are acknowledged: more than the window of
/// an acknowledgement and a round trip of a second, fewer than would let a
/// client that never acknowledges cost much.
const HISTORY: usize = 128;

/// Urgency of news that are due just now; those overdue twice as long have
/// twice as much.
const DUE: u64 = 256;

/// What one client is known to have, slot by slot, and what is on its way.
///
/// Time is told by the revisions of the quantiser, in which 0 means never, so
/// that what needs to be sent follows from comparing three numbers a slot.
#[derive(Debug)]
pub(super) struct Baselines {
    codec: SnapshotCodec,
    player: EntityId,
    joined: Tick,
    slots: Vec<Slot>,
    motion: OwnMotion,
    history: VecDeque<SentSnapshot>,
    /// The latest revision that is known to have arrived.
    arrived: u32,
    snapshots: u32,
    /// Where the next digest begins to sample.
    next_sample: usize,
    /// Room for what is worked out anew for each snapshot: slots to send with
    /// their urgency in the higher bits.
    urgent: Vec<u64>,
}

/// What is known of one slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The revision that was sent last.
    sent: u32,
    /// The tick that it was sent in.
    sent_tick: Tick,
    /// The generation that was sent; `None` if the slot was empty.
    sent_generation: Option<u16>,
    /// How often anything was sent.
    sends: u32,
    /// The last revision that was acknowledged.
    acknowledged: u32,
    /// The tick that it was sent in.
    acknowledged_tick: Tick,
    /// The number of that sending.
    acknowledged_send: u32,
    /// What was sent then.
    acknowledged_entity: Option<QuantisedEntity>,
}

/// A snapshot that the client may yet acknowledge.
#[derive(Debug)]
struct SentSnapshot {
    state: Arc<Quantised>,
    acknowledged: bool,
    /// Whether it carried the client's own motion.
    has_motion: bool,
    /// Each slot carried, with the number of its sending.
    carried: Vec<(u16, u32)>,
}

/// A snapshot, ready to be sent.
pub(super) struct Encoded {
    pub(super) datagram: Vec<u8>,
    pub(super) records: usize,
    pub(super) postponed: usize,
}

impl Baselines {
    /// Nothing is known of a client that joins as `player` after `joined`.
    pub(super) fn new(codec: SnapshotCodec, player: EntityId, joined: Tick) -> Self {
        Self {
            codec,
            player,
            joined,
            slots: Vec::new(),
            motion: OwnMotion::default(),
            history: VecDeque::new(),
            arrived: 0,
            snapshots: 0,
            next_sample: 0,
            urgent: Vec::new(),
        }
    }

    /// The tick of the last snapshot, or of the join.
    pub(super) fn latest_tick(&self) -> Tick {
        self.history.back().map_or(self.joined, |sent| sent.state.tick())
    }

    /// Takes in what the client says it has; gives how many snapshots that
    /// were not known to have arrived.
    pub(super) fn acknowledge(
        &mut self,
        acknowledgement: Acknowledgement,
    ) -> Result<usize, DatagramError> {
        let mut news = 0;
        for tick in acknowledgement.ticks() {
            // What has left the history may or may not have been sent.
            if self.history.front().is_some_and(|sent| tick < sent.state.tick()) {
                break;
            }
            let index = self
                .history
                .binary_search_by_key(&tick, |sent| sent.state.tick())
                .map_err(|_| DatagramError::UnsentAcknowledged { tick: tick.0 })?;
            news += usize::from(self.acknowledge_snapshot(index));
        }
        Ok(news)
    }

    /// Makes what a snapshot carried the baseline of its slots, unless a later
    /// one is already; whether that was news.
    fn acknowledge_snapshot(&mut self, index: usize) -> bool {
        let sent = &mut self.history[index];
        if std::mem::replace(&mut sent.acknowledged, true) {
            return false;
        }
        self.arrived = self.arrived.max(sent.state.revision());
        if sent.has_motion {
            self.motion.arrived(sent.state.tick());
        }
        for &(index, send) in &sent.carried {
            let slot = &mut self.slots[usize::from(index)];
            if send > slot.acknowledged_send {
                slot.acknowledged = sent.state.revision();
                slot.acknowledged_tick = sent.state.tick();
                slot.acknowledged_send = send;
                slot.acknowledged_entity = sent.state.entity(index.into()).copied();
            }
        }
        true
    }

    /// Writes the snapshot of `state`, which is of a later tick than the last.
    pub(super) fn encode(
        &mut self,
        state: &Arc<Quantised>,
        own: &OwnPlayer,
        limit: usize,
    ) -> Option<Encoded> {
        let is_later = self.history.back().is_none_or(|SentSnapshot { state: last, .. }| {
            last.tick() < state.tick() && last.revision() < state.revision()
        });
        if limit < MIN_SNAPSHOT || !is_later || state.tick() < self.joined {
            return None;
        }
        self.slots.resize(state.slots().max(self.slots.len()), Slot::default());
        self.rank(state);

        let motion = self.motion.take_due(state.tick(), own, self.codec.tick_rate);
        let header = self.header(state, own, motion.as_ref());
        let mut writer = BitWriter::with_capacity(limit.min(MAX_EARNED));
        header.write(&mut writer);
        if let Some(motion) = &motion {
            write_motion(&mut writer, motion);
        }
        let reserved = if header.has_digest { digest_bits(header.slot_bits) } else { 0 };
        let mut carried = self.recycled();
        for &ranked in self.urgent.iter().take(u8::MAX.into()) {
            let index = slot_of(ranked);
            let mark = writer.mark();
            let entity = state.entity(index.into());
            let baseline = self.slots[usize::from(index)].baseline(state.tick());
            self.codec.write_record(&mut writer, &header, index, entity, baseline);
            if writer.bit_count() + reserved > limit * 8 {
                writer.rewind(mark);
                break;
            }
            let slot = &mut self.slots[usize::from(index)];
            slot.sends += 1;
            slot.sent = state.revision();
            slot.sent_tick = state.tick();
            slot.sent_generation = entity.map(|entity| entity.generation);
            carried.push((index, slot.sends));
        }
        // No more than 255 were taken.
        Header::set_records(&mut writer, carried.len() as u8);
        if header.has_digest {
            let sample = self.sample(state, &carried);
            self.codec.write_digest(&mut writer, &header, &sample);
        }
        self.snapshots = self.snapshots.wrapping_add(1);
        let records = carried.len();
        self.history.push_back(SentSnapshot {
            state: Arc::clone(state),
            acknowledged: false,
            has_motion: motion.is_some(),
            carried,
        });
        Some(Encoded { datagram: writer.finish(), records, postponed: self.urgent.len() - records })
    }

    /// Lists the slots of which news are due, the most urgent first: urgency is
    /// the time since anything was sent over the time that there should be
    /// between news, so whatever waits rises until it is sent.
    fn rank(&mut self, state: &Quantised) {
        self.urgent.clear();
        let own = usize::from(self.player.slot);
        let viewer = state.entity(own).map(Viewer::of);
        for (index, slot) in self.slots.iter().enumerate() {
            let entity = state.entity(index);
            if !slot.needs(state.changed(index), entity, self.arrived) {
                continue;
            }
            let interval = match entity {
                Some(entity) => {
                    let (viewer, own) = (viewer.as_ref(), index == own);
                    relevance::interval(viewer, entity, own, self.codec.tick_rate)
                }
                None => 1,
            };
            let since = if slot.sent == 0 { self.joined } else { slot.sent_tick };
            let age = state.tick().distance(since).max(0) as u64;
            // What the client has never heard of, and what is not what it was,
            // is due at once.
            let is_new =
                slot.sent == 0 || slot.sent_generation != entity.map(|entity| entity.generation);
            if is_new || age >= u64::from(interval) {
                let overdue = if is_new { age.max(u64::from(interval)) } else { age };
                self.urgent.push(ranked(overdue * DUE / u64::from(interval), index));
            }
        }
        self.urgent.sort_unstable_by(|a, b| b.cmp(a));
    }

    fn header(&self, state: &Quantised, own: &OwnPlayer, motion: Option<&PlayerMotion>) -> Header {
        // Whatever is sent with every snapshot has the latest acknowledged one
        // as its baseline.
        let common_age = self
            .history
            .iter()
            .rev()
            .find(|sent| sent.acknowledged)
            .and_then(|sent| u8::try_from(state.tick().distance(sent.state.tick())).ok());
        Header {
            tick: state.tick(),
            has_digest: self.snapshots.is_multiple_of(DIGEST_INTERVAL),
            slot_bits: usize::BITS - self.slots.len().saturating_sub(1).leading_zeros(),
            lead: own.lead,
            has_motion: motion.is_some(),
            common_age: common_age.unwrap_or(0),
            records: 0,
        }
    }

    /// The digest of what is carried, and of settled slots from where the last
    /// sample ended.
    fn sample(&mut self, state: &Quantised, carried: &[(u16, u32)]) -> DigestSample {
        let mut digest = Digest::new(state.tick());
        for &(slot, _) in carried {
            digest.add(slot, state.entity(slot.into()));
        }
        let first = if self.next_sample < self.slots.len() { self.next_sample } else { 0 };
        self.next_sample = first + DIGEST_SLOTS;
        let mut slots = 0;
        for (bit, index) in (first..self.slots.len()).take(DIGEST_SLOTS).enumerate() {
            let entity = state.entity(index);
            if self.slots[index].is_settled(state.changed(index), entity) {
                slots |= 1 << bit;
                digest.add(index as u16, entity);
            }
        }
        DigestSample { first: first as u16, slots, digest: digest.finish() }
    }

    /// Forgets the oldest snapshot if there are too many, and gives its list
    /// to be filled anew.
    fn recycled(&mut self) -> Vec<(u16, u32)> {
        if self.history.len() < HISTORY {
            return Vec::new();
        }
        let mut carried = self.history.pop_front().map_or_else(Vec::new, |sent| sent.carried);
        carried.clear();
        carried
    }
}

/// Bytes a datagram is given at once; most need less, few need more.
const MAX_EARNED: usize = 1500;

impl Slot {
    /// Whether the client may lack the content that last changed at `changed`.
    fn needs(&self, changed: u32, entity: Option<&QuantisedEntity>, arrived: u32) -> bool {
        if self.sent == 0 {
            return entity.is_some();
        }
        if self.sent < changed {
            return true;
        }
        // What was sent is up to date: lost if something later has arrived.
        self.acknowledged != self.sent && self.sent <= arrived
    }

    /// Whether the client is known to have the content that last changed at
    /// `changed`, and nothing older can be taken for it.
    fn is_settled(&self, changed: u32, entity: Option<&QuantisedEntity>) -> bool {
        if self.sent == 0 {
            return entity.is_none();
        }
        self.sent >= changed && self.acknowledged == self.sent
    }

    /// What the entity may be told by its difference from, at `tick`.
    fn baseline(&self, tick: Tick) -> Option<Baseline<'_>> {
        let entity = self.acknowledged_entity.as_ref()?;
        let age = u32::try_from(tick.distance(self.acknowledged_tick)).ok()?;
        let kept = ((self.sends - self.acknowledged_send) as usize) < BASELINES_KEPT;
        (kept && age > 0).then_some(Baseline { age, entity })
    }
}

/// A slot with its urgency, such that the greater is the more urgent, and of
/// equals the one in the lower slot.
fn ranked(urgency: u64, slot: usize) -> u64 {
    urgency.min(u32::MAX.into()) << 32 | (MAX_SLOTS - 1 - slot) as u64
}

fn slot_of(ranked: u64) -> u16 {
    (MAX_SLOTS as u64 - 1 - (ranked & 0xffff_ffff)) as u16
}
