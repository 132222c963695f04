//! The tick of a player on foot: the movement code in the world of all bodies, and
//! the shoves that it gives.

use glam::{DVec3, Vec3};
use obsp::model::BodyKind;
use obsp::{Clearance, Region};

use crate::arena::Arena;
use crate::arena::triggers::Effect;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::guard::Seeker;
use crate::bodies::mobility::Mobility;
use crate::bodies::roles::Walker;
use crate::bodies::sleep;
use crate::collision::cascade::{Body, first_impact};
use crate::collision::pose::Pose;
use crate::collision::shape::Shapes;
use crate::collision::time_of_impact::TimeOfImpact;
use crate::command::Command;
use crate::context::StepContext;
use crate::players::agent::{Agent, LiveBodies, NearbyBodies, SweepHit, SweepResult};
use crate::players::driver::{Carry, Driver, Push};
use crate::players::movement;
use crate::players::movement::{Encounters, PlayerMotion, Surroundings};
use crate::players::plane_cache::{GRAZING_GAP, PlaneCache};
use crate::players::submersion::{Depth, Submersion, eye_height, feet};
use crate::state::Posture;

/// Mass of a player in a shove, in kilograms: about the mass of a crate.
pub(crate) const PLAYER_MASS: f64 = 80.0;

/// A player stands on a surface whose normal has at least this height, and does not
/// shove it.
const STOOD_ON: f64 = 0.7;

/// A body slower than this, in units per second, does not push a player. In a tick of 1/60 s it
/// moves less than the rounding of its sent position.
const STILL: f64 = 1.0;

/// How far the positions of most sweeps of a tick are from the player along each axis, in units:
/// two ticks at running speed, and a step down.
const REGION: Vec3 = Vec3::new(12.0, 12.0, 20.0);

/// The world as the movement code of a player sees it.
pub(crate) struct PlayerSurroundings<'a, C> {
    pub(crate) arena: &'a Arena,
    region: Region<'a>,
    pub(crate) crowd: C,
    pub(crate) memory: PlaneCache<'a>,
    /// Whether a moving body that the player had not set in motion was in the way or carried the
    /// player.
    pub(crate) pushed: bool,
}

impl<'a, C> PlayerSurroundings<'a, C> {
    /// The surroundings of a player at `position`.
    pub(crate) fn new(arena: &'a Arena, position: Vec3, crowd: C, memory: PlaneCache<'a>) -> Self {
        Self { arena, region: arena.map.region(position, REGION), crowd, memory, pushed: false }
    }

    fn agent(&self, posture: Posture) -> Agent<'a> {
        let (shape, size) = self.arena.shapes.boxes.of(posture);
        let Self { arena, region, .. } = self;
        Agent { region: *region, shape: &arena.shapes[shape], size }
    }

    fn half_height(&self, posture: Posture) -> f64 {
        self.agent(posture).shape.bounds.half_extents().z
    }
}

