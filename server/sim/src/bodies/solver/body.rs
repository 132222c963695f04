//! The bodies as the solver works on them. Their numbers are in single precision, which is enough
//! for a tick's small displacements, and in rows of four, from which lanes are read.

use glam::{DMat3, DQuat, DVec3, Vec3};
use obsp::model::Material;
use wide::f32x4;

use super::MAX_SPEED;
use super::flight::{Braked, damped};
use super::lanes::{LANES, Vec3Lanes};
use crate::bodies::dynamics::LockedAxes;
use crate::bodies::entities::Entity;
use crate::bodies::roles::Drive;
use crate::collision::pose::Pose;
use crate::collision::shape::Shapes;

/// A body in contact that spins slower than this, in radians per second, is solved as if its
/// moments of inertia were equal. That changes its spin by less than a tenth of the spin per
/// second.
const PRECESSING_SPIN: f64 = 0.1;

/// A body in contact that spins faster than this, in radians per second, precesses in each
/// sub-step. If an impact gives it this spin, it precesses from that sub-step on. The precession of
/// a slower body over the whole tick is applied as an acceleration.
const FAST_SPIN: f64 = 3.0;

const FAST_SPIN_SQUARED: f32 = (FAST_SPIN * FAST_SPIN) as f32;

/// A vector and an unused fourth number, which is zero.
pub(super) type PaddedVec3 = f32x4;

pub(super) fn padded(vector: Vec3) -> PaddedVec3 {
    PaddedVec3::new([vector.x, vector.y, vector.z, 0.0])
}

pub(super) fn unpadded(padded: PaddedVec3) -> Vec3 {
    let [x, y, z, _] = padded.to_array();
    Vec3::new(x, y, z)
}

/// The linear and angular velocity of a body, which impulses change, or a change of both.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Twist {
    /// Units per second.
    pub(super) linear: PaddedVec3,
    /// Radians per second.
    pub(super) angular: PaddedVec3,
}

/// The speed of a body in a sub-step may be at most this many times the highest speed at the end of
/// the tick. Larger speeds would grow from sub-step to sub-step until they are infinite.
const OVERSHOOT: f32 = 16.0;

/// The displacement of a body since the tick began, for all of its points.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Displacement {
    /// Displacement of the centre of mass, in units.
    pub(super) shift: PaddedVec3,
    /// Columns of the rotation's matrix, less those of the identity.
    pub(super) columns: [PaddedVec3; 3],
}

/// The data of a body, besides its velocity and its displacement.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolverBody {
    pub(super) inverse_mass: f32,
    /// The entries `xx xy xz yy yz zz` of the inverse inertia, in world axes.
    pub(super) inverse_inertia: [f32; 6],
    pub(super) restitution: f32,
    pub(super) friction: f32,
    linear_damping: f32,
    angular_damping: f32,
    /// The axes on which impulses have no effect.
    pub(super) locked: LockedAxes,
    pub(super) position: DVec3,
    /// Velocity of the surface relative to the body; zero for all bodies except conveyors.
    pub(super) surface: Vec3,
    /// Acceleration by gravity, engine, other forces and precession.
    acceleration: Twist,
    /// Rotation since the tick began.
    delta_rotation: DQuat,
    /// The inertia in the body's own axes; zero for a body that nothing turns.
    inertia: DMat3,
    /// Whether the body's angular velocity changes as it turns freely.
    precesses: bool,
    /// Whether the body precesses in each sub-step. For other bodies, `acceleration` includes
    /// `precession`.
    is_fast: bool,
    precession: PaddedVec3,
    /// Velocities before the impulses of the current sub-step.
    base: Twist,
    /// Change of both velocities by all impulses of the last sub-step.
    impulses: Twist,
}

/// Bodies that are solved together. The first is fixed, and stands for everything that no
/// impulse moves.
#[derive(Default)]
pub(super) struct Bodies {
    pub(super) list: Vec<SolverBody>,
    pub(super) velocities: Vec<Twist>,
    pub(super) displacements: Vec<Displacement>,
    /// For each body: the rotation from its own axes to the world's axes, when the tick began.
    rotations: Vec<DMat3>,
    /// Number of kinematic bodies, which come last. They move, but no impulse changes their
    /// velocities.
    kinematic: usize,
    /// Length of the tick, in seconds.
    pub(super) seconds: f64,
}

