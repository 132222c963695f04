//! The authoritative motion of the client's own player, from which a client predicts.

use glam::Vec3;
use obsp_sim::{MAX_MOVEMENT_SETS, MovementId, Moving, PlayerMotion, Posture, Walker};

use super::touched_body::{TouchedBody, UNKNOWN_BODY, checked, code_touched};
use crate::range::Coder;
use crate::{DatagramError, Tick};

/// Bits of the number of touched bodies.
const TOUCHED_BITS: u32 = 2;

/// Bits of the ticks since a push.
const PUSHED_BITS: u32 = 5;

/// Bits of the number of a player's set of movement parameters.
const MOVEMENT_BITS: u32 = (MAX_MOVEMENT_SETS - 1).ilog2() + 1;

/// The motion of the client's own player as the server simulated it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuthoritativeMotion {
    /// The motion after the tick of the snapshot, exact to the bit, because a client predicts from
    /// it.
    pub motion: PlayerMotion,
    /// Number of ticks since the player was last pushed, which means moved by something that its
    /// client cannot predict. It is [`AuthoritativeMotion::NOT_RECENT`] if the last push is longer
    /// ago, or if there was none.
    pub since_pushed: u8,
    /// The bodies that the player has touched lately, beginning with the one touched last. Bodies
    /// that the player may soon set off follow.
    pub touched: [Option<TouchedBody>; AuthoritativeMotion::MAX_TOUCHED],
}

impl AuthoritativeMotion {
    /// In [`AuthoritativeMotion::since_pushed`], this number stands for this many ticks or more.
    /// That is longer than the intervals of several motions.
    pub const NOT_RECENT: u8 = (1 << PUSHED_BITS) - 1;

    /// Maximum number of bodies that are sent with a motion.
    pub const MAX_TOUCHED: usize = 2;

    /// Adds the first of these bodies, at most [`AuthoritativeMotion::MAX_TOUCHED`], as they are
    /// after `tick`, the tick of the motion.
    pub fn with_touched(mut self, tick: Tick, bodies: impl Iterator<Item = Moving>) -> Self {
        for (place, body) in self.touched.iter_mut().zip(bodies) {
            *place = Some(TouchedBody::new(&body, tick));
        }
        self
    }

    /// The motion at `tick` of a player last pushed in the tick `pushed`.
    pub fn new(motion: PlayerMotion, tick: Tick, pushed: Option<Tick>) -> Self {
        let since = pushed.and_then(|pushed| u8::try_from(tick.distance(pushed)).ok());
        let since_pushed = since.map_or(Self::NOT_RECENT, |since| since.min(Self::NOT_RECENT));
        Self { motion, since_pushed, touched: [None; Self::MAX_TOUCHED] }
    }
}

/// The placeholder that a reader passes for a motion that it does not know yet.
pub(super) const UNKNOWN_MOTION: AuthoritativeMotion = AuthoritativeMotion {
    motion: PlayerMotion {
        position: Vec3::ZERO,
        velocity: Vec3::ZERO,
        walker: Walker {
            posture: Posture::Standing,
            yaw: 0,
            grounded: false,
            jump_held: false,
            ground_velocity: Vec3::ZERO,
            movement: MovementId::USUAL,
        },
    },
    since_pushed: 0,
    touched: [None; AuthoritativeMotion::MAX_TOUCHED],
};

/// Codes a motion.
///
/// # Errors
/// The reader gets a number that is out of range.
pub(super) fn code_motion(
    coder: &mut impl Coder,
    AuthoritativeMotion { motion, since_pushed, touched }: &AuthoritativeMotion,
) -> Result<AuthoritativeMotion, DatagramError> {
    let mut position = motion.position.to_array();
    for axis in &mut position {
        *axis = checked(f32::from_bits(coder.raw(axis.to_bits(), 32)))?;
    }
    let mut velocity = motion.velocity.to_array();
    for axis in &mut velocity {
        // The bits are compared, because a negative zero is not zero here.
        let bits = axis.to_bits();
        let moves = coder.raw((bits != 0).into(), 1) == 1;
        *axis = checked(f32::from_bits(if moves { coder.raw(bits, 32) } else { 0 }))?;
    }
    let walker = motion.walker;
    let yaw = coder.raw(walker.yaw.into(), 16) as u16;
    let mut flag = |is_set: bool| coder.raw(is_set.into(), 1) == 1;
    let crouching = flag(walker.posture == Posture::Crouching);
    let (grounded, jump_held) = (flag(walker.grounded), flag(walker.jump_held));
    let changed = flag(walker.movement != MovementId::USUAL);
    let set = if changed { coder.raw(walker.movement.index() as u32, MOVEMENT_BITS) } else { 0 };
    let movement = MovementId::from_index(set as usize)
        .ok_or(DatagramError::OutOfRange { field: "movement" })?;
    let mut ground_velocity = walker.ground_velocity.to_array();
    let is_carried = walker.ground_velocity != Vec3::ZERO;
    if coder.raw(is_carried.into(), 1) == 1 {
        for axis in &mut ground_velocity {
            *axis = checked(f32::from_bits(coder.raw(axis.to_bits(), 32)))?;
        }
    }
    let ground_velocity = Vec3::from_array(ground_velocity);
    let posture = if crouching { Posture::Crouching } else { Posture::Standing };
    let motion = PlayerMotion {
        position: Vec3::from_array(position),
        velocity: Vec3::from_array(velocity),
        walker: Walker { posture, yaw, grounded, jump_held, ground_velocity, movement },
    };
    let since_pushed = coder.raw((*since_pushed).into(), PUSHED_BITS) as u8;
    let count = touched.iter().flatten().count();
    let count = coder.raw(count as u32, TOUCHED_BITS) as usize;
    if count > AuthoritativeMotion::MAX_TOUCHED {
        return Err(DatagramError::OutOfRange { field: "number of bodies touched" });
    }
    let mut bodies = [None; AuthoritativeMotion::MAX_TOUCHED];
    for (index, place) in bodies.iter_mut().enumerate().take(count) {
        let body = touched.iter().flatten().nth(index).unwrap_or(&UNKNOWN_BODY);
        *place = Some(code_touched(coder, body)?);
    }
    Ok(AuthoritativeMotion { motion, since_pushed, touched: bodies })
}

