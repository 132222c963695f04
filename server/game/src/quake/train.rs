//! Trains (`func_train`): they go from `path_corner` to `path_corner`, with the lowest corner of
//! their box at each.

use glam::DVec3;
use obsp::geometry::Aabb;
use obsp::{Map, MapEntity};
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::{Mover, Progress};
use super::targets::{Calls, Wires};
use crate::world_mut::WorldMut;

/// Quake's numbers: units per second, points of health, seconds between two hurts, and seconds at a
/// corner without `wait`.
const SPEED: f64 = 100.0;
const DAMAGE: i16 = 2;
const HURTS: f64 = 0.5;
const PAUSE: f64 = 0.1;

/// The most corners of a way.
const MOST: usize = 256;

/// A train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Train {
    pub(super) mover: Mover,
    way: Vec<Corner>,
    /// The corner after the last one; `None` if the way ends there.
    again: Option<u32>,
    /// The corner that the train is at, or goes to.
    at: u32,
    /// Whether the train has been set off.
    runs: bool,
    /// Whether it stays where it is for ever.
    is_done: bool,
    damage: i16,
    /// Ticks until it hurts again.
    hurts: u32,
}

/// A corner of a way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Corner {
    place: DVec3,
    wait: Option<u32>,
}

impl Train {
    pub(super) fn spawn(world: &mut WorldMut<'_>, map: &Map, entity: &MapEntity) -> Option<Self> {
        let drawn = keys::bounds(entity);
        let (corners, again) = corners(map, "path_corner", entity.get("target")?);
        let offset = |corner: &MapEntity| Some(corner.origin()? - drawn.min);
        let offsets: Option<Vec<DVec3>> = corners.iter().map(|corner| offset(corner)).collect();
        let offsets = offsets?;
        let moved = |by: &DVec3| Aabb { min: drawn.min + *by, max: drawn.max + *by };
        let pocket = offsets.iter().map(moved).reduce(Aabb::union)?;
        let speed = keys::positive(entity, "speed", SPEED);
        let place = world.model_of(entity)?.place;
        let mover = Mover::spawn(world, entity, offsets[0], pocket, speed)?;
        let wait = |corner: &MapEntity| match keys::number(corner, "wait") {
            Some(wait) if wait < 0.0 => None,
            wait => Some(keys::ticks_of(world, wait.unwrap_or(PAUSE)).max(1)),
        };
        let corner = |(corner, offset): (&&MapEntity, &DVec3)| Corner {
            place: place + *offset,
            wait: wait(corner),
        };
        Some(Self {
            mover,
            way: corners.iter().zip(&offsets).map(corner).collect(),
            again,
            at: 0,
            runs: !Wires::is_targeted(entity),
            is_done: false,
            damage: keys::damage(entity, "dmg", DAMAGE),
            hurts: 0,
        })
    }

    /// Moves the train.
    pub(super) fn tick(&mut self, world: &mut WorldMut<'_>, calls: &mut Calls) {
        self.hurts = self.hurts.saturating_sub(1);
        match self.mover.step(world) {
            Progress::Arrived => match self.way.get(self.at as usize).and_then(|at| at.wait) {
                Some(wait) => self.go_on(world, wait),
                None => self.is_done = true,
            },
            // It waits until there is room.
            Progress::Blocked if self.hurts == 0 => {
                self.mover.hurt(world, self.damage, "func_train", calls);
                self.hurts = keys::ticks_of(world, HURTS);
            }
            Progress::Rests if self.runs && !self.is_done => self.go_on(world, 0),
            _ => {}
        }
    }

    /// Starts a train that waits to be set off.
    pub(super) fn set_off(&mut self) {
        self.runs = true;
    }

    /// Goes to the next corner after some ticks.
    fn go_on(&mut self, world: &mut WorldMut<'_>, wait: u32) {
        let last = self.at as usize + 1 >= self.way.len();
        let next = if last { self.again } else { Some(self.at + 1) };
        let corner = next.and_then(|next| self.way.get(next as usize));
        match (next, corner) {
            (Some(next), Some(corner)) => {
                self.at = next;
                self.mover.go_after(world, corner.place, wait);
            }
            _ => self.is_done = true,
        }
    }
}

