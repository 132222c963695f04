//! From a brush as written to a convex solid.

use glam::DVec3;
use thiserror::Error;

use super::source::{SourceBrush, SourceFace};
use crate::geometry::{ConvexSolid, DegenerateSolid, Plane};
use crate::world::MAX_FACES;

/// Farthest a brush may reach along an axis, in units. Positions are `f32`,
/// which farther out are coarser than 1/256 of a unit.
pub const MAX_COORDINATE: f64 = 32_768.0;

/// Why a brush is none. Such a brush is left out with a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DegenerateBrush {
    /// Three points of a face do not span a plane.
    #[error("the points of face {0} lie in one line")]
    InLine(usize),
    /// Two faces lie in one plane.
    #[error("faces {0} and {1} have the same plane")]
    Repeated(usize, usize),
    /// A coordinate is no number or too far out.
    #[error("it reaches beyond ±{MAX_COORDINATE} units")]
    TooFar,
    /// Fewer faces than anything is enclosed by.
    #[error("it has {0} faces; at least four enclose a volume")]
    TooFewFaces(usize),
    /// Its faces look inward.
    #[error("it is inside out: its faces look inward")]
    Inverted,
    /// More faces than a solid may have.
    #[error("it has more than {MAX_FACES} faces")]
    TooManyFaces,
    /// Its planes do not bound a volume.
    #[error("{0}")]
    Solid(#[from] DegenerateSolid),
}

/// The solid that a brush encloses.
pub(super) fn solid(brush: &SourceBrush) -> Result<ConvexSolid, DegenerateBrush> {
    if brush.faces.len() < 4 {
        return Err(DegenerateBrush::TooFewFaces(brush.faces.len()));
    }
    if brush.faces.len() > MAX_FACES {
        return Err(DegenerateBrush::TooManyFaces);
    }
    let planes = brush.faces.iter().enumerate().map(|(i, face)| plane(i, face));
    let planes: Vec<Plane> = planes.collect::<Result<_, _>>()?;
    for (i, a) in planes.iter().enumerate() {
        let same = |b: &Plane| {
            a.normal.dot(b.normal) > 1.0 - 1e-12 && (a.distance - b.distance).abs() < 1e-6
        };
        if let Some(other) = planes[..i].iter().position(same) {
            return Err(DegenerateBrush::Repeated(other + 1, i + 1));
        }
    }
    let solid = ConvexSolid::from_planes(&planes).map_err(|reason| {
        let flipped: Vec<Plane> = planes.iter().map(Plane::flipped).collect();
        let inverted = ConvexSolid::from_planes(&flipped).is_ok();
        if inverted { DegenerateBrush::Inverted } else { reason.into() }
    })?;
    let bounds = solid.bounds();
    if bounds.min.abs().max(bounds.max.abs()).max_element() > MAX_COORDINATE {
        return Err(DegenerateBrush::TooFar);
    }
    Ok(solid)
}

fn plane(index: usize, face: &SourceFace) -> Result<Plane, DegenerateBrush> {
    let [a, b, c] = face.points;
    // Points may lie outside the solid, but not where their products would
    // lose the digits that tell planes apart.
    let near = |p: DVec3| p.abs().cmple(DVec3::splat(2.0 * MAX_COORDINATE)).all();
    if !(near(a) && near(b) && near(c)) {
        return Err(DegenerateBrush::TooFar);
    }
    let normal = (a - b).cross(c - b);
    let length = normal.length();
    // Points are at least an eighth apart in any map that is drawn; what is
    // far below an eighth squared is rounding.
    if length < 1e-6 {
        return Err(DegenerateBrush::InLine(index + 1));
    }
    Ok(Plane { normal: normal / length, distance: normal.dot(b) / length })
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
        let solid = solid(&brush(&WEDGE)).expect("a tetrahedron");
        assert!((solid.volume() - 1.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn degenerate_brushes_are_told_apart() {
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
        with.push([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0]]);
        assert_eq!(refused(&with), DegenerateBrush::Repeated(1, 5));
        with[4] = [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]];
        assert_eq!(refused(&with), DegenerateBrush::InLine(5));
        for far in [f64::NAN, f64::INFINITY, 1e9] {
            with[4] = [[0.0, 0.0, 0.0], [far, 1.0, 1.0], [2.0, 2.0, 2.0]];
            assert_eq!(refused(&with), DegenerateBrush::TooFar);
        }
        let huge = WEDGE.map(|points| points.map(|p| p.map(|c| c * 40_000.0)));
        assert_eq!(refused(&huge), DegenerateBrush::TooFar);
        assert_eq!(refused(&[]), DegenerateBrush::TooFewFaces(0));
        assert_eq!(refused(&vec![WEDGE[0]; MAX_FACES + 1]), DegenerateBrush::TooManyFaces);
    }
}
