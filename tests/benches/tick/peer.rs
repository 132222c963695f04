//! The same scene in `rapier3d`: parts of models as convex hulls, brushes as
//! fixed hulls, players as kinematic boxes under its character controller.

use std::time::{Duration, Instant};

use glam::{DQuat, DVec3};
use obsp::geometry::ConvexSolid;
use obsp::model::{Model, shipped};
use obsp_sim::{Buttons, Command, EntityId, EntityState, Kind, State};
use rapier3d::control::{CharacterAutostep, CharacterLength, KinematicCharacterController};
use rapier3d::prelude::*;

use super::hovertank::Hovertank;
use super::{Engine, Scene};

/// The constants of our simulation, in units, seconds and kilograms: gravity, a player's speeds,
/// the density of props, friction, restitution, and a player's mass, step and half extents.
pub(super) const GRAVITY: f32 = 800.0;
const RUN: f32 = 320.0;
const JUMP: f32 = 270.0;
pub(super) const DENSITY: f32 = 0.002;
pub(super) const FRICTION: f32 = 0.6;
pub(super) const RESTITUTION: f32 = 0.2;
const PLAYER_MASS: f32 = 80.0;
const STEP: f32 = 18.0;
const PLAYER: Vector = Vector::new(16.0, 16.0, 28.0);

/// A metre in units: the default tolerances of `rapier3d` are made for metres.
pub(super) const METRE: f32 = 40.0;

struct Player {
    body: RigidBodyHandle,
    collider: ColliderHandle,
    fall: f32,
    grounded: bool,
}

/// `rapier3d` as its documentation sets it up for one thread.
pub(crate) struct Peer {
    world: PhysicsWorld,
    controller: KinematicCharacterController,
    players: Vec<Player>,
    tanks: Vec<Hovertank>,
    /// All entities in our engine's order, for the audit.
    entities: Vec<(EntityState, RigidBodyHandle)>,
}

fn vector(v: DVec3) -> Vector {
    v.as_vec3()
}

fn pose(position: DVec3, orientation: DQuat) -> Pose {
    Pose::from_parts(vector(position), orientation.as_quat())
}

pub(super) fn hull(solid: &ConvexSolid) -> SharedShape {
    let points: Vec<Vector> = solid.vertices().iter().map(|&v| vector(v)).collect();
    SharedShape::convex_hull(&points).expect("a solid has volume")
}

fn dressed(shape: SharedShape) -> ColliderBuilder {
    ColliderBuilder::new(shape).friction(FRICTION).restitution(RESTITUTION).density(DENSITY)
}

impl Peer {
    /// The scene with all entities as in `start`, the first state of our engine.
    pub(crate) fn new(scene: &Scene, start: &State) -> Self {
        Self::with_models(scene.map(), scene.config.tick_rate, &shipped(), start)
    }

