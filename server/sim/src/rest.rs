//! Sleep and waking. A prop that has not moved to speak of for a while falls
//! asleep together with everything it touches (its island), and costs
//! nothing until something that moves touches it or takes its support away.

use crate::contact::{Pair, REST_GAP};
use crate::entities::{Entities, Entity};
use crate::guard::Blocker;
use crate::shape::Shapes;

/// Slower than this at every point of its surface, in units per second, a
/// body is still: a sixth of what gravity adds in a tick of 1/60 s.
pub(crate) const STILL_SPEED: f64 = 2.0;

/// A body trembles whose surface keeps within this many units of where it was,
/// however fast: what is wedged in a heap may do so for ever.
const TREMBLING: f64 = 1.0;

/// A body whose surface is faster than this, in units per second, wakes what
/// it touches: above the last trembling of a pile that settles.
const WAKING_SPEED: f64 = 2.0;

/// How long an island must have been still, in seconds. Friction stops what
/// slides so slowly within a tick, what rocks is as slow for a tenth of it where it
/// turns round, and what starts from rest on ground a degree too steep is faster
/// by then.
pub(crate) const STILL_SECONDS: f64 = 0.15;

/// How long a body must tremble that leans on no other: longer, or it would not
/// begin to slide. In a heap trembling is as good as being still.
const TREMBLING_SECONDS: f64 = 0.5;

/// The same for bodies that are held, by the solver or by the guard: only a push
/// from outside moves them again.
const HELD_SECONDS: f64 = 0.03;

/// But for as many ticks at the least: what rocks stands for one where it turns
/// round.
const HELD_TICKS: u16 = 2;

/// Bodies this near touch: the rest gap and what easing leaves of it.
pub(crate) const TOUCH: f64 = 2.0 * REST_GAP;

/// No point of the body is faster than this, in units per second.
pub(crate) fn surface_speed(entity: &Entity, shapes: &Shapes) -> f64 {
    let radius = shapes[entity.shape].radius;
    entity.velocity.length() + entity.angular.length() * radius
}

/// Wakes the prop in `slot` and all that fell asleep with it: half an island
/// asleep would be a rock on the other half's back.
pub(crate) fn wake(entities: &mut Entities, slot: u16) {
    let Some(rest) = entities.get(slot).map(|entity| entity.rest) else { return };
    for entity in entities.iter_mut() {
        let together = rest.asleep && entity.rest.asleep && entity.rest.island == rest.island;
        if together || entity.id.slot == slot {
            entity.rest.asleep = false;
            entity.rest.begin_anew();
            entity.shoved_by = None;
        }
    }
}

/// Wakes every prop that may have leant on whatever stood at `bounds`.
pub(crate) fn wake_around(entities: &mut Entities, bounds: &maps::geometry::Aabb) {
    let bounds = bounds.inflated(TOUCH);
    let mut near = Vec::new();
    entities.near(&bounds, &mut near);
    for slot in near {
        let touched = entities
            .get(slot)
            .filter(|entity| entity.rest.asleep)
            .and_then(Entity::placement)
            .is_some_and(|placement| placement.bounds().overlaps(&bounds));
        if touched {
            wake(entities, slot);
        }
    }
}

/// Wakes sleepers that something moving touches. Returns whether there were
/// any.
pub(crate) fn wake_touched(entities: &mut Entities, shapes: &Shapes, pairs: &[Pair]) -> bool {
    let mut touched = Vec::new();
    for pair in pairs {
        let Blocker::Entity(other) = pair.key.other else { continue };
        let sleeps = entities.get(other).is_some_and(|entity| entity.rest.asleep);
        let moves = || {
            let body = entities.get(pair.key.body);
            body.is_some_and(|entity| surface_speed(entity, shapes) > WAKING_SPEED)
        };
        if sleeps && !pair.points.is_empty() && moves() {
            touched.push(other);
        }
    }
    for &slot in &touched {
        wake(entities, slot);
    }
    !touched.is_empty()
}

/// Whether, for all its speed, it has not come away from where it was.
fn trembles(entity: &Entity, shapes: &Shapes) -> bool {
    let (Some(since), Some(placement)) = (entity.rest.since, entity.placement()) else {
        return false;
    };
    let pose = placement.pose();
    // The dot product is the cosine of half the angle.
    let half_versine = (1.0 - pose.orientation.dot(since.orientation).abs()).max(0.0);
    let turned = (8.0 * half_versine).sqrt() * shapes[entity.shape].radius;
    pose.position.distance(since.position) + turned < TREMBLING
}

