//! Rays, sweeps and sight lines with far ends, and orientations of any length.

use glam::{DQuat, DVec3};
use obsp::UNIVERSE;
use obsp::geometry::Aabb;
use obsp_sim::audit::Audit;
use obsp_sim::{MissileMotion, PlaceError, Posture, SweptShape, World};

use super::scene::Scene;
use super::{CONFIG, map, models};

const LENGTHS: [f64; 17] = [
    1e3, 1e4, 65_536.0, 1e5, 262_143.0, 262_144.0, 262_545.0, 3e5, 1e6, 1e9, 1e15, 1e30, 1e76,
    1e100, 1e154, 1e155, 1e308,
];

/// In an earlier version a ray of more than 262,144 units ended at its start, and points behind a
/// wall were in sight.
#[test]
fn long_ray() {
    let world = World::new(map(), models(), CONFIG).expect("the room can be played");
    let from = DVec3::new(-300.0, -300.0, 200.0);
    for length in LENGTHS {
        for direction in [DVec3::X, DVec3::new(0.8, 0.36, 0.48)] {
            let to = from + direction * length;
            let hit = world.cast_ray(from, to, None);
            let context = || format!("{length:e} along {direction}: {hit:?}");
            // The slanted ray meets the ceiling first.
            let wall = if direction == DVec3::X { 812.0 } else { 312.0 / 0.48 };
            assert!((hit.at.distance(from) - wall).abs() < 0.01, "{}", context());
            assert!((hit.fraction / (wall / length) - 1.0).abs() < 1e-4, "{}", context());
            assert!(hit.entity.is_none() && !hit.start_solid, "{}", context());
            assert!(!world.in_sight(from, to), "{}", context());
            let seen = world.cast_ray_as_seen(
                world
                    .players()
                    .first()
                    .copied()
                    .unwrap_or(obsp_sim::EntityId { slot: 9, generation: 0 }),
                from,
                direction,
                length,
                0,
            );
            assert!(seen.at.distance(hit.at) < 1e-3, "{}: {seen:?}", context());
            for (shape, reach) in [
                (SweptShape::Box(DVec3::splat(4.0)), 4.0),
                (SweptShape::Player(Posture::Standing), 16.0),
            ] {
                let swept =
                    world.sweep(shape, DQuat::IDENTITY, [from, from + DVec3::X * length], None);
                let at = 512.0 - reach;
                assert!(at - swept.at.x > 0.0 && at - swept.at.x < 0.2, "{length:e}: {swept:?}");
                assert!(swept.normal.x < -0.99 && !swept.start_solid, "{length:e}: {swept:?}");
            }
        }
    }
}

/// Rays and sweeps of any length meet a body in the way.
#[test]
fn a_long_ray_meets_a_body() {
    let scene = Scene::new();
    let at = scene.world.entity(scene.body).expect("the body exists").position;
    let from = at - DVec3::X * 100.0;
    for length in LENGTHS {
        let to = from + DVec3::X * length;
        let hit = scene.world.cast_ray(from, to, None);
        assert_eq!(hit.entity, Some(scene.body), "{length:e}: {hit:?}");
        assert!((hit.at.x - (at.x - 16.0)).abs() < 1e-6, "{length:e}: {hit:?}");
        let swept =
            scene.world.sweep(SweptShape::Box(DVec3::ONE), DQuat::IDENTITY, [from, to], None);
        assert_eq!(swept.entity, Some(scene.body), "{length:e}: {swept:?}");
        assert!((swept.at.x - (at.x - 17.0)).abs() < 0.2, "{length:e}: {swept:?}");
        let near = scene.world.near(from, length);
        assert!(near.iter().any(|(id, _)| *id == scene.body), "{length:e}");
        let bounds = Aabb::from_centre(from, DVec3::splat(length));
        assert!(scene.world.overlapping_box(&bounds).contains(&scene.body), "{length:e}");
    }
    let whole = Aabb { min: DVec3::NEG_INFINITY, max: DVec3::INFINITY };
    let inside = scene.world.overlapping_box(&whole);
    assert_eq!(inside.len(), scene.world.state().entities.len());
}

/// A flag reports a start in solid, and nothing is seen from such a start. In an earlier version
/// `in_sight` from within a wall was true, and a ray from there looked like one that meets the wall
/// at its start.
#[test]
fn from_inside_of_solid_nothing_is_seen() {
    let scene = Scene::new();
    let world = &scene.world;
    let (free, solid) = (DVec3::new(0.0, 0.0, 90.0), DVec3::new(520.0, 0.0, 90.0));
    let near = world.cast_ray(DVec3::new(512.0, 0.0, 90.0), solid, None);
    assert!(!near.start_solid && near.fraction == 0.0, "the ray starts on the surface: {near:?}");
    let edge = f64::from(UNIVERSE);
    let beyond = DVec3::X * edge.next_up();
    for from in [solid, beyond, DVec3::X * 1e308, DVec3::NAN] {
        let hit = world.cast_ray(from, free, None);
        assert!(hit.start_solid && hit.fraction == 0.0 && hit.entity.is_none(), "{hit:?}");
        assert!(!world.in_sight(from, free) && !world.in_sight(from, from), "{from}");
        let swept = world.sweep(SweptShape::Box(DVec3::ONE), DQuat::IDENTITY, [from, free], None);
        assert!(swept.start_solid && swept.fraction == 0.0, "{swept:?}");
    }
    let at = world.entity(scene.body).expect("the body exists").position;
    let inside = world.cast_ray(at, free, None);
    assert!(inside.start_solid && inside.entity == Some(scene.body), "{inside:?}");
    let surface = world.cast_ray(at - DVec3::X * 16.0, at, None);
    assert!(!surface.start_solid && surface.entity == Some(scene.body), "{surface:?}");
    // A ray without length tests its start.
    let nothing = world.cast_ray(free, free, None);
    assert!(!nothing.start_solid && nothing.fraction == 1.0, "{nothing:?}");
    assert!(world.in_sight(free, free));
    let denormal = world.cast_ray(free, free + DVec3::X * f64::from_bits(1), None);
    assert_eq!(denormal, nothing);
}

