//! Kinematic bodies that are driven into heaps. All bodies that can give way do so, and the
//! kinematic bodies go on.

use obsp::model::Model;

use super::kinematic::cuboid;
use super::*;
use crate::audit::{Audit, Passages};
use crate::random::Random;

/// A hall of 6,000 by 2,400 units.
fn hall() -> Arc<obsp::Map> {
    let blocks = [
        ([-3000, -1200, -16], [3000, 1200, 0]),
        ([-3000, -1200, 512], [3000, 1200, 528]),
        ([-3016, -1200, 0], [-3000, 1200, 512]),
        ([3000, -1200, 0], [3016, 1200, 512]),
        ([-3016, -1216, 0], [3016, -1200, 512]),
        ([-3016, 1200, 0], [3016, 1216, 512]),
    ];
    let brushes: String = blocks.map(|(min, max)| block(min, max)).concat();
    compiled(&brushes, [-2900, -1100, 25], "")
}

fn models() -> Vec<Model> {
    let made = [("bar", [6.0, 100.0, 14.0]), ("blade", [6.0, 160.0, 60.0])];
    let made = made.into_iter().map(|(name, half)| {
        Model::from_obj(name, &cuboid(half)).expect("a cuboid is a valid model").as_kinematic()
    });
    shipped().into_iter().chain(made).collect()
}

const MIXED: [&str; 7] = ["crate", "small_crate", "barrel", "plank", "l_block", "u_block", "star"];

/// A heap, and the body that is driven into it.
#[derive(Clone, Copy, Debug)]
struct Scene {
    driver: &'static str,
    speed: f64,
    names: &'static [&'static str],
    count: usize,
    seed: u64,
}

/// How far a driven body got.
#[derive(Debug, Default)]
struct Progress {
    /// The way of the body, as a share of its way without the heap.
    share: f64,
    /// Maximum number of ticks in a row in which the body made less than a hundredth of its way.
    longest_stop: usize,
    /// The highest speed of any body.
    fastest: f64,
    digest: u64,
}

/// Drives a body through a heap for 600 ticks, or to where the hall ends.
fn drive(scene: Scene, threads: u16) -> Progress {
    let Scene { driver: model, speed, names, count, seed } = scene;
    let (map, models) = (hall(), models());
    let mut audit = Audit::new(&map, &models).expect("the hall can be audited");
    let mut passages =
        Passages::new(&map, &models, CONFIG.tick_rate).expect("the map can be audited");
    let mut world = World::new(map, models.into(), CONFIG).expect("the hall can be played");
    world.set_threads(threads);
    let mut random = Random::new(seed);
    let start = DVec3::new(-2400.0, 0.0, if model == "bar" { 15.0 } else { 61.0 });
    let driver = world.spawn_body(world.shipped_model(model), start, DQuat::IDENTITY).unwrap();
    for index in 0..count {
        let model = world.shipped_model(names[index % names.len()]);
        let [x, y] = [-2200.0, 0.0].map(|middle| middle + random.between(-90.0, 90.0));
        let _ = world.spawn_body_near(model, DVec3::new(x, y, 200.0), DQuat::IDENTITY);
    }
    for _ in 0..180 {
        world.step(&[]);
    }
    world.set_velocity(driver, DVec3::X * speed, DVec3::ZERO).unwrap();
    let at = |world: &World| world.entity(driver).unwrap().position.x;
    let ticks = 600.min((4800.0 / speed * 60.0) as usize);
    let (mut progress, mut stopped) = (Progress::default(), 0);
    for tick in 0..ticks {
        let before = at(&world);
        world.step(&[]);
        let way = (at(&world) - before) / (speed / 60.0);
        stopped = if way < 0.01 { stopped + 1 } else { 0 };
        progress.longest_stop = progress.longest_stop.max(stopped);
        let speeds = world.entities.iter().map(|entity| entity.velocity.length());
        progress.fastest = speeds.fold(progress.fastest, f64::max);
        let state = world.state();
        let overlaps = audit.check(&state);
        assert!(overlaps.is_empty(), "tick {tick}: {overlaps:?}");
        let passed = passages.check(&state);
        assert!(passed.is_empty(), "tick {tick}: {passed:?}");
        assert_eq!(world.counters().emergency_replacements, 0, "tick {tick}");
    }
    progress.share = (at(&world) - start.x) / (speed / 60.0 * ticks as f64);
    progress.digest = world.digest();
    progress
}

/// Each driver goes on as long as the heap in front of it can give way.
#[test]
fn a_fast_driver_goes_on_through_heaps() {
    let scene = |driver, names, count| Scene { driver, speed: 400.0, names, count, seed: 0 };
    let scenes = [
        scene("bar", &MIXED[..], 60),
        scene("blade", &MIXED[..], 60),
        scene("blade", &MIXED[..], 100),
        scene("blade", &["crate"], 60),
        scene("blade", &["crate"], 100),
        Scene { speed: 100.0, ..scene("blade", &MIXED[..], 60) },
    ];
    for scene in scenes {
        for seed in 1..=3 {
            let scene = Scene { seed, ..scene };
            let progress = drive(scene, 1);
            println!("{scene:?}: {progress:.3?}");
            let Progress { share, longest_stop, fastest, .. } = progress;
            assert!(share > 0.85, "{scene:?}: the kinematic body made {share} of its way");
            assert!(
                longest_stop <= 5,
                "{scene:?}: the kinematic body stood for {longest_stop} \
                                        ticks"
            );
            assert!(fastest < 2.0 * scene.speed + 250.0, "{scene:?}: a body was shot at {fastest}");
        }
    }
}

/// The driver is so fast that it goes on only at a share of its speed.
#[test]
fn a_driver_that_is_too_fast_for_a_heap_slows_down_alike_with_any_number_of_threads() {
    let scene = Scene { driver: "blade", speed: 1000.0, names: &MIXED, count: 100, seed: 1 };
    let progress = drive(scene, 1);
    println!("{scene:?}: {progress:.3?}");
    assert!(progress.longest_stop <= 30 && progress.share > 0.1, "{progress:?}");
    for threads in [2, 3] {
        assert_eq!(drive(scene, threads).digest, progress.digest, "{threads} threads");
    }
}
