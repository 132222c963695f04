//! Which bodies may come near each other, kept over ticks.
//!
//! Each placed body has a *region*, a box that holds the body for several ticks. The grid contains
//! the regions. Two bodies are *neighbours* if their regions overlap, and each body has a list of
//! its neighbours. As long as a body stays in its region, nothing changes. So neither a sleeping
//! body nor one in a calm heap costs anything here.
//!
//! No result depends on the regions, because readers of the lists compare the bodies themselves.

use std::borrow::Cow;

use glam::DVec3;
use obsp::geometry::Aabb;

use crate::collision::grid::Grid;

/// Minimum distance, in units, between the held bounds of a body and the sides of its region.
pub(crate) const CLEARANCE: f64 = 0.25;

/// Distance from the held bounds to the sides of a new region, in units. With more room a body
/// stays in its region for longer, and has more neighbours.
const ROOM: f64 = 1.0;

/// A new region reaches ahead of its body by the way of this many ticks.
const TICKS_AHEAD: f64 = 3.0;

/// A body whose way in so many ticks is longer than this, in units, gets no room ahead. It leaves
/// its region in the next tick anyway, or was put elsewhere.
const MAX_AHEAD: f64 = 64.0;

/// A body that has become slower gets a smaller region if its region is longer than a new one by
/// this, in units. Otherwise a heap that flew into a corner would keep everything around it as
/// neighbours.
const MAX_SURPLUS: f64 = 8.0;

/// The regions and the neighbours of all bodies.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    grid: Grid,
    bodies: Vec<Around>,
    count: usize,
    /// A list that is refilled.
    buffer: Vec<u16>,
    /// Whether lists are read. If not, every body counts as near every other.
    pub(super) use_grid: bool,
}

/// The surroundings of the body in a slot.
#[derive(Clone, Debug)]
struct Around {
    /// Empty if no body is placed.
    region: Aabb,
    /// Slots, ascending.
    near: Vec<u16>,
}

const NOWHERE: Around = Around { region: Aabb::EMPTY, near: Vec::new() };

impl Neighbours {
    pub(super) fn new(bounds: &Aabb) -> Self {
        let (grid, bodies, buffer) = (Grid::new(bounds), Vec::new(), Vec::new());
        Self { grid, bodies, count: 0, buffer, use_grid: true }
    }

    /// Number of bodies that have a region.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether the region of the body in `slot` holds `bounds`, with the clearance.
    pub(super) fn holds(&self, slot: u16, bounds: &Aabb) -> bool {
        let body = self.bodies.get(usize::from(slot));
        body.is_some_and(|body| body.region.encloses(&bounds.inflated(CLEARANCE)))
    }

    /// Gives the body in `slot` another region, unless its region holds `bounds`. `way` is how far
    /// the body goes in a tick, roughly.
    pub(super) fn hold(&mut self, slot: u16, bounds: &Aabb, way: DVec3) {
        if !self.holds(slot, bounds) {
            self.renew(slot, region(bounds, way));
        }
    }

    /// Like [`hold`](Self::hold), but also replaces a region that has become far too long.
    pub(super) fn hold_closely(&mut self, slot: u16, bounds: &Aabb, way: DVec3) {
        let region = region(bounds, way);
        let is_close = |around: &Around| {
            let surplus = (around.region.max - around.region.min) - (region.max - region.min);
            surplus.max_element() < MAX_SURPLUS
        };
        let body = self.bodies.get(usize::from(slot));
        if !self.holds(slot, bounds) || !body.is_some_and(is_close) {
            self.renew(slot, region);
        }
    }

    /// Gives the body in `slot` this region, and finds its neighbours.
    fn renew(&mut self, slot: u16, region: Aabb) {
        let index = usize::from(slot);
        if self.bodies.len() <= index {
            self.bodies.resize(index + 1, NOWHERE);
        }
        let before = self.bodies[index].region;
        let [left, range] = [before, region].map(|region| self.grid.range(&region));
        if left != range {
            self.grid.remove(slot, left);
        }
        let mut near = std::mem::take(&mut self.buffer);
        self.grid.near(&region, &mut near);
        near.retain(|&other| other != slot);
        self.grid.insert(slot, range, &region);
        self.count += usize::from(before.is_empty());
        for &other in &near {
            let theirs = &mut self.bodies[usize::from(other)].near;
            if let Err(at) = theirs.binary_search(&slot) {
                theirs.insert(at, slot);
            }
        }
        let parted = std::mem::replace(&mut self.bodies[index], Around { region, near }).near;
        self.part(slot, &parted);
        self.buffer = parted;
    }

    /// Forgets the body in `slot`, which is in the world no longer.
    pub(super) fn release(&mut self, slot: u16) {
        let Some(around) = self.bodies.get_mut(usize::from(slot)) else { return };
        let Around { region, near } = std::mem::replace(around, NOWHERE);
        self.grid.remove(slot, self.grid.range(&region));
        self.count -= usize::from(!region.is_empty());
        self.part(slot, &near);
    }

    /// Removes the body in `slot` from the lists of its former neighbours.
    fn part(&mut self, slot: u16, former: &[u16]) {
        for &other in former {
            if self.bodies[usize::from(slot)].near.binary_search(&other).is_err() {
                let near = &mut self.bodies[usize::from(other)].near;
                near.retain(|&neighbour| neighbour != slot);
            }
        }
    }

