//! Conversion of a brush as written to a convex solid.

use glam::DVec3;
use thiserror::Error;

use super::source::map::SourceBrush;
use super::written_plane::{PLANE_ERROR, WrittenPlane};
use crate::geometry::{Aabb, ConvexSolid, DegenerateSolid, Plane};
use crate::map::MAX_FACES;

/// Maximum coordinate of a corner of a brush along an axis, in units. Positions are `f32`, which
/// are coarser than 1/256 of a unit farther out.
pub const MAX_COORDINATE: f64 = 32_768.0;

/// Minimum thickness of a static brush, in units: the distance between a face and the corner
/// farthest behind it. A thinner brush is left out, so it stops neither boxes nor rays.
///
/// At [`MAX_COORDINATE`], `f32` cannot tell a point from a plane that is up to half of this away.
/// So a thinner wall out there has no inside: it would stop boxes, for which walls are grown, and
/// let rays pass. The whole world has one limit, so that a moved map keeps its walls. A wall as
/// thick as this has an inside that `mapc verify` can judge.
pub const MIN_THICKNESS: f64 = 1.0 / 32.0;

/// A corner or a thickness may miss its limit by this much, because brushes are written in
/// decimals.
const ROUNDED: f64 = 1e-6;

/// Reasons why a brush cannot be part of the world. Such a brush is left out with a
/// warning.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum DegenerateBrush {
    /// A corner of the brush is too far out.
    #[error("it reaches beyond ±{MAX_COORDINATE} units, where maps end: move it inward")]
    TooFar,
    /// A coordinate is not a finite number.
    #[error("a coordinate of face {0} is not a finite number")]
    NotFinite(usize),
    /// The points of a face do not determine its plane well enough.
    #[error(
        "the points of face {face} lie so far from the brush that the plane of this face is \
         uncertain by {error:.2e} units at the brush; at most {PLANE_ERROR} is allowed: write the \
         face with points that are nearer"
    )]
    Imprecise {
        /// The face, counted from 1.
        face: usize,
        /// The uncertainty, in units.
        error: f64,
    },
    /// The brush is thinner than [`MIN_THICKNESS`].
    #[error(
        "it is {0:.6} units thick; a brush thinner than {MIN_THICKNESS} units would not stop \
         every ray, so it stops nothing: make it thicker"
    )]
    TooThin(f64),
    /// Too few faces to enclose a volume.
    #[error("it has {0} faces; at least four enclose a volume")]
    TooFewFaces(usize),
    /// The faces look inward.
    #[error("it is inside out: its faces look inward; swap two points of each face")]
    Inverted,
    /// More faces than a solid may have.
    #[error("it has {0} faces; at most {MAX_FACES} are possible: divide it")]
    TooManyFaces(usize),
    /// The brush has more faces than are read, redundant ones included.
    #[error("it is written with {0} faces; at most {MAX_WRITTEN_FACES} are read: divide it")]
    TooManyWritten(usize),
    /// The planes do not bound a volume.
    #[error(transparent)]
    Solid(#[from] DegenerateSolid),
}

/// A face that does not change its brush. It is left out with a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RedundantFace {
    /// Three points of a face lie in one line, so they span no plane.
    #[error("the points of face {0} lie in one line")]
    InLine(usize),
    /// Two faces lie in one plane.
    #[error("faces {0} and {1} have the same plane")]
    Repeated(usize, usize),
}

/// Maximum number of faces per brush as written, redundant ones included. The time to find
/// redundant faces grows with the square of the number of faces.
const MAX_WRITTEN_FACES: usize = 4 * MAX_FACES;

