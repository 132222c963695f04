//! The response of bodies to forces, as players of a game would accept it. Each test runs with
//! several seeds; `SIM_SEEDS=20` runs more of them.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::model::{EVERYDAY, shipped};
use obsp_game::arena::Arena;
use obsp_game::{Match, RunningMatch};
use obsp_sim::{Command, Config, EntityId, EntityState, Kind, PlayerKind, Traits, World};
use tests::harness::{MapBuilder, Random, crowd_shapes, placed};
use tests::oracle::bodies::{Audit, Placed};
use tests::oracle::map_text;

const TICK_RATE: u32 = 60;

fn seeds(usual: u64) -> std::ops::Range<u64> {
    let count = std::env::var("SIM_SEEDS").map_or(usual, |n| n.parse().expect("a number"));
    0..count
}

const CONFIG: Config = Config { tick_rate: TICK_RATE, seed: 1, objects: 0, max_players: 4 };

fn start(drawing: &MapBuilder) -> World {
    World::new(Arc::new(drawing.compile()), shipped().into(), CONFIG)
        .expect("the map can be played")
}

/// A match of the arena game, with its weapons, and a player in it.
fn start_arena(drawing: &MapBuilder) -> (Match<Arena>, EntityId) {
    let map = Arc::new(drawing.compile());
    let mut game = Match::new(Arena, map, CONFIG).expect("the map can be played");
    let player = game.join_as(PlayerKind::Box).expect("there is room for the player");
    (game, player)
}

fn run(world: &mut World, seconds: u32) {
    for _ in 0..seconds * TICK_RATE {
        world.step(&[]);
    }
}

fn props(world: &World) -> Vec<EntityState> {
    let is_prop = |entity: &EntityState| matches!(entity.kind, Kind::Prop { .. });
    world.state().entities.into_iter().filter(is_prop).collect()
}

/// A floor with walls around it, `half` units from the middle, so that nothing rolls away.
fn pen(half: i32) -> MapBuilder {
    let out = half + 32;
    MapBuilder::floor()
        .block([-out, -out, 0], [-half, out, 2_000])
        .block([half, -out, 0], [out, out, 2_000])
        .block([-half, -out, 0], [half, -half, 2_000])
        .block([-half, half, 0], [half, out, 2_000])
}

/// Cosine of the angle between the vertical and the body's axis that is closest to it.
fn flatness(body: &EntityState) -> f64 {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    axes.iter().map(|&axis| (body.orientation * axis).z.abs()).fold(0.0, f64::max)
}

/// The bodies that nothing holds, by the exact oracle. Such a body overlaps nothing when it is
/// lowered a little. Nor is it blocked in two opposite directions, between which friction could
/// hold it.
fn hanging(drawing: &MapBuilder, world: &World) -> Vec<EntityState> {
    let entities = map_text::parse(&drawing.text()).expect("the drawing can be read");
    let mut audit = Audit::new(&entities, crowd_shapes(&shipped()));
    let things: Vec<Placed> = world.state().entities.iter().map(placed).collect();
    let mut hangs = |body: &EntityState| {
        let own = placed(body).id;
        let near = |thing: &&Placed| thing.position.distance(body.position) < 200.0;
        let near: Vec<Placed> = things.iter().filter(near).copied().collect();
        let mut is_free = |shift: DVec3| {
            let mut near = near.clone();
            audit.judge(&near);
            let thing =
                near.iter_mut().find(|thing| thing.id == own).expect("the body is near itself");
            thing.position += shift;
            audit.judge(&near).is_empty()
        };
        let sides = [DVec3::X, DVec3::Y, DVec3::X + DVec3::Y, DVec3::X - DVec3::Y];
        let mut clamped = |side: DVec3| {
            let shift = side.normalize() * ASIDE;
            !is_free(shift) && !is_free(-shift)
        };
        !sides.into_iter().any(&mut clamped) && is_free(-DVec3::Z * LOWER)
    };
    props(world).into_iter().filter(|body| hangs(body)).collect()
}

/// Distance by which a body is moved aside to find out whether it is clamped, in units: bodies in
/// contact are a tenth of a unit apart.
const ASIDE: f64 = 0.2;

/// Distance by which a body is lowered to find out what carries it, in units. Bodies rest a tenth
/// of a unit above their support, and more where they are tilted.
const LOWER: f64 = 0.5;

