//! The only way into the world: a pose becomes a [`Placement`] here and
//! nowhere else, after it, and the way to it, have been shown to be free.
//!
//! [`Space::place`] judges a pose out of nowhere (spawning, rescue, standing
//! up); [`Space::advance`] follows the motions of many bodies at once, as far
//! as each is free; [`Space::sweep_agent`] follows an agent's box, whose world
//! is the onion. All three keep [`MARGIN`] between any two bodies, and between
//! bodies and the world.

mod together;

use glam::{DVec3, Vec3};
use maps::geometry::Aabb;
use maps::{SizeId, Trace};

use crate::cascade::{Body, box_at, filtered, pass};
use crate::contact::REST_GAP;
use crate::counters::Counters;
use crate::entities::{Entities, Entity};
use crate::impact::{Impact, Passage};
use crate::pose::Pose;
use crate::separation::{Proximity, separate};
use crate::shape::{Shape, ShapeId};

/// The distance in units that no committed pose goes below. It is what
/// rounding may eat (positions cross the wire and are audited in `f32`, whose
/// steps are 1/2048 at 4,096 units), and far too thin to see.
pub(crate) const MARGIN: f64 = 1.0 / 128.0;

/// The distance in units at which an agent stops before a body: a little more
/// than the solver wants between bodies at rest, or the two would push a crate
/// back and forth between an agent's feet and the floor.
const AGENT_GAP: f64 = 1.25 * REST_GAP;

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

pub(crate) use together::{Advance, Proposal};

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
        Placement { shape, pose, bounds: box_at(&self.shape(shape).bounds, &pose) }
    }

    /// An entity as it stands at the moment, unless it is in limbo.
    pub(crate) fn standing(&self, entity: &Entity) -> Option<Body<'a>> {
        let placement = entity.placement()?;
        Some(Body::standing(self.shape(placement.shape()), *placement.pose()))
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
        let size = self.shape(shape).size;
        if size.is_some_and(|size| self.map.is_solid(size, pose.position.as_vec3())) {
            return None;
        }
        let body = Body::standing(self.shape(shape), pose);
        let bounds = body.speedbox().inflated(MARGIN);
        let mut free = true;
        let mut check = |other: Body| {
            free = free
                && (filtered(&body, &other, MARGIN, None, counters)
                    || least_gap(&body, &other).is_some_and(|gap| gap > MARGIN));
        };
        if size.is_none() {
            self.visit_solids(&bounds, |_, solid| check(solid));
        }
        self.visit_entities(&bounds, ignored, |_, other| check(other));
        free.then(|| self.placement(shape, pose))
    }

    /// Whether an entity is inside something where it stands: what no checked
    /// motion can bring about, but rounding might.
    pub(crate) fn overlaps(&self, entity: &Entity) -> bool {
        let (Some(placement), Some(body)) = (entity.placement(), self.standing(entity)) else {
            return false;
        };
        let size = self.shape(placement.shape()).size;
        let mut inside =
            size.is_some_and(|size| self.map.is_solid(size, placement.pose().position.as_vec3()));
        let mut check = |other: Body| inside = inside || least_gap(&body, &other).is_none();
        if size.is_none() {
            self.visit_solids(placement.bounds(), |_, solid| check(solid));
        }
        self.visit_entities(placement.bounds(), Some(entity.id.slot), |_, other| check(other));
        inside
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
            let body = Body::moving(shape, from, Pose::at(reach.as_dvec3()));
            let bounds = body.speedbox().inflated(AGENT_GAP);
            let mut first: Option<(Impact, u16)> = None;
            self.visit_entities(&bounds, Some(slot), |other, obstacle| {
                let impact = match pass(&body, &obstacle, WHOLE, AGENT_GAP, &mut None, counters) {
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

    /// Shows `each` every solid of the world whose box touches `bounds`.
    pub(crate) fn visit_solids(&self, bounds: &Aabb, mut each: impl FnMut(u32, Body<'a>)) {
        let solids = self.map.solids();
        self.map.solids_touching(bounds, |index| {
            each(index, Body::fixed(&solids[index as usize]));
        });
    }

    /// Shows `each` every placed entity but `ignored` whose box touches
    /// `bounds`, in ascending order of slot.
    pub(crate) fn visit_entities(
        &self,
        bounds: &Aabb,
        ignored: Option<u16>,
        mut each: impl FnMut(u16, Body<'a>),
    ) {
        let mut near = Vec::new();
        self.entities.near(bounds, &mut near);
        for slot in near {
            let entity = self.entities.get(slot).filter(|_| ignored != Some(slot));
            let touched =
                |entity: &&Entity| entity.placement().is_some_and(|p| p.bounds().overlaps(bounds));
            if let Some(body) = entity.filter(touched).and_then(|entity| self.standing(entity)) {
                each(slot, body);
            }
        }
    }
}

/// The whole of a tick.
const WHOLE: (f64, f64) = (0.0, 1.0);

/// Least gap between two bodies at the beginning of the tick, or `None` if
/// they overlap.
fn least_gap(a: &Body, b: &Body) -> Option<f64> {
    let mut least = f64::INFINITY;
    for other in b.parts_at_start() {
        for part in a.parts_at_start() {
            let guess = other.centre() - part.centre();
            match separate(&part, &other, guess) {
                Proximity::Apart(found) => least = least.min(found.gap),
                Proximity::Overlapping => return None,
            }
        }
    }
    Some(least)
}
