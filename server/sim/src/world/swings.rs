//! Swings of kinematic bodies.

use glam::DQuat;

use super::World;
use crate::bodies::entities::Entity;
use crate::bodies::roles::{Kinematic, Role};
use crate::bodies::swing::Swing;
use crate::collision::pose::Pose;
use crate::place_error::PlaceError;
use crate::state::EntityId;

impl World {
    /// Lets a kinematic body swing to and fro between two places, as a pendulum does: its place is
    /// `place + way · (1 − cos(π · at / ticks)) / 2`. It pushes, carries and is stopped like any
    /// other kinematic body, and its swing waits while something holds it up. Its spin stays as it
    /// is. A client whose player stands on it predicts the ride.
    ///
    /// A body that is elsewhere goes to its place of the next tick first, at 4,500 units per second
    /// at most. [`World::set_velocity`] and [`World::move_linear`] end the swing.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use glam::{DQuat, DVec3};
    /// use obsp_sim::{Config, Swing, World};
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// let slab = obsp::model::Model::cuboid("slab", DVec3::new(32.0, 32.0, 8.0))?.as_kinematic();
    /// let mut world = World::new(map, [slab].into(), Config::default())?;
    /// let model = world.model("slab").expect("a model of the match");
    /// let place = DVec3::new(-400.0, -260.0, 100.0);
    /// let body = world.spawn_body(model, place, DQuat::IDENTITY)?;
    /// world.swing(body, Swing { place, way: DVec3::Z * 64.0, ticks: 60, at: 0 })?;
    /// for _ in 0..60 {
    ///     world.step(&[]);
    /// }
    /// let position = world.entity(body).expect("the entity is in the world").position;
    /// assert!(position.distance(place + DVec3::Z * 64.0) < 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such kinematic body in the world,
    /// [`PlaceError::NotFinite`] if a number is not finite or the ticks are out of their ranges,
    /// and [`PlaceError::NoRoom`] if an end is beyond the extent of worlds. Nothing changes then.
    pub fn swing(&mut self, id: EntityId, by: Swing) -> Result<(), PlaceError> {
        if !self.placed(id)?.is_kinematic() {
            return Err(PlaceError::NoSuchEntity);
        }
        if !by.is_sound() {
            return Err(PlaceError::NotFinite);
        }
        let ends = [by.place, by.place + by.way];
        if ends.iter().any(|end| Pose::known(*end, DQuat::IDENTITY).is_none()) {
            return Err(PlaceError::NoRoom);
        }
        self.set_linear_move(id, None);
        self.follow_swing(id, by);
        Ok(())
    }

    /// The swing of a kinematic body; `None` for other entities.
    pub fn swing_of(&self, id: EntityId) -> Option<Swing> {
        self.entities.find(id).and_then(Entity::swing)
    }

    /// Completes a tick of all swings.
    pub(super) fn advance_swings(&mut self) {
        let swings = |entity: &Entity| Some((entity.id, entity.swing()?));
        let swinging: Vec<_> = self.entities.active_kinematic().filter_map(swings).collect();
        for (id, by) in swinging {
            self.follow_swing(id, by);
        }
    }

    /// Gives a body the velocity of its swing for the next tick.
    fn follow_swing(&mut self, id: EntityId, mut by: Swing) {
        let Some(entity) = self.entities.find_mut(id) else { return };
        let Some(position) = entity.placement().map(|at| at.pose().position) else { return };
        let angular = entity.angular;
        let velocity = by.go_on(position, self.context.seconds);
        if let Role::Kinematic(Kinematic { swing, .. }) = &mut entity.role {
            *swing = Some(by);
        }
        self.store_velocity(id, velocity, angular);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::DVec3;
    use obsp::model::Model;

    use super::*;
    use crate::setup::Config;
    use crate::test_maps::{block, compiled};

    const AT: DVec3 = DVec3::new(0.0, 0.0, 60.0);
    const BY: Swing = Swing { place: AT, way: DVec3::new(0.0, 30.0, 40.0), ticks: 45, at: 0 };

    fn slab() -> Arc<[Model]> {
        [Model::cuboid("slab", DVec3::new(32.0, 32.0, 8.0)).unwrap().as_kinematic()].into()
    }

    fn world() -> (World, EntityId) {
        let map = compiled(&block([-512, -512, -16], [512, 512, 0]), [200, 0, 40], "");
        let mut world = World::new(map, slab(), Config::default()).unwrap();
        let model = world.model("slab").unwrap();
        let id = world.spawn_body(model, AT, DQuat::IDENTITY).unwrap();
        (world, id)
    }

    #[test]
    fn a_saved_match_swings_on_until_a_velocity_ends_it() {
        let (mut world, id) = world();
        let digest = world.digest();
        world.swing(id, BY).unwrap();
        assert_ne!(world.digest(), digest);
        (0..17).for_each(|_| world.step(&[]));
        let mut loaded = World::load(Arc::clone(world.map()), slab(), &world.save()).unwrap();
        for tick in 17..400_u32 {
            let off = world.entity(id).unwrap().position - AT;
            let share = 0.5 - 0.5 * (std::f64::consts::PI * f64::from(tick) / 45.0).cos();
            assert!(off.distance(BY.way * share) < 0.01, "tick {tick}: {off}");
            world.step(&[]);
            loaded.step(&[]);
            assert_eq!(loaded.digest(), world.digest());
        }
        world.set_velocity(id, DVec3::ZERO, DVec3::ZERO).unwrap();
        world.step(&[]);
        assert_eq!((world.swing_of(id), world.entity(id).unwrap().asleep), (None, true));
    }

    #[test]
    fn odd_swings_are_refused() {
        let (mut world, id) = world();
        let most = Swing::MAX_TICKS;
        for (odd, error) in [
            (Swing { ticks: 0, ..BY }, PlaceError::NotFinite),
            (Swing { ticks: most + 1, ..BY }, PlaceError::NotFinite),
            (Swing { at: 90, ..BY }, PlaceError::NotFinite),
            (Swing { way: DVec3::NAN, ..BY }, PlaceError::NotFinite),
            (Swing { way: DVec3::X * 1e9, ..BY }, PlaceError::NoRoom),
        ] {
            assert_eq!(world.swing(id, odd), Err(error), "{odd:?}");
        }
        let player = world.join().unwrap();
        assert_eq!(world.swing(player, BY), Err(PlaceError::NoSuchEntity));
        world.swing(id, Swing { ticks: most, at: 2 * most - 1, ..BY }).unwrap();
        world.step(&[]);
        world.swing(id, Swing { at: 89, ..BY }).unwrap();
    }
}