#[cfg(test)]
mod tests {
    use glam::Quat;
    use obsp_sim::Swing;

    use super::super::touched_body::{TouchedArmedMove, TouchedMove, TouchedSwing};
    use super::*;
    use crate::range::{Decoder, Encoder};

    fn motion() -> AuthoritativeMotion {
        let motion = PlayerMotion {
            position: Vec3::new(-1.5, 0.1, 4096.03),
            velocity: Vec3::new(0.0, -0.0, 319.999),
            walker: Walker {
                posture: Posture::Crouching,
                yaw: 65_535,
                grounded: false,
                jump_held: true,
                ground_velocity: Vec3::new(0.0, -150.0, 0.25),
                movement: MovementId::from_index(15).unwrap(),
            },
        };
        let moving = TouchedBody {
            slot: 4095,
            position: Vec3::new(1.25, -7.5, 0.1),
            orientation: Quat::from_xyzw(0.5, -0.5, 0.5, 0.5),
            velocity: Vec3::new(0.0, 3.0, -0.1),
            spin: Vec3::new(-1.0, 0.0, 9.0),
            swing: Some(TouchedSwing {
                place: Vec3::X,
                way: Vec3::NEG_Y,
                ticks: Swing::MAX_TICKS,
                at: 2 * Swing::MAX_TICKS - 1,
            }),
            ..UNKNOWN_BODY
        };
        let goal = Vec3::new(0.5, 64.25, -1.0);
        let linear_move = Some(TouchedMove { goal, speed: 150.0, start: Tick(u32::MAX) });
        let armed = Some(TouchedArmedMove {
            zone: [Vec3::splat(-64.5), Vec3::new(64.0, 32.0, 200.0)],
            goal,
            speed: 0.5,
            delay: u32::MAX,
        });
        let resting = TouchedBody { slot: 7, asleep: true, linear_move, armed, ..UNKNOWN_BODY };
        AuthoritativeMotion { motion, since_pushed: 17, touched: [Some(moving), Some(resting)] }
    }

    #[test]
    fn the_surface_of_a_sleeping_body_may_move() {
        let conveyor =
            TouchedBody { asleep: true, velocity: Vec3::new(70.7, 0.1, 0.0), ..UNKNOWN_BODY };
        let known = AuthoritativeMotion { touched: [Some(conveyor), None], ..motion() };
        assert_eq!(round_trip(&known), Ok(known));
    }

    /// Writes a motion and reads it back.
    fn round_trip(motion: &AuthoritativeMotion) -> Result<AuthoritativeMotion, DatagramError> {
        let mut encoder = Encoder::new(&[128], Vec::new());
        // The writer also fails on an impossible number, but only after writing it.
        let _ = code_motion(&mut encoder, motion);
        let bytes = encoder.finish();
        code_motion(&mut Decoder::new(&[128], &bytes), &UNKNOWN_MOTION)
    }

    #[test]
    fn every_bit_survives() {
        let read = round_trip(&motion()).unwrap();
        assert_eq!(read, motion());
        assert!(read.motion.velocity.y.is_sign_negative());
    }

    #[test]
    fn pushes_that_are_not_recent_are_equal() {
        let since =
            |pushed| AuthoritativeMotion::new(motion().motion, Tick(100), pushed).since_pushed;
        assert_eq!(since(Some(Tick(100))), 0);
        assert_eq!(since(Some(Tick(70))), 30);
        assert_eq!([since(Some(Tick(1))), since(None)], [AuthoritativeMotion::NOT_RECENT; 2]);
    }

    #[test]
    fn a_move_without_speed_is_rejected() {
        for speed in [0.0, -1.0, f32::NAN, 1e9] {
            let mut wrong = motion();
            let body = wrong.touched[1].as_mut().unwrap();
            body.linear_move.as_mut().unwrap().speed = speed;
            let read = round_trip(&wrong);
            assert!(matches!(read, Err(DatagramError::OutOfRange { .. })), "{speed}: {read:?}");
        }
    }

    #[test]
    fn impossible_ticks_of_a_swing_are_rejected() {
        for (ticks, at, fits) in [
            (0, 0, false),
            (1, 1, true),
            (1, 2, false),
            (Swing::MAX_TICKS, 0, true),
            (Swing::MAX_TICKS + 1, 0, false),
        ] {
            let mut odd = motion();
            let body = odd.touched[0].as_mut().unwrap();
            body.swing = Some(TouchedSwing { place: Vec3::X, way: Vec3::Y, ticks, at });
            assert_eq!(round_trip(&odd).is_ok(), fits, "{ticks} and {at}");
        }
    }

    #[test]
    fn impossible_numbers_are_rejected() {
        for wrong in [f32::NAN, f32::INFINITY, -1e9] {
            for at_position in [true, false] {
                let mut wrong_motion = motion();
                let motion = &mut wrong_motion.motion;
                let part = if at_position { &mut motion.position } else { &mut motion.velocity };
                part.y = wrong;
                let expected = Err(DatagramError::OutOfRange { field: "motion" });
                assert_eq!(round_trip(&wrong_motion), expected);
            }
        }
    }
}
