//! Tests that need access to private fields: bodies faster than any force makes them, and
//! worlds that are broken on purpose.

use glam::DQuat;
use obsp::model::shipped;

mod active;
mod brush_models;
mod conveyors;
mod currents;
mod dynamics;
mod emergency;
mod islands;
mod jitter;
mod kinematic;
mod kinematic_heaps;
mod layers;
mod missiles;
mod overload;
mod physics;
mod presence;
mod riding;
mod rows;
mod save;
mod selected;
mod sensors;
mod set_up;

use super::*;
use crate::bodies::contact::PairIndex;
use crate::bodies::guard::{Placement, Seeker};
use crate::bodies::sleep;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::conventions::turn;
use crate::state::ModelId;
use crate::test_maps::{block, compiled, funnel};

/// A room of 1,024 units with a wall of one unit across its middle.
fn room() -> Arc<obsp::Map> {
    room_with("")
}

fn room_with(entities: &str) -> Arc<obsp::Map> {
    let blocks = [
        ([-512, -512, -16], [512, 512, 0]),
        ([-512, -512, 512], [512, 512, 528]),
        ([-528, -528, 0], [-512, 528, 512]),
        ([512, -528, 0], [528, 528, 512]),
        ([-528, -528, 0], [528, -512, 512]),
        ([-528, 512, 0], [528, 528, 512]),
        ([0, -512, 0], [1, 512, 512]),
    ];
    let brushes: String = blocks.map(|(min, max)| block(min, max)).concat();
    compiled(&brushes, [-400, -400, 25], entities)
}

const CONFIG: Config = Config { tick_rate: 60, seed: 3, objects: 0, max_players: 256 };

fn empty_room() -> World {
    World::new(room(), shipped().into(), CONFIG).expect("the room can be played")
}

impl World {
    fn shipped_model(&self, name: &str) -> ModelId {
        self.arena.model(name).expect("a shipped model")
    }

    /// A placement that is free now. Tests commit it later on purpose, when the place is no longer
    /// free.
    fn free(&self, shape: ShapeId, position: DVec3, orientation: DQuat) -> Placement {
        let pose = Pose { position, orientation };
        let found = self.space().place(shape, pose, Seeker::QUERY, &mut StepContext::default());
        found.expect("the place is free")
    }

    fn throw(&mut self, model: &str, position: DVec3, velocity: DVec3, angular: DVec3) -> u16 {
        let model = self.shipped_model(model);
        let shape = self.arena.shapes.of_model(model).expect("a shipped model");
        let placement = self.free(shape, position, DQuat::IDENTITY);
        let id = self.entities.insert(Role::Prop(model), shape).expect("a free slot");
        self.entities.commit(id.slot, placement);
        let entity = self.entities.get_mut(id.slot).expect("just inserted");
        entity.velocity = velocity;
        entity.angular = angular;
        id.slot
    }

    fn position(&self, slot: u16) -> DVec3 {
        let placement = self.entities.get(slot).and_then(Entity::placement);
        placement.expect("the entity is in the world").pose().position
    }

    /// Whether no two bodies overlap.
    fn is_clean(&self) -> bool {
        !self.entities.iter().any(|entity| self.space().overlaps(entity))
    }
}

#[test]
fn nothing_is_fast_enough_to_pass_a_wall_of_one_unit() {
    for (i, model) in ["small_crate", "plank", "u_block", "barrel"].iter().enumerate() {
        for spin in [0.0, 20.0] {
            let mut world = empty_room();
            let from = DVec3::new(-300.0 + 7.0 * i as f64, 20.0, 200.0);
            let velocity = DVec3::new(100_000.0, 300.0, 50.0);
            let slot = world.throw(model, from, velocity, DVec3::new(0.3, spin, -spin));
            for tick in 0..120 {
                world.step(&[]);
                let x = world.position(slot).x;
                assert!(x < 0.0, "{model} spinning {spin} was through at tick {tick}: {x}");
            }
        }
    }
}

