//! Trains that turn (`func_rotate_train`, as in Hipnotic): they take their `rotate_object`s from
//! `path_rotate` to `path_rotate`, and turn them on the way.
//!
//! Each object is a mover of its own. In each tick it heads for its place at the end of the next
//! tick, so that it stays on its way even after something has held it up.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use obsp::geometry::Aabb;
use obsp::{Map, MapEntity};
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::{PATIENCE, put};
use super::rotation::turn;
use super::targets::{Calls, Wires};
use super::touch;
use super::train::corners;
use crate::world_mut::WorldMut;

/// Hipnotic's number: units per second.
const SPEED: f64 = 100.0;

/// Seconds between two hurts, as those of a `func_train`.
const HURTS: f64 = 0.5;

/// Flags of a `path_rotate`.
const ROTATION: u32 = 1;
const ANGLES: u32 = 2;
const STOP: u32 = 4;
const NO_ROTATE: u32 = 8;
const DAMAGE: u32 = 16;
const MOVE_TIME: u32 = 32;
const SET_DAMAGE: u32 = 64;

/// The most that it turns in a tick, in radians, all three angles together.
const MOST_TURN: f64 = 0.25;

/// The fastest that a point of it moves, in units per second, by its way and by its turn.
const MOST_SPEED: f64 = 2000.0;

/// An object nearer to its pose than this, in units and radians, is there.
const THERE: f64 = 1.0 / 256.0;

/// An object that a train takes along.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RotateTrain {
    pub(super) body: EntityId,
    /// The place of the body relative to the train's origin, where both are drawn.
    offset: DVec3,
    way: Vec<Corner>,
    /// The corner after the last one; `None` if the way ends there.
    again: Option<u32>,
    /// The corner that the train is at, or goes to.
    at: u32,
    progress: Progress,
    /// Pose of the train at the end of the tick: its origin, and pitch, yaw and roll in radians.
    origin: DVec3,
    angles: DVec3,
    /// Radians per tick by which the angles grow until a corner says otherwise.
    spin: DVec3,
    /// Units per second.
    speed: f64,
    /// Seconds of the next way, in place of the speed.
    seconds: Option<f64>,
    /// The most radians per tick.
    most_turn: f64,
    damage: i16,
    /// Ticks until it hurts again.
    hurts: u32,
    /// The ticks in a row in which it was held up.
    held: u32,
    /// Whether the body was last given a velocity.
    moves: bool,
}

/// The progress of a train.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Progress {
    /// It has not begun. With a number it begins in the next tick, and otherwise when it is set
    /// off.
    Begins(Option<u32>),
    /// It stopped at its corner until it is set off.
    Stopped,
    /// It waits at its corner for so many ticks.
    Waits(u32),
    /// It goes to its corner for so many ticks, and moves and turns so much in each.
    Goes { ticks: u32, step: DVec3, turn: DVec3 },
    /// Its way has ended.
    Done,
}

/// A corner of a way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Corner {
    place: DVec3,
    flags: u32,
    /// Ticks; `None` is for ever.
    wait: Option<u32>,
    /// The new speed, or with a flag the seconds of the next way.
    speed: Option<f64>,
    /// Pitch, yaw and roll in radians.
    angles: DVec3,
    /// Growth of pitch, yaw and roll, in radians per second.
    rotate: DVec3,
    damage: i16,
}

impl Corner {
    fn of(world: &WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let radians = |key| DVec3::from(keys::angles(entity, key).map(f64::to_radians));
        Some(Self {
            place: entity.origin()?,
            flags: keys::flags(entity),
            wait: keys::ticks(world, entity, "wait", 0.0),
            speed: keys::number(entity, "speed").filter(|speed| *speed > 0.0),
            angles: radians("angles"),
            rotate: radians("rotate"),
            damage: keys::damage(entity, "dmg", 0),
        })
    }

    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

impl RotateTrain {
    /// A `rotate_object` that the train `by` takes along. `None` if the object has no model in the
    /// match, or the train no way.
    pub(super) fn of_object(
        world: &mut WorldMut<'_>,
        map: &Map,
        object: &MapEntity,
        by: &MapEntity,
    ) -> Option<Self> {
        let (entities, again) = corners(map, "path_rotate", by.get("path")?);
        let way = entities.iter().map(|corner| Corner::of(world, corner));
        let (way, hub) = (way.collect::<Option<Vec<Corner>>>()?, by.origin()?);
        let origin = way.first()?.place;
        let (drawn, bounds) = (world.model_of(object)?, keys::bounds(object));
        let radius = (bounds.min - hub).abs().max((bounds.max - hub).abs()).length();
        let around = |at: &Corner| Aabb { min: at.place - radius, max: at.place + radius };
        let pocket = way.iter().map(around).reduce(Aabb::union)?;
        let offset = drawn.place - hub;
        let body = put(world, drawn.model, (origin + offset, DQuat::IDENTITY), pocket)?;
        Some(Self {
            body,
            offset,
            way,
            again,
            at: 0,
            progress: Progress::Begins((!Wires::is_targeted(by)).then_some(1)),
            origin,
            angles: DVec3::ZERO,
            spin: DVec3::ZERO,
            speed: keys::positive(by, "speed", SPEED),
            seconds: None,
            most_turn: MOST_TURN.min(MOST_SPEED * world.seconds() / radius.max(1.0)),
            damage: keys::damage(by, "dmg", 0),
            hurts: 0,
            held: 0,
            moves: false,
        })
    }

