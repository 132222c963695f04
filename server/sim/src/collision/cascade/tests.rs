//! Tests every stage against the exact test, on pairs of the shipped models that
//! move and turn close to each other.

use glam::DQuat;
use obsp::model::shipped;
use proptest::prelude::*;

use super::*;
use crate::collision::pose::Pose;
use crate::collision::shape::Shape;
use crate::collision::time_of_impact::Resolution;

const MARGIN: f64 = 1.0 / 128.0;

fn shapes() -> &'static [Shape] {
    static SHAPES: std::sync::OnceLock<Vec<Shape>> = std::sync::OnceLock::new();
    SHAPES.get_or_init(|| shipped().iter().map(Shape::prop).collect())
}

/// Two bodies by shape, with their poses at the beginning and at the end of the tick.
#[derive(Clone, Copy, Debug)]
struct Scene {
    shapes: [usize; 2],
    ways: [[Pose; 2]; 2],
}

impl Scene {
    fn body(&self, index: usize) -> Body<'static> {
        let [start, end] = self.ways[index];
        Body::moving(&shapes()[self.shapes[index]], start, end)
    }

    fn pair(&self) -> [Body<'static>; 2] {
        [self.body(0), self.body(1)]
    }

    fn shifted(mut self, by: DVec3) -> Self {
        self.ways.iter_mut().flatten().for_each(|pose| pose.position += by);
        self
    }
}

fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-1.0..1.0_f64).prop_map(move |v| DVec3::from(v) * size)
}

fn quaternion() -> impl Strategy<Value = DQuat> {
    prop::array::uniform4(-1.0..1.0_f64).prop_map(|[x, y, z, w]| {
        let turn = DQuat::from_xyzw(x, y, z, w);
        // Many bodies are aligned with the axes, as resting bodies are.
        if turn.length() < 0.8 { DQuat::IDENTITY } else { turn.normalize() }
    })
}

fn scene() -> impl Strategy<Value = Scene> {
    let count = shipped().len();
    let way = || (quaternion(), vector(1.0), vector(0.5), 0..3_u8);
    (0..count, 0..count, way(), way(), vector(1.0), 0.1..1.1_f64).prop_map(
        |(a, b, first, second, direction, share)| {
            let reach = shapes()[a].radius + shapes()[b].radius;
            let apart = direction.try_normalize().unwrap_or(DVec3::X) * (reach * share);
            let way = |at: DVec3, (orientation, velocity, spin, kind)| {
                let start = Pose { position: at, orientation };
                // At rest, as fast as in play, or far faster.
                let speed = [0.0, 4.0, 60.0][usize::from(kind)];
                let spin = if kind == 0 { DVec3::ZERO } else { spin };
                [start, start.advanced(velocity * speed, spin, 1.0)]
            };
            let home = DVec3::new(100.0, -40.0, 30.0);
            Scene { shapes: [a, b], ways: [way(home, first), way(home + apart, second)] }
        },
    )
}

