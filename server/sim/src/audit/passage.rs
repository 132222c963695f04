//! The audit from state to state: which bodies came through something.

use std::collections::BTreeMap;

use glam::DVec3;
use obsp::MapEntity;
use obsp::geometry::{Aabb, ConvexSolid};
use obsp::model::Model;

use super::bodies::{AuditedBody, Surfaces, attitude};
use super::fault::unsound;
use super::overlap::Obstacle;
use super::surface::{Figure, Surface};
use crate::setup::SetupError;
use crate::state::{EntityId, EntityState, State};

/// A body that appears at a spawn point or teleporter is within this distance of it,
/// in units: lifted a little if the place was taken.
const ARRIVAL: f64 = 96.0;

/// Classes of point entities at which bodies appear.
const ARRIVALS: [&str; 6] = [
    "info_player_deathmatch",
    "info_player_start",
    "info_player_start2",
    "info_player_coop",
    "info_teleport_destination",
    "misc_teleporter_dest",
];

/// Units that a body may move in a tick beyond its speed: the height of a step, with
/// a reserve.
const EASED: f64 = 24.0;

/// Distances of detours from the straight line, as shares of its length.
const DETOURS: [f64; 4] = [0.0625, 0.125, 0.25, 0.375];

/// Greatest distance of a detour, in units: about as far as the fastest body moves in
/// a tick.
const ASIDE: f64 = 32.0;

/// Number of directions in which detours are tried.
const BEARINGS: u32 = 8;

/// Tests the motion from each state to the next. Every tick must be passed in.
///
/// A body has come through a solid if the straight line from the last to the current
/// position of a point well inside it meets the solid, and no slightly longer detour
/// by one corner leads there either. It has come through another body if, in that
/// body's frame, the line meets the other's core, the middle half of its largest
/// part; the frame of a player who stands up or crouches is that of the feet, which stay where
/// they are. A body that appeared at a spawn point or teleporter, farther away than it
/// could have moved, is not tested.
#[derive(Debug)]
pub struct Passages {
    surfaces: Surfaces,
    solids: Vec<(Surface, Figure)>,
    arrivals: Vec<DVec3>,
    seconds: f64,
    before: BTreeMap<EntityId, (AuditedBody, DVec3)>,
}

/// A body that is on the other side of something it cannot have gone around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tunnelled {
    /// The body.
    pub body: EntityId,
    /// What it came through.
    pub through: Obstacle,
    /// Where a point inside it was, in units.
    pub from: DVec3,
    /// Where that point is now.
    pub to: DVec3,
}

impl Passages {
    /// For matches on `map` with rigid bodies of `models`, at this many ticks per
    /// second.
    ///
    /// # Errors
    /// [`SetupError::MissingSize`] if the map lacks a size that players have.
    pub fn new(map: &obsp::World, models: &[Model], tick_rate: u32) -> Result<Self, SetupError> {
        let solid = |solid: &ConvexSolid| {
            let surface = Surface::of_solid(solid);
            let figure = surface.in_place();
            (surface, figure)
        };
        let arrives = |entity: &&MapEntity| ARRIVALS.contains(&entity.classname());
        let arrivals = map.entities().iter().filter(arrives).filter_map(MapEntity::origin);
        Ok(Self {
            surfaces: Surfaces::new(map, models)?,
            solids: map.solids().iter().map(solid).collect(),
            arrivals: arrivals.collect(),
            seconds: 1.0 / f64::from(tick_rate.max(1)),
            before: BTreeMap::new(),
        })
    }

