//! Encodes and decodes snapshots.
//!
//! The server calls [`SnapshotCodec::encode`], a client [`SnapshotCodec::decode`].

use std::num::NonZeroU16;
use std::sync::Arc;

use super::authoritative_motion::{AuthoritativeMotion, UNKNOWN_MOTION, code_motion};
use super::field_values::{UNKNOWN_BLOCK, ValueBlock, code_block};
use super::probabilities::{GAP, IS_AGED, IS_EMPTY, IS_SPECIAL, PRIORS, PROBABILITY_COUNT};
use super::record::UNKNOWN_ENTITY;
use super::{Baseline, DIGEST_SLOTS, Header, Lead, PLAIN_BYTES};
use crate::quantise::{QuantisedEntity, QuantisedTraits, WorldBounds};
use crate::range::{Coder, Decoder, Encoder};
use crate::schema::{FieldValues, Schema};
use crate::{DatagramError, MAX_ENTITIES, SLOT_BITS, Tick};

/// The data of a match that both ends need to encode and decode its snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotCodec {
    /// The lattice of quantised positions.
    pub bounds: WorldBounds,
    /// Ticks per second.
    pub tick_rate: NonZeroU16,
    /// The fields of the game that is played.
    pub schema: Arc<Schema>,
}

/// A decoded snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Tick of the snapshot.
    pub tick: Tick,
    /// How early this client's commands arrive.
    pub lead: Option<Lead>,
    /// Number of ticks since the snapshot that was sent before; 0 if there was none within 255.
    pub since: u8,
    /// The authoritative motion of the client's own player, if it is carried.
    pub own_motion: Option<AuthoritativeMotion>,
    /// The values of the match, if they are carried.
    pub match_values: Option<FieldValues>,
    /// The values of the client's own player that only this client gets, if they are carried.
    pub own_values: Option<FieldValues>,
    /// The content of some slots, in ascending order.
    pub records: Vec<Record>,
    /// The server's digest, if it is carried.
    pub digest: Option<DigestSample>,
}

/// The content of a slot at the tick of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The slot.
    pub slot: u16,
    /// The entity in the slot; `None` if the slot is empty.
    pub entity: Option<QuantisedEntity>,
}

/// The content of a slot to be encoded.
#[derive(Clone, Copy, Debug)]
pub struct RecordToWrite<'a> {
    /// The slot.
    pub slot: u16,
    /// The entity in the slot; `None` if the slot is empty.
    pub entity: Option<&'a QuantisedEntity>,
    /// A value that the reader is known to have. It is used if it [serves](Baseline::serves) the
    /// entity.
    pub baseline: Option<Baseline<'a>>,
}

impl RecordToWrite<'_> {
    /// Whether the reader must be told the entity's traits.
    pub fn needs_traits(&self) -> bool {
        let Some(entity) = self.entity else { return false };
        let is_usual = entity.traits == QuantisedTraits::DEFAULT;
        match self.baseline.filter(|baseline| baseline.serves(entity)) {
            Some(baseline) => {
                let may_be_whole = baseline.age >= 1 << AGE_BITS;
                baseline.entity.traits != entity.traits || may_be_whole && !is_usual
            }
            None => !is_usual,
        }
    }
}

/// The parts of a snapshot besides its records.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extras {
    /// The authoritative motion of the client's own player.
    pub motion: Option<AuthoritativeMotion>,
    /// The values of the match.
    pub match_values: Option<ValueBlock>,
    /// The values of the client's own player that only this client gets.
    pub own_values: Option<ValueBlock>,
    /// The digest of all records.
    pub digest: Option<DigestSample>,
}

/// A reader's earlier values, from which later values are coded as changes.
pub trait Baselines<'b> {
    /// The reader's value of a slot.
    fn entity(&self, slot: u16, query: BaselineQuery) -> Option<(Tick, &'b QuantisedEntity)>;

    /// The reader's values of the match at a tick.
    fn match_values(&self, tick: Tick) -> Option<FieldValues> {
        let _ = tick;
        None
    }

    /// The reader's values of the client's own player at a tick.
    fn own_values(&self, tick: Tick) -> Option<FieldValues> {
        let _ = tick;
        None
    }
}

/// Baselines of entities alone.
impl<'b, F: Fn(u16, BaselineQuery) -> Option<(Tick, &'b QuantisedEntity)>> Baselines<'b> for F {
    fn entity(&self, slot: u16, query: BaselineQuery) -> Option<(Tick, &'b QuantisedEntity)> {
        self(slot, query)
    }
}