#[test]
fn contacts_are_where_a_body_touches_the_ground() {
    let mut world = empty_room();
    let slot = world.throw("crate", DVec3::new(200.0, 100.0, 17.0), DVec3::ZERO, DVec3::ZERO);
    // The crate falls a unit first.
    let landed = (0..30).any(|_| {
        world.step(&[]);
        world.contacts().any(|contact| contact.impulse > 0.0)
    });
    assert!(landed);
    let contacts: Vec<_> = world.contacts().collect();
    let centre = world.position(slot);
    assert!(contacts.len() >= 3, "{contacts:?}");
    for contact in &contacts {
        assert!(contact.at.z.abs() < 1.5, "{contact:?}");
        assert!((contact.at - centre).truncate().length() < 23.0, "{contact:?}");
    }
    (0..120).for_each(|_| world.step(&[]));
    assert_eq!(world.contacts().count(), 0, "a sleeping body has no contacts");
}

#[test]
fn bodies_that_meet_within_one_tick_do_not_pass_through_each_other() {
    for spin in [0.0, 15.0] {
        let mut world = empty_room();
        let (left, right) = (DVec3::new(60.0, 0.0, 200.0), DVec3::new(440.0, 4.0, 203.0));
        let speed = DVec3::X * 20_000.0;
        let a = world.throw("small_crate", left, speed, DVec3::Z * spin);
        let b = world.throw("small_crate", right, -speed, DVec3::Y * spin);
        for tick in 0..60 {
            world.step(&[]);
            assert!(world.is_clean(), "tick {tick}");
            let (a, b) = (world.position(a).x, world.position(b).x);
            assert!(a < b, "tick {tick}: {a} and {b} have changed sides");
        }
    }
}

/// Two paths that cross at right angles, so that the bodies are at the crossing at the
/// same time and apart at both ends of the tick.
#[test]
fn bodies_whose_paths_cross_within_one_tick_meet() {
    let mut world = empty_room();
    let speed = 3_900.0;
    let reach = speed / 60.0 / 2.0;
    let centre = DVec3::new(250.0, 0.0, 200.0);
    let east = world.throw("small_crate", centre - DVec3::X * reach, DVec3::X * speed, DVec3::ZERO);
    let north =
        world.throw("small_crate", centre - DVec3::Y * reach, DVec3::Y * speed, DVec3::ZERO);
    world.step(&[]);
    let passed = |slot, axis: DVec3| (world.position(slot) - centre).dot(axis) > reach * 0.9;
    assert!(
        !(passed(east, DVec3::X) && passed(north, DVec3::Y)),
        "both bodies passed the crossing"
    );
    assert!(world.is_clean());
}

#[test]
fn a_crowd_in_one_place_is_clean_again_after_one_tick() {
    let mut world = empty_room();
    let crate_model = world.shipped_model("crate");
    let shape = world.arena.shapes.of_model(crate_model).expect("a shipped model");
    let placement = world.free(shape, DVec3::new(-250.0, 100.0, 60.0), DQuat::IDENTITY);
    for _ in 0..20 {
        let id = world.entities.insert(Role::Prop(crate_model), shape).expect("a free slot");
        world.entities.commit(id.slot, placement);
    }
    assert!(!world.is_clean());
    world.step(&[]);
    assert!(world.is_clean());
    assert!(world.context.counters.emergency_replacements >= 19, "{:?}", world.context);
    assert_eq!(world.context.counters.entities + world.context.counters.limbo, 20);
    for slot in 0..20 {
        assert!(world.position(slot).x < 0.0, "the body was put back behind the wall");
    }
}

#[test]
fn a_crowd_of_players_and_bodies_in_one_place_is_clean_again_after_one_tick() {
    let mut world = empty_room();
    let crate_model = world.shipped_model("u_block");
    let shape = world.arena.shapes.of_model(crate_model).expect("a shipped model");
    let spot = DVec3::new(-250.0, 100.0, 60.0);
    let body = world.free(shape, spot, DQuat::IDENTITY);
    let player =
        world.free(world.arena.shapes.of_posture(Posture::Standing), spot, DQuat::IDENTITY);
    for _ in 0..8 {
        let prop = world.entities.insert(Role::Prop(crate_model), shape).expect("a free slot");
        world.entities.commit(prop.slot, body);
        let agent = world.join().expect("there is room");
        world.entities.commit(agent.slot, player);
    }
    world.step(&[]);
    assert!(world.is_clean());
    assert_eq!(world.context.counters.entities + world.context.counters.limbo, 16);
}

