//! Packing of keyframes. Bytes that have occurred before are predicted. Other bytes are coded by
//! their probability.
//!
//! A prediction is the byte that followed when the same eight bytes occurred last, in the bytes so
//! far or in a reference, which is another keyframe (Bloom's LZP, 1996). The prediction goes on
//! after a wrong byte, because in a keyframe only the numbers of moving bodies differ from the
//! reference, and only in some of their bytes. A sleeping body has the same bytes in every
//! keyframe.

use obsp_proto::range::{Coder, Decoder, Encoder};

/// Maximum number of bytes that are packed.
pub(crate) const MAX_UNPACKED: usize = 1 << 24;

/// Number of bytes that have to be equal for a prediction.
const CONTEXT: usize = 8;

/// Number of places that are remembered, in a keyframe and its reference together.
const PLACES: usize = 1 << 17;

/// A run of right predictions is counted exactly up to `TOLD_APART`, and then by powers of two up
/// to `MOST_RIGHT`. After `MOST_WRONG` wrong predictions, the predictor gives up its place.
const TOLD_APART: usize = 15;
const MOST_RIGHT: usize = 1 << 10;
const RIGHT: usize = TOLD_APART + 8;
const MOST_WRONG: usize = 24;

/// The number of probabilities that a prediction is right: one for each length of the run of
/// earlier predictions and each kind of the predicted byte.
const RUNS: usize = RIGHT + MOST_WRONG;
const KINDS: usize = 4;
const HITS: usize = RUNS * KINDS;

/// The number of sets of probabilities for a byte: 32 for the classes of the predicted byte, and 32
/// for the classes of the previous byte, which are used without a prediction.
const CLASSES: usize = 2 * 32;

const PROBABILITIES: usize = HITS + CLASSES * 256;

static PRIORS: [u8; PROBABILITIES] = [128; PROBABILITIES];

/// Predicts the next byte of a buffer.
struct Predictor {
    /// For each hash, the place behind the latest bytes with this hash.
    places: Vec<u32>,
    /// The place of the predicted byte.
    next: Option<usize>,
    /// Right predictions in a row.
    right: usize,
    /// Wrong predictions since the last right one.
    wrong: usize,
}

impl Predictor {
    fn new(reference: &[u8]) -> Self {
        let mut places = vec![0; PLACES];
        for end in CONTEXT..=reference.len() {
            places[hash(&reference[..end])] = end as u32;
        }
        Self { places, next: (!reference.is_empty()).then_some(0), right: 0, wrong: 0 }
    }

    fn prediction(&self, bytes: &[u8]) -> Option<u8> {
        self.next.map(|next| bytes[next])
    }

    /// Index of the probability that the prediction is right.
    fn run(&self) -> usize {
        match (self.right, self.wrong) {
            (right @ 0..=TOLD_APART, 0) => right,
            // Runs from 16 to 1024.
            (right, 0) => TOLD_APART + right.ilog2() as usize - 3,
            (_, wrong) => RIGHT - 1 + wrong,
        }
    }

    /// Updates the predictor after a byte was added to the end of `bytes`. `predicted` says whether
    /// the byte was the predicted one.
    fn added(&mut self, bytes: &[u8], predicted: bool) {
        if predicted {
            (self.right, self.wrong) = ((self.right + 1).min(MOST_RIGHT), 0);
        } else {
            (self.right, self.wrong) = (0, self.wrong + 1);
        }
        self.next = self.next.filter(|_| self.wrong < MOST_WRONG).map(|next| next + 1);
        if bytes.len() < CONTEXT {
            return;
        }
        let hash = hash(bytes);
        if self.next.is_none() || self.right < CONTEXT {
            let place = self.places[hash] as usize;
            let context = &bytes[bytes.len() - CONTEXT..];
            if place >= CONTEXT && bytes[place - CONTEXT..place] == *context {
                (self.next, self.right, self.wrong) = (Some(place), CONTEXT, 0);
            }
        }
        self.places[hash] = bytes.len() as u32;
    }
}

/// The hash of the last [`CONTEXT`] bytes.
fn hash(bytes: &[u8]) -> usize {
    let mut last = [0; CONTEXT];
    last.copy_from_slice(&bytes[bytes.len() - CONTEXT..]);
    let mixed = u64::from_le_bytes(last).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as usize % PLACES
}

