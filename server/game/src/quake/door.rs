//! Doors (`func_door`): they slide out of the way and come back. Doors that touch each other open as
//! one group, whose first door is the leader.

use glam::DVec3;
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::lock::Lock;
use super::motion::{Mover, Progress};
use super::targets::Calls;
use super::{Class, Entity, keys};
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// Quake's numbers: units per second, units, seconds and points of health.
const SPEED: f64 = 100.0;
const LIP: f64 = 8.0;
const WAIT: f64 = 3.0;
const DAMAGE: i16 = 2;

/// Flags of a door.
const START_OPEN: u32 = 1;
const DONT_LINK: u32 = 4;
const TOGGLE: u32 = 32;

/// A group of doors opens for a player this near to the box around it, in units.
const FIELD: DVec3 = DVec3::new(60.0, 60.0, 8.0);

/// Boxes that are at most this far apart, in units, touch: in Quake, each is a unit larger.
const TOUCH: f64 = 2.0;

/// Seconds until a player in the field opens the doors again.
const FIELD_WAIT: f64 = 1.0;

/// The leader of a door that is in no group yet.
const ALONE: u32 = u32::MAX;

/// A door.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Door {
    pub(super) mover: Mover,
    shut: DVec3,
    open: DVec3,
    state: State,
    /// Ticks for which it stays open; `None` if it stays open for ever.
    wait: Option<u32>,
    toggles: bool,
    damage: i16,
    /// Points of health of a door that is shot; zero for others.
    health: i32,
    /// The index of the first door of its group.
    pub(super) leader: u32,
    /// The group of a leader.
    group: Vec<u32>,
    field: Option<VolumeId>,
    /// Ticks until the field acts again.
    field_wait: u32,
    /// The points of health that a shot has yet to take.
    health_left: i32,
    links: bool,
    /// The box where the door is drawn, by which Quake groups doors even if they are drawn open.
    drawn: Aabb,
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
    pub(super) fn spawn(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let (drawn, flags) = (keys::bounds(entity), keys::flags(entity));
        let lip = keys::number(entity, "lip").unwrap_or(LIP);
        let travel = keys::travel(&drawn, keys::direction(entity), lip);
        let moved = |by: DVec3| Aabb { min: drawn.min + by, max: drawn.max + by };
        let (shut, open) =
            if flags & START_OPEN == 0 { (DVec3::ZERO, travel) } else { (travel, DVec3::ZERO) };
        let pocket = drawn.union(moved(travel));
        let speed = keys::positive(entity, "speed", SPEED);
        let place = world.model_of(entity)?.place;
        let mover = Mover::spawn(world, entity, shut, pocket, speed)?;
        let health = keys::health(entity);
        let lock = Lock::of(entity);
        let wait = keys::ticks(world, entity, "wait", WAIT);
        Some(Self {
            mover,
            shut: place + shut,
            open: place + open,
            state: State::Shut,
            // A door with a lock stays open, as in Quake.
            wait: wait.filter(|_| !lock.is_locked()),
            toggles: flags & TOGGLE != 0,
            damage: keys::damage(entity, "dmg", DAMAGE),
            health,
            leader: ALONE,
            group: Vec::new(),
            field: None,
            field_wait: 0,
            health_left: health,
            links: flags & DONT_LINK == 0,
            drawn,
            lock,
        })
    }

    /// Moves the door. Returns by whom it is set off, if somebody is in the field of its group.
    pub(super) fn tick(
        &mut self,
        at: usize,
        world: &mut WorldMut<'_>,
        calls: &mut Calls,
    ) -> Option<Option<EntityId>> {
        match self.mover.step(world) {
            Progress::Arrived if self.state == State::Opening => {
                self.state = State::Open;
                self.wait(world);
            }
            Progress::Arrived => self.state = State::Shut,
            Progress::Starts if self.state == State::Open => {
                self.health_left = self.health;
                self.state = State::Shutting;
            }
            Progress::Blocked => {
                self.mover.hurt(world, self.damage, "func_door", calls);
                // A door that never shuts again would stay ajar, so it presses on.
                if self.wait.is_some() {
                    match self.state {
                        State::Shutting => self.open(at, None, world, calls),
                        _ => self.shut(world),
                    }
                }
            }
            Progress::Rests | Progress::Waits | Progress::Starts | Progress::Moves => {}
        }
        self.field_wait = self.field_wait.saturating_sub(1);
        let field = self.field.filter(|_| self.field_wait == 0)?;
        let player =
            world.inside(field).iter().copied().find(|id| world.player_kind(*id).is_some());
        self.field_wait = player.map_or(0, |_| keys::ticks_of(world, FIELD_WAIT));
        player.map(Some)
    }

    fn open(
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
                self.mover.go(world, self.open);
                calls.fire(at, by);
            }
        }
    }

    /// Lets an open door shut after its wait, which begins now.
    fn wait(&mut self, world: &mut WorldMut<'_>) {
        if let Some(wait) = self.wait.filter(|_| !self.toggles) {
            self.mover.go_after(world, self.shut, wait.max(1));
        }
    }

    fn shut(&mut self, world: &mut WorldMut<'_>) {
        self.health_left = self.health;
        self.state = State::Shutting;
        self.mover.go(world, self.shut);
    }
}

