//! Volumes of liquids from the brushes of liquids.
//!
//! Brushes of liquids may overlap. Volumes must not, because a body's shares in them are summed.
//! Where kinds overlap, the most harmful kind counts. So all brushes of more harmful kinds, and all
//! earlier brushes of its own kind, are cut out of a brush, and the rest becomes its volumes.

use super::brush::MIN_THICKNESS;
use crate::geometry::{ConvexSolid, Plane};
use crate::map::{Liquid, LiquidKind, MAX_FACES};

/// A brush of a liquid.
pub(super) struct LiquidBrush {
    pub(super) line: u64,
    pub(super) kind: LiquidKind,
    pub(super) solid: ConvexSolid,
}

/// The line of the brush with which the volumes become too many.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMany(pub(super) u64);

/// The volumes of `brushes`, at most `most` of them.
pub(super) fn volumes(mut brushes: Vec<LiquidBrush>, most: usize) -> Result<Vec<Liquid>, TooMany> {
    brushes.sort_by_key(|brush| std::cmp::Reverse(brush.kind));
    let mut volumes = Vec::new();
    for (index, brush) in brushes.iter().enumerate() {
        let mut parts = vec![brush.solid.clone()];
        for other in &brushes[..index] {
            if other.solid.bounds().overlaps(brush.solid.bounds()) {
                parts = parts.into_iter().flat_map(|part| without(part, &other.solid)).collect();
            }
            if volumes.len() + parts.len() > most {
                return Err(TooMany(brush.line));
            }
        }
        // A file holds no solid with more faces. Only brushes with hundreds of faces make such a
        // part.
        if volumes.len() + parts.len() > most || parts.iter().any(|p| p.faces().len() > MAX_FACES) {
            return Err(TooMany(brush.line));
        }
        volumes.extend(parts.into_iter().map(|part| Liquid::new(brush.kind, part)));
    }
    Ok(volumes)
}

/// The parts of `part` outside of `other`.
fn without(part: ConvexSolid, other: &ConvexSolid) -> Vec<ConvexSolid> {
    if !part.bounds().overlaps(other.bounds()) || behind(&part, &planes(other)).is_none() {
        return vec![part];
    }
    let (mut inside, mut outside) = (part, Vec::new());
    for plane in planes(other) {
        outside.extend(behind(&inside, &[plane.flipped()]));
        match behind(&inside, &[plane]) {
            Some(left) => inside = left,
            None => break,
        }
    }
    outside
}

/// The part of `solid` behind `planes`; `None` if the part is too thin to be noticed.
fn behind(solid: &ConvexSolid, planes: &[Plane]) -> Option<ConvexSolid> {
    let all: Vec<Plane> = self::planes(solid).into_iter().chain(planes.iter().copied()).collect();
    let part = ConvexSolid::from_planes(&all).ok()?;
    (part.thickness() >= MIN_THICKNESS).then_some(part)
}

fn planes(solid: &ConvexSolid) -> Vec<Plane> {
    solid.faces().iter().map(|face| face.plane).collect()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::geometry::Aabb;
    use LiquidKind::{Lava, Slime, Water};

    fn cube(line: u64, kind: LiquidKind, centre: [f64; 3], half: f64) -> LiquidBrush {
        let bounds = Aabb::from_centre(DVec3::from(centre), DVec3::splat(half));
        let solid = ConvexSolid::from_box(&bounds).expect("a cube");
        LiquidBrush { line, kind, solid }
    }

    /// An octahedron.
    fn turned(line: u64, kind: LiquidKind) -> LiquidBrush {
        let sign = |octant: u32, axis: u32| if octant >> axis & 1 == 1 { 1.0 } else { -1.0 };
        let normals = (0..8).map(|i| DVec3::new(sign(i, 0), sign(i, 1), sign(i, 2)));
        let planes: Vec<Plane> =
            normals.map(|n| Plane { normal: n.normalize(), distance: 40.0 }).collect();
        let solid = ConvexSolid::from_planes(&planes).expect("an octahedron");
        LiquidBrush { line, kind, solid }
    }

    fn kinds_at(volumes: &[Liquid], point: DVec3) -> Vec<LiquidKind> {
        volumes.iter().filter(|v| v.contains(point)).map(Liquid::kind).collect()
    }

    #[test]
    fn volumes_do_not_overlap_and_the_most_harmful_kind_counts() {
        let brushes = || {
            vec![
                cube(1, Water, [0.0; 3], 32.0),
                cube(2, Lava, [24.0, 24.0, 24.0], 32.0),
                turned(3, Water),
                cube(4, Slime, [0.0, 0.0, -30.0], 16.0),
                cube(5, Water, [0.0; 3], 8.0),
            ]
        };
        let volumes = volumes(brushes(), 1000).expect("few volumes");
        assert!(volumes.len() > 5, "{}", volumes.len());
        // Points of a lattice that lie on no face, with the strongest brush as the truth.
        let mut seen = [0; 4];
        let steps = || (-30..30).map(|i| f64::from(i) * 2.0 + 0.37);
        for (x, y) in steps().flat_map(|x| steps().map(move |y| (x, y + 0.11))) {
            for z in steps() {
                let point = DVec3::new(x, y, z + 0.23);
                let brushes = brushes();
                let brushes = brushes.iter().filter(|b| b.solid.contains(point));
                let expected = brushes.map(|b| b.kind).max();
                assert_eq!(kinds_at(&volumes, point), Vec::from_iter(expected), "{point}");
                seen[expected.map_or(3, |kind| kind as usize)] += 1;
            }
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
        let lava: f64 =
            volumes.iter().filter(|v| v.kind() == Lava).map(|v| v.solid().volume()).sum();
        assert!((lava - 64.0_f64.powi(3)).abs() < 1e-3, "{lava}");
    }

    #[test]
    fn touching_brushes_stay_whole_and_repeated_ones_vanish() {
        let side = |line, x| cube(line, Water, [x, 0.0, 0.0], 32.0);
        let apart = volumes(vec![side(1, 0.0), side(2, 64.0), side(3, 64.0)], 1000);
        let apart = apart.expect("few volumes");
        assert_eq!(apart.len(), 2);
        // A point on the common face is in both.
        assert_eq!(kinds_at(&apart, DVec3::new(32.0, 1.0, 1.0)), [Water; 2]);
        // An overlap thinner than a wall may be does not count.
        let thin = volumes(vec![side(1, 0.0), side(2, 64.0 - 0.5 * MIN_THICKNESS)], 1000);
        assert_eq!(thin.expect("few volumes").len(), 2);
    }

    #[test]
    fn as_many_volumes_as_said_and_no_more() {
        let row = |count: u64| {
            (0..count).map(|i| cube(i, Water, [i as f64 * 100.0, 0.0, 0.0], 32.0)).collect()
        };
        assert_eq!(volumes(row(20), 20).map(|all| all.len()), Ok(20));
        assert_eq!(volumes(row(21), 20).map(|all| all.len()), Err(TooMany(20)));
        // A cube from which another one cuts its middle leaves six parts.
        let hollow = || vec![cube(7, Water, [0.0; 3], 32.0), cube(3, Lava, [0.0; 3], 8.0)];
        assert_eq!(volumes(hollow(), 7).map(|all| all.len()), Ok(7));
        assert_eq!(volumes(hollow(), 6).map(|all| all.len()), Err(TooMany(7)));
    }
}
