//! Bodies that are hidden, intangible, or attached to others.

use super::*;
use crate::audit::Audit;
use crate::traits::{Attachment, Substance};
use crate::{Command, PlaceError, PlayerKind, WorldEvent};

fn picture(world: &mut World) -> EntityId {
    let model = world.shipped_model("crate");
    let at = DVec3::new(200.0, 0.0, 17.0);
    world.spawn_intangible(model, at, DQuat::IDENTITY).expect("a slot is free")
}

fn player(world: &mut World) -> EntityId {
    let at = DVec3::new(-300.0, 0.0, 28.1);
    world.add_player_at(PlayerKind::Box, at, 0).expect("there is room")
}

#[test]
fn an_intangible_body_is_in_nobody_s_way_and_costs_nothing() {
    let mut world = empty_room();
    let model = world.shipped_model("crate");
    let at = DVec3::new(200.0, 0.0, 17.0);
    let body = world.spawn_body(model, at, DQuat::IDENTITY).expect("there is room");
    world.make_intangible(body).expect("it is a body");
    let state = world.entity(body).expect("it is seen");
    assert_eq!((state.traits.substance, state.position), (Substance::Intangible, at));
    assert_eq!(world.set_velocity(body, DVec3::X, DVec3::ZERO), Err(PlaceError::Intangible));
    assert_eq!(world.waiting(), [], "it waits for nothing");
    // Something else takes its place.
    let second = world.spawn_body(model, at, DQuat::IDENTITY).expect("the place is free");
    (0..120).for_each(|_| world.step(&[]));
    assert_eq!(world.entity(body).expect("it is seen").position, at, "it does not fall");
    assert_eq!(world.counters().awake, 0);
    let hit = world.cast_ray(at + DVec3::Z * 100.0, at, None);
    assert_eq!(hit.entity, Some(second));
    let mut audit = Audit::new(&room(), &shipped()).expect("the room has both sizes");
    assert_eq!(audit.check_match(&world), []);
    // Only the guard makes it solid again.
    assert_eq!(world.place(body, at, DQuat::IDENTITY), Err(PlaceError::NoRoom));
    world.set_pose(body, at - DVec3::Z * 500.0, DQuat::IDENTITY).expect("it may be in solid");
    world.place(body, at + DVec3::Z * 60.0, DQuat::IDENTITY).expect("there is room");
    (0..60).for_each(|_| world.step(&[]));
    assert!(world.entity(body).expect("there").position.z > 45.0, "it lies on the other");
    assert_eq!(audit.check_match(&world), []);
}

#[test]
fn players_missiles_and_nonsense_stay_what_they_are() {
    let mut world = empty_room();
    let (player, body) = (player(&mut world), picture(&mut world));
    assert_eq!(world.make_intangible(player), Err(PlaceError::AlwaysSolid));
    assert_eq!(
        world.attach(player, body, DVec3::ZERO, DQuat::IDENTITY),
        Err(PlaceError::AlwaysSolid)
    );
    let before = world.state();
    let nan = DVec3::splat(f64::NAN);
    assert_eq!(world.set_pose(body, nan, DQuat::IDENTITY), Err(PlaceError::NotFinite));
    assert_eq!(world.attach(body, player, nan, DQuat::IDENTITY), Err(PlaceError::NotFinite));
    let far = DVec3::X * (Attachment::MAX_OFFSET + 1.0);
    assert_eq!(world.attach(body, player, far, DQuat::IDENTITY), Err(PlaceError::OffsetTooLong));
    assert_eq!(world.detach(body), Err(PlaceError::NoSuchEntity));
    assert_eq!(world.state(), before);
}