#[test]
fn dropped_boxes_come_to_rest_flat() {
    for seed in seeds(8) {
        let mut random = Random::new(seed);
        let mut drawing = MapBuilder::floor();
        for i in 0..9 {
            let model = ["crate", "small_crate", "plank"][i % 3];
            let (x, y) = ((i / 3) as f64 * 150.0, (i % 3) as f64 * 150.0);
            let height = random.between(40.0, 200.0);
            drawing = drawing.prop(model, [x, y, height], random.between(0.0, 360.0));
        }
        let mut world = start(&drawing);
        run(&mut world, 1);
        for body in props(&world) {
            assert!(body.asleep, "seed {seed}: {body:?}");
            assert!(flatness(&body) > 0.9999, "seed {seed}: aslant: {body:?}");
        }
        assert_eq!(hanging(&drawing, &world), [], "seed {seed}");
    }
}

/// The coefficient of friction of all bodies. It makes a friction angle of 31 degrees.
const RUBBING: f64 = 0.6;

/// Maximum height from which boxes fall onto a ramp, in units.
const FALL: f64 = 16.0;

#[test]
fn boxes_stay_on_ramps_below_the_friction_angle_and_slide_above_it() {
    for seed in seeds(6) {
        let mut random = Random::new(seed);
        // The rise over 1,000 units: slopes of 10 to 29 degrees, and of 33 to 40 degrees.
        for (rise, stays) in [(176, true), (400, true), (554, true), (650, false), (840, false)] {
            let slope = f64::from(rise) / 1000.0;
            let (x, angle) = (random.between(300.0, 700.0) - 500.0, random.between(0.0, 360.0));
            let (model, half) = [("crate", 16.0), ("small_crate", 8.0)][random.below(2)];
            let surface = (x + 500.0) * slope;
            let mut world =
                start(&MapBuilder::floor().ramp([-500, -300, 0], [500, 300, rise]).prop(
                    model,
                    [x, 0.0, surface + 1.3 * half + 2.0],
                    angle,
                ));
            let before = props(&world)[0];
            run(&mut world, 4);
            let body = props(&world)[0];
            let told = format!("seed {seed}, {model} on {rise}: {before:?} then {body:?}");
            if stays {
                // Friction uses up the energy of the fall, and then the box stays in its place.
                let (sine, cosine) = (slope / slope.hypot(1.0), 1.0 / slope.hypot(1.0));
                let farthest = FALL / (RUBBING * cosine - sine);
                assert!(
                    (body.position.x - x).abs() < farthest,
                    "the box slid on by more than {farthest} units: {told}"
                );
                assert!(body.asleep && body == before, "{told}");
                let normal = DVec3::new(-slope, 0.0, 1.0).normalize();
                let axes = [DVec3::X, DVec3::Y, DVec3::Z];
                let along = axes.map(|axis| (body.orientation * axis).dot(normal).abs());
                assert!(along.into_iter().fold(0.0, f64::max) > 0.9998, "not flat: {told}");
            } else {
                assert!(x - body.position.x > 100.0, "{told}");
            }
        }
    }
}

#[test]
fn a_stack_of_five_stands_for_a_minute() {
    for seed in seeds(4) {
        let mut random = Random::new(seed);
        let mut drawing = MapBuilder::floor();
        for i in 0..5 {
            let mut aside = || random.between(-4.0, 4.0);
            let origin = [aside(), aside(), 17.0 + 33.0 * f64::from(i)];
            drawing = drawing.prop("crate", origin, random.between(-20.0, 20.0));
        }
        let mut world = start(&drawing);
        run(&mut world, 2);
        let before = props(&world);
        for (i, body) in before.iter().enumerate() {
            let expected = 16.0 + 32.0 * i as f64;
            assert!((body.position.z - expected).abs() < 1.5, "seed {seed}, crate {i}: {body:?}");
            assert!(body.asleep, "seed {seed}, crate {i}: {body:?}");
        }
        run(&mut world, 58);
        assert_eq!(props(&world), before, "seed {seed}");
    }
}

/// Five hundred mixed bodies rain into a pen. The match begins after at most ten seconds of
/// settling, so ten of the twenty seconds are left. With seed 10, a body once slept in the air: its
/// support was woken after the last search for contacts, and moved away before the next one.
#[test]
fn five_hundred_dropped_bodies_all_sleep_within_twenty_seconds() {
    for seed in seeds(1).chain([10]) {
        let mut random = Random::new(seed);
        let mut drawing = pen(440);
        for i in 0..500 {
            let model = EVERYDAY[i % EVERYDAY.len()];
            let mut across = || random.between(-380.0, 380.0);
            let origin = [across(), across(), random.between(40.0, 800.0)];
            drawing = drawing.prop(model, origin, random.between(0.0, 360.0));
        }
        let mut world = start(&drawing);
        let count = props(&world).len();
        assert!(count == 500 && world.warnings().is_empty(), "{count}: {:?}", world.warnings());
        let mut ticks = 0;
        while world.counters().awake > 0 && ticks < 10 * TICK_RATE {
            world.step(&[]);
            ticks += 1;
        }
        let awake: Vec<_> = props(&world).into_iter().filter(|body| !body.asleep).collect();
        assert!(awake.is_empty(), "seed {seed}: {} awake: {:?}", awake.len(), &awake[..1]);
        eprintln!("seed {seed}: all asleep {ticks} ticks after the match began");
        let hanging = hanging(&drawing, &world);
        assert!(
            hanging.is_empty(),
            "seed {seed}: {} hang in the air: {:?}",
            hanging.len(),
            &hanging[..1]
        );
        assert_eq!(world.counters().emergency_replacements, 0, "seed {seed}");
    }
}

