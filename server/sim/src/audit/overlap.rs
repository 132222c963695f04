//! The audit of a single state for bodies that overlap.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DQuat, DVec3};
use obsp::geometry::{Aabb, ConvexSolid};
use obsp::model::Model;

use super::bodies::{AuditedBody, Surfaces, attitude, exclude_each_other, takes_room};
use super::depth::depth;
use super::fault::{Fault, Unsound, UnsoundNumber, unsound};
use super::surface::{Figure, Surface};
use crate::setup::SetupError;
use crate::state::{EntityId, EntityState, State};
use crate::world::World;

/// Tests states of a match: every solid body against every other that it may not pass through, and
/// against every solid of the map.
///
/// ```
/// # use std::sync::Arc;
/// use obsp_sim::audit::Audit;
/// use obsp_sim::{Config, World};
///
/// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let models = obsp::model::shipped();
/// let mut audit = Audit::new(&map, &models)?;
/// let mut world = World::new(map, models.into(), Config::default())?;
/// world.step(&[]);
/// assert!(audit.check_match(&world).is_empty(), "no two bodies overlap");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Audit {
    surfaces: Surfaces,
    solids: Vec<(Surface, Figure)>,
    seen: BTreeMap<EntityId, AuditedBody>,
    /// The boxes in which bodies may overlap the world.
    pockets: BTreeMap<EntityId, Aabb>,
}

/// Two bodies, or a body and the world, that share a point. The simulation promises that this never
/// happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interpenetration {
    /// A body.
    pub body: EntityId,
    /// The body or solid that it overlaps.
    pub obstacle: Obstacle,
    /// Depth in units: the length of the shortest displacement that separates a convex part of one
    /// from a convex part of the other.
    pub depth: f64,
}

/// Something that a body can overlap or come through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Another body.
    Body(EntityId),
    /// A solid of the map, by its index in [`obsp::Map::solids`].
    Solid(usize),
}

impl Audit {
    /// An audit of matches on `map` with rigid bodies of `models`.
    ///
    /// # Errors
    /// [`SetupError::MissingSize`] if the map lacks a size that players have.
    pub fn new(map: &obsp::Map, models: &[Model]) -> Result<Self, SetupError> {
        let solid = |solid: &ConvexSolid| {
            let surface = Surface::of_solid(solid);
            let figure = surface.in_place();
            (surface, figure)
        };
        Ok(Self {
            surfaces: Surfaces::new(map, models)?,
            solids: map.solids().iter().map(solid).collect(),
            seen: BTreeMap::new(),
            pockets: BTreeMap::new(),
        })
    }

    /// Notes the pockets of a match: boxes in which a body may overlap the map
    /// ([`World::pockets`]). Other overlaps of these bodies are still found.
    pub fn note_pockets(&mut self, pockets: &[(EntityId, Aabb)]) {
        self.pockets = pockets.iter().copied().collect();
    }

    /// Finds all bodies with a number that no body can have, and all overlaps of the other bodies.
    /// A pair is tested if at least one of the two is new or has moved since the last call.
    pub fn check(&mut self, state: &State) -> Vec<Fault> {
        let mut before = std::mem::take(&mut self.seen);
        let mut moved = BTreeSet::new();
        let mut found = Vec::new();
        for entity in &state.entities {
            // A body with a number that no body can have cannot be tested for overlaps.
            if let Some(unsound) = unsound(entity) {
                found.push(Fault::Unsound(unsound));
                continue;
            }
            if !takes_room(entity) {
                continue;
            }
            let known = before.remove(&entity.id).filter(|seen| seen.is_as(entity));
            moved.extend(known.is_none().then_some(entity.id));
            let seen = known.or_else(|| self.surfaces.see(entity));
            self.seen.extend(seen.map(|seen| (entity.id, seen)));
        }
        for id in &moved {
            let Some(seen) = self.seen.get(id) else { continue };
            // If both bodies of a pair moved, the one with the lower id tests it.
            let others =
                self.seen.iter().filter(|(other, _)| *other > id || !moved.contains(other));
            let overlaps = others.filter_map(|(_, other)| self.between(seen, other));
            let overlaps = overlaps.chain(self.with_solids(seen));
            found.extend(overlaps.map(Fault::Interpenetration));
        }
        found
    }

    /// Checks the state of a match like [`Audit::check`], and also the spin of each body, because a
    /// state does not contain it.
    pub fn check_match(&mut self, world: &World) -> Vec<Fault> {
        let state = world.state();
        self.note_pockets(&world.pockets());
        let mut found = self.check(&state);
        for entity in &state.entities {
            let spin = world.spin(entity.id);
            if spin.is_some_and(|spin| !spin.is_finite()) {
                let unsound = Unsound { body: entity.id, number: UnsoundNumber::Spin };
                found.push(Fault::Unsound(unsound));
            }
        }
        found
    }

    fn between(&self, a: &AuditedBody, b: &AuditedBody) -> Option<Interpenetration> {
        let is_free = !exclude_each_other(&a.entity, &b.entity);
        if is_free || !a.figure.bounds().overlaps(b.figure.bounds()) {
            return None;
        }
        let (surface, other) = (self.surfaces.of(&a.entity)?, self.surfaces.of(&b.entity)?);
        surface.overlaps(&a.figure, other, &b.figure).then(|| Interpenetration {
            body: a.entity.id,
            obstacle: Obstacle::Body(b.entity.id),
            depth: depth(pose(surface, &a.entity), pose(other, &b.entity)),
        })
    }

    fn with_solids<'a>(
        &'a self,
        seen: &'a AuditedBody,
    ) -> impl Iterator<Item = Interpenetration> + 'a {
        let own = self.surfaces.of(&seen.entity);
        let pocket = self.pockets.get(&seen.entity.id);
        // All common points of a body and a solid lie in both boxes.
        let may_be_in = move |figure: &Figure| {
            let (a, b) = (seen.figure.bounds(), figure.bounds());
            pocket.is_some_and(|pocket| {
                pocket.min.cmple(a.min.max(b.min)).all() && pocket.max.cmpge(a.max.min(b.max)).all()
            })
        };
        self.solids.iter().enumerate().filter_map(move |(index, (solid, figure))| {
            let surface = own.filter(|_| !may_be_in(figure))?;
            surface.overlaps(&seen.figure, solid, figure).then(|| Interpenetration {
                body: seen.entity.id,
                obstacle: Obstacle::Solid(index),
                depth: depth(
                    pose(surface, &seen.entity),
                    (&solid.parts, DQuat::IDENTITY, DVec3::ZERO),
                ),
            })
        })
    }
}

fn pose<'a>(surface: &'a Surface, entity: &EntityState) -> (&'a [ConvexSolid], DQuat, DVec3) {
    (&surface.parts, attitude(entity), entity.position)
}

#[cfg(test)]
pub(in crate::audit) mod tests;
