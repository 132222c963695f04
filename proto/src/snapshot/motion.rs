use glam::Vec3;
use sim::{PlayerMotion, Posture, Walker};

use crate::DatagramError;
use crate::range::Coder;

/// Farthest from zero that a coordinate of a player may be, in units, and
/// fastest that a player may be, in units a second: far beyond any map.
const LIMIT: f32 = (1 << 22) as f32;

/// What a reader passes for the motion that it does not know yet.
pub(super) const STILL: PlayerMotion = PlayerMotion {
    position: Vec3::ZERO,
    velocity: Vec3::ZERO,
    walker: Walker { posture: Posture::Standing, yaw: 0, grounded: false, jump_held: false },
};

/// Codes a player's own motion, every bit of it: a client predicts from it.
///
/// # Errors
/// A number comes out that no player's motion has.
pub(super) fn code_motion(
    coder: &mut impl Coder,
    motion: &PlayerMotion,
) -> Result<PlayerMotion, DatagramError> {
    let mut position = motion.position.to_array();
    for axis in &mut position {
        *axis = checked(f32::from_bits(coder.raw(axis.to_bits(), 32)))?;
    }
    let mut velocity = motion.velocity.to_array();
    for axis in &mut velocity {
        // By its bits: a negative zero is not a zero.
        let bits = axis.to_bits();
        let moves = coder.raw((bits != 0).into(), 1) == 1;
        *axis = checked(f32::from_bits(if moves { coder.raw(bits, 32) } else { 0 }))?;
    }
    let walker = motion.walker;
    let yaw = coder.raw(walker.yaw.into(), 16) as u16;
    let mut flag = |is_set: bool| coder.raw(is_set.into(), 1) == 1;
    let crouching = flag(walker.posture == Posture::Crouching);
    let (grounded, jump_held) = (flag(walker.grounded), flag(walker.jump_held));
    let posture = if crouching { Posture::Crouching } else { Posture::Standing };
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
    use crate::range::{Decoder, Encoder};

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

    /// The motion that is read where this one was written.
    fn passed(motion: &PlayerMotion) -> Result<PlayerMotion, DatagramError> {
        let mut encoder = Encoder::new(&[128], Vec::new());
        // The writer checks too, but writes first.
        let _ = code_motion(&mut encoder, motion);
        let bytes = encoder.finish();
        code_motion(&mut Decoder::new(&[128], &bytes), &STILL)
    }

    #[test]
    fn every_bit_survives() {
        let read = passed(&motion()).unwrap();
        assert_eq!(read, motion());
        assert!(read.velocity.y.is_sign_negative());
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for wrong in [f32::NAN, f32::INFINITY, -1e9] {
            for at_position in [true, false] {
                let mut motion = motion();
                let part = if at_position { &mut motion.position } else { &mut motion.velocity };
                part.y = wrong;
                let expected = Err(DatagramError::OutOfRange { field: "motion" });
                assert_eq!(passed(&motion), expected);
            }
        }
    }
}
