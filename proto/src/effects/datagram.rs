//! The codec of the datagram.

use glam::DVec3;

use super::effect::end_within;
use super::{
    AMOUNT_BITS, Effect, MAX_AMOUNT, MAX_EFFECTS_OF_TICK, MAX_RECORDS, MAX_SPAN, TickEffects,
};
use crate::bits::{BitReader, BitWriter};
use crate::quantise::WorldBounds;
use crate::snapshot::DatagramKind;
use crate::{DatagramError, SLOT_BITS, Tick};

/// Bits before the first record: kind, reserved bits, tick, number of records.
const HEADER_BITS: usize = 8 + 16 + 8;

/// Bits of the kind of an effect.
const KIND_BITS: u32 = 2;

/// Bits of the number of ticks, less 1, between two records of different ticks.
const LATER_BITS: u32 = 5;
const _: () = assert!(MAX_SPAN == 1 << LATER_BITS, "every span needs a number");

/// The datagram of effects.
///
/// ```
/// use glam::DVec3;
/// use obsp_proto::Tick;
/// use obsp_proto::effects::{Effect, EffectsDatagram, TickEffects};
/// use obsp_proto::quantise::WorldBounds;
///
/// let bounds = WorldBounds::covering(DVec3::ZERO, DVec3::splat(1000.0))?;
/// let ray = Effect::Ray { player: 3, from: DVec3::ONE, to: DVec3::splat(50.0) };
/// let ticks = vec![TickEffects { tick: Tick(100), effects: vec![ray] }];
/// let datagram = EffectsDatagram::new(ticks).unwrap();
/// // A tick is sent as 16 bits. `decode` needs a tick near it to restore the whole number.
/// let bytes = datagram.encode(&bounds);
/// assert_eq!(EffectsDatagram::decode(&bytes, &bounds, Tick(99))?, datagram);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EffectsDatagram(Vec<TickEffects>);

impl EffectsDatagram {
    /// A datagram of the effects of some ticks. `None` if the ticks are not in ascending order, one
    /// has no effects or more than [`MAX_EFFECTS_OF_TICK`], there are more than [`MAX_RECORDS`]
    /// effects, or more than [`MAX_SPAN`] ticks lie between the first and the last.
    pub fn new(ticks: Vec<TickEffects>) -> Option<Self> {
        let span = ticks.last()?.tick.distance(ticks.first()?.tick);
        let records: usize = ticks.iter().map(|of| of.effects.len()).sum();
        let is_valid = ticks.is_sorted_by(|a, b| a.tick < b.tick)
            && ticks.iter().all(|of| (1..=MAX_EFFECTS_OF_TICK).contains(&of.effects.len()))
            && records <= MAX_RECORDS
            && span <= MAX_SPAN.into();
        is_valid.then_some(Self(ticks))
    }

    /// The ticks with their effects, in ascending order.
    pub fn into_ticks(self) -> Vec<TickEffects> {
        self.0
    }

    /// Maximum number of bytes of a datagram of these ticks.
    pub(crate) fn length<'a>(
        ticks: impl IntoIterator<Item = &'a TickEffects>,
        bounds: &WorldBounds,
    ) -> usize {
        let bits = ticks.into_iter().map(|TickEffects { effects, .. }| {
            let records = effects.iter().map(|effect| 1 + effect_bits(effect, bounds));
            LATER_BITS as usize + records.sum::<usize>()
        });
        (HEADER_BITS + bits.sum::<usize>()).div_ceil(8)
    }

    /// Encodes the datagram. Places outside of the bounds and too large amounts are clamped.
    pub fn encode(&self, bounds: &WorldBounds) -> Vec<u8> {
        let mut writer = BitWriter::with_capacity(Self::length(&self.0, bounds));
        let mut before = None;
        for TickEffects { tick, effects } in &self.0 {
            for effect in effects {
                match before {
                    None => {
                        let records: usize = self.0.iter().map(|of| of.effects.len()).sum();
                        writer.write(DatagramKind::Effects as u32, 8);
                        writer.write(tick.low_bits().into(), 16);
                        writer.write(records as u32 - 1, 8);
                    }
                    Some(before) => {
                        writer.write_bit(*tick != before);
                        if *tick != before {
                            writer.write(tick.distance(before) as u32 - 1, LATER_BITS);
                        }
                    }
                }
                before = Some(*tick);
                write(&mut writer, effect, bounds);
            }
        }
        writer.finish()
    }

    /// Decodes a datagram. `near` is a tick near the datagram's ticks, such as the latest one.
    ///
    /// # Errors
    /// The bytes violate the protocol.
    pub fn decode(bytes: &[u8], bounds: &WorldBounds, near: Tick) -> Result<Self, DatagramError> {
        let mut reader = BitReader::new(bytes);
        DatagramKind::Effects.expect(reader.read(2)?)?;
        if reader.read(6)? != 0 {
            return Err(DatagramError::OutOfRange { field: "reserved bits" });
        }
        let out_of_range = DatagramError::OutOfRange { field: "tick" };
        let first = Tick::from_low_bits(reader.read(16)? as u16, near).ok_or(out_of_range)?;
        let count = reader.read(8)? as usize + 1;
        let mut ticks = vec![TickEffects { tick: first, effects: Vec::new() }];
        let mut tick = first;
        for record in 0..count {
            if record > 0 && reader.read_bit()? {
                let later = reader.read(LATER_BITS)? + 1;
                tick = Tick(tick.0.checked_add(later).ok_or(out_of_range)?);
                if tick.distance(first) > MAX_SPAN.into() {
                    return Err(out_of_range);
                }
                ticks.push(TickEffects { tick, effects: Vec::new() });
            }
            // Memory grows with the records that were read, not with the count that is claimed.
            let effect = read(&mut reader, bounds)?;
            if let Some(TickEffects { effects, .. }) = ticks.last_mut() {
                if effects.len() == MAX_EFFECTS_OF_TICK {
                    return Err(DatagramError::OutOfRange { field: "effects of a tick" });
                }
                effects.push(effect);
            }
        }
        reader.finish()?;
        Ok(Self(ticks))
    }
}