/// Joins the doors of a map to groups.
pub(super) fn link(list: &mut [Entity], world: &mut WorldMut<'_>) {
    for at in 0..list.len() {
        if door_mut(list, at).is_none_or(|door| door.leader != ALONE) {
            continue;
        }
        let group = group(list, at);
        let doors = || group.iter().filter_map(|&at| door(list, at as usize));
        let field = doors().fold(Aabb::EMPTY, |all, door| all.union(door.drawn));
        let field = Aabb { min: field.min - FIELD, max: field.max + FIELD };
        let health = doors().map(|door| door.health).max().unwrap_or(0);
        let lock = doors().fold(Lock::default(), |lock, door| lock.joined(&door.lock));
        let named = |&&at: &&u32| !list[at as usize].wires.targetname.is_empty();
        let name = group.iter().find(named).map(|&at| list[at as usize].wires.targetname.clone());
        let has_field = health == 0 && name.is_none() && !lock.is_locked();
        let field = if has_field { world.add_volume(&field) } else { None };
        for &member in &group {
            if let Some(door) = door_mut(list, member as usize) {
                door.leader = at as u32;
            }
        }
        if let Some(leader) = door_mut(list, at) {
            (leader.field, leader.health, leader.health_left) = (field, health, health);
            (leader.group, leader.lock) = (group, lock);
        }
        if let Some(name) = name {
            list[at].wires.targetname = name;
        }
    }
}

/// The door at `at` and all later ones that touch it, or touch one that does.
fn group(list: &[Entity], at: usize) -> Vec<u32> {
    let mut group = vec![at as u32];
    if !door(list, at).is_some_and(|door| door.links) {
        return group;
    }
    let mut next = 0;
    while let Some(own) = group.get(next).and_then(|&at| door(list, at as usize)) {
        let reach = own.drawn.inflated(TOUCH);
        for other in at + 1..list.len() {
            let Some(found) = door(list, other).filter(|found| found.links) else { continue };
            let other = other as u32;
            if !group.contains(&other) && found.drawn.overlaps(&reach) {
                group.push(other);
            }
        }
        next += 1;
    }
    group.sort_unstable();
    group
}

/// Opens the group of a leader, or shuts it if its doors toggle and are open.
pub(super) fn open(
    list: &mut [Entity],
    leader: usize,
    by: Option<EntityId>,
    world: &mut WorldMut<'_>,
    calls: &mut Calls,
) {
    let Some(first) = door(list, leader) else { return };
    let shuts = first.toggles && matches!(first.state, State::Open | State::Opening);
    let group = first.group.clone();
    if let Some(first) = door_mut(list, leader) {
        first.lock = Lock::default();
    }
    for at in group {
        if let Some(door) = door_mut(list, at as usize) {
            match shuts {
                true => door.shut(world),
                false => door.open(at as usize, by, world, calls),
            }
        }
    }
}

/// Takes a door out of its group. If it was the leader, the next door leads the group by the same
/// name, field, health and lock.
pub(super) fn leave(list: &mut [Entity], at: usize) {
    let Some(own) = door(list, at) else { return };
    let leader = own.leader as usize;
    let Some(first) = door(list, leader).cloned() else { return };
    let group: Vec<u32> = first.group.iter().copied().filter(|it| *it != at as u32).collect();
    if leader != at {
        if let Some(door) = door_mut(list, leader) {
            door.group = group;
        }
        return;
    }
    let Some(&heir) = group.first() else { return };
    for &member in &group {
        if let Some(door) = door_mut(list, member as usize) {
            door.leader = heir;
        }
    }
    let name = std::mem::take(&mut list[at].wires.targetname);
    if let Some(door) = door_mut(list, heir as usize) {
        (door.field, door.field_wait) = (first.field, first.field_wait);
        (door.health, door.health_left) = (first.health, first.health_left);
        (door.group, door.lock) = (group, first.lock);
        list[heir as usize].wires.targetname = name;
    }
}

/// Takes health from the group of a leader. Returns whether that opens it.
pub(super) fn damage(list: &mut [Entity], leader: usize, points: i32) -> bool {
    let Some(door) = door_mut(list, leader).filter(|door| door.health > 0) else { return false };
    if !matches!(door.state, State::Shut | State::Shutting) {
        return false;
    }
    door.health_left = door.health_left.saturating_sub(points);
    let breaks = door.health_left <= 0;
    if breaks {
        door.health_left = door.health;
    }
    breaks
}

pub(super) fn door(list: &[Entity], at: usize) -> Option<&Door> {
    match &list.get(at)?.class {
        Class::Door(door) => Some(door),
        _ => None,
    }
}

pub(super) fn door_mut(list: &mut [Entity], at: usize) -> Option<&mut Door> {
    match &mut list.get_mut(at)?.class {
        Class::Door(door) => Some(door),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use obsp_sim::Command;

    use super::super::tests::{Hall, RATE, brush, drawn};
    use super::*;

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
            assert!(hall.lowest(0).y < -250.0, "the player is at this half");
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
        assert_eq!(hall.lowest(0), DVec3::ZERO, "it stays for ever");
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

    /// Two halves of a gate, of which the second has a name, and some more keys.
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
