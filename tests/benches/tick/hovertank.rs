//! A hovertank in `rapier3d`: the drive of our hovertank (`hovertank/steer.rs` in `server/sim`), as
//! changes of velocity before each step. The air cushions are left out, because tanks in this scene
//! fly too high for them or land.

use obsp::model::Model;
use obsp_sim::{Buttons, Command};
use rapier3d::prelude::*;

use super::peer::{GRAVITY, hull};

/// The numbers of our hovertank: speeds in units per second (`TURN` in radians per second),
/// accelerations in units or radians per second squared, `TURN_RATE` per second, tilts as
/// cosines, and distances in units. `SPREAD` is a share of the tank's half extents.
const SPEED: f32 = 400.0;
const ACCELERATION: f32 = 500.0;
const CLIMB: f32 = 200.0;
const GLIDE: f32 = 240.0;
const LANDING: f32 = 60.0;
const RIGHTING: f32 = 40.0;
const LIFT: f32 = 3.0 * GRAVITY;
const TURN: f32 = 2.5;
const TURN_RATE: f32 = 6.0;
const TORQUE: f32 = 15.0;
const TILTED: f32 = 0.7;
const FALLEN: f32 = 0.3;
const TOUCHDOWN: f32 = 1.0;
const REACH: f32 = 96.0;
const INSIDE: f32 = 4.0;
const SPREAD: f32 = 0.7;

/// A hovertank in `rapier3d`.
pub(super) struct Hovertank {
    body: RigidBodyHandle,
    /// The starting points of the tank's probes, from its centre of mass.
    corners: [Vector; 4],
}

impl Hovertank {
    pub(super) fn new(body: RigidBodyHandle, model: &Model) -> Self {
        let bounds = model.parts().iter().map(|part| hull(part).compute_local_aabb());
        let bounds = bounds.reduce(|all, part| all.merged(&part)).expect("a tank has parts");
        let (centre, half) = (bounds.center(), bounds.half_extents() * SPREAD);
        let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
            .map(|(x, y)| Vector::new(centre.x + x * half.x, centre.y + y * half.y, bounds.mins.z));
        Self { body, corners }
    }

    /// Changes the tank's velocity as its drive does with the driver's `command`.
    pub(super) fn steer(&self, world: &mut PhysicsWorld, command: Command) {
        let seconds = world.integration_parameters.dt;
        let ground = self.probe(world);
        let body = &mut world.bodies[self.body];
        let turned = *body.rotation();
        let (up, ahead) = (turned * Vector::Z, turned * Vector::X);
        let lands = command.buttons.contains(Buttons::CROUCH);
        let touches = ground.iter().flatten().any(|&distance| distance < TOUCHDOWN);
        if lands && touches && up.z > TILTED {
            return;
        }
        // The drive accounts for the velocity that gravity takes off in the next step.
        let falls = Vector::Z * (GRAVITY * seconds);
        let (mut velocity, mut angular) = (body.linvel() - falls, body.angvel());
        let least = if up.z < FALLEN {
            RIGHTING
        } else if lands {
            -LANDING
        } else if command.buttons.contains(Buttons::JUMP) {
            CLIMB
        } else {
            -GLIDE
        };
        velocity.z += (least - velocity.z).clamp(0.0, LIFT * seconds);
        if up.z < TILTED || ground.iter().any(Option::is_none) {
            angular += righting(up, ahead, angular, seconds);
        }
        if up.z > FALLEN {
            let yaw = f32::from(command.yaw) * (std::f32::consts::TAU / 65536.0);
            let wanted = Vector::new(yaw.cos(), yaw.sin(), 0.0);
            let missing = (ahead.x * wanted.y - ahead.y * wanted.x).atan2(ahead.dot(wanted));
            let spin = (missing * TURN_RATE).clamp(-TURN, TURN) - angular.dot(up);
            angular += up * spin.clamp(-TORQUE * seconds, TORQUE * seconds);
            let right = Vector::new(wanted.y, -wanted.x, 0.0);
            let wish = wanted * f32::from(command.forward) + right * f32::from(command.right);
            let level = Vector::new(velocity.x, velocity.y, 0.0);
            let missing = (wish / 127.0).clamp_length_max(1.0) * SPEED - level;
            velocity += missing.clamp_length_max(ACCELERATION * seconds);
        }
        body.set_linvel(velocity + falls, true);
        body.set_angvel(angular, true);
    }

    /// Distance from each corner to the solid below, `None` beyond the reach.
    fn probe(&self, world: &PhysicsWorld) -> [Option<f32>; 4] {
        let at = *world.bodies[self.body].position();
        let queries = world.broad_phase.as_query_pipeline(
            world.narrow_phase.query_dispatcher(),
            &world.bodies,
            &world.colliders,
            QueryFilter::default().exclude_rigid_body(self.body),
        );
        self.corners.map(|corner| {
            let from = at.translation + at.rotation * corner + Vector::Z * INSIDE;
            let met = queries.cast_ray(&Ray::new(from, -Vector::Z), REACH + INSIDE, true);
            met.map(|(_, distance)| distance - INSIDE)
        })
    }
}

/// The change of spin by which the gyroscope turns `up` towards the vertical.
fn righting(up: Vector, ahead: Vector, angular: Vector, seconds: f32) -> Vector {
    let axis = up.cross(Vector::Z).try_normalize().unwrap_or(ahead);
    let tilt = up.z.clamp(-1.0, 1.0).acos();
    let wanted = axis * (tilt * TURN_RATE).min(TURN);
    let level = angular - up * angular.dot(up);
    (wanted - level).clamp_length_max(TORQUE * seconds)
}
