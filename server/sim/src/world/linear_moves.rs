//! Moves of kinematic bodies to places.

use glam::{DQuat, DVec3};

use super::World;
use super::operations::MAX_SPEED;
use crate::bodies::entities::Entity;
use crate::bodies::linear_move::LinearMove;
use crate::bodies::roles::{Kinematic, Role};
use crate::collision::pose::Pose;
use crate::place_error::PlaceError;
use crate::state::EntityId;

impl World {
    /// Lets a kinematic body go to a place: after the delay, in a straight line, at this speed. It
    /// rests when it is there ([`World::linear_move`] is `None` then). It pushes, carries and is
    /// stopped like any other kinematic body, and goes on when there is room. Its spin stays as it
    /// is. A player's client knows the move of the body on which the player stands, and so predicts
    /// when the body starts and stops.
    ///
    /// The speed is at most 4,500 units per second. [`World::set_velocity`] and [`World::swing`]
    /// end the move.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use glam::{DQuat, DVec3};
    /// use obsp_sim::{Config, LinearMove, World};
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// let slab = obsp::model::Model::cuboid("slab", DVec3::new(32.0, 32.0, 8.0))?.as_kinematic();
    /// let mut world = World::new(map, [slab].into(), Config::default())?;
    /// let model = world.model("slab").expect("a model of the match");
    /// let at = DVec3::new(-400.0, -260.0, 100.0);
    /// let lift = world.spawn_body(model, at, DQuat::IDENTITY)?;
    /// // It rises by 64 units in a second, half a second from now.
    /// let goal = at + DVec3::Z * 64.0;
    /// world.move_linear(lift, LinearMove { goal, speed: 64.0, delay: 30 })?;
    /// for _ in 0..90 {
    ///     world.step(&[]);
    /// }
    /// let position = world.entity(lift).expect("the entity is in the world").position;
    /// assert!(position.distance(goal) < 1e-9 && world.linear_move(lift).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such kinematic body in the world,
    /// [`PlaceError::NotFinite`] if a number is not finite or the speed is not above zero, and
    /// [`PlaceError::NoRoom`] if the goal is beyond the extent of worlds. Nothing changes then.
    pub fn move_linear(&mut self, id: EntityId, by: LinearMove) -> Result<(), PlaceError> {
        let by = self.checked_move(id, by)?;
        self.set_linear_move(id, Some(by));
        self.follow_linear_move(id);
        Ok(())
    }

    /// Checks a move of a kinematic body, and limits its speed.
    pub(super) fn checked_move(
        &self,
        id: EntityId,
        by: LinearMove,
    ) -> Result<LinearMove, PlaceError> {
        if !self.placed(id)?.is_kinematic() {
            return Err(PlaceError::NoSuchEntity);
        }
        if !by.goal.is_finite() || !by.speed.is_finite() || by.speed <= 0.0 {
            return Err(PlaceError::NotFinite);
        }
        if Pose::known(by.goal, DQuat::IDENTITY).is_none() {
            return Err(PlaceError::NoRoom);
        }
        Ok(LinearMove { speed: by.speed.min(MAX_SPEED), ..by })
    }

    /// The move of a kinematic body that waits to start or is on its way; `None` for other
    /// entities.
    pub fn linear_move(&self, id: EntityId) -> Option<LinearMove> {
        self.entities.find(id).and_then(Entity::linear_move)
    }

    /// Completes a tick of all moves: delays pass, and bodies start, go on or stop.
    pub(super) fn advance_linear_moves(&mut self) {
        let moves = |entity: &Entity| Some((entity.id, entity.linear_move()?));
        let moving: Vec<_> = self.entities.active_kinematic().filter_map(moves).collect();
        for (id, of) in moving {
            let delay = of.delay.saturating_sub(1);
            self.set_linear_move(id, Some(LinearMove { delay, ..of }));
            self.follow_linear_move(id);
        }
    }

    pub(super) fn set_linear_move(&mut self, id: EntityId, by: Option<LinearMove>) {
        let role = self.entities.find_mut(id).map(|entity| &mut entity.role);
        if let Some(Role::Kinematic(Kinematic { linear_move, swing, .. })) = role {
            (*linear_move, *swing) = (by, None);
        }
    }

