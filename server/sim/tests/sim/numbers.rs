//! Extreme numbers from outside: every public function that takes numbers is called with infinite,
//! huge, tiny and undefined numbers. It returns an error, or leaves a match that the audit accepts
//! and that can be saved.

mod far;
mod predicted;
mod presence;
mod queries;
#[allow(dead_code, reason = "each crate asks for rooms of other kinds")]
#[path = "../../../../maps/tests/library/numbers/room.rs"]
mod room;
mod scene;
mod sensors;
mod volumes;

use std::sync::{Arc, OnceLock};

use crate::extremes::{Numbers, exercise, functions};
use glam::{DQuat, DVec3};
use obsp::geometry::Aabb;
use obsp::model::{Model, shipped};
use obsp_sim::audit::Audit;
use obsp_sim::{
    ArmedMove, BodyMass, BodyParameters, Buttons, Command, Config, ForceSpan, LinearMove,
    LockedAxes, MissileMotion, ModelId, MovementParameters, MovementSets, Nearest, PlayerKind,
    Posture, Random, Resolution, SweptShape, Swing, World,
};

use scene::Scene;

/// Types of parameters that hold numbers.
const TYPES: [&str; 28] = [
    "f32",
    "f64",
    "u8",
    "u16",
    "u32",
    "u64",
    "Vec3",
    "DVec3",
    "Quat",
    "DQuat",
    "Aabb",
    "BodyParameters",
    "At",
    "Thing",
    "Way",
    "State",
    "EntityState",
    "PlayerMotion",
    "Moving",
    "LinearMove",
    "ArmedMove",
    "Swing",
    "Config",
    "SweptShape",
    "MovementParameters",
    "Command",
    "ConvexSolid",
    "Resolution",
];

fn models() -> Arc<[Model]> {
    static MODELS: OnceLock<Arc<[Model]>> = OnceLock::new();
    let all = || {
        let driven =
            shipped().into_iter().find(|model| model.name() == "crate").expect("a shipped model");
        let driven = Model::from_obj("driven", driven.source()).expect("a model").as_kinematic();
        shipped().into_iter().chain([driven]).collect()
    };
    Arc::clone(MODELS.get_or_init(all))
}

fn map() -> Arc<obsp::Map> {
    static MAP: OnceLock<Arc<obsp::Map>> = OnceLock::new();
    Arc::clone(MAP.get_or_init(|| Arc::new(room::room())))
}

const CONFIG: Config = Config { tick_rate: 60, seed: 3, objects: 0, max_players: 8 };

fn vector(numbers: &mut Numbers, usual: [f64; 3]) -> DVec3 {
    numbers.three(usual).into()
}

fn turn(numbers: &mut Numbers) -> DQuat {
    let [x, y, z, w] = numbers.four([0.0, 0.6, 0.0, 0.8]);
    DQuat::from_xyzw(x, y, z, w)
}

/// Checks a match after an operation: it is played for some ticks, audited, saved and restored.
fn goes_on(mut world: World, audit: &mut Audit) {
    for tick in 0..3 {
        world.step(&[]);
        let found = audit.check_match(&world);
        assert!(found.is_empty(), "tick {tick}: {found:?}");
        for motion in world.players().into_iter().filter_map(|id| world.player_motion(id)) {
            assert!(motion.position.is_finite() && motion.velocity.is_finite(), "{motion:?}");
        }
        assert!(world.contacts().all(|contact| contact.at.is_finite() && contact.gap.is_finite()));
    }
    let saved = world.save();
    let digest = world.digest();
    world
        .restore(&saved)
        .unwrap_or_else(|error| panic!("the saved match cannot be loaded: {error}"));
    assert_eq!(world.digest(), digest);
}

