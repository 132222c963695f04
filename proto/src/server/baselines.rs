use std::collections::VecDeque;
use std::sync::Arc;

use sim::EntityId;

use super::own_motion::{OwnMotion, OwnPlayer};
use super::relevance::{self, Viewer};
use crate::commands::Acknowledgement;
use crate::quantise::{Quantised, QuantisedEntity};
use crate::snapshot::{
    Answer, BASELINES_KEPT, Baseline, DIGEST_INTERVAL, DIGEST_SLOTS, Digest, DigestSample, Header,
    MIN_SNAPSHOT, SnapshotCodec, Written,
};
use crate::{DatagramError, MAX_SLOTS, Tick};

/// Snapshots remembered until they are acknowledged: more than the window of
/// an acknowledgement and a round trip of a second, fewer than would let a
/// client that never acknowledges cost much.
const HISTORY: usize = 128;

/// Ticks of sendings that are remembered of each slot: a round trip in which it
/// is sent every tick, of a quarter of a second at 60 Hz.
const SENDINGS: usize = 16;

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
    /// The client's own entity; a spectator has none.
    player: Option<EntityId>,
    joined: Tick,
    /// Apart from `slots`, because every slot's is looked at each tick.
    known: Vec<Known>,
    slots: Vec<Slot>,
    /// The ticks of each slot's latest sendings, by their number modulo what is
    /// kept.
    sendings: Vec<[Tick; SENDINGS]>,
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
    /// The tick that `urgent` was worked out for, if it has not been used.
    chosen: Option<Tick>,
    carried: Vec<u16>,
}

/// Which content of one slot is with the client, or on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The revision that was sent last.
    sent: u32,
    /// The last revision that was acknowledged.
    acknowledged: u32,
}

/// What else is known of one slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The tick in which anything was sent last.
    sent_tick: Tick,
    /// The generation that was sent; `None` if the slot was empty.
    sent_generation: Option<u16>,
    /// How often anything was sent.
    sends: u32,
    /// The tick in which that was sent which was acknowledged last.
    acknowledged_tick: Tick,
    /// The number of that sending.
    acknowledged_send: u32,
    /// What was sent then.
    acknowledged_entity: Option<QuantisedEntity>,
    /// The tick of the first sending after that, if there was one; tick 0 if
    /// it is too long ago to be known.
    next_tick: Option<Tick>,
}

