//! Extreme numbers: a game calls every function that takes numbers with the numbers of
//! `tests/extremes`. Each call returns an error, or leaves a match that the audit accepts.

use std::sync::{Arc, Mutex, PoisonError};

use crate::extremes::{Numbers, exercise, functions};
use glam::{DQuat, DVec3};
use obsp::Spaces;
use obsp::geometry::Aabb;
use obsp_game::quake::{Entities, Family};
use obsp_game::{Game, GameFile, Match, Respawn, RunningMatch, VolumeId, WorldMut};
use obsp_sim::audit::Audit;
use obsp_sim::{
    ArmedMove, BodyMass, BodyParameters, Config, EntityId, ForceSpan, LinearMove, LockedAxes,
    MissileMotion, PlayerKind, SensorId, SensorShape, Swing,
};

use crate::drawn::{brush, map};

/// Types of parameters that hold numbers.
const TYPES: [&str; 14] = [
    "f32",
    "f64",
    "u16",
    "u32",
    "u64",
    "DVec3",
    "DQuat",
    "Aabb",
    "BodyParameters",
    "LinearMove",
    "ArmedMove",
    "Swing",
    "Config",
    "VolumeId",
];

/// A game that makes one call when it is set up, and one in each tick.
#[derive(Clone, Debug)]
struct Caller {
    name: String,
    numbers: Arc<Mutex<Numbers>>,
}

fn vector(n: &mut Numbers, usual: [f64; 3]) -> DVec3 {
    n.three(usual).into()
}

fn turn(n: &mut Numbers) -> DQuat {
    let [x, y, z, w] = n.four([0.0, 0.6, 0.0, 0.8]);
    DQuat::from_xyzw(x, y, z, w)
}

