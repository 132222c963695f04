//! The audit of the motion from one state to the next: it finds bodies that came through something.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use obsp::geometry::{Aabb, ConvexSolid};
use obsp::model::Model;

use super::bodies::{AuditedBody, Surfaces, attitude, exclude_each_other, takes_room};
use super::fault::unsound;
use super::overlap::Obstacle;
use super::surface::{Figure, Surface};
use crate::setup::SetupError;
use crate::state::{EntityId, EntityState, Kind, State};
use crate::world::Relocation;

/// Allowance in units: how much farther a body may move in a tick than its speed and the height of
/// a step allow.
const EASED: f64 = 6.0;

/// Default height of the steps that players walk up, in units, as in Quake.
const STEP: f64 = 18.0;

/// Maximum speed of players on foot, in units per second.
const MAX_WALK: f64 = 2000.0;

/// Maximum speed that a game gives a body, in units per second.
const MAX_SPEED: f64 = 4500.0;

/// Maximum distance in units between a body and the place that its relocation announces. It allows
/// for nothing except rounding.
const ROUNDING: f64 = 1e-6;

/// Distances of detours from the straight line, as shares of its length.
const DETOURS: [f64; 4] = [0.0625, 0.125, 0.25, 0.375];

/// Maximum distance of a detour, in units: about as far as the fastest body moves in a tick.
const ASIDE: f64 = 32.0;

/// Number of directions in which detours are tried.
const BEARINGS: u32 = 8;

/// Tests the motion from each state to the next. The states of all ticks must be passed in.
///
/// The test follows a point well inside each body, from its last position to its current one. A
/// body has come through a solid if the straight line between the two positions meets the solid,
/// and every detour around one corner, which is slightly longer, is blocked as well. It has come
/// through another body if the line, in the frame of that body, meets the core of that body. The
/// core is the middle half of the body's largest part. The frame of a player is fixed to the feet,
/// which stay in place when the player stands up or crouches.
///
/// An entity that the match moved by a relocation is judged by its [`Relocation`]s. The entity must
/// have been where its first relocation begins, and must be where its last one ends. The tolerance
/// is the distance that the entity can move in a tick.
///
/// ```
/// # use std::sync::Arc;
/// use obsp_sim::audit::Passages;
/// use obsp_sim::{Config, World};
///
/// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let models = obsp::model::shipped();
/// let config = Config::default();
/// let mut passages = Passages::new(&map, &models, config.tick_rate)?;
/// let mut world = World::new(map, models.into(), config)?;
/// for _ in 0..3 {
///     world.step(&[]);
///     assert_eq!(passages.judge(&world.state(), world.relocations()).count(), 0);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Passages {
    surfaces: Surfaces,
    solids: Vec<(Surface, Figure)>,
    seconds: f64,
    eased: f64,
    before: BTreeMap<EntityId, (AuditedBody, DVec3)>,
    /// The entities of earlier states that are missing from the last state.
    away: BTreeSet<EntityId>,
    /// The boxes in which bodies may come through the world.
    pockets: BTreeMap<EntityId, Aabb>,
    /// The number of the first relocation that has not been judged yet.
    next: u64,
}

/// A body that is now beyond something, and cannot have gone around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tunnelled {
    /// The body.
    pub body: EntityId,
    /// The body or solid that it came through.
    pub through: Obstacle,
    /// The former position of a point inside the body, in units.
    pub from: DVec3,
    /// The present position of that point.
    pub to: DVec3,
}

/// A body whose positions contradict its relocations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Misplaced {
    /// The body has moved farther than it can in a tick, or has come back into the world, and no
    /// relocation announces that.
    Unannounced {
        /// The body.
        body: EntityId,
        /// The body's last position, in units; `None` if the body was not in the world.
        from: Option<DVec3>,
        /// The body's position, in units; `None` if the body is not in the world.
        to: Option<DVec3>,
    },
    /// The body is not at the place at which a relocation put it.
    NotThere {
        /// The body.
        body: EntityId,
        /// The place of the relocation, in units; `None` if it took the body out of the world.
        put: Option<DVec3>,
        /// The body's position; `None` if the body is not in the world.
        at: Option<DVec3>,
    },
}

/// The result of testing the motion from one state to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ways {
    /// The bodies that came through something.
    pub tunnelled: Vec<Tunnelled>,
    /// The bodies whose positions contradict their relocations.
    pub misplaced: Vec<Misplaced>,
}