impl SolverBody {
    const FIXED: Self = Self {
        inverse_mass: 0.0,
        inverse_inertia: [0.0; 6],
        restitution: 0.0,
        friction: Material::USUAL.friction() as f32,
        linear_damping: 0.0,
        angular_damping: 0.0,
        locked: LockedAxes::NONE,
        position: DVec3::ZERO,
        surface: Vec3::ZERO,
        acceleration: Twist { linear: PaddedVec3::ZERO, angular: PaddedVec3::ZERO },
        delta_rotation: DQuat::IDENTITY,
        inertia: DMat3::ZERO,
        precesses: false,
        is_fast: false,
        precession: PaddedVec3::ZERO,
        base: Twist { linear: PaddedVec3::ZERO, angular: PaddedVec3::ZERO },
        impulses: Twist { linear: PaddedVec3::ZERO, angular: PaddedVec3::ZERO },
    };

    /// The acceleration by forces, in units per second squared.
    pub(super) fn acceleration(&self) -> Vec3 {
        unpadded(self.acceleration.linear)
    }

    /// Whether no impulse moves the body.
    pub(super) fn is_fixed(&self) -> bool {
        self.inverse_mass == 0.0
    }
}

impl Bodies {
    /// The fixed body, and room for `count` others, in a tick of `seconds`.
    pub(super) fn with_capacity(count: usize, seconds: f64) -> Self {
        let mut bodies = Self {
            seconds,
            list: Vec::with_capacity(count + 1),
            velocities: Vec::with_capacity(count + 1),
            displacements: Vec::with_capacity(count + 1),
            rotations: Vec::with_capacity(count + 1),
            kinematic: 0,
        };
        bodies.push_fixed();
        bodies
    }

    /// The displacements of four bodies: the shifts, and the columns of the rotations. The numbers
    /// are named one by one, because `map` of arrays this long is a call and several copies.
    #[inline(always)]
    pub(super) fn displacements_of(&self, bodies: [u32; LANES]) -> (Vec3Lanes, [Vec3Lanes; 3]) {
        let of = |lane: usize| &self.displacements[bodies[lane] as usize];
        let [a, b, c, d] = [of(0), of(1), of(2), of(3)];
        let column = |at: usize| {
            Vec3Lanes::from_rows([a.columns[at], b.columns[at], c.columns[at], d.columns[at]])
        };
        let shift = Vec3Lanes::from_rows([a.shift, b.shift, c.shift, d.shift]);
        (shift, [column(0), column(1), column(2)])
    }

