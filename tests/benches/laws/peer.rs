//! Scenes in `rapier3d`. The pieces of bodies and the brushes are convex hulls. Two materials
//! combine by the rules of our simulation. Everything else is set up as in rapier's documentation.

use glam::{DQuat, DVec3};
use rapier3d::prelude::*;
use tests::laws::scene::{Body, Drive, FLOOR_FRICTION, FLOOR_RESTITUTION, GRAVITY};
use tests::laws::{Engine, Scene, Told};

/// A metre in units. `rapier3d` needs it, because its tolerances are made for metres.
const METRE: f32 = 40.0;

/// Density in kilograms per cubic unit. Any value that is the same for all bodies will do.
const DENSITY: f32 = 0.002;

struct Peer {
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
}

fn vector(v: DVec3) -> Vector {
    v.as_vec3()
}

fn hull(points: impl Iterator<Item = DVec3>) -> Result<SharedShape, String> {
    let points: Vec<Vector> = points.map(vector).collect();
    SharedShape::convex_hull(&points)
        .ok_or_else(|| "rapier3d refuses the points of a convex hull".to_owned())
}

fn dressed(shape: SharedShape, friction: f64, restitution: f64) -> ColliderBuilder {
    ColliderBuilder::new(shape)
        .friction(friction as f32)
        .friction_combine_rule(CoefficientCombineRule::GeometricMean)
        .restitution(restitution as f32)
        .restitution_combine_rule(CoefficientCombineRule::Max)
        .density(DENSITY)
}

/// The corners of a brush: the points where three of its planes meet and that no other plane cuts
/// off.
fn corners(brush: &[[DVec3; 3]]) -> Vec<DVec3> {
    let planes: Vec<(DVec3, f64)> = brush
        .iter()
        .map(|[a, b, c]| {
            let normal = (b - a).cross(c - a).normalize();
            (normal, normal.dot(*a))
        })
        .collect();
    let mut corners = Vec::new();
    for (i, (n, d)) in planes.iter().enumerate() {
        for (j, (m, e)) in planes.iter().enumerate().skip(i + 1) {
            for (o, f) in planes.iter().skip(j + 1) {
                let det = n.dot(m.cross(*o));
                if det.abs() > 1e-6 {
                    let at = (m.cross(*o) * *d + o.cross(*n) * *e + n.cross(*m) * *f) / det;
                    if planes.iter().all(|(normal, distance)| normal.dot(at) < distance + 1e-3) {
                        corners.push(at);
                    }
                }
            }
        }
    }
    corners
}

fn solid(body: &Body) -> Result<SharedShape, String> {
    let pieces = body.solid.pieces.iter().map(|piece| hull(piece.iter().copied()));
    let pieces = pieces.collect::<Result<Vec<_>, String>>()?;
    Ok(match pieces.as_slice() {
        [only] => only.clone(),
        _ => SharedShape::compound(pieces.into_iter().map(|p| (Pose::IDENTITY, p)).collect()),
    })
}

/// Sets a scene up in `rapier3d`.
pub(crate) fn start(scene: &Scene) -> Result<Box<dyn Engine>, String> {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, 0.0, -GRAVITY as f32);
    world.integration_parameters.dt = 1.0 / scene.rate as f32;
    world.integration_parameters.length_unit = METRE;
    for brush in scene.brushes() {
        let shape = hull(corners(&brush).into_iter().map(|corner| scene.to_world(corner)))?;
        world.colliders.insert(dressed(shape, FLOOR_FRICTION, FLOOR_RESTITUTION));
    }
    let mut bodies = Vec::new();
    let rotation = scene.rotation();
    for body in &scene.bodies {
        let builder = match body.drive {
            Drive::Dynamic => RigidBodyBuilder::dynamic(),
            Drive::Kinematic => RigidBodyBuilder::kinematic_velocity_based(),
        };
        let orientation: DQuat = rotation * body.orientation;
        let builder = builder
            .pose(Pose::from_parts(vector(scene.to_world(body.position)), orientation.as_quat()))
            .linvel(vector(rotation * body.velocity))
            .angvel(vector(rotation * body.spin))
            .angular_damping(body.damping as f32);
        let handle = world.bodies.insert(builder);
        let collider = dressed(solid(body)?, body.friction, body.restitution);
        world.colliders.insert_with_parent(collider, handle, &mut world.bodies);
        bodies.push(handle);
    }
    Ok(Box::new(Peer { world, bodies }))
}

impl Engine for Peer {
    fn step(&mut self) {
        self.world.step();
    }

    fn told(&self, body: usize) -> Told {
        let body = &self.world.bodies[self.bodies[body]];
        Told {
            position: body.translation().as_dvec3(),
            orientation: body.rotation().as_dquat().normalize(),
            velocity: body.linvel().as_dvec3(),
            asleep: body.is_sleeping(),
        }
    }

    fn set_velocity(&mut self, body: usize, linear: DVec3, angular: DVec3) {
        let body = &mut self.world.bodies[self.bodies[body]];
        body.set_linvel(vector(linear), true);
        body.set_angvel(vector(angular), true);
    }

    fn fault(&self) -> Option<String> {
        None
    }
}
