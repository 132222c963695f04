//! Conversion of a brush as written to a convex solid.

use glam::DVec3;
use thiserror::Error;

use super::source::map::{SourceBrush, SourceFace};
use crate::geometry::{ConvexSolid, DegenerateSolid, Plane};
use crate::world::MAX_FACES;

/// Greatest coordinate of a brush along an axis, in units. Positions are `f32`,
/// which farther out are coarser than 1/256 of a unit.
pub const MAX_COORDINATE: f64 = 32_768.0;

/// Reasons for which a brush has no volume. Such a brush is left out with a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DegenerateBrush {
    /// A coordinate is not a number or too large.
    #[error("it reaches beyond ±{MAX_COORDINATE} units")]
    TooFar,
    /// Too few faces to enclose a volume.
    #[error("it has {0} faces; at least four enclose a volume")]
    TooFewFaces(usize),
    /// Its faces look inward.
    #[error("it is inside out: its faces look inward")]
    Inverted,
    /// More faces than a solid may have.
    #[error("it has more than {MAX_FACES} faces")]
    TooManyFaces,
    /// Its planes do not bound a volume.
    #[error(transparent)]
    Solid(#[from] DegenerateSolid),
}

/// A face that does not change its brush. It is left out with a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RedundantFace {
    /// Three points of a face do not span a plane.
    #[error("the points of face {0} lie in one line")]
    InLine(usize),
    /// Two faces lie in one plane.
    #[error("faces {0} and {1} have the same plane")]
    Repeated(usize, usize),
}

/// Most faces of a brush as written, redundant ones included: the time to find those
/// grows with the square of their number.
const MAX_WRITTEN_FACES: usize = 4 * MAX_FACES;

/// The solid that a brush encloses, and its first redundant face, if there is one.
pub(super) fn solid(
    brush: &SourceBrush,
) -> Result<(ConvexSolid, Option<RedundantFace>), DegenerateBrush> {
    if brush.faces.len() < 4 {
        return Err(DegenerateBrush::TooFewFaces(brush.faces.len()));
    }
    if brush.faces.len() > MAX_WRITTEN_FACES {
        return Err(DegenerateBrush::TooManyFaces);
    }
    let mut redundant = None;
    // With the number of the face.
    let mut planes: Vec<(usize, Plane)> = Vec::with_capacity(brush.faces.len());
    for (index, face) in brush.faces.iter().enumerate() {
        let number = index + 1;
        let Some(plane) = plane(face)? else {
            redundant = redundant.or(Some(RedundantFace::InLine(number)));
            continue;
        };
        let same = |(_, known): &&(usize, Plane)| {
            known.normal.dot(plane.normal) > 1.0 - 1e-12
                && (known.distance - plane.distance).abs() < 1e-6
        };
        if let Some((other, _)) = planes.iter().find(same) {
            // They are the same but for rounding, so the solid decides which it keeps.
            redundant = redundant.or(Some(RedundantFace::Repeated(*other, number)));
        }
        planes.push((number, plane));
    }
    let planes: Vec<Plane> = planes.into_iter().map(|(_, plane)| plane).collect();
    let solid = ConvexSolid::from_planes(&planes).map_err(|reason| {
        let flipped: Vec<Plane> = planes.iter().map(Plane::flipped).collect();
        let inverted = ConvexSolid::from_planes(&flipped).is_ok();
        if inverted { DegenerateBrush::Inverted } else { reason.into() }
    })?;
    let bounds = solid.bounds();
    if bounds.min.abs().max(bounds.max.abs()).max_element() > MAX_COORDINATE {
        return Err(DegenerateBrush::TooFar);
    }
    if solid.faces().len() > MAX_FACES {
        return Err(DegenerateBrush::TooManyFaces);
    }
    Ok((solid, redundant))
}

/// A triangle with a smaller height than this, in units, has no plane: the last digit
/// written would decide it.
const LOWEST: f64 = 1e-5;

