//! The authoritative motion of the client's own player, from which a client predicts.

use glam::{Quat, Vec3};
use obsp::geometry::Aabb;
use obsp_sim::{
    ArmedMove, LinearMove, MAX_MOVEMENT_SETS, MovementId, Moving, PlayerMotion, Posture, Swing,
    Walker,
};

use crate::range::Coder;
use crate::{DatagramError, SLOT_BITS, Tick};

/// Maximum magnitude of a player's coordinates, in units, and of its velocity, in units per second:
/// far beyond any map.
const LIMIT: f32 = (1 << 22) as f32;

/// Bits of the number of touched bodies.
const TOUCHED_BITS: u32 = 2;

/// The squared length of a unit quaternion, up to rounding.
const UNIT: std::ops::Range<f32> = 0.999..1.001;

/// The placeholder that a reader passes for a body that it does not know yet.
const UNKNOWN_BODY: TouchedBody = TouchedBody {
    slot: 0,
    asleep: false,
    position: Vec3::ZERO,
    orientation: Quat::IDENTITY,
    velocity: Vec3::ZERO,
    spin: Vec3::ZERO,
    linear_move: None,
    swing: None,
    armed: None,
};

/// The placeholder that a reader passes for a move that it does not know yet.
const UNKNOWN_MOVE: TouchedMove = TouchedMove { goal: Vec3::ZERO, speed: 0.0, start: Tick(0) };

/// The placeholder that a reader passes for a swing that it does not know yet.
const UNKNOWN_SWING: TouchedSwing =
    TouchedSwing { place: Vec3::ZERO, way: Vec3::ZERO, ticks: 0, at: 0 };

/// The placeholder that a reader passes for an armed move that it does not know yet.
const UNKNOWN_ARMED: TouchedArmedMove =
    TouchedArmedMove { zone: [Vec3::ZERO; 2], goal: Vec3::ZERO, speed: 0.0, delay: 0 };

/// Bits of the ticks since a push.
const PUSHED_BITS: u32 = 5;

/// Bits of the number of a player's set of movement parameters.
const MOVEMENT_BITS: u32 = (MAX_MOVEMENT_SETS - 1).ilog2() + 1;

/// A body that the client's own player has touched lately, or may soon set off, in single precision. A
/// client predicts from it how the body gives way and moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchedBody {
    /// The slot of the entity.
    pub slot: u16,
    /// Whether the body sleeps. A sleeping body neither moves nor turns. If it has a velocity, that is
    /// the velocity of its surface.
    pub asleep: bool,
    /// The body's position, in units.
    pub position: Vec3,
    /// The body's orientation: the unit quaternion from body to world axes.
    pub orientation: Quat,
    /// The body's velocity, in units per second.
    pub velocity: Vec3,
    /// The body's angular velocity, in radians per second about the world axes.
    pub spin: Vec3,
    /// The place to which a kinematic body goes.
    pub linear_move: Option<TouchedMove>,
    /// The swing of a kinematic body.
    pub swing: Option<TouchedSwing>,
    /// The move that a kinematic body begins once a player is in a zone.
    pub armed: Option<TouchedArmedMove>,
}

/// The place to which a kinematic body goes in a straight line. It rests there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchedMove {
    /// The body's position at the end, in units.
    pub goal: Vec3,
    /// Units per second.
    pub speed: f32,
    /// The tick after which the body moves.
    pub start: Tick,
}

/// The swing of a kinematic body to and fro between two places, as a pendulum does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchedSwing {
    /// One end of the way, in units.
    pub place: Vec3,
    /// The vector to the other end, in units.
    pub way: Vec3,
    /// Ticks from one end to the other.
    pub ticks: u32,
    /// The ticks that the body has swung at the end of the next tick, modulo those of both ways.
    pub at: u32,
}

impl TouchedSwing {
    fn new(Swing { place, way, ticks, at }: Swing) -> Self {
        Self { place: place.as_vec3(), way: way.as_vec3(), ticks, at }
    }
}

impl From<TouchedSwing> for Swing {
    fn from(TouchedSwing { place, way, ticks, at }: TouchedSwing) -> Self {
        Self { place: place.as_dvec3(), way: way.as_dvec3(), ticks, at }
    }
}

