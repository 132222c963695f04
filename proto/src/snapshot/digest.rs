//! The digest by which client and server check that they agree.

use obsp_sim::{CollisionLayers, Posture};

use crate::Tick;
use crate::quantise::{QuantisedBody, QuantisedEntity, QuantisedSubstance, QuantisedTraits};
use crate::schema::Schema;

/// A 32-bit FNV-1a hash of quantised entities: enough to detect a defect, and simple to implement
/// in any language. It does not protect against forgery, because a forger could also send wrong
/// entities.
#[derive(Clone, Debug)]
pub struct Digest(u32);

const OFFSET_BASIS: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

impl Digest {
    /// The digest of the tick alone.
    pub fn new(tick: Tick) -> Self {
        let mut digest = Self(OFFSET_BASIS);
        digest.bytes(&tick.0.to_le_bytes());
        digest
    }

    /// Adds the content of a slot, which may be empty.
    pub fn add(&mut self, slot: u16, entity: Option<&QuantisedEntity>, schema: &Schema) {
        self.bytes(&slot.to_le_bytes());
        let Some(entity) = entity else { return self.bytes(&[0]) };
        let (kind, detail) = match entity.body {
            QuantisedBody::Player { posture, .. } => (1, u8::from(posture == Posture::Crouching)),
            QuantisedBody::Prop { model, driven, .. } => (2 + u8::from(driven), model.0),
        };
        self.bytes(&[kind]);
        self.bytes(&entity.generation.to_le_bytes());
        self.bytes(&[u8::from(entity.asleep), detail]);
        entity.position.iter().for_each(|axis| self.bytes(&axis.to_le_bytes()));
        entity.velocity.iter().for_each(|axis| self.bytes(&axis.to_le_bytes()));
        match entity.body {
            QuantisedBody::Player { yaw, .. } => self.bytes(&yaw.to_le_bytes()),
            QuantisedBody::Prop { orientation, .. } => {
                self.bytes(&[orientation.largest()]);
                orientation.components().iter().for_each(|part| self.bytes(&part.to_le_bytes()));
            }
        }
        for index in 0..schema.of_body(&entity.body).len() {
            self.bytes(&entity.values.offset(index).to_le_bytes());
        }
        if entity.traits != QuantisedTraits::DEFAULT {
            self.add_traits(&entity.traits);
        }
    }

    fn add_traits(&mut self, traits: &QuantisedTraits) {
        let CollisionLayers { layers, mask } = traits.layers;
        self.bytes(&layers.to_le_bytes());
        self.bytes(&mask.to_le_bytes());
        let kind = match traits.substance {
            QuantisedSubstance::Solid => 0,
            QuantisedSubstance::Intangible => 1,
            QuantisedSubstance::Attached { .. } => 2,
        };
        self.bytes(&[u8::from(traits.visible), kind]);
        if let QuantisedSubstance::Attached { to, offset, rotation } = traits.substance {
            self.bytes(&to.slot.to_le_bytes());
            self.bytes(&to.generation.to_le_bytes());
            offset.iter().for_each(|part| self.bytes(&part.to_le_bytes()));
            self.bytes(&[rotation.largest()]);
            rotation.components().iter().for_each(|part| self.bytes(&part.to_le_bytes()));
        }
    }

    /// The hash of everything added.
    pub fn finish(&self) -> u32 {
        self.0
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(PRIME);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_fnv_1a() {
        let mut digest = Digest(OFFSET_BASIS);
        digest.bytes(b"foobar");
        // The published test vector of FNV-1a.
        assert_eq!(digest.finish(), 0xbf9c_f968);
    }
}
