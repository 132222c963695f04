//! A player's box moved in a straight line: the onion stands for the world,
//! and a [`Crowd`] for everybody else.

use glam::{DVec3, Vec3};
use maps::geometry::Aabb;
use maps::{Clearance, SizeId, Trace};

use super::{MARGIN, Space};
use crate::cascade::{Body, Candidates, least_gap, pass};
use crate::contact::REST_GAP;
use crate::counters::Counters;
use crate::impact::{Impact, Passage};
use crate::pose::Pose;
use crate::shape::Shape;

/// The distance in units at which an agent stops before a body: a little more
/// than the solver wants between bodies at rest, or the two would push a crate
/// back and forth between an agent's feet and the floor.
const AGENT_GAP: f64 = 1.25 * REST_GAP;

/// Who hardly approaches a body but passes along it, by no more than this share
/// of their way, may come nearer to it: what rests on a player's head lies never
/// quite level, and they would be wedged between it and the floor.
const GRAZING: f64 = 1.0 / 16.0;

/// How near: twice what the guard keeps, so that the end of the way is free, too.
const GRAZING_GAP: f64 = 2.0 * MARGIN;

/// No player ends a tick nearer to the world than this, in units: the onion is
/// asked in `f32`, whose rounding on the largest maps is a tenth of it.
pub(crate) const LEAST_CLEARANCE: f32 = 1.0 / 256.0;

/// The bodies that a player may run into.
pub(crate) trait Crowd<'a> {
    /// Shows `each` all whose box touches `bounds`, by ascending slot.
    fn visit(&self, bounds: &Aabb, each: &mut dyn FnMut(u16, &Body<'a>));
    /// Velocity of the body in this slot, in units per second.
    fn velocity(&self, slot: u16) -> DVec3;
    /// Whether the player is the one who set the body in this slot going.
    fn is_own_doing(&self, slot: u16) -> bool;
}

/// Farther than this, in units, hardly anybody looks within a tick: a step up
/// and down, and three times as fast as one runs.
const IN_REACH: f64 = 36.0;

/// Everybody but the player in a slot, where they stand now.
pub(crate) struct Others<'a> {
    space: Space<'a>,
    slot: u16,
    /// Who touches this box is in `near`: a player sweeps some ten times a tick.
    reach: Aabb,
    near: Vec<(u16, Aabb, Body<'a>)>,
}

impl<'a> Others<'a> {
    /// For the player in `slot`, who stands within `bounds`.
    pub(crate) fn new(space: Space<'a>, slot: u16, bounds: &Aabb) -> Self {
        let reach = bounds.inflated(IN_REACH);
        let mut near = Vec::new();
        space.visit_entities(&reach, Some(slot), &mut |other, body| {
            near.push((other, body.speedbox(), body));
        });
        Self { space, slot, reach, near }
    }
}

impl<'a> Crowd<'a> for Others<'a> {
    fn visit(&self, bounds: &Aabb, each: &mut dyn FnMut(u16, &Body<'a>)) {
        if self.reach.encloses(bounds) {
            let touched = self.near.iter().filter(|(_, around, _)| around.overlaps(bounds));
            touched.for_each(|(slot, _, body)| each(*slot, body));
        } else {
            self.space.visit_entities(bounds, Some(self.slot), &mut |slot, body| each(slot, &body));
        }
    }

    fn velocity(&self, slot: u16) -> DVec3 {
        self.space.entities.get(slot).map_or(DVec3::ZERO, |entity| entity.velocity)
    }

    fn is_own_doing(&self, slot: u16) -> bool {
        let entity = self.space.entities.get(slot);
        entity.is_some_and(|entity| entity.shoved_by == Some(self.slot))
    }
}

/// How a sweep went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    /// The last free position on the way.
    pub(crate) end: Vec3,
    /// Share of the way, `1` if nothing was hit.
    pub(crate) time: f64,
    /// What stopped it, if anything did.
    pub(crate) hit: Option<SweepHit>,
}

/// What a player ran into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepHit {
    /// Unit normal of the surface, towards the player.
    pub(crate) normal: DVec3,
    /// The slot of the entity that was hit, or `None` for the world.
    pub(crate) entity: Option<u16>,
}