/// The plane of a face; `None` if its points lie in one line.
fn plane(face: &SourceFace) -> Result<Option<Plane>, DegenerateBrush> {
    let [a, b, c] = face.points;
    // Points may lie outside the solid, but not where their products would
    // lose the digits that tell planes apart.
    let near = |p: DVec3| p.abs().cmple(DVec3::splat(2.0 * MAX_COORDINATE)).all();
    if !(near(a) && near(b) && near(c)) {
        return Err(DegenerateBrush::TooFar);
    }
    let normal = (a - b).cross(c - b);
    let length = normal.length();
    let longest = (a - b).length().max((c - b).length()).max((a - c).length());
    if length <= LOWEST * longest {
        return Ok(None);
    }
    Ok(Some(Plane { normal: normal / length, distance: normal.dot(b) / length }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brush(planes: &[[[f64; 3]; 3]]) -> SourceBrush {
        let face = |points: &[[f64; 3]; 3]| SourceFace {
            points: points.map(DVec3::from),
            texture: "x".into(),
        };
        SourceBrush { line: 7, faces: planes.iter().map(face).collect() }
    }

    /// Half the unit cube: a tetrahedron at the origin.
    const WEDGE: [[[f64; 3]; 3]; 4] = [
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
        [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
    ];

    #[test]
    fn points_run_clockwise_seen_from_outside() {
        let (solid, redundant) = solid(&brush(&WEDGE)).expect("a tetrahedron");
        assert_eq!(redundant, None);
        assert!((solid.volume() - 1.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn degenerate_brushes_are_rejected_with_their_reason() {
        let refused = |planes: &[[[f64; 3]; 3]]| solid(&brush(planes)).expect_err("degenerate");
        assert_eq!(refused(&WEDGE[..3]), DegenerateBrush::TooFewFaces(3));
        let mut open = WEDGE;
        open[3] = [[0.0, 0.0, 9.0], [0.0, 1.0, 9.0], [1.0, 0.0, 9.0]];
        open[2] = [[9.0, 0.0, 0.0], [9.0, 0.0, 1.0], [9.0, 1.0, 0.0]];
        assert_eq!(refused(&open), DegenerateBrush::Solid(DegenerateSolid::Unbounded));
        let inverted = WEDGE.map(|[a, b, c]| [c, b, a]);
        assert_eq!(refused(&inverted), DegenerateBrush::Inverted);
        let mut flat = WEDGE.to_vec();
        flat.push([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]);
        assert_eq!(refused(&flat), DegenerateBrush::Solid(DegenerateSolid::Flat));
        let mut with = WEDGE.to_vec();
        with.push(WEDGE[0]);
        for far in [f64::NAN, f64::INFINITY, 1e9] {
            with[4] = [[0.0, 0.0, 0.0], [far, 1.0, 1.0], [2.0, 2.0, 2.0]];
            assert_eq!(refused(&with), DegenerateBrush::TooFar);
        }
        let huge = WEDGE.map(|points| points.map(|p| p.map(|c| c * 40_000.0)));
        assert_eq!(refused(&huge), DegenerateBrush::TooFar);
        assert_eq!(refused(&[]), DegenerateBrush::TooFewFaces(0));
    }

    #[test]
    fn a_redundant_face_is_dropped_and_never_its_brush() {
        let whole = solid(&brush(&WEDGE)).expect("a tetrahedron").0;
        let mut with = WEDGE.to_vec();
        with.push([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0]]);
        let repeated = solid(&brush(&with)).expect("the same tetrahedron");
        assert_eq!(repeated.1, Some(RedundantFace::Repeated(1, 5)));
        with[4] = [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]];
        let in_line = solid(&brush(&with)).expect("the same tetrahedron");
        assert_eq!(in_line.1, Some(RedundantFace::InLine(5)));
        for other in [repeated.0, in_line.0] {
            assert_eq!((other.faces().len(), other.bounds()), (4, whole.bounds()));
            assert!((other.volume() - whole.volume()).abs() < 1e-12);
        }
    }

    #[test]
    fn only_faces_that_are_left_count_as_too_many() {
        let mut many = WEDGE.to_vec();
        many.extend(vec![WEDGE[0]; MAX_FACES + 1]);
        assert!(solid(&brush(&many)).is_ok());
        // A cone about the z axis, each of its sides a face.
        let cone = |sides: u32| {
            let mut faces = vec![[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]];
            let at = |i: u32| {
                let (s, c) = (std::f64::consts::TAU * f64::from(i) / f64::from(sides)).sin_cos();
                [c * 1024.0, s * 1024.0, 0.0]
            };
            faces.extend((0..sides).map(|i| [at(i + 1), at(i), [0.0, 0.0, 1024.0]]));
            solid(&brush(&faces))
        };
        assert_eq!(cone(300).expect("a cone").0.faces().len(), 301);
        assert_eq!(cone(MAX_FACES as u32).err(), Some(DegenerateBrush::TooManyFaces));
    }
}
