//! The table of initial probabilities of a snapshot's range coder, and the entries of each kind of
//! decision. "Whether A, by B" means: B selects one of several entries for the decision whether A.

use crate::range::Number;
use crate::schema::MAX_FIELDS;

/// Initial probabilities of the range coder in every snapshot, in 256ths: for each kind of
/// decision, how often it was a 1 in a fight of 32 players among 500 props
/// (`cargo bench -p obsp-proto -- priors`). `PROTOCOL.md` prints the same table.
#[rustfmt::skip]
pub const PRIORS: [u8; PROBABILITY_COUNT] = [
    254, 205, 128, 6, 128, 128, 128, 128, 128, 250, 250, 192, 128, 6, 128, 128,
    128, 250, 250, 250, 215, 80, 7, 121, 6, 224, 237, 226, 215, 208, 196, 170,
    116, 68, 28, 6, 128, 16, 58, 39, 55, 253, 252, 219, 167, 81, 2, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 231, 150, 76, 231, 242, 244, 243, 230,
    208, 186, 136, 2, 196, 254, 253, 253, 251, 248, 245, 233, 224, 182, 2, 128,
    52, 2, 14, 33, 11, 169, 4, 50, 194, 238, 223, 195, 165, 146, 73, 4,
    2, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 130, 233, 222, 189, 160, 134, 78, 2, 128, 128,
    202, 229, 208, 188, 123, 144, 104, 2, 21, 128, 215, 241, 228, 200, 183, 152,
    79, 6, 2, 128, 70, 140, 246, 241, 247, 217, 58, 11, 12, 128, 95, 148,
    223, 229, 230, 204, 48, 4, 37, 128, 110, 198, 233, 232, 223, 190, 69, 35,
    10, 7, 136, 211, 197, 176, 146, 134, 124, 74, 10, 3, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    41, 170, 172, 158, 118, 109, 9, 6, 128, 128, 202, 182, 160, 141, 96, 71,
    79, 68, 3, 128, 231, 231, 216, 190, 165, 147, 128, 86, 28, 2, 13, 48,
    100, 83, 69, 7, 128, 128, 128, 128, 105, 111, 104, 92, 65, 67, 45, 18,
    128, 128, 150, 202, 185, 162, 139, 131, 122, 49, 2, 128, 2, 68, 208, 197,
    157, 179, 178, 163, 161, 118, 96, 38, 12, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 253, 249, 243, 229, 215, 207, 191, 162, 135, 85, 29, 2, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 46, 195, 178, 150, 189, 195, 191, 164, 159, 61, 108,
    18, 162, 205, 162, 78, 57, 132, 114, 128, 128, 128, 199, 57, 74, 220, 219,
    167, 166, 188, 186, 144, 146, 120, 81, 4, 254, 252, 248, 237, 231, 220, 208,
    184, 146, 79, 20, 3, 251, 243, 222, 189, 134, 166, 157, 130, 124, 64, 28,
    27, 253, 251, 244, 232, 219, 211, 194, 162, 138, 86, 33, 2, 99, 248, 243,
    219, 241, 252, 246, 231, 218, 21, 71, 39, 128, 216, 179, 154, 228, 250, 234,
    219, 208, 53, 60, 10, 128, 239, 224, 205, 228, 249, 242, 224, 211, 68, 23,
    18, 254, 252, 229, 239, 252, 245, 238, 228, 180, 106, 10, 70, 227, 232, 174,
    236, 247, 235, 226, 220, 188, 66, 35, 15, 252, 252, 236, 243, 247, 240, 229,
    214, 177, 105, 37, 15, 96, 173, 172, 132, 135, 133, 117, 97, 72, 89, 79,
    90, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 251, 246, 236, 222, 207, 193, 187,
    168, 162, 143, 118, 72, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 26, 83, 127,
    99, 134, 117, 96, 6, 128, 128, 128, 128, 171, 169, 145, 85, 80, 101, 121,
    37, 90, 37, 128, 128, 195, 206, 195, 155, 146, 146, 111, 95, 93, 96, 54,
    18, 247, 240, 226, 188, 207, 165, 197, 190, 167, 147, 2, 128, 240, 226, 197,
    177, 152, 106, 141, 99, 80, 35, 13, 128, 253, 249, 243, 229, 213, 198, 189,
    176, 165, 145, 118, 71, 6, 15, 103, 76, 181, 229, 27, 128, 128, 128, 128,
    128, 62, 135, 121, 53, 52, 93, 10, 128, 128, 128, 128, 128, 71, 169, 161,
    138, 125, 120, 118, 117, 94, 172, 4, 128, 248, 238, 232, 193, 154, 110, 30,
    241, 15, 128, 128, 128, 233, 204, 171, 120, 107, 96, 38, 119, 15, 128, 128,
    128, 253, 249, 243, 227, 210, 190, 179, 161, 149, 141, 104, 51, 180, 254, 254,
    254, 245, 235, 222, 167, 142, 147, 51, 2, 199, 254, 254, 254, 251, 242, 233,
    195, 159, 145, 62, 2, 123, 208, 41, 165, 208, 216, 212, 204, 193, 168, 147,
    123, 96, 55, 141, 181, 205, 195, 195, 180, 152, 130, 76, 54, 18, 145, 136,
    164, 168, 173, 176, 174, 139, 85, 63, 118, 207, 189, 140, 162, 153, 160, 182,
    132, 109, 118, 69, 217, 224, 194, 139, 140, 160, 145, 147, 97, 65, 124, 232,
    240, 230, 207, 167, 130, 137, 122, 96, 72, 69, 245, 251, 249, 246, 234, 216,
    188, 160, 131, 108, 70, 48, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40,
    40, 40, 40, 40, 40, 40, 64, 255, 96, 96, 96, 96, 254, 40,
    100, 60, 40, 40, 40, 40,
];