/// Calls an operation that changes a match. Returns whether there is one of this name.
fn change(name: &str, scene: &mut Scene, n: &mut Numbers) -> bool {
    let (ids, world) = (scene.all(), &mut scene.world);
    let crate_ = world.model("crate").expect("a shipped model");
    match name {
        "World::spawn_body" => {
            for model in 0..world.model_names().len() {
                let (mut n, model) = (n.clone(), ModelId(model as u8));
                _ = world.spawn_body(model, vector(&mut n, [300.0, 200.0, 300.0]), turn(&mut n));
            }
            // The calls above took numbers from clones, so as many are taken from the original.
            n.three([0.0; 3]);
            n.four([0.0; 4]);
        }
        "World::spawn_body_near" => {
            _ = world.spawn_body_near(crate_, vector(n, [300.0, 200.0, 100.0]), turn(n));
        }
        "World::teleport" => {
            let (at, turn) = (vector(n, [300.0, 200.0, 100.0]), turn(n));
            ids.into_iter().for_each(|id| _ = world.teleport(id, at, turn));
        }
        "World::set_velocity" => {
            let (linear, angular) = (vector(n, [9.0, -7.0, 1.0]), vector(n, [1.0, 2.0, 3.0]));
            ids.into_iter().for_each(|id| _ = world.set_velocity(id, linear, angular));
        }
        "World::set_surface_velocity" => {
            let velocity = vector(n, [9.0; 3]);
            ids.into_iter().for_each(|id| _ = world.set_surface_velocity(id, velocity));
        }
        "World::move_linear" => {
            let (goal, speed) = (vector(n, [9.0, -7.0, 90.0]), n.f64(90.0));
            let by = LinearMove { goal, speed, delay: n.whole(1, u32::MAX.into()) as u32 };
            ids.into_iter().for_each(|id| _ = world.move_linear(id, by));
        }
        "World::arm_linear_move" => {
            let (goal, speed) = (vector(n, [9.0, -7.0, 90.0]), n.f64(90.0));
            let by = LinearMove { goal, speed, delay: n.whole(1, u32::MAX.into()) as u32 };
            let zone = Aabb { min: vector(n, [-900.0; 3]), max: vector(n, [900.0; 3]) };
            ids.into_iter().for_each(|id| _ = world.arm_linear_move(id, ArmedMove { zone, by }));
        }
        "World::swing" => {
            let (place, way) = (vector(n, [9.0, -7.0, 90.0]), vector(n, [0.0, 0.0, 90.0]));
            let [ticks, at] = [60, 1].map(|usual| n.whole(usual, u32::MAX.into()) as u32);
            let by = Swing { place, way, ticks, at };
            ids.into_iter().for_each(|id| _ = world.swing(id, by));
        }
        "World::add_velocity" => {
            let gained = vector(n, [90.0, -70.0, 10.0]);
            ids.into_iter().for_each(|id| _ = world.add_velocity(id, gained));
        }
        "World::apply_impulse" => {
            let (impulse, at) = (vector(n, [9e3, 1.0, 1.0]), vector(n, [200.0, -90.0, 20.0]));
            ids.into_iter().for_each(|id| _ = world.apply_impulse(id, impulse, at));
        }
        "World::set_body_parameters" => {
            for kind in 0..3 {
                let n = &mut n.clone();
                let mass = match kind {
                    0 => BodyMass::Density(n.f64(0.001)),
                    1 => BodyMass::Mass(n.f64(9.0)),
                    _ => {
                        let mass = n.f64(9.0);
                        BodyMass::MassAndInertia { mass, inertia: vector(n, [900.0; 3]) }
                    }
                };
                let parameters = BodyParameters {
                    mass,
                    gravity_scale: n.f64(-0.1),
                    linear_damping: n.f64(1.0),
                    angular_damping: n.f64(1.0),
                    locked_axes: LockedAxes::ROTATION_LOCKED_X,
                };
                ids.into_iter().for_each(|id| _ = world.set_body_parameters(id, parameters));
            }
            // The calls above took numbers from clones, so as many are taken from the original.
            n.four([0.0; 4]);
            n.three([0.0; 3]);
        }
        "World::add_force" => {
            let force = vector(n, [9e5, -9e5, 9e4]);
            ids.into_iter().for_each(|id| _ = world.add_force(id, force, ForceSpan::UntilReset));
        }
        "World::add_force_at_point" => {
            let (force, at) = (vector(n, [9e5, 1.0, 1.0]), vector(n, [200.0, -90.0, 20.0]));
            for span in [ForceSpan::Tick, ForceSpan::UntilReset] {
                ids.into_iter().for_each(|id| _ = world.add_force_at_point(id, force, at, span));
            }
        }
        "World::add_torque" => {
            let torque = vector(n, [9e6, -9e6, 9e5]);
            ids.into_iter().for_each(|id| _ = world.add_torque(id, torque, ForceSpan::Tick));
        }
        "World::set_body_gravity" => {
            let gravity = n.f64(300.0);
            let is_set = world.set_body_gravity(gravity).is_ok();
            assert_eq!(is_set, (0.0..=4000.0).contains(&gravity), "{gravity}");
        }
        "LockedAxes::from_bits" => {
            let bits = n.whole(9, u8::MAX.into()) as u8;
            assert_eq!(LockedAxes::from_bits(bits).is_some(), bits < 64);
        }
        "World::spawn_missile" => {
            let (at, speed) = (vector(n, [300.0, 200.0, 100.0]), vector(n, [900.0, 1.0, 1.0]));
            let grenade = world.model("grenade").expect("a shipped model");
            for motion in [MissileMotion::Straight, MissileMotion::Bouncing] {
                _ = world.spawn_missile(grenade, motion, at, speed);
            }
        }
        "World::add_player_at" => {
            let (at, yaw) = (vector(n, [300.0, 200.0, 100.0]), n.whole(7, 65_535) as u16);
            for kind in [PlayerKind::Box, PlayerKind::Hovertank] {
                _ = world.add_player_at(kind, at, yaw);
            }
        }
        "World::add_agent_at" => {
            let (at, yaw) = (vector(n, [320.0, 200.0, 100.0]), n.whole(7, 65_535) as u16);
            for kind in [PlayerKind::Box, PlayerKind::Hovertank] {
                _ = world.add_agent_at(kind, at, yaw);
            }
        }
        "World::bring_back_at" => {
            let at = vector(n, [300.0, 200.0, 100.0]);
            _ = world.bring_back_at(scene.waiting, at, n.whole(7, 65_535) as u16);
        }
        "World::set_movement" => {
            let numbers = MovementParameters::default().to_array().map(|usual| n.f64(usual));
            let [run_speed, slow_share, friction, stop_speed, ground, air, jump, gravity, step] =
                numbers;
            let parameters = MovementParameters {
                run_speed,
                slow_share,
                friction,
                stop_speed,
                ground_acceleration: ground,
                air_acceleration: air,
                jump_speed: jump,
                gravity,
                step_height: step,
            };
            let is_set = world.set_movement(parameters).is_ok();
            assert_eq!(is_set, MovementParameters::from_array(numbers).is_ok());
        }
        "MovementSets::from_numbers" | "MovementSets::with" => {
            let numbers = MovementParameters::default().to_array().map(|usual| n.f64(usual));
            let is_sound = MovementParameters::from_array(numbers).is_ok();
            let usual = MovementParameters::default().to_array();
            assert_eq!(MovementSets::from_numbers(numbers, &[]).is_ok(), is_sound);
            let other = [("other".to_owned(), numbers)];
            let sets = MovementSets::from_numbers(usual, &other);
            assert_eq!(sets.is_ok(), is_sound);
            if let Ok(parameters) = MovementParameters::from_array(numbers) {
                assert!(MovementSets::default().with("other", parameters).is_ok());
            }
            sets.into_iter().for_each(|sets| {
                let set = sets.find("other").expect("it was given");
                world.set_movement_sets(sets).expect("the usual numbers are sound");
                _ = world.set_player_movement(scene.player, set);
            });
        }
        "World::set_budget" => world.set_budget(Some(n.whole(9, u32::MAX.into()) as u32)),
        "World::set_budget_per_second" => {
            world.set_budget_per_second(Some(n.whole(9, u32::MAX.into()) as u32));
        }
        "World::set_resolution" => {
            let parts = n.whole(4096, u32::MAX.into()) as u32;
            Resolution::new(parts).into_iter().for_each(|parts| world.set_resolution(parts));
        }
        "World::set_threads" => world.set_threads(n.whole(1, 4) as u16),
        "World::step" | "World::move_player" => {
            let yaw = n.whole(9, u16::MAX.into()) as u16;
            let command = Command {
                forward: n.f64(127.0) as i8,
                right: n.f64(-128.0) as i8,
                pitch: n.f64(-9.0) as i16,
                view_age: yaw,
                yaw,
                buttons: Buttons::JUMP,
            };
            world.step(&[(scene.player, command), (scene.tank, command)]);
        }
        _ => return false,
    }
    true
}