    /// Adds a body. An entity that is missing or in limbo is replaced by a body that does not move.
    pub(super) fn add(&mut self, entity: Option<&Entity>, shapes: &Shapes) {
        let placed = entity.and_then(|entity| Some((entity, entity.placement()?)));
        let Some((entity, placement)) = placed else {
            return self.push_fixed();
        };
        let shape = &shapes[placement.shape()];
        let rotation = placement.pose().rotation();
        let (mass, locked) = (entity.mass(shape), entity.dynamics.locked());
        let is_ball = entity.is_ball();
        let [mut linear_damping, angular_damping] = entity.damping(shape);
        // Gravity and damping of a ball are applied elsewhere, and no impulse turns a ball.
        let (gravity, inverse_inertia, angular) = if is_ball {
            linear_damping = 0.0;
            (0.0, DMat3::ZERO, DVec3::ZERO)
        } else {
            let inverse = entity.inverse_inertia(shape, rotation);
            (entity.gravity(shape), inverse, locked.rotation(entity.angular))
        };
        let drive = if is_ball { Drive::default() } else { entity.drive() };
        let mut precession = DVec3::ZERO;
        let spin = angular.length_squared();
        // A body with a locked axis keeps its spin about the others.
        let precesses = mass.top.precesses() && !locked.any_rotation() && !is_ball;
        let is_fast = spin > FAST_SPIN * FAST_SPIN;
        if precesses && !is_fast && spin > PRECESSING_SPIN * PRECESSING_SPIN {
            let (_, spun) = mass.top.spun(placement.pose().orientation, angular, self.seconds);
            precession = (spun - angular) / self.seconds;
        }
        let [x, y, z] = inverse_inertia.as_mat3().to_cols_array_2d();
        let body = SolverBody {
            inverse_mass: mass.inverse_mass as f32,
            inverse_inertia: [x[0], x[1], x[2], y[1], y[2], z[2]],
            restitution: shape.material.restitution() as f32,
            friction: shape.material.friction() as f32,
            linear_damping: linear_damping as f32,
            angular_damping: angular_damping as f32,
            locked,
            position: placement.pose().position,
            inertia: if is_ball { DMat3::ZERO } else { mass.inertia },
            precesses,
            is_fast,
            precession: padded(precession.as_vec3()),
            acceleration: Twist {
                linear: padded(locked.translation(drive.linear - DVec3::Z * gravity).as_vec3()),
                angular: padded((drive.angular + precession).as_vec3()),
            },
            ..SolverBody::FIXED
        };
        let velocity = Twist {
            linear: padded(locked.translation(entity.velocity).as_vec3()),
            angular: padded(angular.as_vec3()),
        };
        self.push(body, velocity, rotation);
    }

    /// Adds a copy of a kinematic body for the bodies that it touches. Kinematic bodies come after
    /// all others.
    pub(super) fn add_kinematic(&mut self, entity: Option<&Entity>, shapes: &Shapes) {
        self.kinematic += 1;
        let placed = entity.and_then(|entity| Some((entity, entity.placement()?)));
        let Some((entity, placement)) = placed else {
            return self.push_fixed();
        };
        let material = shapes[placement.shape()].material;
        let body = SolverBody {
            restitution: material.restitution() as f32,
            friction: material.friction() as f32,
            position: placement.pose().position,
            surface: entity.surface().as_vec3(),
            ..SolverBody::FIXED
        };
        let [linear, angular] = [entity.velocity, entity.angular].map(|v| padded(v.as_vec3()));
        self.push(body, Twist { linear, angular }, placement.pose().rotation());
    }

    /// Whether a body has a velocity.
    pub(super) fn moves(&self, body: usize) -> bool {
        self.velocity(body) != [DVec3::ZERO; 2]
    }

    /// The index after the last body that impulses move.
    pub(super) fn movable_end(&self) -> usize {
        self.list.len() - self.kinematic
    }

    /// Moves the kinematic bodies by a sub-step.
    pub(super) fn move_kinematic(&mut self, seconds: f32) {
        for body in self.movable_end()..self.list.len() {
            let Twist { linear, angular } = self.velocities[body];
            self.displace(body, linear * seconds, unpadded(angular) * seconds);
        }
    }

    /// Adds a copy of a body of `others`.
    pub(super) fn copy(&mut self, others: &Self, index: usize) {
        self.push(others.list[index], others.velocities[index], others.rotations[index]);
    }

    /// Where a point of a body, in its own axes, was in the world when the tick began.
    pub(super) fn point_to_world(&self, body: usize, local: Vec3) -> DVec3 {
        self.list[body].position + self.rotations[body] * local.as_dvec3()
    }

    fn push_fixed(&mut self) {
        self.push(SolverBody::FIXED, Twist::default(), DMat3::IDENTITY);
    }

    fn push(&mut self, body: SolverBody, velocity: Twist, rotation: DMat3) {
        self.list.push(body);
        self.velocities.push(velocity);
        self.rotations.push(rotation);
        self.displacements.push(Displacement::default());
    }

