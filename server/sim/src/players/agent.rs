//! The box sweep: a player's box moves in a straight line, through the onion for the world and past
//! [`NearbyBodies`].

use glam::{DVec3, Vec3};
use obsp::geometry::Aabb;
use obsp::{Clearance, Region, SizeId, Trace};

use crate::bodies::entities::Entity;
use crate::bodies::guard::{Placement, Seeker, Space};
use crate::bodies::mobility::Mobility;
use crate::collision::cascade::{Body, Candidates, box_along, least_gap};
use crate::collision::distances::{LEAST_CLEARANCE, MARGIN};
use crate::collision::pose::{Pose, share_of_way};
use crate::collision::shape::Shape;
use crate::collision::time_of_impact::{Impact, TimeOfImpact};
use crate::players::driver::{Driver, Load, add_loads};
use crate::players::plane_cache::{AGENT_GAP, PlaneCache};

/// The bodies that a player may run into.
pub(crate) trait NearbyBodies<'a> {
    /// Calls `each` with all bodies whose box touches `bounds`, by ascending slot.
    fn visit(&self, bounds: &Aabb, each: &mut dyn FnMut(u16, &Body<'a>));
    /// Velocity of the body in this slot, in units per second.
    fn velocity(&self, slot: u16) -> DVec3;
    /// Whether this player set the body in this slot in motion.
    fn is_own_doing(&self, slot: u16) -> bool;
    /// The kinematic bodies that move near the player.
    fn drivers(&self) -> &[Driver<'a>];
}

/// Sweeps of one tick seldom reach farther than this, in units. The distance is a step up and down,
/// and three times the running speed.
const IN_REACH: f64 = 36.0;

/// Reach of the sweeps of one tick near moving kinematic bodies, in units. Such a body may carry
/// the player's crate. A player who can get farther has a longer reach.
const IN_REACH_OF_DRIVERS: f64 = 96.0;

/// All bodies at their present places that a player may meet.
pub(crate) struct LiveBodies<'a> {
    space: Space<'a>,
    slot: u16,
    seeker: Seeker,
    /// All bodies that touch this box are in `near`. They are collected once, because a player
    /// sweeps about ten times a tick.
    reach: Aabb,
    near: Vec<(u16, &'a Placement)>,
    drivers: Vec<Driver<'a>>,
}

impl<'a> LiveBodies<'a> {
    /// The bodies near a player whose box is `bounds`.
    /// The tick has `seconds`, in which the player gets no farther than `farthest` units.
    pub(crate) fn new(
        space: Space<'a>,
        player: &Entity,
        bounds: &Aabb,
        (seconds, farthest): (f64, f64),
    ) -> Self {
        let far = bounds.inflated(IN_REACH_OF_DRIVERS.max(farthest));
        let is_near =
            |entity: &Entity| entity.placement().is_some_and(|p| p.bounds().overlaps(&far));
        let has_drivers = space.entities.moving_kinematic().any(is_near);
        let reach = if has_drivers { far } else { bounds.inflated(IN_REACH) };
        let mut near = Vec::new();
        let (slot, seeker) = (player.id.slot, Seeker::of(player));
        space.visit_placements(&reach, seeker, |slot, placement| near.push((slot, placement)));
        let mut drivers = Vec::new();
        if has_drivers {
            drivers.extend(near.iter().filter_map(|&(slot, _)| driver(&space, slot)));
        }
        if !drivers.is_empty() {
            let loads = near.iter().filter_map(|&(slot, _)| load(&space, slot)).collect();
            add_loads(&mut drivers, loads, seconds);
        }
        Self { space, slot, seeker, reach, near, drivers }
    }
}

impl<'a> NearbyBodies<'a> for LiveBodies<'a> {
    fn visit(&self, bounds: &Aabb, each: &mut dyn FnMut(u16, &Body<'a>)) {
        if self.reach.encloses(bounds) {
            let touched = self.near.iter().filter(|(_, at)| at.bounds().overlaps(bounds));
            touched.for_each(|&(slot, at)| each(slot, &self.space.body_at(at)));
        } else {
            self.space.visit_entities(bounds, self.seeker, &mut |slot, body| each(slot, &body));
        }
    }

    fn velocity(&self, slot: u16) -> DVec3 {
        self.space.entities.get(slot).map_or(DVec3::ZERO, |entity| entity.motion()[0])
    }

    fn is_own_doing(&self, slot: u16) -> bool {
        let entity = self.space.entities.get(slot);
        entity.is_some_and(|entity| entity.record.shoved_by == Some(self.slot))
    }

    fn drivers(&self) -> &[Driver<'a>] {
        &self.drivers
    }
}

/// The kinematic body in a slot, if it or its surface moves.
fn driver<'a>(space: &Space<'a>, slot: u16) -> Option<Driver<'a>> {
    let entity =
        space.entities.get(slot).filter(|entity| entity.mobility() == Mobility::Kinematic)?;
    let placement = entity.placement()?;
    let [velocity, angular] = entity.motion();
    Some(Driver {
        slot,
        shape: space.shape(placement.shape()),
        pose: *placement.pose(),
        velocity,
        angular,
        surface: entity.surface(),
        is_held: entity.sleep.held,
    })
}

