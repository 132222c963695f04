//! Doors (`func_door` and `func_door_rotating`): their leaves open and come back.

use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::leaf::Leaf;
use super::lock::Lock;
use super::motion::Progress;
use super::rotation::Rotated;
use super::targets::Calls;
use super::{keys, touch};
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// Quake's numbers: seconds and points of health.
const WAIT: f64 = 3.0;
const DAMAGE: i16 = 2;

/// Flags of a door.
const DONT_LINK: u32 = 4;
const TOGGLE: u32 = 32;

/// Seconds until a player in the field opens the doors again.
const FIELD_WAIT: f64 = 1.0;

/// A door.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Door {
    leaf: Leaf,
    state: State,
    /// Ticks for which it stays open; `None` if it stays open for ever.
    wait: Option<u32>,
    /// Whether it turns back where something has no room.
    turns_back: bool,
    pub(super) toggles: bool,
    damage: i16,
    /// Points of health of a door that is shot; zero for all other doors.
    pub(super) health: i32,
    /// The index of the first door of its group.
    pub(super) leader: u32,
    /// The indices of the group's doors; empty for a door that is not the leader.
    pub(super) group: Vec<u32>,
    pub(super) field: Option<VolumeId>,
    /// The box of the group's field. Every door of the group keeps it.
    pub(super) zone: Option<Aabb>,
    /// Ticks until the field acts again.
    pub(super) field_wait: u32,
    /// The points of health that a shot has yet to take.
    pub(super) health_left: i32,
    pub(super) links: bool,
    /// Whether it opens for players who come near, unless it has a name, health or a lock.
    pub(super) has_field: bool,
    /// The box where the door is drawn, by which Quake groups doors even if they are drawn open.
    pub(super) drawn: Aabb,
    pub(super) lock: Lock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Shut,
    Opening,
    Open,
    Shutting,
}

impl Door {
    /// The leader of a door that is in no group yet.
    pub(super) const ALONE: u32 = u32::MAX;

    /// A `func_door` or a `func_door_rotating`.
    pub(super) fn spawn(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let leaf = match entity.classname() {
            "func_door" => Leaf::sliding(world, entity)?,
            _ => Leaf::turning(world, entity)?,
        };
        let flags = keys::flags(entity);
        let (health, lock) = (keys::health(entity), Lock::of(entity));
        // A door with a lock stays open, as in Quake.
        let wait = keys::ticks(world, entity, "wait", WAIT).filter(|_| !lock.is_locked());
        Some(Self {
            wait,
            // A door that never shuts again would stay ajar, so it presses on.
            turns_back: wait.is_some(),
            toggles: flags & TOGGLE != 0,
            health,
            health_left: health,
            links: flags & DONT_LINK == 0,
            has_field: true,
            lock,
            ..Self::new(leaf, entity, keys::damage(entity, "dmg", DAMAGE))
        })
    }

    /// A `rotate_object` that is part of a `func_rotate_door`: it goes from end to end whenever it
    /// is set off.
    pub(super) fn of_object(
        world: &mut WorldMut<'_>,
        entity: &MapEntity,
        rotated: &Rotated<'_>,
    ) -> Option<Self> {
        let leaf = Leaf::of_object(world, entity, rotated)?;
        let damage = keys::damage(rotated.by, "dmg", DAMAGE);
        Some(Self { turns_back: true, toggles: true, ..Self::new(leaf, entity, damage) })
    }

    fn new(leaf: Leaf, entity: &MapEntity, damage: i16) -> Self {
        Self {
            leaf,
            state: State::Shut,
            wait: None,
            turns_back: false,
            toggles: false,
            damage,
            health: 0,
            health_left: 0,
            leader: Self::ALONE,
            group: Vec::new(),
            field: None,
            zone: None,
            field_wait: 0,
            links: false,
            has_field: false,
            drawn: keys::bounds(entity),
            lock: Lock::default(),
        }
    }

    pub(super) fn body(&self) -> EntityId {
        self.leaf.body()
    }