    /// Begins a sub-step of `seconds` for one body. The impulses of the last sub-step are applied
    /// again as their sum. The effect is the same, because impulses act as if the body did not turn
    /// within the tick.
    pub(super) fn integrate_velocity(&mut self, body: usize, seconds: f32) {
        let (known, velocity) = (&mut self.list[body], &mut self.velocities[body]);
        if known.linear_damping == 0.0 {
            velocity.linear += known.acceleration.linear * seconds;
        } else {
            let braked = Braked::new(known.linear_damping.into(), seconds.into());
            velocity.linear = braked.padded_velocity(velocity.linear, known.acceleration.linear);
        }
        velocity.angular += known.acceleration.angular * seconds;
        velocity.angular *= damped(f64::from(known.angular_damping), f64::from(seconds)) as f32;
        known.base = *velocity;
        velocity.linear += known.impulses.linear;
        velocity.angular += known.impulses.angular;
    }

    /// Ends a sub-step, and remembers its impulses.
    pub(super) fn end_sub_step(&mut self, body: usize) {
        let (known, velocity) = (&mut self.list[body], &self.velocities[body]);
        known.impulses = Twist {
            linear: velocity.linear - known.base.linear,
            angular: velocity.angular - known.base.angular,
        };
    }

    /// Adds `angular` to the change of angular velocity that the next sub-step repeats.
    pub(super) fn change_impulses(&mut self, body: usize, angular: PaddedVec3) {
        self.list[body].base.angular -= angular;
    }

    /// Moves a body by a sub-step. A body that is too fast moves less, but keeps its velocity until
    /// the tick ends, because an impulse may give too much speed in one sub-step and the next
    /// sub-step may take it back.
    pub(super) fn integrate_position(&mut self, body: usize, seconds: f32, max_spin: f32) {
        let (known, velocity) = (&mut self.list[body], &mut self.velocities[body]);
        let before = *velocity;
        velocity.linear = limited(before.linear, OVERSHOOT * MAX_SPEED as f32);
        velocity.angular = limited(before.angular, OVERSHOOT * max_spin);
        // The cuts at the limits are not impulses.
        known.base.linear += velocity.linear - before.linear;
        known.base.angular += velocity.angular - before.angular;
        let Twist { linear, angular } = *velocity;
        let linear = limited(linear, MAX_SPEED as f32);
        let (spin, rotation) =
            (unpadded(limited(angular, max_spin)), self.list[body].delta_rotation);
        self.displace(body, linear * seconds, spin * seconds);
        let known = &mut self.list[body];
        if known.precesses && !known.is_fast && spin.length_squared() > FAST_SPIN_SQUARED {
            known.is_fast = true;
            known.acceleration.angular -= known.precession;
        }
        if known.precesses && known.is_fast {
            self.precess(body, rotation);
        }
    }

    /// Changes the angular velocity of a body so that it keeps the angular momentum that it had at
    /// an earlier `rotation`.
    fn precess(&mut self, body: usize, rotation: DQuat) {
        let (known, start) = (&mut self.list[body], self.rotations[body]);
        let velocity = &mut self.velocities[body];
        let before = unpadded(velocity.angular).as_dvec3();
        let [then, now] = [rotation, known.delta_rotation].map(|q| DMat3::from_quat(q) * start);
        let momentum = then * (known.inertia * (then.transpose() * before));
        let after = now * (known.inertia.inverse() * (now.transpose() * momentum));
        velocity.angular = padded(after.as_vec3());
        // This change is not an impulse: `base` changes as well, so that the next sub-step does not
        // repeat it.
        known.base.angular += padded((after - before).as_vec3());
    }

    /// Adds a displacement in units and a rotation vector to the motion of a body.
    pub(super) fn displace(&mut self, body: usize, shift: PaddedVec3, turn: Vec3) {
        let rotation = &mut self.list[body].delta_rotation;
        let start = Pose { position: DVec3::ZERO, orientation: *rotation };
        *rotation = start.advanced(DVec3::ZERO, turn.as_dvec3(), 1.0).orientation;
        let matrix = DMat3::from_quat(*rotation) - DMat3::IDENTITY;
        let displacement = &mut self.displacements[body];
        displacement.shift += shift;
        displacement.columns =
            [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| padded(axis.as_vec3()));
    }