impl Ways {
    /// The number of faults of both kinds.
    pub fn count(&self) -> usize {
        self.tunnelled.len() + self.misplaced.len()
    }
}

/// A straight line along which a point inside a body moved: the body, the start and the end.
type Way = (EntityId, DVec3, DVec3);

impl Passages {
    /// A test of matches on `map` with rigid bodies of `models`, at `tick_rate` ticks per second.
    ///
    /// # Errors
    /// [`SetupError::MissingSize`] if the map lacks a size that players have.
    pub fn new(map: &obsp::Map, models: &[Model], tick_rate: u32) -> Result<Self, SetupError> {
        let solid = |solid: &ConvexSolid| {
            let surface = Surface::of_solid(solid);
            let figure = surface.in_place();
            (surface, figure)
        };
        Ok(Self {
            surfaces: Surfaces::new(map, models)?,
            solids: map.solids().iter().map(solid).collect(),
            seconds: 1.0 / f64::from(tick_rate.max(1)),
            eased: STEP + EASED,
            before: BTreeMap::new(),
            away: BTreeSet::new(),
            pockets: BTreeMap::new(),
            next: 0,
        })
    }

    /// Notes the pockets of a match: a way within a pocket may lead through the map
    /// ([`World::pockets`](crate::world::World::pockets)).
    pub fn note_pockets(&mut self, pockets: &[(EntityId, Aabb)]) {
        self.pockets = pockets.iter().copied().collect();
    }

    /// Sets the height of the steps that players walk up, in units. The default is 18.
    #[must_use]
    pub fn with_step_height(self, height: f64) -> Self {
        Self { eased: height + EASED, ..self }
    }

    /// The bodies that came through something since the last state, in a match without relocations.
    /// A body that jumps to a spawn point or through a teleporter is reported as well.
    pub fn check(&mut self, state: &State) -> Vec<Tunnelled> {
        self.judge(state, &[]).tunnelled
    }

    /// The bodies that came through something since the last state, and the bodies that are not
    /// where `relocations` say. Relocations that were passed in before are skipped.
    pub fn judge(&mut self, state: &State, relocations: &[Relocation]) -> Ways {
        let new = relocations.iter().filter(|relocation| relocation.number >= self.next);
        let mut announced: BTreeMap<EntityId, Vec<Relocation>> = BTreeMap::new();
        for relocation in new {
            announced.entry(relocation.entity).or_default().push(*relocation);
        }
        self.next = relocations.last().map_or(self.next, |last| self.next.max(last.number + 1));
        let (mut now, mut ways, mut found) = (BTreeMap::new(), Vec::new(), Ways::default());
        // The way of a body without a finite pose cannot be tested. `Audit` reports such a body.
        let solid = state.entities.iter().filter(|entity| takes_room(entity));
        for entity in solid.filter(|entity| unsound(entity).is_none()) {
            let known = self.before.get(&entity.id);
            let entry = match known.filter(|(seen, _)| seen.is_as(entity)) {
                Some(unmoved) => Some(unmoved.clone()),
                None => self.surfaces.see(entity).zip(self.surfaces.anchor(entity)),
            };
            let Some(entry) = entry else { continue };
            let put = announced.remove(&entity.id).unwrap_or_default();
            if !put.is_empty() || known.is_none_or(|(old, _)| !old.is_as(entity)) {
                self.follow(Some(&entry), entity.id, &put, (&mut ways, &mut found.misplaced));
            }
            now.insert(entity.id, entry);
        }
        for (id, put) in announced {
            self.follow(None, id, &put, (&mut ways, &mut found.misplaced));
        }
        found.tunnelled = self.tunnelled(&ways, &now);
        let left = self.before.keys().filter(|id| !now.contains_key(id));
        self.away.extend(left);
        self.away.retain(|id| !now.contains_key(id));
        self.before = now;
        found
    }