    /// The neighbours of the body in `slot`, ascending.
    pub(super) fn of(&self, slot: u16) -> Cow<'_, [u16]> {
        if self.use_grid {
            return Cow::Borrowed(
                self.bodies.get(usize::from(slot)).map_or(&[], |body| &body.near),
            );
        }
        Cow::Owned(self.all().filter(|&other| other != slot).collect())
    }

    /// The slots of all placed bodies, ascending.
    fn all(&self) -> impl Iterator<Item = u16> {
        let placed = self.bodies.iter().zip(0..).filter(|(body, _)| !body.region.is_empty());
        placed.map(|(_, slot)| slot)
    }

    /// Writes to `found`, ascending, the slots of all bodies whose regions overlap `bounds`, or
    /// nearly so.
    pub(super) fn near(&self, bounds: &Aabb, found: &mut Vec<u16>) {
        if self.use_grid {
            return self.grid.near(bounds, found);
        }
        found.clear();
        found.extend(self.all());
    }
}

/// The region of a body that needs `bounds`, and goes `way` in a tick, roughly.
fn region(bounds: &Aabb, way: DVec3) -> Aabb {
    let ahead = way * TICKS_AHEAD;
    let is_near = ahead.length_squared() < MAX_AHEAD * MAX_AHEAD;
    bounds.inflated(ROOM).swept(if is_near { ahead } else { DVec3::ZERO })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Bodies move about, jump, leave and come back. After each step two bodies whose bounds are
    /// within twice the clearance know each other, both ways, and nobody knows one that has left.
    #[test]
    fn bodies_that_come_near_each_other_know_each_other() {
        let mut random = Random::new(4);
        let mut neighbours = Neighbours::new(&Aabb::from_centre(DVec3::ZERO, DVec3::splat(150.0)));
        let mut bodies: Vec<Option<Aabb>> = vec![None; 60];
        let (mut known, mut spared) = (0, 0);
        for _ in 0..4000 {
            let slot = random.below(60) as usize;
            let mut number = |reach: f64| random.between(-reach, reach);
            let fresh = Aabb::from_centre(
                DVec3::new(number(200.0), number(200.0), number(60.0)),
                DVec3::splat(12.0 + number(8.0)),
            );
            let way = DVec3::new(number(9.0), number(9.0), number(9.0));
            bodies[slot] = match (bodies[slot], random.below(20)) {
                (Some(_), 0) => None,
                (None, _) | (_, 1) => Some(fresh),
                (Some(bounds), _) => Some(Aabb { min: bounds.min + way, max: bounds.max + way }),
            };
            match &bodies[slot] {
                Some(bounds) => neighbours.hold(slot as u16, bounds, way),
                None => neighbours.release(slot as u16),
            }
            assert_eq!(neighbours.count(), bodies.iter().flatten().count());
            for (a, own) in bodies.iter().enumerate() {
                let near = neighbours.of(a as u16);
                assert!(near.is_sorted_by(|a, b| a < b), "{near:?}");
                for (b, other) in bodies.iter().enumerate().filter(|(b, _)| *b != a) {
                    let knows = near.contains(&(b as u16));
                    assert_eq!(knows, neighbours.of(b as u16).contains(&(a as u16)));
                    let (Some(own), Some(other)) = (own, other) else {
                        assert!(!knows, "a body knows one that has left");
                        continue;
                    };
                    let meet = own.inflated(2.0 * CLEARANCE).overlaps(other);
                    assert!(knows || !meet, "two bodies that meet do not know each other");
                    (known, spared) = (known + u32::from(knows), spared + u32::from(!knows));
                }
            }
        }
        assert!(known > 10_000 && spared > known, "{known} known, {spared} spared");
    }

    /// A body has another region as soon as it is nearer to a side than the clearance.
    #[test]
    fn a_body_keeps_its_region_up_to_the_clearance() {
        let mut neighbours = Neighbours::new(&Aabb::from_centre(DVec3::ZERO, DVec3::splat(99.0)));
        let at = |x: f64| Aabb::from_centre(DVec3::X * x, DVec3::splat(8.0));
        neighbours.hold(0, &at(0.0), DVec3::ZERO);
        let first = neighbours.bodies[0].region;
        neighbours.hold(0, &at(ROOM - CLEARANCE), DVec3::ZERO);
        assert_eq!(neighbours.bodies[0].region, first);
        neighbours.hold(0, &at(ROOM - CLEARANCE + 1e-3), DVec3::X * 2.0);
        let second = neighbours.bodies[0].region;
        assert!(second.max.x - first.max.x > 2.0 * TICKS_AHEAD, "the way lies ahead");
        neighbours.hold(0, &at(60.0), DVec3::X * MAX_AHEAD);
        assert_eq!(neighbours.bodies[0].region, at(60.0).inflated(ROOM), "a jump has no way ahead");
    }

    /// A body that has come to rest keeps a region that is longer than a new one up to the surplus.
    #[test]
    fn a_region_that_is_far_too_long_is_replaced() {
        let mut neighbours = Neighbours::new(&Aabb::from_centre(DVec3::ZERO, DVec3::splat(99.0)));
        let bounds = Aabb::from_centre(DVec3::ZERO, DVec3::splat(8.0));
        for (surplus, is_replaced) in [(0.9 * MAX_SURPLUS, false), (1.1 * MAX_SURPLUS, true)] {
            neighbours.release(0);
            neighbours.hold(0, &bounds, DVec3::X * (surplus / TICKS_AHEAD));
            neighbours.hold(0, &bounds, DVec3::ZERO);
            assert!(neighbours.bodies[0].region != bounds.inflated(ROOM), "it holds the body");
            neighbours.hold_closely(0, &bounds, DVec3::ZERO);
            let region = neighbours.bodies[0].region;
            assert_eq!(region == bounds.inflated(ROOM), is_replaced, "{surplus}: {region:?}");
        }
    }
}
