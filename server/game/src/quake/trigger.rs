//! Triggers: volumes and points that set off other entities (`trigger_multiple`, `trigger_once`,
//! `trigger_secret`, `trigger_relay`, `trigger_counter`).

use glam::DVec3;
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::keys;
use super::targets::Calls;
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// Quake's numbers: seconds, and number of calls.
const WAIT: f64 = 0.2;
const COUNT: f64 = 2.0;

/// The flag of a trigger that nobody sets off by touching it, and of a counter that says nothing.
const NO_TOUCH: u32 = 1;
const NO_MESSAGE: u32 = 1;

/// A trigger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Trigger {
    pub(super) volume: Option<VolumeId>,
    /// The box around the brushes of a trigger with `health`.
    shootable: Option<Aabb>,
    kind: Kind,
    /// Ticks until it acts again; `None` if it never does.
    left: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    /// It fires when it is touched, shot or set off.
    Multiple {
        /// Ticks until it fires again; `None` if it fires once.
        wait: Option<u32>,
        /// A player has to look this way.
        facing: Option<DVec3>,
        health: i32,
        health_left: i32,
        touched: bool,
    },
    Relay,
    Counter {
        left: u32,
        speaks: bool,
    },
}

impl Trigger {
    pub(super) fn new(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let flags = keys::flags(entity);
        let multiple = |wait| {
            let turned = entity.get("angles").or(entity.get("angle"));
            let turned = turned.is_some_and(|it| it.contains(|c| ('1'..='9').contains(&c)));
            let health = keys::health(entity);
            Kind::Multiple {
                wait,
                facing: turned.then(|| keys::direction(entity)),
                health,
                health_left: health,
                touched: health == 0 && flags & NO_TOUCH == 0,
            }
        };
        let kind = match entity.classname() {
            "trigger_multiple" => multiple(keys::ticks(world, entity, "wait", WAIT)),
            "trigger_once" | "trigger_secret" => multiple(None),
            "trigger_relay" => Kind::Relay,
            "trigger_counter" => Kind::Counter {
                left: keys::positive(entity, "count", COUNT).min(1e6) as u32,
                speaks: flags & NO_MESSAGE == 0,
            },
            _ => return None,
        };
        let is_touched = matches!(&kind, Kind::Multiple { touched: true, .. });
        let is_shot = matches!(&kind, Kind::Multiple { health: 1.., .. });
        Some(Self {
            volume: if is_touched { world.add_brush_volume(entity) } else { None },
            shootable: is_shot.then(|| keys::bounds(entity)).filter(|bounds| !bounds.is_empty()),
            kind,
            left: Some(0),
        })
    }

    /// Returns by whom the trigger is set off. `entered` are the entities that have come into
    /// volumes since the last tick, some of which may be out again.
    pub(super) fn tick(
        &mut self,
        world: &mut WorldMut<'_>,
        entered: &[(VolumeId, EntityId)],
    ) -> Option<Option<EntityId>> {
        let left = self.left.as_mut()?;
        *left = left.saturating_sub(1);
        let volume = self.volume.filter(|_| *left == 0)?;
        let is_player = |id: &EntityId| world.player_kind(*id).is_some();
        let inside = || world.inside(volume).iter().copied().filter(is_player);
        match &self.kind {
            Kind::Multiple { facing, .. } => {
                let passed = entered.iter().filter(|(own, _)| *own == volume).map(|(_, id)| *id);
                let looks = |id: &EntityId| {
                    let ahead = world.entity(*id).map(|entity| entity.orientation * DVec3::X);
                    facing.is_none_or(|way| ahead.is_some_and(|ahead| ahead.dot(way) >= 0.0))
                };
                inside().chain(passed.filter(is_player)).find(looks).map(Some)
            }
            Kind::Relay | Kind::Counter { .. } => None,
        }
    }

