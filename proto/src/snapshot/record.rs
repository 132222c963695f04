use sim::{ModelId, Posture};

use super::SnapshotCodec;
use crate::DatagramError;
use crate::bits::{BitReader, BitWriter};
use crate::quantise::{
    COMPONENT_BITS, QuantisedBody, QuantisedEntity, QuantisedOrientation, VELOCITY_LIMIT, YAW_BITS,
};

/// What a client is known to have of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Baseline<'a> {
    /// How many ticks before the snapshot it was sent.
    pub age: u32,
    /// The entity as it was then.
    pub entity: &'a QuantisedEntity,
}

/// Orders of the Golomb codes. These and the two widths below cost the fewest
/// bytes, among their neighbours, in the match that `cargo bench -p proto`
/// plays; no choice nearby differs by more than 3 %.
const POSITION_ORDER: u32 = 3;
const VELOCITY_ORDER: u32 = 1;

/// Bits of a small change of a quaternion's component, its sign included: a
/// turn of 10 degrees, as of 3 radians a second for 3 ticks.
const SMALL_TURN_BITS: u32 = 8;

/// Bits of a small change of heading, its sign included: 11 degrees.
const SMALL_YAW_BITS: u32 = 8;

/// Bits of a model's number: [`sim::MAX_MODELS`] of them.
const MODEL_BITS: u32 = 7;

/// Bits of a velocity on one axis, its sign included.
const VELOCITY_BITS: u32 = 10;

/// Ticks beyond which an old velocity says nothing about the present place.
const LONGEST_PREDICTION: u32 = 16;

