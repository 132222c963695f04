//! One entity, with all its fields rounded to integers.

use glam::{DQuat, DVec3};
use obsp_sim::{EntityId, EntityState, Kind, ModelId, Posture};

use super::{QuantisedOrientation, QuantisedTraits, WorldBounds};
use crate::schema::FieldValues;

/// Units per second in one step of a quantised velocity. The step is coarse, because the velocity
/// only helps to extrapolate a position between two snapshots.
pub const VELOCITY_STEP: f64 = 4.0;

/// Maximum magnitude of a quantised velocity on one axis, in steps: 2044 units per second, more
/// than a fall from any roof.
pub const VELOCITY_LIMIT: i16 = 511;

/// Bits of a quantised heading: 4096 steps a turn, finer than other players can see.
pub const YAW_BITS: u32 = 12;

/// One entity, with all its fields rounded to integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuantisedEntity {
    /// The generation of the slot.
    pub generation: u16,
    /// The lattice point of the position.
    pub position: [i32; 3],
    /// Multiples of [`VELOCITY_STEP`], within ±[`VELOCITY_LIMIT`].
    pub velocity: [i16; 3],
    /// Whether the body sleeps.
    pub asleep: bool,
    /// The fields that depend on the kind of entity.
    pub body: QuantisedBody,
    /// The values that the game gives to the entity.
    pub values: FieldValues,
    /// Which others the entity may meet, and whether it is visible and solid.
    pub traits: QuantisedTraits,
}

/// The fields that only players on foot have, or that only polyhedra have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantisedBody {
    /// A player on foot, who stays upright.
    Player {
        /// The posture, which decides between the two boxes that a player may have.
        posture: Posture,
        /// Heading about +Z, 2^[`YAW_BITS`] steps a turn.
        yaw: u16,
    },
    /// A rigid polyhedron.
    Prop {
        /// The model of the body's shape.
        model: ModelId,
        /// Whether a player drives the body.
        driven: bool,
        /// The body's orientation.
        orientation: QuantisedOrientation,
    },
}

impl QuantisedEntity {
    /// The speed with which the entity moves, in units per second. A sleeping entity stands still,
    /// even if its surface moves.
    pub(super) fn speed(&self) -> f32 {
        if self.asleep {
            return 0.0;
        }
        let squared: i32 = self.velocity.iter().map(|&part| i32::from(part).pow(2)).sum();
        (squared as f32).sqrt() * VELOCITY_STEP as f32
    }

    /// Rounds an entity that has no values of the game.
    pub fn quantise(entity: &EntityState, bounds: &WorldBounds) -> Self {
        let traits = QuantisedTraits::quantise(&entity.traits);
        // Nothing but the traits of an attached entity is sent, so the rest must not change.
        let (position, orientation, velocity, asleep) = if traits.is_attached() {
            ([0; 3], DQuat::IDENTITY, DVec3::ZERO, true)
        } else {
            let position = bounds.quantise(entity.position);
            (position, entity.orientation, entity.velocity, entity.asleep)
        };
        let body = match entity.kind {
            Kind::Player { posture } => {
                QuantisedBody::Player { posture, yaw: quantise_yaw(heading(orientation)) }
            }
            Kind::Vehicle { model } | Kind::Prop { model } => QuantisedBody::Prop {
                model,
                driven: entity.kind.is_player(),
                orientation: QuantisedOrientation::quantise(orientation),
            },
        };
        let velocity = velocity.to_array().map(|speed| {
            // `as` saturates and turns NaN into 0.
            ((speed / VELOCITY_STEP).round() as i16).clamp(-VELOCITY_LIMIT, VELOCITY_LIMIT)
        });
        Self {
            generation: entity.id.generation,
            position,
            velocity,
            asleep,
            body,
            values: FieldValues::default(),
            traits,
        }
    }

    /// The entity in `slot` as clients decode it. The pose of an attached entity is not known here.
    pub fn dequantise(&self, slot: u16, bounds: &WorldBounds) -> EntityState {
        let (kind, orientation) = match self.body {
            QuantisedBody::Player { posture, yaw } => {
                let turn = f64::from(yaw) / f64::from(1 << YAW_BITS);
                let orientation = DQuat::from_rotation_z(turn * std::f64::consts::TAU);
                (Kind::Player { posture }, orientation)
            }
            QuantisedBody::Prop { model, driven, orientation } => {
                let kind = if driven { Kind::Vehicle { model } } else { Kind::Prop { model } };
                (kind, orientation.orientation())
            }
        };
        EntityState {
            id: EntityId { slot, generation: self.generation },
            kind,
            position: bounds.position(self.position),
            orientation,
            velocity: DVec3::from_array(self.velocity.map(|v| f64::from(v) * VELOCITY_STEP)),
            asleep: self.asleep,
            traits: self.traits.dequantise(),
        }
    }
}

/// The heading about +Z of an upright orientation, in radians from +X.
pub fn heading(orientation: DQuat) -> f64 {
    let DQuat { x, y, z, w } = orientation;
    f64::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
}

fn quantise_yaw(yaw: f64) -> u16 {
    let steps = (yaw / std::f64::consts::TAU * f64::from(1 << YAW_BITS)).round();
    (steps as i32).rem_euclid(1 << YAW_BITS) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantising_twice_changes_nothing() {
        let bounds = WorldBounds::new([-512; 3], [15; 3]).unwrap();
        let player = QuantisedBody::Player { posture: Posture::Crouching, yaw: 4095 };
        let orientation = QuantisedOrientation::new(2, [100, -700, 33]).unwrap();
        let prop = QuantisedBody::Prop { model: ModelId(3), driven: false, orientation };
        let tank = QuantisedBody::Prop { model: ModelId(8), driven: true, orientation };
        for body in [player, prop, tank] {
            let entity = QuantisedEntity {
                generation: 9,
                position: [0, 32_767, 12_345],
                velocity: [-511, 0, 17],
                asleep: true,
                body,
                values: FieldValues::default(),
                traits: QuantisedTraits::default(),
            };
            let seen = entity.dequantise(5, &bounds);
            assert_eq!(seen.id, EntityId { slot: 5, generation: 9 });
            assert_eq!(QuantisedEntity::quantise(&seen, &bounds), entity);
        }
    }
}