/// The body in a slot, if it may be carried: a body that the solver moves, or a player on foot.
fn load<'a>(space: &Space<'a>, slot: u16) -> Option<Load<'a>> {
    let is_load =
        |entity: &&Entity| entity.mobility() == Mobility::Dynamic || entity.walker().is_some();
    let placement = space.entities.get(slot).filter(is_load)?.placement()?;
    let shape = space.shape(placement.shape());
    Some(Load { slot, shape, pose: *placement.pose(), bounds: *placement.bounds() })
}

/// The result of a sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepResult {
    /// The last free position.
    pub(crate) end: Vec3,
    /// Share of the motion that leads to `end`, `1` if nothing was hit.
    pub(crate) time: f64,
    /// The surface that stopped the box; `None` if nothing was hit.
    pub(crate) hit: Option<SweepHit>,
}

/// A surface that a sweep hit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepHit {
    /// Unit normal of the surface, towards the player.
    pub(crate) normal: DVec3,
    /// The slot of the entity that was hit, or `None` for the world.
    pub(crate) entity: Option<u16>,
}

/// The end of a free motion, or the point where it leaves the extent of worlds.
#[inline]
fn within_extent(start: Vec3, end: Vec3) -> Vec3 {
    if end.abs().cmple(Vec3::splat(obsp::UNIVERSE)).all() {
        return end;
    }
    let clipped = obsp::clip_to_extent(start.as_dvec3(), end.as_dvec3());
    clipped.map_or(start, |clipped| clipped.end.as_vec3())
}

/// A player's box in its map.
#[derive(Clone, Copy)]
pub(crate) struct Agent<'a> {
    /// Where the player moves in this tick.
    pub(crate) region: Region<'a>,
    pub(crate) shape: &'a Shape,
    pub(crate) size: SizeId,
}

impl Agent<'_> {
    /// The world within `radius` of the box at `position`.
    pub(crate) fn clearance(&self, position: Vec3, radius: f32) -> Clearance {
        self.region.clearance(self.size, position, radius)
    }

    fn trace(&self, start: Vec3, end: Vec3) -> Trace {
        self.region.find_first_transition(self.size, start, end)
    }

    /// Whether the box may stand at `position`.
    pub(crate) fn is_free<'b>(&self, position: Vec3, crowd: &impl NearbyBodies<'b>) -> bool {
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

    /// Sweeps the box from `start` towards `end` until it meets something.
    pub(crate) fn sweep<'b>(
        &self,
        start: Vec3,
        end: Vec3,
        crowd: &impl NearbyBodies<'b>,
        memory: &mut PlaneCache,
    ) -> SweepResult {
        let trace = self.trace(start, end);
        let (mut reach, mut time, mut hit) = match trace {
            // No position lies beyond the extent of worlds.
            Trace::Clear => (within_extent(start, end), 1.0, None),
            // The start is empty by invariant, so the box is wedged in a crack thinner than the
            // trace's resolution. The box does not move.
            Trace::StartSolid => return SweepResult { end: start, time: 0.0, hit: None },
            Trace::Hit(hit) => {
                let found = SweepHit { normal: hit.normal.as_dvec3(), entity: None };
                let way = [start.as_dvec3(), end.as_dvec3()];
                (hit.end, share_of_way(way, hit.end.as_dvec3()), Some(found))
            }
        };
        // The end is rounded to `f32`, which changes the direction. So the rounded motion is
        // checked again, a few times at most, each time with a shorter motion.
        for shorter in [1.0, 0.99, 0.9, 0.5] {
            let Some((impact, other)) = self.first_impact(start, reach, crowd, memory) else {
                return SweepResult { end: reach, time, hit };
            };
            time *= impact.time * shorter;
            hit = Some(SweepHit { normal: -impact.axis, entity: Some(other) });
            reach = start + (reach - start) * (impact.time * shorter) as f32;
            let bent = self.trace(start, reach);
            if reach == start || !matches!(bent, Trace::Clear) {
                break;
            }
        }
        SweepResult { end: start, time: 0.0, hit }
    }

    fn first_impact<'b>(
        &self,
        start: Vec3,
        end: Vec3,
        crowd: &impl NearbyBodies<'b>,
        memory: &mut PlaneCache,
    ) -> Option<(Impact, u16)> {
        let way = [start.as_dvec3(), end.as_dvec3()];
        // Most sweeps come near no body, so the player's own body is made when one is near.
        let mut own = None;
        let mut first: Option<(Impact, u16)> = None;
        let bounds = box_along(&self.shape.bounds, way).inflated(AGENT_GAP);
        crowd.visit(&bounds, &mut |other, obstacle| {
            let body = || Body::moving(self.shape, Pose::at(way[0]), Pose::at(way[1]));
            let impact = match memory.first_impact(
                (other, self.size),
                own.get_or_insert_with(body),
                obstacle,
            ) {
                TimeOfImpact::Free => return,
                TimeOfImpact::Blocked(impact) => impact,
                TimeOfImpact::Overlapping => Impact { time: 0.0, axis: DVec3::ZERO, point: way[0] },
            };
            if first.is_none_or(|(earliest, _)| impact.time < earliest.time) {
                first = Some((impact, other));
            }
        });
        first
    }
}