/// Asks a match a question. Returns whether there is one of this name.
fn ask(name: &str, scene: &Scene, n: &mut Numbers) -> bool {
    let Scene { world, player, .. } = scene;
    match name {
        "World::cast_ray"
        | "World::cast_ray_where"
        | "World::cast_ray_as_seen"
        | "World::cast_ray_as_seen_where" => {
            let from = vector(n, [0.0, -100.0, 17.0]);
            let hit = if !name.starts_with("World::cast_ray_as_seen") {
                let to = vector(n, [300.0, -100.0, 17.0]);
                let hit = world.cast_ray(from, to, None);
                assert_eq!(hit.entity, world.cast_ray_where(from, to, |_| true).entity);
                hit
            } else {
                let (direction, reach) = (vector(n, [1.0, 0.0, 0.0]), n.f64(300.0));
                let age = n.whole(16, u16::MAX.into()) as u16;
                let hit = world.cast_ray_as_seen(*player, from, direction, reach, age);
                let ray = (from, direction, reach);
                let same = world.cast_ray_as_seen_where(*player, ray, age, |_| true);
                assert_eq!(hit.entity, same.entity);
                hit
            };
            assert!((0.0..=1.0).contains(&hit.fraction), "{hit:?}");
            assert!(hit.at.is_finite() || !from.is_finite(), "{hit:?}");
            assert!(!n.are_usual() || hit.entity == Some(scene.body), "{hit:?}");
        }
        "World::cast_ray_all" => {
            let (from, to) = (vector(n, [0.0, -100.0, 17.0]), vector(n, [300.0, -100.0, 17.0]));
            let hits = world.cast_ray_all(from, to, |_| true);
            for hit in &hits {
                assert!((0.0..=1.0).contains(&hit.fraction), "{hit:?}");
                assert!(hit.at.is_finite() || !from.is_finite(), "{hit:?}");
            }
            assert!(!n.are_usual() || hits[0].entity == Some(scene.body), "{hits:?}");
        }
        "World::nearest_point" => {
            let (at, within) = (vector(n, [200.0, -100.0, 90.0]), n.f64(100.0));
            let near = world.nearest_point(at, within, |_| true);
            if let Some(near) = near {
                assert!(near.at.is_finite() && near.distance <= within, "{near:?}");
                assert!(at.is_finite() && within.is_finite());
            }
            // The top of the body below the point is ten units away.
            let is_body = |near: Nearest| near.entity.is_some() && near.distance < 10.5;
            assert!(!n.are_usual() || near.is_some_and(is_body), "{near:?}");
        }
        "World::in_sight" => {
            let (from, to) = (vector(n, [0.0, 0.0, 90.0]), vector(n, [300.0, 200.0, 90.0]));
            let seen = world.in_sight(from, to);
            assert!(!n.are_usual() || seen);
            assert!(from.is_finite() && to.is_finite() || !seen);
        }
        "World::near" => {
            let (at, radius) = (vector(n, [200.0, -90.0, 17.0]), n.f64(30.0));
            let found = world.near(at, radius);
            assert!(found.iter().all(|(_, middle)| middle.is_finite()));
            assert!(!n.are_usual() || found.iter().any(|(id, _)| *id == scene.body));
        }
        "World::overlapping_box" => {
            let min = vector(n, [190.0, -110.0, 10.0]);
            let found = world.overlapping_box(&Aabb { min, max: vector(n, [210.0, -90.0, 20.0]) });
            assert!(!n.are_usual() || found == [scene.body], "{found:?}");
        }
        "World::sweep" | "World::sweep_where" => {
            let half = vector(n, [4.0; 3]);
            let (turn, from) = (turn(n), vector(n, [0.0, -100.0, 17.0]));
            let to = vector(n, [300.0, -100.0, 17.0]);
            let model = world.model("l_block").expect("a shipped model");
            let shapes = [
                SweptShape::Box(half),
                SweptShape::Player(Posture::Standing),
                SweptShape::Model(model),
            ];
            for shape in shapes {
                let swept = world.sweep(shape, turn, [from, to], None);
                let same = world.sweep_where(shape, turn, [from, to], |_| true);
                assert_eq!((same.fraction, same.entity), (swept.fraction, swept.entity));
                assert!((0.0..=1.0).contains(&swept.fraction), "{swept:?}");
                assert!(swept.at.is_finite() || !from.is_finite(), "{swept:?}");
                assert!(swept.normal.is_finite() && (!swept.start_solid || swept.fraction == 0.0));
            }
        }
        "World::muzzle" => {
            let rocket = world.model("rocket").expect("a shipped model");
            let (eye, direction) = (vector(n, [-400.0, 0.0, 50.0]), vector(n, [0.6, 0.8, 0.0]));
            let muzzle = world.muzzle(*player, rocket, eye, direction);
            assert!(muzzle.is_none_or(|at| at.is_finite()), "{muzzle:?}");
        }
        "World::model_bounds" => {
            let model = world.model("crate").expect("a shipped model");
            let bounds = world.model_bounds(model, vector(n, [9.0; 3]), turn(n));
            assert!(bounds.is_some() || !n.are_usual());
            assert!(bounds.is_none_or(|bounds| !bounds.is_empty()), "{bounds:?}");
        }
        "World::ticks_in" => assert!(world.ticks_in(n.f64(0.5)) > 0 || !n.are_usual()),
        _ => return false,
    }
    true
}

