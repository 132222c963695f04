//! The search for contacts, for bodies that are in no match.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use obsp::model::Model;

use super::At;
use crate::bodies::blocker::Blocker;
use crate::bodies::contact::{Pair, find, look_around};
use crate::bodies::entities::Entities;
use crate::bodies::guard::{Seeker, Space};
use crate::bodies::roles::Role;
use crate::collision::pose::{Pose, is_speed, is_tick};
use crate::collision::shape::Shapes;
use crate::context::StepContext;
use crate::counters::Stages;
use crate::setup::SetupError;
use crate::state::ModelId;

/// The search for contacts that a match makes, for bodies that are in no match.
#[derive(Debug)]
pub struct ContactSearch {
    map: Arc<obsp::Map>,
    shapes: Shapes,
}

/// An awake rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thing {
    /// The model of the body.
    pub model: ModelId,
    /// The pose of the body.
    pub at: At,
    /// Velocity, in units per second.
    pub velocity: DVec3,
    /// Angular velocity, in radians per second, world axes.
    pub angular: DVec3,
}

/// Two convex parts that touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContactPair {
    /// The body, by its index among the bodies of the query.
    pub body: usize,
    /// The body or solid that the body touches.
    pub other: Touched,
    /// Indices of the part of the body, and of the part of the other.
    pub parts: (u16, u16),
}

/// A body or solid that a body touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touched {
    /// A body of the query, by its index. It comes later in the query than the first body.
    Thing(usize),
    /// A solid of the map, by its index in [`obsp::Map::solids`].
    Solid(u32),
}

/// The points at which two convex parts touch, or will touch within the tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold {
    /// The two parts.
    pub between: ContactPair,
    /// Normal of the plane between the two parts, a unit vector that points away from the body.
    pub normal: DVec3,
    /// Points on the body, each with its gap along the normal, in units.
    pub points: Vec<(DVec3, f64)>,
}

/// The result of a search: the manifolds, and the state from which the next search for these bodies
/// starts.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    pairs: Vec<Pair>,
    /// The poses of the things.
    poses: Vec<Pose>,
}

impl ContactSearch {
    /// The search for contacts in matches on `map` with these models.
    ///
    /// # Errors
    /// [`SetupError`] if the map and the models do not allow a match.
    pub fn new(map: Arc<obsp::Map>, models: &[Model]) -> Result<Self, SetupError> {
        Ok(Self { shapes: Shapes::new(&map, models)?, map })
    }

    /// The contacts that a tick of `seconds` with these stages on finds for `things`,
    /// after a tick that found `before`.
    ///
    /// `None` if there is no room for all of them. In a match no body is as near to another body,
    /// or to the map, as [`super::MARGIN`]. The result is `None` too if the tick is not above 0
    /// seconds or is longer than 1 second, if a number is not finite, or if a thing is beyond the
    /// extent of worlds or faster than 10 million units per second.
    pub fn find(
        &self,
        things: &[Thing],
        before: &Contacts,
        seconds: f64,
        stages: Stages,
    ) -> Option<Contacts> {
        if !is_tick(seconds) {
            return None;
        }
        let mut entities = Entities::new(&self.map.bounds(), 0);
        entities.use_grid(stages.contains(crate::counters::Stage::Grid));
        let mut context = StepContext { stages, seconds, ..StepContext::default() };
        for thing in things {
            let (position, orientation) = thing.at;
            let shape = self.shapes.of_model(thing.model)?;
            if !is_speed(thing.velocity) || !is_speed(thing.angular) {
                return None;
            }
            let pose = Pose::known(position, orientation)?;
            let placement =
                self.space(&entities).place(shape, pose, Seeker::QUERY, &mut context)?;
            let id = entities.insert(Role::Prop(thing.model), shape)?;
            entities.commit(id.slot, placement);
            let entity = entities.find_mut(id)?;
            (entity.velocity, entity.angular) = (thing.velocity, thing.angular);
        }
        let bodies = entities.active_slots().clone();
        look_around((&self.map, &self.shapes), &mut entities, &bodies, seconds);
        let pairs = find(&self.space(&entities), &before.pairs, &mut context).pairs;
        let pose = |thing: &Thing| Pose::known(thing.at.0, thing.at.1);
        Some(Contacts { pairs, poses: things.iter().map(pose).collect::<Option<_>>()? })
    }

    fn space<'a>(&'a self, entities: &'a Entities) -> Space<'a> {
        Space { map: &self.map, shapes: &self.shapes, entities }
    }
}

impl Contacts {
    /// All manifolds, in the order in which they are solved.
    pub fn manifolds(&self) -> impl Iterator<Item = Manifold> {
        self.pairs.iter().filter(|pair| !pair.points.is_empty()).map(|pair| Manifold {
            between: ContactPair {
                body: pair.key.body.into(),
                other: match pair.key.other {
                    Blocker::Entity(slot) => Touched::Thing(slot.into()),
                    Blocker::Solid(index) => Touched::Solid(index),
                },
                parts: pair.key.parts,
            },
            normal: pair.axis,
            points: self.points(pair).collect(),
        })
    }

    /// The points of a pair on its body, with their gaps.
    fn points(&self, pair: &Pair) -> impl Iterator<Item = (DVec3, f64)> {
        let body = self.poses[usize::from(pair.key.body)];
        let at = move |local: Vec3| body.position + body.rotation() * local.as_dvec3();
        pair.points.iter().map(move |point| (at(point.local), point.gap.into()))
    }
}