/// The gaps of the pairs of parts that `open` selects, at times spread over the tick.
fn gaps(a: &Body, b: &Body, open: impl Fn(usize, usize) -> bool) -> Vec<f64> {
    let mut gaps = Vec::new();
    for step in 0..=16 {
        let time = f64::from(step) / 16.0;
        let (a, b) = (a.stopped(a.motion.at(time)), b.stopped(b.motion.at(time)));
        for (i, ours) in a.parts_at_start().enumerate() {
            for (_, theirs) in b.parts_at_start().enumerate().filter(|&(j, _)| open(i, j)) {
                gaps.push(match separate(&ours, &theirs, theirs.centre() - ours.centre()) {
                    Proximity::Apart(found) => found.gap,
                    Proximity::Overlapping => 0.0,
                });
            }
        }
    }
    gaps
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_stage_claims_only_what_the_exact_test_confirms(scene in scene(), axis in vector(1.0)) {
        let [a, b] = scene.pair();
        let axis = axis.try_normalize().unwrap_or(DVec3::Z);
        let claims = [
            ("spheres", bounds::spheres_apart(&a, &b, MARGIN)),
            ("boxes", bounds::boxes_apart(&a, &b, MARGIN)),
            ("plane", bounds::plane_divides(&a, &b, axis, MARGIN)),
            ("bsp_box", matches!(bsp_box::ask(&a, &b, MARGIN), Verdict::Apart)),
            ("bsp_hard", bsp_hard::apart(&a, &b, MARGIN)),
        ];
        if claims.iter().any(|(_, apart)| *apart) {
            let least = gaps(&a, &b, |_, _| true).into_iter().fold(f64::INFINITY, f64::min);
            for (stage, apart) in claims {
                prop_assert!(!apart || least > MARGIN, "stage {stage} proved parts apart that have \
                    a gap of {least}");
            }
        }
        if let Verdict::Open(open) = bsp_box::ask(&a, &b, MARGIN) {
            for gap in gaps(&a, &b, |i, j| !open.hold(i, j)) {
                prop_assert!(gap > MARGIN, "stage bsp_box left out parts that have a gap of {gap}");
            }
        }
    }

    /// Parts that the exact test leaves out by their boxes stay apart all the way, no matter how
    /// the bodies turn.
    #[test]
    fn boxes_leave_out_only_parts_that_do_not_meet(scene in scene()) {
        let [a, b] = scene.pair();
        let beyond = meeting_distance(&a, &b, MARGIN);
        let left_out = |i: usize, j: usize| {
            boxes_of_parts_apart(&a.sweep_of(&a.parts[i]), &b.sweep_of(&b.parts[j]), beyond)
        };
        for gap in gaps(&a, &b, left_out) {
            prop_assert!(gap > MARGIN, "the boxes left out parts that have a gap of {gap}");
        }
    }

    /// A body inside another is a collision to every stage.
    #[test]
    fn overlapping_parts_are_never_apart(turn in quaternion(), place in vector(4.0)) {
        let index = |name: &str| shipped().iter().position(|m| m.name() == name).expect("shipped");
        let outer = Body::standing(&shapes()[index("cargo_box")], Pose::at(DVec3::ZERO));
        let inner = Body::standing(
            &shapes()[index("grenade")],
            Pose { position: place, orientation: turn },
        );
        for (a, b) in [(&outer, &inner), (&inner, &outer)] {
            prop_assert!(!bsp_hard::apart(a, b, MARGIN));
            let found = first_impact(a, b, (0.0, 1.0), MARGIN, None, &mut StepContext::default());
            prop_assert_eq!(found, TimeOfImpact::Overlapping);
        }
    }

    #[test]
    fn answers_do_not_depend_on_what_is_switched_on(scene in scene(), axis in vector(1.0)) {
        let [a, b] = scene.pair();
        let answer = |stages, axis| {
            let mut context = StepContext { stages, ..StepContext::default() };
            first_impact(&a, &b, (0.0, 1.0), MARGIN, axis, &mut context)
        };
        for axis in [None, axis.try_normalize()] {
            let all = answer(Stages::ALL, axis);
            prop_assert_eq!(answer(Stages::EXACT, axis), all);
            for stage in Stage::ALL {
                prop_assert_eq!(answer(Stages::ALL.without(stage), axis), all, "without {:?}", stage);
                prop_assert_eq!(answer(Stages::EXACT.with(stage), axis), all, "only {:?}", stage);
            }
        }
    }

    /// A pair meets at the same time and in the same direction if its bodies are exchanged or moved
    /// by whole units.
    #[test]
    fn answers_do_not_depend_on_order_or_place(
        scene in scene(),
        shift in prop::array::uniform3(-2000..2000_i32),
    ) {
        let answer = |a: &Body, b: &Body| {
            first_impact(a, b, (0.0, 1.0), MARGIN, None, &mut StepContext::default())
        };
        let [a, b] = scene.pair();
        let [c, d] = scene.shifted(DVec3::from(shift.map(f64::from))).pair();
        let first = answer(&a, &b);
        let cases = [("swapped", answer(&b, &a), -1.0), ("shifted", answer(&c, &d), 1.0)];
        for (case, other, sign) in cases {
            match (first, other) {
                (TimeOfImpact::Blocked(one), TimeOfImpact::Blocked(two)) => {
                    let shortest = Resolution::default().shortest();
                    prop_assert!((one.time - two.time).abs() < shortest, "{case}: {one:?} {two:?}");
                    // If several parts stop at once, any of them may be named.
                    if scene.shapes.iter().all(|&s| shapes()[s].parts.len() == 1) {
                        let away = (one.axis - two.axis * sign).length();
                        prop_assert!(away < 1e-3, "{case}: {one:?} {two:?}");
                    }
                }
                (one, two) => prop_assert_eq!(one, two, "{}", case),
            }
        }
    }
}

#[test]
fn more_parts_than_bits_are_always_candidates() {
    let mut none = candidates::PartSet::NONE;
    none.add(3);
    none.add(70);
    let open = Candidates { ours: none, theirs: candidates::PartSet::ALL };
    assert!(open.hold(3, 0) && open.hold(64, 99) && !open.hold(4, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Tests the bound of the BSP stages at its limit. A plane just far enough from both ends of a
    /// turning body's way stays clear of every point that comes near the other body. A point
    /// outside the other body's sphere may swing past the plane, because nothing is there.
    #[test]
    fn nothing_bends_its_way_past_a_plane(scene in scene(), normal in vector(1.0)) {
        let [a, b] = scene.pair();
        let Some(relative) = relative::Relative::new(&a, &b, MARGIN) else { return Ok(()) };
        let normal = normal.try_normalize().unwrap_or(DVec3::X);
        let seen = |point: DVec3, step: u32| {
            let time = f64::from(step) / 64.0;
            let (from, of) = (b.motion.at(time), a.motion.at(time));
            from.orientation.inverse() * (of.orientation * point + of.position - from.position)
        };
        let corners = a.parts.iter().flat_map(|part| part.vertices().iter().copied());
        let middles = a.parts.iter().map(|part| part.centre());
        let comes_near = |point: &DVec3| {
            (0..=64).any(|step| seen(*point, step).length() <= b.radius + MARGIN)
        };
        let points: Vec<DVec3> = corners.chain(middles).filter(comes_near).collect();
        if points.is_empty() {
            return Ok(());
        }
        let least = |step: u32| {
            points.iter().map(|&p| normal.dot(seen(p, step))).fold(f64::INFINITY, f64::min)
        };
        let (mut near, mut far) = (least(0).min(least(64)) - 200.0, least(0).min(least(64)));
        let planes = |distance| {
            relative.seen_from_body(&obsp::geometry::Plane { normal, distance })
        };
        let extent = |plane: &obsp::geometry::Plane| {
            points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), &p| {
                let distance = plane.signed_distance(p);
                (least.min(distance), greatest.max(distance))
            })
        };
        // The farthest plane that still counts as clear.
        while far - near > 1e-9 {
            let middle = 0.5 * (near + far);
            match relative.side(&planes(middle), extent) {
                relative::Side::Front => near = middle,
                _ => far = middle,
            }
        }
        for step in 0..=64 {
            let clear = least(step) - near;
            prop_assert!(clear > MARGIN, "a point is {clear} from the plane at step {step}");
        }
    }
}
