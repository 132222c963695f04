//! Walls that come and go (`func_togglewall`), and walls that break (`func_breakable`).
//!
//! A wall may always go, because nobody is ever inside of it. It comes back once its place is free.

use glam::{DQuat, DVec3};
use obsp::MapEntity;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::put;
use crate::world_mut::WorldMut;

/// Points of health of a `func_breakable` without the key.
const HEALTH: f64 = 20.0;

/// The flag of a `func_togglewall` that is away at the start.
const START_OFF: u32 = 1;

/// The flag of a `func_breakable` that breaks only when it is set off.
const NOT_SHOT: u32 = 1;

/// A wall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Wall {
    body: EntityId,
    place: DVec3,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Toggles {
        /// Whether the wall is in the world, and whether it is meant to be.
        there: bool,
        wanted: bool,
    },
    Breaks {
        /// The points of health that shots have yet to take; `None` for a wall that is not shot.
        left: Option<i32>,
    },
}

impl Wall {
    pub(super) fn spawn(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let (drawn, flags) = (world.model_of(entity)?, keys::flags(entity));
        let pose = (drawn.place, DQuat::IDENTITY);
        let body = put(world, drawn.model, pose, keys::bounds(entity))?;
        let kind = match entity.classname() {
            "func_togglewall" => Kind::Toggles { there: true, wanted: flags & START_OFF == 0 },
            _ => {
                let health = keys::positive(entity, "health", HEALTH).min(1e6) as i32;
                Kind::Breaks { left: (flags & NOT_SHOT == 0).then_some(health) }
            }
        };
        let mut wall = Self { body, place: drawn.place, kind };
        wall.tick(world);
        Some(wall)
    }

    pub(super) fn body(&self) -> EntityId {
        self.body
    }

    /// Lets the wall go, or come back if its place is free.
    pub(super) fn tick(&mut self, world: &mut WorldMut<'_>) {
        let Kind::Toggles { there, wanted } = &mut self.kind else { return };
        if *there == *wanted {
            return;
        }
        // The body stays in the match, so it can always come back unless its place is taken.
        let changes = match *wanted {
            true => world.place(self.body, self.place, DQuat::IDENTITY),
            false => world.make_intangible(self.body),
        };
        if changes.is_ok() {
            *there = *wanted;
            let _ = world.set_visible(self.body, *there);
        }
    }

    /// Sets the wall off. Returns whether it breaks, and fires its targets.
    pub(super) fn set_off(&mut self) -> bool {
        match &mut self.kind {
            Kind::Toggles { wanted, .. } => {
                *wanted = !*wanted;
                false
            }
            Kind::Breaks { .. } => true,
        }
    }

    /// Takes health. Returns whether that breaks the wall.
    pub(super) fn damage(&mut self, points: i32) -> bool {
        let Kind::Breaks { left: Some(left) } = &mut self.kind else { return false };
        *left = left.saturating_sub(points);
        *left <= 0
    }
}

#[cfg(test)]
mod tests {
    use obsp_sim::Command;

    use super::super::tests::{Hall, RATE, brush, drawn};

    fn wall(class: &str, keys: &[(&str, &str)]) -> String {
        let pairs = [&[("classname", class)], keys].concat();
        drawn(&pairs, &brush([0, -64, 0], [16, 64, 128]))
    }

    #[test]
    fn a_wall_that_toggles_goes_at_once_and_comes_back_when_nobody_is_there() {
        let mut hall = Hall::new(&wall("func_togglewall", &[("targetname", "wall")]));
        let player = hall.player([-60.0, 0.0, 0.0]);
        let walk = Command { forward: 127, ..Command::default() };
        hall.play(RATE, &[(player, walk)]);
        assert!(hall.at(player).x < -15.9, "the wall is there");
        hall.set_off("wall");
        while hall.at(player).x < 0.0 {
            hall.play(1, &[(player, walk)]);
        }
        hall.set_off("wall");
        let wall = hall.movers()[0];
        let is_there = |hall: &Hall| hall.game.world.bounds_of(wall).is_some();
        let mut waited = 0;
        while hall.at(player).x < 32.0 {
            assert!(!is_there(&hall), "the player is in its place");
            hall.play(1, &[(player, walk)]);
            waited += 1;
        }
        assert!(waited > 1);
        hall.play(2, &[(player, walk)]);
        assert!(is_there(&hall), "the player has left it");
    }

    #[test]
    fn a_wall_may_be_away_at_the_start() {
        let keys = [("targetname", "wall"), ("spawnflags", "1")];
        let mut hall = Hall::new(&wall("func_togglewall", &keys));
        let player = hall.player([8.0, 0.0, 0.0]);
        hall.set_off("wall");
        hall.run(RATE);
        assert!(hall.game.world.bounds_of(hall.movers()[0]).is_none());
        let away = glam::DVec3::new(-100.0, 0.0, 28.1);
        hall.game.world.teleport(player, away, Default::default()).expect("there is room");
        hall.run(2);
        assert!(hall.game.world.bounds_of(hall.movers()[0]).is_some());
    }

    #[test]
    fn a_wall_breaks_after_its_health_and_fires_its_targets() {
        let keys = [("health", "30"), ("target", "gate"), ("targetname", "wall")];
        let gate = drawn(
            &[("classname", "func_door"), ("targetname", "gate"), ("angle", "-1")],
            &brush([200, -32, 0], [216, 32, 128]),
        );
        for shot in [true, false] {
            let mut hall = Hall::new(&(gate.clone() + &wall("func_breakable", &keys)));
            let player = hall.player([-100.0, 0.0, 0.0]);
            let wall = hall.movers()[1];
            if shot {
                hall.game.act(|_, state, _| state.map.damaged(wall, 29, player));
                hall.run(5);
                assert_eq!(hall.movers().len(), 2, "it has a point left");
                hall.game.act(|_, state, _| state.map.damaged(wall, 1, player));
            } else {
                hall.set_off("wall");
            }
            hall.run(5);
            assert_eq!(hall.movers().len(), 1);
            assert_eq!(hall.game.world.bodies().len(), 1);
            assert!(hall.lowest(0).z > 0.0, "the gate opens");
        }
        let mut hall = Hall::new(&wall("func_breakable", &[("spawnflags", "1")]));
        let (player, wall) = (hall.player([-100.0, 0.0, 0.0]), hall.movers()[0]);
        hall.game.act(|_, state, _| state.map.damaged(wall, 1000, player));
        hall.run(5);
        assert_eq!(hall.movers().len(), 1, "this one is not shot");
    }
}
