//! Armed moves of kinematic bodies: each begins once a player is in its zone.

use glam::DQuat;
use obsp::geometry::Aabb;

use super::World;
use crate::bodies::armed_move::ArmedMove;
use crate::bodies::entities::Entity;
use crate::bodies::linear_move::LinearMove;
use crate::collision::cascade::box_at;
use crate::collision::pose::Pose;
use crate::place_error::PlaceError;
use crate::state::EntityId;

/// A client is told of an armed move whose zone is this near to its player, in units. A runner at
/// 320 units per second needs half a second for this distance, which is longer than the lag.
const TOLD: f64 = 160.0;

impl World {
    /// Arms a linear move: a kinematic body begins it when a player is in the zone at the end of a
    /// tick. The body must rest, or wait for the start of another move. While it is on its way, the
    /// armed move waits. The move begins once: [`World::armed_move`] is `None` then, and
    /// [`World::linear_move`] is the move.
    ///
    /// The clients of players near the zone know the armed move. So a client predicts the start
    /// that its own player causes, in the same tick as on the server, and shows riders where they
    /// are.
    ///
    /// The zone stays where it is when the body moves. Its corners are rounded to `f32`. The new
    /// move replaces an earlier armed move of the body.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// use obsp::geometry::Aabb;
    /// use obsp_sim::{ArmedMove, LinearMove};
    /// # use obsp_sim::{Config, World};
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// let slab = obsp::model::Model::cuboid("slab", DVec3::new(32.0, 32.0, 8.0))?.as_kinematic();
    /// # let mut world = World::new(map, [slab].into(), Config::default())?;
    /// let model = world.model("slab").expect("a model of the match");
    /// let at = DVec3::new(-400.0, -260.0, 100.0);
    /// let lift = world.spawn_body(model, at, DQuat::IDENTITY)?;
    /// let by = LinearMove { goal: at + DVec3::Z * 64.0, speed: 64.0, delay: 0 };
    /// let zone = Aabb::from_centre(at + DVec3::Z * 40.0, DVec3::splat(24.0));
    /// world.arm_linear_move(lift, ArmedMove { zone, by })?;
    /// world.step(&[]);
    /// assert!(world.linear_move(lift).is_none(), "nobody is there");
    ///
    /// let player = world.join()?;
    /// world.teleport(player, at + DVec3::Z * 60.0, DQuat::IDENTITY)?;
    /// world.step(&[]);
    /// assert_eq!((world.linear_move(lift), world.armed_move(lift)), (Some(by), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError`] as for [`World::move_linear`]. [`PlaceError::NotFinite`] also for a number of
    /// the zone, and [`PlaceError::NoRoom`] if the zone is beyond the extent of worlds. Nothing
    /// changes then.
    pub fn arm_linear_move(
        &mut self,
        id: EntityId,
        ArmedMove { zone, by }: ArmedMove,
    ) -> Result<(), PlaceError> {
        let by = self.checked_move(id, by)?;
        let corners = [zone.min, zone.max].map(|corner| corner.as_vec3().as_dvec3());
        if corners.iter().any(|corner| !corner.is_finite()) {
            return Err(PlaceError::NotFinite);
        }
        if corners.iter().any(|corner| Pose::known(*corner, DQuat::IDENTITY).is_none()) {
            return Err(PlaceError::NoRoom);
        }
        let zone = Aabb { min: corners[0], max: corners[1] };
        self.disarm_linear_move(id);
        let at = self.armed.partition_point(|(other, _)| other.slot < id.slot);
        self.armed.insert(at, (id, ArmedMove { zone, by }));
        Ok(())
    }

    /// Cancels the armed move of a body, if it has one.
    pub fn disarm_linear_move(&mut self, id: EntityId) {
        // The armed move of a body that has left the match may have the same slot.
        self.armed.retain(|(other, _)| other.slot != id.slot);
    }

    /// The move that a kinematic body begins when a player is in a zone.
    pub fn armed_move(&self, id: EntityId) -> Option<ArmedMove> {
        self.armed.iter().find(|(other, _)| *other == id).map(|(_, armed)| *armed)
    }

