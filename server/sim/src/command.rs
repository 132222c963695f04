use serde::{Deserialize, Serialize};

/// What a player asks of one tick, already quantised: client and server
/// simulate the same integers, so there is nothing left to round differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Command {
    /// Wish to move along the view, -127 back to 127 forward.
    pub forward: i8,
    /// Wish to move across the view, -127 left to 127 right.
    pub right: i8,
    /// Heading about +Z, counter-clockwise from +X; 65,536 steps a turn.
    pub yaw: u16,
    /// Elevation, up positive; 65,536 steps a turn, a quarter turn at most.
    pub pitch: i16,
    /// Keys held down.
    pub buttons: Buttons,
    /// How long before the end of this tick, in sixteenths of a tick, was what
    /// the player saw of the others: a ray meets them where they stood then.
    /// Zero is where they stand.
    #[serde(default)]
    pub view_age: u16,
}

/// A set of keys held down. Unknown bits are kept out by [`Buttons::from_bits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Buttons(u8);

impl Buttons {
    /// Jump, or jump again once released.
    pub const JUMP: Self = Self(1);
    /// Crouch while held.
    pub const CROUCH: Self = Self(2);
    /// Shoot a ray.
    pub const FIRE: Self = Self(4);
    /// Walk instead of run.
    pub const WALK: Self = Self(8);

    /// Launch a rocket.
    pub const ROCKET: Self = Self(16);
    /// Throw a grenade.
    pub const GRENADE: Self = Self(32);

    /// Every key there is.
    const KNOWN: u8 = 0b11_1111;

    /// The set with these bits, or `None` if one of them names no key.
    pub fn from_bits(bits: u8) -> Option<Self> {
        (bits & !Self::KNOWN == 0).then_some(Self(bits))
    }

    /// The bits, as [`Buttons::from_bits`] takes them.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `keys` are held.
    pub fn contains(self, keys: Self) -> bool {
        self.0 & keys.0 == keys.0
    }
}

impl std::ops::BitOr for Buttons {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
