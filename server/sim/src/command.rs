use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::conventions::heading;

/// A player's input for one tick, already quantised. Client and server simulate the same integers,
/// so rounding cannot differ.
///
/// ```
/// use obsp_sim::{Buttons, Command};
///
/// // A jump straight ahead, along the y axis.
/// let buttons = Buttons::JUMP;
/// let command = Command { forward: 127, yaw: 16_384, buttons, ..Command::default() };
/// assert!(command.ahead().y > 0.999 && command.aim().y > 0.999);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Command {
    /// Motion along the view, -127 back to 127 forward.
    pub forward: i8,
    /// Motion across the view, -127 left to 127 right.
    pub right: i8,
    /// Heading about +Z, counter-clockwise from +X; 65,536 steps a turn.
    pub yaw: u16,
    /// Elevation, up positive; 65,536 steps a turn, a quarter turn at most.
    pub pitch: i16,
    /// Keys held down.
    pub buttons: Buttons,
    /// Age of the other players as this player saw them, in sixteenths of a tick before the end of
    /// this tick. A ray meets the other players at their positions of that time. With zero it meets
    /// them at their present positions.
    #[serde(default)]
    pub view_age: u16,
}

impl Command {
    /// The command to run in a horizontal direction of any length, for agents. A direction of no
    /// length gives the command to stand still.
    ///
    /// ```
    /// # use glam::DVec3;
    /// use obsp_sim::Command;
    ///
    /// let command = Command::running_towards(DVec3::new(0.0, 200.0, 50.0));
    /// assert_eq!((command.yaw, command.forward), (16_384, 127));
    /// assert_eq!(Command::running_towards(DVec3::Z), Command::default());
    /// ```
    pub fn running_towards(direction: DVec3) -> Self {
        let (x, y) = (direction.x, direction.y);
        if !x.is_finite() || !y.is_finite() || (x, y) == (0.0, 0.0) {
            return Self::default();
        }
        let turn = libm::atan2(y, x) / std::f64::consts::TAU;
        let yaw = (turn * 65_536.0).round() as i64 as u16;
        Self { yaw, forward: 127, ..Self::default() }
    }

    /// The same command, but for a player who swims up: the jump key is held, the crouch key is
    /// not, and the view is not below the horizon.
    ///
    /// ```
    /// use obsp_sim::{Buttons, Command};
    ///
    /// let dives = Command { forward: 127, pitch: -9_000, buttons: Buttons::CROUCH, ..Command::default() };
    /// let rises = dives.swimming_up();
    /// assert_eq!((rises.forward, rises.pitch, rises.buttons), (127, 0, Buttons::JUMP));
    /// ```
    #[must_use]
    pub fn swimming_up(self) -> Self {
        let kept = Buttons(self.buttons.0 & !Buttons::CROUCH.0);
        Self { pitch: self.pitch.max(0), buttons: kept | Buttons::JUMP, ..self }
    }

    /// The heading as a horizontal unit vector.
    pub fn ahead(&self) -> DVec3 {
        heading(self.yaw).extend(0.0)
    }

    /// The direction of the view as a unit vector.
    pub fn aim(&self) -> DVec3 {
        let elevation = f64::from(self.pitch) * (std::f64::consts::TAU / 65536.0);
        (heading(self.yaw) * libm::cos(elevation)).extend(libm::sin(elevation))
    }
}

/// A set of keys held down: the keys of movement, and the actions of the game by their numbers.
/// [`Buttons::from_bits`] refuses bits that a client may not send.
///
/// ```
/// use obsp_sim::Buttons;
///
/// assert_eq!(Buttons::action(0), Some(Buttons::PRIMARY));
/// assert_eq!(Buttons::action(15).map(Buttons::bits), Some(1 << 19));
/// assert_eq!(Buttons::action(16), None);
///
/// let held = Buttons::JUMP | Buttons::CROUCH;
/// assert!(held.contains(Buttons::CROUCH) && !held.contains(Buttons::WALK));
/// assert_eq!(Buttons::from_bits(held.bits()), Some(held));
/// // Only the server sets this mark.
/// assert_eq!(Buttons::from_bits(Buttons::PROTECTED.bits()), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Buttons(u32);

impl Buttons {
    /// Jump. To jump again, release it first.
    pub const JUMP: Self = Self(1);
    /// Crouch while held.
    pub const CROUCH: Self = Self(2);
    /// The first action of the game.
    pub const PRIMARY: Self = Self(4);
    /// Walk instead of run.
    pub const WALK: Self = Self(8);

    /// The second action of the game.
    pub const SECONDARY: Self = Self(16);
    /// The third action of the game.
    pub const TERTIARY: Self = Self(32);

    /// A mark that the server sets while the player's connection is lost, and not a key. The game
    /// spares the player in this tick. It is part of the command so that recordings contain it.
    pub const PROTECTED: Self = Self(64);

    /// Maximum number of actions of a game.
    pub const MAX_ACTIONS: u8 = 16;

    /// The fourth action. The actions after it have the bits above it.
    const FOURTH: u32 = 1 << 7;

    /// The actions after the third.
    const FURTHER: u32 = 0b1_1111_1111_1111 << 7;

    /// The bits of all keys.
    const KEYS: u32 = 0b11_1111 | Self::FURTHER;

    /// The action of this number, from 0; `None` from [`Buttons::MAX_ACTIONS`] on.
    pub const fn action(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::PRIMARY),
            1 => Some(Self::SECONDARY),
            2 => Some(Self::TERTIARY),
            3..Self::MAX_ACTIONS => Some(Self(Self::FOURTH << (number - 3))),
            _ => None,
        }
    }

    /// Whether an action is held for which a client sends its [`Command::view_age`]: the first one,
    /// or any after the third.
    pub fn aims(self) -> bool {
        self.0 & (Self::PRIMARY.0 | Self::FURTHER) != 0
    }

    /// The set of keys with these bits, or `None` if one of the bits names no key.
    pub fn from_bits(bits: u32) -> Option<Self> {
        (bits & !Self::KEYS == 0).then_some(Self(bits))
    }

    /// The set with these bits, as a server has recorded it, [`Buttons::PROTECTED`] included.
    /// `None` if one of the bits has no meaning.
    pub fn from_recorded_bits(bits: u32) -> Option<Self> {
        (bits & !(Self::KEYS | Self::PROTECTED.0) == 0).then_some(Self(bits))
    }

    /// The bits of the set, for [`Buttons::from_recorded_bits`].
    pub fn bits(self) -> u32 {
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