    /// A match on a map with these models. Bodies of kinematic models go where [`Peer::drive`] says.
    pub(crate) fn with_models(
        map: &obsp::Map,
        tick_rate: u32,
        models: &[Model],
        start: &State,
    ) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, 0.0, -GRAVITY);
        world.integration_parameters.dt = 1.0 / tick_rate as f32;
        world.integration_parameters.length_unit = METRE;
        for solid in map.solids() {
            world.colliders.insert(dressed(hull(solid)));
        }
        let parts: Vec<SharedShape> = models
            .iter()
            .map(|model| {
                let parts: Vec<_> =
                    model.parts().iter().map(|part| (Pose::IDENTITY, hull(part))).collect();
                match parts.as_slice() {
                    [(_, only)] => only.clone(),
                    _ => SharedShape::compound(parts),
                }
            })
            .collect();
        let (mut players, mut tanks, mut entities) = (Vec::new(), Vec::new(), Vec::new());
        for entity in &start.entities {
            let (builder, shape) = match entity.kind {
                Kind::Player { .. } => (
                    RigidBodyBuilder::kinematic_position_based(),
                    SharedShape::cuboid(PLAYER.x, PLAYER.y, PLAYER.z),
                ),
                Kind::Prop { model } | Kind::Vehicle { model } => {
                    let model = usize::from(model.0);
                    let builder = match models[model].is_kinematic() {
                        true => RigidBodyBuilder::kinematic_position_based(),
                        false => RigidBodyBuilder::dynamic(),
                    };
                    (builder, parts[model].clone())
                }
            };
            let walks = matches!(entity.kind, Kind::Player { .. });
            let turn = if walks { DQuat::IDENTITY } else { entity.orientation };
            let body = world.bodies.insert(builder.pose(pose(entity.position, turn)));
            let collider =
                world.colliders.insert_with_parent(dressed(shape), body, &mut world.bodies);
            if let Kind::Vehicle { model } = entity.kind {
                tanks.push(Hovertank::new(body, &models[usize::from(model.0)]));
            }
            if walks {
                players.push(Player { body, collider, fall: 0.0, grounded: false });
            }
            entities.push((*entity, body));
        }
        let controller = KinematicCharacterController {
            up: Vector::Z,
            offset: CharacterLength::Absolute(0.1),
            autostep: Some(CharacterAutostep {
                max_height: CharacterLength::Absolute(STEP),
                min_width: CharacterLength::Absolute(8.0),
                include_dynamic_bodies: false,
            }),
            snap_to_ground: Some(CharacterLength::Absolute(STEP)),
            ..KinematicCharacterController::default()
        };
        Self { world, controller, players, tanks, entities }
    }

    /// Says where a kinematic body is to be after the next step.
    pub(crate) fn drive(&mut self, id: EntityId, position: DVec3, orientation: DQuat) {
        let own = self.entities.iter().find(|(entity, _)| entity.id == id);
        if let Some((_, body)) = own {
            self.world.bodies[*body].set_next_kinematic_position(pose(position, orientation));
        }
    }

    /// Deepest contact in rapier's own manifolds after the last step, in units.
    pub(crate) fn deepest_contact(&self) -> f64 {
        let manifolds = self.world.narrow_phase.contact_pairs().flat_map(|pair| pair.manifolds());
        let contacts = manifolds.flat_map(|manifold| &manifold.points);
        contacts.map(|contact| f64::from(-contact.dist)).fold(0.0, f64::max)
    }

    fn move_player(&mut self, index: usize, command: Command) {
        let seconds = self.world.integration_parameters.dt;
        let player = &mut self.players[index];
        let (sine, cosine) = (f32::from(command.yaw) * (std::f32::consts::TAU / 65536.0)).sin_cos();
        let (forward, right) = (f32::from(command.forward), f32::from(command.right));
        let wish =
            Vector::new(cosine * forward + sine * right, sine * forward - cosine * right, 0.0)
                / 127.0;
        player.fall = if !player.grounded {
            player.fall - GRAVITY * seconds
        } else if command.buttons.contains(Buttons::JUMP) {
            JUMP
        } else {
            -GRAVITY * seconds
        };
        let way = (wish.clamp_length_max(1.0) * RUN + Vector::Z * player.fall) * seconds;
        let at = *self.world.bodies[player.body].position();
        let shape = self.world.colliders[player.collider].shared_shape().clone();
        let filter = QueryFilter::default().exclude_rigid_body(player.body);
        let mut met = Vec::new();
        let mut queries = self.world.broad_phase.as_query_pipeline_mut(
            self.world.narrow_phase.query_dispatcher(),
            &mut self.world.bodies,
            &mut self.world.colliders,
            filter,
        );
        let moved =
            self.controller
                .move_shape(seconds, &queries.as_ref(), &*shape, &at, way, |hit| met.push(hit));
        self.controller.solve_character_collision_impulses(
            seconds,
            &mut queries,
            &*shape,
            PLAYER_MASS,
            &met,
        );
        player.grounded = moved.grounded;
        self.world.bodies[player.body]
            .set_next_kinematic_translation(at.translation + moved.translation);
    }
}

impl Engine for Peer {
    fn step(&mut self, commands: &[Command]) -> Duration {
        let begin = Instant::now();
        for (tank, &command) in self.tanks.iter().zip(commands) {
            tank.steer(&mut self.world, command);
        }
        for (index, &command) in commands.iter().enumerate().take(self.players.len()) {
            self.move_player(index, command);
        }
        self.world.step();
        begin.elapsed()
    }

    fn state(&mut self) -> State {
        let entity = |(entity, body): &(EntityState, RigidBodyHandle)| {
            let body = &self.world.bodies[*body];
            let orientation = body.rotation().as_dquat().normalize();
            EntityState {
                position: body.translation().as_dvec3(),
                orientation,
                velocity: body.linvel().as_dvec3(),
                asleep: body.is_sleeping(),
                ..*entity
            }
        };
        State { tick: 0, entities: self.entities.iter().map(entity).collect() }
    }
    fn awake(&self) -> u64 {
        let awake =
            self.world.bodies.iter().filter(|(_, body)| body.is_dynamic() && !body.is_sleeping());
        awake.count() as u64
    }
}
