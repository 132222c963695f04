//! Codes one entity, whole or as its difference from a baseline.

use obsp_sim::{ModelId, Posture};

use super::SnapshotCodec;
use super::entity_traits::code_traits;
use super::field_values::{NO_VALUES, change_values, whole_values};
use super::probabilities::{
    ASLEEP, CROUCHES, FALLS, FLIPS, GENERATION, IS_PROP, MOVES, POSITION, RELOCATED, RESTS, SPEED,
    TILT, TURN, TURNS, VALUES_CHANGE, VELOCITY, YAW,
};
use crate::DatagramError;
use crate::quantise::{
    QuantisedBody, QuantisedEntity, QuantisedOrientation, QuantisedTraits, VELOCITY_LIMIT, YAW_BITS,
};
use crate::range::Coder;

/// A value of an entity that a client is known to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Baseline<'a> {
    /// Number of ticks from the value to the snapshot.
    pub age: u32,
    /// The entity at that time.
    pub entity: &'a QuantisedEntity,
    /// Whether this is certainly the client's latest value among the values that were sent until
    /// the snapshot that the header calls acknowledged.
    pub is_latest: bool,
}

/// The placeholder that a reader passes for an entity that it does not know yet.
pub(super) const UNKNOWN_ENTITY: QuantisedEntity = QuantisedEntity {
    generation: 0,
    position: [0; 3],
    velocity: [0; 3],
    asleep: false,
    body: QuantisedBody::Player { posture: Posture::Standing, yaw: 0 },
    values: NO_VALUES,
    traits: QuantisedTraits::DEFAULT,
};

/// Bits of a model's number, which is below [`obsp_sim::MAX_MODELS`].
const MODEL_BITS: u32 = 7;

/// Maximum number of ticks for which a velocity predicts the position. An older velocity is of no
/// use.
const LONGEST_PREDICTION: u32 = 16;

impl Baseline<'_> {
    /// Whether an entity can be coded as its difference from this one. Only the fields that never
    /// change during an entity's life have to be equal.
    pub fn serves(&self, entity: &QuantisedEntity) -> bool {
        let alike = match (self.entity.body, entity.body) {
            (QuantisedBody::Player { .. }, QuantisedBody::Player { .. }) => true,
            (
                QuantisedBody::Prop { model: old, driven: was, .. },
                QuantisedBody::Prop { model: new, driven: is, .. },
            ) => (old, was) == (new, is),
            _ => false,
        };
        alike && self.entity.generation == entity.generation
    }
}

impl SnapshotCodec {
    /// Codes a whole entity.
    pub(super) fn whole(
        &self,
        coder: &mut impl Coder,
        entity: &QuantisedEntity,
        has_traits: bool,
    ) -> Result<QuantisedEntity, DatagramError> {
        let generation = coder.number(GENERATION, entity.generation.into()) as u16;
        let is_prop = coder.bit(IS_PROP, matches!(entity.body, QuantisedBody::Prop { .. }));
        let asleep = coder.bit(RESTS, entity.asleep);
        let mut position = entity.position;
        for (axis, bits) in position.iter_mut().zip(self.bounds.bits()) {
            *axis = coder.raw(*axis as u32, bits.into()) as i32;
        }
        let mut velocity = [0; 3];
        if coder.bit(MOVES, entity.velocity != [0; 3]) {
            for (axis, &speed) in velocity.iter_mut().zip(&entity.velocity) {
                *axis = checked_velocity(coder.signed(SPEED, speed.into()))?;
            }
        }
        let body = if is_prop {
            let (model, driven, orientation) = match entity.body {
                QuantisedBody::Prop { model, driven, orientation } => (model, driven, orientation),
                QuantisedBody::Player { .. } => {
                    (ModelId(0), false, QuantisedOrientation::default())
                }
            };
            let model = ModelId(coder.raw(model.0.into(), MODEL_BITS) as u8);
            let driven = coder.raw(driven.into(), 1) == 1;
            let orientation = whole_orientation(coder, orientation)?;
            QuantisedBody::Prop { model, driven, orientation }
        } else {
            let (posture, yaw) = match entity.body {
                QuantisedBody::Player { posture, yaw } => (posture, yaw),
                QuantisedBody::Prop { .. } => (Posture::Standing, 0),
            };
            let posture = posture_of(coder.raw(u32::from(is_crouching(posture)), 1) == 1);
            QuantisedBody::Player { posture, yaw: coder.raw(yaw.into(), YAW_BITS) as u16 }
        };
        let values = whole_values(coder, self.schema.of_body(&body), &entity.values)?;
        let mut traits = QuantisedTraits::DEFAULT;
        if has_traits {
            traits = code_traits(coder, &entity.traits, &traits)?;
        }
        Ok(QuantisedEntity { generation, position, velocity, asleep, body, values, traits })
    }