/// The move that a kinematic body begins once a player is in a zone, while the body rests or waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchedArmedMove {
    /// The least and the greatest corner of the zone, in units.
    pub zone: [Vec3; 2],
    /// The body's position at the end of the move, in units.
    pub goal: Vec3,
    /// Units per second.
    pub speed: f32,
    /// Ticks from the one in which a player is in the zone to the one after which the body moves.
    pub delay: u32,
}

impl TouchedArmedMove {
    fn new(ArmedMove { zone, by: LinearMove { goal, speed, delay } }: ArmedMove) -> Self {
        let zone = [zone.min.as_vec3(), zone.max.as_vec3()];
        Self { zone, goal: goal.as_vec3(), speed: speed as f32, delay }
    }
}

impl From<TouchedArmedMove> for ArmedMove {
    fn from(TouchedArmedMove { zone, goal, speed, delay }: TouchedArmedMove) -> Self {
        let [min, max] = zone.map(|corner| corner.as_dvec3());
        let by = LinearMove { goal: goal.as_dvec3(), speed: speed.into(), delay };
        Self { zone: Aabb { min, max }, by }
    }
}

impl TouchedBody {
    /// A body as it is after `tick`, rounded to single precision.
    pub fn new(body: &Moving, tick: Tick) -> Self {
        let Moving { state, spin, linear_move, swing, armed } = body;
        let linear_move = linear_move.map(|LinearMove { goal, speed, delay }| TouchedMove {
            goal: goal.as_vec3(),
            speed: speed as f32,
            start: tick.after(delay),
        });
        Self {
            linear_move,
            swing: swing.map(TouchedSwing::new),
            armed: armed.map(TouchedArmedMove::new),
            slot: state.id.slot,
            asleep: state.asleep,
            position: state.position.as_vec3(),
            orientation: state.orientation.as_quat(),
            velocity: state.velocity.as_vec3(),
            spin: spin.as_vec3(),
        }
    }
}

/// The motion of the client's own player as the server simulated it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuthoritativeMotion {
    /// The motion after the tick of the snapshot, exact to the bit, because a client predicts from
    /// it.
    pub motion: PlayerMotion,
    /// Number of ticks since the player was last pushed, which means moved by something that its
    /// client cannot predict. It is [`AuthoritativeMotion::NOT_RECENT`] if that is longer ago or
    /// never happened.
    pub since_pushed: u8,
    /// The bodies that the player has touched lately, the one that was touched last first. Then those
    /// that the player may soon set off.
    pub touched: [Option<TouchedBody>; AuthoritativeMotion::MAX_TOUCHED],
}

impl AuthoritativeMotion {
    /// In [`AuthoritativeMotion::since_pushed`], this number stands for this many ticks or more.
    /// That is longer than the intervals of several motions.
    pub const NOT_RECENT: u8 = (1 << PUSHED_BITS) - 1;

    /// Maximum number of bodies that are sent with a motion.
    pub const MAX_TOUCHED: usize = 2;

