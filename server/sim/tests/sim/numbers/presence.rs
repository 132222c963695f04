//! Pictures and attachments with extreme numbers.

use glam::DQuat;
use obsp_sim::Attachment;

use super::{Numbers, Scene, turn, vector};

/// The functions that are called here.
const CALLED: [&str; 5] = [
    "World::spawn_intangible",
    "World::set_pose",
    "World::place",
    "World::attach",
    "Attachment::pose",
];

/// Calls an operation that changes what an entity is. Returns whether there is one of this name.
pub(super) fn change(name: &str, scene: &mut Scene, n: &mut Numbers) -> bool {
    if !CALLED.contains(&name) {
        return false;
    }
    let (ids, carrier, world) = (scene.all(), scene.player, &mut scene.world);
    let crate_ = world.model("crate").expect("a shipped model");
    let (at, turn) = (vector(n, [300.0, 200.0, 100.0]), turn(n));
    match name {
        "World::spawn_intangible" => {
            if let Ok(id) = world.spawn_intangible(crate_, at, turn) {
                let seen = world.entity(id).expect("it was spawned");
                assert!(seen.position.is_finite() && seen.orientation.is_normalized(), "{seen:?}");
            }
        }
        "World::set_pose" => {
            let picture = world.spawn_intangible(crate_, glam::DVec3::ZERO, DQuat::IDENTITY);
            _ = world.set_pose(picture.expect("a slot is free"), at, turn);
        }
        "World::place" => {
            let picture = world.spawn_intangible(crate_, glam::DVec3::ZERO, DQuat::IDENTITY);
            _ = world.place(picture.expect("a slot is free"), at, turn);
            ids.into_iter().for_each(|id| _ = world.place(id, at, turn));
        }
        "World::attach" => {
            for id in ids {
                let attached = world.attach(id, carrier, at, turn);
                let seen = world.entity(id).filter(|_| attached.is_ok());
                assert!(seen.is_none_or(|seen| seen.position.is_finite()), "{seen:?}");
            }
        }
        "Attachment::pose" => {
            let attachment = Attachment { to: carrier, offset: at, rotation: turn };
            let (position, _) = attachment.pose(vector(n, [1.0, 2.0, 3.0]), DQuat::IDENTITY);
            assert!(!n.are_usual() || position.is_finite(), "{position:?}");
        }
        _ => unreachable!("{name} is in CALLED, but no arm calls it"),
    }
    true
}
