use glam::{Quat, Vec3};
use sim::{MAX_ENTITIES, Moving, PlayerMotion, Posture, Walker};

use crate::range::Coder;
use crate::{DatagramError, Tick};

/// Farthest from zero that a coordinate of a player may be, in units, and
/// fastest that a player may be, in units a second: far beyond any map.
const LIMIT: f32 = (1 << 22) as f32;

/// Bits of the number of bodies that follow.
const TOUCHED_BITS: u32 = 2;

/// The squared length of a unit quaternion, but for rounding.
const UNIT: std::ops::Range<f32> = 0.999..1.001;

/// What a reader passes for the body that it does not know yet.
const NOWHERE: Touched = Touched {
    slot: 0,
    asleep: false,
    position: Vec3::ZERO,
    orientation: Quat::IDENTITY,
    velocity: Vec3::ZERO,
    spin: Vec3::ZERO,
};

/// Bits of the ticks since a push.
const PUSHED_BITS: u32 = 5;

/// Bits of a slot.
const SLOT_BITS: u32 = MAX_ENTITIES.ilog2();

/// A body that the client's own player has run into lately, nearly in every bit:
/// a client foresees from it how the body gives way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touched {
    /// Where the entity lives.
    pub slot: u16,
    /// Whether it rests; it then neither moves nor turns.
    pub asleep: bool,
    /// Units.
    pub position: Vec3,
    /// Unit quaternion from body to world axes.
    pub orientation: Quat,
    /// Units per second.
    pub velocity: Vec3,
    /// Radians per second, world axes.
    pub spin: Vec3,
}

impl Touched {
    /// What is told of a body.
    pub fn new(body: &Moving) -> Self {
        let Moving { state, spin } = body;
        Self {
            slot: state.id.slot,
            asleep: state.asleep,
            position: state.position.as_vec3(),
            orientation: state.orientation.as_quat(),
            velocity: state.velocity.as_vec3(),
            spin: spin.as_vec3(),
        }
    }
}

/// The server's answer to what a client predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// How the client's own player moves after the tick of the snapshot, in
    /// every bit: a client predicts from it.
    pub motion: PlayerMotion,
    /// How many ticks before that anything but the player and the map last had
    /// a say in how they moved; [`Answer::LONG_AGO`] if it is longer or never.
    pub since_pushed: u8,
    /// What the player has run into lately, the last one first.
    pub touched: [Option<Touched>; Answer::TOUCHED],
}

impl Answer {
    /// As many ticks or more: longer than several answers are apart.
    pub const LONG_AGO: u8 = (1 << PUSHED_BITS) - 1;

    /// Most bodies that are told of exactly.
    pub const TOUCHED: usize = 2;

    /// The same with the first of these bodies.
    pub fn with_touched(mut self, bodies: impl Iterator<Item = Moving>) -> Self {
        for (place, body) in self.touched.iter_mut().zip(bodies) {
            *place = Some(Touched::new(&body));
        }
        self
    }

    /// An answer at `tick` to a player last pushed in the tick `pushed`.
    pub fn new(motion: PlayerMotion, tick: Tick, pushed: Option<Tick>) -> Self {
        let since = pushed.and_then(|pushed| u8::try_from(tick.distance(pushed)).ok());
        let since_pushed = since.map_or(Self::LONG_AGO, |since| since.min(Self::LONG_AGO));
        Self { motion, since_pushed, touched: [None; Self::TOUCHED] }
    }
}

/// What a reader passes for the answer that it does not know yet.
pub(super) const STILL: Answer = Answer {
    motion: PlayerMotion {
        position: Vec3::ZERO,
        velocity: Vec3::ZERO,
        walker: Walker { posture: Posture::Standing, yaw: 0, grounded: false, jump_held: false },
    },
    since_pushed: 0,
    touched: [None; Answer::TOUCHED],
};