/// Calls the function of this name. `id` is a crate in the world.
fn call(name: &str, world: &mut WorldMut<'_>, id: EntityId, n: &mut Numbers) {
    let model = world.model("crate").expect("a shipped model");
    match name {
        "WorldMut::spawn_body" => {
            _ = world.spawn_body(model, vector(n, [90.0, 90.0, 90.0]), turn(n));
        }
        "WorldMut::spawn_body_near" => {
            _ = world.spawn_body_near(model, vector(n, [90.0, 90.0, 90.0]), turn(n));
        }
        "WorldMut::spawn_agent_at" => {
            let (at, yaw) = (vector(n, [90.0, -90.0, 60.0]), n.whole(9, 65_535) as u16);
            _ = world.spawn_agent_at(PlayerKind::Box, at, yaw);
        }
        "WorldMut::spawn_body_in" => {
            let (min, max) = (vector(n, [-200.0; 3]), vector(n, [200.0; 3]));
            let (at, turn, pocket) = (vector(n, [90.0; 3]), turn(n), Aabb { min, max });
            _ = world.spawn_body_in(model, at, turn, &pocket);
        }
        "WorldMut::set_pocket" => {
            let (min, max) = (vector(n, [-200.0; 3]), vector(n, [200.0; 3]));
            _ = world.set_pocket(id, Some(Aabb { min, max }));
        }
        "WorldMut::add_sensor" | "WorldMut::move_sensor" | "WorldMut::attach_sensor" => {
            let shape = SensorShape::Box(vector(n, [40.0; 3]));
            let (at, turn) = (vector(n, [0.0, 0.0, 30.0]), turn(n));
            let sensor = world.add_sensor(shape, at, turn).unwrap_or(SensorId(0));
            _ = world.move_sensor(sensor, at, turn);
            _ = world.attach_sensor(sensor, id, at, turn);
        }
        "WorldMut::spawn_intangible" => {
            _ = world.spawn_intangible(model, vector(n, [90.0, 90.0, 90.0]), turn(n));
        }
        "WorldMut::set_pose" | "WorldMut::place" | "WorldMut::attach" => {
            let picture = world.spawn_intangible(model, DVec3::ZERO, DQuat::IDENTITY);
            let picture = picture.expect("a slot is free");
            let (at, turn) = (vector(n, [-90.0, 90.0, 90.0]), turn(n));
            _ = match name {
                "WorldMut::set_pose" => world.set_pose(picture, at, turn),
                "WorldMut::place" => world.place(picture, at, turn),
                _ => world.attach(picture, id, at, turn),
            };
        }
        "WorldMut::teleport" => _ = world.teleport(id, vector(n, [-90.0, 90.0, 90.0]), turn(n)),
        "WorldMut::set_velocity" => {
            _ = world.set_velocity(id, vector(n, [9.0; 3]), vector(n, [1.0; 3]));
        }
        "WorldMut::set_surface_velocity" => {
            _ = world.set_surface_velocity(id, vector(n, [9.0; 3]));
        }
        "WorldMut::move_linear" => {
            let (goal, speed) = (vector(n, [9.0; 3]), n.f64(90.0));
            _ = world.move_linear(id, LinearMove { goal, speed, delay: 1 });
        }
        "WorldMut::swing" => {
            let (place, way) = (vector(n, [9.0; 3]), vector(n, [0.0, 0.0, 90.0]));
            _ = world.swing(id, Swing { place, way, ticks: 60, at: 1 });
        }
        "WorldMut::arm_linear_move" => {
            let by = LinearMove { goal: vector(n, [9.0; 3]), speed: n.f64(90.0), delay: 1 };
            let zone = Aabb { min: vector(n, [-900.0; 3]), max: vector(n, [900.0; 3]) };
            _ = world.arm_linear_move(id, ArmedMove { zone, by });
        }
        "WorldMut::apply_impulse" => {
            _ = world.apply_impulse(id, vector(n, [900.0; 3]), vector(n, [1.0; 3]));
        }
        "WorldMut::set_body_parameters" => {
            let parameters = BodyParameters {
                mass: BodyMass::MassAndInertia { mass: n.f64(9.0), inertia: vector(n, [900.0; 3]) },
                gravity_scale: n.f64(-0.1),
                linear_damping: n.f64(1.0),
                angular_damping: n.f64(1.0),
                locked_axes: LockedAxes::ROTATION_LOCKED_X,
            };
            _ = world.set_body_parameters(id, parameters);
        }
        "WorldMut::add_force" => {
            _ = world.add_force(id, vector(n, [9e4; 3]), ForceSpan::UntilReset);
        }
        "WorldMut::add_force_at_point" => {
            let (force, at) = (vector(n, [9e4; 3]), vector(n, [1.0; 3]));
            _ = world.add_force_at_point(id, force, at, ForceSpan::Tick);
        }
        "WorldMut::add_torque" => {
            _ = world.add_torque(id, vector(n, [9e6; 3]), ForceSpan::UntilReset);
        }
        "WorldMut::add_velocity" => _ = world.add_velocity(id, vector(n, [90.0; 3])),
        "WorldMut::spawn_missile" => {
            let rocket = world.model("rocket").expect("a shipped model");
            let (at, speed) = (vector(n, [0.0, 90.0, 90.0]), vector(n, [900.0, 0.0, 0.0]));
            _ = world.spawn_missile(rocket, MissileMotion::Straight, at, speed);
        }
        "WorldMut::add_volume" => {
            let (min, max) = (vector(n, [-200.0; 3]), vector(n, [200.0; 3]));
            let volume = world.add_volume(&Aabb { min, max });
            assert!(volume.is_some() || !n.are_usual());
        }
        "Entities::entered" | "Entities::ray" | "Entities::blast" | "Entities::damaged" => {
            let mut entities = Entities::set_up(world, Family::ALL);
            let (from, to) = (vector(n, [0.0; 3]), vector(n, [90.0; 3]));
            let (radius, points) = (n.f64(200.0), n.f64(50.0));
            entities.ray([from, to], n.whole(0, 32_767) as i16, id);
            entities.blast(world, from, radius, points, id);
            entities.entered(VolumeId(n.whole(0, 65_535) as u16), id);
            entities.damaged(id, n.whole(0, 32_767) as i16, id);
            entities.tick(world);
        }
        "WorldMut::inside" => _ = world.inside(VolumeId(n.whole(0, 65_535) as u16)).len(),
        _ => panic!("{name} takes numbers, and this test does not call it: add a call here"),
    }
}

impl Game for Caller {
    type State = Option<EntityId>;

    fn set_up(&self, world: &mut WorldMut<'_>) -> Self::State {
        let model = world.model("crate").expect("a shipped model");
        let id = world.spawn_body(model, DVec3::new(0.0, 0.0, 30.0), DQuat::IDENTITY).ok()?;
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        call(&self.name, world, id, &mut numbers);
        Some(id)
    }

    fn respawn(&self, _: &mut Self::State, world: &mut WorldMut<'_>, _: EntityId) -> Respawn {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let position = vector(&mut numbers, [90.0, -90.0, 60.0]);
        Respawn::At { position, yaw: world.random().bits() as u16 }
    }
}

