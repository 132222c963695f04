use std::collections::BTreeMap;

use glam::DVec3;
use maps::MapEntity;
use maps::geometry::{Aabb, ConvexSolid};
use maps::model::Model;

use super::bodies::{Seen, Surfaces, attitude};
use super::overlap::Obstacle;
use super::surface::{Figure, Surface};
use crate::setup::SetupError;
use crate::state::{EntityId, EntityState, State};

/// Who comes out of a spawn point or a teleporter stands within this many
/// units of it, lifted a little if it was taken.
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

/// Units that a body may be eased or stepped in a tick beyond its speed: the
/// height of a step, with room.
const EASED: f64 = 24.0;

/// How far to the side of the straight way ways around are looked for, as
/// shares of its length.
const DETOURS: [f64; 4] = [0.0625, 0.125, 0.25, 0.375];

/// No way around leads farther aside than this, in units: about as far as
/// the fastest body gets in a tick.
const ASIDE: f64 = 32.0;

/// Directions in which they are looked for.
const BEARINGS: u32 = 8;

/// Judges the way from each tick to the next. Every tick must be shown.
///
/// A body has come through a solid if the straight line between where a point
/// well inside it was and where it is now meets the solid, and no way round
/// by one corner, a little longer at most, leads there either. It has come
/// through another body if, in that body's own frame, the line meets the
/// other's core, the middle half of its largest part. Who appeared at a spawn point or a teleporter's end, farther
/// away than they could have moved, did not come by any way.
#[derive(Debug)]
pub struct Passages {
    surfaces: Surfaces,
    solids: Vec<(Surface, Figure)>,
    arrivals: Vec<DVec3>,
    seconds: f64,
    before: BTreeMap<EntityId, (Seen, DVec3)>,
}

/// A body that is on the other side of something without a way there.
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
    /// A judge of matches on `map` with rigid bodies of `models`, at this
    /// many ticks per second.
    ///
    /// # Errors
    /// [`SetupError::MissingSize`] if the map lacks a size that players have.
    pub fn new(map: &maps::World, models: &[Model], tick_rate: u32) -> Result<Self, SetupError> {
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

    /// Who came through something since the state that was shown last.
    pub fn check(&mut self, state: &State) -> Vec<Tunnelled> {
        let mut now = BTreeMap::new();
        let mut movers = Vec::new();
        for entity in &state.entities {
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

    /// Whether an entity that went `distance` units was put where it is.
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

    /// A body whose core the straight way leads through.
    fn body_between(
        &self,
        body: EntityId,
        from: DVec3,
        to: DVec3,
        now: &BTreeMap<EntityId, (Seen, DVec3)>,
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
            // Who was put elsewhere swept nothing on the way.
            let moved = || movers.iter().any(|(mover, ..)| mover == *id);
            if !before.is_as(&seen.entity) && !moved() {
                return false;
            }
            let Some(surface) = self.surfaces.of(&seen.entity) else { return false };
            // The other's own frame, in which it stands still.
            let local = |point: DVec3, other: &EntityState| {
                attitude(other).inverse() * (point - other.position)
            };
            surface.core_stops(local(from, &before.entity), local(to, &seen.entity))
        });
        through.map(|(id, _)| *id)
    }
}

/// Everything that a straight way and its detours can meet.
fn around(from: DVec3, to: DVec3) -> Aabb {
    Aabb::around([from, to]).inflated(from.distance(to))
}

/// Corners of ways around, beside the middle of the straight one.
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
