use std::sync::OnceLock;

use glam::DQuat;
use obsp::model::shipped;
use proptest::prelude::*;

use super::*;
use crate::collision::cascade::{Candidates, least_gap};
use crate::collision::pose::Pose;
use crate::collision::shape::{Shape, Shapes};
use crate::state::Posture;
use crate::test_maps::{block, compiled};

/// The boxes of a player.
fn shapes() -> &'static Shapes {
    static SHAPES: OnceLock<Shapes> = OnceLock::new();
    SHAPES.get_or_init(|| {
        let map = compiled(&block([-64, -64, -16], [64, 64, 0]), [0, 0, 40], "");
        Shapes::new(&map, &[]).expect("the map has a player's sizes")
    })
}

fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-1.0..1.0_f64).prop_map(move |v| DVec3::from(v) * size)
}

fn pose(size: f64) -> impl Strategy<Value = Pose> {
    (vector(size), prop::array::uniform4(-1.0..1.0_f64)).prop_map(|(position, [x, y, z, w])| Pose {
        position,
        orientation: DQuat::from_xyzw(x, y, z, w + 0.01).normalize(),
    })
}

/// Twelve sweeps of a tick: shares of a body's way, and whether the player crouches in it.
fn sweeps() -> impl Strategy<Value = Vec<(DVec3, bool)>> {
    prop::collection::vec((vector(20.0), any::<bool>()), 12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The sweeps of one tick, which share their planes: each keeps its distance from the body as
    /// far as it is said to be free, and stops only where the distance ends. The distances are
    /// measured anew for each place.
    #[test]
    fn sweeps_that_share_planes_keep_their_distance(
        (start, sweeps) in (vector(60.0), sweeps()),
        (at, model) in (pose(30.0), 0..shipped().len()),
    ) {
        let shapes = shapes();
        let prop = Shape::prop(&shipped()[model]);
        let body = Body::standing(&prop, at);
        let mut context = StepContext::default();
        let mut cache = PlaneCache::new(&mut context);
        let mut from = start;
        for (way, crouches) in sweeps {
            let posture = if crouches { Posture::Crouching } else { Posture::Standing };
            let shape = &shapes[shapes.of_posture(posture)];
            let gap_at = |position| {
                least_gap(&Body::standing(shape, Pose::at(position)), &body, Candidates::ALL)
            };
            // The taller box may be too near at the end of the last sweep.
            let gap = gap_at(from);
            if gap.is_some_and(|gap| gap < AGENT_GAP) {
                continue;
            }
            let own = Body::moving(shape, Pose::at(from), Pose::at(from + way));
            let size = shapes.boxes.of(posture).1;
            let free = match cache.first_impact((7, size), &own, &body) {
                TimeOfImpact::Free => 1.0,
                TimeOfImpact::Blocked(impact) => impact.time,
                TimeOfImpact::Overlapping => {
                    prop_assert!(gap.is_none(), "a gap of {gap:?} is no overlap");
                    from += way;
                    continue;
                }
            };
            prop_assert!(gap.is_some(), "a motion that begins inside the body is not free");
            for step in 0..=32 {
                let position = from + way * (free * f64::from(step) / 32.0);
                let gap = gap_at(position).unwrap_or(0.0);
                prop_assert!(gap > GRAZING_GAP, "a gap of {gap} at step {step} of {free}");
            }
            if free < 1.0 {
                let gap = gap_at(from + way * (free + 0.01)).unwrap_or(0.0);
                prop_assert!(gap < AGENT_GAP + 0.02 * way.length(), "stopped {gap} before the body");
            }
            from += way * (free * 0.99);
        }
    }
}
