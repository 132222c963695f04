//! The operations of a game, and their results.

use obsp::geometry::Aabb;

use super::*;
use crate::audit::{Audit, Fault, Unsound, UnsoundNumber};
use crate::state::MAX_MODELS;
use crate::{MissileMotion, PlaceError, SweptShape};

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
    let at = world.entity(id).expect("the entity exists").position;
    let model = world.shipped_model("crate");
    let again = world.spawn_body(model, at, DQuat::IDENTITY);
    assert_eq!(again, Err(PlaceError::NoRoom));
    let far = world.spawn_body(model, at * 1e6, DQuat::IDENTITY);
    assert_eq!(far, Err(PlaceError::NoRoom), "the place is far outside the map");
    let nowhere = world.teleport(id, DVec3::NAN, DQuat::IDENTITY);
    assert_eq!(nowhere, Err(PlaceError::NotFinite));
    let gone = EntityId { slot: id.slot, generation: id.generation + 1 };
    assert_eq!(world.remove(gone), Err(PlaceError::NoSuchEntity));
    assert_eq!(world.state(), before);
}

#[test]
fn an_impulse_of_any_size_leaves_finite_velocities() {
    // In an earlier version 1e300 kg·units/s became an infinite velocity, then a NaN, and the guard
    // let such a body pass.
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
    let at = world.entity(id).expect("the entity exists").position;
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
    world.take_out(player).expect("the player is in the world");
    assert_eq!(world.take_out(player), Err(PlaceError::NoSuchEntity));
    assert_eq!(world.entity(player), None);
    assert_eq!(world.waiting(), [player]);
    world.bring_back_at(player, at + DVec3::X * 8.0, 0).expect("there is room");
    let back = world.entity(player).expect("the player is back in the world").position;
    assert!((back - at - DVec3::X * 8.0).length() < 1.0, "{back}");
    assert_eq!(
        world.bring_back(player),
        Err(PlaceError::NoSuchEntity),
        "the player does not wait \
        any more"
    );
}

/// The state of a match does not contain the spins of bodies, so the audit asks the match.
#[test]
fn a_spin_that_is_none_is_found_by_the_audit_of_the_match() {
    let (mut world, id) = with_crate();
    let mut audit = Audit::new(&room(), &shipped()).expect("the room has both sizes");
    assert_eq!(audit.check_match(&world), []);
    world.entities.get_mut(id.slot).expect("the entity exists").angular.y = f64::NAN;
    let unsound = Unsound { body: id, number: UnsoundNumber::Spin };
    assert_eq!(audit.check_match(&world), [Fault::Unsound(unsound)]);
}

/// A prop that a map draws where no body can be is left out, with a warning. In an earlier version
/// a prop at a coordinate of 1e300 was in the match, and fell.
#[test]
fn a_prop_that_is_drawn_far_outside_is_left_out() {
    for origin in ["1e300 0 0", "1e9 0 64", "0 0 -1e308", "70000 0 64"] {
        let prop = format!(
            "{{\n\"classname\" \"prop\"\n\"model\" \"crate\"\n\"origin\" \"{origin}\"\n}}\n"
        );
        let world = World::unsettled(room_with(&prop), shipped().into(), CONFIG).expect("a match");
        assert_eq!(world.state().entities, [], "{origin}");
        let warned = matches!(world.warnings(), [SetupWarning::NoRoom { .. }]);
        assert!(warned, "{origin}: {:?}", world.warnings());
    }
}

/// One body, missile or model more than a match can have is refused. The match keeps the places of
/// players free.
#[test]
fn one_body_too_many_is_refused() {
    let mut world = World::new(room(), shipped().into(), CONFIG).expect("a match");
    let model = world.shipped_model("small_crate");
    let free = crate::MAX_ENTITIES - usize::from(CONFIG.max_players);
    let mut ids = Vec::new();
    let at = |n: usize| {
        let [x, y, z] = [n % 16, n / 16 % 32, n / 512].map(|n| n as f64);
        DVec3::new(20.0 + x * 30.0, -480.0 + y * 30.0, 20.0 + z * 50.0)
    };
    for n in 0..free {
        ids.push(world.spawn_body(model, at(n), DQuat::IDENTITY).expect("there is room"));
    }
    let full = world.spawn_body(model, at(free), DQuat::IDENTITY);
    assert_eq!(full, Err(PlaceError::Full));
    let rocket = world.shipped_model("rocket");
    let thrown = world.spawn_missile(rocket, MissileMotion::Straight, at(free), DVec3::X);
    assert_eq!(thrown, Err(PlaceError::Full));
    assert_eq!(world.state().entities.len(), free);
    world.add_player(PlayerKind::Box).expect("the match keeps a place for a player");
    world.remove(ids[7]).expect("the entity exists");
    let again = world.spawn_body(model, at(7), DQuat::IDENTITY).expect("there is room again");
    assert_eq!((again.slot, again.generation), (ids[7].slot, 1));
    assert_eq!(world.remove(ids[7]), Err(PlaceError::NoSuchEntity), "another entity has the slot");
    let models = vec![shipped()[0].clone(); MAX_MODELS + 1];
    let many = World::new(room(), models.into(), CONFIG).map(|_| ());
    assert_eq!(many, Err(SetupError::TooManyModels(MAX_MODELS + 1)));
}

