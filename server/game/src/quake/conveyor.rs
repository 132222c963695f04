//! Conveyors (`func_conveyor`, as in Half-Life): they stand still, and their surfaces carry what
//! stands on them.

use glam::{DQuat, DVec3};
use obsp::MapEntity;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::put;
use crate::world_mut::WorldMut;

/// Units per second of a conveyor without the key `speed`.
const SPEED: f64 = 100.0;

/// The maximum units per second, because players are no faster.
const MOST_SPEED: f64 = 2000.0;

/// The flag of a conveyor that stands still at the start.
const STARTS_OFF: u32 = 1;

/// The flag of a conveyor that is a picture.
const NOT_SOLID: u32 = 2;

/// A conveyor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Conveyor {
    pub(super) body: EntityId,
    /// The velocity of its surface when it runs, in units per second.
    velocity: DVec3,
    runs: bool,
}

impl Conveyor {
    /// `None` if the entity has no model in the match.
    pub(super) fn spawn(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let (drawn, flags) = (world.model_of(entity)?, keys::flags(entity));
        let speed = keys::number(entity, "speed").unwrap_or(SPEED);
        let velocity = keys::direction(entity) * speed.clamp(-MOST_SPEED, MOST_SPEED);
        let pose = (drawn.place, DQuat::IDENTITY);
        let body = match flags & NOT_SOLID {
            0 => put(world, drawn.model, pose, keys::bounds(entity))?,
            _ => world.spawn_intangible(drawn.model, pose.0, pose.1).ok()?,
        };
        let conveyor = Self { body, velocity, runs: flags & STARTS_OFF == 0 };
        conveyor.drive(world);
        Some(conveyor)
    }

    /// Starts it, or stops it.
    pub(super) fn set_off(&mut self, world: &mut WorldMut<'_>) {
        self.runs = !self.runs;
        self.drive(world);
    }

    fn drive(&self, world: &mut WorldMut<'_>) {
        let velocity = if self.runs { self.velocity } else { DVec3::ZERO };
        // A picture carries nobody.
        let _ = world.set_surface_velocity(self.body, velocity);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::DVec3;
    use obsp_sim::{Command, EntityId};

    use super::super::tests::{AllFamilies, Hall, RATE, brush, drawn};
    use crate::any_game::AnyGame;
    use crate::running::RunningMatch;

    const CLASS: (&str, &str) = ("classname", "func_conveyor");

    /// A belt of 600 × 128 × 16 units on the floor.
    fn belt(keys: &[(&str, &str)]) -> String {
        drawn(
            &[&[CLASS, ("targetname", "belt")], keys].concat(),
            &brush([-300, -64, 0], [300, 64, 16]),
        )
    }

    fn crate_at(origin: &str) -> String {
        drawn(&[("classname", "prop"), ("model", "crate"), ("origin", origin)], "")
    }

    /// How far an entity goes in a second.
    fn way(hall: &mut Hall, id: EntityId) -> DVec3 {
        let before = hall.at(id);
        hall.run(RATE);
        hall.at(id) - before
    }

    fn near(way: DVec3, law: DVec3) {
        assert!(way.distance(law) < 0.02, "{way} for {law}");
    }

    #[test]
    fn it_carries_players_and_crates_at_its_speed_and_is_switched() {
        let mut hall =
            Hall::new(&(belt(&[("angle", "180"), ("speed", "40")]) + &crate_at("200 30 34")));
        let belt = hall.movers()[0];
        let load =
            hall.game.world.bodies().iter().copied().find(|id| *id != belt).expect("it fell");
        let player = hall.player([100.0, 0.0, 16.0]);
        hall.run(RATE);
        let law = DVec3::X * -40.0;
        for id in [player, load] {
            near(way(&mut hall, id), law);
        }
        hall.set_off("belt");
        hall.run(RATE);
        for id in [player, load] {
            near(way(&mut hall, id), DVec3::ZERO);
        }
        assert!(
            hall.game.world.entity(load).expect("there").asleep,
            "it sleeps on a belt that is off"
        );
        hall.set_off("belt");
        hall.run(RATE / 2);
        for id in [player, load] {
            near(way(&mut hall, id), law);
        }
        assert_eq!(hall.lowest(0), DVec3::new(-300.0, -64.0, 0.0), "the belt stands still");
    }

    #[test]
    fn its_flags_and_speeds_are_read() {
        let still = DVec3::ZERO;
        for (keys, velocity) in [
            (&[("spawnflags", "1")][..], still),
            (&[("angle", "90")], DVec3::Y * 100.0),
            (&[("speed", "-25")], DVec3::X * -25.0),
            (&[("speed", "1999")], DVec3::X * 1999.0),
            (&[("speed", "2001")], DVec3::X * 2000.0),
            (&[("speed", "-1e30")], DVec3::X * -2000.0),
            (&[("speed", "nan")], DVec3::X * 100.0),
            (&[("angle", "-1"), ("speed", "5")], DVec3::Z * 5.0),
        ] {
            let hall = Hall::new(&belt(keys));
            let seen = hall.game.world.entity(hall.movers()[0]).expect("there");
            assert!(seen.velocity.distance(velocity) < 1e-4, "{keys:?}: {}", seen.velocity);
            assert!(seen.asleep);
        }
    }

    #[test]
    fn one_that_is_not_solid_carries_nobody() {
        let mut hall = Hall::new(&belt(&[("spawnflags", "2")]));
        let player = hall.player([0.0, 0.0, 0.0]);
        hall.run(RATE);
        near(way(&mut hall, player), DVec3::ZERO);
        assert!(hall.game.world.bounds_of(hall.movers()[0]).is_none());
        hall.set_off("belt");
        hall.run(1);
    }

    /// A player walks about between two belts that run into each other, with crates, for a minute.
    #[test]
    fn a_match_with_belts_is_clean_and_is_saved() {
        let across = drawn(
            &[CLASS, ("angle", "90"), ("speed", "150")],
            &brush([300, -200, 0], [428, 200, 16]),
        );
        let loads = ["-200 0 34", "-150 10 34", "-150 10 70", "360 -100 34"].map(crate_at).concat();
        let walls = [
            ([-512, -512, -16], [512, 512, 0]),
            ([-528, -528, 0], [-512, 528, 200]),
            ([512, -528, 0], [528, 528, 200]),
            ([-528, -528, 0], [528, -512, 200]),
            ([-528, 512, 0], [528, 528, 200]),
        ];
        let walls = walls.map(|(min, max)| brush(min, max)).concat();
        let entities = belt(&[("speed", "80")]) + &across + &loads;
        let mut hall = Hall::with(&walls, &entities);
        let player = hall.player([-250.0, 0.0, 16.0]);
        for round in 0..60_u32 {
            let walk = Command { forward: 90, yaw: (round * 9_000) as u16, ..Command::default() };
            if round % 7 == 3 {
                hall.set_off("belt");
            }
            hall.play(RATE, &[(player, walk)]);
        }
        let map = Arc::clone(hall.game.world().map());
        let mut again =
            AllFamilies.load_match(map, &hall.game.save()).expect("the save can be loaded");
        for _ in 0..2 * RATE {
            hall.run(1);
            again.step(&[]);
            assert_eq!(again.digest(), hall.game.digest());
        }
    }
}