/// In an earlier version a quaternion of length 1e155 or more gave a body an orientation of length
/// zero. The body fell through everything, and the audit found no fault.
#[test]
fn orientation_overflow() {
    let mut audit = Audit::new(&map(), &models()).expect("the map can be audited");
    for exponent in [-308, -200, -170, -155, -30, 0, 30, 154, 155, 200, 307] {
        let mut scene = Scene::new();
        let turn = DQuat::from_xyzw(0.6, 0.0, 0.0, 0.8) * 10_f64.powi(exponent);
        let world = &mut scene.world;
        let model = world.model("crate").expect("a shipped model");
        let spawned = world.spawn_body(model, DVec3::new(0.0, -300.0, 100.0), turn);
        let near = world.spawn_body_near(model, DVec3::new(100.0, -300.0, 100.0), turn);
        let moved = world.teleport(scene.body, DVec3::new(200.0, -300.0, 100.0), turn);
        let ids = [spawned.expect("room"), near.expect("room"), scene.body];
        moved.expect("room");
        for _ in 0..60 {
            world.step(&[]);
            assert_eq!(audit.check_match(world), [], "1e{exponent}");
        }
        for id in ids {
            let state = world.entity(id).expect("the body is on the floor");
            assert!(state.orientation.is_normalized() && state.position.z > 10.0, "{state:?}");
        }
        let saved = world.save();
        World::load(map(), models(), &saved).expect("a saved match can be loaded");
    }
    let mut world = World::new(map(), models(), CONFIG).expect("the room can be played");
    let model = world.model("crate").expect("a shipped model");
    for odd in [0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let turn = DQuat::from_xyzw(0.0, 0.0, odd, 0.0);
        let refused = world.spawn_body(model, DVec3::new(0.0, 0.0, 100.0), turn);
        assert_eq!(refused, Err(PlaceError::NotFinite), "{odd}");
    }
    assert!(world.state().entities.is_empty());
}

/// A body that flies far beyond the map has left it, like a body that falls out. In an earlier
/// version it could get to a place that loading refuses.
#[test]
fn a_body_that_leaves_the_map_is_put_back_and_a_missile_is_gone() {
    let world = || {
        let floor = open_text();
        let source = obsp::Source::from_text("open", floor);
        let options = obsp::CompileOptions::default();
        let found = obsp::compile(&source, &obsp::Spaces::default(), &options, &mut |_, _, _| ());
        let map = std::sync::Arc::new(found.expect("it compiles").map);
        World::new(map, models(), CONFIG).expect("the map can be played")
    };
    let mut world = world();
    let (driven, rocket) = (world.model("driven").expect("there"), world.model("rocket"));
    let lift = world.spawn_body(driven, DVec3::new(0.0, 0.0, 600.0), DQuat::IDENTITY);
    let lift = lift.expect("there is room");
    let sideways = DVec3::new(4_500.0, 0.0, 0.0);
    world.set_velocity(lift, sideways, DVec3::ZERO).expect("the lift exists");
    let at = DVec3::new(0.0, 300.0, 300.0);
    let shot = world.spawn_missile(
        rocket.expect("a shipped model"),
        MissileMotion::Straight,
        at,
        sideways,
    );
    let shot = shot.expect("there is room");
    let mut farthest = 0.0_f64;
    for tick in 0..900 {
        world.step(&[]);
        let state = world.state();
        farthest = state.entities.iter().map(|entity| entity.position.x).fold(farthest, f64::max);
        if tick % 100 == 99 {
            let saved = world.save();
            world.restore(&saved).unwrap_or_else(|error| panic!("tick {tick}: {error}"));
        }
    }
    assert!(farthest > 60_000.0 && farthest < 66_200.0, "{farthest}");
    assert_eq!(world.entity(shot), None);
    let back = world.entity(lift).expect("the lift was put back").position;
    assert!(back.length() < 2_000.0, "{back}");
}

/// A map with only the floor of the room.
fn open_text() -> String {
    let floor = super::room::block([-512.0, -512.0, -16.0], [512.0, 512.0, 0.0]);
    format!(
        "{{\n\"classname\" \"worldspawn\"\n{floor}}}\n\
         {{\n\"classname\" \"info_player_start\"\n\"origin\" \"-400.0 0.0 24.0\"\n}}\n"
    )
}
