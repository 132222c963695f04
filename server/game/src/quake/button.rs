//! Buttons (`func_button`): pressed by a player who touches them, shot, or set off. They fire their
//! targets when they are all the way in.

use glam::DVec3;
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::{Mover, Progress};
use super::targets::Calls;
use super::touch::toucher;
use crate::world_mut::WorldMut;

/// Quake's numbers: units per second, units and seconds.
const SPEED: f64 = 40.0;
const LIP: f64 = 4.0;
const WAIT: f64 = 1.0;

/// A button.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Button {
    pub(super) mover: Mover,
    out: DVec3,
    pressed: DVec3,
    state: State,
    wait: Option<u32>,
    health: i32,
    health_left: i32,
    /// The player who pressed it.
    by: Option<EntityId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Out,
    GoingIn,
    In,
    ComingOut,
}

impl Button {
    pub(super) fn spawn(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let drawn = keys::bounds(entity);
        let lip = keys::number(entity, "lip").unwrap_or(LIP);
        let travel = keys::travel(&drawn, keys::direction(entity), lip);
        let pressed = Aabb { min: drawn.min + travel, max: drawn.max + travel };
        let speed = keys::positive(entity, "speed", SPEED);
        let place = world.model_of(entity)?.place;
        let mover = Mover::spawn(world, entity, DVec3::ZERO, drawn.union(pressed), speed)?;
        let health = keys::health(entity);
        Some(Self {
            mover,
            out: place,
            pressed: place + travel,
            state: State::Out,
            wait: keys::ticks(world, entity, "wait", WAIT),
            health,
            health_left: health,
            by: None,
        })
    }

    /// Moves the button. Returns by whom it is pressed.
    pub(super) fn tick(
        &mut self,
        at: usize,
        world: &mut WorldMut<'_>,
        calls: &mut Calls,
    ) -> Option<Option<EntityId>> {
        match self.mover.step(world) {
            Progress::Arrived if self.state == State::GoingIn => {
                self.state = State::In;
                calls.fire(at, self.by);
                if let Some(wait) = self.wait {
                    self.mover.go_after(world, self.out, wait.max(1));
                }
            }
            Progress::Arrived => {
                self.state = State::Out;
                self.health_left = self.health;
            }
            Progress::Starts if self.state == State::In => self.state = State::ComingOut,
            _ => {}
        }
        let waits = self.health == 0 && matches!(self.state, State::Out | State::ComingOut);
        if waits { toucher(world, self.mover.body).map(Some) } else { None }
    }

    /// Presses the button.
    pub(super) fn press(&mut self, world: &mut WorldMut<'_>, by: Option<EntityId>) {
        if matches!(self.state, State::Out | State::ComingOut) {
            (self.state, self.by) = (State::GoingIn, by);
            self.mover.go(world, self.pressed);
        }
    }

    /// Takes health. Returns whether that presses the button.
    pub(super) fn damage(&mut self, points: i32) -> bool {
        if self.health == 0 || self.state != State::Out {
            return false;
        }
        self.health_left = self.health_left.saturating_sub(points);
        self.health_left <= 0
    }
}

#[cfg(test)]
mod tests {
    use obsp_sim::Command;

    use super::super::tests::{Hall, RATE, brush, drawn};

    /// A button in front of which a player stands, and a door that it opens.
    fn hall(keys: &[(&str, &str)]) -> Hall {
        let pairs =
            [&[("classname", "func_button"), ("angle", "0"), ("target", "gate")], keys].concat();
        let button = drawn(&pairs, &brush([0, -32, 16], [16, 32, 48]));
        let keys = [("classname", "func_door"), ("targetname", "gate"), ("angle", "-1")];
        Hall::new(&(button + &drawn(&keys, &brush([200, -32, 0], [216, 32, 128]))))
    }

    #[test]
    fn a_button_is_pressed_by_touch_and_fires_when_it_is_in() {
        let mut hall = hall(&[("speed", "60"), ("wait", "3")]);
        let player = hall.player([-60.0, 0.0, 0.0]);
        hall.run(RATE);
        assert_eq!(hall.lowest(0).x, 0.0);
        let walk = Command { forward: 127, ..Command::default() };
        while hall.lowest(0).x == 0.0 {
            assert!(hall.at(player).x < -15.0, "the player cannot pass it");
            hall.play(1, &[(player, walk)]);
        }
        assert_eq!(hall.lowest(1).z, 0.0, "it fires only when it is in");
        // 16 − 4 units at 60 a second, one tick of which has passed.
        assert_eq!(hall.ticks_until(0, [12.0, -32.0, 16.0]), 11);
        hall.run(RATE);
        assert!(hall.lowest(1).z > 90.0);
        hall.run(2 * RATE + 20);
        assert_eq!(hall.lowest(0).x, 0.0, "it comes out again");
    }

    #[test]
    fn a_button_with_health_is_shot_and_not_touched() {
        let mut hall = hall(&[("health", "10"), ("wait", "-1")]);
        let player = hall.player([-60.0, 0.0, 0.0]);
        let walk = Command { forward: 127, ..Command::default() };
        hall.play(RATE, &[(player, walk)]);
        assert_eq!(hall.lowest(0).x, 0.0);
        let button = hall.movers()[0];
        hall.game.act(|_, state, _| state.map.damaged(button, 10, player));
        hall.run(10 * RATE);
        assert_eq!(hall.lowest(0).x, 12.0, "it stays in");
        assert!(hall.game.state().hurts.is_empty());
    }
}