impl<'a, C: NearbyBodies<'a>> Surroundings for PlayerSurroundings<'a, C> {
    fn sweep(&mut self, posture: Posture, start: Vec3, end: Vec3) -> SweepResult {
        let sweep = self.agent(posture).sweep(start, end, &self.crowd, &mut self.memory);
        if let Some(slot) = sweep.hit.and_then(|hit| hit.entity) {
            let moves = self.crowd.velocity(slot).length_squared() > STILL * STILL;
            self.pushed |= moves && !self.crowd.is_own_doing(slot);
        }
        sweep
    }

    fn is_free(&mut self, posture: Posture, position: Vec3) -> bool {
        self.agent(posture).is_free(position, &self.crowd)
    }

    fn clearance(&self, posture: Posture, position: Vec3, radius: f32) -> Clearance {
        self.agent(posture).clearance(position, radius)
    }

    fn rise(&self) -> f32 {
        self.arena.shapes.boxes.rise
    }

    fn depth(&self, posture: Posture, position: Vec3) -> Option<Depth> {
        let half_height = self.half_height(posture);
        Submersion::of(&self.arena.map, half_height, position).map(|submersion| submersion.depth)
    }

    fn current(&self, posture: Posture, position: Vec3) -> DVec3 {
        let half_height = self.half_height(posture);
        self.arena.currents.at(feet(half_height, position))
    }

    fn is_on_ladder(&self, posture: Posture, position: Vec3) -> bool {
        let half_extents = self.agent(posture).shape.bounds.half_extents();
        self.arena.ladders.meet(position.as_dvec3(), half_extents)
    }

    fn eyes(&self, posture: Posture) -> f32 {
        eye_height(self.half_height(posture)) as f32
    }

    fn drift(&self, entity: u16) -> DVec3 {
        self.crowd.velocity(entity)
    }

    fn carrier_speed(&self) -> Option<f64> {
        self.crowd.drivers().iter().map(Driver::point_speed).reduce(f64::max)
    }

    fn carry(
        &self,
        hit: SweepHit,
        (posture, position): (Posture, Vec3),
        seconds: f64,
    ) -> Option<Carry> {
        let driver = self.crowd.drivers().iter().find(|driver| Some(driver.slot) == hit.entity)?;
        let feet = DVec3::Z * self.half_height(posture);
        Some(driver.carry(position.as_dvec3() - feet, hit.normal, seconds))
    }

    fn push(
        &mut self,
        (posture, position): (Posture, Vec3),
        velocity: DVec3,
        seconds: f64,
    ) -> Option<Push> {
        if self.crowd.drivers().is_empty() {
            return None;
        }
        let shape = self.agent(posture).shape;
        let start = Pose::at(position.as_dvec3());
        let end = Pose::at(start.position + velocity * seconds);
        let player = Body::moving(shape, start, end);
        let mut first: Option<(f64, Push)> = None;
        for driver in self.crowd.drivers().iter().filter(|driver| driver.moves()) {
            let body = driver.body(seconds);
            let span = (0.0, 1.0);
            let found = first_impact(&player, &body, span, GRAZING_GAP, None, self.memory.context);
            let TimeOfImpact::Blocked(impact) = found else { continue };
            let centre = driver.pose.position + driver.velocity * (impact.time * seconds);
            let arm = impact.point - centre;
            let speed = -(driver.velocity + driver.angular.cross(arm)).dot(impact.axis);
            // A player who runs into a body that does not come nearer is stopped by the sweep.
            if speed > 0.0 && first.is_none_or(|(time, _)| impact.time < time) {
                first = Some((impact.time, Push { normal: -impact.axis, speed }));
            }
        }
        let (_, push) = first?;
        self.pushed = true;
        Some(push)
    }

    fn trigger(&self, posture: Posture, way: [Vec3; 2], gravity: f64) -> Option<Effect> {
        let half_extents = self.agent(posture).shape.bounds.half_extents();
        let way = way.map(|position| position.as_dvec3());
        self.arena.triggers.on_way(way, half_extents, gravity)
    }
}

/// The result of a player's tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct WalkOutcome {
    /// Whether the player was found overlapping something.
    pub(crate) overlaps: bool,
    /// The place where the player entered a teleporter; `None` if the player entered none.
    pub(crate) teleported: Option<Vec3>,
    /// Whether another body influenced the motion: see [`PlayerSurroundings::pushed`].
    pub(crate) pushed: bool,
    /// Slots of the bodies that the player ran into or stood on.
    pub(crate) touched: Vec<u16>,
}

/// The motion of a player on foot; `None` for other entities, and in limbo.
pub(crate) fn motion_of(entity: &Entity) -> Option<PlayerMotion> {
    let walker = *entity.walker()?;
    Some(PlayerMotion {
        // The conversion is exact: a player's position and velocity are always values of `f32`.
        position: entity.placement()?.pose().position.as_vec3(),
        velocity: entity.velocity.as_vec3(),
        walker,
    })
}