/// The solid that a brush encloses, and its first redundant face, if there is one.
pub(super) fn solid(
    brush: &SourceBrush,
) -> Result<(ConvexSolid, Option<RedundantFace>), DegenerateBrush> {
    if brush.faces.len() < 4 {
        return Err(DegenerateBrush::TooFewFaces(brush.faces.len()));
    }
    if brush.faces.len() > MAX_WRITTEN_FACES {
        return Err(DegenerateBrush::TooManyWritten(brush.faces.len()));
    }
    let mut redundant = None;
    let mut written: Vec<WrittenPlane> = Vec::with_capacity(brush.faces.len());
    for (index, face) in brush.faces.iter().enumerate() {
        let number = index + 1;
        let Some(new) = WrittenPlane::of(face, number)? else {
            redundant = redundant.or(Some(RedundantFace::InLine(number)));
            continue;
        };
        let same = |known: &&WrittenPlane| {
            known.plane.normal.dot(new.plane.normal) > 1.0 - 1e-12
                && (known.plane.distance - new.plane.distance).abs() < 1e-6
        };
        if let Some(other) = written.iter().find(same) {
            // The two planes are the same except for rounding, and the solid keeps one of them.
            redundant = redundant.or(Some(RedundantFace::Repeated(other.number, number)));
        }
        written.push(new);
    }
    let planes: Vec<Plane> = written.iter().map(|written| written.plane).collect();
    let solid = ConvexSolid::from_planes(&planes).map_err(|reason| {
        let universe = Aabb::from_centre(DVec3::ZERO, DVec3::splat(MAX_COORDINATE));
        uncertain(&written, &universe).unwrap_or_else(|| no_solid(&planes, reason))
    })?;
    if let Some(reason) = uncertain(&written, solid.bounds()) {
        return Err(reason);
    }
    let bounds = solid.bounds();
    if bounds.min.abs().max(bounds.max.abs()).max_element() > MAX_COORDINATE + ROUNDED {
        return Err(DegenerateBrush::TooFar);
    }
    if solid.faces().len() > MAX_FACES {
        return Err(DegenerateBrush::TooManyFaces(solid.faces().len()));
    }
    Ok((solid, redundant))
}

/// The reason why a solid cannot be part of the static world, if there is one.
pub(crate) fn too_thin(solid: &ConvexSolid) -> Option<DegenerateBrush> {
    let thickness = solid.thickness();
    (thickness < MIN_THICKNESS - ROUNDED).then_some(DegenerateBrush::TooThin(thickness))
}

/// Factor by which the distances of planes are multiplied to test whether they bound a solid at
/// all. The shrunken solid is within the universe.
const SHRUNK: f64 = 1.0 / (1 << 20) as f64;

/// The reason why planes do not bound a solid, when the attempt fails with `reason`.
fn no_solid(planes: &[Plane], reason: DegenerateSolid) -> DegenerateBrush {
    // If a thin wall is written by its corners, three points of a face often lie in a line. The
    // attempt then fails with that reason, although the thickness is the reason to report.
    let opposite = |a: &Plane, b: &Plane| a.normal.dot(b.normal) < 1e-12 - 1.0;
    let pairs = planes.iter().enumerate();
    let pairs = pairs.flat_map(|(i, a)| planes[i + 1..].iter().map(move |b| (a, b)));
    let gaps = pairs.filter(|(a, b)| opposite(a, b)).map(|(a, b)| a.distance + b.distance);
    let thinnest = gaps.min_by(f64::total_cmp);
    if let Some(gap) = thinnest.filter(|gap| (1e-9..MIN_THICKNESS - ROUNDED).contains(gap)) {
        return DegenerateBrush::TooThin(gap);
    }
    let flipped: Vec<Plane> = planes.iter().map(Plane::flipped).collect();
    if ConvexSolid::from_planes(&flipped).is_ok() {
        return DegenerateBrush::Inverted;
    }
    let shrunk = |plane: &Plane| Plane { distance: plane.distance * SHRUNK, ..*plane };
    let shrunk: Vec<Plane> = planes.iter().map(shrunk).collect();
    let open = ConvexSolid::from_planes(&shrunk) == Err(DegenerateSolid::Unbounded);
    if reason == DegenerateSolid::Unbounded && !open {
        return DegenerateBrush::TooFar;
    }
    reason.into()
}