/// Calls a function of a plain value. Returns whether there is one of this name.
fn value(name: &str, n: &mut Numbers) -> bool {
    match name {
        "Random::between" => _ = Random::new(1).between(n.f64(1.0), n.f64(2.0)),
        "Random::below" => {
            let count = n.whole(7, u64::MAX);
            assert!(Random::new(1).below(count) < count.max(1));
        }
        "Random::new" => _ = Random::new(n.whole(7, u64::MAX)).bits(),
        "Resolution::new" => _ = Resolution::new(n.whole(7, u32::MAX.into()) as u32),
        "Buttons::action" => _ = Buttons::action(n.whole(7, u8::MAX.into()) as u8),
        "Command::running_towards" => {
            let command = Command::running_towards(vector(n, [3.0, 4.0, 0.0]));
            assert!(command.ahead().is_finite());
        }
        "Buttons::from_bits" => _ = Buttons::from_bits(n.whole(7, 1 << 21) as u32),
        "Buttons::from_recorded_bits" => {
            _ = Buttons::from_recorded_bits(n.whole(7, 1 << 21) as u32)
        }
        "MovementParameters::from_array" => {
            let numbers = MovementParameters::default().to_array().map(|usual| n.f64(usual));
            if let Ok(parameters) = MovementParameters::from_array(numbers) {
                assert!(parameters.to_array().iter().all(|number| number.is_finite()));
            }
        }
        "World::new" | "World::unsettled" => {
            let config = Config {
                tick_rate: n.whole(60, u32::MAX.into()) as u32,
                seed: n.whole(7, u64::MAX),
                objects: n.whole(2, 50) as u32,
                max_players: n.whole(4, u16::MAX.into()) as u16,
            };
            if let Ok(world) = World::unsettled(map(), models(), config) {
                assert!(world.seconds() > 0.0 && world.seconds() <= 0.1, "{config:?}");
            }
        }
        _ => return false,
    }
    true
}