/// The corners of a class from the first on, by their targets, and the index of the corner that
/// follows the last.
pub(super) fn corners<'a>(
    map: &'a Map,
    class: &str,
    first: &str,
) -> (Vec<&'a MapEntity>, Option<u32>) {
    let named = |name: &str| {
        map.entities()
            .iter()
            .find(|entity| entity.classname() == class && entity.get("targetname") == Some(name))
    };
    let mut way: Vec<&MapEntity> = Vec::new();
    let mut next = named(first);
    while let Some(corner) = next.filter(|_| way.len() < MOST) {
        if let Some(again) = way.iter().position(|known| std::ptr::eq(*known, corner)) {
            return (way, Some(again as u32));
        }
        way.push(corner);
        next = corner.get("target").and_then(named);
    }
    (way, None)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Hall, RATE, brush, drawn};
    use super::*;

    fn corner(name: &str, next: &str, origin: &str, wait: &str) -> String {
        let keys = [("classname", "path_corner"), ("targetname", name), ("target", next)];
        drawn(&[&keys[..], &[("origin", origin), ("wait", wait)]].concat(), "")
    }

    fn train(keys: &[(&str, &str)], corners: &[String]) -> Hall {
        let pairs = [&[("classname", "func_train"), ("target", "a")], keys].concat();
        let train = drawn(&pairs, &brush([0, 0, 200], [64, 64, 216]));
        Hall::new(&(train + &corners.concat()))
    }

    #[test]
    fn a_train_goes_from_corner_to_corner_and_around() {
        let corners = [
            corner("a", "b", "-100 -100 50", ""),
            corner("b", "c", "-100 100 50", "1"),
            corner("c", "b", "100 100 50", ""),
        ];
        let mut hall = train(&[("speed", "120")], &corners);
        assert_eq!(hall.lowest(0), DVec3::new(-100.0, -100.0, 50.0), "it starts at the first");
        // 200 units at 120 a second take 100 ticks, and one passes before it starts.
        assert_eq!(hall.ticks_until(0, [-100.0, 100.0, 50.0]), 101);
        assert_eq!(hall.ticks_until(0, [100.0, 100.0, 50.0]), RATE + 100);
        // A corner without a wait takes a tenth of a second.
        assert_eq!(hall.ticks_until(0, [-100.0, 100.0, 50.0]), 6 + 100);
    }

    #[test]
    fn a_train_with_a_name_waits_and_its_way_ends_at_the_last_corner() {
        let corners = [corner("a", "b", "-100 0 50", ""), corner("b", "", "0 0 50", "")];
        let mut hall = train(&[("targetname", "go")], &corners);
        hall.run(2 * RATE);
        assert_eq!(hall.lowest(0).x, -100.0);
        hall.set_off("go");
        hall.run(10 * RATE);
        assert_eq!(hall.lowest(0).x, 0.0);
    }

    #[test]
    fn a_train_waits_for_who_is_in_its_way_and_hurts_twice_a_second() {
        let corners = [corner("a", "b", "0 0 100", ""), corner("b", "a", "0 0 20", "")];
        let mut hall = train(&[("dmg", "4")], &corners);
        hall.player([32.0, 32.0, 0.0]);
        hall.run(5 * RATE);
        let height = hall.lowest(0).z;
        assert!(height > 56.0 && height < 57.0, "it lies on the player's head: {height}");
        let hurts = &hall.game.state().hurts;
        assert!(hurts.len() >= 8 && hurts.iter().all(|(_, _, damage)| *damage == 4), "{hurts:?}");
        let apart = hurts.windows(2).map(|two| two[1].0 - two[0].0);
        assert!(apart.min() >= Some(u64::from(RATE / 2)), "{hurts:?}");
    }
}