/// Bits of an effect.
fn effect_bits(effect: &Effect, bounds: &WorldBounds) -> usize {
    let slot = SLOT_BITS as usize;
    let amount = AMOUNT_BITS as usize;
    let place: usize = bounds.bits().iter().map(|&bits| usize::from(bits)).sum();
    KIND_BITS as usize
        + match effect {
            Effect::Ray { .. } => slot + 2 * place,
            Effect::Blast { .. } => place + amount,
            Effect::Hurt { .. } => 2 * slot + amount,
            Effect::Replaced { .. } => slot,
        }
}

fn write(writer: &mut BitWriter, effect: &Effect, bounds: &WorldBounds) {
    let slot = |writer: &mut BitWriter, slot: u16| {
        // Every slot of a match is in range.
        writer.write(u32::from(slot) & ((1 << SLOT_BITS) - 1), SLOT_BITS);
    };
    let place = |writer: &mut BitWriter, at: DVec3| {
        for (steps, bits) in bounds.quantise(at).into_iter().zip(bounds.bits()) {
            writer.write(steps as u32, bits.into());
        }
    };
    match *effect {
        Effect::Ray { player, from, to } => {
            writer.write(0, KIND_BITS);
            slot(writer, player);
            place(writer, from);
            place(writer, end_within(bounds, from, to));
        }
        Effect::Blast { at, radius } => {
            writer.write(1, KIND_BITS);
            place(writer, at);
            // `as` saturates and turns NaN into 0.
            writer.write((radius.round() as u32).min(MAX_AMOUNT.into()), AMOUNT_BITS);
        }
        Effect::Hurt { player, by, damage } => {
            writer.write(2, KIND_BITS);
            slot(writer, player);
            slot(writer, by);
            writer.write(damage.min(MAX_AMOUNT).into(), AMOUNT_BITS);
        }
        Effect::Replaced { entity } => {
            writer.write(3, KIND_BITS);
            slot(writer, entity);
        }
    }
}

fn read(reader: &mut BitReader<'_>, bounds: &WorldBounds) -> Result<Effect, DatagramError> {
    let slot = |reader: &mut BitReader<'_>| reader.read(SLOT_BITS).map(|slot| slot as u16);
    let place = |reader: &mut BitReader<'_>| {
        let mut lattice = [0; 3];
        for (steps, bits) in lattice.iter_mut().zip(bounds.bits()) {
            *steps = reader.read(bits.into())? as i32;
        }
        Ok(bounds.position(lattice))
    };
    Ok(match reader.read(KIND_BITS)? {
        0 => Effect::Ray { player: slot(reader)?, from: place(reader)?, to: place(reader)? },
        1 => Effect::Blast { at: place(reader)?, radius: reader.read(AMOUNT_BITS)?.into() },
        2 => Effect::Hurt {
            player: slot(reader)?,
            by: slot(reader)?,
            damage: reader.read(AMOUNT_BITS)? as u16,
        },
        _ => Effect::Replaced { entity: slot(reader)? },
    })
}

#[cfg(test)]
mod tests;
