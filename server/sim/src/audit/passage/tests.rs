use obsp::PlayerSize;
use obsp::model::shipped;

use super::*;
use crate::audit::overlap::tests::{crate_at, room};
use crate::state::{Kind, ModelId, Posture};
use crate::test_maps::{block, compiled_for};

/// The result when one body moves from `from` to `to` beside another.
fn way(from: DVec3, to: DVec3, beside: Option<DVec3>) -> Vec<Tunnelled> {
    let mut passages = Passages::new(&room(), &shipped(), 60).expect("the room has both sizes");
    let mut state = State::default();
    state.entities.push(crate_at(0, from));
    state.entities.extend(beside.map(|at| crate_at(1, at)));
    assert_eq!(passages.check(&state), [], "nobody has moved yet");
    state.entities[0].position = to;
    passages.check(&state)
}

#[test]
fn a_motion_through_a_thin_wall_is_found_and_a_free_one_is_not() {
    let (left, right) = (DVec3::new(-20.0, 0.0, 100.0), DVec3::new(21.0, 0.0, 100.0));
    let found = way(left, right, None);
    assert!(matches!(found[..], [Tunnelled { through: Obstacle::Solid(_), .. }]), "{found:?}");
    assert_eq!(way(left, left + DVec3::new(-300.0, 40.0, 0.0), None), []);
}

#[test]
fn a_motion_around_the_end_of_a_wall_is_free() {
    // The wall ends at y = 256, so a detour leads around its end.
    let (left, right) = (DVec3::new(-20.0, 250.0, 100.0), DVec3::new(21.0, 250.0, 100.0));
    assert_eq!(way(left, right, None), []);
}

#[test]
fn a_motion_through_another_body_is_found() {
    let (left, right) = (DVec3::new(-250.0, 0.0, 100.0), DVec3::new(-150.0, 0.0, 100.0));
    let middle = DVec3::new(-200.0, 3.0, 100.0);
    let found = way(left, right, Some(middle));
    assert!(matches!(found[..], [Tunnelled { through: Obstacle::Body(_), .. }]), "{found:?}");
    // The line passes beside the core of the other body, because a body that moves in two steps may
    // have gone around it.
    assert_eq!(way(left, right, Some(middle + DVec3::Y * 12.0)), []);
}

/// The result when a body is at `from`, then at `to`, and these relocations are announced.
fn put(from: DVec3, to: Option<DVec3>, relocations: &[(Option<DVec3>, Option<DVec3>)]) -> Ways {
    let mut passages = Passages::new(&room(), &shipped(), 60).expect("the room has both sizes");
    let state = |at: Option<DVec3>| State {
        tick: 0,
        entities: at.map(|at| crate_at(0, at)).into_iter().collect(),
    };
    let entity = crate_at(0, from).id;
    assert_eq!(
        passages.judge(&state(Some(from)), &[]),
        Ways::default(),
        "the body has not moved \
        yet"
    );
    let numbered = relocations.iter().zip(0..);
    let announced: Vec<Relocation> = numbered
        .map(|((from, to), number)| Relocation { number, entity, from: *from, to: *to })
        .collect();
    let ways = passages.judge(&state(to), &announced);
    // Each relocation is judged once, even if it is passed in several times.
    assert_eq!(passages.judge(&state(to), &announced), Ways::default(), "it stays");
    ways
}

/// Symptom: the audit reported that players who had fallen out of an open map came through solids.
/// They came back 99 units from the spawn point, and only 96 units were allowed. A body that was
/// put near a spawn point by mistake was not reported. Cause: the audit allowed every arrival
/// within a radius. Cure: the match announces each relocation, and the audit compares the bodies
/// with the announcements.
#[test]
fn open_map_what_is_put_elsewhere_is_held_to_what_is_announced() {
    let (here, spawn) = (DVec3::new(300.0, 300.0, 100.0), DVec3::new(-400.0, -301.0, 29.0));
    let fallen = here - DVec3::Z * 20.0;
    let back = [(Some(fallen), None), (None, Some(spawn))];
    assert_eq!(put(here, Some(spawn), &back), Ways::default(), "the body fell out and came back");
    assert_eq!(
        put(here, Some(spawn + DVec3::X * 5.0), &back),
        Ways::default(),
        "the body came \
        back and moved on"
    );
    assert_eq!(put(here, None, &back[..1]), Ways::default(), "it waits");
    assert_eq!(put(here, Some(spawn), &[(Some(here), Some(spawn))]), Ways::default());
}

