//! A body that the client's own player has touched, or may soon set off: all that a client needs to
//! predict how the body moves.

use glam::{Quat, Vec3};
use obsp::geometry::Aabb;
use obsp_sim::{ArmedMove, LinearMove, Moving, Swing};

use crate::range::Coder;
use crate::{DatagramError, SLOT_BITS, Tick};

/// Maximum magnitude of a player's coordinates, in units, and of its velocity, in units per second:
/// far beyond any map.
const LIMIT: f32 = (1 << 22) as f32;

/// The squared length of a unit quaternion, up to rounding.
const UNIT: std::ops::Range<f32> = 0.999..1.001;

/// The placeholder that a reader passes for a body that it does not know yet.
pub(crate) const UNKNOWN_BODY: TouchedBody = TouchedBody {
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

/// A body that the client's own player has touched lately, or may soon set off, in single
/// precision. A client predicts from this state how the body gives way and moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchedBody {
    /// The slot of the entity.
    pub slot: u16,
    /// Whether the body sleeps. A sleeping body neither moves nor turns. If it has a velocity, this
    /// is the velocity of its surface.
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
    /// The ticks that the body has swung at the end of the next tick, modulo the ticks of the way
    /// there and back.
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
    /// Number of ticks from the tick in which a player is in the zone to the tick after which the
    /// body moves.
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

/// Codes a touched body.
///
/// # Errors
/// The reader gets a number that is out of range.
pub(super) fn code_touched(
    coder: &mut impl Coder,
    body: &TouchedBody,
) -> Result<TouchedBody, DatagramError> {
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

/// Returns `value` if a motion may have this number.
///
/// # Errors
/// The number is out of range.
pub(super) fn checked(value: f32) -> Result<f32, DatagramError> {
    // A NaN also fails the comparison.
    let possible = value.abs() <= LIMIT;
    possible.then_some(value).ok_or(DatagramError::OutOfRange { field: "motion" })
}