/// Moves the player in `slot` by a tick and shoves the props that they run into.
pub(crate) fn step(
    arena: &Arena,
    entities: &mut Entities,
    slot: u16,
    command: Command,
    context: &mut StepContext,
) -> WalkOutcome {
    let seconds = context.seconds;
    let Some(entity) = entities.get(slot) else { return WalkOutcome::default() };
    let (Some(motion), Some(before)) = (motion_of(entity), entity.placement().copied()) else {
        return WalkOutcome::default();
    };
    let space = arena.space(entities);
    let mut encounters = Encounters::default();
    let memory = PlaneCache::new(context);
    let parameters = arena.movement_of(&motion.walker);
    let reach = parameters.reach(motion.velocity, arena.currents.fastest(), seconds);
    let mut around = PlayerSurroundings::new(
        arena,
        motion.position,
        LiveBodies::new(space, entity, before.bounds(), (seconds, reach)),
        memory,
    );
    let by = (seconds, parameters);
    let moved = movement::step(motion, command, by, &mut around, &mut encounters);
    let pushed = around.pushed;
    let shape = arena.shapes.of_posture(moved.walker.posture);
    let pose = Pose::at(moved.position.as_dvec3());
    let placement = space.place(shape, pose, Seeker::of(entity), context);
    let overlaps = placement.is_none() && space.overlaps(entity);
    if let Some(entity) = entities.get_mut(slot) {
        entity.velocity = moved.velocity.as_dvec3();
        // The end of the motion is not free, so the player does not move. The view turns, and the
        // velocity is kept for the next tick.
        let unmoved = Walker { yaw: command.yaw, ..motion.walker };
        if let Some(walker) = entity.walker_mut() {
            *walker = if placement.is_some() { moved.walker } else { unmoved };
        }
    }
    let teleported = encounters.teleported.filter(|_| placement.is_some());
    if let Some(placement) = placement {
        entities.commit(slot, placement);
    }
    shove(entities, &arena.shapes, slot, &encounters.touched);
    let touched = encounters.touched.iter().filter_map(|(hit, _)| hit.entity);
    // A client has to know where kinematic ground goes, and when resting ground starts to move.
    let goes = |slot: &u16| {
        let ground = entities.get(*slot);
        ground.is_some_and(|ground| {
            ground.mobility() == Mobility::Kinematic || ground.linear_move().is_some()
        })
    };
    let touched = touched.chain(encounters.ground.filter(goes)).collect();
    WalkOutcome { overlaps, teleported, pushed, touched }
}

/// Brings the player in `slot` down to the body that carries the player, after that body has moved.
pub(crate) fn come_down(
    arena: &Arena,
    entities: &mut Entities,
    slot: u16,
    context: &mut StepContext,
) {
    let seconds = context.seconds;
    let Some(entity) = entities.get(slot) else { return };
    let (Some(motion), Some(before)) = (motion_of(entity), entity.placement()) else { return };
    let space = arena.space(entities);
    let reach = f64::from(motion.walker.ground_velocity.length()) * seconds;
    let crowd = LiveBodies::new(space, entity, before.bounds(), (seconds, reach));
    let mut around =
        PlayerSurroundings::new(arena, motion.position, crowd, PlaneCache::new(context));
    let moved = movement::come_down(motion, seconds, &mut around);
    if moved == motion {
        return;
    }
    let pose = Pose::at(moved.position.as_dvec3());
    let shape = arena.shapes.of_posture(motion.walker.posture);
    if let Some(placement) = space.place(shape, pose, Seeker::of(entity), context) {
        entities.commit(slot, placement);
    }
}

/// Gives props that a player ran into the velocity of an inelastic impact. The velocity acts on the
/// centre of mass, so it does not tip the props.
fn shove(entities: &mut Entities, shapes: &Shapes, player: u16, touched: &[(SweepHit, f64)]) {
    for (hit, speed) in touched {
        let Some(slot) = hit.entity else { continue };
        let Some(entity) = entities.get(slot) else { continue };
        // The model decides this, because clients know nothing else about the body.
        if shapes[entity.shape].kind != BodyKind::Dynamic || !entity.is_rigid() {
            continue;
        }
        let inverse_mass = entity.mass(&shapes[entity.shape]).inverse_mass;
        let Some(gained) = shove_speed(hit, *speed, entity.velocity, inverse_mass) else {
            continue;
        };
        sleep::wake(entities, slot);
        if let Some(entity) = entities.get_mut(slot) {
            entity.velocity += gained;
            entity.record.shoved_by = Some(player);
        }
    }
}

/// The velocity that a body gains if a player runs into it; `None` if the player
/// stands on it, or it already moves away as fast.
pub(crate) fn shove_speed(
    hit: &SweepHit,
    speed: f64,
    velocity: DVec3,
    inverse_mass: f64,
) -> Option<DVec3> {
    let direction = -hit.normal;
    let closing = speed - velocity.dot(direction);
    if hit.normal.z >= STOOD_ON || closing <= 0.0 {
        return None;
    }
    let impulse = closing / (1.0 / PLAYER_MASS + inverse_mass);
    Some(direction * (impulse * inverse_mass))
}