    /// Gives a body the velocity of its move for the next tick, or zero before the start and at the
    /// goal.
    pub(super) fn follow_linear_move(&mut self, id: EntityId) {
        let Some(entity) = self.entities.find(id) else { return };
        let Some(of) = entity.linear_move() else { return };
        let (before, angular) = (entity.velocity, entity.angular);
        let Some(position) = entity.placement().map(|at| at.pose().position) else { return };
        let velocity = match of.delay {
            0 => of.velocity(position, self.context.seconds),
            _ => Some(DVec3::ZERO),
        };
        if velocity.is_none() {
            self.set_linear_move(id, None);
        }
        let velocity = velocity.unwrap_or(DVec3::ZERO);
        if velocity != before {
            self.store_velocity(id, velocity, angular);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use obsp::model::Model;

    use super::*;
    use crate::setup::Config;
    use crate::test_maps::{block, compiled};

    const AT: DVec3 = DVec3::new(0.0, 0.0, 60.0);

    fn floor() -> Arc<obsp::Map> {
        compiled(&block([-512, -512, -16], [512, 512, 0]), [200, 0, 40], "")
    }

    fn slab() -> Arc<[Model]> {
        let slab = Model::cuboid("slab", DVec3::new(32.0, 32.0, 8.0)).unwrap();
        [slab.as_kinematic()].into()
    }

    fn world() -> (World, EntityId) {
        let mut world = World::new(floor(), slab(), Config::default()).unwrap();
        let model = world.model("slab").unwrap();
        let id = world.spawn_body(model, AT, DQuat::IDENTITY).unwrap();
        (world, id)
    }

    fn height(world: &World, id: EntityId) -> f64 {
        world.entity(id).unwrap().position.z - AT.z
    }

    #[test]
    fn a_body_waits_goes_and_rests_at_its_goal() {
        let (mut world, id) = world();
        // Ten ticks of 2 units, and one of the rest.
        let by = LinearMove { goal: AT + DVec3::Z * 21.0, speed: 120.0, delay: 5 };
        world.move_linear(id, by).unwrap();
        let mut way = Vec::new();
        for _ in 0..20 {
            world.step(&[]);
            way.push((height(&world, id), world.entity(id).unwrap().asleep));
        }
        assert_eq!(way[..5].iter().filter(|(z, _)| *z == 0.0).count(), 5, "{way:?}");
        for (tick, (z, asleep)) in way[5..15].iter().enumerate() {
            assert!((z - 2.0 * (tick + 1) as f64).abs() < 1e-9 && !asleep, "{way:?}");
        }
        for (z, asleep) in &way[15..] {
            assert!((z - 21.0).abs() < 1e-9 && *asleep, "{way:?}");
        }
        assert_eq!(world.linear_move(id), None);
    }

    #[test]
    fn a_velocity_ends_the_move_and_a_body_at_its_goal_stays() {
        let (mut world, id) = world();
        let up = LinearMove { goal: AT + DVec3::Z * 30.0, speed: 60.0, delay: 0 };
        world.move_linear(id, up).unwrap();
        world.step(&[]);
        assert_eq!(height(&world, id), 1.0);
        world.set_velocity(id, DVec3::ZERO, DVec3::ZERO).unwrap();
        world.step(&[]);
        assert_eq!((height(&world, id), world.linear_move(id)), (1.0, None));
        world.move_linear(id, LinearMove { goal: AT + DVec3::Z, ..up }).unwrap();
        assert_eq!(world.linear_move(id), None, "it is there");
        assert!(world.entity(id).unwrap().asleep);
    }

    #[test]
    fn a_saved_match_goes_on_with_its_moves() {
        let (mut world, id) = world();
        let by = LinearMove { goal: AT + DVec3::Z * 30.0, speed: 60.0, delay: 3 };
        world.move_linear(id, by).unwrap();
        let other = LinearMove { delay: 4, ..by };
        let digest = world.digest();
        world.move_linear(id, other).unwrap();
        assert_ne!(world.digest(), digest, "the delay is part of the digest");
        world.step(&[]);
        assert_eq!(world.linear_move(id), Some(by));
        let mut loaded = World::load(Arc::clone(world.map()), slab(), &world.save()).unwrap();
        assert_eq!(loaded.linear_move(id), Some(by));
        for _ in 0..40 {
            world.step(&[]);
            loaded.step(&[]);
            assert_eq!(loaded.digest(), world.digest());
        }
        assert!((height(&loaded, id) - 30.0).abs() < 1e-9);
    }

    #[test]
    fn odd_moves_are_refused() {
        let (mut world, id) = world();
        let by = LinearMove { goal: AT, speed: 60.0, delay: 0 };
        let odd = [
            (LinearMove { speed: 0.0, ..by }, PlaceError::NotFinite),
            (LinearMove { speed: -1.0, ..by }, PlaceError::NotFinite),
            (LinearMove { speed: f64::NAN, ..by }, PlaceError::NotFinite),
            (LinearMove { goal: DVec3::NAN, ..by }, PlaceError::NotFinite),
            (LinearMove { goal: DVec3::X * 1e30, ..by }, PlaceError::NoRoom),
        ];
        for (odd, error) in odd {
            assert_eq!(world.move_linear(id, odd), Err(error), "{odd:?}");
        }
        let player = world.join().unwrap();
        assert_eq!(world.move_linear(player, by), Err(PlaceError::NoSuchEntity));
        let fast = LinearMove { goal: AT + DVec3::X, speed: 1e12, delay: u32::MAX };
        world.move_linear(id, fast).unwrap();
        assert_eq!(world.linear_move(id).unwrap().speed, MAX_SPEED);
    }
}
