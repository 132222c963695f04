//! The traits of an entity that seldom change, as a snapshot carries them.

use glam::DVec3;
use obsp_sim::{Attachment, CollisionLayers, EntityId, Substance, Traits};

use super::{QuantisedOrientation, STEPS_PER_UNIT};

/// Bits of a component of an offset from a carrier. The least possible component is encoded as 0.
pub const OFFSET_BITS: u32 = 16;

/// The component of an offset that stands for zero.
const NO_OFFSET: i32 = 1 << (OFFSET_BITS - 1);

/// Which others an entity may meet, and whether it is visible and solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuantisedTraits {
    /// Which other entities the entity may meet.
    pub layers: CollisionLayers,
    /// Whether clients draw the entity.
    pub visible: bool,
    /// Whether the entity is solid.
    pub substance: QuantisedSubstance,
}

/// Whether an entity is solid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QuantisedSubstance {
    /// It takes room.
    #[default]
    Solid,
    /// It is a picture without a body.
    Intangible,
    /// It is a picture that follows another entity. A client computes its pose, so the position,
    /// the velocity and the orientation of such an entity are always those of
    /// [`QuantisedEntity::quantise`](super::QuantisedEntity::quantise): the first point of the
    /// lattice, zero, and no rotation.
    Attached {
        /// The carrier.
        to: EntityId,
        /// The offset in the carrier's frame, in steps of the lattice, plus 2^15.
        offset: [u16; 3],
        /// The rotation from the entity's axes to the carrier's.
        rotation: QuantisedOrientation,
    },
}

impl QuantisedTraits {
    /// Visible, solid, and on the usual layers.
    pub const DEFAULT: Self = Self {
        layers: CollisionLayers::DEFAULT,
        visible: true,
        substance: QuantisedSubstance::Solid,
    };

    /// Rounds the traits of an entity.
    pub fn quantise(traits: &Traits) -> Self {
        let substance = match traits.substance {
            Substance::Solid => QuantisedSubstance::Solid,
            Substance::Intangible => QuantisedSubstance::Intangible,
            Substance::Attached(Attachment { to, offset, rotation }) => {
                // `as` saturates and turns NaN into 0.
                let steps = |part: f64| (part * f64::from(STEPS_PER_UNIT)).round() as i32;
                QuantisedSubstance::Attached {
                    to,
                    offset: offset.to_array().map(|part| {
                        steps(part).saturating_add(NO_OFFSET).clamp(0, u16::MAX.into()) as u16
                    }),
                    rotation: QuantisedOrientation::quantise(rotation),
                }
            }
        };
        Self { layers: traits.layers, visible: traits.visible, substance }
    }

    /// The traits as clients decode them.
    pub fn dequantise(&self) -> Traits {
        let substance = match self.substance {
            QuantisedSubstance::Solid => Substance::Solid,
            QuantisedSubstance::Intangible => Substance::Intangible,
            QuantisedSubstance::Attached { to, offset, rotation } => {
                let units =
                    |part: u16| f64::from(i32::from(part) - NO_OFFSET) / f64::from(STEPS_PER_UNIT);
                Substance::Attached(Attachment {
                    to,
                    offset: DVec3::from_array(offset.map(units)),
                    rotation: rotation.orientation(),
                })
            }
        };
        Traits { layers: self.layers, visible: self.visible, substance }
    }

    /// Whether a client computes the entity's pose from its carrier's.
    pub fn is_attached(&self) -> bool {
        matches!(self.substance, QuantisedSubstance::Attached { .. })
    }
}

impl Default for QuantisedTraits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