/// The server's digest of a snapshot's records and of some other slots. The client is known to have
/// the present content of these slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestSample {
    /// The first slot sampled.
    pub first: u16,
    /// Bit `n` stands for the slot `first + n`.
    pub slots: u32,
    /// The digest of the records, then of the sampled slots in their order.
    pub digest: u32,
}

/// The choice of a record's baseline among a reader's values of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaselineQuery {
    /// The value of this tick.
    At(Tick),
    /// The latest value of this tick or before.
    Until(Tick),
}

/// Bits of the age of a baseline.
const AGE_BITS: u32 = 8;

impl SnapshotCodec {
    /// Encodes a snapshot of records in ascending order of slot, as many as the header says. The
    /// header must name exactly the extras that are present, and must say so if a record
    /// [needs traits](RecordToWrite::needs_traits).
    ///
    /// # Errors
    /// If `limit` is too small for all records, the number of records that fit.
    pub fn encode<'a>(
        &self,
        header: &Header,
        extras: &Extras,
        records: impl Iterator<Item = RecordToWrite<'a>>,
        limit: usize,
    ) -> Result<Vec<u8>, usize> {
        let Extras { motion, match_values, own_values, digest } = extras;
        let mut bytes = Vec::with_capacity(limit.min(MAX_EARNED));
        bytes.extend(header.plain());
        let mut encoder = Encoder::new(&PRIORS, bytes);
        // A writer passes only possible values, so no coding below fails.
        let _ = header.code(&mut encoder);
        if let Some(motion) = motion {
            let _ = code_motion(&mut encoder, motion);
        }
        let fields = [self.schema.of_match(), self.schema.of_own_player()];
        for (fields, block) in fields.into_iter().zip([match_values, own_values]) {
            if let Some(block) = block {
                let _ = code_block(&mut encoder, fields, block, |_| Some(block.baseline));
            }
        }
        let reserved = if digest.is_some() { DIGEST_BYTES } else { 0 };
        let mut next = 0;
        for (count, record) in records.enumerate() {
            self.write_record(&mut encoder, header, &record, next);
            next = record.slot + 1;
            if encoder.length() + reserved > limit {
                return Err(count);
            }
        }
        if let &Some(DigestSample { first, slots, digest }) = digest {
            encoder.raw(first.into(), SLOT_BITS);
            encoder.raw(slots, 32);
            encoder.raw(digest, 32);
        }
        Ok(encoder.finish())
    }

    fn write_record(
        &self,
        encoder: &mut Encoder<PROBABILITY_COUNT>,
        header: &Header,
        &RecordToWrite { slot, entity, baseline }: &RecordToWrite<'_>,
        next: u16,
    ) {
        encoder.number(GAP, (slot - next).into());
        let baseline = baseline.zip(entity).filter(|(baseline, entity)| {
            let can_be_latest = baseline.is_latest && header.acknowledged > 0;
            baseline.serves(entity) && (can_be_latest || baseline.age < 1 << AGE_BITS)
        });
        let is_latest = baseline.is_some_and(|(baseline, _)| baseline.is_latest);
        let is_latest = is_latest && header.acknowledged > 0;
        encoder.bit(IS_SPECIAL, !is_latest);
        if !is_latest {
            encoder.bit(IS_AGED, baseline.is_some());
        }
        match (baseline, entity) {
            (Some((baseline, entity)), _) => {
                if !is_latest {
                    encoder.raw(baseline.age, AGE_BITS);
                }
                let _ = self.change(encoder, entity, baseline, header.has_traits);
            }
            (None, Some(entity)) => {
                encoder.bit(IS_EMPTY, false);
                let _ = self.whole(encoder, entity, header.has_traits);
            }
            (None, None) => {
                encoder.bit(IS_EMPTY, true);
            }
        }
    }

    /// Decodes a snapshot. `near` is a tick near that of the snapshot, such as the latest one
    /// received.
    ///
    /// # Errors
    /// The bytes violate the protocol. [`DatagramError::UnknownBaseline`] and
    /// [`DatagramError::UnknownValues`] are also returned for a valid snapshot that arrives out of
    /// order.
    pub fn decode<'b>(
        &self,
        bytes: &[u8],
        near: Tick,
        baselines: impl Baselines<'b>,
    ) -> Result<Snapshot, DatagramError> {
        let header = Header::of_plain(bytes, near)?;
        let mut decoder = Decoder::new(&PRIORS, &bytes[PLAIN_BYTES..]);
        let snapshot = self.read(&mut decoder, header, baselines)?;
        decoder.finish()?;
        Ok(snapshot)
    }

    /// Decodes the rest of a snapshot after the plain bytes of its header. Public for
    /// benchmarks; [`SnapshotCodec::decode`] decodes a datagram.
    ///
    /// # Errors
    /// The errors are those of [`SnapshotCodec::decode`].
    pub fn read<'b>(
        &self,
        decoder: &mut impl Coder,
        header: Header,
        baselines: impl Baselines<'b>,
    ) -> Result<Snapshot, DatagramError> {
        let header = header.code(decoder)?;
        let own_motion =
            if header.has_motion { Some(code_motion(decoder, &UNKNOWN_MOTION)?) } else { None };
        let before = |age: u8| header.tick.before(age.into());
        let mut match_values = None;
        if header.has_match_values {
            let baseline = |age| baselines.match_values(before(age)?);
            let fields = self.schema.of_match();
            match_values = Some(code_block(decoder, fields, &UNKNOWN_BLOCK, baseline)?.values);
        }
        let mut own_values = None;
        if header.has_own_values {
            let baseline = |age| baselines.own_values(before(age)?);
            let fields = self.schema.of_own_player();
            own_values = Some(code_block(decoder, fields, &UNKNOWN_BLOCK, baseline)?.values);
        }
        let mut records = Vec::with_capacity(header.records.into());
        let mut next = 0;
        for _ in 0..header.records {
            let slot = next + decoder.number(GAP, 0);
            let slot = u16::try_from(slot).ok().filter(|&slot| usize::from(slot) < MAX_ENTITIES);
            let slot = slot.ok_or(DatagramError::OutOfRange { field: "slot" })?;
            let entity = self.read_record(decoder, &header, slot, &baselines)?;
            records.push(Record { slot, entity });
            next = u32::from(slot) + 1;
        }
        let digest = header.has_digest.then(|| DigestSample {
            first: decoder.raw(0, SLOT_BITS) as u16,
            slots: decoder.raw(0, 32),
            digest: decoder.raw(0, 32),
        });
        let Header { tick, lead, since, .. } = header;
        Ok(Snapshot { tick, lead, since, own_motion, match_values, own_values, records, digest })
    }

    fn read_record<'b>(
        &self,
        decoder: &mut impl Coder,
        header: &Header,
        slot: u16,
        baselines: &impl Baselines<'b>,
    ) -> Result<Option<QuantisedEntity>, DatagramError> {
        let is_latest = !decoder.bit(IS_SPECIAL, false);
        if !is_latest && !decoder.bit(IS_AGED, false) {
            let gone = decoder.bit(IS_EMPTY, false);
            if gone {
                return Ok(None);
            }
            return self.whole(decoder, &UNKNOWN_ENTITY, header.has_traits).map(Some);
        }
        let age = if is_latest { header.acknowledged.into() } else { decoder.raw(0, AGE_BITS) };
        let tick = header.tick.before(age).filter(|_| age > 0);
        let tick = tick.ok_or(DatagramError::OutOfRange { field: "age of a baseline" })?;
        let query = if is_latest { BaselineQuery::Until(tick) } else { BaselineQuery::At(tick) };
        let (of, entity) = baselines
            .entity(slot, query)
            .ok_or(DatagramError::UnknownBaseline { slot, tick: tick.0 })?;
        let age = u32::try_from(header.tick.distance(of)).unwrap_or(0);
        let baseline = Baseline { age, entity, is_latest };
        self.change(decoder, entity, baseline, header.has_traits).map(Some)
    }
}

/// Maximum number of bytes that are allocated in advance for a datagram. Few datagrams need more.
const MAX_EARNED: usize = 1500;

/// Maximum number of bytes that a digest adds.
const DIGEST_BYTES: usize = 10;

impl DigestSample {
    /// The sampled slots, ascending.
    pub fn sampled(&self) -> impl Iterator<Item = u16> {
        let Self { first, slots, .. } = *self;
        (0..DIGEST_SLOTS as u16).filter(move |n| slots >> n & 1 == 1).map(move |n| first + n)
    }
}