    /// Begins the armed moves that are due after the motion of a tick.
    pub(super) fn begin_armed_moves(&mut self) {
        if self.armed.is_empty() {
            return;
        }
        let (entities, shapes) = (&self.entities, &self.arena.shapes);
        self.armed.retain(|(id, _)| entities.find(*id).is_some());
        let players: Vec<&Entity> =
            entities.active().filter(|entity| entity.player().is_some()).collect();
        let rests = |id: &EntityId| {
            let body = entities.find(*id).filter(|body| body.placement().is_some());
            body.is_some_and(|body| !LinearMove::is_under_way(body.linear_move(), body.velocity))
        };
        let is_met = |armed: &ArmedMove| {
            players.iter().any(|player| {
                let pose = player.placement().map(|placement| placement.pose());
                pose.is_some_and(|pose| armed.is_met_by(&shapes[player.shape], pose))
            })
        };
        let is_due = |(id, armed): &(EntityId, ArmedMove)| is_met(armed) && rests(id);
        let (due, later) = self.armed.iter().copied().partition(is_due);
        self.armed = later;
        let due: Vec<(EntityId, ArmedMove)> = due;
        for (id, armed) in due {
            self.set_linear_move(id, Some(armed.by));
            self.follow_linear_move(id);
        }
    }

    /// The bodies with armed moves whose zones are near a player on foot, the nearest first.
    pub(super) fn armed_near(&self, player: EntityId) -> Vec<EntityId> {
        let player = self.entities.find(player).filter(|_| !self.armed.is_empty());
        let Some((shape, placement)) = player.and_then(|it| Some((it.shape, it.placement()?)))
        else {
            return Vec::new();
        };
        let own = box_at(&self.arena.shapes[shape].bounds, placement.pose());
        let gap = |zone: &Aabb| (zone.min - own.max).max(own.min - zone.max).max_element();
        let gaps = self.armed.iter().map(|(id, armed)| (gap(&armed.zone), *id));
        let mut near: Vec<(f64, EntityId)> = gaps.filter(|(gap, _)| *gap <= TOLD).collect();
        near.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        near.into_iter().map(|(_, id)| id).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DQuat, DVec3};
    use obsp::model::Model;

    use super::*;
    use crate::setup::Config;
    use crate::test_maps::{block, compiled};

    /// The place of the lift, whose top is 8 units higher.
    const AT: DVec3 = DVec3::new(0.0, 0.0, 60.0);
    const UP: LinearMove = LinearMove { goal: DVec3::new(0.0, 0.0, 90.0), speed: 60.0, delay: 0 };
    const ARMED: ArmedMove = ArmedMove {
        zone: Aabb { min: DVec3::new(-9.0, -9.0, 68.0), max: DVec3::new(9.0, 9.0, 76.0) },
        by: UP,
    };

    /// A match with a lift, and with a player who stands far from it.
    fn world() -> (World, EntityId, EntityId) {
        let map = compiled(&block([-512, -512, -16], [512, 512, 0]), [200, 0, 40], "");
        let lift = Model::cuboid("slab", DVec3::new(64.0, 64.0, 8.0)).unwrap().as_kinematic();
        let mut world = World::new(map, [lift].into(), Config::default()).unwrap();
        let model = world.model("slab").unwrap();
        let id = world.spawn_body(model, AT, DQuat::IDENTITY).unwrap();
        let player = world.join().unwrap();
        (world, id, player)
    }

    fn put(world: &mut World, player: EntityId, at: DVec3) {
        world.teleport(player, at, DQuat::IDENTITY).unwrap();
    }

    fn height(world: &World, id: EntityId) -> f64 {
        world.entity(id).unwrap().position.z - AT.z
    }

    #[test]
    fn a_body_begins_its_move_once_when_a_player_is_in_the_zone() {
        let (mut world, id, player) = world();
        world.arm_linear_move(id, ARMED).unwrap();
        put(&mut world, player, DVec3::new(40.0, 0.0, 98.0));
        for _ in 0..20 {
            world.step(&[]);
        }
        assert_eq!(world.armed_move(id), Some(ARMED), "the player stands beside the zone");
        put(&mut world, player, DVec3::new(0.0, 0.0, 98.0));
        world.step(&[]);
        assert_eq!((world.linear_move(id), world.armed_move(id)), (Some(UP), None));
        assert_eq!(height(&world, id), 0.0, "it moves from the next tick on");
        world.step(&[]);
        assert_eq!(height(&world, id), 1.0);
        for _ in 0..40 {
            world.step(&[]);
        }
        assert_eq!((height(&world, id), world.linear_move(id)), (30.0, None), "it began once");
    }