    /// The kinetic energy of a body by its velocities, in kg·units²/s². The spin of a body that
    /// nothing turns has no energy.
    pub(super) fn kinetic_energy(&self, body: usize) -> impl Fn(&Twist) -> f64 {
        let SolverBody { inverse_mass, inertia, .. } = self.list[body];
        let mass = if inverse_mass > 0.0 { 1.0 / f64::from(inverse_mass) } else { 0.0 };
        let to_body = self.rotations[body].transpose();
        move |velocity| {
            let [linear, angular] =
                [velocity.linear, velocity.angular].map(|v| unpadded(v).as_dvec3());
            let angular = to_body * angular;
            0.5 * (mass * linear.length_squared() + angular.dot(inertia * angular))
        }
    }

    /// The work of the forces on a body within the tick, in kg·units²/s².
    pub(super) fn work(&self, body: usize) -> f64 {
        let known = &self.list[body];
        let mass = if known.is_fixed() { 0.0 } else { 1.0 / f64::from(known.inverse_mass) };
        let shift = unpadded(self.displacements[body].shift).as_dvec3();
        mass * known.acceleration().as_dvec3().dot(shift)
    }

    /// Velocities of a body, linear and angular.
    pub(super) fn velocity(&self, body: usize) -> [DVec3; 2] {
        let Twist { linear, angular } = self.velocities[body];
        [linear, angular].map(|vector| unpadded(vector).as_dvec3())
    }

    /// Shift and rotation of a body since the tick began.
    pub(super) fn motion(&self, body: usize) -> (DVec3, DQuat) {
        let shift = unpadded(self.displacements[body].shift).as_dvec3();
        (shift, self.list[body].delta_rotation)
    }
}

fn limited(velocity: PaddedVec3, longest: f32) -> PaddedVec3 {
    let length_squared = unpadded(velocity).length_squared();
    if length_squared > longest * longest {
        velocity * (longest / length_squared.sqrt())
    } else {
        velocity
    }
}

#[cfg(test)]
impl SolverBody {
    /// A box of 32 units without gravity, at a position.
    pub(super) fn box_at(position: DVec3, inverse_mass: f64) -> Self {
        // The moment of inertia of a cube is a sixth of its mass times the side squared.
        let inertia = (inverse_mass * 6.0 / (32.0 * 32.0)) as f32;
        Self {
            inverse_mass: inverse_mass as f32,
            inverse_inertia: [inertia, 0.0, 0.0, inertia, 0.0, inertia],
            restitution: 0.3,
            position,
            ..Self::FIXED
        }
    }
}

#[cfg(test)]
impl Bodies {
    /// Adds a body that moves.
    pub(super) fn push_moving(&mut self, body: SolverBody, velocity: DVec3, angular: DVec3) {
        let [linear, angular] = [velocity, angular].map(|v| padded(v.as_vec3()));
        self.push(body, Twist { linear, angular }, DMat3::IDENTITY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body at the limit keeps its speed within the tick. A faster body is cut to the limit. The
    /// cut counts as no impulse.
    #[test]
    fn a_speed_within_a_tick_is_cut_beyond_the_overshoot_alone() {
        let limit = OVERSHOOT * MAX_SPEED as f32;
        for (given, kept) in [(limit, limit), (limit * 2.0, limit)] {
            let mut bodies = Bodies::with_capacity(1, 1.0 / 60.0);
            bodies.push_moving(SolverBody::box_at(DVec3::ZERO, 1.0), DVec3::ZERO, DVec3::ZERO);
            bodies.velocities[1].linear = padded(Vec3::X * given);
            bodies.integrate_position(1, 1.0 / 600.0, 30.0);
            let speed = unpadded(bodies.velocities[1].linear).x;
            assert!((speed / kept - 1.0).abs() < 1e-5, "{given} becomes {speed}");
            bodies.end_sub_step(1);
            let impulse = unpadded(bodies.list[1].impulses.linear).x;
            assert!((impulse / given - 1.0).abs() < 1e-5, "{given} leaves {impulse}");
        }
    }
}