    /// Codes an entity as its difference from a baseline that serves it.
    pub(super) fn change(
        &self,
        coder: &mut impl Coder,
        entity: &QuantisedEntity,
        baseline: Baseline<'_>,
        has_traits: bool,
    ) -> Result<QuantisedEntity, DatagramError> {
        let old = baseline.entity;
        let kind = usize::from(matches!(old.body, QuantisedBody::Prop { .. }));
        let asleep = coder.bit(ASLEEP + 2 * kind + usize::from(old.asleep), entity.asleep);
        let expected = self.expected_velocity(coder, entity, baseline, asleep, kind);
        let mut velocity = expected;
        let mut most = 0;
        for (axis, speed) in velocity.iter_mut().enumerate() {
            let number = VELOCITY.number(9 * kind + 3 * axis + size(most));
            let change = coder.signed(number, i32::from(entity.velocity[axis]) - i32::from(*speed));
            *speed = checked_velocity(i32::from(*speed) + change)?;
            most = most.max(change.unsigned_abs());
        }
        let accelerated = velocity != expected;
        let position = self.position(coder, entity, baseline, velocity, expected, kind)?;
        let body = match (old.body, entity.body) {
            (QuantisedBody::Player { posture: old, yaw: old_yaw }, new) => {
                let (posture, yaw) = match new {
                    QuantisedBody::Player { posture, yaw } => (posture, yaw),
                    // This never happens, because the caller has checked `serves`.
                    QuantisedBody::Prop { .. } => (old, old_yaw),
                };
                let old = usize::from(is_crouching(old));
                let posture = posture_of(coder.bit(CROUCHES + old, is_crouching(posture)));
                let number = YAW.number(usize::from(accelerated));
                let turn = coder.signed(number, yaw_change(yaw, old_yaw));
                let yaw = (i32::from(old_yaw) + turn).rem_euclid(1 << YAW_BITS) as u16;
                QuantisedBody::Player { posture, yaw }
            }
            (QuantisedBody::Prop { model, driven, orientation: old }, new) => {
                let new = match new {
                    QuantisedBody::Prop { orientation, .. } => orientation,
                    QuantisedBody::Player { .. } => old,
                };
                let moves = usize::from(velocity != [0; 3]);
                let mut orientation = old;
                if coder.bit(TURNS + moves, new != old) {
                    orientation = turned(coder, new, old)?;
                }
                QuantisedBody::Prop { model, driven, orientation }
            }
        };
        let fields = self.schema.of_body(&body);
        let mut values = old.values;
        if !fields.is_empty() && coder.bit(VALUES_CHANGE, entity.values != values) {
            change_values(coder, fields, &entity.values, &mut values)?;
        }
        let mut traits = old.traits;
        if has_traits {
            traits = code_traits(coder, &entity.traits, &old.traits)?;
        }
        let generation = old.generation;
        Ok(QuantisedEntity { generation, position, velocity, asleep, body, values, traits })
    }

    /// The velocity from which the difference is coded. It is zero if the entity is asleep.
    /// Otherwise it is the velocity of the baseline, changed by gravity if the entity falls.
    fn expected_velocity(
        &self,
        coder: &mut impl Coder,
        entity: &QuantisedEntity,
        Baseline { age, entity: old, .. }: Baseline<'_>,
        asleep: bool,
        kind: usize,
    ) -> [i16; 3] {
        if asleep {
            return [0; 3];
        }
        let [x, y, z] = old.velocity;
        let (age, rate) = (age.min(LONGEST_PREDICTION), u32::from(self.tick_rate.get()));
        let fall = ((GRAVITY * age + rate / 2) / rate) as i16;
        let fallen = (z - fall).max(-VELOCITY_LIMIT);
        let falls = (entity.velocity[2] - fallen).abs() < (entity.velocity[2] - z).abs();
        let probability = FALLS + 2 * kind + usize::from(z != 0);
        if coder.bit(probability, falls) { [x, y, fallen] } else { [x, y, z] }
    }

