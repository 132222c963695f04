//! What a game may do, and what it is answered.

use obsp::geometry::Aabb;

use super::*;
use crate::{PlaceError, SweptShape};

/// A room with a crate on its floor.
fn with_crate() -> (World, EntityId) {
    let mut world = World::new(room(), shipped().into(), CONFIG).expect("a match");
    let model = world.shipped_model("crate");
    let id = world.spawn_body_near(model, DVec3::new(200.0, 0.0, 100.0), DQuat::IDENTITY);
    (world, id.expect("the room is large"))
}

#[test]
fn a_place_that_is_taken_is_an_answer_and_changes_nothing() {
    let (mut world, id) = with_crate();
    let before = world.state();
    let at = world.entity(id).expect("it is there").position;
    let model = world.shipped_model("crate");
    let again = world.spawn_body(model, at, DQuat::IDENTITY);
    assert_eq!(again, Err(PlaceError::NoRoom));
    let far = world.spawn_body(model, at * 1e6, DQuat::IDENTITY);
    assert_eq!(far, Err(PlaceError::NoRoom), "far outside of the map");
    let nowhere = world.teleport(id, DVec3::NAN, DQuat::IDENTITY);
    assert_eq!(nowhere, Err(PlaceError::NotFinite));
    let gone = EntityId { slot: id.slot, generation: id.generation + 1 };
    assert_eq!(world.remove(gone), Err(PlaceError::NoSuchEntity));
    assert_eq!(world.state(), before);
}

#[test]
fn an_impulse_of_any_size_leaves_finite_velocities() {
    // Before, 1e300 kilogram units per second became an infinite velocity, from that a
    // velocity that is no number, and the guard let such a body pass.
    let (mut world, id) = with_crate();
    let huge = DVec3::new(1e300, -1e300, 1e308);
    for (impulse, point) in [(huge, DVec3::ZERO), (DVec3::Z, huge), (huge, huge)] {
        world.apply_impulse(id, impulse, point).expect("a finite impulse");
        world.set_velocity(id, huge, huge).expect("finite velocities");
        for _ in 0..4 {
            world.step(&[]);
            let state = world.entity(id).expect("it is in the room");
            assert!(state.velocity.is_finite() && state.position.is_finite(), "{state:?}");
        }
    }
    let infinite = world.apply_impulse(id, DVec3::splat(f64::INFINITY), DVec3::ZERO);
    assert_eq!(infinite, Err(PlaceError::NotFinite));
}

#[test]
fn rays_sweeps_and_boxes_find_the_same_body() {
    let (world, id) = with_crate();
    let at = world.entity(id).expect("it is there").position;
    let above = at + DVec3::Z * 60.0;
    let ray = world.cast_ray(above, at, None);
    assert_eq!(ray.entity, Some(id));
    assert!((ray.at.z - (at.z + 16.0)).abs() < 0.1, "{ray:?}");
    assert_eq!(world.cast_ray(above, at, Some(id)).entity, None);
    let probe = SweptShape::Box(DVec3::splat(4.0));
    let swept = world.sweep(probe, DQuat::IDENTITY, [above, at], None);
    assert_eq!(swept.entity, Some(id));
    assert!((swept.at.z - (at.z + 20.0)).abs() < 0.1, "{swept:?}");
    assert!(swept.normal.z > 0.99, "{swept:?}");
    let reaches = |min: f64, max: f64| {
        let (min, max) = (at + DVec3::splat(min), at + DVec3::splat(max));
        world.overlapping_box(&Aabb { min, max })
    };
    assert_eq!(reaches(-4.0, 4.0), [id]);
    assert_eq!(reaches(17.0, 20.0), []);
}

#[test]
fn a_player_who_is_taken_out_waits_until_brought_back() {
    let mut world = World::new(room(), shipped().into(), CONFIG).expect("a match");
    let player = world.join().expect("there is room");
    let at = world.entity(player).expect("they spawned").position;
    world.take_out(player).expect("they are in the world");
    assert_eq!(world.take_out(player), Err(PlaceError::NoSuchEntity));
    assert_eq!(world.entity(player), None);
    assert_eq!(world.waiting(), [player]);
    world.bring_back_at(player, at + DVec3::X * 8.0, 0).expect("there is room");
    let back = world.entity(player).expect("they are back").position;
    assert!((back - at - DVec3::X * 8.0).length() < 1.0, "{back}");
    assert_eq!(world.bring_back(player), Err(PlaceError::NoSuchEntity), "they wait no more");
}