/// Places are looked for only for as many objects as a match can have. An earlier version looked
/// for places for four thousand million objects, one by one.
#[test]
fn any_number_of_objects_may_be_asked_for() {
    let config = Config { objects: u32::MAX, ..CONFIG };
    let world = World::unsettled(room(), shipped().into(), config).expect("a match");
    let fewer = |warning: &SetupWarning| {
        matches!(warning, SetupWarning::FewerObjects { asked: u32::MAX, .. })
    };
    assert!(world.warnings().iter().any(fewer), "{:?}", world.warnings());
}

/// Symptom: a sleeping body hung in the air after the body below it was removed. Cause: the removed
/// body lost its place too early, and the search for bodies to wake needs that place. Cure: a
/// removed body keeps its place.
#[test]
fn a_body_on_a_removed_body_falls() {
    let mut world = World::new(room(), shipped().into(), CONFIG).expect("a match");
    let model = world.shipped_model("crate");
    let crates = [0.0, 1.0, 2.0].map(|level| {
        let at = DVec3::new(200.0, 0.0, 16.3 + 32.3 * level);
        world.spawn_body(model, at, DQuat::IDENTITY).expect("there is room")
    });
    world.run(3.0, &[]);
    let [below, above @ ..] = crates;
    let asleep = |world: &World, id: EntityId| world.entity(id).expect("there").asleep;
    let height = |world: &World, id: EntityId| world.entity(id).expect("there").position.z;
    assert!(above.iter().all(|id| asleep(&world, *id)));
    let before = above.map(|id| height(&world, id));
    world.remove(below).expect("the entity exists");
    world.run(2.0, &[]);
    for (id, before) in above.into_iter().zip(before) {
        let fell = before - height(&world, id);
        assert!((fell - 32.0).abs() < 1.0, "the body fell by {fell}");
        assert!(asleep(&world, id));
    }
}

/// Symptom: a new body had the contacts of the removed body in its slot, with their impulses.
/// Cause: contacts name bodies by slot alone. Cure: they are forgotten when the body is removed.
#[test]
fn a_body_in_the_slot_of_a_removed_one_has_none_of_its_contacts() {
    let others = |world: &World, id| -> Vec<_> {
        world.contacts_of(id).map(|contact| contact.other).collect()
    };
    // Either body may be listed as the first of their pair.
    for gone_is_below in [true, false] {
        let mut world = World::new(room(), shipped().into(), CONFIG).expect("a match");
        let model = world.shipped_model("crate");
        let [below, above] = [16.2, 48.4].map(|z| {
            let at = DVec3::new(200.0, 0.0, z);
            world.spawn_body(model, at, DQuat::IDENTITY).expect("there is room")
        });
        world.run(0.05, &[]);
        let (gone, stays) = if gone_is_below { (below, above) } else { (above, below) };
        assert!(others(&world, stays).contains(&Some(gone)), "they do not touch");
        world.remove(gone).expect("the entity exists");
        let at = DVec3::new(-200.0, 0.0, 100.0);
        let new = world.spawn_body(model, at, DQuat::IDENTITY).expect("there is room");
        assert_eq!(new.slot, gone.slot);
        assert_eq!(others(&world, new), []);
        assert!(!others(&world, stays).contains(&Some(new)));
    }
}

/// Agents take no place for players, and the match keeps these places free. One agent more than fit
/// is refused. A saved match has the same agents.
#[test]
fn agents_take_no_places_for_players() {
    let mut world = World::new(room(), shipped().into(), CONFIG).expect("a match");
    let places = usize::from(CONFIG.max_players);
    let mut agents = Vec::new();
    for _ in 0..crate::MAX_ENTITIES - places {
        agents.push(world.add_agent(PlayerKind::Box).expect("there is a free slot"));
    }
    assert_eq!(world.add_agent(PlayerKind::Box), Err(PlaceError::Full));
    let at = DVec3::new(100.0, 100.0, 60.0);
    assert_eq!(world.add_agent_at(PlayerKind::Box, at, 0), Err(PlaceError::Full));
    let model = world.shipped_model("small_crate");
    assert_eq!(world.spawn_body(model, at, DQuat::IDENTITY), Err(PlaceError::Full));
    for _ in 0..places {
        world.add_player(PlayerKind::Box).expect("the match keeps the places of players free");
    }
    assert!(world.add_player(PlayerKind::Box).is_err(), "all places are taken");
    assert_eq!(world.agents(), agents);
    world.leave(agents[3]);
    assert!(world.add_player(PlayerKind::Box).is_err(), "an agent leaves no place for a player");
    let again = world.add_agent_at(PlayerKind::Box, at, 0).expect("a slot is free again");
    assert_eq!((again.slot, world.agents().len()), (agents[3].slot, agents.len()));
    let loaded = World::load(room(), shipped().into(), &world.save()).expect("a saved match");
    assert_eq!((loaded.agents(), loaded.digest()), (world.agents(), world.digest()));
}
