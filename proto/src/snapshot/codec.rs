use std::num::NonZeroU16;

use super::answer::{Answer, STILL, code_answer};
use super::models::{CHANCES, GAP, IS_AGED, IS_EMPTY, IS_SPECIAL, PRIORS};
use super::record::NOTHING;
use super::{Baseline, DIGEST_SLOTS, Header, Lead, PLAIN_BYTES};
use crate::quantise::{QuantisedEntity, WorldBounds};
use crate::range::{Coder, Decoder, Encoder};
use crate::{DatagramError, MAX_SLOTS, Tick};

/// What both ends must know of a match to write and read its snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotCodec {
    /// The lattice of positions.
    pub bounds: WorldBounds,
    /// Ticks a second.
    pub tick_rate: NonZeroU16,
}

/// A snapshot taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The tick it is of.
    pub tick: Tick,
    /// How early this client's commands arrive.
    pub lead: Option<Lead>,
    /// How the client's own player moves, if that is told.
    pub answer: Option<Answer>,
    /// What has become of some entities, in ascending order of slot.
    pub records: Vec<Record>,
    /// What the server says they add up to.
    pub digest: Option<DigestSample>,
}

/// What is in a slot at the tick of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which slot.
    pub slot: u16,
    /// The entity in it; `None` if it is gone.
    pub entity: Option<QuantisedEntity>,
}

/// What is in a slot, to be written.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Which slot.
    pub slot: u16,
    /// The entity in it; `None` if it is gone.
    pub entity: Option<&'a QuantisedEntity>,
    /// What the reader is known to have of it; used if it serves.
    pub baseline: Option<Baseline<'a>>,
}

/// The server's digest of a snapshot's records, and of some entities besides
/// that the client is known to have just so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestSample {
    /// The first slot sampled.
    pub first: u16,
    /// Bit `n` stands for the slot `first + n`.
    pub slots: u32,
    /// The digest of the records, then of the sampled slots in their order.
    pub digest: u32,
}

/// Which of the values that a reader has of a slot is a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// The one of this tick.
    At(Tick),
    /// The latest until this tick, and of it.
    Until(Tick),
}

/// Bits of a slot number that stands alone.
const SLOT_BITS: u32 = MAX_SLOTS.trailing_zeros();

/// Bits of an age that is told.
const AGE_BITS: u32 = 8;