#[test]
fn a_jump_that_nothing_announced_is_found_and_so_is_one_that_did_not_happen() {
    let (here, spawn) = (DVec3::new(300.0, 300.0, 100.0), DVec3::new(-400.0, -400.0, 29.0));
    let body = crate_at(0, here).id;
    let jumped = Misplaced::Unannounced { body, from: Some(here), to: Some(spawn) };
    assert_eq!(
        put(here, Some(spawn), &[]).misplaced,
        [jumped],
        "the body jumped exactly to the \
        spawn point"
    );
    // The body came through nothing, but it moved farther than any body can in a tick.
    let there = here + DVec3::Z * 110.0;
    let found = put(here, Some(there), &[]);
    assert_eq!((found.tunnelled.len(), found.misplaced.len()), (0, 1), "{found:?}");
    let stayed = |announced: &[_], at| put(here, at, announced).misplaced;
    let [taken, brought] = [(Some(here), None), (Some(here), Some(spawn))];
    let not_there = |put, at| vec![Misplaced::NotThere { body, put, at }];
    assert_eq!(stayed(&[brought], Some(here)), not_there(Some(spawn), Some(here)));
    assert_eq!(stayed(&[taken], Some(here)), not_there(None, Some(here)));
    assert_eq!(stayed(&[brought], None), not_there(Some(spawn), None));
    // The first relocation starts at a place where the body was not. The second starts outside the
    // world, but the body was in the world.
    assert_eq!(stayed(&[(Some(spawn), Some(here))], Some(here)).len(), 1);
    assert_eq!(stayed(&[(None, Some(here))], Some(here)).len(), 1);
}

#[test]
fn an_unannounced_return_is_found_and_a_new_body_is_not() {
    let mut passages = Passages::new(&room(), &shipped(), 60).expect("the room has both sizes");
    let at = DVec3::new(300.0, 300.0, 100.0);
    let (there, gone) = (State { tick: 0, entities: vec![crate_at(0, at)] }, State::default());
    let mut misplaced = |state: &State| passages.judge(state, &[]).misplaced;
    assert_eq!(misplaced(&gone), []);
    assert_eq!(misplaced(&there), [], "the body is new");
    assert_eq!(misplaced(&gone), [], "the game may have removed the body");
    let body = crate_at(0, at).id;
    assert_eq!(misplaced(&there), [Misplaced::Unannounced { body, from: None, to: Some(at) }]);
}

/// Symptom: a tall player stood up over a grenade, and the audit reported that the grenade had come
/// through the player. Cause: the frame of a player was at the middle of the box. When the player
/// stands up, the middle rises by half of the growth. Cure: the frame is at the feet.
#[test]
fn a_body_under_a_player_that_stands_up_has_not_come_through() {
    let tall = PlayerSize { width: 64.0, height: 96.0, crouched_height: 16.0 };
    let floor = block([-512, -512, -16], [512, 512, 0]);
    let map = compiled_for(&tall, &floor, [-400, -400, 25], "");
    let grenade =
        shipped().iter().position(|model| model.name() == "grenade").expect("a shipped model");
    let stands_up = |from: DVec3, to: DVec3| {
        let mut passages = Passages::new(&map, &shipped(), 60).expect("the map has both sizes");
        let player = |posture, half: f64| EntityState {
            kind: Kind::Player { posture },
            ..crate_at(0, DVec3::new(200.0, 0.0, 100.0 + half))
        };
        let flying = |at| EntityState {
            kind: Kind::Prop { model: ModelId(grenade as u8) },
            ..crate_at(1, at)
        };
        let before = vec![player(Posture::Crouching, 8.0), flying(from)];
        let now = vec![player(Posture::Standing, 48.0), flying(to)];
        assert_eq!(passages.check(&State { tick: 0, entities: before }), [], "nobody has moved");
        passages.check(&State { tick: 1, entities: now })
    };
    let below = DVec3::new(203.0, 0.0, 95.0);
    assert_eq!(stands_up(below, below - DVec3::new(4.0, 0.0, 1.0)), []);
    let beside = DVec3::new(240.0, 0.0, 110.0);
    assert_eq!(stands_up(beside, beside + DVec3::Z), []);
    let found = stands_up(beside, beside - DVec3::X * 80.0 + DVec3::Z * 40.0);
    assert!(found.iter().any(|way| way.body.slot == 1), "{found:?}");
    // The grenade moves from above the player to below.
    let found = stands_up(below + DVec3::Z * 110.0, below);
    assert!(found.iter().any(|way| way.body.slot == 1), "{found:?}");
}