/// Symptom: a player with a crate at rest on the head could not walk. Cause: the crate
/// was tilted by a hundred-thousandth, so every motion led nearer to it than a player's gap.
/// Between its underside and the floor no motion was free. Cure: a player who passes along a
/// body may come nearer to it.
#[test]
fn a_crate_on_a_players_head_falls_when_the_player_walks_away() {
    for case in 0..24_u16 {
        let mut world = empty_room();
        let id = world.join_at(DVec3::new(-256.0, 0.0, 28.5));
        let aside = DVec3::new(f64::from(case % 5) - 2.0, f64::from(case % 7) - 3.0, 80.0);
        let head = world.position(id.slot) + aside;
        let slot = world.throw("crate", head, DVec3::ZERO, DVec3::Z * f64::from(case % 3));
        for _ in 0..180 {
            world.step(&[]);
        }
        let carried = world.position(slot);
        assert!(carried.z > 56.0, "case {case}: the body fell through: {carried}");
        let walk = Command { forward: 127, yaw: case * 2_731, ..Command::default() };
        for _ in 0..180 {
            world.step(&[(id, walk)]);
        }
        let (left, player) = (world.position(slot), world.position(id.slot));
        assert!(
            left.z < 20.0,
            "case {case}: the body hangs in the air at {left}, and the player \
                                is at {player}"
        );
    }
}

impl World {
    /// Runs for `seconds` with the same commands and returns all events.
    fn run(&mut self, seconds: f64, commands: &[(EntityId, Command)]) -> Vec<WorldEvent> {
        let mut events = Vec::new();
        for _ in 0..(seconds * 60.0) as u32 {
            self.step(commands);
            events.extend_from_slice(self.events());
            assert!(self.is_clean(), "tick {}", self.tick);
        }
        events
    }

    fn join_at(&mut self, position: DVec3) -> EntityId {
        let id = self.join().expect("there is room");
        let placement =
            self.free(self.arena.shapes.of_posture(Posture::Standing), position, DQuat::IDENTITY);
        self.entities.commit(id.slot, placement);
        id
    }
}

fn holding(buttons: crate::command::Buttons) -> Command {
    Command { buttons, ..Command::default() }
}

#[test]
fn a_player_on_a_moving_crate_is_carried_along() {
    let mut world = empty_room();
    let slot = world.throw("crate", DVec3::new(-300.0, 0.0, 17.0), DVec3::ZERO, DVec3::ZERO);
    world.run(1.0, &[]);
    let rider = world.join_at(DVec3::new(-300.0, 0.0, 62.0));
    world.run(1.0, &[]);
    let offset = world.position(rider.slot) - world.position(slot);
    for _ in 0..60 {
        let entity = world.entities.get_mut(slot).expect("the crate");
        entity.velocity.x = 100.0;
        sleep::wake(&mut world.entities, slot);
        world.step(&[]);
        assert!(world.is_clean());
    }
    assert!(world.position(slot).x > -260.0, "the crate did not move");
    let now = world.position(rider.slot) - world.position(slot);
    assert!(
        (now - offset).length() < 8.0,
        "the body was left behind: it is at {now}, not at \
        {offset}"
    );
}

/// Symptom: a crate slept in the air. Cause: its support moved away more slowly than
/// the speed that wakes bodies. Cure: a sleeping body that loses a contact wakes.
#[test]
fn a_sleeping_body_wakes_when_its_slow_support_leaves() {
    let mut world = empty_room();
    let at = |z| DVec3::new(-200.0, 0.0, z);
    let below = world.throw("crate", at(16.1), DVec3::ZERO, DVec3::ZERO);
    let above = world.throw("crate", at(48.2), DVec3::ZERO, DVec3::ZERO);
    world.step(&[]);
    let before = world.pairs.clone();
    world.entities.get_mut(above).expect("the upper crate exists").sleep.asleep = true;
    let slots = world.entities.slot_count();
    let touching = PairIndex::new(&before, slots);
    let woken = sleep::wake_parted(&mut world.entities, &before, &touching);
    assert!(woken.is_empty(), "they touch");
    let woken = sleep::wake_parted(&mut world.entities, &before, &PairIndex::new(&[], slots));
    assert_eq!(woken.iter().collect::<Vec<_>>(), [above]);
    assert!(!world.entities.get(above).expect("the upper crate exists").sleep.asleep);
    assert!(!world.entities.get(below).expect("the lower crate exists").sleep.asleep);
}

