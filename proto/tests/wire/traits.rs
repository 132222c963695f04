//! The traits of entities on the wire: they come at once, and an attached entity costs nothing.

use glam::{DQuat, DVec3};
use obsp_proto::snapshot::MIN_SNAPSHOT;
use obsp_sim::{Attachment, CollisionLayers, Substance};

use crate::link::Impairments;
use crate::scene::Scene;
use crate::staged_match::Match;

/// Symptom: the layers of a client's own player reached the client up to 100 ms late, or even later
/// while more entities changed than fit. Meanwhile the client predicted by the old layers.
#[test]
fn changed_traits_are_in_the_next_snapshot() {
    for limit in [MIN_SNAPSHOT, 1200] {
        let mut scene = Scene::new(8, 8, 200);
        scene.restless = true;
        scene.turnover = 0.0;
        let mut game = Match::new(8, scene, Impairments::GOOD);
        game.limit = limit;
        game.run(600);
        let postponed = game.server.stats().postponed;
        for change in 0..40_u16 {
            // The client's own player, and others near and far.
            let slot = change % 2 * change * 5;
            let layers = CollisionLayers { layers: 1 << (change % 32), mask: 2 };
            let mut entities = game.scene.state.entities.iter_mut();
            entities.find(|entity| entity.id.slot == slot).unwrap().traits.layers = layers;
            let sent_in = game.scene.state().tick + 1;
            let has_layers = |game: &Match| {
                game.client.quantised(slot).is_some_and(|known| known.traits.layers == layers)
            };
            while !has_layers(&game) {
                game.run(1);
                assert!(game.scene.state().tick < sent_in + 60, "limit {limit}, slot {slot}");
            }
            let id = game.client.entities().find(|entity| entity.id.slot == slot).unwrap().id;
            let (tick, _) = game.client.history(id).last().unwrap();
            assert_eq!(u64::from(tick.0), sent_in, "limit {limit}, slot {slot}");
        }
        let is_full = game.server.stats().postponed > postponed + 1000;
        assert!(
            is_full || limit > MIN_SNAPSHOT,
            "too few poses were postponed: the snapshots were never full"
        );
    }
}

/// Bytes and records of ten seconds of snapshots, in which a player runs about, with a sleeping
/// body on its back or without.
fn cost_of_running(is_carried: bool) -> (u64, u64) {
    let mut scene = Scene::new(5, 2, 1);
    (scene.kicks, scene.turnover) = (0.0, 0.0);
    let mut game = Match::new(5, scene, Impairments::GOOD);
    game.run(1200);
    let carrier = game.scene.state.entities[1].id;
    let body = &mut game.scene.state.entities[2];
    assert!(body.asleep, "the body has not come to rest");
    if is_carried {
        let offset = DVec3::new(-18.0, 0.0, 12.0);
        let attached = Attachment { to: carrier, offset, rotation: DQuat::IDENTITY };
        body.traits.substance = Substance::Attached(attached);
    }
    game.run(60);
    let known = game.client.quantised(2).expect("the client knows the body");
    assert_eq!(known.traits.is_attached(), is_carried);
    let before = *game.server.stats();
    let start = game.scene.state.entities[1].position;
    let mut farthest = 0.0_f64;
    for _ in 0..600 {
        let place = game.scene.state.entities[1].position;
        farthest = farthest.max(place.distance(start));
        if is_carried {
            game.scene.state.entities[2].position = place;
        }
        game.run(1);
    }
    assert!(farthest > 100.0, "the carrier went {farthest} units");
    let after = *game.server.stats();
    (after.snapshot_bytes - before.snapshot_bytes, after.records - before.records)
}

#[test]
fn a_carried_body_costs_no_byte() {
    let [(carried, with), (lies, without)] = [true, false].map(cost_of_running);
    assert_eq!(with, without, "records of ten seconds");
    // Every 16th snapshot ends with a digest. The digest's value decides whether the range coder
    // needs one more byte.
    assert!(carried.abs_diff(lies) <= 600 / 16, "{carried} bytes, and {lies} without");
}
