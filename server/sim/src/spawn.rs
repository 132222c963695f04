//! Where things come into the world, and come back to: spawn points, the
//! map's own props, props scattered by seed, and the emergency routine.
//!
//! Blow's invariant needs a last resort: a body that rounding has put into
//! another is taken out and put back at the nearest free place
//! ([`nearest_free`]), else at a spawn point or anywhere that can be walked to
//! from one ([`Places`]), else it waits in limbo.

mod places;

use glam::{DQuat, DVec3, Vec3};
use maps::geometry::Aabb;
use maps::{Clearance, MapEntity, SizeId, Trace};

use crate::counters::Counters;
use crate::guard::{LEAST_CLEARANCE, Placement, Space};
use crate::pose::Pose;
use crate::random::Random;
use crate::setup::SetupWarning;
use crate::shape::ShapeId;
use crate::trigger::yaw_of;

pub(crate) use places::Places;
use places::walk;

/// A Quake spawn point is the origin of a box from 24 below to 32 above it,
/// so the box's centre lies four units higher.
const ORIGIN_TO_CENTRE: f64 = 4.0;

/// Heights tried at a spawn point that is not free: some maps put it into the
/// floor, and someone may be standing there.
const LIFTS: [f64; 6] = [0.0, 1.0, 4.0, 12.0, 32.0, 64.0];

/// Distances searched around a place that is taken, in units.
const RINGS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Places looked at in one tick for someone who finds no spawn point free:
/// whoever finds nothing among them looks at the next ones next tick.
const PLACES_SEARCHED: usize = 256;

/// How high above the floor, and how far beside the middle of a place props
/// are scattered at most, in units.
const SCATTER_HEIGHT: f64 = 300.0;
const SCATTER_ASIDE: f64 = 64.0;

/// Scattered props keep so far from the boxes of players at spawn points, in
/// units: a match should not begin with everybody in limbo.
const SPAWN_ROOM: f64 = 16.0;

/// Tries to find a prop a place; a map so full is full.
const SCATTER_TRIES: u32 = 256;

/// Where players come into a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpawnPoint {
    /// Centre of a standing player; like every position of a player, one that
    /// `f32` can hold.
    pub(crate) centre: DVec3,
    /// Heading that the player begins with.
    pub(crate) yaw: u16,
}

/// The map's spawn points, in its order, lifted out of the floor where they
/// were drawn into it, and what is wrong with them. One that no lift frees is
/// left out.
pub(crate) fn spawn_points(
    map: &maps::World,
    standing: SizeId,
    warnings: &mut Vec<SetupWarning>,
) -> Vec<SpawnPoint> {
    let is_spawn = |entity: &&MapEntity| {
        matches!(
            entity.classname(),
            "info_player_deathmatch"
                | "info_player_start"
                | "info_player_start2"
                | "info_player_coop"
        )
    };
    let lowest = map.bounds().min.z as f32 - 1.0;
    let mut points = Vec::new();
    for entity in map.entities().iter().filter(is_spawn) {
        let classname = entity.classname().to_owned();
        let Some(origin) = entity.origin() else {
            warnings.push(SetupWarning::NoOrigin { classname });
            continue;
        };
        let clear = |centre: &DVec3| {
            let radius = LEAST_CLEARANCE;
            map.clearance(standing, centre.as_vec3(), radius) == Clearance::Clear
        };
        let lifted = |lift: &f64| standing_centre(origin + DVec3::Z * lift);
        let Some(centre) = LIFTS.iter().map(lifted).find(clear) else {
            warnings.push(SetupWarning::SpawnInSolid { classname, origin });
            continue;
        };
        let from = centre.as_vec3();
        if map.find_first_transition(standing, from, from.with_z(lowest)) == Trace::Clear {
            warnings.push(SetupWarning::SpawnOverVoid { classname, origin });
        }
        points.push(SpawnPoint { centre, yaw: yaw_of(entity.angle().unwrap_or(0.0)) });
    }
    points
}

/// Where the centre of a standing player is whose origin a map gives; like
/// every position of a player, one that `f32` can hold.
pub(crate) fn standing_centre(origin: DVec3) -> DVec3 {
    (origin + DVec3::Z * ORIGIN_TO_CENTRE).as_vec3().as_dvec3()
}

/// A free place for a player at the spawn point farthest from all others, and
/// the heading there; where all are taken, somewhere else that one can walk
/// to. `attempt` is another number every time that someone asks again.
pub(crate) fn player_place(
    space: &Space,
    points: &[SpawnPoint],
    (places, attempt): (&Places, u64),
    shape: ShapeId,
    counters: &mut Counters,
) -> Option<(Placement, u16)> {
    let mut others = Vec::new();
    for entity in space.entities.iter().filter(|entity| entity.player().is_some()) {
        others.extend(entity.placement().map(|placement| placement.pose().position));
    }
    let room = |point: &SpawnPoint| {
        let distances = others.iter().map(|other| other.distance_squared(point.centre));
        distances.fold(f64::INFINITY, f64::min)
    };
    let mut order: Vec<&SpawnPoint> = points.iter().collect();
    order.sort_by(|a, b| room(b).total_cmp(&room(a)));
    let at_point = |point: &&SpawnPoint| {
        let placement = lifted(space, point.centre, DQuat::IDENTITY, shape, counters)?;
        Some((placement, point.yaw))
    };
    let found = order.iter().find_map(at_point);
    found.or_else(|| Some((walked_to(space, places, attempt, shape, counters)?, 0)))
}