/// The reason why the plane of a face is not known well enough within `bounds`, if there is one.
fn uncertain(written: &[WrittenPlane], bounds: &Aabb) -> Option<DegenerateBrush> {
    let errors = written.iter().map(|written| (written.number, written.error(bounds)));
    // An error that is NaN counts as too great.
    let (face, error) =
        errors.into_iter().find(|(_, error)| error.is_nan() || *error > PLANE_ERROR)?;
    Some(DegenerateBrush::Imprecise { face, error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::source::map::SourceFace;

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
        for bad in [f64::NAN, f64::INFINITY] {
            with[4] = [[0.0, 0.0, 0.0], [bad, 1.0, 1.0], [2.0, 2.0, 2.0]];
            assert_eq!(refused(&with), DegenerateBrush::NotFinite(5));
        }
        // The largest brushes reach beyond the universe. The universe is the cube from which solids
        // are cut.
        for size in [32_769.0, 40_000.0, 70_000.0, 200_000.0, 1e9] {
            let huge = WEDGE.map(|points| points.map(|p| p.map(|c| c * size)));
            assert_eq!(refused(&huge), DegenerateBrush::TooFar, "{size}");
        }
        assert_eq!(refused(&[]), DegenerateBrush::TooFewFaces(0));
    }

    /// In an earlier version, a wall whose faces were written with points at 90,000, as QuArK does,
    /// was left out "because it reaches beyond ±32768". The limit applied to points, and now
    /// applies to corners.
    #[test]
    fn far_plane_points_are_no_corners() {
        let mut far = WEDGE;
        for reach in [65_537.0, 90_000.0, 1e9, 1e12] {
            far[0] = [[0.0, 0.0, 0.0], [reach, 0.0, 0.0], [0.0, reach, 0.0]];
            far[3] = [[reach, 1.0 - reach, 0.0], [0.0, 1.0 - reach, reach], [0.0, 1.0, 0.0]];
            let (solid, _) = solid(&brush(&far)).expect("a tetrahedron");
            assert!((solid.volume() - 1.0 / 6.0).abs() < 1e-9, "{reach}: {}", solid.volume());
        }
        // One near point determines where the plane is, no matter how far away the other points
        // lie.
        let reach = 1e15;
        far[3] = [[0.5 + reach, 0.5 - reach, 0.0], [0.5, 0.5 - reach, reach], [0.5, 0.5, 0.0]];
        assert!(solid(&brush(&far)).is_ok());
        far[3][2] = [0.5, 0.5 + reach, -reach];
        let refused = solid(&brush(&far)).expect_err("the slope of the face is not known");
        assert!(matches!(refused, DegenerateBrush::Imprecise { face: 4, .. }), "{refused}");
    }

    /// In an earlier version, a thin wall was absent for rays and solid for boxes. A wall of
    /// 0.00001 units was refused because "its planes do not close".
    #[test]
    fn a_brush_thinner_than_the_limit_is_told() {
        let wall = |t: f64| {
            brush(&[
                [[0.0, -9.0, 9.0], [0.0, 9.0, 9.0], [t, -9.0, 9.0]],
                [[0.0, -9.0, 0.0], [t, -9.0, 0.0], [0.0, 9.0, 0.0]],
                [[t, -9.0, 0.0], [t, -9.0, 9.0], [t, 9.0, 0.0]],
                [[0.0, -9.0, 0.0], [0.0, 9.0, 0.0], [0.0, -9.0, 9.0]],
                [[0.0, 9.0, 0.0], [t, 9.0, 0.0], [0.0, 9.0, 9.0]],
                [[0.0, -9.0, 0.0], [0.0, -9.0, 9.0], [t, -9.0, 0.0]],
            ])
        };
        for thickness in [1e-7, 1e-5, 1e-4, 1e-3, 0.031_24] {
            let reason = match solid(&wall(thickness)) {
                Ok((solid, _)) => too_thin(&solid),
                Err(reason) => Some(reason),
            };
            let Some(DegenerateBrush::TooThin(told)) = reason else { panic!("{reason:?}") };
            assert!((told - thickness).abs() < 1e-9, "{thickness} is called {told}");
        }
        for thickness in [MIN_THICKNESS - 0.5 * ROUNDED, MIN_THICKNESS, 0.0313] {
            let (solid, _) = solid(&wall(thickness)).expect("a wall");
            assert_eq!(too_thin(&solid), None, "{thickness}");
        }
        // The thickness of a tetrahedron is not along an axis.
        let (wedge, _) = solid(&brush(&WEDGE)).expect("a tetrahedron");
        assert!((wedge.thickness() - 3.0_f64.sqrt().recip()).abs() < 1e-12);
    }

    #[test]
    fn a_redundant_face_is_dropped_and_never_its_brush() {
        let whole = solid(&brush(&WEDGE)).expect("a tetrahedron").0;
        let mut with = WEDGE.to_vec();
        with.push([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0]]);
        let repeated = solid(&brush(&with)).expect("the tetrahedron is still a solid");
        assert_eq!(repeated.1, Some(RedundantFace::Repeated(1, 5)));
        with[4] = [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]];
        let in_line = solid(&brush(&with)).expect("the tetrahedron is still a solid");
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
        assert_eq!(cone(MAX_FACES as u32 - 1).expect("a cone").0.faces().len(), MAX_FACES);
        let beyond = DegenerateBrush::TooManyFaces(MAX_FACES + 1);
        assert_eq!(cone(MAX_FACES as u32).err(), Some(beyond));
        let mut written = WEDGE.to_vec();
        written.extend(vec![WEDGE[0]; MAX_WRITTEN_FACES - 4]);
        assert!(solid(&brush(&written)).is_ok());
        written.push(WEDGE[0]);
        let beyond = DegenerateBrush::TooManyWritten(MAX_WRITTEN_FACES + 1);
        assert_eq!(solid(&brush(&written)).err(), Some(beyond));
    }
}