    /// Whether the door is open or opens.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open | State::Opening)
    }

    /// Moves the door. Returns by whom it is set off, if somebody is in the field of its group.
    pub(super) fn tick(
        &mut self,
        at: usize,
        world: &mut WorldMut<'_>,
        calls: &mut Calls,
    ) -> Option<Option<EntityId>> {
        // A door that its zone has set off opens with its group, below.
        let set_off = self.leaf.was_set_off(world);
        let progress = if set_off { Progress::Starts } else { self.leaf.step(world) };
        match progress {
            Progress::Arrived if self.state == State::Opening => {
                self.state = State::Open;
                self.wait(world);
            }
            Progress::Arrived => self.state = State::Shut,
            Progress::Starts if self.state == State::Open => {
                self.health_left = self.health;
                self.state = State::Shutting;
                self.arm(world);
            }
            Progress::Blocked => {
                touch::hurt(world, self.body(), self.damage, "func_door", calls);
                if self.turns_back {
                    match self.state {
                        State::Shutting => self.open(at, None, world, calls),
                        _ => self.shut(world),
                    }
                }
            }
            Progress::Rests | Progress::Waits | Progress::Starts | Progress::Moves => {}
        }
        self.field_wait = self.field_wait.saturating_sub(1);
        let field = self.field.filter(|_| self.field_wait == 0 || set_off)?;
        let player =
            world.inside(field).iter().copied().find(|id| world.player_kind(*id).is_some());
        let opens = set_off || player.is_some();
        self.field_wait = if opens { keys::ticks_of(world, FIELD_WAIT) } else { 0 };
        opens.then_some(player)
    }

    pub(super) fn open(
        &mut self,
        at: usize,
        by: Option<EntityId>,
        world: &mut WorldMut<'_>,
        calls: &mut Calls,
    ) {
        match self.state {
            State::Opening => {}
            State::Open => self.wait(world),
            State::Shut | State::Shutting => {
                self.state = State::Opening;
                self.leaf.disarm(world);
                self.leaf.open(world);
                calls.fire(at, by);
            }
        }
    }

    /// Lets an open door shut after its wait, which begins now.
    fn wait(&mut self, world: &mut WorldMut<'_>) {
        if let Some(wait) = self.wait.filter(|_| !self.toggles) {
            self.leaf.shut_after(world, wait.max(1));
        }
    }

    pub(super) fn shut(&mut self, world: &mut WorldMut<'_>) {
        self.health_left = self.health;
        self.state = State::Shutting;
        self.leaf.shut(world);
        self.arm(world);
    }

    /// Arms a door with a zone: once shut, it opens in the tick in which a player comes into the
    /// zone. A door that toggles is not armed, because it does not open each time.
    pub(super) fn arm(&mut self, world: &mut WorldMut<'_>) {
        if let Some(zone) = self.zone.filter(|_| !self.toggles) {
            self.leaf.arm(world, zone);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use obsp_sim::Command;

    use super::super::tests::{Hall, RATE, brush, drawn};

    /// A door of 64 × 16 × 128 units, beside the middle of the hall.
    fn a_door(keys: &[(&str, &str)]) -> String {
        let pairs = [&[("classname", "func_door")], keys].concat();
        drawn(&pairs, &brush([0, 0, 0], [16, 64, 128]))
    }

    #[test]
    fn a_door_opens_by_its_formula_and_shuts_after_its_wait() {
        let mut hall = Hall::new(&a_door(&[("angle", "90"), ("speed", "112"), ("wait", "2")]));
        let player = hall.player([-61.0 - 16.0, 32.0, 0.0]);
        hall.run(30);
        assert_eq!(hall.lowest(0), DVec3::ZERO, "the player is outside of the field");
        let walk = Command { forward: 127, ..Command::default() };
        while hall.lowest(0) == DVec3::ZERO {
            hall.play(1, &[(player, walk)]);
        }
        assert!(hall.at(player).x < -50.0, "the field reaches 60 units: {}", hall.at(player));
        let away = Command { forward: -127, ..Command::default() };
        hall.play(10, &[(player, away)]);
        // 64 − 8 units at 112 a second take half a second. Eleven ticks have passed.
        assert_eq!(hall.ticks_until(0, [0.0, 56.0, 0.0]), RATE / 2 - 11);
        hall.run(2 * RATE);
        assert_eq!(hall.lowest(0).y, 56.0, "it waits two seconds");
        assert_eq!(hall.ticks_until(0, [0.0; 3]), RATE / 2);
        hall.run(RATE);
        assert_eq!(hall.lowest(0), DVec3::ZERO, "the player is gone");
    }

    /// Clients know which door opens when their player comes near.
    #[test]
    fn a_door_that_opens_for_who_comes_near_is_armed_while_it_is_shut() {
        for (keys, is_armed) in [(&[][..], true), (&[("targetname", "gate")], false)] {
            let keys = [&[("angle", "90"), ("wait", "1")], keys].concat();
            let mut hall = Hall::new(&a_door(&keys));
            let armed = |hall: &Hall| hall.game.world.armed_move(hall.movers()[0]).is_some();
            assert_eq!(armed(&hall), is_armed);
            hall.player([-30.0, 32.0, 0.0]);
            hall.run(RATE / 2);
            assert_eq!((hall.lowest(0).y > 0.0, armed(&hall)), (is_armed, false), "{keys:?}");
        }
        let mut hall = Hall::new(&a_door(&[("angle", "90"), ("wait", "1")]));
        let player = hall.player([-30.0, 32.0, 0.0]);
        hall.run(5);
        let away = DVec3::new(-300.0, 0.0, 28.1);
        hall.game.world.teleport(player, away, Default::default()).expect("there is room");
        assert!(hall.ticks_until(0, [0.0; 3]) > RATE);
        assert!(hall.game.world.armed_move(hall.movers()[0]).is_some(), "it is shut again");
    }

    #[test]
    fn doors_that_touch_open_together_unless_they_are_not_linked() {
        let half = |y: i32, angle, flags| {
            let keys = [("classname", "func_door"), ("angle", angle), ("spawnflags", flags)];
            drawn(&keys, &brush([0, y, 0], [16, y + 200, 128]))
        };
        for (flags, opens) in [("0", true), ("4", false)] {
            let doors = [half(-200, "270", "0"), half(0, "90", flags)].concat();
            let mut hall = Hall::new(&doors);
            hall.player([-50.0, -120.0, 0.0]);
            hall.run(RATE);
            assert!(hall.lowest(0).y < -250.0, "the half beside the player does not open");
            assert_eq!(hall.lowest(1).y > 50.0, opens, "spawnflags {flags}");
        }
    }

    #[test]
    fn a_door_that_starts_open_shuts_when_it_is_set_off() {
        let keys = [("angle", "-1"), ("spawnflags", "1"), ("targetname", "gate"), ("wait", "-1")];
        let mut hall = Hall::new(&a_door(&keys));
        hall.player([-30.0, 32.0, 0.0]);
        hall.run(RATE);
        assert_eq!(
            hall.lowest(0).z,
            120.0,
            "it has a name, so that nobody opens it by coming near"
        );
        hall.set_off("gate");
        assert_eq!(hall.ticks_until(0, [0.0; 3]), 72);
        hall.run(10 * RATE);
        assert_eq!(hall.lowest(0), DVec3::ZERO, "a door whose wait is -1 stays shut");
    }

    #[test]
    fn a_door_that_toggles_stays_until_it_is_set_off_again() {
        let keys = [("angle", "90"), ("spawnflags", "32"), ("targetname", "gate"), ("wait", "1")];
        let mut hall = Hall::new(&a_door(&keys));
        hall.set_off("gate");
        hall.run(5 * RATE);
        assert_eq!(hall.lowest(0).y, 56.0);
        hall.set_off("gate");
        hall.run(5 * RATE);
        assert_eq!(hall.lowest(0).y, 0.0);
    }

    #[test]
    fn a_door_with_health_opens_when_it_is_shot() {
        let mut hall = Hall::new(&a_door(&[("angle", "90"), ("health", "50"), ("wait", "1")]));
        let player = hall.player([-30.0, 32.0, 0.0]);
        let shoot = |hall: &mut Hall, points| {
            let door = hall.movers()[0];
            hall.game.act(|_, state, _| state.map.damaged(door, points, player));
            hall.run(1);
        };
        hall.run(RATE);
        shoot(&mut hall, 30);
        hall.run(RATE);
        assert_eq!(hall.lowest(0), DVec3::ZERO, "it has 20 points left");
        shoot(&mut hall, 20);
        hall.run(RATE);
        assert_eq!(hall.lowest(0).y, 56.0);
    }

    /// A door that comes down on a player who cannot get out of the way.
    fn crush(wait: &str) -> Hall {
        let keys = [("angle", "-2"), ("targetname", "gate"), ("wait", wait), ("dmg", "7")];
        let pairs = [&[("classname", "func_door")], &keys[..]].concat();
        let mut hall = Hall::new(&drawn(&pairs, &brush([0, 0, 80], [64, 64, 208])));
        hall.player([32.0, 32.0, 0.0]);
        hall.set_off("gate");
        hall
    }

    #[test]
    fn a_door_turns_back_from_a_player_and_hurts() {
        let mut hall = crush("2");
        hall.run(RATE);
        assert_eq!(hall.lowest(0).z, 80.0, "it has turned back");
        let hurts = &hall.game.state().hurts;
        assert!(matches!(hurts[..], [(_, _, 7)]), "{hurts:?}");
    }

    #[test]
    fn a_door_that_never_shuts_again_presses_on() {
        let mut hall = crush("-1");
        hall.run(RATE);
        let height = hall.lowest(0).z;
        assert!(height > 56.0 && height < 57.0, "it lies on the player's head: {height}");
        assert!(hall.game.state().hurts.len() > 5, "{:?}", hall.game.state().hurts);
    }

    /// Two halves of a gate, each with its keys.
    fn gate(keys: [&[(&str, &str)]; 2]) -> String {
        let half = |y: i32, angle, keys: &[(&str, &str)]| {
            let pairs = [&[("classname", "func_door"), ("angle", angle)], keys].concat();
            drawn(&pairs, &brush([0, y, 0], [16, y + 64, 128]))
        };
        half(-64, "270", keys[0]) + &half(0, "90", keys[1])
    }

    #[test]
    fn a_group_toggles_once_if_several_of_its_doors_have_the_name() {
        let keys = [("targetname", "gate"), ("spawnflags", "32")];
        let mut hall = Hall::new(&gate([&keys, &keys]));
        for opens in [true, false, true] {
            hall.set_off("gate");
            hall.run(RATE);
            let (first, second) = (hall.lowest(0).y, hall.lowest(1).y);
            let expected = if opens { (-120.0, 56.0) } else { (-64.0, 0.0) };
            assert_eq!((first, second), expected);
        }
    }

    #[test]
    fn doors_that_are_drawn_open_are_grouped_as_they_are_drawn() {
        // Drawn side by side, they are shut 112 units apart.
        let open = [("spawnflags", "1"), ("targetname", "gate"), ("wait", "-1")];
        let mut hall = Hall::new(&gate([&open, &open[..1]]));
        hall.run(5);
        assert_eq!((hall.lowest(0).y, hall.lowest(1).y), (-120.0, 56.0), "both are shut");
        hall.set_off("gate");
        hall.run(RATE);
        assert_eq!((hall.lowest(0).y, hall.lowest(1).y), (-64.0, 0.0));
    }

    #[test]
    fn a_group_outlives_its_first_door() {
        let first = [("targetname", "first"), ("wait", "-1")];
        let once = drawn(
            &[("classname", "trigger_relay"), ("targetname", "kill"), ("killtarget", "first")],
            "",
        );
        let mut hall = Hall::new(&(gate([&first, &[("health", "5"), ("wait", "-1")]]) + &once));
        hall.set_off("kill");
        hall.run(1);
        assert_eq!(hall.movers().len(), 1, "the door that has only the name of its group stays");
        let player = hall.player([-300.0, 0.0, 0.0]);
        let second = hall.movers()[0];
        hall.game.act(|_, state, _| state.map.damaged(second, 5, player));
        hall.run(RATE);
        assert_eq!(hall.lowest(0).y, 56.0, "the group's health is that of the rest");
        let mut hall = Hall::new(&(gate([&first, &[]]) + &once));
        hall.set_off("kill");
        hall.set_off("first");
        hall.run(RATE);
        assert_eq!(hall.lowest(0).y, 56.0, "and so is its name");
    }
}