/// What a player's sweeps of one tick leave behind for the next: the planes
/// that divided the box from its neighbours, and the work that was done.
#[derive(Debug)]
pub(crate) struct Memory<'a> {
    pub(crate) counters: &'a mut Counters,
    planes: Vec<(u16, DVec3)>,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(counters: &'a mut Counters) -> Self {
        Self { counters, planes: Vec::new() }
    }

    /// The way past the body in `slot`, tried first with the plane that
    /// divided the pair last.
    fn pass(&mut self, slot: u16, body: &Body, obstacle: &Body) -> Passage {
        let known = self.planes.iter().position(|(other, _)| *other == slot);
        let axis = known.map(|index| self.planes[index].1);
        let way = body.motion.end.position - body.motion.start.position;
        let mut passage = pass(body, obstacle, (0.0, 1.0), AGENT_GAP, axis, self.counters);
        if let Passage::Blocked(impact) = passage
            && way.dot(impact.axis) < GRAZING * way.length()
        {
            passage = pass(body, obstacle, (0.0, 1.0), GRAZING_GAP, axis, self.counters);
        }
        // Only where they meet: which stage proved a free way must not matter.
        if let Passage::Blocked(impact) = passage {
            match known {
                Some(index) => self.planes[index].1 = impact.axis,
                None => self.planes.push((slot, impact.axis)),
            }
        }
        passage
    }
}

/// A player's box in its map.
#[derive(Clone, Copy)]
pub(crate) struct Agent<'a> {
    pub(crate) map: &'a maps::World,
    pub(crate) shape: &'a Shape,
    pub(crate) size: SizeId,
}

impl Agent<'_> {
    /// What of the world is within `radius` of the box at `position`.
    pub(crate) fn clearance(&self, position: Vec3, radius: f32) -> Clearance {
        self.map.clearance(self.size, position, radius)
    }

    /// Whether the box may stand at `position`.
    pub(crate) fn is_free<'b>(&self, position: Vec3, crowd: &impl Crowd<'b>) -> bool {
        if self.clearance(position, LEAST_CLEARANCE) != Clearance::Clear {
            return false;
        }
        let body = Body::standing(self.shape, Pose::at(position.as_dvec3()));
        let mut free = true;
        crowd.visit(&body.speedbox().inflated(MARGIN), &mut |_, other| {
            free = free && least_gap(&body, other, Candidates::ALL).is_some_and(|gap| gap > MARGIN);
        });
        free
    }

    /// Moves the box from `start` towards `end` until it meets something.
    pub(crate) fn sweep<'b>(
        &self,
        start: Vec3,
        end: Vec3,
        crowd: &impl Crowd<'b>,
        memory: &mut Memory,
    ) -> Sweep {
        let trace = self.map.find_first_transition(self.size, start, end);
        let (mut reach, mut time, mut hit) = match trace {
            Trace::Clear => (end, 1.0, None),
            // The start is empty by invariant: this is a box wedged in a
            // crack thinner than the trace's own resolution. It stays.
            Trace::StartSolid => return Sweep { end: start, time: 0.0, hit: None },
            Trace::Hit(hit) => {
                let found = SweepHit { normal: hit.normal.as_dvec3(), entity: None };
                (hit.end, f64::from(hit.time), Some(found))
            }
        };
        // A position is rounded to `f32` where it stops, which bends the way
        // to it: the bent way is checked again, at most a few times shorter.
        for shorter in [1.0, 0.99, 0.9, 0.5] {
            let Some((impact, other)) = self.first_impact(start, reach, crowd, memory) else {
                return Sweep { end: reach, time, hit };
            };
            time *= impact.time * shorter;
            hit = Some(SweepHit { normal: -impact.axis, entity: Some(other) });
            reach = start + (reach - start) * (impact.time * shorter) as f32;
            let bent = self.map.find_first_transition(self.size, start, reach);
            if reach == start || !matches!(bent, Trace::Clear) {
                break;
            }
        }
        Sweep { end: start, time: 0.0, hit }
    }

    fn first_impact<'b>(
        &self,
        start: Vec3,
        end: Vec3,
        crowd: &impl Crowd<'b>,
        memory: &mut Memory,
    ) -> Option<(Impact, u16)> {
        let from = Pose::at(start.as_dvec3());
        let body = Body::moving(self.shape, from, Pose::at(end.as_dvec3()));
        let mut first: Option<(Impact, u16)> = None;
        crowd.visit(&body.speedbox().inflated(AGENT_GAP), &mut |other, obstacle| {
            let impact = match memory.pass(other, &body, obstacle) {
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
        first
    }
}