/// A body at rest keeps still until it sleeps, and does not tremble.
#[test]
fn nothing_trembles_before_it_sleeps() {
    for seed in seeds(4) {
        let mut random = Random::new(seed);
        let mut drawing = pen(150);
        for i in 0..24 {
            let model = EVERYDAY[i % EVERYDAY.len()];
            let mut across = || random.between(-100.0, 100.0);
            let origin = [across(), across(), random.between(40.0, 300.0)];
            drawing = drawing.prop(model, origin, random.between(0.0, 360.0));
        }
        // The player fires rockets, which wake the bodies.
        let (mut game, player) = start_arena(&drawing);
        let rocket = Command { buttons: obsp_sim::Buttons::SECONDARY, ..Default::default() };
        for _ in 0..TICK_RATE {
            game.step(&[(player, rocket)]);
        }
        let mut last: Vec<EntityState> = Vec::new();
        let (mut turned_back, mut waited) = (0, 0);
        while game.world().counters().awake > 0 && waited < 20 * TICK_RATE {
            game.step(&[]);
            waited += 1;
            let now = props(game.world());
            for (old, new) in last.iter().zip(&now).filter(|(old, new)| old.id == new.id) {
                let slow = |body: &EntityState| body.velocity.length() < 20.0;
                // A slow body that reverses its velocity jerks back and forth.
                let back = old.velocity.dot(new.velocity) < -16.0;
                turned_back += u32::from(slow(old) && slow(new) && back);
            }
            last = now;
        }
        let awake = game.world().counters().awake;
        assert!(waited < 20 * TICK_RATE, "seed {seed}: {awake} awake");
        assert!(turned_back < 20, "seed {seed}: {turned_back} jerks");
    }
}

#[test]
fn sleepers_wake_by_touch_by_blast_and_when_their_support_leaves() {
    let pile = |z: f64| MapBuilder::floor().spawn([-300, 0, 1]).prop("crate", [0.0, 0.0, z], 0.0);
    let forward = Command { forward: 127, ..Default::default() };
    // The rocket is aimed eight degrees down, at the floor in front of the crate.
    let rocket =
        Command { buttons: obsp_sim::Buttons::SECONDARY, pitch: -1_500, ..Default::default() };
    for (what, command, ticks) in [("touch", forward, 80), ("blast", rocket, 40)] {
        let (mut game, player) = start_arena(&pile(17.0));
        (0..TICK_RATE).for_each(|_| game.step(&[]));
        let before = props(game.world())[0];
        assert!(before.asleep, "{before:?}");
        let commands: Vec<_> = (0..ticks).map(|_| [(player, command)]).collect();
        let mut woke = false;
        for command in &commands {
            game.step(command);
            woke |= props(game.world()).iter().any(|body| body.id == before.id && !body.asleep);
        }
        assert!(woke, "{what} did not wake {before:?}");
    }
    // The lowest crate of a tower is pushed away from under it.
    let mut drawing = pile(17.0);
    for i in 1..4 {
        drawing = drawing.prop("crate", [0.0, 0.0, 17.0 + 33.0 * f64::from(i)], 0.0);
    }
    let mut world = start(&drawing);
    let player = world.join().expect("there is room for the player");
    run(&mut world, 1);
    assert!(props(&world).iter().all(|body| body.asleep));
    for _ in 0..6 * TICK_RATE {
        world.step(&[(player, forward)]);
    }
    for _ in 0..12 * TICK_RATE {
        world.step(&[]);
    }
    assert!(props(&world).iter().all(|body| body.asleep), "{:?}", props(&world));
    let hanging = hanging(&drawing, &world);
    assert!(hanging.is_empty(), "bodies hang in the air: {hanging:?}");
}

/// [`flatness`] finds a tilt.
#[test]
fn flatness_tells_a_tilt() {
    let tilted = EntityState {
        id: obsp_sim::EntityId { slot: 0, generation: 0 },
        kind: Kind::Prop { model: obsp_sim::ModelId(0) },
        position: DVec3::ZERO,
        orientation: DQuat::from_rotation_x(0.05),
        velocity: DVec3::ZERO,
        asleep: true,
        traits: Traits::default(),
    };
    assert!(flatness(&tilted) < 0.9999);
}
