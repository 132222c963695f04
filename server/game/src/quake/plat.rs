//! Lifts (`func_plat`): drawn where they are raised. They wait below, rise when a player steps on
//! them, and go down after a while. A targeted lift waits above until it is set off.

use glam::DVec3;
use obsp::MapEntity;
use obsp::geometry::Aabb;
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::{Mover, Progress};
use super::targets::{Calls, Wires};
use crate::world_mut::WorldMut;

/// Quake's numbers: units per second, units, seconds and points of health.
const SPEED: f64 = 150.0;
const LIP: f64 = 8.0;
const WAIT: f64 = 3.0;
const DAMAGE: i16 = 1;

/// The flag of a lift whose field is only 8 units high.
const LOW_FIELD: u32 = 1;

/// The field is this much smaller than the lift at each side, in units, and this much higher.
const MARGIN: f64 = 25.0;
const ABOVE: f64 = 8.0;

/// Seconds for which a raised lift stays after a player was last on it.
const LEAVES: f64 = 1.0;

/// A lift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Plat {
    pub(super) mover: Mover,
    high: DVec3,
    low: DVec3,
    state: State,
    wait: Option<u32>,
    damage: i16,
    /// The place in which a player sets it off.
    field: Aabb,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    /// It waits above until it is set off.
    Targeted,
    Low,
    Rising,
    High,
    Sinking,
}

impl Plat {
    pub(super) fn spawn(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let drawn = keys::bounds(entity);
        let drop = keys::number(entity, "height").unwrap_or(drawn.max.z - drawn.min.z - LIP);
        let low = DVec3::NEG_Z * drop;
        let lowered = Aabb { min: drawn.min + low, max: drawn.max + low };
        let targeted = Wires::is_targeted(entity);
        let start = if targeted { DVec3::ZERO } else { low };
        let speed = keys::positive(entity, "speed", SPEED);
        let place = world.model_of(entity)?.place;
        let mover = Mover::spawn(world, entity, start, drawn.union(lowered), speed)?;
        let mut plat = Self {
            mover,
            high: place,
            low: place + low,
            state: if targeted { State::Targeted } else { State::Low },
            wait: keys::ticks(world, entity, "wait", WAIT),
            damage: keys::damage(entity, "dmg", DAMAGE),
            field: field(&drawn, drop, keys::flags(entity) & LOW_FIELD != 0),
        };
        if !targeted {
            plat.mover.arm(world, plat.field, plat.high, 0);
        }
        Some(plat)
    }

    /// Moves the lift.
    pub(super) fn tick(&mut self, world: &mut WorldMut<'_>, calls: &mut Calls) {
        if self.mover.was_set_off(world) {
            match self.state {
                State::Low | State::Sinking => self.rises(world),
                // It goes down once nobody has been on it for a while.
                State::Rising | State::High | State::Targeted => {
                    self.state = State::High;
                    self.arm_above(world);
                }
            }
            return;
        }
        match self.mover.step(world) {
            Progress::Arrived if self.state == State::Rising => {
                self.state = State::High;
                if let Some(wait) = self.wait {
                    self.mover.go_after(world, self.low, wait.max(1));
                }
            }
            Progress::Arrived => self.state = State::Low,
            Progress::Starts if self.state == State::High => self.sinks(world),
            Progress::Blocked => {
                self.mover.hurt(world, self.damage, "func_plat", calls);
                match self.state {
                    State::Rising => self.sink(world),
                    _ => self.rise(world),
                }
            }
            Progress::Rests | Progress::Waits | Progress::Starts | Progress::Moves => {}
        }
    }

    /// Lets a lift that is above go down, and one that is below rise.
    pub(super) fn set_off(&mut self, world: &mut WorldMut<'_>) {
        match self.state {
            State::Targeted | State::High => self.sink(world),
            State::Low => self.rise(world),
            State::Rising | State::Sinking => {}
        }
    }

    fn rise(&mut self, world: &mut WorldMut<'_>) {
        self.mover.go(world, self.high);
        self.rises(world);
    }

    fn sink(&mut self, world: &mut WorldMut<'_>) {
        self.mover.go(world, self.low);
        self.sinks(world);
    }

    fn rises(&mut self, world: &mut WorldMut<'_>) {
        self.state = State::Rising;
        self.arm_above(world);
    }

    fn sinks(&mut self, world: &mut WorldMut<'_>) {
        self.state = State::Sinking;
        self.mover.arm(world, self.field, self.high, 0);
    }

