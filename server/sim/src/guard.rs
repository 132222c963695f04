//! The only way into the world: a pose becomes a [`Placement`] here and
//! nowhere else, after it, and the way to it, have been shown to be free.
//!
//! [`Space::place`] judges a pose out of nowhere (spawning, rescue, standing
//! up); [`Space::advance`] follows a motion as far as it is free;
//! [`Space::sweep_agent`] does the same for an agent's box, whose world is
//! the onion. All three keep [`MARGIN`] between any two bodies, and between
//! bodies and the world.

use glam::{DVec3, Vec3};
use maps::geometry::Aabb;
use maps::{SizeId, Trace};

use crate::cascade::{Moving, Obstacle, filtered, pass};
use crate::counters::Counters;
use crate::entities::{Entities, Entity};
use crate::impact::{Impact, Passage};
use crate::pose::Pose;
use crate::separation::{Part, Proximity, separate};
use crate::shape::{Shape, ShapeId};

/// The distance in units that no committed pose goes below. It is what
/// rounding may eat (positions cross the wire and are audited in `f32`, whose
/// steps are 1/2048 at 4,096 units), and far too thin to see.
pub(crate) const MARGIN: f64 = 1.0 / 128.0;

/// A pose that was free when it was checked. Only this module makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    shape: ShapeId,
    pose: Pose,
    bounds: Aabb,
}

impl Placement {
    pub(crate) fn shape(&self) -> ShapeId {
        self.shape
    }

    pub(crate) fn pose(&self) -> &Pose {
        &self.pose
    }

    pub(crate) fn bounds(&self) -> &Aabb {
        &self.bounds
    }
}

/// Who or what is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Blocker {
    /// A solid of the world, by index.
    Solid(u32),
    /// The entity in this slot.
    Entity(u16),
}

/// How a guarded move went.
#[derive(Debug)]
pub(crate) enum Advance {
    /// All the way.
    Free(Placement),
    /// As far as the impact, which may be nowhere at all.
    Blocked(Placement, Blocker, Impact),
    /// The body overlapped something before it moved.
    Overlapping,
}

/// How the sweep of an agent's box went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    /// The last free position on the way.
    pub(crate) end: Vec3,
    /// Share of the way, `1` if nothing was hit.
    pub(crate) time: f64,
    /// What stopped it, if anything did.
    pub(crate) hit: Option<SweepHit>,
}

/// What an agent ran into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepHit {
    /// Unit normal of the surface, towards the agent.
    pub(crate) normal: DVec3,
    /// The slot of the entity that was hit, or `None` for the world.
    pub(crate) entity: Option<u16>,
}

/// The world as it stands: what every check looks at.
#[derive(Clone, Copy)]
pub(crate) struct Space<'a> {
    pub(crate) map: &'a maps::World,
    pub(crate) shapes: &'a [Shape],
    pub(crate) entities: &'a Entities,
}

