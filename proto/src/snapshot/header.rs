use super::Lead;
use super::models::{ACKNOWLEDGED, HAS_LEAD, LEAD, RECORDS};
use crate::range::Coder;
use crate::{DatagramError, Tick};

/// What a datagram is: its lowest two bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// From the server.
    Snapshot = 0,
    /// From a client.
    Commands = 1,
}

impl DatagramKind {
    /// Checks that a datagram claims to be of this kind.
    pub(crate) fn expect(self, kind: u32) -> Result<(), DatagramError> {
        if kind == self as u32 { Ok(()) } else { Err(DatagramError::UnknownKind { kind }) }
    }
}

/// Bytes of a snapshot that are not coded: flags and the tick.
pub const PLAIN_BYTES: usize = 3;

const HAS_DIGEST: u8 = 1 << 2;
const HAS_ANSWER: u8 = 1 << 3;
const KIND: u8 = 0b11;

/// The usual lead, in its own units: what clients steer for, rounded down.
const USUAL_LEAD: i32 = 5;

/// What a snapshot begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The tick it is of.
    pub tick: Tick,
    /// Whether a digest ends it.
    pub has_digest: bool,
    /// Whether an answer to what the client predicted follows.
    pub has_answer: bool,
    /// How early the client's commands arrive.
    pub lead: Option<Lead>,
    /// How many ticks before its own the latest snapshot is that is known to
    /// have arrived; 0 if there is none so late.
    pub acknowledged: u8,
    /// How many records follow.
    pub records: u8,
}

impl Header {
    /// The bytes that are not coded.
    pub(super) fn plain(&self) -> [u8; PLAIN_BYTES] {
        let flag = |is_set: bool, flag| if is_set { flag } else { 0 };
        let flags = flag(self.has_digest, HAS_DIGEST) | flag(self.has_answer, HAS_ANSWER);
        let [low, high] = self.tick.low_bits().to_le_bytes();
        [DatagramKind::Snapshot as u8 | flags, low, high]
    }

    /// The header that these bytes begin, as far as it is not coded; `near` is
    /// a tick that the sender cannot be far from.
    ///
    /// # Errors
    /// It ends early, or has a value no header has.
    pub fn of_plain(bytes: &[u8], near: Tick) -> Result<Self, DatagramError> {
        let Some(&[flags, low, high]) = bytes.first_chunk() else {
            return Err(DatagramError::Truncated);
        };
        DatagramKind::Snapshot.expect((flags & KIND).into())?;
        if flags & !(KIND | HAS_DIGEST | HAS_ANSWER) != 0 {
            return Err(DatagramError::OutOfRange { field: "reserved bits" });
        }
        let tick = Tick::from_low_bits(u16::from_le_bytes([low, high]), near)
            .ok_or(DatagramError::OutOfRange { field: "tick" })?;
        let (has_digest, has_answer) = (flags & HAS_DIGEST != 0, flags & HAS_ANSWER != 0);
        Ok(Self { tick, has_digest, has_answer, lead: None, acknowledged: 0, records: 0 })
    }

    /// Codes the rest.
    ///
    /// # Errors
    /// A lead comes out that there cannot be.
    pub(super) fn code(&self, coder: &mut impl Coder) -> Result<Self, DatagramError> {
        let mut lead = None;
        if coder.bit(HAS_LEAD, self.lead.is_some()) {
            let quarters = self.lead.map_or(0, |lead| i32::from(lead.quarters()));
            let quarters = USUAL_LEAD + coder.signed(LEAD, quarters - USUAL_LEAD);
            let told = Lead::from_quarters(quarters);
            lead = Some(told.ok_or(DatagramError::OutOfRange { field: "lead" })?);
        }
        let acknowledged = coder.number(ACKNOWLEDGED, self.acknowledged.into()) as u8;
        let records = coder.number(RECORDS, self.records.into()) as u8;
        Ok(Self { lead, acknowledged, records, ..*self })
    }
}