/// A free place among the ones that can be walked to: the first ones, and then
/// others with every attempt.
fn walked_to(
    space: &Space,
    places: &Places,
    attempt: u64,
    shape: ShapeId,
    counters: &mut Counters,
) -> Option<Placement> {
    let centres = places.centres();
    let rounds = centres.len().div_ceil(PLACES_SEARCHED).max(1) as u64;
    let first = (attempt % rounds) as usize * PLACES_SEARCHED;
    centres
        .iter()
        .skip(first)
        .take(PLACES_SEARCHED)
        .find_map(|centre| lifted(space, centre.as_dvec3(), DQuat::IDENTITY, shape, counters))
}

fn lifted(
    space: &Space,
    point: DVec3,
    orientation: DQuat,
    shape: ShapeId,
    counters: &mut Counters,
) -> Option<Placement> {
    LIFTS.iter().find_map(|&lift| {
        let position = point + DVec3::Z * lift;
        space.place(shape, Pose { position, orientation }, None, counters)
    })
}

/// The free pose nearest to `pose`, searched outward ring by ring in a fixed
/// order. Only places in plain sight of the old one count: the far side of a
/// wall is near, but not where the body was.
pub(crate) fn nearest_free(
    space: &Space,
    shape: ShapeId,
    pose: Pose,
    sight: SizeId,
    counters: &mut Counters,
) -> Option<Placement> {
    if let Some(placement) = space.place(shape, pose, None, counters) {
        return Some(placement);
    }
    let from = pose.position.as_vec3();
    for ring in RINGS {
        for direction in directions() {
            // Rounded for the agents, harmless for the others.
            let to = (pose.position + direction * ring).as_vec3();
            if !in_sight(space.map, sight, from, to) {
                continue;
            }
            let moved = Pose { position: to.as_dvec3(), ..pose };
            let placement = space.place(shape, moved, None, counters);
            if placement.is_some() {
                return placement;
            }
        }
    }
    None
}

/// Anywhere at all: the spawn points in order, then what can be walked to.
pub(crate) fn any_free(
    space: &Space,
    points: &[SpawnPoint],
    (places, attempt): (&Places, u64),
    shape: ShapeId,
    counters: &mut Counters,
) -> Option<Placement> {
    let found = points
        .iter()
        .find_map(|point| lifted(space, point.centre, DQuat::IDENTITY, shape, counters));
    found.or_else(|| walked_to(space, places, attempt, shape, counters))
}

/// The 26 neighbours of a cell, upward first: up is where room most often is.
fn directions() -> impl Iterator<Item = DVec3> {
    [1.0, 0.0, -1.0].into_iter().flat_map(|z| {
        [0.0, 1.0, -1.0].into_iter().flat_map(move |y| {
            [0.0, 1.0, -1.0]
                .into_iter()
                .map(move |x| DVec3::new(x, y, z))
                .filter(|direction| *direction != DVec3::ZERO)
                .map(DVec3::normalize)
        })
    })
}

fn in_sight(map: &maps::World, sight: SizeId, from: Vec3, to: Vec3) -> bool {
    matches!(map.find_first_transition(sight, from, to), Trace::Clear)
}

/// A free place for a prop in the air over a place that a player can get to.
/// The way there is swept by a player's box (`standing`), which cannot slip
/// out of the map through a crack.
pub(crate) fn scattered(
    space: &Space,
    (points, places): (&[SpawnPoint], &Places),
    shape: ShapeId,
    standing: (ShapeId, SizeId),
    random: &mut Random,
    counters: &mut Counters,
) -> Option<Placement> {
    let centres = places.centres();
    if centres.is_empty() {
        return None;
    }
    let player = space.shape(standing.0).bounds.inflated(SPAWN_ROOM);
    let keeps_off = |bounds: &Aabb| {
        let taken =
            |p: &SpawnPoint| Aabb { min: player.min + p.centre, max: player.max + p.centre };
        !points.iter().any(|point| taken(point).overlaps(bounds))
    };
    for _ in 0..SCATTER_TRIES {
        let floor = centres[random.below(centres.len() as u64) as usize];
        let height = random.between(0.0, SCATTER_HEIGHT) as f32;
        let mut aside = || random.between(-SCATTER_ASIDE, SCATTER_ASIDE) as f32;
        let (x, y) = (aside(), aside());
        let above = walk(space.map, standing.1, floor, floor + Vec3::Z * height);
        let position = walk(space.map, standing.1, above, above + Vec3::new(x, y, 0.0));
        let pose = Pose {
            position: position.as_dvec3(),
            orientation: turn(random.unit() * std::f64::consts::TAU),
        };
        let placement = space.place(shape, pose, None, counters);
        if let Some(placement) = placement.filter(|placement| keeps_off(placement.bounds())) {
            return Some(placement);
        }
    }
    None
}

/// A turn of `angle` radians about +Z.
pub(crate) fn turn(angle: f64) -> DQuat {
    let half = angle * 0.5;
    DQuat::from_xyzw(0.0, 0.0, libm::sin(half), libm::cos(half))
}
