use glam::DVec3;
use maps::Trace;
use maps::body::Sphere;

use crate::entities::Role;
use crate::guard::{MARGIN, Proposal, Space};
use crate::pose::Pose;

use super::blast::burst;
use super::{Combat, Projectile, Weapon};

/// Moves rockets, and lets burst what has to. Grenades move with the other
/// rigid bodies.
pub(crate) fn advance_projectiles(combat: &mut Combat) {
    let thrown = combat.entities.slots_where(|e| matches!(e.role, Role::Projectile(_)));
    for slot in thrown {
        let Some(entity) = combat.entities.get_mut(slot) else { continue };
        let Role::Projectile(projectile) = &mut entity.role else { continue };
        projectile.fuse = projectile.fuse.saturating_sub(1);
        let Projectile { weapon, fuse, .. } = *projectile;
        let spent = fuse == 0 || entity.placement().is_none();
        let stopped = weapon == Weapon::Rocket && fly(combat, slot);
        if spent || stopped {
            burst(combat, slot);
        }
    }
}

/// Moves a rocket as far as it is free; returns whether something stopped it.
///
/// To the world it is the ball around it, whose way the shifted planes know;
/// the guard has then to prove it free of everybody else, and of the world
/// once more, as of everything that it lets in.
fn fly(combat: &mut Combat, slot: u16) -> bool {
    let Some(entity) = combat.entities.get(slot) else { return true };
    let Some(placement) = entity.placement() else { return true };
    let start = *placement.pose();
    let goal = start.position + entity.velocity * combat.seconds;
    let radius = combat.arena.shapes[placement.shape()].radius;
    let (position, met) = fly_as_ball(combat, radius, start.position, goal);
    let proposal = Proposal { slot, target: Pose { position, ..start }, seconds: combat.seconds };
    let space =
        Space { map: &combat.arena.map, shapes: &combat.arena.shapes, entities: combat.entities };
    let no_plane = |_, _| None;
    let advances = space.advance(&[proposal], no_plane, combat.counters);
    let Some(advance) = advances.into_iter().next() else { return true };
    let Some(placement) = advance.placement else { return true };
    combat.entities.commit(slot, placement);
    met || advance.left > 0.0
}

/// Where the ball around a rocket ends between `start` and `goal`, and whether
/// the world stopped it there. A start too near to an edge for the shifted
/// planes to tell is the guard's to judge.
fn fly_as_ball(combat: &Combat, radius: f64, start: DVec3, goal: DVec3) -> (DVec3, bool) {
    let Ok(ball) = Sphere::new((radius + MARGIN) as f32) else { return (goal, false) };
    match combat.arena.map.cast(&ball, start.as_vec3(), goal.as_vec3()) {
        Trace::Hit(hit) => (hit.end.as_dvec3(), true),
        Trace::Clear | Trace::StartSolid => (goal, false),
    }
}
