//! Sliding along surfaces, and stepping up ledges.

use arrayvec::ArrayVec;
use glam::{DVec3, Vec3};

use super::{GROUND_REACH, Ground, Motion, Surroundings};
use crate::arena::parameters::MovementParameters;
use crate::conventions::WALKABLE;
use crate::players::agent::SweepHit;

/// Maximum number of straight pieces in the motion of one tick.
const MAX_BENDS: usize = 4;

/// Maximum number of surfaces met within a tick. A player who meets more is in a pocket and stops.
const MAX_PLANES: usize = 5;

/// A velocity that leads away from a surface slower than this, in units per second, counts as
/// leading into the surface.
const LEAVING: f64 = 0.1;

/// Two hits belong to the same plane if the cosine between their normals is greater
/// than this.
const SAME_PLANE: f64 = 0.99;

/// Factor on the removed part of a clipped velocity. It is slightly above one, so that rounding
/// does not leave a velocity into the surface.
const OVERCLIP: f64 = 1.001;

/// The hits of a slide, each with the speed into the surface.
type Touched = ArrayVec<(SweepHit, f64), MAX_BENDS>;

/// Moves for `seconds` at the motion's velocity and slides along the surfaces that are met. Returns
/// whether any surface was met.
fn slide(
    motion: &mut Motion,
    ground: Option<Ground>,
    seconds: f64,
    surroundings: &mut impl Surroundings,
    touched: &mut Touched,
) -> bool {
    // There is room for one plane more than the maximum: the slide ends after that plane is added.
    let mut planes = ArrayVec::<DVec3, { MAX_PLANES + 1 }>::new();
    planes.extend(ground.map(|ground| ground.normal));
    let in_wedge = ground.is_some_and(|ground| ground.is_wedge);
    let wanted = motion.velocity;
    let mut left = seconds;
    if let Some(Ground { normal, .. }) = ground {
        motion.velocity = clip(motion.velocity, normal);
    }
    for bend in 0..MAX_BENDS {
        let end = motion.position + (motion.velocity * left).as_vec3();
        if end == motion.position {
            return bend > 0;
        }
        let sweep = surroundings.sweep(motion.walker.posture, motion.position, end);
        motion.position = sweep.end;
        let Some(hit) = sweep.hit else {
            if sweep.time < 1.0 {
                // The player is wedged, and no direction to slide along is left.
                motion.velocity = DVec3::ZERO;
            }
            return bend > 0 || sweep.time < 1.0;
        };
        let into = -motion.velocity.dot(hit.normal);
        touched.push((hit, into));
        left *= 1.0 - sweep.time;
        if planes.iter().any(|plane| plane.dot(hit.normal) > SAME_PLANE) {
            // Rounding made this surface block again: move away from it a little.
            motion.velocity += hit.normal;
            continue;
        }
        planes.push(if in_wedge { upright(hit.normal) } else { hit.normal });
        if planes.len() > MAX_PLANES {
            motion.velocity = DVec3::ZERO;
            return true;
        }
        motion.velocity = along_all(motion.velocity, &planes);
        // The player stops, because turning back would jitter in corners.
        if motion.velocity.dot(wanted) <= 0.0 {
            motion.velocity = DVec3::ZERO;
            return true;
        }
    }
    true
}

/// Slides. If a surface is met, also tries the motion one step higher, and keeps the motion that
/// leads farther. A player who falls, or has just jumped, can step up onto ground that carries. As
/// in Quake III, a jump and a step together lead onto a ledge.
pub(super) fn slide_and_step(
    motion: &mut Motion,
    ground: Option<Ground>,
    (seconds, parameters): (f64, &MovementParameters),
    surroundings: &mut impl Surroundings,
    touched: &mut Vec<(SweepHit, f64)>,
) {
    let step = Vec3::Z * parameters.step_height as f32;
    let start = *motion;
    let mut met = Touched::new();
    if !slide(motion, ground, seconds, surroundings, &mut met) {
        descend(motion, ground, step, surroundings);
        return;
    }
    let posture = start.walker.posture;
    if ground.is_none() && motion.velocity.z > 0.0 {
        let below = surroundings.sweep(posture, start.position, start.position - step);
        if below.hit.is_none_or(|hit| hit.normal.z < WALKABLE) {
            touched.extend(met);
            return;
        }
    }
    let up = surroundings.sweep(posture, start.position, start.position + step);
    let mut high = Motion { position: up.end, ..start };
    let mut met_above = Touched::new();
    slide(&mut high, None, seconds, surroundings, &mut met_above);
    let rise = Vec3::Z * (up.end.z - start.position.z);
    let down = surroundings.sweep(posture, high.position, high.position - rise);
    high.position = down.end;
    let lands = down.hit.map_or(ground.is_some(), |hit| hit.normal.z >= WALKABLE);
    let gained = |to: Vec3| (to - start.position).truncate().length_squared();
    if lands && gained(high.position) > gained(motion.position) + 1e-3 {
        *motion = high;
        met = met_above;
    }
    touched.extend(met);
}

/// Keeps the player on descending ground: down a stair, or over the crest of a ramp.
fn descend(
    motion: &mut Motion,
    ground: Option<Ground>,
    step: Vec3,
    surroundings: &mut impl Surroundings,
) {
    let Some(Ground { normal, .. }) = ground else { return };
    // The speed is measured relative to the ground, not to the horizon. So a player who walks up
    // over an edge continues down, and the rounding of a level floor's normal does not decide.
    if motion.velocity.dot(normal) > LEAVING {
        return;
    }
    // Players end a step up a little above the ground.
    let below = motion.position - step - Vec3::Z * GROUND_REACH;
    let down = surroundings.sweep(motion.walker.posture, motion.position, below);
    if down.hit.is_some_and(|hit| hit.normal.z >= WALKABLE) {
        motion.position = down.end;
    }
}

/// The normal of a slope too steep to walk on, made level as if the slope were a wall. Any other
/// normal is kept. So a player who walks in a wedge does not run up its sides.
fn upright(normal: DVec3) -> DVec3 {
    let is_slope = normal.z > 0.0 && normal.z < WALKABLE;
    if is_slope { normal.with_z(0.0).normalize_or(normal) } else { normal }
}

/// `velocity` without the part that goes into the surface.
fn clip(velocity: DVec3, normal: DVec3) -> DVec3 {
    let into = velocity.dot(normal);
    if into < 0.0 { velocity - normal * (into * OVERCLIP) } else { velocity }
}

/// The velocity clipped so that it enters none of `planes`. The result is along one of them, or
/// along the crease of two, or zero.
fn along_all(velocity: DVec3, planes: &[DVec3]) -> DVec3 {
    let enters = |v: DVec3| planes.iter().any(|plane| v.dot(*plane) < -LEAVING);
    let single = planes.iter().map(|&plane| clip(velocity, plane));
    let creases = planes.iter().enumerate().flat_map(|(i, first)| {
        planes[i + 1..].iter().filter_map(move |second| {
            let along = first.cross(*second).try_normalize()?;
            Some(along * along.dot(velocity))
        })
    });
    single.chain(creases).find(|&v| !enters(v)).unwrap_or(DVec3::ZERO)
}
