//! Finds free places: for players at spawn points, for props, and for bodies that the
//! emergency routine puts back.
//!
//! Blow's invariant needs a last resort, because rounding may put a body into another. The
//! emergency routine takes such a body out and puts it back at the nearest free place
//! ([`nearest_free`]). If there is no free place near the body, it is put at a spawn point, or at a
//! place that can be reached from a spawn point ([`Places`]). If all these places are taken as
//! well, the body waits in limbo.

mod places;

use glam::{DQuat, DVec3, Vec3};
use obsp::geometry::Aabb;
use obsp::{Clearance, MapEntity, SizeId, Trace};

use crate::bodies::guard::{Placement, Seeker, Space};
use crate::collision::distances::LEAST_CLEARANCE;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::context::StepContext;
use crate::conventions::{turn, yaw_of};
use crate::random::Random;
use crate::setup::SetupWarning;

pub(crate) use places::Places;
use places::walk;

/// Height of a Quake spawn point over the feet of a player who spawns there, in units.
const ORIGIN_OVER_FEET: f64 = 24.0;

/// Heights above a spawn point or the end of a teleporter, in units, at which a player is tried one
/// after another. Some maps put the point into the floor (Quake lifts a player who comes out of a
/// teleporter), and another player may stand at the point.
const LIFTS: [f64; 6] = [0.0, 1.0, 4.0, 12.0, 32.0, 64.0];

/// Distances from an occupied place, in units, at which a free place is looked for.
const RINGS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Precision with which the nearest free place in a direction is found, in units.
const NEAR_ENOUGH: f64 = 0.5;

/// Distances from a point in solid, in units, at which a point outside the solid is looked for.
const EYES: [f64; 6] = [1.0 / 64.0, 1.0 / 16.0, 0.25, 0.5, 1.0, 2.0];

/// Number of places tried in one tick for a body that finds no spawn point free. If none of them is
/// free, the next tick tries the next ones.
const PLACES_SEARCHED: usize = 256;

/// Maximum height above the floor, and maximum distance beside the middle of a place, at which
/// props are scattered, in units.
const SCATTER_HEIGHT: f64 = 300.0;
const SCATTER_ASIDE: f64 = 64.0;

/// Distance in units between scattered props and the boxes of players at spawn points.
/// Props nearer than this could keep players in limbo at the start of a match.
const SPAWN_ROOM: f64 = 16.0;

/// Attempts to find a place for a prop. If all of them fail, the map counts as full.
const SCATTER_TRIES: u32 = 256;

/// A point where players come into a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpawnPoint {
    /// Centre of a standing player, rounded to `f32` like every position of a player.
    pub(crate) centre: DVec3,
    /// Heading of the player on arrival.
    pub(crate) yaw: u16,
}

/// The places where bodies may come into the world.
#[derive(Clone, Copy)]
pub(crate) struct SpawnCandidates<'a> {
    pub(crate) points: &'a [SpawnPoint],
    pub(crate) places: &'a Places,
    /// The number of the attempt, which selects the places to try.
    pub(crate) attempt: u64,
}