    fn position(
        &self,
        coder: &mut impl Coder,
        entity: &QuantisedEntity,
        baseline: Baseline<'_>,
        velocity: [i16; 3],
        expected: [i16; 3],
        kind: usize,
    ) -> Result<[i32; 3], DatagramError> {
        let mut position = self.predict(baseline, velocity);
        let is_far = |(new, old): (&i32, &i32)| (new - old).unsigned_abs() >> POSITION.width() != 0;
        if coder.bit(RELOCATED, entity.position.iter().zip(&position).any(is_far)) {
            for (index, axis) in position.iter_mut().enumerate() {
                let bits = self.bounds.bits()[index];
                *axis = coder.raw(entity.position[index] as u32, bits.into()) as i32;
            }
            return Ok(position);
        }
        let mut most = 0;
        for (index, axis) in position.iter_mut().enumerate() {
            let accelerated = usize::from(velocity[index] != expected[index]);
            let number = POSITION.number(18 * kind + 6 * index + 3 * accelerated + size(most));
            let error = coder.signed(number, entity.position[index] - *axis);
            *axis += error;
            if !(0..=self.bounds.last(index)).contains(axis) {
                return Err(DatagramError::OutOfRange { field: "position" });
            }
            most = most.max(error.unsigned_abs());
        }
        Ok(position)
    }

    /// The position that follows if the velocity changed at a steady rate. It is exact for an
    /// entity that runs, slides or falls. It is computed in integers, so both ends get the same
    /// result.
    fn predict(&self, baseline: Baseline<'_>, now: [i16; 3]) -> [i32; 3] {
        let QuantisedEntity { position, velocity, .. } = *baseline.entity;
        let age = i32::try_from(baseline.age.min(LONGEST_PREDICTION)).unwrap_or(0);
        let rate = i32::from(self.tick_rate.get());
        std::array::from_fn(|axis| {
            // Lattice steps per second times ticks: far below 2^31.
            let twice_mean = i32::from(velocity[axis]) + i32::from(now[axis]);
            let distance = twice_mean * LATTICE_VELOCITY / 2 * age;
            let moved = (distance + rate / 2).div_euclid(rate);
            (position[axis] + moved).clamp(0, self.bounds.last(axis))
        })
    }
}

/// Lattice steps per second in one step of velocity.
const LATTICE_VELOCITY: i32 =
    crate::quantise::VELOCITY_STEP as i32 * crate::quantise::STEPS_PER_UNIT;

/// Gravity: the steps of [`VELOCITY_STEP`](crate::quantise::VELOCITY_STEP) that a fall adds to
/// the velocity in a second.
const GRAVITY: u32 = 200;

/// The size class of a number, which predicts the class of the next number.
fn size(magnitude: u32) -> usize {
    match magnitude {
        0 => 0,
        1..=3 => 1,
        _ => 2,
    }
}

/// The size class of a component of an orientation. These classes are finer than those of [`size`].
fn turn_size(magnitude: u32) -> usize {
    match magnitude {
        0 => 0,
        1 => 1,
        2..=3 => 2,
        4..=7 => 3,
        8..=31 => 4,
        _ => 5,
    }
}

fn checked_velocity(value: i32) -> Result<i16, DatagramError> {
    i16::try_from(value)
        .ok()
        .filter(|value| (-VELOCITY_LIMIT..=VELOCITY_LIMIT).contains(value))
        .ok_or(DatagramError::OutOfRange { field: "velocity" })
}

fn is_crouching(posture: Posture) -> bool {
    posture == Posture::Crouching
}

fn posture_of(is_crouching: bool) -> Posture {
    if is_crouching { Posture::Crouching } else { Posture::Standing }
}

/// The change of heading, the shorter way round.
fn yaw_change(new: u16, old: u16) -> i32 {
    let unused = i16::BITS - YAW_BITS;
    i32::from((new.wrapping_sub(old) << unused) as i16 >> unused)
}

pub(super) fn whole_orientation(
    coder: &mut impl Coder,
    orientation: QuantisedOrientation,
) -> Result<QuantisedOrientation, DatagramError> {
    let largest = coder.raw(orientation.largest().into(), 2) as u8;
    let components = orientation.components().map(|part| coder.signed(TILT, part.into()) as i16);
    QuantisedOrientation::new(largest, components)
        .ok_or(DatagramError::OutOfRange { field: "orientation" })
}

/// Codes an orientation that differs from the baseline's.
fn turned(
    coder: &mut impl Coder,
    new: QuantisedOrientation,
    old: QuantisedOrientation,
) -> Result<QuantisedOrientation, DatagramError> {
    if coder.bit(FLIPS, new.largest() != old.largest()) {
        return whole_orientation(coder, new);
    }
    let mut components = old.components();
    let mut most = 0;
    for (index, (part, new)) in components.iter_mut().zip(new.components()).enumerate() {
        let number = TURN.number(if index == 0 { 0 } else { 1 + turn_size(most) });
        let change = coder.signed(number, i32::from(new) - i32::from(*part));
        *part = (i32::from(*part) + change) as i16;
        most = most.max(change.unsigned_abs());
    }
    QuantisedOrientation::new(old.largest(), components)
        .ok_or(DatagramError::OutOfRange { field: "orientation" })
}
