//! Where things come into the world, and come back to: spawn points, the
//! map's own props, props scattered by seed, and the emergency routine.
//!
//! Blow's invariant needs a last resort: a body that rounding has put into
//! another is taken out and put back at the nearest free place
//! ([`nearest_free`]), else at a spawn point, else it waits in limbo.

use glam::{DQuat, DVec3, Vec3};
use maps::{MapEntity, SizeId, Trace};

use crate::counters::Counters;
use crate::guard::{Placement, Space};
use crate::pose::Pose;
use crate::random::Random;
use crate::shape::ShapeId;

/// A Quake spawn point is the origin of a box from 24 below to 32 above it,
/// so the box's centre lies four units higher.
const ORIGIN_TO_CENTRE: f64 = 4.0;

/// Heights tried at a spawn point that is not free: some maps put it into the
/// floor, and someone may be standing there.
const LIFTS: [f64; 6] = [0.0, 1.0, 4.0, 12.0, 32.0, 64.0];

/// Distances searched around a place that is taken, in units.
const RINGS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Spawn points around which a place is searched if none of them is free: the
/// search is dear, and whoever finds nothing asks again next tick.
const POINTS_SEARCHED: usize = 2;

/// Legs of the walk that scatters a prop away from a spawn point.
const SCATTER_LEGS: u32 = 3;

/// How far such a leg leads at most, in units.
const SCATTER_REACH: f64 = 700.0;

/// Tries to find a prop a place; a map so full is full.
const SCATTER_TRIES: u32 = 64;

/// Centres of a standing player at the map's spawn points, in the map's
/// order.
pub(crate) fn spawn_points(map: &maps::World) -> Vec<DVec3> {
    let is_spawn = |entity: &&MapEntity| {
        matches!(
            entity.classname(),
            "info_player_deathmatch"
                | "info_player_start"
                | "info_player_start2"
                | "info_player_coop"
        )
    };
    let points = map.entities().iter().filter(is_spawn).filter_map(MapEntity::origin);
    points.map(standing_centre).collect()
}

/// Where the centre of a standing player is whose origin a map gives; like
/// every position of a player, one that `f32` can hold.
pub(crate) fn standing_centre(origin: DVec3) -> DVec3 {
    (origin + DVec3::Z * ORIGIN_TO_CENTRE).as_vec3().as_dvec3()
}

/// A free place for a player at the spawn point farthest from all others, or
/// near one if things lie on all of them.
pub(crate) fn player_place(
    space: &Space,
    (points, sight): (&[DVec3], SizeId),
    shape: ShapeId,
    counters: &mut Counters,
) -> Option<Placement> {
    let mut others = Vec::new();
    for entity in space.entities.iter().filter(|entity| entity.player().is_some()) {
        others.extend(entity.placement().map(|placement| placement.pose().position));
    }
    let room = |point: &DVec3| {
        let distances = others.iter().map(|other| other.distance_squared(*point));
        distances.fold(f64::INFINITY, f64::min)
    };
    let mut order: Vec<&DVec3> = points.iter().collect();
    order.sort_by(|a, b| room(b).total_cmp(&room(a)));
    let free =
        order.iter().find_map(|&&point| lifted(space, point, DQuat::IDENTITY, shape, counters));
    free.or_else(|| {
        let mut near =
            |&&point: &&DVec3| nearest_free(space, shape, Pose::at(point), sight, counters);
        order.iter().take(POINTS_SEARCHED).find_map(&mut near)
    })
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

/// Anywhere at all: the spawn points in order.
pub(crate) fn any_free(
    space: &Space,
    points: &[DVec3],
    shape: ShapeId,
    counters: &mut Counters,
) -> Option<Placement> {
    points.iter().find_map(|&point| lifted(space, point, DQuat::IDENTITY, shape, counters))
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

/// A free place for a prop somewhere a walk of a few straight legs from a
/// spawn point leads: never in the void outside the map's walls.
pub(crate) fn scattered(
    space: &Space,
    points: &[DVec3],
    shape: ShapeId,
    sight: SizeId,
    random: &mut Random,
    counters: &mut Counters,
) -> Option<Placement> {
    for _ in 0..SCATTER_TRIES {
        let mut position = points[random.below(points.len() as u64) as usize].as_vec3();
        for _ in 0..SCATTER_LEGS {
            let direction = DVec3::new(
                random.between(-1.0, 1.0),
                random.between(-1.0, 1.0),
                random.between(-0.4, 0.4),
            );
            let leg = direction.normalize_or_zero() * random.between(0.0, SCATTER_REACH);
            let target = position + leg.as_vec3();
            position = match space.map.find_first_transition(sight, position, target) {
                Trace::Clear => target,
                Trace::Hit(hit) => hit.end,
                Trace::StartSolid => position,
            };
        }
        let pose = Pose {
            position: position.as_dvec3(),
            orientation: turn(random.unit() * std::f64::consts::TAU),
        };
        let placement = space.place(shape, pose, None, counters);
        if placement.is_some() {
            return placement;
        }
    }
    None
}

/// A turn of `angle` radians about +Z.
pub(crate) fn turn(angle: f64) -> DQuat {
    let half = angle * 0.5;
    DQuat::from_xyzw(0.0, 0.0, libm::sin(half), libm::cos(half))
}
