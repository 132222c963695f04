//! The closest points of two convex polyhedra, by the algorithm of Gilbert,
//! Johnson and Keerthi (1988).

use glam::DVec3;

use super::simplex::{Simplex, Vertex};
use super::{Features, Part, Proximity, Separation, gap_along};

/// Maximum number of steps. GJK on polyhedra ends after a few dozen steps. The limit is for
/// degenerate polyhedra. At the limit, the best plane found so far is reported.
const MAX_STEPS: usize = 64;

/// Square of the smallest distance that is distinguished from touching: a millionth of a unit.
const LEAST_SQUARED: f64 = 1e-12;

/// A step with less relative progress than this is rounding, not descent.
const PROGRESS: f64 = 1e-10;

/// The closest points of two convex parts. The search starts from the vertices between
/// which they were closest last time, or else along `guess`, and stops once the parts are
/// proven more than `enough` apart: see [`separate_from`](super::separate_from).
pub(super) fn search(
    a: &Part,
    b: &Part,
    guess: DVec3,
    features: Features,
    enough: f64,
) -> Proximity {
    let mut simplex = start(a, b, features).unwrap_or_else(|| Simplex::new(vertex(a, b, guess)));
    let mut best: Option<Separation> = None;
    for _ in 0..MAX_STEPS {
        // The point of the difference nearest the origin; it points from `b` to `a`.
        let nearest = simplex.nearest();
        let length_squared = nearest.length_squared();
        // Rounding can close a flat simplex around an origin that is outside, so a plane that was
        // proven to divide the pair takes precedence.
        if simplex.is_full() || length_squared < LEAST_SQUARED {
            break;
        }
        let next = vertex(a, b, -nearest);
        let bound = nearest.dot(next.difference());
        let length = length_squared.sqrt();
        let gap = bound / length;
        let closest = length_squared - bound <= PROGRESS * length_squared || simplex.holds(&next);
        if gap > best.as_ref().map_or(0.0, |found| found.gap) || (closest && best.is_some()) {
            let (on_a, on_b) = simplex.closest_points();
            let features = Features::new(simplex.vertices().iter().map(|vertex| vertex.indices));
            // The last points are the closest ones, although an earlier axis may have had a greater
            // gap by rounding.
            best = Some(match best {
                Some(found) if found.gap >= gap => Separation { on_a, on_b, features, ..found },
                _ => Separation { axis: -nearest / length, gap, on_a, on_b, features },
            });
        }
        if closest || gap > enough {
            break;
        }
        simplex.push(next);
    }
    let proven = best.map(|found| Separation { gap: gap_along(a, b, found.axis), ..found });
    proven.filter(|found| found.gap > 0.0).map_or(Proximity::Overlapping, Proximity::Apart)
}

/// The simplex of last time's vertices, if there are any.
fn start(a: &Part, b: &Part, features: Features) -> Option<Simplex> {
    let mut simplex: Option<Simplex> = None;
    for &indices in features.pairs() {
        let [i, j] = indices.map(usize::from);
        let (a, b) = (a.vertex(i)?, b.vertex(j)?);
        let vertex = Vertex { a, b, indices };
        match &mut simplex {
            Some(simplex) => simplex.push(vertex),
            None => simplex = Some(Simplex::new(vertex)),
        }
    }
    simplex
}

fn vertex(a: &Part, b: &Part, direction: DVec3) -> Vertex {
    let ((i, a), (j, b)) = (a.support(direction), b.support(-direction));
    Vertex { a, b, indices: [i, j] }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use obsp::geometry::{Aabb, ConvexSolid};
    use proptest::prelude::*;

    use super::*;
    use crate::collision::pose::Pose;
    use crate::collision::separation::separate;

    fn cuboid(half: DVec3) -> ConvexSolid {
        ConvexSolid::from_box(&Aabb::from_centre(DVec3::ZERO, half)).expect("a box is a solid")
    }

    #[test]
    fn boxes_face_to_face_are_as_far_apart_as_their_faces() {
        let solid = cuboid(DVec3::splat(16.0));
        let a = Part::new(&solid, &Pose::at(DVec3::ZERO));
        for gap in [1e-5, 0.01, 0.1, 5.0] {
            let b = Part::new(&solid, &Pose::at(DVec3::new(3.0, 5.0, 32.0 + gap)));
            let Proximity::Apart(found) = separate(&a, &b, DVec3::X) else {
                panic!("the search missed a gap of {gap}")
            };
            assert!((found.gap - gap).abs() < 1e-9, "{} instead of {gap}", found.gap);
            assert!((found.axis - DVec3::Z).length() < 1e-6);
            assert!(((found.on_b - found.on_a) - DVec3::Z * gap).length() < 1e-6);
        }
        let inside = Part::new(&solid, &Pose::at(DVec3::new(1.0, 0.0, 0.0)));
        assert!(matches!(separate(&a, &inside, DVec3::X), Proximity::Overlapping));
    }

    proptest! {
        /// Tests the search against the separating-axis theorem, which is complete for
        /// boxes: all face normals and all cross products of edges.
        #[test]
        fn agrees_with_the_separating_axis_theorem(
            position in prop::array::uniform3(-60.0..60.0f64),
            turn_a in prop::array::uniform4(-1.0..1.0f64),
            turn_b in prop::array::uniform4(-1.0..1.0f64),
        ) {
            let quat = |t: [f64; 4]| {
                let q = DQuat::from_xyzw(t[0], t[1], t[2], t[3]);
                if q.length() < 0.1 { DQuat::IDENTITY } else { q.normalize() }
            };
            let (solid_a, solid_b) =
                (cuboid(DVec3::new(20.0, 8.0, 12.0)), cuboid(DVec3::new(5.0, 30.0, 9.0)));
            let pose_a = Pose { position: DVec3::ZERO, orientation: quat(turn_a) };
            let pose_b = Pose { position: position.into(), orientation: quat(turn_b) };
            let (a, b) = (Part::new(&solid_a, &pose_a), Part::new(&solid_b, &pose_b));
            let (ra, rb) = (pose_a.rotation(), pose_b.rotation());
            let mut axes: Vec<DVec3> = (0..3).flat_map(|i| [ra.col(i), rb.col(i)]).collect();
            for i in 0..3 {
                for j in 0..3 {
                    axes.push(ra.col(i).cross(rb.col(j)).normalize_or_zero());
                }
            }
            let widest = axes
                .iter()
                .filter(|axis| axis.length() > 0.5)
                .flat_map(|&axis| [gap_along(&a, &b, axis), gap_along(&a, &b, -axis)])
                .fold(f64::NEG_INFINITY, f64::max);
            let guess = pose_b.position + DVec3::X * 1e-3;
            let searched = search(&a, &b, guess, Features::NONE, f64::INFINITY);
            for found in [separate(&a, &b, guess), searched] {
                match found {
                    // The true distance is at least the widest face or edge gap.
                    Proximity::Apart(found) => {
                        prop_assert!(widest > 0.0, "the search found the boxes {} apart, but no \
                            axis divides them", found.gap);
                        prop_assert!(found.gap >= widest - 1e-7);
                        let between = (found.on_b - found.on_a).length();
                        prop_assert!((between - found.gap).abs() < 1e-6);
                    }
                    Proximity::Overlapping => {
                        prop_assert!(widest < 1e-9, "the search missed a gap of {widest}");
                    }
                }
            }
        }
    }
}
