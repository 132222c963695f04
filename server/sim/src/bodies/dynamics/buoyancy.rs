//! The effect of liquids on a body: they lift it by the weight of the liquid that it displaces, and
//! brake its motion relative to their flow.

use glam::DVec3;
use obsp::LiquidKind;

use crate::bodies::roles::Drive;

/// Density of water, in kilograms per cubic unit: 1,000 kg per cubic metre, with 40 units to the
/// metre. The usual density of a body is about an eighth of this. So a floating body has an eighth
/// of its volume below the surface, and no crate tips over.
const WATER: f64 = 1.0 / 64.0;

/// Density of slime, in kilograms per cubic unit.
const SLIME: f64 = 0.018;

/// Density of lava, in kilograms per cubic unit.
const LAVA: f64 = 0.022;

/// The damping per second, linear and angular, of a slow body that displaces its own mass, as a
/// floating body does. The damping is proportional to the displaced mass per mass of the body.
const DRAG: f64 = 3.0;

/// The linear drag grows by this for each of its radii that the body moves per second, and the
/// angular drag for each radian that it turns per second.
const FAST_DRAG: f64 = 0.5;

/// A body rests at the surface if lift and weight differ by no more than this share of the lift. A
/// floating crate is then a two-hundredth of its draught too high or too low.
const REST_SHARE: f64 = 1.0 / 200.0;

/// A body also rests if it is no more than this too high or too low, in units. The lightest bodies
/// have a draught of a few thousandths of a unit, and the solver leaves out motions that are too
/// small to be seen.
const REST_DISTANCE: f64 = 0.001;

/// A body that bobs faster than ticks can follow is brought to rest at the surface if it moves and
/// turns more slowly than gravity makes a body move in this many ticks. Otherwise it would hop for
/// ever, because it gains about this speed in the air between two ticks.
const CALM_TICKS: f64 = 2.0;

/// Greatest acceleration by lift, in units per second squared, and in radians per second squared.
const MAX_ACCELERATION: f64 = 1e7;

/// The density of a liquid, in kilograms per cubic unit.
pub(crate) fn density(kind: LiquidKind) -> f64 {
    match kind {
        LiquidKind::Water => WATER,
        LiquidKind::Slime => SLIME,
        LiquidKind::Lava => LAVA,
    }
}

/// The effect of liquids on a body within one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Buoyancy {
    /// The acceleration by lift.
    pub(crate) drive: Drive,
    /// The damping by the liquids, linear and angular, per second.
    pub(crate) damping: [f64; 2],
    /// Whether a part of the body is above the surface, so that it bobs when it is pushed.
    pub(crate) surfaces: bool,
    /// Whether the body surfaces in a liquid that does not flow, with lift and weight in balance.
    pub(crate) rests: bool,
}

/// The liquid that a body displaces, averaged over a tick.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Displaced {
    /// Kilograms.
    pub(crate) mass: f64,
    /// The mass times its centroid, relative to the body's centre of mass.
    pub(crate) moment: DVec3,
    /// Kilograms more for each unit by which the body sinks.
    pub(crate) growth: f64,
}

/// The body that displaces a liquid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floating {
    /// The gravity of the match, in units per second squared, which makes the liquid lift.
    pub(crate) gravity: f64,
    /// The upward acceleration of the body by its weight and by the forces of a game.
    pub(crate) pull: f64,
    pub(crate) inverse_mass: f64,
    pub(crate) inverse_inertia: glam::DMat3,
    pub(crate) radius: f64,
    pub(crate) velocity: DVec3,
    /// The velocity of the liquid.
    pub(crate) flow: DVec3,
    pub(crate) angular: DVec3,
    /// Duration of the motion, in seconds.
    pub(crate) seconds: f64,
}

impl Buoyancy {
    /// The effect of `displaced` on a body.
    ///
    /// A small light body bobs faster than ticks can follow. So an implicit step reduces the sum of
    /// lift and weight, as if the change of the lift within the tick made the body heavier. Where
    /// lift and weight are equal, nothing changes. This step neither gains nor loses energy. A calm
    /// body therefore takes a step that also loses speed: the faster it would bob, the more.
    pub(crate) fn new(displaced: &Displaced, body: &Floating) -> Self {
        let Floating { gravity, pull, inverse_mass, seconds, .. } = *body;
        let share = displaced.mass * inverse_mass;
        let lift = gravity * share;
        let growth = gravity * displaced.growth.max(0.0) * inverse_mass;
        let stiffness = 0.25 * growth * seconds * seconds;
        let velocity = body.velocity - body.flow;
        let speed = velocity.length() + body.angular.length() * body.radius;
        let is_calm = speed < CALM_TICKS * gravity * seconds;
        let calmed = if is_calm && stiffness > 1.0 { 1.0 - 1.0 / stiffness } else { 0.0 };
        let slower = 1.0 / (1.0 + stiffness * (1.0 + 3.0 * calmed));
        let lost = |speed: DVec3| speed * (calmed / seconds);
        let linear = DVec3::Z * ((lift + pull) * slower - pull - lost(velocity).z);
        let torque = displaced.moment.cross(DVec3::Z * gravity);
        let angular = body.inverse_inertia * torque * slower - lost(body.angular);
        let radii = velocity.length() / body.radius;
        let drag = |speed: f64| share * (DRAG + FAST_DRAG * speed);
        let unbalanced = (lift + pull).abs().max(angular.length() * body.radius);
        let damping = [drag(radii), drag(body.angular.length())];
        // Damping towards the flow equals damping towards rest plus this acceleration.
        let linear = linear + body.flow * damping[0];
        let is_calm_liquid = body.flow == DVec3::ZERO;
        Self {
            drive: Drive {
                linear: linear.clamp_length_max(MAX_ACCELERATION),
                angular: angular.clamp_length_max(MAX_ACCELERATION),
            },
            damping,
            surfaces: displaced.growth > 0.0,
            rests: is_calm_liquid
                && growth > 0.0
                && unbalanced <= (REST_SHARE * lift).max(REST_DISTANCE * growth),
        }
    }
}