    /// The bodies that came through something since the last state.
    pub fn check(&mut self, state: &State) -> Vec<Tunnelled> {
        let mut now = BTreeMap::new();
        let mut movers = Vec::new();
        // A body that is nowhere came through nothing: `Audit` tells of it.
        for entity in state.entities.iter().filter(|entity| unsound(entity).is_none()) {
            let known = self.before.get(&entity.id);
            let entry = match known.filter(|(seen, _)| seen.is_as(entity)) {
                Some(unmoved) => Some(unmoved.clone()),
                None => self.surfaces.see(entity).zip(self.surfaces.anchor(entity)),
            };
            let Some((seen, anchor)) = entry else { continue };
            if let Some((old, from)) = known.filter(|(old, _)| !old.is_as(entity)) {
                let slack = old.entity.velocity.length().max(entity.velocity.length());
                if !self.has_arrived(entity, from.distance(anchor), slack) {
                    movers.push((entity.id, *from, anchor));
                }
            }
            now.insert(entity.id, (seen, anchor));
        }
        let mut found = Vec::new();
        for &(body, from, to) in &movers {
            let through = self.solid_between(from, to).map(Obstacle::Solid).or_else(|| {
                let other = self.body_between(body, from, to, &now, &movers)?;
                Some(Obstacle::Body(other))
            });
            found.extend(through.map(|through| Tunnelled { body, through, from, to }));
        }
        self.before = now;
        found
    }

    /// Whether an entity that moved by `distance` units was put where it is.
    fn has_arrived(&self, entity: &EntityState, distance: f64, speed: f64) -> bool {
        let near = |point: &DVec3| point.distance(entity.position) < ARRIVAL;
        distance > speed * self.seconds + EASED && self.arrivals.iter().any(near)
    }

    fn solid_between(&self, from: DVec3, to: DVec3) -> Option<usize> {
        let near = around(from, to);
        let close: Vec<usize> = (0..self.solids.len())
            .filter(|&index| near.overlaps(self.solids[index].1.bounds()))
            .collect();
        let stop = |a: DVec3, b: DVec3| {
            let stops = |index: &&usize| {
                let (surface, figure) = &self.solids[**index];
                surface.stops(figure, a, b)
            };
            close.iter().find(stops).copied()
        };
        let through = stop(from, to)?;
        let free = |via| stop(from, via).is_none() && stop(via, to).is_none();
        (!detours(from, to).any(free)).then_some(through)
    }

    /// A body whose core the straight line meets.
    fn body_between(
        &self,
        body: EntityId,
        from: DVec3,
        to: DVec3,
        now: &BTreeMap<EntityId, (AuditedBody, DVec3)>,
        movers: &[(EntityId, DVec3, DVec3)],
    ) -> Option<EntityId> {
        let near = around(from, to);
        let mut others = now.iter().filter(|(id, _)| **id != body);
        let through = others.find(|(id, (seen, _))| {
            let Some((before, _)) = self.before.get(id) else { return false };
            let reach = before.figure.bounds().union(*seen.figure.bounds());
            if !near.overlaps(&reach) {
                return false;
            }
            // A body that was put elsewhere did not sweep through the space between.
            let moved = || movers.iter().any(|(mover, ..)| mover == *id);
            if !before.is_as(&seen.entity) && !moved() {
                return false;
            }
            let Some(surface) = self.surfaces.of(&seen.entity) else { return false };
            // The other body's frame, in which it is at rest.
            let local = |point: DVec3, other: &EntityState, origin: DVec3| {
                attitude(other).inverse() * (point - origin)
            };
            let (was, is) = (before.origin_as(seen), seen.entity.position);
            surface.core_stops(local(from, &before.entity, was), local(to, &seen.entity, is))
        });
        through.map(|(id, _)| *id)
    }
}

/// A box around the straight line and its detours.
fn around(from: DVec3, to: DVec3) -> Aabb {
    Aabb::around([from, to]).inflated(from.distance(to))
}

/// Corners of the detours, beside the middle of the straight line.
fn detours(from: DVec3, to: DVec3) -> impl Iterator<Item = DVec3> {
    let way = to - from;
    let middle = from + way * 0.5;
    let (side, up) = way.normalize_or(DVec3::Z).any_orthonormal_pair();
    DETOURS.into_iter().flat_map(move |share| {
        (0..BEARINGS).map(move |bearing| {
            let angle = f64::from(bearing) * (std::f64::consts::TAU / f64::from(BEARINGS));
            let offset = side * libm::cos(angle) + up * libm::sin(angle);
            middle + offset * (share * way.length()).min(ASIDE)
        })
    })
}

#[cfg(test)]
mod tests;