/// The map's spawn points, in the map's order. A point in the floor is moved up until it is free. A
/// point that stays blocked is left out. Problems are added to `warnings`.
pub(crate) fn spawn_points(
    map: &obsp::Map,
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
        let Some(centre) = standing_centre(map, standing, origin) else {
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

/// Centre of a player of the size `standing` at `origin`, a point from the map. It is raised by the
/// first of [`LIFTS`] at which the world leaves room. It is rounded to `f32` like every position of
/// a player.
pub(crate) fn standing_centre(map: &obsp::Map, standing: SizeId, origin: DVec3) -> Option<DVec3> {
    let half_height = f64::from(map.sizes()[standing.index()].half_extents.z);
    let rise = half_height - ORIGIN_OVER_FEET;
    let lifted = |lift: &f64| (origin + DVec3::Z * (rise + lift)).as_vec3();
    let is_clear =
        |centre: &Vec3| map.clearance(standing, *centre, LEAST_CLEARANCE) == Clearance::Clear;
    LIFTS.iter().map(lifted).find(is_clear).map(|centre| centre.as_dvec3())
}

/// A free place for a player, and the heading there: the spawn point farthest from all other
/// players. If all points are taken, it is a place that can be reached from a spawn point.
pub(crate) fn player_place(
    space: &Space,
    candidates: &SpawnCandidates,
    (shape, seeker): (ShapeId, Seeker),
    context: &mut StepContext,
) -> Option<(Placement, u16)> {
    let mut others = Vec::new();
    for entity in space.entities.active().filter(|entity| entity.player().is_some()) {
        others.extend(entity.placement().map(|placement| placement.pose().position));
    }
    let room = |point: &SpawnPoint| {
        let distances = others.iter().map(|other| other.distance_squared(point.centre));
        distances.fold(f64::INFINITY, f64::min)
    };
    let mut order: Vec<_> = candidates.points.iter().map(|point| (room(point), point)).collect();
    order.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let at_point = |(_, point): &(f64, &SpawnPoint)| {
        let placement = lifted(space, point.centre, DQuat::IDENTITY, (shape, seeker), context)?;
        Some((placement, point.yaw))
    };
    let found = order.iter().find_map(at_point);
    found.or_else(|| {
        Some((reachable(space, candidates, (shape, seeker), DQuat::IDENTITY, context)?, 0))
    })
}

/// A free place among the reachable ones. Each attempt tries the next
/// [`PLACES_SEARCHED`] of them.
fn reachable(
    space: &Space,
    candidates: &SpawnCandidates,
    (shape, seeker): (ShapeId, Seeker),
    orientation: DQuat,
    context: &mut StepContext,
) -> Option<Placement> {
    let centres = candidates.places.centres();
    let rounds = centres.len().div_ceil(PLACES_SEARCHED).max(1) as u64;
    let first = (candidates.attempt % rounds) as usize * PLACES_SEARCHED;
    centres
        .iter()
        .skip(first)
        .take(PLACES_SEARCHED)
        .find_map(|centre| lifted(space, centre.as_dvec3(), orientation, (shape, seeker), context))
}

fn lifted(
    space: &Space,
    point: DVec3,
    orientation: DQuat,
    (shape, seeker): (ShapeId, Seeker),
    context: &mut StepContext,
) -> Option<Placement> {
    LIFTS.iter().find_map(|&lift| {
        let position = point + DVec3::Z * lift;
        space.place(shape, Pose { position, orientation }, seeker, context)
    })
}

/// The free pose nearest to `pose`. The search goes outward ring by ring in a fixed order, then
/// inward by bisection. Only places in sight of `pose` count. A place behind a wall may be near,
/// but the body was not on that side.
pub(crate) fn nearest_free(
    space: &Space,
    (shape, seeker): (ShapeId, Seeker),
    pose: Pose,
    sight: SizeId,
    context: &mut StepContext,
) -> Option<Placement> {
    if let Some(placement) = space.place(shape, pose, seeker, context) {
        return Some(placement);
    }
    let eye = eye(space.map, sight, pose.position);
    let mut place = |direction: DVec3, distance: f64| {
        // A player's position must be rounded to `f32`. For other bodies the rounding is harmless.
        let to = (eye.as_dvec3() + direction * distance).as_vec3();
        if !in_sight(space.map, sight, eye, to) {
            return None;
        }
        space.place(shape, Pose { position: to.as_dvec3(), ..pose }, seeker, context)
    };
    let mut nearer = 0.0;
    for ring in RINGS {
        let mut nearest: Option<(f64, Placement)> = None;
        for direction in directions() {
            // A place that is hardly nearer than the best one so far is of no interest.
            let mut high = nearest.map_or(ring, |(distance, _)| distance - NEAR_ENOUGH);
            let Some(mut found) = (high > nearer).then(|| place(direction, high)).flatten() else {
                continue;
            };
            let mut low = nearer;
            while high - low > NEAR_ENOUGH {
                let middle = 0.5 * (low + high);
                match place(direction, middle) {
                    Some(placement) => (high, found) = (middle, placement),
                    None => low = middle,
                }
            }
            nearest = Some((high, found));
        }
        if let Some((_, placement)) = nearest {
            return Some(placement);
        }
        nearer = ring;
    }
    None
}

/// The point from which free places around `position` are looked for. It is `position`, or the
/// nearest point outside the solid if `position` is in solid. From a point in solid nothing is in
/// sight.
fn eye(map: &obsp::Map, sight: SizeId, position: DVec3) -> Vec3 {
    let around = EYES.iter().flat_map(|&ring| directions().map(move |way| position + way * ring));
    let mut places = std::iter::once(position).chain(around).map(|place| place.as_vec3());
    places.find(|&place| !map.is_solid(sight, place)).unwrap_or(position.as_vec3())
}

/// Any free place for a body of this orientation: the spawn points in order, then the reachable
/// places.
pub(crate) fn any_free(
    space: &Space,
    candidates: &SpawnCandidates,
    (shape, seeker): (ShapeId, Seeker),
    orientation: DQuat,
    context: &mut StepContext,
) -> Option<Placement> {
    let found = candidates
        .points
        .iter()
        .find_map(|point| lifted(space, point.centre, orientation, (shape, seeker), context));
    found.or_else(|| reachable(space, candidates, (shape, seeker), orientation, context))
}

/// The 26 directions to the neighbours of a cell. The upward directions come first, because there
/// is most often room above a body.
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

fn in_sight(map: &obsp::Map, sight: SizeId, from: Vec3, to: Vec3) -> bool {
    matches!(map.find_first_transition(sight, from, to), Trace::Clear)
}

/// A free place for a prop in the air above a reachable place. The way to that place is swept with
/// the box of a player (`standing`), because that box cannot leave the map through a crack.
pub(crate) fn scattered(
    space: &Space,
    candidates: &SpawnCandidates,
    (shape, seeker): (ShapeId, Seeker),
    standing: (ShapeId, SizeId),
    random: &mut Random,
    context: &mut StepContext,
) -> Option<Placement> {
    let centres = candidates.places.centres();
    if centres.is_empty() {
        return None;
    }
    let player = space.shape(standing.0).bounds.inflated(SPAWN_ROOM);
    let keeps_off = |bounds: &Aabb| {
        let taken =
            |p: &SpawnPoint| Aabb { min: player.min + p.centre, max: player.max + p.centre };
        !candidates.points.iter().any(|point| taken(point).overlaps(bounds))
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
        let placement = space.place(shape, pose, seeker, context);
        if let Some(placement) = placement.filter(|placement| keeps_off(placement.bounds())) {
            return Some(placement);
        }
    }
    None
}
