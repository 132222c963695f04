//! Entities that pass through each other because of their layers.

use super::*;
use crate::audit::{Audit, Passages, Ways};
use crate::traits::CollisionLayers;
use crate::{Command, MissileMotion, PlaceError, PlayerKind};

const RED: u32 = 1 << 1;

/// Members of the red team pass through each other.
const TEAM: CollisionLayers = CollisionLayers { layers: RED, mask: !RED };

/// Nothing but the map stops an entity with these layers.
const GHOST: CollisionLayers = CollisionLayers { layers: 0, mask: 0 };

/// A match, and the audits that judge each of its ticks.
struct Audited {
    world: World,
    audit: Audit,
    passages: Passages,
}

impl Audited {
    fn new() -> Self {
        let (room, models) = (room(), shipped());
        Self {
            world: empty_room(),
            audit: Audit::new(&room, &models).expect("the room has both sizes"),
            passages: Passages::new(&room, &models, CONFIG.tick_rate).expect("it has them"),
        }
    }

    fn spawn(&mut self, model: &str, at: [f64; 3]) -> EntityId {
        let model = self.world.shipped_model(model);
        let spawned = self.world.spawn_body(model, DVec3::from_array(at), DQuat::IDENTITY);
        spawned.expect("there is room")
    }

    fn player(&mut self, at: [f64; 3], yaw: u16) -> EntityId {
        let player = self.world.add_player_at(PlayerKind::Box, DVec3::from_array(at), yaw);
        player.expect("there is room")
    }

    fn run(&mut self, ticks: u32, commands: &[(EntityId, Command)]) {
        for _ in 0..ticks {
            self.world.step(commands);
            assert_eq!(self.audit.check_match(&self.world), []);
            let ways = self.passages.judge(&self.world.state(), self.world.relocations());
            assert_eq!(ways, Ways::default());
        }
    }

    fn at(&self, id: EntityId) -> DVec3 {
        self.world.entity(id).expect("it is in the world").position
    }
}

#[test]
fn all_32_layers_count_and_both_masks_decide() {
    for layer in 0..CollisionLayers::COUNT {
        let on = |layers, mask| CollisionLayers { layers, mask };
        let (own, all) = (1 << layer, u32::MAX);
        assert!(on(own, own).may_meet(on(own, own)));
        assert!(on(own, all).may_meet(on(all, own)));
        assert!(!on(own, all).may_meet(on(all, !own)), "the other does not meet this layer");
        assert!(!on(own, !own).may_meet(on(own, all)));
        assert!(!on(own, all).may_meet(on(0, all)), "an entity on no layer meets nothing");
    }
    assert_eq!(1_u32.checked_shl(CollisionLayers::COUNT), None, "there is no layer beyond");
}

#[test]
fn bodies_that_may_not_meet_fall_through_each_other_and_rest_on_the_map() {
    let mut all = Audited::new();
    let lower = all.spawn("crate", [200.0, 0.0, 17.0]);
    let upper = all.spawn("crate", [200.0, 0.0, 60.0]);
    all.run(120, &[]);
    assert!(all.at(upper).z > 45.0, "it lies on the other crate");
    assert!(all.world.entity(upper).expect("there").asleep);
    all.world.set_layers(lower, GHOST).expect("nothing is in the way");
    all.run(120, &[]);
    assert!(all.at(upper).z < 17.0, "its support is gone: {}", all.at(upper));
    assert!(all.at(lower).distance(all.at(upper)) < 8.0, "both are in the same place");
    // They cannot become solid for each other there.
    let before = all.world.state();
    let usual = CollisionLayers::default();
    assert_eq!(all.world.set_layers(lower, usual), Err(PlaceError::NoRoom));
    assert_eq!(all.world.state(), before);
    all.world.teleport(lower, DVec3::new(300.0, 0.0, 17.0), DQuat::IDENTITY).expect("free");
    all.world.set_layers(lower, usual).expect("nothing is in the way");
    all.run(60, &[]);
}