/// The list of functions is read from the sources, so a new function is noticed.
#[test]
fn no_public_function_panics_or_leaves_a_match_unsound_by_odd_numbers() {
    let scene = Scene::new();
    let mut audit = Audit::new(&map(), &models()).expect("the map can be audited");
    let found = functions(env!("CARGO_MANIFEST_DIR"), &[], &TYPES);
    assert!(found.len() > 45, "{found:#?}");
    let bytes = ["World::load", "World::restore"];
    // These functions take bytes, or have tests of their own in `predicted`.
    let left_out = |name: &str| bytes.contains(&name) || predicted::has(name);
    for name in found.iter().map(|function| function.name.as_str()) {
        if left_out(name) || name == "Clock::new" {
            continue;
        }
        exercise(name, 1, |numbers| {
            let mut changed = scene.clone();
            let known = if change(name, &mut changed, numbers)
                || presence::change(name, &mut changed, numbers)
                || sensors::change(name, &mut changed, numbers)
            {
                goes_on(changed.world, &mut audit);
                true
            } else {
                ask(name, &scene, numbers)
                    || volumes::ask(name, &scene, numbers)
                    || queries::query(name, numbers)
                    || value(name, numbers)
            };
            assert!(known, "{name} takes numbers, and this test does not call it: add a call here");
        });
    }
}