    /// Sets the trigger off. Returns whether it fires its targets.
    pub(super) fn set_off(&mut self, by: Option<EntityId>, calls: &mut Calls) -> bool {
        let Some(left) = self.left else { return false };
        match &mut self.kind {
            Kind::Relay => true,
            Kind::Multiple { wait, health, health_left, .. } => {
                *health_left = *health;
                let fires = left == 0;
                if fires {
                    self.left = *wait;
                }
                fires
            }
            Kind::Counter { left, speaks } => {
                *left = left.saturating_sub(1);
                let line = match *left {
                    0 => "Sequence completed!".to_owned(),
                    1 => "Only 1 more to go...".to_owned(),
                    more => format!("Only {more} more to go..."),
                };
                if *speaks {
                    calls.show(by, line);
                }
                let done = *left == 0;
                if done {
                    self.left = None;
                }
                done
            }
        }
    }

    /// Takes health. Returns whether that sets the trigger off.
    pub(super) fn damage(&mut self, points: i32) -> bool {
        match &mut self.kind {
            Kind::Multiple { health: 1.., health_left, .. } if self.left == Some(0) => {
                *health_left = health_left.saturating_sub(points);
                *health_left <= 0
            }
            _ => false,
        }
    }

    /// The box of a trigger that shots set off.
    pub(super) fn shootable(&self) -> Option<Aabb> {
        self.shootable.filter(|_| self.left.is_some())
    }

    /// Whether a ray from one point to another meets the box of a trigger that shots set off.
    pub(super) fn is_met_by(&self, from: DVec3, to: DVec3) -> bool {
        let Some(bounds) = self.shootable() else { return false };
        let way = to - from;
        let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
        for axis in 0..3 {
            if way[axis] == 0.0 {
                if from[axis] < bounds.min[axis] || from[axis] > bounds.max[axis] {
                    return false;
                }
                continue;
            }
            let ends = [bounds.min, bounds.max].map(|end| (end[axis] - from[axis]) / way[axis]);
            enters = enters.max(ends[0].min(ends[1]));
            leaves = leaves.min(ends[0].max(ends[1]));
        }
        enters <= leaves
    }
}

#[cfg(test)]
mod tests {
    use obsp_sim::Command;

    use super::super::tests::{Hall, RATE, brush, drawn};
    use super::*;

    /// A trigger about the middle of the hall.
    fn trigger(keys: &[(&str, &str)]) -> String {
        drawn(keys, &brush([-32, -32, 0], [32, 32, 64]))
    }

    fn gate(name: &str) -> String {
        let keys = [
            ("classname", "func_door"),
            ("targetname", name),
            ("angle", "-1"),
            ("wait", "0.1"),
            ("lip", "118"),
            ("speed", "1000"),
        ];
        drawn(&keys, &brush([200, -32, 0], [216, 32, 128]))
    }

    /// How many times the gate opens in a number of ticks.
    fn openings(hall: &mut Hall, ticks: u32) -> u32 {
        let (mut count, mut was_shut) = (0, true);
        for _ in 0..ticks {
            hall.run(1);
            let is_shut = hall.lowest(0).z < 1e-6;
            count += u32::from(was_shut && !is_shut);
            was_shut = is_shut;
        }
        count
    }

    #[test]
    fn a_trigger_fires_again_after_its_wait_or_once() {
        let multiple = trigger(&[
            ("classname", "trigger_multiple"),
            ("target", "gate"),
            ("wait", "2"),
            ("message", "open"),
        ]);
        let mut hall = Hall::new(&(gate("gate") + &multiple));
        hall.player([0.0; 3]);
        assert_eq!(openings(&mut hall, 5 * RATE), 3);
        assert_eq!(hall.game.state().lines, ["open"; 3]);
        let once = trigger(&[("classname", "trigger_once"), ("target", "gate"), ("delay", "1")]);
        let mut hall = Hall::new(&(gate("gate") + &once));
        hall.player([0.0; 3]);
        assert_eq!(openings(&mut hall, RATE), 0, "it is delayed");
        assert_eq!(openings(&mut hall, 5 * RATE), 1);
    }