/// Number of probabilities.
pub const PROBABILITY_COUNT: usize = SINCE.at + SINCE.width;

/// Whether the lead of the commands is carried.
pub(super) const HAS_LEAD: usize = 0;
/// Difference of that lead from the usual one.
pub(super) const LEAD: Number = Number { at: 1, width: 8 };
pub(super) const ACKNOWLEDGED: Number = after(LEAD, 8);
pub(super) const RECORDS: Number = after(ACKNOWLEDGED, 8);
/// Number of slots that are left out between two carried ones.
pub(super) const GAP: Number = after(RECORDS, 12);
/// Whether a record is not a change from the latest value.
pub(super) const IS_SPECIAL: usize = GAP.at + GAP.width;
/// Whether a record that is not such a change is a change from an older value.
pub(super) const IS_AGED: usize = IS_SPECIAL + 1;
/// Whether a record that is coded without a baseline stands for an empty slot.
pub(super) const IS_EMPTY: usize = IS_AGED + 1;

/// The parts of an entity that is coded whole.
pub(super) const GENERATION: Number = Number { at: IS_EMPTY + 1, width: 16 };
pub(super) const IS_PROP: usize = GENERATION.at + GENERATION.width;
pub(super) const RESTS: usize = IS_PROP + 1;
pub(super) const MOVES: usize = RESTS + 1;
pub(super) const SPEED: Number = Number { at: MOVES + 1, width: 9 };
pub(super) const TILT: Number = after(SPEED, 10);

/// Whether an entity is asleep: for each kind, by whether the baseline was asleep.
pub(super) const ASLEEP: usize = TILT.at + TILT.width;
/// Whether a player crouches, by whether the baseline crouched.
pub(super) const CROUCHES: usize = ASLEEP + 4;
/// Whether an entity falls: for each kind, by whether the baseline moved up or down.
pub(super) const FALLS: usize = CROUCHES + 2;
/// Changes of velocity: for each kind and axis, by the size of the changes on the axes before.
pub(super) const VELOCITY: Family = Family { at: FALLS + 4, width: 10, count: 2 * 3 * 3 };
/// Whether an entity was relocated.
pub(super) const RELOCATED: usize = VELOCITY.end();
/// Errors of the predicted position: for each kind and axis, by whether the velocity
/// changed and by the size of the errors on the axes before.
pub(super) const POSITION: Family = Family { at: RELOCATED + 1, width: 12, count: 2 * 3 * 2 * 3 };
/// Changes of heading, by whether the velocity changed.
pub(super) const YAW: Family = Family { at: POSITION.end(), width: 12, count: 2 };
/// `TURNS`: whether the orientation changed, by whether the entity moves. `FLIPS`: whether another
/// component of the orientation is the largest.
pub(super) const TURNS: usize = YAW.end();
pub(super) const FLIPS: usize = TURNS + 2;
/// Changes of components: the first one, then the others by the size of the changes before.
pub(super) const TURN: Family = Family { at: FLIPS + 1, width: 11, count: 1 + 6 };

/// `VALUES_CHANGE`: whether any value of an entity's fields changed. `VALUE_CHANGES`: for each
/// field, whether its value changed.
pub(super) const VALUES_CHANGE: usize = TURN.end();
pub(super) const VALUE_CHANGES: usize = VALUES_CHANGE + 1;
/// `LEAPS`: whether a value changed by more than a step can code. `STEP`: the step, if the value
/// did not leap.
pub(super) const LEAPS: usize = VALUE_CHANGES + MAX_FIELDS;
pub(super) const STEP: Number = Number { at: LEAPS + 1, width: 5 };

/// Number of ticks since the snapshot before.
pub(super) const SINCE: Number = after(STEP, 8);

/// Several numbers of one width, in consecutive entries of the table.
#[derive(Clone, Copy)]
pub(super) struct Family {
    at: usize,
    width: usize,
    count: usize,
}

impl Family {
    pub(super) fn number(self, index: usize) -> Number {
        debug_assert!(index < self.count);
        Number { at: self.at + index * self.width, width: self.width }
    }

    /// Maximum number of bits of one of the numbers.
    pub(super) fn width(self) -> usize {
        self.width
    }

    const fn end(self) -> usize {
        self.at + self.count * self.width
    }
}

const fn after(number: Number, width: usize) -> Number {
    Number { at: number.at + number.width, width }
}