/// Whether the body in a slot touches another.
fn in_heap(pairs: &[Pair]) -> impl Fn(u16) -> bool + use<> {
    let mut slots: Vec<u16> = pairs
        .iter()
        .filter(|pair| !pair.points.is_empty())
        .filter_map(|pair| Some([pair.key.body, pair.key.other.entity()?]))
        .flatten()
        .collect();
    slots.sort_unstable();
    move |slot| slots.binary_search(&slot).is_ok()
}

/// Counts still ticks and lets islands fall asleep that have been still for
/// long enough.
pub(crate) fn settle(entities: &mut Entities, shapes: &Shapes, pairs: &[Pair], seconds: f64) {
    let ticks = |least: f64| (least / seconds).ceil() as u16;
    let (enough, trembling) = (ticks(STILL_SECONDS), ticks(TREMBLING_SECONDS));
    let held = ticks(HELD_SECONDS).max(HELD_TICKS);
    let mut islands = Islands::default();
    let in_heap = in_heap(pairs);
    for entity in entities.iter_mut().filter(|entity| entity.is_awake_body()) {
        let trembles = trembles(entity, shapes);
        if !trembles {
            entity.rest.since = entity.placement().map(|placement| *placement.pose());
        }
        let is_still = surface_speed(entity, shapes) < STILL_SPEED;
        let slot = entity.id.slot;
        let rest = &mut entity.rest;
        let count = |so_far: u16, goes_on| if goes_on { so_far.saturating_add(1) } else { 0 };
        rest.still = count(rest.still, is_still);
        rest.trembling = count(rest.trembling, trembles);
        rest.held_for = count(rest.held_for, rest.held);
        let trembling = if in_heap(slot) { enough } else { trembling };
        let restless = rest.still < enough && rest.trembling < trembling && rest.held_for < held;
        islands.add(entity.id.slot, restless);
    }
    for pair in pairs {
        let Blocker::Entity(other) = pair.key.other else { continue };
        if pair.points.is_empty() {
            continue;
        }
        islands.join(pair.key.body, other);
        // Players walk off without a word: what leans on one stays awake. What is
        // thrown wakes all around when it bursts.
        let leans = pair.points.iter().any(|point| point.impulse[0] > 0.0);
        if leans && entities.get(other).is_some_and(|entity| entity.walker().is_some()) {
            islands.stir(pair.key.body);
        }
    }
    for slot in entities.slots_where(Entity::is_awake_body) {
        let island = islands.root(slot);
        if !islands.restless(island) {
            let Some(entity) = entities.get_mut(slot) else { continue };
            entity.rest.asleep = true;
            entity.rest.island = island;
            entity.velocity = glam::DVec3::ZERO;
            entity.angular = glam::DVec3::ZERO;
        }
    }
}

/// Disjoint sets of slots; the lowest slot of a set is its name.
#[derive(Default)]
struct Islands {
    parent: Vec<u16>,
    restless: Vec<bool>,
    known: Vec<bool>,
}

impl Islands {
    fn add(&mut self, slot: u16, restless: bool) {
        let index = usize::from(slot);
        while self.parent.len() <= index {
            self.parent.push(self.parent.len() as u16);
            self.restless.push(false);
            self.known.push(false);
        }
        self.restless[index] = restless;
        self.known[index] = true;
    }

    fn root(&mut self, slot: u16) -> u16 {
        let mut root = slot;
        while self.parent[usize::from(root)] != root {
            let above = self.parent[usize::from(root)];
            self.parent[usize::from(root)] = self.parent[usize::from(above)];
            root = above;
        }
        root
    }

    /// Joins two awake props; sleepers and players are no part of an island.
    fn join(&mut self, a: u16, b: u16) {
        if ![a, b].iter().all(|&s| self.known.get(usize::from(s)) == Some(&true)) {
            return;
        }
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.parent[usize::from(high)] = low;
        self.restless[usize::from(low)] |= self.restless[usize::from(high)];
    }

    fn stir(&mut self, slot: u16) {
        let root = self.root(slot);
        self.restless[usize::from(root)] = true;
    }

    fn restless(&self, root: u16) -> bool {
        self.restless[usize::from(root)]
    }
}