/// A snapshot that the client may yet acknowledge.
#[derive(Debug)]
struct SentSnapshot {
    state: Arc<Quantised>,
    acknowledged: bool,
    /// Whether it carried an answer.
    has_answer: bool,
    /// Each slot carried, ascending, with the number of its sending.
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
    pub(super) fn new(codec: SnapshotCodec, player: Option<EntityId>, joined: Tick) -> Self {
        Self {
            codec,
            player,
            joined,
            known: Vec::new(),
            slots: Vec::new(),
            sendings: Vec::new(),
            carried: Vec::new(),
            motion: OwnMotion::default(),
            history: VecDeque::new(),
            arrived: 0,
            snapshots: 0,
            next_sample: 0,
            urgent: Vec::new(),
            chosen: None,
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
        if sent.has_answer {
            self.motion.arrived(sent.state.tick());
        }
        for &(index, send) in &sent.carried {
            let slot = &mut self.slots[usize::from(index)];
            if send > slot.acknowledged_send {
                self.known[usize::from(index)].acknowledged = sent.state.revision();
                slot.acknowledged_tick = sent.state.tick();
                slot.acknowledged_send = send;
                let later = slot.sends - send;
                let next = self.sendings[usize::from(index)][(send + 1) as usize % SENDINGS];
                let is_kept = later as usize <= SENDINGS;
                slot.next_tick = (later > 0).then_some(if is_kept { next } else { Tick(0) });
                slot.acknowledged_entity = sent.state.entity(index.into()).copied();
            }
        }
        true
    }

    /// Whether `state` can be told of after all that was.
    fn is_later(&self, state: &Quantised) -> bool {
        let last = self.history.back().map(|sent| &sent.state);
        last.is_none_or(|last| last.tick() < state.tick() && last.revision() < state.revision())
            && state.tick() >= self.joined
    }

    /// Works out which slots the snapshot of `state` is to tell of.
    pub(super) fn choose(&mut self, state: &Quantised) {
        if !self.is_later(state) {
            return;
        }
        let slots = state.slots().max(self.slots.len());
        self.known.resize(slots, Known::default());
        self.slots.resize(slots, Slot::default());
        self.sendings.resize(slots, [Tick(0); SENDINGS]);
        self.rank(state);
        self.chosen = Some(state.tick());
    }

    /// Writes the snapshot of `state`, which is of a later tick than the last.
    pub(super) fn encode(
        &mut self,
        state: &Arc<Quantised>,
        own: &OwnPlayer,
        limit: usize,
    ) -> Option<Encoded> {
        if limit < MIN_SNAPSHOT || !self.is_later(state) {
            return None;
        }
        if self.chosen != Some(state.tick()) {
            self.choose(state);
        }
        self.chosen = None;

        let answer = self.motion.take_due(state.tick(), own, self.codec.tick_rate);
        let header = self.header(state, own, answer.as_ref());
        let mut count = self.urgent.len().min(usize::from(u8::MAX));
        let mut slots = std::mem::take(&mut self.carried);
        let datagram = loop {
            slots.clear();
            slots.extend(self.urgent[..count].iter().map(|&ranked| slot_of(ranked)));
            slots.sort_unstable();
            // No more than 255 were taken.
            let header = Header { records: count as u8, ..header };
            match self.write(state, &header, answer.as_ref(), &slots, limit) {
                Ok(datagram) => break datagram,
                // Others may be longer: a little less than there was room for.
                Err(fit) => count = (fit * 15 / 16).min(count.saturating_sub(1)),
            }
        };
        if header.has_digest {
            let next = self.next_sample + DIGEST_SLOTS;
            self.next_sample = if next < self.slots.len() { next } else { 0 };
        }
        let mut carried = self.recycled();
        carried.extend(slots.iter().map(|&index| (index, self.note(state, index))));
        self.carried = slots;
        self.snapshots = self.snapshots.wrapping_add(1);
        let records = carried.len();
        self.history.push_back(SentSnapshot {
            state: Arc::clone(state),
            acknowledged: false,
            has_answer: answer.is_some(),
            carried,
        });
        Some(Encoded { datagram, records, postponed: self.urgent.len() - records })
    }

    /// Notes that a slot is sent as it is in `state`; gives the sending's number.
    fn note(&mut self, state: &Quantised, index: u16) -> u32 {
        let entity = state.entity(index.into());
        let slot = &mut self.slots[usize::from(index)];
        slot.sends += 1;
        self.known[usize::from(index)].sent = state.revision();
        slot.sent_tick = state.tick();
        slot.sent_generation = entity.map(|entity| entity.generation);
        slot.next_tick = slot.next_tick.or(Some(state.tick()));
        self.sendings[usize::from(index)][slot.sends as usize % SENDINGS] = state.tick();
        slot.sends
    }

    /// Writes these slots, if they fit; gives how many would, if not.
    fn write(
        &self,
        state: &Quantised,
        header: &Header,
        answer: Option<&Answer>,
        carried: &[u16],
        limit: usize,
    ) -> Result<Vec<u8>, usize> {
        let acknowledged = state.tick().before(header.acknowledged.into()).unwrap_or_default();
        let records = carried.iter().map(|&slot| Written {
            slot,
            entity: state.entity(slot.into()),
            baseline: self.slots[usize::from(slot)].baseline(state.tick(), acknowledged),
        });
        let digest = header.has_digest.then(|| self.sample(state, carried));
        self.codec.encode(header, answer, records, digest, limit)
    }

    /// Lists the slots of which news are due, the most urgent first: urgency is
    /// the time since anything was sent over the time that there should be
    /// between news, so whatever waits rises until it is sent.
    fn rank(&mut self, state: &Quantised) {
        self.urgent.clear();
        let own = self.player.map(|player| usize::from(player.slot));
        let viewer = own.and_then(|own| state.entity(own)).map(Viewer::of);
        let longest = i64::from(relevance::longest(self.codec.tick_rate));
        for (index, known) in self.known.iter().enumerate() {
            let slot = &self.slots[index];
            // What moves and is where it was, as one that runs against a wall,
            // is told of again: whoever hears nothing cannot know that.
            let lingers =
                || state.speed(index) > 0.0 && state.tick().distance(slot.sent_tick) >= longest;
            if !known.may_lack(state.changed(index), self.arrived) && !lingers() {
                continue;
            }
            let entity = state.entity(index);
            let is_unheard = known.sent == 0;
            if is_unheard && entity.is_none() {
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
            let since = if is_unheard { self.joined } else { slot.sent_tick };
            let age = state.tick().distance(since).max(0) as u64;
            // What the client has never heard of, what is not what it was, and
            // what was lost on the way is due at once.
            let is_new = is_unheard
                || known.is_lost(self.arrived)
                || slot.sent_generation != entity.map(|entity| entity.generation);
            if is_new || age >= u64::from(interval) {
                let overdue = if is_new { age.max(u64::from(interval)) } else { age };
                self.urgent.push(ranked(overdue * DUE / u64::from(interval), index));
            }
        }
        self.urgent.sort_unstable_by(|a, b| b.cmp(a));
    }

    fn header(&self, state: &Quantised, own: &OwnPlayer, answer: Option<&Answer>) -> Header {
        let acknowledged = self
            .history
            .iter()
            .rev()
            .find(|sent| sent.acknowledged)
            .and_then(|sent| u8::try_from(state.tick().distance(sent.state.tick())).ok());
        Header {
            tick: state.tick(),
            has_digest: self.snapshots.is_multiple_of(DIGEST_INTERVAL),
            lead: own.lead,
            has_answer: answer.is_some(),
            acknowledged: acknowledged.unwrap_or(0),
            records: 0,
        }
    }

    /// The digest of what is carried, and of settled slots from where the last
    /// sample ended.
    fn sample(&self, state: &Quantised, carried: &[u16]) -> DigestSample {
        let mut digest = Digest::new(state.tick());
        for &slot in carried {
            digest.add(slot, state.entity(slot.into()));
        }
        let first = self.next_sample;
        let mut slots = 0;
        for (bit, index) in (first..self.slots.len()).take(DIGEST_SLOTS).enumerate() {
            let entity = state.entity(index);
            let is_carried = carried.binary_search(&(index as u16)).is_ok();
            if !is_carried && self.known[index].is_settled(state.changed(index), entity) {
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

impl Known {
    /// Whether the client may lack the content that last changed at `changed`,
    /// 0 if there never was any.
    fn may_lack(&self, changed: u32, arrived: u32) -> bool {
        self.sent < changed || self.is_lost(arrived)
    }

    /// Whether what was sent last did not come, though something as late did.
    fn is_lost(&self, arrived: u32) -> bool {
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
}

impl Slot {
    /// What the entity may be told by its difference from, at `tick`,
    /// in a snapshot that calls the one of `acknowledged` so.
    fn baseline(&self, tick: Tick, acknowledged: Tick) -> Option<Baseline<'_>> {
        let entity = self.acknowledged_entity.as_ref()?;
        let age = u32::try_from(tick.distance(self.acknowledged_tick)).ok()?;
        let kept = ((self.sends - self.acknowledged_send) as usize) < BASELINES_KEPT;
        let is_latest = self.acknowledged_tick <= acknowledged
            && self.next_tick.is_none_or(|next| next > acknowledged);
        (kept && age > 0).then_some(Baseline { age, entity, is_latest })
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
