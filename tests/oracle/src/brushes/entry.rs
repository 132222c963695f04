//! Exact first entries of segments into brushes.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use super::Brushes;
use super::halfspace::ratio;

/// An exact fraction with a positive denominator.
#[derive(Clone, Debug)]
pub struct Fraction {
    numerator: BigInt,
    denominator: BigInt,
}

/// The first entry of a segment into the inside of a brush.
#[derive(Clone, Debug)]
pub enum Entry {
    /// The start is strictly inside a brush.
    StartsInside,
    /// The segment enters from outside or from the surface.
    At {
        /// Fraction of the segment, exact.
        time: Fraction,
        /// Outward unit normal of the face through which it enters, rounded.
        normal: [f64; 3],
        /// Line of the brush.
        line: usize,
    },
}

impl Fraction {
    pub(super) fn new(numerator: BigInt, denominator: BigInt) -> Self {
        if denominator.sign() == Sign::Minus {
            Self { numerator: -numerator, denominator: -denominator }
        } else {
            Self { numerator, denominator }
        }
    }

    /// The nearest float, or one next to it.
    pub fn rounded(&self) -> f64 {
        ratio(&self.numerator, &self.denominator)
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

impl Brushes {
    /// The exact first entry of the segment into the inside of a brush; `None` if the segment at
    /// most touches surfaces. Brushes are open sets here: the seam between two of them is inside
    /// neither.
    pub fn first_entry(&self, start: [f64; 3], end: [f64; 3]) -> Option<Entry> {
        let mut first: Option<(Fraction, [f64; 3], usize)> = None;
        for brush in self.near(start, end, 0.0) {
            let (mut enter, mut leave): (Option<(Fraction, [f64; 3])>, Option<Fraction>) =
                (None, None);
            let mut misses = false;
            for h in &brush.halfspaces {
                let (from, to) = (h.side(start), h.side(end));
                if from != Ordering::Less && to != Ordering::Less {
                    misses = true;
                    break;
                }
                if from == Ordering::Less && to == Ordering::Less {
                    continue;
                }
                let [a, b] = h.scaled_distances([start, end]);
                let time = Fraction::new(a.clone(), a - b);
                if to == Ordering::Less {
                    if enter.as_ref().is_none_or(|(t, _)| time > *t) {
                        enter = Some((time, h.unit()));
                    }
                } else if leave.as_ref().is_none_or(|t| time < *t) {
                    leave = Some(time);
                }
            }
            if misses {
                continue;
            }
            let Some((time, normal)) = enter else { return Some(Entry::StartsInside) };
            let inside = leave.is_none_or(|leave| time < leave);
            if inside && first.as_ref().is_none_or(|(t, ..)| time < *t) {
                first = Some((time, normal, brush.line));
            }
        }
        first.map(|(time, normal, line)| Entry::At { time, normal, line })
    }
}