impl SnapshotCodec {
    /// Writes a snapshot of records in ascending order of slot, as many as the
    /// header says.
    ///
    /// # Errors
    /// How many records there was room for in `limit` bytes, if not for all.
    pub fn encode<'a>(
        &self,
        header: &Header,
        answer: Option<&Answer>,
        records: impl Iterator<Item = Written<'a>>,
        digest: Option<DigestSample>,
        limit: usize,
    ) -> Result<Vec<u8>, usize> {
        let mut bytes = Vec::with_capacity(limit.min(MAX_EARNED));
        bytes.extend(header.plain());
        let mut encoder = Encoder::new(&PRIORS, bytes);
        // What a writer passes is possible: no coding below fails.
        let _ = header.code(&mut encoder);
        if let Some(answer) = answer {
            let _ = code_answer(&mut encoder, answer);
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
        if let Some(DigestSample { first, slots, digest }) = digest {
            encoder.raw(first.into(), SLOT_BITS);
            encoder.raw(slots, 32);
            encoder.raw(digest, 32);
        }
        Ok(encoder.finish())
    }

    fn write_record(
        &self,
        encoder: &mut Encoder<CHANCES>,
        header: &Header,
        &Written { slot, entity, baseline }: &Written<'_>,
        next: u16,
    ) {
        encoder.number(GAP, (slot - next).into());
        let baseline = baseline.zip(entity).filter(|(baseline, entity)| {
            let tellable = baseline.is_latest && header.acknowledged > 0;
            baseline.serves(entity) && (tellable || baseline.age < 1 << AGE_BITS)
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
                let _ = self.change(encoder, entity, baseline);
            }
            (None, Some(entity)) => {
                encoder.bit(IS_EMPTY, false);
                let _ = self.whole(encoder, entity);
            }
            (None, None) => {
                encoder.bit(IS_EMPTY, true);
            }
        }
    }

    /// Takes a snapshot apart. `near` is a tick the sender cannot be far from;
    /// `baseline` gives what the reader has of a slot.
    ///
    /// # Errors
    /// No server that keeps to the protocol sends these bytes, but
    /// [`DatagramError::UnknownBaseline`] also befalls a reader to whom
    /// datagrams came out of order.
    pub fn decode<'b>(
        &self,
        bytes: &[u8],
        near: Tick,
        baseline: impl Fn(u16, Sought) -> Option<(Tick, &'b QuantisedEntity)>,
    ) -> Result<Snapshot, DatagramError> {
        let header = Header::of_plain(bytes, near)?;
        let mut decoder = Decoder::new(&PRIORS, &bytes[PLAIN_BYTES..]);
        let snapshot = self.read(&mut decoder, header, baseline)?;
        decoder.finish()?;
        Ok(snapshot)
    }

    /// Reads what follows a header's plain bytes. [`SnapshotCodec::decode`] is
    /// what takes a datagram apart; this is for those who measure.
    ///
    /// # Errors
    /// As [`SnapshotCodec::decode`].
    pub fn read<'b>(
        &self,
        decoder: &mut impl Coder,
        header: Header,
        baseline: impl Fn(u16, Sought) -> Option<(Tick, &'b QuantisedEntity)>,
    ) -> Result<Snapshot, DatagramError> {
        let header = header.code(decoder)?;
        let answer = if header.has_answer { Some(code_answer(decoder, &STILL)?) } else { None };
        let mut records = Vec::with_capacity(header.records.into());
        let mut next = 0;
        for _ in 0..header.records {
            let slot = next + decoder.number(GAP, 0);
            let slot = u16::try_from(slot).ok().filter(|&slot| usize::from(slot) < MAX_SLOTS);
            let slot = slot.ok_or(DatagramError::OutOfRange { field: "slot" })?;
            let entity = self.read_record(decoder, &header, slot, &baseline)?;
            records.push(Record { slot, entity });
            next = u32::from(slot) + 1;
        }
        let digest = header.has_digest.then(|| DigestSample {
            first: decoder.raw(0, SLOT_BITS) as u16,
            slots: decoder.raw(0, 32),
            digest: decoder.raw(0, 32),
        });
        Ok(Snapshot { tick: header.tick, lead: header.lead, answer, records, digest })
    }

    fn read_record<'b>(
        &self,
        decoder: &mut impl Coder,
        header: &Header,
        slot: u16,
        baseline: impl Fn(u16, Sought) -> Option<(Tick, &'b QuantisedEntity)>,
    ) -> Result<Option<QuantisedEntity>, DatagramError> {
        let is_latest = !decoder.bit(IS_SPECIAL, false);
        if !is_latest && !decoder.bit(IS_AGED, false) {
            let gone = decoder.bit(IS_EMPTY, false);
            return if gone { Ok(None) } else { self.whole(decoder, &NOTHING).map(Some) };
        }
        let age = if is_latest { header.acknowledged.into() } else { decoder.raw(0, AGE_BITS) };
        let tick = header.tick.before(age).filter(|_| age > 0);
        let tick = tick.ok_or(DatagramError::OutOfRange { field: "age of a baseline" })?;
        let sought = if is_latest { Sought::Until(tick) } else { Sought::At(tick) };
        let (of, entity) =
            baseline(slot, sought).ok_or(DatagramError::UnknownBaseline { slot, tick: tick.0 })?;
        let age = u32::try_from(header.tick.distance(of)).unwrap_or(0);
        let baseline = Baseline { age, entity, is_latest };
        self.change(decoder, entity, baseline).map(Some)
    }
}

/// Bytes a datagram is given at once; most need less, few need more.
const MAX_EARNED: usize = 1500;

/// Bytes that a digest can add.
const DIGEST_BYTES: usize = 10;

impl DigestSample {
    /// The sampled slots, ascending.
    pub fn sampled(&self) -> impl Iterator<Item = u16> {
        let Self { first, slots, .. } = *self;
        (0..DIGEST_SLOTS as u16).filter(move |n| slots >> n & 1 == 1).map(move |n| first + n)
    }
}