    /// Advances the train by a tick. It waits for bodies in its way until there is room, and hurts
    /// players.
    pub(super) fn tick(&mut self, world: &mut WorldMut<'_>, calls: &mut Calls) {
        self.hurts = self.hurts.saturating_sub(1);
        let Some(body) = world.entity(self.body) else { return };
        let (place, turned) = (body.position, body.orientation);
        if is_there(self.left(place, turned)) {
            self.held = 0;
            self.advance(world);
        } else {
            self.wait_for_room(world, calls);
        }
        self.drive(world, place, turned);
    }

    /// Starts a train that waits to be set off.
    pub(super) fn set_off(&mut self) {
        match &mut self.progress {
            Progress::Begins(ticks) => *ticks = Some(1),
            Progress::Stopped => self.progress = Progress::Waits(1),
            _ => {}
        }
    }

    fn wait_for_room(&mut self, world: &WorldMut<'_>, calls: &mut Calls) {
        self.held = self.held.saturating_add(1);
        if self.held >= keys::ticks_of(world, PATIENCE).max(2) && self.hurts == 0 {
            touch::hurt(world, self.body, self.damage, "func_rotate_train", calls);
            self.hurts = keys::ticks_of(world, HURTS);
        }
    }

    /// Advances the pose by a tick.
    fn advance(&mut self, world: &WorldMut<'_>) {
        self.angles += self.spin;
        match self.progress {
            Progress::Begins(None) | Progress::Stopped | Progress::Done => {}
            Progress::Begins(Some(_)) => {
                self.heed(world);
                self.depart(world);
            }
            Progress::Waits(0 | 1) => self.depart(world),
            Progress::Waits(ticks) => self.progress = Progress::Waits(ticks - 1),
            Progress::Goes { ticks, step, turn } if ticks > 1 => {
                self.origin += step;
                self.angles += turn;
                self.progress = Progress::Goes { ticks: ticks - 1, step, turn };
            }
            Progress::Goes { .. } => self.arrive(world),
        }
    }

    /// Comes to its corner.
    fn arrive(&mut self, world: &WorldMut<'_>) {
        let corner = self.way[self.at as usize];
        self.origin = corner.place;
        if corner.has(ANGLES) {
            self.angles = corner.angles;
        }
        self.heed(world);
        match corner.wait {
            _ if corner.has(STOP) => {
                self.progress = Progress::Stopped;
                if corner.has(NO_ROTATE) {
                    self.spin = DVec3::ZERO;
                }
            }
            None => self.progress = Progress::Done,
            Some(0) => self.depart(world),
            Some(ticks) => self.progress = Progress::Waits(ticks),
        }
    }

    /// Takes speed, spin and damage from its corner.
    fn heed(&mut self, world: &WorldMut<'_>) {
        let corner = self.way[self.at as usize];
        match corner.speed {
            Some(speed) if !corner.has(MOVE_TIME) => (self.speed, self.seconds) = (speed, None),
            seconds => self.seconds = seconds,
        }
        if corner.has(ROTATION) {
            let spin = corner.rotate * world.seconds();
            self.spin = spin * (self.most_turn / spin.abs().element_sum().max(self.most_turn));
        }
        if corner.has(DAMAGE | SET_DAMAGE) {
            self.damage = corner.damage;
        }
    }