impl<'a> Space<'a> {
    pub(crate) fn shape(&self, id: ShapeId) -> &'a Shape {
        &self.shapes[usize::from(id.0)]
    }

    fn placement(&self, shape: ShapeId, pose: Pose) -> Placement {
        Placement { shape, pose, bounds: self.shape(shape).bounds_at(&pose) }
    }

    /// The obstacle that an entity is at the moment, unless it is in limbo.
    pub(crate) fn obstacle(&self, entity: &Entity) -> Option<Obstacle<'a>> {
        let placement = entity.placement()?;
        Some(Obstacle::Body(self.shape(placement.shape()), *placement.pose()))
    }

    /// Checks a pose out of nowhere: `None` if anything but the entity in
    /// slot `ignored` is within the margin.
    pub(crate) fn place(
        &self,
        shape: ShapeId,
        pose: Pose,
        ignored: Option<u16>,
        counters: &mut Counters,
    ) -> Option<Placement> {
        let moving = Moving::new(self.shape(shape), pose, pose);
        if let Some(size) = moving.shape.size
            && self.map.is_solid(size, pose.position.as_vec3())
        {
            return None;
        }
        let mut free = true;
        self.visit(&moving, MARGIN, ignored, |_, obstacle| {
            free = free
                && (filtered(&moving, &obstacle, MARGIN, None, counters)
                    || keeps_margin(&moving, &obstacle));
        });
        free.then(|| self.placement(shape, pose))
    }

    /// Follows the way of the entity in `slot` to `target` as far as it is
    /// free. `plane` knows the plane that divided it from a blocker last time.
    pub(crate) fn advance(
        &self,
        entity: &Entity,
        target: Pose,
        plane: impl Fn(Blocker) -> Option<DVec3>,
        counters: &mut Counters,
    ) -> Option<Advance> {
        let placement = entity.placement()?;
        let moving = Moving::new(self.shape(placement.shape()), *placement.pose(), target);
        let mut first: Option<(Blocker, Impact)> = None;
        let mut overlapping = false;
        self.visit(&moving, MARGIN, Some(entity.id.slot), |blocker, obstacle| {
            if overlapping {
                return;
            }
            match pass(&moving, &obstacle, MARGIN, &mut plane(blocker), counters) {
                Passage::Free => {}
                Passage::Overlapping => overlapping = true,
                Passage::Blocked(impact) => {
                    if first.is_none_or(|(_, earliest)| impact.time < earliest.time) {
                        first = Some((blocker, impact));
                    }
                }
            }
        });
        if overlapping {
            return Some(Advance::Overlapping);
        }
        Some(match first {
            None => Advance::Free(self.placement(placement.shape(), moving.motion.end)),
            Some((blocker, impact)) => {
                counters.blocked_moves += 1;
                let pose = moving.motion.at(impact.time);
                Advance::Blocked(self.placement(placement.shape(), pose), blocker, impact)
            }
        })
    }

    /// Moves an agent's box in a straight line past the world and everyone
    /// but the agent itself.
    pub(crate) fn sweep_agent(
        &self,
        (slot, shape, size): (u16, ShapeId, SizeId),
        start: Vec3,
        end: Vec3,
        counters: &mut Counters,
    ) -> Sweep {
        let (mut reach, mut time, mut hit) = match self.map.find_first_transition(size, start, end)
        {
            Trace::Clear => (end, 1.0, None),
            // The start is empty by invariant: this is a box wedged in a
            // crack thinner than the trace's own resolution. It stays.
            Trace::StartSolid => return Sweep { end: start, time: 0.0, hit: None },
            Trace::Hit(hit) => {
                let found = SweepHit { normal: hit.normal.as_dvec3(), entity: None };
                (hit.end, f64::from(hit.time), Some(found))
            }
        };
        let shape = self.shape(shape);
        let from = Pose::at(start.as_dvec3());
        // A position is rounded to `f32` where it stops, which bends the way
        // to it: the bent way is checked again, at most a few times shorter.
        for shorter in [1.0, 0.99, 0.9, 0.5] {
            let moving = Moving::new(shape, from, Pose::at(reach.as_dvec3()));
            let mut first: Option<(Impact, u16)> = None;
            self.visit_entities(&moving, MARGIN, Some(slot), |other, obstacle| {
                let impact = match pass(&moving, &obstacle, MARGIN, &mut None, counters) {
                    Passage::Free => return,
                    Passage::Blocked(impact) => impact,
                    Passage::Overlapping => {
                        Impact { time: 0.0, axis: DVec3::ZERO, point: from.position }
                    }
                };
                if first.is_none_or(|(earliest, _)| impact.time < earliest.time) {
                    first = Some((impact, other));
                }
            });
            let Some((impact, other)) = first else {
                return Sweep { end: reach, time, hit };
            };
            time *= impact.time * shorter;
            hit = Some(SweepHit { normal: -impact.axis, entity: Some(other) });
            reach = start + (reach - start) * (impact.time * shorter) as f32;
            let bent = self.map.find_first_transition(size, start, reach);
            if reach == start || !matches!(bent, Trace::Clear) {
                break;
            }
        }
        Sweep { end: start, time: 0.0, hit }
    }

    /// Shows `each` every obstacle within `margin` of the way of `moving`, the world's
    /// solids first (for an agent the onion stands for them), then the
    /// entities in ascending order of slot.
    pub(crate) fn visit(
        &self,
        moving: &Moving,
        margin: f64,
        ignored: Option<u16>,
        mut each: impl FnMut(Blocker, Obstacle<'a>),
    ) {
        if moving.shape.size.is_none() {
            let solids = self.map.solids();
            self.map.solids_touching(&moving.bounds().inflated(margin), |index| {
                each(Blocker::Solid(index), Obstacle::Solid(&solids[index as usize]));
            });
        }
        self.visit_entities(moving, margin, ignored, |slot, obstacle| {
            each(Blocker::Entity(slot), obstacle);
        });
    }

    fn visit_entities(
        &self,
        moving: &Moving,
        margin: f64,
        ignored: Option<u16>,
        mut each: impl FnMut(u16, Obstacle<'a>),
    ) {
        let bounds = moving.bounds().inflated(margin);
        let mut near = Vec::new();
        self.entities.near(&bounds, &mut near);
        for slot in near {
            let Some(entity) = self.entities.get(slot).filter(|_| ignored != Some(slot)) else {
                continue;
            };
            let Some(obstacle) = self.obstacle(entity) else { continue };
            if entity.placement().is_some_and(|p| p.bounds().overlaps(&bounds)) {
                each(slot, obstacle);
            }
        }
    }
}

/// Whether the start of `moving` is farther than the margin from `obstacle`.
fn keeps_margin(moving: &Moving, obstacle: &Obstacle) -> bool {
    obstacle.parts().all(|other| {
        moving.shape.parts.iter().all(|solid| {
            let part = Part::new(solid, &moving.motion.start);
            let guess = other.centre() - part.centre();
            matches!(separate(&part, &other, guess), Proximity::Apart(found) if found.gap > MARGIN)
        })
    })
}
