//! The contacts of the last tick: of all bodies, for drawing, and of one body, with the impulses
//! that it took.

use glam::DVec3;

use super::World;
use crate::bodies::blocker::Blocker;
use crate::bodies::contact::meeting;
use crate::state::EntityId;

/// A point at which an awake prop touches something, or is about to touch it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Position in units.
    pub at: DVec3,
    /// Gap between the two at this point, in units.
    pub gap: f64,
    /// Normal impulse of the solver in the last tick, in kg·units/s; zero if the two do not touch
    /// yet.
    pub impulse: f64,
}

/// A point at which a body touched something in the last tick, or came near it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyContact {
    /// The other entity; `None` for the map.
    pub other: Option<EntityId>,
    /// Position in units.
    pub at: DVec3,
    /// Unit normal of the plane between the two. It points from the body to the other.
    pub normal: DVec3,
    /// Gap between the two at this point, in units, before they moved.
    pub gap: f64,
    /// The impulse along the normal that each of the two took from the other in the tick, in
    /// kg·units/s; zero if the two did not touch. Friction is not part of it.
    pub impulse: f64,
}

impl World {
    /// The points at which awake props touched something in the last tick, or came near, as the
    /// search for contacts found them. Bodies that have left the world since then are left out.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> {
        let pairs = self.pairs.iter().filter(|pair| !pair.points.is_empty());
        let of_bodies = pairs.filter_map(|pair| Some((self.entities.get(pair.key.body)?, pair)));
        of_bodies.flat_map(|(body, pair)| {
            pair.points.iter().filter_map(|point| {
                Some(Contact {
                    at: body.searched_point(point.local)?,
                    gap: point.gap.into(),
                    impulse: point.impulse[0].into(),
                })
            })
        })
    }

    /// The points at which a body touched something in the last tick, or came near, each with the
    /// impulse that it took. First come the contacts that the solver foresaw, in the order in which
    /// it solves them. Then come the points at which the guard stopped the body.
    ///
    /// The sum of the impulses says how hard a body was hit: divided by its mass, it is the change
    /// of its speed. A body at rest takes its weight: its mass × its gravity × the length of a
    /// tick. Bodies that sleep have no contacts, and a player who walks has no mass: a body that
    /// runs into the player takes the impulse that a wall would give. Before the bodies move in a
    /// tick, the contacts are those of the tick before.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let model = world.model("crate").expect("a shipped model");
    /// let place = DVec3::new(-400.0, -320.0, 100.0);
    /// let body = world.spawn_body(model, place, DQuat::IDENTITY)?;
    /// let mass = world.mass(body).expect("it has a mass");
    /// // It falls 84 units, to the floor. The impact costs it its speed.
    /// let mut hardest = 0.0_f64;
    /// for _ in 0..60 {
    ///     world.step(&[]);
    ///     let impulse: f64 = world.contacts_of(body).map(|contact| contact.impulse).sum();
    ///     hardest = hardest.max(impulse / mass);
    /// }
    /// let speed = (2.0 * 800.0 * 84.0_f64).sqrt();
    /// assert!(hardest > speed && hardest < 1.5 * speed, "{hardest} {speed}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contacts_of(&self, id: EntityId) -> impl Iterator<Item = BodyContact> {
        let here = self.entities.find(id).filter(|entity| entity.placement().is_some());
        let own = here.map(|entity| entity.id.slot);
        // The sign of the normal as seen from this body, and the other side of the contact. `None`
        // if this body is not part of the contact.
        let other = move |body: u16, other: Blocker| match own {
            Some(own) if own == body => Some((1.0, other)),
            Some(own) if other.entity() == Some(own) => Some((-1.0, Blocker::Entity(body))),
            _ => None,
        };
        let foreseen = meeting(&self.pairs).flat_map(move |pair| {
            let sides = other(pair.key.body, pair.key.other);
            let sides = sides.zip(self.entities.get(pair.key.body));
            sides.into_iter().flat_map(move |((sign, other), body)| {
                pair.points.iter().filter_map(move |point| {
                    Some(BodyContact {
                        other: self.entity_of(other)?,
                        at: body.searched_point(point.local)?,
                        normal: pair.axis * sign,
                        gap: point.gap.into(),
                        impulse: point.taken.into(),
                    })
                })
            })
        });
        let strikes = self.strikes.iter().filter_map(move |strike| {
            let (sign, other) = other(strike.body, strike.other)?;
            Some(BodyContact {
                other: self.entity_of(other)?,
                at: strike.at,
                normal: strike.normal * sign,
                gap: 0.0,
                impulse: strike.impulse,
            })
        });
        foreseen.chain(strikes)
    }

    /// Forgets all contacts of an entity that is removed or becomes a picture. Another entity may
    /// get the slot of a removed one.
    pub(super) fn forget_contacts(&mut self, slot: u16) {
        let is_of = |body: u16, other: Blocker| body == slot || other.entity() == Some(slot);
        self.pairs.retain(|pair| !is_of(pair.key.body, pair.key.other));
        self.strikes.retain(|strike| !is_of(strike.body, strike.other));
    }

    /// The entity of a blocker; `Some(None)` for a solid of the map. `None` if the entity has left.
    fn entity_of(&self, blocker: Blocker) -> Option<Option<EntityId>> {
        match blocker {
            Blocker::Solid(_) => Some(None),
            Blocker::Entity(slot) => self.id_in(Some(slot)).map(Some),
        }
    }
}
