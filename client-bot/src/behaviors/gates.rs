//! The doors of a map that do not open by themselves, and their switches. A switch is a button or a
//! trigger whose target is the door's name, perhaps by way of relays.

use std::collections::BTreeSet;

use glam::DVec3;
use obsp::geometry::Aabb;
use obsp::{Map, MapEntity};
use obsp_sim::{Buttons, Command};

use super::behavior::heading;
use super::nav_graph::Waypoint;

/// Classes of doors that wait to be set off if they have a name.
const DOORS: [&str; 3] = ["func_door", "func_door_rotating", "func_door_secret"];

/// Classes of entities that a player sets off by touching or shooting them.
const SWITCHES: [&str; 4] = ["func_button", "trigger_multiple", "trigger_once", "trigger_secret"];

/// Classes of entities that set off their target when they are set off.
const RELAYS: [&str; 2] = ["trigger_relay", "trigger_counter"];

/// Maximum number of relays between a switch and its door.
const MAX_RELAYS: u32 = 4;

/// The flag of a door that is drawn open.
const DRAWN_OPEN: u32 = 1;

/// A bot nearer to a door than this, in units, may be held up by it.
const BEFORE: f64 = 48.0;

/// The way between two waypoints is tested at places this many units apart.
const SPACING: f64 = 4.0;

/// Height of the eyes over the middle of a player of the usual size, in units: shots come from
/// there.
const EYES: f64 = 22.0;

/// Waypoints ahead among which a door is looked for.
const AHEAD: usize = 4;

/// A door with a name.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    /// The box around the shut door.
    bounds: Aabb,
    pub(super) switches: Vec<Switch>,
}

/// A button or a trigger that opens a door.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Switch {
    /// The middle of the switch.
    pub(super) middle: DVec3,
    /// Where a player stands to use it: the centre of the crouching box.
    pub(super) from: DVec3,
    /// Whether it is shot, and not touched.
    is_shot: bool,
}

impl Gate {
    /// All doors of a map that have a name and a switch.
    pub(super) fn of(map: &Map) -> Vec<Self> {
        let doors = map.entities().iter().filter(|door| {
            let is_shut = flags(door) & DRAWN_OPEN == 0;
            DOORS.contains(&door.classname()) && is_shut
        });
        let relays = map.entities().iter().filter(|it| RELAYS.contains(&it.classname()));
        let relays: Vec<[&str; 2]> = relays
            .filter_map(|relay| Some([named(relay, "targetname")?, named(relay, "target")?]))
            .collect();
        let gate = |door: &MapEntity| {
            let name = named(door, "targetname")?;
            let names = names_of(&relays, name);
            let switches = map.entities().iter().filter(|switch| {
                SWITCHES.contains(&switch.classname())
                    && named(switch, "target").is_some_and(|target| names.contains(target))
            });
            let switches: Vec<Switch> = switches.filter_map(Switch::new).collect();
            (!switches.is_empty()).then_some(Self { bounds: bounds(door)?, switches })
        };
        doors.filter_map(gate).collect()
    }

    /// Whether the door is in front of a bot that goes along `route`.
    pub(super) fn is_before(&self, here: DVec3, route: &[Waypoint]) -> bool {
        let ahead = &route[..route.len().min(AHEAD)];
        self.bounds.inflated(BEFORE).contains(here) && self.is_crossed(here, ahead)
    }

    /// Whether a way from `here` along `route` leads through the door.
    pub(super) fn is_crossed(&self, here: DVec3, route: &[Waypoint]) -> bool {
        let mut from = here;
        route.iter().any(|waypoint| {
            let way = waypoint.position - from;
            let steps = (way.length() / SPACING).ceil().max(1.0);
            let place = |step: u32| from + way * (f64::from(step) / steps);
            let crosses = (0..=steps as u32).any(|step| self.bounds.contains(place(step)));
            from = waypoint.position;
            crosses
        })
    }
}

impl Switch {
    fn new(entity: &MapEntity) -> Option<Self> {
        let middle = bounds(entity)?.centre();
        let health = entity.get("health").and_then(|health| health.trim().parse::<f64>().ok());
        Some(Self { middle, from: middle, is_shot: health.is_some_and(|health| health > 0.0) })
    }

    /// The command by which a bot at `here` uses the switch. The trigger is released every other
    /// tick, for weapons that fire once a press.
    pub(super) fn command(&self, here: DVec3, tick: u32) -> Command {
        let to = self.middle - here - DVec3::Z * if self.is_shot { EYES } else { 0.0 };
        let yaw = heading(to);
        if !self.is_shot {
            return Command { forward: i8::MAX, yaw, ..Command::default() };
        }
        let up = to.z.atan2(to.truncate().length()) / std::f64::consts::TAU;
        let fires = tick.is_multiple_of(2);
        let buttons = if fires { Buttons::PRIMARY } else { Buttons::default() };
        Command { yaw, pitch: (up * 65_536.0) as i16, buttons, ..Command::default() }
    }
}

/// The targets that set off the door of this name: the door's own name, and the names of relays
/// that lead to it. Each of `relays` has the name of a relay and the name that it sets off.
fn names_of<'a>(relays: &[[&'a str; 2]], door: &'a str) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::from([door]);
    for _ in 0..MAX_RELAYS {
        let leads = relays.iter().filter(|[_, target]| names.contains(target));
        let more: Vec<&str> = leads.map(|[name, _]| *name).collect();
        names.extend(more);
    }
    names
}

/// The value of a key that names something; `None` for an empty one.
fn named<'a>(entity: &'a MapEntity, key: &str) -> Option<&'a str> {
    entity.get(key).filter(|name| !name.is_empty())
}

fn flags(entity: &MapEntity) -> u32 {
    entity.get("spawnflags").and_then(|flags| flags.trim().parse().ok()).unwrap_or(0)
}

/// The box around the brushes of an entity.
fn bounds(entity: &MapEntity) -> Option<Aabb> {
    entity.solids().iter().map(|solid| *solid.bounds()).reduce(Aabb::union)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relays that lead in a circle end the search as well.
    #[test]
    fn a_door_is_set_off_by_four_relays_in_a_row_and_not_by_five() {
        let relays = [["a", "door"], ["b", "a"], ["c", "b"], ["d", "c"], ["e", "d"], ["a", "b"]];
        assert_eq!(names_of(&relays, "door"), BTreeSet::from(["door", "a", "b", "c", "d"]));
    }
}
