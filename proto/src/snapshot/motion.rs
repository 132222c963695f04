use glam::Vec3;
use sim::{PlayerMotion, Posture, Walker};

use crate::DatagramError;
use crate::bits::{BitReader, BitWriter};

/// Farthest from zero that a coordinate of a player may be, in units, and
/// fastest that a player may be, in units a second: far beyond any map.
const LIMIT: f32 = (1 << 22) as f32;

/// Writes a player's own motion, every bit of it: a client predicts from it.
pub fn write_motion(writer: &mut BitWriter, motion: &PlayerMotion) {
    let PlayerMotion { position, velocity, walker } = *motion;
    position.to_array().into_iter().for_each(|axis| writer.write(axis.to_bits(), 32));
    for axis in velocity.to_array() {
        // By its bits: a negative zero is not a zero.
        writer.write_bit(axis.to_bits() != 0);
        if axis.to_bits() != 0 {
            writer.write(axis.to_bits(), 32);
        }
    }
    writer.write(walker.yaw.into(), 16);
    writer.write_bit(walker.posture == Posture::Crouching);
    writer.write_bit(walker.grounded);
    writer.write_bit(walker.jump_held);
}

/// Reads a player's own motion.
///
/// # Errors
/// It ends early, or has a number that no player's motion has.
pub fn read_motion(reader: &mut BitReader<'_>) -> Result<PlayerMotion, DatagramError> {
    let mut position = [0.0; 3];
    for axis in &mut position {
        *axis = checked(f32::from_bits(reader.read(32)?))?;
    }
    let mut velocity = [0.0; 3];
    for axis in &mut velocity {
        if reader.read_bit()? {
            *axis = checked(f32::from_bits(reader.read(32)?))?;
        }
    }
    let yaw = reader.read(16)? as u16;
    let posture = if reader.read_bit()? { Posture::Crouching } else { Posture::Standing };
    let (grounded, jump_held) = (reader.read_bit()?, reader.read_bit()?);
    Ok(PlayerMotion {
        position: Vec3::from_array(position),
        velocity: Vec3::from_array(velocity),
        walker: Walker { posture, yaw, grounded, jump_held },
    })
}

fn checked(value: f32) -> Result<f32, DatagramError> {
    // A NaN fails the comparison too.
    let possible = value.abs() <= LIMIT;
    possible.then_some(value).ok_or(DatagramError::OutOfRange { field: "motion" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion() -> PlayerMotion {
        PlayerMotion {
            position: Vec3::new(-1.5, 0.1, 4096.03),
            velocity: Vec3::new(0.0, -0.0, 319.999),
            walker: Walker {
                posture: Posture::Crouching,
                yaw: 65_535,
                grounded: false,
                jump_held: true,
            },
        }
    }

    #[test]
    fn every_bit_survives() {
        let mut writer = BitWriter::new();
        write_motion(&mut writer, &motion());
        let bytes = writer.finish();
        let mut reader = BitReader::new(&bytes);
        let read = read_motion(&mut reader).unwrap();
        assert_eq!(read, motion());
        assert!(read.velocity.y.is_sign_negative());
        reader.finish().unwrap();
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for wrong in [f32::NAN, f32::INFINITY, -1e9] {
            for at_position in [true, false] {
                let mut motion = motion();
                let part = if at_position { &mut motion.position } else { &mut motion.velocity };
                part.y = wrong;
                let mut writer = BitWriter::new();
                write_motion(&mut writer, &motion);
                let expected = Err(DatagramError::OutOfRange { field: "motion" });
                assert_eq!(read_motion(&mut BitReader::new(&writer.finish())), expected);
            }
        }
    }
}
