//! The header of a snapshot.

use super::Lead;
use super::probabilities::{ACKNOWLEDGED, HAS_LEAD, LEAD, RECORDS, SINCE};
use crate::range::Coder;
use crate::{DatagramError, Tick};

/// The kind of a datagram: its lowest two bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// A snapshot, from the server.
    Snapshot = 0,
    /// Commands, from a client.
    Commands = 1,
    /// Effects, from the server.
    Effects = 2,
}

impl DatagramKind {
    /// Whether a datagram claims to be of this kind.
    pub(crate) fn is_of(self, datagram: &[u8]) -> bool {
        datagram.first().is_some_and(|first| first & KIND == self as u8)
    }

    /// Checks that a received kind is this one.
    pub(crate) fn expect(self, kind: u32) -> Result<(), DatagramError> {
        if kind == self as u32 { Ok(()) } else { Err(DatagramError::UnknownKind { kind }) }
    }
}

/// Bytes at the beginning of a snapshot that are not range coded: flags and the tick.
pub const PLAIN_BYTES: usize = 3;

const HAS_DIGEST: u8 = 1 << 2;
const HAS_MOTION: u8 = 1 << 3;
const HAS_MATCH_VALUES: u8 = 1 << 4;
const HAS_OWN_VALUES: u8 = 1 << 5;
const HAS_TRAITS: u8 = 1 << 6;
const KIND: u8 = 0b11;

/// The lead that clients steer for, in quarters of a tick. Leads are coded as differences from it.
const USUAL_LEAD: i32 = 5;

/// The header of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The tick of the snapshot.
    pub tick: Tick,
    /// Whether a digest follows the records.
    pub has_digest: bool,
    /// Whether the client's own motion precedes the records.
    pub has_motion: bool,
    /// Whether values of the match precede the records.
    pub has_match_values: bool,
    /// Whether the header is followed by values of the client's own player that only this client
    /// gets.
    pub has_own_values: bool,
    /// Whether each record says if the traits of its entity have changed.
    pub has_traits: bool,
    /// How early the client's commands arrive.
    pub lead: Option<Lead>,
    /// Number of ticks from the latest snapshot known to have arrived to this one; 0 if there is
    /// none within 255 ticks.
    pub acknowledged: u8,
    /// Number of records.
    pub records: u8,
    /// Number of ticks from the snapshot that was sent before to this one; 0 if there was none
    /// within 255 ticks. A client uses it to tell a lost snapshot from one that was not sent.
    pub since: u8,
}

impl Header {
    /// The bytes that are not range coded.
    pub(super) fn plain(&self) -> [u8; PLAIN_BYTES] {
        let flag = |is_set: bool, flag| if is_set { flag } else { 0 };
        let flags = flag(self.has_digest, HAS_DIGEST)
            | flag(self.has_motion, HAS_MOTION)
            | flag(self.has_match_values, HAS_MATCH_VALUES)
            | flag(self.has_own_values, HAS_OWN_VALUES)
            | flag(self.has_traits, HAS_TRAITS);
        let [low, high] = self.tick.low_bits().to_le_bytes();
        [DatagramKind::Snapshot as u8 | flags, low, high]
    }

    /// Decodes the bytes that are not range coded. `near` is a tick near that of the snapshot.
    ///
    /// # Errors
    /// The bytes end too early, or have an impossible value.
    pub fn of_plain(bytes: &[u8], near: Tick) -> Result<Self, DatagramError> {
        let Some(&[flags, low, high]) = bytes.first_chunk() else {
            return Err(DatagramError::Truncated);
        };
        DatagramKind::Snapshot.expect((flags & KIND).into())?;
        const ALL: u8 =
            KIND | HAS_DIGEST | HAS_MOTION | HAS_MATCH_VALUES | HAS_OWN_VALUES | HAS_TRAITS;
        if flags & !ALL != 0 {
            return Err(DatagramError::OutOfRange { field: "reserved bits" });
        }
        let tick = Tick::from_low_bits(u16::from_le_bytes([low, high]), near)
            .ok_or(DatagramError::OutOfRange { field: "tick" })?;
        Ok(Self {
            tick,
            has_digest: flags & HAS_DIGEST != 0,
            has_motion: flags & HAS_MOTION != 0,
            has_match_values: flags & HAS_MATCH_VALUES != 0,
            has_own_values: flags & HAS_OWN_VALUES != 0,
            has_traits: flags & HAS_TRAITS != 0,
            lead: None,
            acknowledged: 0,
            records: 0,
            since: 0,
        })
    }

    /// Codes the fields that the plain bytes do not hold.
    ///
    /// # Errors
    /// The reader gets a lead that is out of range.
    pub(super) fn code(&self, coder: &mut impl Coder) -> Result<Self, DatagramError> {
        let mut lead = None;
        if coder.bit(HAS_LEAD, self.lead.is_some()) {
            let quarters = self.lead.map_or(0, |lead| i32::from(lead.quarters()));
            let quarters = USUAL_LEAD + coder.signed(LEAD, quarters - USUAL_LEAD);
            let decoded = Lead::from_quarters(quarters);
            lead = Some(decoded.ok_or(DatagramError::OutOfRange { field: "lead" })?);
        }
        let acknowledged = coder.number(ACKNOWLEDGED, self.acknowledged.into()) as u8;
        let records = coder.number(RECORDS, self.records.into()) as u8;
        let since = coder.number(SINCE, self.since.into()) as u8;
        Ok(Self { lead, acknowledged, records, since, ..*self })
    }
}
