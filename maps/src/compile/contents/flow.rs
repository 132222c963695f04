//! The directions in which a liquid flows, by the flags of Quake II and the names of Half-Life.

/// The values of the key `angle` in the order of Quake II's flags: four headings, up and down.
const ANGLES: [&str; 6] = ["0", "90", "180", "270", "-1", "-2"];

/// A set of the directions of [`ANGLES`]. Each adds a current of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compile) struct Flow(u8);

impl Flow {
    pub(super) const EAST: Self = Self(1);
    pub(super) const NORTH: Self = Self(1 << 1);
    pub(super) const WEST: Self = Self(1 << 2);
    pub(super) const SOUTH: Self = Self(1 << 3);
    pub(super) const UP: Self = Self(1 << 4);
    pub(super) const DOWN: Self = Self(1 << 5);

    /// The set with these bits; `None` if it is empty. The lowest bit is the first direction.
    pub(super) fn of_bits(bits: u32) -> Option<Self> {
        let known = (bits & ((1 << ANGLES.len()) - 1)) as u8;
        (known != 0).then_some(Self(known))
    }

    /// The key `angle` of each direction.
    pub(in crate::compile) fn angles(self) -> impl Iterator<Item = &'static str> {
        ANGLES
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| self.0 >> bit & 1 == 1)
            .map(|(_, it)| it)
    }
}