#[test]
fn a_flag_follows_its_carrier_and_stays_where_the_carrier_left() {
    let mut world = empty_room();
    let (carrier, flag) = (player(&mut world), picture(&mut world));
    let offset = DVec3::new(-20.0, 3.0, 10.0);
    world.attach(flag, carrier, offset, DQuat::IDENTITY).expect("both are in the world");
    let run = Command { forward: 127, yaw: 9_000, ..Command::default() };
    for _ in 0..60 {
        world.step(&[(carrier, run)]);
        let [flag, carrier] = [flag, carrier].map(|id| world.entity(id).expect("it is seen"));
        let expected = carrier.position + carrier.orientation * offset;
        assert!(flag.position.distance(expected) < 1e-9, "{flag:?} behind {carrier:?}");
        assert_eq!(flag.orientation, carrier.orientation.normalize());
    }
    assert!(world.entity(carrier).expect("there").position.x > -250.0, "it has run");
    // The match goes on in the same way after it was saved.
    let mut loaded =
        World::load(room(), shipped().into(), &world.save()).expect("the save can be loaded");
    for _ in 0..10 {
        [&mut world, &mut loaded].into_iter().for_each(|world| world.step(&[(carrier, run)]));
        assert_eq!(loaded.digest(), world.digest());
    }
    let there = world.entity(flag).expect("it is seen").position;
    world.leave(carrier);
    let detached = WorldEvent::Detached { entity: flag, from: carrier };
    assert!(world.take_events().contains(&detached));
    let left = world.entity(flag).expect("it is seen");
    assert_eq!((left.position, left.traits.substance), (there, Substance::Intangible));
}

#[test]
fn a_missile_that_ends_leaves_what_follows_it() {
    let mut world = empty_room();
    let flag = picture(&mut world);
    let rocket = world.shipped_model("rocket");
    let from = DVec3::new(300.0, 0.0, 100.0);
    let straight = crate::MissileMotion::Straight;
    let rocket = world.spawn_missile(rocket, straight, from, DVec3::X * 600.0).expect("free");
    world.attach(flag, rocket, DVec3::ZERO, DQuat::IDENTITY).expect("both are in the world");
    let gone = (0..60).find(|_| {
        world.step(&[]);
        world.entity(rocket).is_none()
    });
    assert!(gone.is_some(), "the wall stops the missile");
    let detached = WorldEvent::Detached { entity: flag, from: rocket };
    assert!(world.events().contains(&detached));
    let left = world.entity(flag).expect("it is seen");
    assert_eq!(left.traits.substance, Substance::Intangible);
    assert!(left.position.x > 400.0, "{left:?}");
}

#[test]
fn a_chain_has_an_end_and_makes_no_ring() {
    let mut world = empty_room();
    let carrier = player(&mut world);
    let chain: Vec<EntityId> = (0..=Attachment::MAX_CHAIN).map(|_| picture(&mut world)).collect();
    let attach = |world: &mut World, id, to| world.attach(id, to, DVec3::Z * 10.0, DQuat::IDENTITY);
    attach(&mut world, chain[0], carrier).expect("it is in the world");
    for index in 1..Attachment::MAX_CHAIN {
        attach(&mut world, chain[index], chain[index - 1]).expect("the chain is short enough");
    }
    let [last, beyond] = [Attachment::MAX_CHAIN - 1, Attachment::MAX_CHAIN];
    assert_eq!(attach(&mut world, chain[beyond], chain[last]), Err(PlaceError::Chain));
    // A longer chain is not made at its other end either.
    world.detach(chain[0]).expect("it is attached");
    attach(&mut world, chain[beyond], carrier).expect("it is in the world");
    assert_eq!(attach(&mut world, chain[0], chain[beyond]), Err(PlaceError::Chain));
    assert_eq!(attach(&mut world, chain[0], chain[last]), Err(PlaceError::Chain), "a ring");
    assert_eq!(attach(&mut world, chain[0], chain[0]), Err(PlaceError::Chain));
    attach(&mut world, chain[0], carrier).expect("the chain is as long as before");
    world.step(&[]);
    let [end, start] = [chain[last], carrier].map(|id| world.entity(id).expect("seen").position);
    let links = Attachment::MAX_CHAIN as f64;
    assert!((end.z - start.z - 10.0 * links).abs() < 1e-9, "{end} over {start}");
}

#[test]
fn a_hidden_body_is_as_solid_as_before() {
    let mut world = empty_room();
    let model = world.shipped_model("crate");
    let at = DVec3::new(200.0, 0.0, 17.0);
    let body = world.spawn_body(model, at, DQuat::IDENTITY).expect("there is room");
    world.set_visible(body, false).expect("it exists");
    assert!(!world.entity(body).expect("there").traits.visible);
    assert_eq!(world.spawn_body(model, at, DQuat::IDENTITY), Err(PlaceError::NoRoom));
    let loaded =
        World::load(room(), shipped().into(), &world.save()).expect("the save can be loaded");
    assert!(!loaded.entity(body).expect("there").traits.visible);
}