impl Baseline<'_> {
    /// Whether an entity can be told by its difference from this one: only
    /// what never changes in an entity's life must be equal.
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
    /// Writes an entity whole.
    pub(super) fn write_whole(&self, writer: &mut BitWriter, entity: &QuantisedEntity) {
        writer.write(entity.generation.into(), 16);
        writer.write_bit(entity.asleep);
        let is_prop = matches!(entity.body, QuantisedBody::Prop { .. });
        writer.write_bit(is_prop);
        for (axis, bits) in entity.position.into_iter().zip(self.bounds.bits()) {
            writer.write(axis as u32, bits.into());
        }
        let moves = entity.velocity != [0; 3];
        writer.write_bit(moves);
        if moves {
            entity.velocity.into_iter().for_each(|axis| write_signed(writer, axis, VELOCITY_BITS));
        }
        match entity.body {
            QuantisedBody::Player { posture, yaw } => {
                writer.write_bit(posture == Posture::Crouching);
                writer.write(yaw.into(), YAW_BITS);
            }
            QuantisedBody::Prop { model, driven, orientation } => {
                writer.write(model.0.into(), MODEL_BITS);
                writer.write_bit(driven);
                write_orientation(writer, orientation);
            }
        }
    }

    /// Reads an entity that was written whole.
    pub(super) fn read_whole(
        &self,
        reader: &mut BitReader<'_>,
    ) -> Result<QuantisedEntity, DatagramError> {
        let generation = reader.read(16)? as u16;
        let asleep = reader.read_bit()?;
        let is_prop = reader.read_bit()?;
        let mut position = [0; 3];
        for (axis, bits) in position.iter_mut().zip(self.bounds.bits()) {
            *axis = reader.read(bits.into())? as i32;
        }
        let mut velocity = [0; 3];
        if reader.read_bit()? {
            for axis in &mut velocity {
                *axis = checked_velocity(read_signed(reader, VELOCITY_BITS)?.into())?;
            }
        }
        let body = if is_prop {
            let model = ModelId(reader.read(MODEL_BITS)? as u8);
            let driven = reader.read_bit()?;
            QuantisedBody::Prop { model, driven, orientation: read_orientation(reader)? }
        } else {
            let posture = read_posture(reader)?;
            QuantisedBody::Player { posture, yaw: reader.read(YAW_BITS)? as u16 }
        };
        Ok(QuantisedEntity { generation, position, velocity, asleep, body })
    }

    /// Writes an entity as its difference from a baseline that serves it.
    pub(super) fn write_change(
        &self,
        writer: &mut BitWriter,
        entity: &QuantisedEntity,
        baseline: Baseline<'_>,
    ) {
        writer.write_bit(entity.asleep);
        let old = baseline.entity;
        let accelerated = entity.velocity != old.velocity;
        writer.write_bit(accelerated);
        if accelerated {
            for (axis, old) in entity.velocity.into_iter().zip(old.velocity) {
                writer.write_offset(i32::from(axis) - i32::from(old), VELOCITY_ORDER);
            }
        }
        let predicted = self.predict(baseline, entity.velocity);
        let moved = entity.position != predicted;
        writer.write_bit(moved);
        if moved {
            for (axis, predicted) in entity.position.into_iter().zip(predicted) {
                writer.write_offset(axis - predicted, POSITION_ORDER);
            }
        }
        match (entity.body, old.body) {
            (
                QuantisedBody::Player { posture, yaw },
                QuantisedBody::Player { yaw: old_yaw, .. },
            ) => {
                writer.write_bit(posture == Posture::Crouching);
                write_yaw_change(writer, yaw, old_yaw);
            }
            (
                QuantisedBody::Prop { orientation, .. },
                QuantisedBody::Prop { orientation: old_orientation, .. },
            ) => write_turn(writer, orientation, old_orientation),
            // `serves` has been asked.
            _ => debug_assert!(false, "a baseline of another kind"),
        }
    }

    /// Reads an entity that was written as its difference from a baseline.
    pub(super) fn read_change(
        &self,
        reader: &mut BitReader<'_>,
        baseline: Baseline<'_>,
    ) -> Result<QuantisedEntity, DatagramError> {
        let old = baseline.entity;
        let asleep = reader.read_bit()?;
        let mut velocity = old.velocity;
        if reader.read_bit()? {
            for axis in &mut velocity {
                let change = reader.read_offset(VELOCITY_ORDER)?;
                *axis = checked_velocity(i32::from(*axis).saturating_add(change))?;
            }
        }
        let mut position = self.predict(baseline, velocity);
        if reader.read_bit()? {
            for (index, axis) in position.iter_mut().enumerate() {
                *axis = axis
                    .checked_add(reader.read_offset(POSITION_ORDER)?)
                    .filter(|axis| (0..=self.bounds.last(index)).contains(axis))
                    .ok_or(DatagramError::OutOfRange { field: "position" })?;
            }
        }
        let body = match old.body {
            QuantisedBody::Player { yaw, .. } => {
                let posture = read_posture(reader)?;
                QuantisedBody::Player { posture, yaw: read_yaw_change(reader, yaw)? }
            }
            QuantisedBody::Prop { model, driven, orientation } => {
                let orientation = read_turn(reader, orientation)?;
                QuantisedBody::Prop { model, driven, orientation }
            }
        };
        Ok(QuantisedEntity { generation: old.generation, position, velocity, asleep, body })
    }

    /// Where an entity would be by now, had its velocity become what it is at
    /// a steady rate: exact for what runs, slides or falls, and computed in
    /// integers, so that both ends come to the same.
    fn predict(&self, baseline: Baseline<'_>, now: [i16; 3]) -> [i32; 3] {
        let QuantisedEntity { position, velocity, .. } = *baseline.entity;
        let age = i32::try_from(baseline.age.min(LONGEST_PREDICTION)).unwrap_or(0);
        let rate = i32::from(self.tick_rate.get());
        std::array::from_fn(|axis| {
            // Lattice steps a second times ticks: below 2^31 by far.
            let twice_mean = i32::from(velocity[axis]) + i32::from(now[axis]);
            let distance = twice_mean * LATTICE_VELOCITY / 2 * age;
            let moved = (distance + rate / 2).div_euclid(rate);
            (position[axis] + moved).clamp(0, self.bounds.last(axis))
        })
    }
}

/// Lattice steps a second in one step of velocity.
const LATTICE_VELOCITY: i32 =
    crate::quantise::VELOCITY_STEP as i32 * crate::quantise::STEPS_PER_UNIT;