#[test]
fn props_stand_where_the_map_has_them() {
    let text =
        "{ \"classname\" \"prop\" \"model\" \"plank\" \"origin\" \"-200 0 100\" \"angle\" \"90\" }";
    let mut world = World::new(room_with(text), shipped().into(), CONFIG).expect("a match");
    world.step(&[]);
    let plank = world.entities.get(0).and_then(Entity::placement).expect("the plank");
    let along = plank.pose().orientation * DVec3::X;
    assert!(along.y.abs() > 0.99, "the plank points along {along} instead of along the y axis");
}

#[test]
fn projectiles_leave_slots_free_for_players() {
    let config = Config { max_players: 8, ..CONFIG };
    let mut world = World::new(room(), shipped().into(), config).expect("a match");
    let model = world.shipped_model("crate");
    let shape = world.arena.shapes.of_model(model).expect("a shipped model");
    while world.entities.insert(Role::Prop(model), shape).is_some() {}
    assert_eq!(world.entities.iter().count(), crate::MAX_ENTITIES - 8);
    for _ in 0..8 {
        let id = world.join().expect("the match keeps a slot for the player");
        assert!(usize::from(id.slot) < crate::MAX_ENTITIES);
    }
}

#[test]
fn the_digest_covers_accumulated_impulses() {
    let mut world = empty_room();
    world.throw("crate", DVec3::new(-200.0, 0.0, 17.0), DVec3::ZERO, DVec3::ZERO);
    // Five ticks are enough to land, and too few to fall asleep.
    for _ in 0..5 {
        world.step(&[]);
    }
    let before = world.digest();
    let point = world.pairs.iter_mut().flat_map(|pair| &mut pair.points).next();
    let impulse = &mut point.expect("the crate touches the floor").impulse[0];
    *impulse = impulse.next_up();
    assert_ne!(world.digest(), before);
}

#[test]
fn a_ray_hits_players_where_the_shooter_saw_them() {
    // The sideways motion of a tick is more than the width of a player.
    let shot = |view_age: u16| {
        let mut world = empty_room();
        let shooter = world.join_at(DVec3::new(-400.0, 0.0, 30.0));
        let victim = world.join_at(DVec3::new(-200.0, -10.0, 30.0));
        world.step(&[]);
        for step in 1..12 {
            let place = DVec3::new(-200.0, -10.0 + 40.0 * f64::from(step), 30.0);
            let shape = world.arena.shapes.of_posture(Posture::Standing);
            let placement = world.free(shape, place, DQuat::IDENTITY);
            world.entities.commit(victim.slot, placement);
            world.step(&[]);
        }
        let step = world.begin_step();
        let eye = world.position(shooter.slot) + DVec3::Z * 22.0;
        let hit = world.cast_ray_as_seen(shooter, eye, DVec3::X, 4096.0, view_age);
        world.end_step(step);
        hit.entity == Some(victim)
    };
    // The motion began at y = -10. The shot is fired along y = 0, in tick 13.
    let tick = |tick: u16| (13 - tick) * 16;
    assert!(shot(tick(1)), "the shot hits the place of the first tick");
    assert!(
        !shot(tick(3)) && !shot(tick(12)) && !shot(0),
        "the shot misses, because nobody was \
        there"
    );
    assert!(shot(u16::MAX), "the shot hits the oldest place that is remembered");
    // Between the first two ticks the player stood between -10 and 30.
    assert!(shot(tick(1) - 8) && !shot(tick(2) + 2));
}

#[test]
fn a_ray_meets_no_player_between_two_ends_of_a_teleporter() {
    let mut world = empty_room();
    let id = world.join_at(DVec3::new(-400.0, 0.0, 30.0));
    world.step(&[]);
    let shape = world.arena.shapes.of_posture(Posture::Standing);
    let there = world.free(shape, DVec3::new(-100.0, 0.0, 30.0), DQuat::IDENTITY);
    world.entities.commit(id.slot, there);
    world.step(&[]);
    let x = |age| world.history.pose_at(id, age).expect("known").pose.position.x;
    assert_eq!((x(16), x(24), x(32)), (-100.0, -400.0, -400.0));
}

mod hovertanks;
mod ladders;
mod operations;
mod swimming;
mod walkers;
