use glam::{DVec3, Vec3};

use super::{Motion, Surroundings, WALKABLE};
use crate::guard::SweepHit;

/// Straight pieces that one tick's way may bend into.
const MAX_BENDS: usize = 4;

/// Surfaces remembered within a tick; a fifth one means a pocket.
const MAX_PLANES: usize = 5;

/// A velocity that leaves a surface slower than this, in units per second,
/// still counts as going into it.
const LEAVING: f64 = 0.1;

/// Two hits on planes closer than this cosine are hits on the same plane.
const SAME_PLANE: f64 = 0.99;

/// Speed with which a clipped velocity leaves the surface, as a share of the
/// speed into it: keeps rounding from turning along into in.
const OVERCLIP: f64 = 1.001;

/// Highest ledge that is walked up without a jump, in units.
const STEP_HEIGHT: f32 = 18.0;

/// Moves for `seconds` at the motion's velocity, sliding along whatever is
/// met. Returns whether anything was.
pub(super) fn slide(
    motion: &mut Motion,
    ground: Option<DVec3>,
    seconds: f64,
    surroundings: &mut impl Surroundings,
    touched: &mut Vec<(SweepHit, f64)>,
) -> bool {
    let mut planes: Vec<DVec3> = ground.into_iter().collect();
    let wanted = motion.velocity;
    let mut left = seconds;
    if let Some(normal) = ground {
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
                // Wedged: nothing to slide along.
                motion.velocity = DVec3::ZERO;
            }
            return bend > 0 || sweep.time < 1.0;
        };
        let into = -motion.velocity.dot(hit.normal);
        touched.push((hit, into));
        left *= 1.0 - sweep.time;
        if planes.iter().any(|plane| plane.dot(hit.normal) > SAME_PLANE) {
            // The same surface again, by rounding: step off it a little.
            motion.velocity += hit.normal;
            continue;
        }
        planes.push(hit.normal);
        if planes.len() > MAX_PLANES {
            motion.velocity = DVec3::ZERO;
            return true;
        }
        motion.velocity = along_all(motion.velocity, &planes);
        // Turning back would tremble in corners; standing does not.
        if motion.velocity.dot(wanted) <= 0.0 {
            motion.velocity = DVec3::ZERO;
            return true;
        }
    }
    true
}

/// Slides; where that is cut short on the ground, tries again a step higher
/// and keeps the way that leads farther.
pub(super) fn slide_and_step(
    motion: &mut Motion,
    ground: Option<DVec3>,
    seconds: f64,
    surroundings: &mut impl Surroundings,
    touched: &mut Vec<(SweepHit, f64)>,
) {
    let start = *motion;
    let mut met = Vec::new();
    if !slide(motion, ground, seconds, surroundings, &mut met) {
        descend(motion, ground, surroundings);
        return;
    }
    let posture = start.walker.posture;
    let up = surroundings.sweep(posture, start.position, start.position + Vec3::Z * STEP_HEIGHT);
    let mut high = Motion { position: up.end, ..start };
    let mut met_above = Vec::new();
    slide(&mut high, None, seconds, surroundings, &mut met_above);
    let rise = Vec3::Z * (up.end.z - start.position.z);
    let down = surroundings.sweep(posture, high.position, high.position - rise);
    high.position = down.end;
    let lands = down.hit.is_none_or(|hit| hit.normal.z >= WALKABLE);
    let gained = |to: Vec3| (to - start.position).truncate().length_squared();
    if lands && gained(high.position) > gained(motion.position) + 1e-3 {
        *motion = high;
        met = met_above;
    }
    touched.append(&mut met);
}

/// Keeps the feet on the ground where it falls away: down a stair, or over
/// the crest of a ramp.
fn descend(motion: &mut Motion, ground: Option<DVec3>, surroundings: &mut impl Surroundings) {
    let Some(normal) = ground else { return };
    // By the ground, not by the horizon: who walks up to an edge goes on down,
    // and no rounding of a level floor's normal decides.
    if motion.velocity.dot(normal) > LEAVING {
        return;
    }
    let below = motion.position - Vec3::Z * STEP_HEIGHT;
    let down = surroundings.sweep(motion.walker.posture, motion.position, below);
    if down.hit.is_some_and(|hit| hit.normal.z >= WALKABLE) {
        motion.position = down.end;
    }
}

/// The part of `velocity` that does not go into the surface.
fn clip(velocity: DVec3, normal: DVec3) -> DVec3 {
    let into = velocity.dot(normal);
    if into < 0.0 { velocity - normal * (into * OVERCLIP) } else { velocity }
}

/// The velocity clipped so that it enters none of `planes`: along one of
/// them, else along a crease of two, else nothing at all.
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
