//! The leaf of a door: its body, which slides or turns between where it is shut and where it is
//! open.

use glam::DVec3;
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::{Mover, Progress};
use super::rotation::Rotated;
use super::turning::Turning;
use crate::world_mut::WorldMut;

/// Quake's numbers: units or degrees per second, units, and degrees of a door that turns.
const SPEED: f64 = 100.0;
const LIP: f64 = 8.0;
const DISTANCE: f64 = 90.0;

/// Flags: the door is drawn open; the door turns the other way.
const START_OPEN: u32 = 1;
const REVERSE: u32 = 2;

/// The flags of a door that turns about +X or +Y.
const AXES: [u32; 2] = [64, 128];

/// The leaf of a door.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Leaf {
    Slides {
        mover: Mover,
        shut: DVec3,
        open: DVec3,
    },
    /// Angles in radians.
    Turns {
        turning: Turning,
        shut: f64,
        open: f64,
    },
}

impl Leaf {
    /// The leaf of a `func_door`.
    pub(super) fn sliding(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let drawn = keys::bounds(entity);
        let lip = keys::number(entity, "lip").unwrap_or(LIP);
        let travel = keys::travel(&drawn, keys::direction(entity), lip);
        let (shut, open) = ends(entity, DVec3::ZERO, travel);
        let pocket = drawn.union(Aabb { min: drawn.min + travel, max: drawn.max + travel });
        let speed = keys::positive(entity, "speed", SPEED);
        let place = world.model_of(entity)?.place;
        let mover = Mover::spawn(world, entity, shut, pocket, speed)?;
        Some(Self::Slides { mover, shut: place + shut, open: place + open })
    }

    /// The leaf of a `func_door_rotating`.
    pub(super) fn turning(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let flags = keys::flags(entity);
        let way = keys::number(entity, "distance").unwrap_or(DISTANCE).clamp(-360.0, 360.0);
        let way = if flags & REVERSE == 0 { way } else { -way }.to_radians();
        let (shut, open) = ends(entity, 0.0, way);
        let speed = keys::positive(entity, "speed", SPEED).to_radians();
        let axis = keys::axis(entity, AXES);
        let turning = Turning::spawn(world, entity, None, axis, shut, speed)?;
        Some(Self::Turns { turning, shut, open })
    }

    /// The leaf of a `rotate_object` that is part of a `func_rotate_door`.
    pub(super) fn of_object(
        world: &mut WorldMut<'_>,
        entity: &MapEntity,
        rotated: &Rotated<'_>,
    ) -> Option<Self> {
        let (axis, open) = rotated.turn();
        let speed = open.abs() / rotated.seconds();
        let turning = Turning::spawn(world, entity, rotated.centre(), axis, 0.0, speed)?;
        Some(Self::Turns { turning, shut: 0.0, open })
    }

    pub(super) fn body(&self) -> EntityId {
        match self {
            Self::Slides { mover, .. } => mover.body,
            Self::Turns { turning, .. } => turning.body,
        }
    }

    pub(super) fn open(&mut self, world: &mut WorldMut<'_>) {
        match self {
            Self::Slides { mover, open, .. } => mover.go(world, *open),
            Self::Turns { turning, open, .. } => turning.go(world, *open),
        }
    }

    pub(super) fn shut(&mut self, world: &mut WorldMut<'_>) {
        self.shut_after(world, 0);
    }

    pub(super) fn shut_after(&mut self, world: &mut WorldMut<'_>, delay: u32) {
        match self {
            Self::Slides { mover, shut, .. } => mover.go_after(world, *shut, delay),
            Self::Turns { turning, shut, .. } => turning.go_after(world, *shut, delay),
        }
    }

    /// Arms a sliding leaf: it opens by itself when a player is in `zone`. Clients know that
    /// beforehand.
    pub(super) fn arm(&mut self, world: &mut WorldMut<'_>, zone: Aabb) {
        if let Self::Slides { mover, open, .. } = self {
            mover.arm(world, zone, *open, 0);
        }
    }

    pub(super) fn disarm(&mut self, world: &mut WorldMut<'_>) {
        if let Self::Slides { mover, .. } = self {
            mover.disarm(world);
        }
    }