    #[test]
    fn a_trigger_with_an_angle_wants_players_who_look_that_way() {
        let keys = [("classname", "trigger_multiple"), ("target", "gate"), ("angle", "90")];
        let mut hall = Hall::new(&(gate("gate") + &trigger(&keys)));
        let player = hall.player([0.0; 3]);
        let look = |yaw| Command { yaw, ..Command::default() };
        hall.play(RATE, &[(player, look(49_152))]);
        assert_eq!(hall.lowest(0).z, 0.0);
        hall.play(4, &[(player, look(16_384))]);
        assert!(hall.lowest(0).z > 0.0);
    }

    #[test]
    fn a_counter_fires_at_the_last_of_its_calls_through_relays() {
        let relay = drawn(
            &[("classname", "trigger_relay"), ("targetname", "relay"), ("target", "count")],
            "",
        );
        let counter = drawn(
            &[
                ("classname", "trigger_counter"),
                ("targetname", "count"),
                ("target", "gate"),
                ("count", "3"),
            ],
            "",
        );
        let mut hall = Hall::new(&(gate("gate") + &relay + &counter));
        for opens in [0, 0, 1, 0] {
            hall.set_off("relay");
            assert_eq!(openings(&mut hall, RATE), opens);
        }
    }

    #[test]
    fn relays_that_set_each_other_off_end_the_tick() {
        let relay = |name, target| {
            let keys = [("classname", "trigger_relay"), ("targetname", name), ("target", target)];
            drawn(&keys, "")
        };
        let mut hall = Hall::new(&(relay("a", "b") + &relay("b", "a")));
        hall.set_off("a");
        hall.run(2);
        assert_eq!(hall.game.state().map.pending.len(), 1, "the rest fires in the next tick");
        // Each of these sets all of them off.
        let mut hall = Hall::new(&relay("a", "a").repeat(200));
        hall.set_off("a");
        hall.run(2);
        let pending = hall.game.state().map.pending.len();
        assert!((1..=4096).contains(&pending), "{pending} wait");
    }

    #[test]
    fn a_kill_target_removes_what_it_names() {
        let keys = [("classname", "trigger_once"), ("killtarget", "gate"), ("target", "other")];
        let mut hall = Hall::new(&(gate("gate") + &gate("other") + &trigger(&keys)));
        hall.player([0.0; 3]);
        hall.run(5);
        assert_eq!(hall.movers().len(), 1);
        assert_eq!(hall.lowest(0).z, 0.0, "it sets nothing off");
        assert_eq!(hall.game.world.bodies().len(), 1);
    }

    #[test]
    fn a_secret_tells_its_finder_once() {
        for (keys, line) in
            [(vec![], "You found a secret area!"), (vec![("message", "A cave")], "A cave")]
        {
            let keys = [&[("classname", "trigger_secret")], &keys[..]].concat();
            let mut hall = Hall::new(&trigger(&keys));
            let player = hall.player([0.0; 3]);
            hall.run(2 * RATE);
            assert_eq!(hall.told(), [(Some(player), line.to_owned())]);
        }
    }

    #[test]
    fn a_trigger_with_health_is_shot_and_not_touched() {
        let keys = [("classname", "trigger_multiple"), ("health", "1"), ("target", "gate")];
        let mut hall = Hall::new(&(gate("gate") + &trigger(&keys)));
        let player = hall.player([0.0; 3]);
        assert_eq!(openings(&mut hall, RATE), 0);
        for (to, opens) in [(DVec3::new(-100.0, 90.0, 32.0), 0), (DVec3::new(100.0, 1.0, 32.0), 1)]
        {
            let ray = [DVec3::new(-100.0, 0.0, 32.0), to];
            hall.game.act(|_, state, _| state.map.ray(ray, 5, player));
            assert_eq!(openings(&mut hall, RATE), opens, "to {to}");
        }
        hall.game.act(|_, state, world| {
            state.map.blast(world, DVec3::new(60.0, 0.0, 32.0), 50.0, 30.0, player);
        });
        assert_eq!(openings(&mut hall, RATE), 1);
    }
}
