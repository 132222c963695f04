//! Keyframes, packed: bytes that have occurred before are predicted, others are coded by
//! their probability.
//!
//! A prediction is the byte that followed when the same eight bytes occurred last, in the
//! bytes so far or in those of a reference, the first keyframe (Bloom's LZP, 1996). A body
//! that sleeps is the same bytes in every keyframe, and those of one that lies still contain
//! its pose several times.

use obsp_proto::range::{Coder, Decoder, Encoder};

/// Most bytes that are packed.
pub(crate) const MAX_UNPACKED: usize = 1 << 24;

/// Bytes that have to be the same for a prediction.
const CONTEXT: usize = 8;

/// Number of places that are remembered: those of a keyframe and of a reference.
const PLACES: usize = 1 << 16;

/// Probabilities that a prediction is right, by how many have been.
const RUNS: usize = 16;

/// Sets of probabilities of a byte, by the byte before.
const CLASSES: usize = 32;

const PROBABILITIES: usize = RUNS + CLASSES * 256;

const PRIORS: [u8; PROBABILITIES] = [128; PROBABILITIES];

/// Predicts the next byte of a buffer.
struct Predictor {
    /// Where the bytes of this hash occurred last, and went on.
    places: Vec<u32>,
    /// The place of the prediction; zero if there is none.
    next: usize,
    /// How many predictions in a row were right.
    run: usize,
}

impl Predictor {
    fn new(reference: &[u8]) -> Self {
        let mut predictor = Self { places: vec![0; PLACES], next: 0, run: 0 };
        for end in CONTEXT..=reference.len() {
            let hash = hash(&reference[..end]);
            predictor.places[hash] = end as u32;
        }
        predictor
    }

    fn prediction(&self, bytes: &[u8]) -> Option<u8> {
        if self.next == 0 { None } else { bytes.get(self.next).copied() }
    }

    /// A byte was added to the end of `bytes`, predicted or not.
    fn added(&mut self, bytes: &[u8], predicted: bool) {
        if predicted {
            (self.next, self.run) = (self.next + 1, (self.run + 1).min(RUNS - 1));
        } else {
            (self.next, self.run) = (0, 0);
        }
        if bytes.len() < CONTEXT {
            return;
        }
        let hash = hash(bytes);
        if self.next == 0 {
            let place = self.places[hash] as usize;
            let context = &bytes[bytes.len() - CONTEXT..];
            if place >= CONTEXT && bytes[place - CONTEXT..place] == *context {
                self.next = place;
            }
        }
        self.places[hash] = bytes.len() as u32;
    }
}

/// That of the last bytes.
fn hash(bytes: &[u8]) -> usize {
    let mut last = [0; CONTEXT];
    last.copy_from_slice(&bytes[bytes.len() - CONTEXT..]);
    let mixed = u64::from_le_bytes(last).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 48) as usize % PLACES
}

/// Codes `length` bytes in either direction, and appends them to `bytes`. A writer gives
/// each by `byte`; a reader's are ignored.
fn code(coder: &mut impl Coder, bytes: &mut Vec<u8>, length: usize, byte: impl Fn(usize) -> u8) {
    let mut predictor = Predictor::new(bytes);
    for index in 0..length {
        let own = byte(index);
        let prediction = predictor.prediction(bytes);
        let predicted = prediction.filter(|&byte| coder.bit(predictor.run, byte == own));
        let next = predicted.unwrap_or_else(|| {
            let before = bytes.last().map_or(0, |byte| usize::from(*byte >> 3));
            literal(coder, RUNS + before * 256, own)
        });
        bytes.push(next);
        predictor.added(bytes, predicted.is_some());
    }
}

/// Codes a byte, the highest bit first.
fn literal(coder: &mut impl Coder, at: usize, byte: u8) -> u8 {
    let mut known = 1_usize;
    for bit in (0..8).rev() {
        let bit = coder.bit(at + known, byte >> bit & 1 == 1);
        known = known << 1 | usize::from(bit);
    }
    known as u8
}

/// The bytes, packed; `None` if there are too many.
pub(crate) fn pack(bytes: &[u8], reference: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() > MAX_UNPACKED {
        return None;
    }
    let mut encoder = Box::new(Encoder::new(&PRIORS, (bytes.len() as u32).to_le_bytes().to_vec()));
    let mut buffer = reference.to_vec();
    code(&mut *encoder, &mut buffer, bytes.len(), |index| bytes[index]);
    Some(encoder.finish())
}

/// What was packed with the same reference; `None` if it was not.
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
    fn what_is_packed_is_unpacked_to_the_same_bytes() {
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
            // Of random bytes, no context occurs twice by chance.
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
