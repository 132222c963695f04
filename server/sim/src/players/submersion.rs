//! How deep a player is in a liquid, by the map alone. So clients that predict know it as well.

use glam::{DVec3, Vec3};
use obsp::{LiquidKind, Map};

/// Height of the feet's point above the lowest point of the box, in units, as in Quake.
const FEET: f64 = 1.0;
/// Height of the eyes above the lowest point of the box, as a share of the box's height: 50 of 56
/// units for a player of the usual size who stands, as in Quake III.
const EYES: f64 = 50.0 / 56.0;

/// How much of a player is in a liquid: the water levels 1 to 3 of Quake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// The feet. The player wades.
    Feet = 1,
    /// Up to half the height of the eyes. The player swims, and has air.
    Waist = 2,
    /// The eyes as well. The player swims, and has no air.
    Eyes = 3,
}

/// The liquid that a player is in, and how deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Submersion {
    /// The liquid at the feet.
    pub kind: LiquidKind,
    /// How much of the player is in a liquid.
    pub depth: Depth,
}

impl Submersion {
    /// The submersion of a box with this half height at `position`; `None` if the feet are in no
    /// liquid.
    #[inline]
    pub(crate) fn of(map: &Map, half_height: f64, position: Vec3) -> Option<Self> {
        if map.liquids().is_empty() {
            return None;
        }
        let lowest = position.as_dvec3() - DVec3::Z * half_height;
        let eyes = eye_height(half_height);
        let kind = map.liquid_at(feet(half_height, position))?;
        let is_in = |height: f64| map.liquid_at(lowest + DVec3::Z * height).is_some();
        let depth = match () {
            () if !is_in(eyes * 0.5) => Depth::Feet,
            () if !is_in(eyes) => Depth::Waist,
            () => Depth::Eyes,
        };
        Some(Self { kind, depth })
    }

    /// Whether the player swims, and neither walks nor falls.
    pub fn swims(self) -> bool {
        self.depth >= Depth::Waist
    }
}

/// The point of a box with this half height at `position` that decides in which liquid the player
/// is, and in which current.
#[inline]
pub(crate) fn feet(half_height: f64, position: Vec3) -> DVec3 {
    position.as_dvec3() - DVec3::Z * half_height + DVec3::Z * FEET
}

/// Height of the eyes above the lowest point of a box with this half height, in units.
pub(crate) fn eye_height(half_height: f64) -> f64 {
    2.0 * half_height * EYES
}
