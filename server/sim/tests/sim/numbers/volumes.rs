//! Volumes and ways with extreme numbers.

use glam::DVec3;
use obsp::geometry::{Aabb, ConvexSolid};
use obsp_sim::VolumeSearch;

use super::{Numbers, Scene, vector};

/// Asks a question about volumes. Returns whether there is one of this name.
pub(super) fn ask(name: &str, scene: &Scene, n: &mut Numbers) -> bool {
    let world = &scene.world;
    match name {
        "World::overlapping" | "VolumeSearch::new" => {
            let min = vector(n, [190.0, -110.0, 10.0]);
            let bounds = Aabb { min, max: vector(n, [210.0, -90.0, 20.0]) };
            if let Ok(solid) = ConvexSolid::from_box(&bounds) {
                let found = world.overlapping(&solid);
                let mut search = VolumeSearch::new(solid);
                assert_eq!(world.find_in(&mut search), found);
                assert_eq!(world.find_in(&mut search), found);
            }
        }
        "World::boxes_touching" => {
            let min = vector(n, [190.0, -110.0, 10.0]);
            let bounds = Aabb { min, max: vector(n, [210.0, -90.0, 20.0]) };
            let (near, inside) = (world.boxes_touching(&bounds), world.overlapping_box(&bounds));
            assert!(inside.iter().all(|id| near.contains(id)), "{near:?} and {inside:?}");
        }
        "World::passes_through" | "World::bounds_of_way" => {
            let min = DVec3::new(90.0, -200.0, 0.0);
            let bounds = Aabb { min, max: DVec3::new(98.0, 200.0, 200.0) };
            let gate = ConvexSolid::from_box(&bounds).expect("a box");
            let way = [vector(n, [0.0, -90.0, 17.0]), vector(n, [200.0, -90.0, 17.0])];
            let passed = world.passes_through(scene.body, way, &gate);
            assert!(passed || !n.are_usual());
            assert!(!passed || way.iter().all(|place| place.is_finite()));
            let around = world.bounds_of_way(scene.body, way).expect("the body is in the world");
            assert!(!passed || around.overlaps(gate.bounds()), "{around:?}");
        }
        _ => return false,
    }
    true
}