#[test]
fn new_layers_meet_a_body_that_slept_and_was_passed_before() {
    let mut all = Audited::new();
    let lower = all.spawn("crate", [200.0, 0.0, 17.0]);
    all.run(60, &[]);
    let upper = all.spawn("crate", [200.0, 0.0, 200.0]);
    all.world.set_layers(upper, GHOST).expect("nothing is in the way");
    all.run(10, &[]);
    all.world.set_layers(upper, CollisionLayers::default()).expect("it is still above");
    all.run(180, &[]);
    assert!(all.at(upper).z - all.at(lower).z > 30.0, "{} on {}", all.at(upper), all.at(lower));
}

#[test]
fn team_members_run_through_each_other_and_not_through_others() {
    let mut all = Audited::new();
    let run = Command { forward: 127, ..Command::default() };
    let runner = all.player([100.0, 0.0, 28.1], 0);
    let friend = all.player([180.0, 0.0, 28.1], 0);
    for id in [runner, friend] {
        all.world.set_layers(id, TEAM).expect("they are apart");
    }
    all.run(60, &[(runner, run)]);
    assert!(all.at(runner).x > all.at(friend).x + 60.0, "{}", all.at(runner));
    let stranger = all.player([all.at(runner).x + 80.0, 0.0, 28.1], 0);
    all.run(60, &[(runner, run)]);
    assert!(all.at(runner).x < all.at(stranger).x - 30.0, "a stranger is in the way");
}

#[test]
fn a_door_lets_only_the_red_team_pass() {
    let mut all = Audited::new();
    let run = Command { forward: 127, ..Command::default() };
    let door = all.spawn("crate", [200.0, 0.0, 17.0]);
    all.world.set_layers(door, CollisionLayers { layers: 1, mask: !RED }).expect("it is alone");
    all.run(30, &[]);
    let red = all.player([100.0, 0.0, 28.1], 0);
    all.world.set_layers(red, CollisionLayers { layers: RED, mask: u32::MAX }).expect("apart");
    all.run(60, &[(red, run)]);
    assert!(all.at(red).x > 240.0, "red passes: {}", all.at(red));
    assert!((all.at(door).x - 200.0).abs() < 0.5, "the door does not move");
    let other = all.player([100.0, 0.0, 28.1], 0);
    all.run(60, &[(other, run)]);
    assert!(all.at(other).x < all.at(door).x - 30.0, "another is stopped: {}", all.at(other));
}

#[test]
fn a_missile_passes_what_it_may_not_meet() {
    for layers in [CollisionLayers::default(), TEAM] {
        let mut all = Audited::new();
        let target = all.spawn("crate", [200.0, 0.0, 17.0]);
        all.world.set_layers(target, TEAM).expect("it is alone");
        let rocket = all.world.shipped_model("rocket");
        let from = DVec3::new(100.0, 0.0, 17.0);
        let fly = MissileMotion::Straight;
        let rocket = all.world.spawn_missile(rocket, fly, from, DVec3::X * 600.0);
        let rocket = rocket.expect("there is room");
        all.world.set_layers(rocket, layers).expect("nothing is near");
        all.run(20, &[]);
        let flies = all.world.entity(rocket).is_some();
        assert_eq!(flies, layers == TEAM, "{layers:?}");
    }
}

#[test]
fn layers_are_saved_and_in_the_digest() {
    let mut all = Audited::new();
    let body = all.spawn("crate", [200.0, 0.0, 17.0]);
    let before = all.world.digest();
    all.world.set_layers(body, TEAM).expect("it is alone");
    assert_ne!(all.world.digest(), before);
    let saved = all.world.save();
    let mut loaded = World::load(room(), shipped().into(), &saved).expect("the save can be loaded");
    assert_eq!(loaded.layers(body), Some(TEAM));
    assert_eq!(loaded.digest(), all.world.digest());
    loaded.set_layers(body, CollisionLayers::default()).expect("it is alone");
    // The search for contacts has to look at the body anew, so the digests differ until it has.
    (0..60).for_each(|_| loaded.step(&[]));
    assert_eq!(loaded.layers(body), Some(CollisionLayers::default()));
}