    /// Sets out for the next corner. The next tick is the first of its way.
    fn depart(&mut self, world: &WorldMut<'_>) {
        let last = self.at as usize + 1 >= self.way.len();
        let next = if last { self.again } else { Some(self.at + 1) };
        let corner = next.and_then(|next| self.way.get(next as usize)).copied();
        let (Some(next), Some(corner)) = (next, corner) else {
            self.progress = Progress::Done;
            return;
        };
        self.at = next;
        let (way, mut turn) = (corner.place - self.origin, DVec3::ZERO);
        if corner.has(ANGLES) {
            self.spin = DVec3::ZERO;
            self.angles %= TAU;
            turn = corner.angles - self.angles;
        }
        let seconds = self.seconds.unwrap_or(way.length() / self.speed);
        let seconds = seconds.max(way.length() / MOST_SPEED);
        let turning = (turn.abs().element_sum() / self.most_turn).ceil() as u32;
        let ticks = keys::ticks_of(world, seconds).max(turning).max(1);
        let share = 1.0 / f64::from(ticks);
        self.progress = Progress::Goes { ticks, step: way * share, turn: turn * share };
    }

    /// The rest of the way and of the turn to the pose at the end of the tick. The turn is a vector
    /// along its axis.
    fn left(&self, place: DVec3, turned: DQuat) -> [DVec3; 2] {
        let [pitch, yaw, roll] = self.angles.to_array();
        let rotation = turn(DVec3::Z, yaw) * turn(DVec3::Y, pitch) * turn(DVec3::X, roll);
        let way = self.origin + rotation * self.offset - place;
        let left = rotation * turned.conjugate();
        let left = if left.w < 0.0 { -left } else { left };
        let (along, sine) = (left.xyz(), left.xyz().length());
        let angle = 2.0 * libm::atan2(sine, left.w);
        [way, if sine > 0.0 { along * (angle / sine) } else { DVec3::ZERO }]
    }