fn write_signed(writer: &mut BitWriter, value: i16, bits: u32) {
    writer.write((i32::from(value) & ((1 << bits) - 1)) as u32, bits);
}

/// Reads a number in two's complement of at most 16 bits.
fn read_signed(reader: &mut BitReader<'_>, bits: u32) -> Result<i16, DatagramError> {
    let unused = 16 - bits;
    Ok(((reader.read(bits)? << unused) as u16 as i16) >> unused)
}

fn fits(value: i32, bits: u32) -> bool {
    (-(1 << (bits - 1))..1 << (bits - 1)).contains(&value)
}

fn checked_velocity(value: i32) -> Result<i16, DatagramError> {
    i16::try_from(value)
        .ok()
        .filter(|value| (-VELOCITY_LIMIT..=VELOCITY_LIMIT).contains(value))
        .ok_or(DatagramError::OutOfRange { field: "velocity" })
}

fn read_posture(reader: &mut BitReader<'_>) -> Result<Posture, DatagramError> {
    Ok(if reader.read_bit()? { Posture::Crouching } else { Posture::Standing })
}

fn write_orientation(writer: &mut BitWriter, orientation: QuantisedOrientation) {
    writer.write(orientation.largest().into(), 2);
    orientation.components().into_iter().for_each(|c| write_signed(writer, c, COMPONENT_BITS));
}

fn read_orientation(reader: &mut BitReader<'_>) -> Result<QuantisedOrientation, DatagramError> {
    let largest = reader.read(2)? as u8;
    let mut components = [0; 3];
    for component in &mut components {
        *component = read_signed(reader, COMPONENT_BITS)?;
    }
    QuantisedOrientation::new(largest, components)
        .ok_or(DatagramError::OutOfRange { field: "orientation" })
}

/// 0: the same; 10: three small changes; 11: whole.
fn write_turn(writer: &mut BitWriter, new: QuantisedOrientation, old: QuantisedOrientation) {
    writer.write_bit(new != old);
    if new == old {
        return;
    }
    let (components, old_components) = (new.components(), old.components());
    let changes: [i16; 3] = std::array::from_fn(|index| components[index] - old_components[index]);
    let large = new.largest() != old.largest()
        || !changes.iter().all(|&change| fits(change.into(), SMALL_TURN_BITS));
    writer.write_bit(large);
    if large {
        write_orientation(writer, new);
    } else {
        changes.into_iter().for_each(|change| write_signed(writer, change, SMALL_TURN_BITS));
    }
}

fn read_turn(
    reader: &mut BitReader<'_>,
    old: QuantisedOrientation,
) -> Result<QuantisedOrientation, DatagramError> {
    if !reader.read_bit()? {
        return Ok(old);
    }
    if reader.read_bit()? {
        return read_orientation(reader);
    }
    let mut components = old.components();
    for component in &mut components {
        *component += read_signed(reader, SMALL_TURN_BITS)?;
    }
    QuantisedOrientation::new(old.largest(), components)
        .ok_or(DatagramError::OutOfRange { field: "orientation" })
}

/// 0: the same; 10: a small change, the short way round; 11: whole.
fn write_yaw_change(writer: &mut BitWriter, new: u16, old: u16) {
    writer.write_bit(new != old);
    if new == old {
        return;
    }
    let unused = 16 - YAW_BITS;
    let change = (new.wrapping_sub(old) << unused) as i16 >> unused;
    let large = !fits(change.into(), SMALL_YAW_BITS);
    writer.write_bit(large);
    if large {
        writer.write(new.into(), YAW_BITS);
    } else {
        write_signed(writer, change, SMALL_YAW_BITS);
    }
}

fn read_yaw_change(reader: &mut BitReader<'_>, old: u16) -> Result<u16, DatagramError> {
    if !reader.read_bit()? {
        return Ok(old);
    }
    if reader.read_bit()? {
        return Ok(reader.read(YAW_BITS)? as u16);
    }
    let change = read_signed(reader, SMALL_YAW_BITS)?;
    Ok(old.wrapping_add_signed(change) & ((1 << YAW_BITS) - 1))
}
