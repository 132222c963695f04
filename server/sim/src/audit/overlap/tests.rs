use std::sync::Arc;

use obsp::model::shipped;

use super::*;
use crate::audit::Passages;
use crate::state::{Kind, ModelId, Posture};
use crate::test_maps::{block, compiled};
use crate::traits::Traits;

/// A floor at height zero, a wall of one unit across half of it, and a spawn
/// point.
pub(in crate::audit) fn room() -> Arc<obsp::Map> {
    let floor = block([-512, -512, -16], [512, 512, 0]);
    let wall = block([0, -512, 0], [1, 256, 512]);
    compiled(&(floor + &wall), [-400, -400, 25], "")
}

/// The first shipped model, a cube of 32 units.
pub(in crate::audit) fn crate_at(slot: u16, position: DVec3) -> EntityState {
    EntityState {
        id: EntityId { slot, generation: 0 },
        kind: Kind::Prop { model: ModelId(0) },
        position,
        orientation: DQuat::IDENTITY,
        velocity: DVec3::ZERO,
        asleep: false,
        traits: Traits::default(),
    }
}

fn player_at(slot: u16, position: DVec3) -> EntityState {
    let kind = Kind::Player { posture: Posture::Standing };
    EntityState { kind, ..crate_at(slot, position) }
}

fn judge(entities: Vec<EntityState>) -> Vec<(Obstacle, f64)> {
    let mut audit = Audit::new(&room(), &shipped()).expect("the room has both sizes");
    let found = audit.check(&State { tick: 0, entities: entities.clone() });
    assert_eq!(
        audit.check(&State { tick: 1, entities }),
        [],
        "no body has moved since the first \
        check"
    );
    let overlap = |fault: &Fault| match fault {
        Fault::Interpenetration(found) => (found.obstacle, found.depth),
        Fault::Unsound(found) => panic!("{found:?}"),
    };
    found.iter().map(overlap).collect()
}

#[test]
fn touching_is_free_and_a_thousandth_is_not() {
    let at = |z| vec![player_at(0, DVec3::new(-200.0, 0.0, 28.0 + z))];
    assert_eq!(judge(at(0.0)), []);
    let found = judge(at(-0.001));
    assert!(matches!(found[..], [(Obstacle::Solid(_), depth)] if (depth - 0.001).abs() < 1e-9));
}

#[test]
fn two_overlapping_bodies_are_reported_with_their_depth() {
    let two = |gap: f64| {
        let first = DVec3::new(-200.0, 0.0, 100.0);
        vec![crate_at(3, first), crate_at(7, first + DVec3::new(32.0 + gap, 0.0, 0.0))]
    };
    assert_eq!(judge(two(0.0)), []);
    let found = judge(two(-0.5));
    let other = Obstacle::Body(EntityId { slot: 7, generation: 0 });
    assert!(matches!(found[..], [(o, d)] if o == other && (d - 0.5).abs() < 1e-9), "{found:?}");
}

#[test]
fn a_body_inside_another_is_found_though_no_faces_meet() {
    let inner = shipped().iter().position(|m| m.name() == "small_crate").expect("a shipped model");
    let at = DVec3::new(-200.0, 0.0, 100.0);
    let small = EntityState { kind: Kind::Prop { model: ModelId(inner as u8) }, ..crate_at(1, at) };
    assert_eq!(judge(vec![crate_at(0, at), small]).len(), 1);
    assert_eq!(judge(vec![small, player_at(0, at)]).len(), 1);
}

/// Each number of a body that is not finite is a separate fault, and overlaps of other bodies are
/// still found. In an earlier version a body with such an orientation overlapped nothing, so the
/// audit found no fault.
#[test]
fn a_body_with_a_number_that_is_none_is_a_fault_of_its_own() {
    let sound = crate_at(1, DVec3::new(-200.0, 0.0, 100.0));
    let with = |change: &dyn Fn(&mut EntityState)| {
        let mut entity = sound;
        change(&mut entity);
        entity
    };
    let mut cases = Vec::new();
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for axis in 0..3 {
            cases.push((with(&|e| e.position[axis] = odd), UnsoundNumber::Position));
            cases.push((with(&|e| e.velocity[axis] = odd), UnsoundNumber::Velocity));
        }
        let turned = DQuat::from_xyzw(0.0, odd, 0.0, 1.0);
        cases.push((with(&|e| e.orientation = turned), UnsoundNumber::Orientation));
    }
    for length in [0.0, 1e-155, 0.999, 1.001, 1e155, 1e308] {
        let turned = DQuat::IDENTITY * length;
        cases.push((with(&|e| e.orientation = turned), UnsoundNumber::Length));
    }
    let players = [player_at(5, DVec3::new(-100.0, 0.0, 27.5)), crate_at(6, sound.position)];
    for (entity, number) in cases {
        for kind in [entity.kind, player_at(1, DVec3::ZERO).kind] {
            let mut audit = Audit::new(&room(), &shipped()).expect("the room has both sizes");
            let entity = EntityState { kind, ..entity };
            let state = State { tick: 0, entities: [&[entity][..], &players].concat() };
            let found = audit.check(&state);
            let fault = Fault::Unsound(Unsound { body: entity.id, number });
            assert_eq!(found.iter().filter(|found| **found == fault).count(), 1, "{found:?}");
            // The player in the floor is found as well, and the crate overlaps nothing.
            assert_eq!(found.len(), 2, "{found:?}");
            assert_eq!(found[1].body(), players[0].id, "{found:?}");
            assert_eq!(audit.check(&state), [fault], "the fault is found in every check");
            let mut passages = Passages::new(&room(), &shipped(), 60).expect("both sizes");
            let before = State { tick: 0, entities: vec![sound, players[0], players[1]] };
            assert_eq!(passages.check(&before), []);
            assert_eq!(passages.check(&state), [], "the crate came through nothing");
        }
    }
    let spin = "entity 3 has a spin that is not finite";
    let unsound =
        Unsound { body: EntityId { slot: 3, generation: 0 }, number: UnsoundNumber::Spin };
    assert_eq!(Fault::Unsound(unsound).to_string(), spin);
}
