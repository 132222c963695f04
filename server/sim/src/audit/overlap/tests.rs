use std::sync::Arc;

use obsp::model::shipped;

use super::*;
use crate::state::{Kind, ModelId, Posture};
use crate::test_maps::{block, compiled};

/// A floor at height zero, a wall of one unit across half of it, and a spawn
/// point.
pub(in crate::audit) fn room() -> Arc<obsp::World> {
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
    }
}

fn player_at(slot: u16, position: DVec3) -> EntityState {
    let kind = Kind::Player { posture: Posture::Standing };
    EntityState { kind, ..crate_at(slot, position) }
}

fn judge(entities: Vec<EntityState>) -> Vec<(Obstacle, f64)> {
    let mut audit = Audit::new(&room(), &shipped()).expect("the room has both sizes");
    let found = audit.check(&State { tick: 0, entities: entities.clone() });
    assert_eq!(audit.check(&State { tick: 1, entities }), [], "judged already");
    found.iter().map(|finding| (finding.obstacle, finding.depth)).collect()
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
    let inner = shipped().iter().position(|m| m.name() == "small_crate").expect("it ships");
    let at = DVec3::new(-200.0, 0.0, 100.0);
    let small = EntityState { kind: Kind::Prop { model: ModelId(inner as u8) }, ..crate_at(1, at) };
    assert_eq!(judge(vec![crate_at(0, at), small]).len(), 1);
    assert_eq!(judge(vec![small, player_at(0, at)]).len(), 1);
}