    #[test]
    fn a_body_on_its_way_begins_when_it_is_there_and_one_that_waits_begins_at_once() {
        let (mut world, id, player) = world();
        put(&mut world, player, DVec3::new(0.0, 0.0, 98.0));
        let down = LinearMove { goal: AT, delay: 7, ..UP };
        // The zone is as high as the way.
        let zone = Aabb { max: ARMED.zone.max + DVec3::Z * 90.0, ..ARMED.zone };
        world.move_linear(id, UP).unwrap();
        world.arm_linear_move(id, ArmedMove { zone, by: down }).unwrap();
        for tick in 0..30 {
            assert!(world.armed_move(id).is_some(), "tick {tick}");
            world.step(&[]);
        }
        assert_eq!((height(&world, id), world.armed_move(id)), (30.0, None));
        assert_eq!(world.linear_move(id), Some(down));
        for _ in 0..6 {
            world.step(&[]);
        }
        assert_eq!(world.linear_move(id), Some(LinearMove { delay: 1, ..down }));
        let later = ArmedMove { zone, by: LinearMove { delay: 20, ..down } };
        world.arm_linear_move(id, later).unwrap();
        world.step(&[]);
        // The delay of the first move was over in this tick.
        assert_eq!((height(&world, id), world.armed_move(id)), (30.0, Some(later)));
        world.disarm_linear_move(id);
        world.move_linear(id, LinearMove { delay: 2, ..down }).unwrap();
        world.arm_linear_move(id, later).unwrap();
        world.step(&[]);
        assert_eq!(world.linear_move(id), Some(later.by), "it waits anew");
    }

    #[test]
    fn a_saved_match_has_its_armed_moves() {
        let (mut world, id, player) = world();
        let digest = world.digest();
        world.arm_linear_move(id, ARMED).unwrap();
        assert_ne!(world.digest(), digest, "it is part of the digest");
        let map = Arc::clone(world.map());
        let models = [Model::cuboid("slab", DVec3::new(64.0, 64.0, 8.0)).unwrap().as_kinematic()];
        let mut loaded = World::load(map, models.into(), &world.save()).unwrap();
        for tick in 0..60 {
            if tick == 20 {
                for world in [&mut world, &mut loaded] {
                    put(world, player, DVec3::new(0.0, 0.0, 98.0));
                }
            }
            assert_eq!(loaded.digest(), world.digest(), "tick {tick}");
            world.step(&[]);
            loaded.step(&[]);
        }
        assert_eq!((height(&loaded, id), loaded.armed_move(id)), (30.0, None));
        world.arm_linear_move(id, ARMED).unwrap();
        world.remove(id).unwrap();
        world.step(&[]);
        assert_eq!(world.armed_move(id), None);
    }

    #[test]
    fn a_client_is_told_of_armed_moves_near_its_player() {
        let (mut world, id, player) = world();
        world.arm_linear_move(id, ARMED).unwrap();
        let mut told = |far: f64| {
            let half = world.agent_half_extents(crate::state::Posture::Standing).x;
            put(&mut world, player, DVec3::new(9.0 + half + far, 0.0, 40.0));
            let bodies: Vec<_> = world.touched_by(player).collect();
            assert!(bodies.iter().all(|body| body.armed == Some(ARMED) && body.state.id == id));
            bodies.len()
        };
        assert_eq!([TOLD - 1.0, TOLD + 1.0].map(&mut told), [1, 0]);
    }

    #[test]
    fn odd_armed_moves_are_refused() {
        let (mut world, id, player) = world();
        let zone = |min| Aabb { min, ..ARMED.zone };
        let odd = [
            (ArmedMove { zone: zone(DVec3::NAN), ..ARMED }, PlaceError::NotFinite),
            (ArmedMove { zone: zone(DVec3::splat(1e300)), ..ARMED }, PlaceError::NotFinite),
            (ArmedMove { zone: zone(DVec3::X * 1e9), ..ARMED }, PlaceError::NoRoom),
            (ArmedMove { by: LinearMove { speed: 0.0, ..UP }, ..ARMED }, PlaceError::NotFinite),
        ];
        for (odd, error) in odd {
            assert_eq!(world.arm_linear_move(id, odd), Err(error), "{odd:?}");
        }
        assert_eq!(world.arm_linear_move(player, ARMED), Err(PlaceError::NoSuchEntity));
        assert_eq!(world.armed_move(id), None);
    }
}