    /// Adds the first of these bodies as they are after `tick`, which is that of the motion. Adds
    /// [`AuthoritativeMotion::MAX_TOUCHED`] at most.
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

/// Codes a touched body.
///
/// # Errors
/// The reader gets a number that is out of range.
fn code_touched(coder: &mut impl Coder, body: &TouchedBody) -> Result<TouchedBody, DatagramError> {
    let slot = coder.raw(body.slot.into(), SLOT_BITS) as u16;
    let asleep = coder.raw(body.asleep.into(), 1) == 1;
    let (mut position, mut orientation) = (body.position.to_array(), body.orientation.to_array());
    let (mut velocity, mut spin) = ([0.0; 3], [0.0; 3]);
    code_numbers(coder, &mut position)?;
    code_numbers(coder, &mut orientation)?;
    let moves = [body.velocity, body.spin] != [Vec3::ZERO; 2];
    if coder.raw(moves.into(), 1) == 1 {
        (velocity, spin) = (body.velocity.to_array(), body.spin.to_array());
        code_numbers(coder, &mut velocity)?;
        code_numbers(coder, &mut spin)?;
    }
    let orientation = Quat::from_array(orientation);
    if !(UNIT.contains(&orientation.length_squared())) {
        return Err(DatagramError::OutOfRange { field: "orientation of a touched body" });
    }
    let (position, velocity) = (Vec3::from_array(position), Vec3::from_array(velocity));
    let has_goal = coder.raw(body.linear_move.is_some().into(), 1) == 1;
    let linear_move = has_goal.then(|| code_move(coder, body.linear_move)).transpose()?;
    let spin = Vec3::from_array(spin);
    let swings = coder.raw(body.swing.is_some().into(), 1) == 1;
    let swing = swings.then(|| code_swing(coder, body.swing)).transpose()?;
    let is_armed = coder.raw(body.armed.is_some().into(), 1) == 1;
    let armed = is_armed.then(|| code_armed(coder, body.armed)).transpose()?;
    let moves = TouchedBody { linear_move, swing, armed, ..UNKNOWN_BODY };
    Ok(TouchedBody { slot, asleep, position, orientation, velocity, spin, ..moves })
}

fn code_numbers(coder: &mut impl Coder, numbers: &mut [f32]) -> Result<(), DatagramError> {
    for number in numbers {
        *number = checked(f32::from_bits(coder.raw(number.to_bits(), 32)))?;
    }
    Ok(())
}

/// Codes the place to which a touched body goes.
///
/// # Errors
/// The reader gets a number that is out of range.
fn code_move(
    coder: &mut impl Coder,
    known: Option<TouchedMove>,
) -> Result<TouchedMove, DatagramError> {
    let TouchedMove { goal, speed, start } = known.unwrap_or(UNKNOWN_MOVE);
    let (goal, speed) = code_way(coder, goal, speed)?;
    Ok(TouchedMove { goal, speed, start: Tick(coder.raw(start.0, 32)) })
}

/// Codes the swing of a touched body.
///
/// # Errors
/// The reader gets a number that is out of range.
fn code_swing(
    coder: &mut impl Coder,
    known: Option<TouchedSwing>,
) -> Result<TouchedSwing, DatagramError> {
    let TouchedSwing { place, way, ticks, at } = known.unwrap_or(UNKNOWN_SWING);
    let (mut place, mut way) = (place.to_array(), way.to_array());
    code_numbers(coder, &mut place)?;
    code_numbers(coder, &mut way)?;
    let [ticks, at] = [ticks, at].map(|number| coder.raw(number, 32));
    if !(1..=Swing::MAX_TICKS).contains(&ticks) || at >= 2 * ticks {
        return Err(DatagramError::OutOfRange { field: "ticks of a swing" });
    }
    Ok(TouchedSwing { place: place.into(), way: way.into(), ticks, at })
}

/// Codes the move that a touched body begins once a player is in a zone.
///
/// # Errors
/// The reader gets a number that is out of range.
fn code_armed(
    coder: &mut impl Coder,
    known: Option<TouchedArmedMove>,
) -> Result<TouchedArmedMove, DatagramError> {
    let TouchedArmedMove { zone, goal, speed, delay } = known.unwrap_or(UNKNOWN_ARMED);
    let mut zone = zone.map(|corner| corner.to_array());
    for corner in &mut zone {
        code_numbers(coder, corner)?;
    }
    let (goal, speed) = code_way(coder, goal, speed)?;
    let zone = zone.map(Vec3::from_array);
    Ok(TouchedArmedMove { zone, goal, speed, delay: coder.raw(delay, 32) })
}

/// Codes the goal and the speed of a way.
///
/// # Errors
/// The reader gets a number that is out of range.
fn code_way(coder: &mut impl Coder, goal: Vec3, speed: f32) -> Result<(Vec3, f32), DatagramError> {
    let mut numbers = [goal.x, goal.y, goal.z, speed];
    code_numbers(coder, &mut numbers)?;
    let [x, y, z, speed] = numbers;
    if speed <= 0.0 {
        return Err(DatagramError::OutOfRange { field: "speed of a touched body" });
    }
    Ok((Vec3::new(x, y, z), speed))
}

fn checked(value: f32) -> Result<f32, DatagramError> {
    // A NaN also fails the comparison.
    let possible = value.abs() <= LIMIT;
    possible.then_some(value).ok_or(DatagramError::OutOfRange { field: "motion" })
}

#[cfg(test)]
mod tests {
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
