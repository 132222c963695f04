use std::num::NonZeroU16;

use sim::PlayerMotion;

use super::{Baseline, DIGEST_SLOTS, Header, Lead, read_motion};
use crate::bits::{BitReader, BitWriter};
use crate::quantise::{QuantisedEntity, WorldBounds};
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
    pub motion: Option<PlayerMotion>,
    /// What has become of some entities, in the order they were carried.
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

/// Order of the code for an age that is not the common one.
const AGE_ORDER: u32 = 5;

/// Bits that a digest adds to a snapshot with slot numbers of this many bits.
pub(crate) const fn digest_bits(slot_bits: u32) -> usize {
    slot_bits as usize + DIGEST_SLOTS + u32::BITS as usize
}

impl SnapshotCodec {
    /// Writes what is in a slot: as the difference from `baseline` if that
    /// serves, else whole.
    pub fn write_record(
        &self,
        writer: &mut BitWriter,
        header: &Header,
        slot: u16,
        entity: Option<&QuantisedEntity>,
        baseline: Option<Baseline<'_>>,
    ) {
        writer.write(slot.into(), header.slot_bits);
        // 0: change from the common baseline; 10: from another; 110: whole;
        // 111: gone.
        let Some(entity) = entity else { return writer.write(0b111, 3) };
        match baseline.filter(|baseline| baseline.serves(entity)) {
            Some(baseline) => {
                let common = baseline.age == u32::from(header.common_age);
                writer.write_bit(!common);
                if !common {
                    writer.write_bit(false);
                    writer.write_count(baseline.age, AGE_ORDER);
                }
                self.write_change(writer, entity, baseline);
            }
            None => {
                writer.write(0b011, 3);
                self.write_whole(writer, entity);
            }
        }
    }

    /// Ends a snapshot with a digest.
    pub fn write_digest(&self, writer: &mut BitWriter, header: &Header, sample: &DigestSample) {
        writer.write(sample.first.into(), header.slot_bits);
        writer.write(sample.slots, 32);
        writer.write(sample.digest, 32);
    }

    /// Takes a snapshot apart. `near` is a tick the sender cannot be far from;
    /// `baseline` gives what the reader had of a slot at a tick.
    ///
    /// # Errors
    /// No server that keeps to the protocol sends these bytes, but
    /// [`DatagramError::UnknownBaseline`] also befalls a reader to whom
    /// datagrams came out of order.
    pub fn decode<'b>(
        &self,
        bytes: &[u8],
        near: Tick,
        baseline: impl Fn(u16, Tick) -> Option<&'b QuantisedEntity>,
    ) -> Result<Snapshot, DatagramError> {
        let mut reader = BitReader::new(bytes);
        let header = Header::read(&mut reader, near)?;
        let motion = if header.has_motion { Some(read_motion(&mut reader)?) } else { None };
        let mut records = Vec::with_capacity(header.records.into());
        let mut carried = [0_u64; MAX_SLOTS / 64];
        for _ in 0..header.records {
            let record = self.read_record(&mut reader, &header, &baseline)?;
            let word = &mut carried[usize::from(record.slot) / 64];
            let bit = 1 << (record.slot % 64);
            if *word & bit != 0 {
                return Err(DatagramError::RepeatedSlot { slot: record.slot });
            }
            *word |= bit;
            records.push(record);
        }
        let digest = if header.has_digest {
            let first = reader.read(header.slot_bits)? as u16;
            Some(DigestSample { first, slots: reader.read(32)?, digest: reader.read(32)? })
        } else {
            None
        };
        reader.finish()?;
        Ok(Snapshot { tick: header.tick, lead: header.lead, motion, records, digest })
    }

    fn read_record<'b>(
        &self,
        reader: &mut BitReader<'_>,
        header: &Header,
        baseline: impl Fn(u16, Tick) -> Option<&'b QuantisedEntity>,
    ) -> Result<Record, DatagramError> {
        let slot = reader.read(header.slot_bits)? as u16;
        let age = if !reader.read_bit()? {
            header.common_age.into()
        } else if !reader.read_bit()? {
            reader.read_count(AGE_ORDER)?
        } else {
            let gone = reader.read_bit()?;
            let entity = if gone { None } else { Some(self.read_whole(reader)?) };
            return Ok(Record { slot, entity });
        };
        if age == 0 {
            return Err(DatagramError::OutOfRange { field: "age of a baseline" });
        }
        let tick = header.tick.before(age);
        let tick = tick.ok_or(DatagramError::OutOfRange { field: "age of a baseline" })?;
        let entity =
            baseline(slot, tick).ok_or(DatagramError::UnknownBaseline { slot, tick: tick.0 })?;
        let entity = self.read_change(reader, Baseline { age, entity })?;
        Ok(Record { slot, entity: Some(entity) })
    }
}

impl DigestSample {
    /// The sampled slots, ascending.
    pub fn sampled(&self) -> impl Iterator<Item = u16> {
        let Self { first, slots, .. } = *self;
        (0..DIGEST_SLOTS as u16).filter(move |n| slots >> n & 1 == 1).map(move |n| first + n)
    }
}