    /// Lets it stay above while a player is in its field, unless it stays for ever.
    fn arm_above(&mut self, world: &mut WorldMut<'_>) {
        match self.wait {
            Some(_) => {
                let leaves = keys::ticks_of(world, LEAVES).max(1);
                self.mover.arm(world, self.field, self.low, leaves);
            }
            None => self.mover.disarm(world),
        }
    }
}

/// The place in which a player sets a lift off, by Quake's `plat_spawn_inside_trigger`.
fn field(drawn: &Aabb, drop: f64, is_low: bool) -> Aabb {
    let margin = DVec3::new(MARGIN, MARGIN, 0.0);
    let mut field = Aabb { min: drawn.min + margin, max: drawn.max - margin };
    field.max.z += ABOVE;
    field.min.z = field.max.z - (drop + ABOVE);
    if is_low {
        field.max.z = field.min.z + ABOVE;
    }
    let middle = drawn.centre();
    for axis in 0..2 {
        if drawn.max[axis] - drawn.min[axis] <= 2.0 * MARGIN {
            (field.min[axis], field.max[axis]) = (middle[axis], middle[axis] + 1.0);
        }
    }
    field
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Hall, RATE, brush, drawn};
    use super::*;

    /// A lift of 128 × 128 × 200 units, of which 192 are below the floor while it is down.
    fn lift(keys: &[(&str, &str)]) -> Hall {
        let floor = [
            brush([-512, -512, -16], [-64, 512, 0]),
            brush([64, -512, -16], [512, 512, 0]),
            brush([-64, -512, -16], [64, -64, 0]),
            brush([-64, 64, -16], [64, 512, 0]),
        ];
        let pairs = [&[("classname", "func_plat")], keys].concat();
        Hall::with(&floor.concat(), &drawn(&pairs, &brush([-64, -64, 0], [64, 64, 200])))
    }

    #[test]
    fn a_lift_rises_with_who_steps_on_it_and_goes_down_after_its_wait() {
        let mut hall = lift(&[("wait", "2")]);
        assert_eq!(hall.lowest(0).z, -192.0, "it waits below");
        let player = hall.player([10.0, 20.0, 8.0]);
        let start = hall.at(player);
        // 192 units at 150 a second, after the tick in which the player is seen.
        assert_eq!(hall.ticks_until(0, [-64.0, -64.0, 0.0]), 77 + 1);
        hall.run(10 * RATE);
        assert_eq!(hall.lowest(0).z, 0.0, "it stays while somebody is on it");
        let moved = hall.at(player) - start;
        assert_eq!([moved.x, moved.y], [0.0, 0.0], "who stands still is carried straight up");
        assert!((moved.z - 192.0).abs() < 0.25, "{moved}");
        let off = hall.at(player) + DVec3::X * 128.0 - DVec3::Z * 200.0;
        hall.game.world.teleport(player, off, Default::default()).expect("there is room");
        hall.run(RATE + 5);
        let low = hall.ticks_until(0, [-64.0, -64.0, -192.0]);
        assert!((72..78).contains(&low), "{low}");
    }

    #[test]
    fn a_lift_with_a_name_waits_above_until_it_is_set_off() {
        let mut hall = lift(&[("targetname", "lift"), ("height", "100")]);
        hall.player([0.0, 0.0, 200.0]);
        hall.run(5 * RATE);
        assert_eq!(hall.lowest(0).z, 0.0);
        hall.set_off("lift");
        assert_eq!(hall.ticks_until(0, [-64.0, -64.0, -100.0]), 40);
    }

    #[test]
    fn a_lift_turns_back_from_a_player_below_it() {
        let mut hall = lift(&[("targetname", "lift"), ("dmg", "3")]);
        hall.set_off("lift");
        hall.run(2 * RATE);
        assert_eq!(hall.lowest(0).z, -192.0);
        // In another hall, a lift comes down on a player.
        let keys = [("classname", "func_plat"), ("targetname", "press"), ("height", "200")];
        let press = drawn(&keys, &brush([-64, -64, 100], [64, 64, 132]));
        let mut hall = Hall::new(&press);
        hall.player([0.0, 0.0, 0.0]);
        hall.set_off("press");
        hall.run(2 * RATE);
        assert!(!hall.game.state().hurts.is_empty());
        assert_eq!(hall.lowest(0).z, 100.0, "it is above again");
    }
}