    /// Whether a player in the zone has set the leaf off in this tick.
    pub(super) fn was_set_off(&mut self, world: &WorldMut<'_>) -> bool {
        match self {
            Self::Slides { mover, .. } => mover.was_set_off(world),
            Self::Turns { .. } => false,
        }
    }

    pub(super) fn step(&mut self, world: &mut WorldMut<'_>) -> Progress {
        match self {
            Self::Slides { mover, .. } => mover.step(world),
            Self::Turns { turning, .. } => turning.step(world),
        }
    }
}

/// The ends of a door's way: where it is shut, and where it is open. It is drawn shut, or open with
/// the flag [`START_OPEN`].
fn ends<T>(entity: &MapEntity, drawn: T, other: T) -> (T, T) {
    if keys::flags(entity) & START_OPEN == 0 { (drawn, other) } else { (other, drawn) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Hall, RATE, brush, drawn};

    /// A door of 16 × 64 × 128 units that turns about its edge at 0 0.
    fn door(keys: &[(&str, &str)]) -> String {
        let pairs = [&[("classname", "func_door_rotating"), ("origin", "0 0 64")], keys].concat();
        drawn(&pairs, &brush([-8, 0, 0], [8, 64, 128]))
    }

    fn degrees(hall: &Hall) -> f64 {
        let body = hall.game.world.entity(hall.movers()[0]).expect("it is there");
        2.0 * body.orientation.z.atan2(body.orientation.w).to_degrees()
    }

    #[test]
    fn a_door_turns_by_its_distance_and_comes_back() {
        for (flags, distance, to) in [("0", "", 90.0), ("2", "", -90.0), ("0", "135", 135.0)] {
            let mut keys = vec![("spawnflags", flags), ("wait", "2"), ("speed", "45")];
            if !distance.is_empty() {
                keys.push(("distance", distance));
            }
            let mut hall = Hall::new(&(door(&keys)));
            let player = hall.player([-50.0, -50.0, 0.0]);
            hall.run(RATE);
            let turned = degrees(&hall);
            assert!((turned.abs() - 45.0).abs() < 2.0, "{turned} degrees in a second");
            hall.run(3 * RATE);
            assert!((degrees(&hall) - to).abs() < 0.01, "{}", degrees(&hall));
            let away = glam::DVec3::new(-300.0, -300.0, 28.1);
            hall.game.world.teleport(player, away, Default::default()).expect("there is room");
            hall.run(6 * RATE);
            assert!(degrees(&hall).abs() < 0.01, "{}", degrees(&hall));
        }
    }

    #[test]
    fn a_door_that_is_drawn_open_turns_shut_at_the_start() {
        let keys = [("spawnflags", "1"), ("targetname", "gate"), ("wait", "-1")];
        let mut hall = Hall::new(&door(&keys));
        assert!((degrees(&hall) - 90.0).abs() < 1e-6);
        hall.set_off("gate");
        hall.run(RATE);
        assert!(degrees(&hall).abs() < 0.01);
    }

    #[test]
    fn a_door_turns_back_from_a_player_and_from_a_crate_in_a_corner() {
        let keys = [("targetname", "gate"), ("speed", "60"), ("wait", "9"), ("dmg", "5")];
        // The door opens towards -X, into a chamber of three walls.
        let wall = |min, max| drawn(&[("classname", "func_togglewall")], &brush(min, max));
        let walls = wall([-80, -20, 0], [-70, 80, 128])
            + &wall([-70, 70, 0], [-8, 80, 128])
            + &wall([-70, -20, 0], [-8, -9, 128]);
        let prop = drawn(&[("classname", "prop"), ("model", "crate"), ("origin", "-40 34 17")], "");
        for has_crate in [false, true] {
            let prop = if has_crate { prop.as_str() } else { "" };
            let mut hall = Hall::new(&(door(&keys) + &walls + prop));
            if !has_crate {
                hall.player([-40.0, 34.0, 0.0]);
            }
            hall.run(RATE);
            hall.set_off("gate");
            let mut greatest: f64 = 0.0;
            for _ in 0..4 * RATE {
                hall.run(1);
                greatest = greatest.max(degrees(&hall));
            }
            assert!(greatest > 1.0, "it has set out");
            assert!(greatest < 89.0, "it has turned back: {greatest}");
            let hurts = hall.game.state().hurts.len();
            assert_eq!(hurts > 0, !has_crate, "{hurts}");
        }
    }
}