    /// Follows a body from its last position to `now`, by way of the relocations `put`. Adds the
    /// lines along which the body moved, and the contradictions.
    fn follow(
        &self,
        now: Option<&(AuditedBody, DVec3)>,
        body: EntityId,
        put: &[Relocation],
        (ways, wrong): (&mut Vec<Way>, &mut Vec<Misplaced>),
    ) {
        let before = self.before.get(&body);
        let at = now.map(|(seen, _)| seen.entity.position);
        let fastest = [before, now].into_iter().flatten().map(|(seen, _)| fastest(&seen.entity));
        let farthest = fastest.fold(0.0, f64::max) * self.seconds + self.eased;
        // The vector from the middle of the body to the point inside it that is followed.
        let offset = |entry: Option<&(AuditedBody, DVec3)>| {
            entry.map_or(DVec3::ZERO, |(seen, anchor)| *anchor - seen.entity.position)
        };
        let [then, last] = [offset(before), offset(now)];
        let mut here = before.map(|(seen, _)| seen.entity.position);
        let is_new = before.is_none() && !self.away.contains(&body);
        for (index, relocation) in put.iter().enumerate() {
            let (is_first, from) = (index == 0, relocation.from);
            let fits = match (here, from) {
                (Some(here), Some(from)) => {
                    let reach = if is_first { farthest } else { ROUNDING };
                    ways.extend(is_first.then_some((body, here + then, from + then)));
                    here.distance(from) <= reach
                }
                (None, None) => true,
                (None, Some(_)) => is_first && is_new,
                (Some(_), None) => false,
            };
            if !fits {
                wrong.push(Misplaced::Unannounced { body, from: here, to: from });
            }
            here = relocation.to;
        }
        match (here, at) {
            (Some(here), Some(at)) => {
                ways.push(match (before, now) {
                    (Some((_, from)), Some((_, to))) if put.is_empty() => (body, *from, *to),
                    _ => (body, here + last, at + last),
                });
                let is_there = here.distance(at) <= farthest;
                wrong.extend((!is_there).then_some(if put.is_empty() {
                    Misplaced::Unannounced { body, from: Some(here), to: Some(at) }
                } else {
                    Misplaced::NotThere { body, put: Some(here), at: Some(at) }
                }));
            }
            (None, Some(_)) if put.is_empty() && is_new => {}
            (None, Some(_)) if put.is_empty() => {
                wrong.push(Misplaced::Unannounced { body, from: None, to: at });
            }
            (put, at) if put.is_some() != at.is_some() => {
                wrong.push(Misplaced::NotThere { body, put, at });
            }
            _ => {}
        }
    }

    fn tunnelled(
        &self,
        ways: &[Way],
        now: &BTreeMap<EntityId, (AuditedBody, DVec3)>,
    ) -> Vec<Tunnelled> {
        let through = |&(body, from, to): &Way| {
            let pocket = self.pockets.get(&body);
            let may_pass =
                pocket.is_some_and(|pocket| pocket.contains(from) && pocket.contains(to));
            let solid = if may_pass { None } else { self.solid_between(from, to) };
            let through = solid.map(Obstacle::Solid).or_else(|| {
                let other = self.body_between(body, from, to, now, ways)?;
                Some(Obstacle::Body(other))
            });
            through.map(|through| Tunnelled { body, through, from, to })
        };
        ways.iter().filter_map(through).collect()
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

    /// The first other body whose core the straight line meets.
    fn body_between(
        &self,
        body: EntityId,
        from: DVec3,
        to: DVec3,
        now: &BTreeMap<EntityId, (AuditedBody, DVec3)>,
        ways: &[Way],
    ) -> Option<EntityId> {
        let near = around(from, to);
        // Two bodies that may pass through each other in one of the two states are not judged.
        let own = [self.before.get(&body), now.get(&body)];
        let keeps_out = |id: &EntityId| {
            let theirs = [self.before.get(id), now.get(id)];
            let both = own.into_iter().zip(theirs).filter_map(|(own, other)| own.zip(other));
            both.into_iter().all(|(own, other)| exclude_each_other(&own.0.entity, &other.0.entity))
        };
        let mut others = now.iter().filter(|(id, _)| **id != body && keeps_out(id));
        let through = others.find(|(id, (seen, anchor))| {
            let Some((before, left)) = self.before.get(id) else { return false };
            let reach = before.figure.bounds().union(*seen.figure.bounds());
            if !near.overlaps(&reach) {
                return false;
            }
            // A body that was put elsewhere did not pass through the space between the two places.
            let moved = || ways.contains(&(**id, *left, *anchor));
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

/// An upper bound of the speed of an entity in the tick before or after this state. The entity's
/// own velocity is not an upper bound: a game may set another velocity within the tick, and a wall
/// may stop the body.
fn fastest(entity: &EntityState) -> f64 {
    let most = if matches!(entity.kind, Kind::Player { .. }) { MAX_WALK } else { MAX_SPEED };
    entity.velocity.length().max(most)
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