/// The kind of a predicted byte: zero, the last byte of a common `f64`, the first byte of a number
/// of two bytes or more, or any other.
fn kind(byte: u8) -> usize {
    match byte & 127 {
        _ if byte == 0 => 0,
        0x3e..=0x41 => 1,
        0x7b..=0x7e => 2,
        _ => 3,
    }
}

/// Encodes or decodes `length` bytes, as `coder` does, and appends them to `bytes`. An encoder
/// takes each byte from `byte`. A decoder ignores `byte`.
fn code(coder: &mut impl Coder, bytes: &mut Vec<u8>, length: usize, byte: impl Fn(usize) -> u8) {
    let mut predictor = Predictor::new(bytes);
    for index in 0..length {
        let own = byte(index);
        let prediction = predictor.prediction(bytes);
        let predicted =
            prediction.filter(|&byte| coder.bit(predictor.run() * KINDS + kind(byte), byte == own));
        let next = predicted.unwrap_or_else(|| {
            let before = || bytes.last().map_or(0, |byte| usize::from(*byte >> 3));
            let class = prediction.map_or_else(before, |byte| 32 + usize::from(byte >> 3));
            self::byte(coder, HITS + class * 256, own)
        });
        bytes.push(next);
        predictor.added(bytes, predicted.is_some());
    }
}

/// Encodes or decodes a byte, the highest bit first.
pub(crate) fn byte(coder: &mut impl Coder, at: usize, byte: u8) -> u8 {
    let mut known = 1_usize;
    for bit in (0..8).rev() {
        let bit = coder.bit(at + known, byte >> bit & 1 == 1);
        known = known << 1 | usize::from(bit);
    }
    known as u8
}

/// Packs bytes; `None` if there are too many.
pub(crate) fn pack(bytes: &[u8], reference: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() > MAX_UNPACKED {
        return None;
    }
    let mut encoder = Box::new(Encoder::new(&PRIORS, (bytes.len() as u32).to_le_bytes().to_vec()));
    let mut buffer = reference.to_vec();
    code(&mut *encoder, &mut buffer, bytes.len(), |index| bytes[index]);
    Some(encoder.finish())
}

/// Unpacks bytes that were packed with this reference; `None` if they were packed with another one.
pub(crate) fn unpack(packed: &[u8], reference: &[u8]) -> Option<Vec<u8>> {
    let (length, packed) = packed.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_UNPACKED {
        return None;
    }
    let mut decoder = Box::new(Decoder::new(&PRIORS, packed));
    let mut buffer = reference.to_vec();
    code(&mut *decoder, &mut buffer, length, |_| 0);
    decoder.finish().ok()?;
    Some(buffer.split_off(reference.len()))
}

#[cfg(test)]
mod tests {
    use obsp_sim::Random;

    use super::*;

    #[test]
    fn packed_bytes_unpack_to_the_same() {
        let seed = 3;
        let mut random = Random::new(seed);
        for round in 0..60 {
            let bytes: Vec<u8> = (0..random.below(3_000))
                .map(|index| match round % 3 {
                    0 => random.bits() as u8,
                    1 => (index / 7) as u8,
                    _ => random.below(3) as u8,
                })
                .collect();
            let reference: Vec<u8> = bytes.iter().rev().copied().take(round * 10).collect();
            for reference in [&reference[..], &bytes, &[]] {
                let packed = pack(&bytes, reference).expect("few bytes");
                let where_ = || format!("seed {seed}, round {round}");
                assert_eq!(unpack(&packed, reference).as_deref(), Some(&bytes[..]), "{}", where_());
                assert_eq!(unpack(&[&packed[..], &[0]].concat(), reference), None, "{}", where_());
            }
            let again = pack(&bytes, &bytes).expect("few bytes").len();
            // In random bytes, no context occurs twice by chance.
            let few = 40 + bytes.len() / 50;
            assert!(!round.is_multiple_of(3) || again < few, "{again} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn bytes_that_claim_to_be_many_are_refused() {
        assert_eq!(unpack(&[255, 255, 255, 255], &[]), None);
        assert_eq!(unpack(&[1, 0, 0], &[]), None);
    }
}
