use std::sync::Arc;

use glam::DVec3;
use maps::model::Model;

use super::At;
use crate::contact::{Pair, find};
use crate::counters::{Counters, Stages};
use crate::entities::{Entities, Role};
use crate::guard::{Blocker, Space};
use crate::pose::Pose;
use crate::setup::SetupError;
use crate::shape::Shapes;
use crate::state::ModelId;

/// The search for contacts of a match, asked of bodies that no match need be
/// set up for.
#[derive(Debug)]
pub struct ContactSearch {
    map: Arc<maps::World>,
    shapes: Shapes,
}

/// A rigid body that is awake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thing {
    /// What it is.
    pub model: ModelId,
    /// Where it is.
    pub at: At,
    /// Units per second.
    pub velocity: DVec3,
    /// Radians per second, world axes.
    pub angular: DVec3,
}

/// Which two convex parts touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touching {
    /// The body, by its place among those that were asked about.
    pub body: usize,
    /// What it touches.
    pub other: Touched,
    /// The part of the one and of the other.
    pub parts: (u16, u16),
}

/// What a body touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touched {
    /// Another of the bodies that were asked about, a later one.
    Thing(usize),
    /// A solid of the map, by its index in [`maps::World::solids`].
    Solid(u32),
}

/// Where two convex parts touch, or will within the tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold {
    /// Which.
    pub between: Touching,
    /// The plane between them, as a unit direction from the body.
    pub normal: DVec3,
    /// Points on the body, and what is left there along the normal, in units.
    pub points: Vec<(DVec3, f64)>,
}

/// What a search has found: manifolds to look at, and what the next search of
/// the same bodies begins with, as the next tick does.
#[derive(Clone, Debug, Default)]
pub struct Contacts(Vec<Pair>);

impl ContactSearch {
    /// For matches on `map` with these models.
    ///
    /// # Errors
    /// [`SetupError`] if no match can be set up with them.
    pub fn new(map: Arc<maps::World>, models: &[Model]) -> Result<Self, SetupError> {
        Ok(Self { shapes: Shapes::new(&map, models)?, map })
    }

    /// What a tick of `seconds` with these stages on finds that begins with
    /// `things`, after one that has found `before`. `None` if they cannot all be
    /// where they are meant to: no two bodies of a match, nor a body and the
    /// map, are ever as near as [`super::MARGIN`].
    pub fn find(
        &self,
        things: &[Thing],
        before: &Contacts,
        seconds: f64,
        stages: Stages,
    ) -> Option<Contacts> {
        let mut entities = Entities::new(&self.map.bounds(), 0);
        entities.use_grid(stages.contains(crate::Stage::Grid));
        let mut counters = Counters { stages, ..Counters::default() };
        for thing in things {
            let (position, orientation) = thing.at;
            let shape = self.shapes.of_model(thing.model)?;
            let placement = self.space(&entities).place(
                shape,
                Pose { position, orientation },
                None,
                &mut counters,
            )?;
            let id = entities.insert(Role::Prop(thing.model), shape)?;
            entities.commit(id.slot, placement);
            let entity = entities.find_mut(id)?;
            (entity.velocity, entity.angular) = (thing.velocity, thing.angular);
        }
        Some(Contacts(find(&self.space(&entities), &before.0, seconds, false, &mut counters)))
    }

    fn space<'a>(&'a self, entities: &'a Entities) -> Space<'a> {
        Space { map: &self.map, shapes: &self.shapes, entities }
    }
}

impl Contacts {
    /// All that touches, in the order in which it is solved.
    pub fn manifolds(&self) -> impl Iterator<Item = Manifold> {
        self.0.iter().filter(|pair| !pair.points.is_empty()).map(|pair| Manifold {
            between: Touching {
                body: pair.key.body.into(),
                other: match pair.key.other {
                    Blocker::Entity(slot) => Touched::Thing(slot.into()),
                    Blocker::Solid(index) => Touched::Solid(index),
                },
                parts: pair.key.parts,
            },
            normal: pair.axis,
            points: pair.points.iter().map(|point| (point.on_body, point.gap)).collect(),
        })
    }
}