fn room() -> Arc<obsp::Map> {
    let mut brushes = String::new();
    for axis in 0..3 {
        for (low, high) in [(-288.0, -256.0), (256.0, 288.0)] {
            let (mut min, mut max) = (DVec3::splat(-288.0), DVec3::splat(288.0));
            (min[axis], max[axis]) = (low, high);
            (min.z, max.z) = (min.z + 256.0, max.z + 256.0);
            brushes += &brush(min, max);
        }
    }
    let spawn = "{\n\"classname\" \"info_player_start\"\n\"origin\" \"-150 0 40\"\n}\n";
    map(&Spaces::default(), &brushes, spawn)
}

#[test]
fn no_call_of_a_game_panics_or_leaves_a_match_unsound_by_odd_numbers() {
    let map = room();
    let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 4 };
    let found = functions(env!("CARGO_MANIFEST_DIR"), &[], &TYPES);
    let names = found.iter().map(|function| function.name.as_str());
    let of_matches = ["Match::new", "Match::with_file"];
    let calls: Vec<&str> = names.filter(|name| !of_matches.contains(name)).collect();
    assert!(calls.len() >= 10, "{found:#?}");
    // Two threads, because this takes longer than the other tests of the package together.
    std::thread::scope(|scope| {
        for half in calls.chunks(calls.len().div_ceil(2)) {
            scope.spawn(|| half.iter().for_each(|name| exercise_call(name, &map, config)));
        }
    });
}

/// Plays matches in which a game makes the call `name` with odd numbers.
fn exercise_call(name: &str, map: &Arc<obsp::Map>, config: Config) {
    let mut audit = Audit::new(map, &obsp::model::shipped()).expect("the map can be audited");
    exercise(name, 3, |numbers| {
        let shared = Arc::new(Mutex::new(numbers.clone()));
        let game = Caller { name: name.to_owned(), numbers: Arc::clone(&shared) };
        let mut game = Match::new(game, Arc::clone(map), config).expect("the map can be played");
        *numbers = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let player = game.join_as(PlayerKind::Box).expect("there is room");
        for tick in 0..3 {
            game.step(&[]);
            let faults = audit.check_match(game.world());
            assert!(faults.is_empty(), "tick {tick}: {faults:?}");
            let state = game.world().state();
            let here = state.entities.iter().find(|entity| entity.id == player);
            assert!(here.is_none_or(|entity| entity.position.is_finite()));
        }
        game.restore(&game.save()).expect("a saved match can be loaded");
    });
}

/// Every number of a `game.toml` is refused, or a match can be played with it.
#[test]
fn odd_numbers_of_a_game_file_are_refused_or_can_be_played_by() {
    let map = room();
    let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 4 };
    exercise("game.toml", 4, |n| {
        let mut text = String::new();
        for (table, names) in [
            ("movement", &["run_speed", "gravity", "jump_speed", "step_height", "friction"][..]),
            ("player", &["health", "respawn_seconds"]),
            ("weapons.fire]\nkind = 'ray'\n#[", &["refire_seconds", "reach", "damage", "impulse"]),
            (
                "weapons.lob]\nkind = 'grenade'\n#[",
                &[
                    "speed",
                    "lift",
                    "fuse_seconds",
                    "blast_radius",
                    "blast_damage",
                    "blast_impulse",
                    "blast_max_speed",
                    "blast_player_speed",
                ],
            ),
            ("materials.own_crate", &["friction", "restitution"]),
        ] {
            text += &format!("[{table}]\n");
            for name in names {
                let usual = if *name == "restitution" { 0.5 } else { 2.0 };
                let usual = if *name == "damage" || *name == "health" { 9.0 } else { usual };
                text += &format!("{name} = {:?}\n", n.f64(usual)).replace("NaN", "nan");
            }
        }
        text += "[models]\nown_crate = 'own/crate.obj'\n";
        let model = include_str!("../../../../maps/models/crate.obj");
        let file = GameFile::read(&text, &mut |_| Ok(model.to_owned()));
        assert!(file.is_ok() || !n.are_usual(), "{text}{file:?}");
        let Ok(file) = file else { return };
        file.movement().check().expect("numbers that players can move by");
        let arena = obsp_game::arena::Arena;
        let mut game = Match::with_file(arena, Arc::clone(&map), config, &file).expect("a match");
        let player = game.join_as(PlayerKind::Box).expect("there is room");
        let buttons = obsp_sim::Buttons::PRIMARY | obsp_sim::Buttons::TERTIARY;
        for _ in 0..3 {
            game.step(&[(player, obsp_sim::Command { buttons, ..obsp_sim::Command::default() })]);
        }
        let state = game.world().state();
        assert!(state.entities.iter().all(|entity| entity.velocity.is_finite()), "{state:?}");
    });
}
