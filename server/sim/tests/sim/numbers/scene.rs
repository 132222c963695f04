//! The match in which each function is called.

use glam::{DQuat, DVec3};
use obsp_sim::{EntityId, MissileMotion, PlayerKind, World};

use super::{CONFIG, map, models};

/// A match with one of everything.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) player: EntityId,
    pub(crate) tank: EntityId,
    /// A crate.
    pub(crate) body: EntityId,
    pub(crate) driven: EntityId,
    pub(crate) missile: EntityId,
    /// A player outside of the world.
    pub(crate) waiting: EntityId,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let mut world = World::new(map(), models(), CONFIG).expect("the room can be played");
        let player = world.join().expect("there is room");
        let spawn = |world: &mut World, model: &str, at: [f64; 3]| {
            let model = world.model(model).expect("the match has the model");
            world.spawn_body(model, at.into(), DQuat::IDENTITY).expect("there is room")
        };
        let tank = world.add_player_at(PlayerKind::Hovertank, DVec3::new(0.0, 300.0, 60.0), 0);
        let body = spawn(&mut world, "crate", [200.0, -100.0, 17.0]);
        spawn(&mut world, "barrel", [200.0, -100.0, 60.0]);
        let driven = spawn(&mut world, "driven", [-200.0, -200.0, 60.0]);
        let rocket = world.model("rocket").expect("a shipped model");
        let (at, speed) = (DVec3::new(-300.0, 200.0, 300.0), DVec3::new(100.0, 0.0, 0.0));
        let missile = world.spawn_missile(rocket, MissileMotion::Straight, at, speed);
        let waiting = world.add_player(PlayerKind::Box).expect("there is room");
        world.take_out(waiting).expect_err("the body is outside the world already");
        let (tank, missile) = (tank.expect("there is room"), missile.expect("there is room"));
        Self { world, player, tank, body, driven, missile, waiting }
    }

    pub(crate) fn all(&self) -> [EntityId; 6] {
        [self.player, self.tank, self.body, self.driven, self.missile, self.waiting]
    }
}