    /// Heads for the pose at the end of the tick.
    fn drive(&mut self, world: &mut WorldMut<'_>, place: DVec3, turned: DQuat) {
        let left = self.left(place, turned);
        let goes = matches!(self.progress, Progress::Goes { .. }) || self.spin != DVec3::ZERO;
        let moves = goes || !is_there(left);
        if moves || self.moves {
            let velocities = left.map(|left| left / world.seconds());
            let [linear, angular] = if moves { velocities } else { [DVec3::ZERO; 2] };
            // A body that fell out of the map has no velocity.
            let _ = world.set_velocity(self.body, linear, angular);
        }
        self.moves = moves;
    }
}

/// Whether so little is left of a way and a turn that the body has made them.
fn is_there(left: [DVec3; 2]) -> bool {
    left.iter().all(|left| left.length() <= THERE)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::tests::{AllFamilies, Hall, RATE, brush, drawn};
    use super::*;
    use crate::any_game::AnyGame;
    use crate::running::RunningMatch;

    /// A beam that is drawn beside its train, and is to be 64 units ahead of it.
    fn train(keys: &[(&str, &str)], corners: &[&[(&str, &str)]]) -> Hall {
        let own = [
            ("classname", "func_rotate_train"),
            ("targetname", "train"),
            ("target", "beam"),
            ("path", "a"),
            ("origin", "0 300 300"),
        ];
        let own = own.into_iter().filter(|(key, _)| keys.iter().all(|(name, _)| name != key));
        let own: Vec<_> = own.chain(keys.iter().copied()).collect();
        let beam = [("classname", "rotate_object"), ("targetname", "beam")];
        let beam = drawn(&beam, &brush([48, 292, 292], [80, 308, 308]));
        let corner =
            |keys: &&[(&str, &str)]| drawn(&[&[("classname", "path_rotate")], *keys].concat(), "");
        let corners: String = corners.iter().map(corner).collect();
        Hall::new(&(beam + &drawn(&own, "") + &corners))
    }

    /// Where the train is, given that its beam is ahead of it, and the heading in degrees.
    fn pose(hall: &Hall) -> (DVec3, f64) {
        let body = hall.game.world.entity(hall.movers()[0]).expect("it is there");
        let ahead = body.orientation * DVec3::X;
        let middle = body.position - ahead * 64.0;
        (middle, ahead.y.atan2(ahead.x).to_degrees())
    }

    fn near(hall: &Hall, place: [f64; 3], heading: f64) {
        let (at, ahead) = pose(hall);
        let off = (ahead - heading + 180.0).rem_euclid(360.0) - 180.0;
        let place = DVec3::from(place);
        assert!(
            at.distance(place) < 0.02 && off.abs() < 0.02,
            "{at} at {ahead} for {place}, {heading}"
        );
    }

    #[test]
    fn it_goes_and_turns_from_corner_to_corner_and_around() {
        let corners: [&[(&str, &str)]; 3] = [
            &[("targetname", "a"), ("target", "b"), ("origin", "-100 -100 150"), ("speed", "50")],
            &[
                ("targetname", "b"),
                ("target", "c"),
                ("origin", "-100 0 150"),
                ("spawnflags", "2"),
                ("angles", "0 90 0"),
                ("wait", "1"),
            ],
            &[
                ("targetname", "c"),
                ("target", "b"),
                ("origin", "100 0 150"),
                ("spawnflags", "33"),
                ("rotate", "0 -45 0"),
                ("speed", "3"),
            ],
        ];
        let mut hall = train(&[], &corners);
        hall.run(RATE);
        near(&hall, [-100.0, -100.0, 150.0], 0.0);
        hall.set_off("train");
        // It sets out in the first tick, aims in the second, and moves in the third.
        hall.run(2 + RATE);
        near(&hall, [-100.0, -50.0, 150.0], 45.0);
        hall.run(RATE);
        near(&hall, [-100.0, 0.0, 150.0], 90.0);
        hall.run(RATE);
        near(&hall, [-100.0, 0.0, 150.0], 90.0);
        hall.run(2 * RATE);
        near(&hall, [0.0, 0.0, 150.0], 90.0);
        hall.run(2 * RATE);
        near(&hall, [100.0, 0.0, 150.0], 90.0);
        // The next way takes three seconds. It ends at an angle, so the train does not spin on it.
        hall.run(3 * RATE / 2);
        near(&hall, [0.0, 0.0, 150.0], 90.0);
    }

    #[test]
    fn it_spins_and_stops_until_it_is_set_off() {
        for (flags, heading) in [("5", 90.0), ("13", 0.0)] {
            let corners: [&[(&str, &str)]; 2] = [
                &[("targetname", "a"), ("target", "b"), ("origin", "0 0 150"), ("speed", "60")],
                &[
                    ("targetname", "b"),
                    ("target", "a"),
                    ("origin", "60 0 150"),
                    ("spawnflags", flags),
                    ("rotate", "0 90 0"),
                ],
            ];
            let mut hall = train(&[("targetname", "")], &corners);
            hall.run(2 + RATE);
            near(&hall, [60.0, 0.0, 150.0], 0.0);
            hall.run(RATE);
            near(&hall, [60.0, 0.0, 150.0], heading);
        }
    }

    #[test]
    fn it_waits_for_a_player_in_its_way_and_hurts() {
        let corners: [&[(&str, &str)]; 2] = [
            &[("targetname", "a"), ("target", "b"), ("origin", "-64 0 120")],
            &[("targetname", "b"), ("origin", "-64 0 20")],
        ];
        let mut hall = train(&[("dmg", "3")], &corners);
        let player = hall.player([0.0, 0.0, 0.0]);
        hall.set_off("train");
        hall.run(4 * RATE);
        let height = hall.lowest(0).z;
        assert!(height > 56.0 && height < 57.0, "it lies on the player's head: {height}");
        let hurts = hall.game.state().hurts.clone();
        assert!(hurts.len() >= 4 && hurts.iter().all(|hurt| hurt.2 == 3), "{hurts:?}");
        let away = DVec3::new(-300.0, 100.0, 28.1);
        hall.game.world.teleport(player, away, Default::default()).expect("there is room");
        hall.run(2 * RATE);
        near(&hall, [-64.0, 0.0, 20.0], 0.0);
    }

    /// The train turns about three axes, its keys ask for too high speeds or are no numbers, and a
    /// saved match goes on with the same digests.
    #[test]
    fn its_keys_are_bounded_and_it_is_saved() {
        for odd in ["0 720 90", "1e300 1e300 1e300", "nan inf -90", "30 -400 10"] {
            for flags in ["1", "2"] {
                let corner = |name, next, origin| {
                    [
                        ("targetname", name),
                        ("target", next),
                        ("origin", origin),
                        ("spawnflags", flags),
                        ("angles", odd),
                        ("rotate", odd),
                        ("speed", "1e300"),
                    ]
                };
                let corners = [corner("a", "b", "-80 0 150"), corner("b", "a", "80 40 170")];
                let corners: [&[(&str, &str)]; 2] = [&corners[0], &corners[1]];
                let mut hall = train(&[("targetname", "")], &corners);
                hall.run(2 * RATE);
                let map = Arc::clone(hall.game.world().map());
                let saved = hall.game.save();
                let mut again =
                    AllFamilies.load_match(map, &saved).expect("the save can be loaded");
                for _ in 0..RATE {
                    hall.run(1);
                    again.step(&[]);
                    assert_eq!(again.digest(), hall.game.digest(), "{odd}, flags {flags}");
                }
            }
        }
    }
}