/// Codes an answer.
///
/// # Errors
/// A number comes out that no player's motion has.
pub(super) fn code_answer(
    coder: &mut impl Coder,
    Answer { motion, since_pushed, touched }: &Answer,
) -> Result<Answer, DatagramError> {
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
    let motion = PlayerMotion {
        position: Vec3::from_array(position),
        velocity: Vec3::from_array(velocity),
        walker: Walker { posture, yaw, grounded, jump_held },
    };
    let since_pushed = coder.raw((*since_pushed).into(), PUSHED_BITS) as u8;
    let told = touched.iter().flatten().count();
    let told = coder.raw(told as u32, TOUCHED_BITS) as usize;
    if told > Answer::TOUCHED {
        return Err(DatagramError::OutOfRange { field: "number of bodies touched" });
    }
    let mut bodies = [None; Answer::TOUCHED];
    for (index, place) in bodies.iter_mut().enumerate().take(told) {
        let body = touched.iter().flatten().nth(index).unwrap_or(&NOWHERE);
        *place = Some(code_touched(coder, body)?);
    }
    Ok(Answer { motion, since_pushed, touched: bodies })
}

/// Codes a body.
///
/// # Errors
/// A number comes out that no body has.
fn code_touched(coder: &mut impl Coder, body: &Touched) -> Result<Touched, DatagramError> {
    let slot = coder.raw(body.slot.into(), SLOT_BITS) as u16;
    let asleep = coder.raw(body.asleep.into(), 1) == 1;
    let mut numbers = |numbers: &mut [f32]| {
        for number in numbers {
            *number = checked(f32::from_bits(coder.raw(number.to_bits(), 32)))?;
        }
        Ok::<(), DatagramError>(())
    };
    let (mut position, mut orientation) = (body.position.to_array(), body.orientation.to_array());
    let (mut velocity, mut spin) = ([0.0; 3], [0.0; 3]);
    numbers(&mut position)?;
    numbers(&mut orientation)?;
    if !asleep {
        (velocity, spin) = (body.velocity.to_array(), body.spin.to_array());
        numbers(&mut velocity)?;
        numbers(&mut spin)?;
    }
    let orientation = Quat::from_array(orientation);
    if !(UNIT.contains(&orientation.length_squared())) {
        return Err(DatagramError::OutOfRange { field: "attitude of what was touched" });
    }
    let (position, velocity) = (Vec3::from_array(position), Vec3::from_array(velocity));
    Ok(Touched { slot, asleep, position, orientation, velocity, spin: Vec3::from_array(spin) })
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

    fn answer() -> Answer {
        let motion = PlayerMotion {
            position: Vec3::new(-1.5, 0.1, 4096.03),
            velocity: Vec3::new(0.0, -0.0, 319.999),
            walker: Walker {
                posture: Posture::Crouching,
                yaw: 65_535,
                grounded: false,
                jump_held: true,
            },
        };
        let moving = Touched {
            slot: 4095,
            position: Vec3::new(1.25, -7.5, 0.1),
            orientation: Quat::from_xyzw(0.5, -0.5, 0.5, 0.5),
            velocity: Vec3::new(0.0, 3.0, -0.1),
            spin: Vec3::new(-1.0, 0.0, 9.0),
            ..NOWHERE
        };
        let resting = Touched { slot: 7, asleep: true, ..NOWHERE };
        Answer { motion, since_pushed: 17, touched: [Some(moving), Some(resting)] }
    }

    /// The answer that is read where this one was written.
    fn passed(answer: &Answer) -> Result<Answer, DatagramError> {
        let mut encoder = Encoder::new(&[128], Vec::new());
        // The writer checks too, but writes first.
        let _ = code_answer(&mut encoder, answer);
        let bytes = encoder.finish();
        code_answer(&mut Decoder::new(&[128], &bytes), &STILL)
    }

    #[test]
    fn every_bit_survives() {
        let read = passed(&answer()).unwrap();
        assert_eq!(read, answer());
        assert!(read.motion.velocity.y.is_sign_negative());
    }

    #[test]
    fn pushes_of_long_ago_are_all_alike() {
        let since = |pushed| Answer::new(answer().motion, Tick(100), pushed).since_pushed;
        assert_eq!(since(Some(Tick(100))), 0);
        assert_eq!(since(Some(Tick(70))), 30);
        assert_eq!([since(Some(Tick(1))), since(None)], [Answer::LONG_AGO; 2]);
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for wrong in [f32::NAN, f32::INFINITY, -1e9] {
            for at_position in [true, false] {
                let mut answer = answer();
                let motion = &mut answer.motion;
                let part = if at_position { &mut motion.position } else { &mut motion.velocity };
                part.y = wrong;
                let expected = Err(DatagramError::OutOfRange { field: "motion" });
                assert_eq!(passed(&answer), expected);
            }
        }
    }
}
