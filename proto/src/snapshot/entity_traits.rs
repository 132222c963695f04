//! Codes the traits of an entity, which only snapshots with a mark in their header carry.

use obsp_sim::{CollisionLayers, EntityId};

use super::record::whole_orientation;
use crate::quantise::{OFFSET_BITS, QuantisedOrientation, QuantisedSubstance, QuantisedTraits};
use crate::range::Coder;
use crate::{DatagramError, MAX_ENTITIES, SLOT_BITS};

/// Codes whether the traits differ from `old`, and if they do, the traits as a whole. Traits change
/// so seldom that no probabilities are kept for them.
pub(super) fn code_traits(
    coder: &mut impl Coder,
    traits: &QuantisedTraits,
    old: &QuantisedTraits,
) -> Result<QuantisedTraits, DatagramError> {
    if coder.raw((traits != old).into(), 1) == 0 {
        return Ok(*old);
    }
    let mut layers = CollisionLayers::DEFAULT;
    if coder.raw((traits.layers != layers).into(), 1) == 1 {
        layers.layers = coder.raw(traits.layers.layers, 32);
        layers.mask = coder.raw(traits.layers.mask, 32);
    }
    let visible = coder.raw(traits.visible.into(), 1) == 1;
    let kind = match traits.substance {
        QuantisedSubstance::Solid => 0,
        QuantisedSubstance::Intangible => 1,
        QuantisedSubstance::Attached { .. } => 2,
    };
    let substance = match coder.raw(kind, 2) {
        0 => QuantisedSubstance::Solid,
        1 => QuantisedSubstance::Intangible,
        2 => code_attachment(coder, &traits.substance)?,
        _ => return Err(DatagramError::OutOfRange { field: "substance" }),
    };
    Ok(QuantisedTraits { layers, visible, substance })
}

fn code_attachment(
    coder: &mut impl Coder,
    substance: &QuantisedSubstance,
) -> Result<QuantisedSubstance, DatagramError> {
    let (to, offset, rotation) = match *substance {
        QuantisedSubstance::Attached { to, offset, rotation } => (to, offset, rotation),
        // A reader's placeholder.
        QuantisedSubstance::Solid | QuantisedSubstance::Intangible => {
            (EntityId { slot: 0, generation: 0 }, [0; 3], QuantisedOrientation::default())
        }
    };
    let slot = coder.raw(to.slot.into(), SLOT_BITS) as u16;
    if usize::from(slot) >= MAX_ENTITIES {
        return Err(DatagramError::OutOfRange { field: "carrier" });
    }
    let generation = coder.raw(to.generation.into(), 16) as u16;
    let offset = offset.map(|part| coder.raw(part.into(), OFFSET_BITS) as u16);
    let rotation = whole_orientation(coder, rotation)?;
    Ok(QuantisedSubstance::Attached { to: EntityId { slot, generation }, offset, rotation })
}
