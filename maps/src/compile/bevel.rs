//! Bevels: planes that bound the growth of a cell at edges and corners (Melax 2000,
//! section 5).
//!
//! Where two faces meet at an edge, a cell whose planes move outward by `r` reaches `r / cos(a /
//! 2)` beyond the edge, where `a` is the angle between their normals. This distance grows without
//! bound as the edge gets sharper. The same holds at corners. A bevel is one more plane that only
//! touches the cell, with a normal between the normals of the faces.
//!
//! All normals that support the cell at a corner make a patch of the sphere of directions. The
//! patch's corners are the normals of the planes that meet there, and its borders are the edges.
//! Bevels are put on the borders until neighbouring normals are within the limit angle. Then bevels
//! are put inside the patch, until every direction is close enough to a normal. The middle of three
//! normals that are the limit angle apart is as far from a normal as is allowed. With this bound,
//! the distance of a point of the grown cell from the cell is at most a fixed multiple of the
//! body's size.

use std::fmt;

use glam::DVec3;

use super::cell::Cell;
use crate::geometry::Plane;

/// Unit normals that differ by less than this count as the same: about half a degree.
const SAME: f64 = 0.01;

/// A plane closer than this to a corner, in units, counts as passing through it. The value is far
/// above rounding errors, and below the thickness of the thinnest cell.
const TOUCHES: f64 = 1e-4;

/// Slack of comparisons between unit vectors. It is far above rounding errors.
const SLACK: f64 = 1e-6;

/// Cosine of the steepest slope that counts as a level top, five degrees.
const LEVEL: f64 = 0.996;

/// Maximum number of bevels inside one corner. The round tip of a cell that was split very often
/// may need more bevels. Such a tip stays sharper.
const MAX_AT_CORNER: usize = 32;

/// If a corner has more normals than this, like the tip of a cone, they are thinned out. The time
/// to find the farthest direction grows with the fourth power of their number.
const MANY_AT_CORNER: usize = 48;

/// Minimum angle between two normals after thinning: six degrees. At such a corner the angle
/// between bevels may exceed the limit by as much.
const SPARSE: f64 = 0.1;

/// The angle that needs no bevel, in degrees. Two neighbouring planes of a solid cell get a bevel
/// between them if the angle between their normals is greater. The smaller this angle is, the
/// closer bodies get to edges, and the larger the tree becomes.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct BevelAngle(f64);

impl BevelAngle {
    /// The smallest limit. Below it the tree would consist mostly of bevels.
    pub const LEAST: f64 = 30.0;
    /// No limit: no edge and no corner is ever bevelled.
    pub const NONE: Self = Self(180.0);

    /// A limit in degrees, from [`BevelAngle::LEAST`] to 180; otherwise
    /// `None`.
    pub fn new(degrees: f64) -> Option<Self> {
        (Self::LEAST..=180.0).contains(&degrees).then_some(Self(degrees))
    }

    /// The limit in degrees.
    pub fn degrees(self) -> f64 {
        self.0
    }
}

impl fmt::Display for BevelAngle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Default for BevelAngle {
    /// Melax's limit in MDK2. Angles up to a little above a right angle need no bevel.
    fn default() -> Self {
        Self(95.0)
    }
}

/// The bevels of one cell. Each touches the cell, and the whole cell is behind it.
pub(super) fn bevels(cell: &Cell, limit: BevelAngle) -> Vec<Plane> {
    let mut corners: Vec<DVec3> = Vec::new();
    for vertex in cell.vertices() {
        if !corners.iter().any(|c| c.distance_squared(vertex) < TOUCHES * TOUCHES) {
            corners.push(vertex);
        }
    }
    let mut planes: Vec<Plane> = cell.planes().collect();
    let faces = planes.len();
    level_top(&mut planes, &corners);
    if limit < BevelAngle::NONE {
        let limit = limit.0.to_radians();
        for &corner in &corners {
            bevel_edges(&mut planes, faces, &corners, corner, limit);
        }
        for &corner in &corners {
            bevel_corner(&mut planes, &corners, corner, limit);
        }
    }
    planes.split_off(faces)
}

/// The plane with this normal that touches the cell.
fn support(normal: DVec3, corners: &[DVec3]) -> Plane {
    let reach = corners.iter().map(|c| c.dot(normal)).fold(f64::NEG_INFINITY, f64::max);
    Plane { normal, distance: reach }
}

/// Adds a level plane at the top of a cell, unless the cell has one (Melax 2000, section 8). So a
/// body that walks on a ridge does not slide, and no grown cell protrudes from the floor.
fn level_top(planes: &mut Vec<Plane>, corners: &[DVec3]) {
    if !planes.iter().any(|plane| plane.normal.z >= LEVEL) {
        planes.push(support(DVec3::Z, corners));
    }
}

/// Normals of the planes through a corner.
fn normals_at(planes: &[Plane], corner: DVec3) -> Vec<DVec3> {
    let touching = planes.iter().filter(|p| p.signed_distance(corner).abs() < TOUCHES);
    touching.map(|p| p.normal).collect()
}

/// Bevels the edges that end at `corner`, between the first `faces` of the planes.
fn bevel_edges(
    planes: &mut Vec<Plane>,
    faces: usize,
    corners: &[DVec3],
    corner: DVec3,
    limit: f64,
) {
    let normals = normals_at(&planes[..faces], corner);
    for (i, &first) in normals.iter().enumerate() {
        for &second in &normals[i + 1..] {
            let angle = libm::acos(first.dot(second).clamp(-1.0, 1.0));
            let across = first.cross(second).try_normalize();
            // At a border of the patch, all other normals are on one side.
            let (mut left, mut right) = (false, false);
            for normal in &normals {
                let side = across.map_or(0.0, |across| across.dot(*normal));
                left |= side < -SLACK;
                right |= side > SLACK;
            }
            if left && right {
                continue;
            }
            let parts = ((angle - SAME) / limit).ceil().max(1.0);
            for part in 1..parts as u32 {
                let share = f64::from(part) / parts;
                let between =
                    first * libm::sin((1.0 - share) * angle) + second * libm::sin(share * angle);
                if let Some(normal) = between.try_normalize() {
                    add(planes, corners, normal);
                }
            }
        }
    }
}

/// Adds the bevel with this normal, unless there is one already.
fn add(planes: &mut Vec<Plane>, corners: &[DVec3], normal: DVec3) {
    if !planes.iter().any(|known| known.normal.distance_squared(normal) < SAME * SAME) {
        planes.push(support(normal, corners));
    }
}

/// Bevels the inside of a corner, first in the direction that is farthest from all normals.
fn bevel_corner(planes: &mut Vec<Plane>, corners: &[DVec3], corner: DVec3, limit: f64) {
    // Three directions are `limit` apart. This is the cosine of the angle from each of them to
    // their middle.
    let nearest = (1.0 + 2.0 * libm::cos(limit)) / 3.0;
    if nearest <= 0.0 {
        return;
    }
    let nearest = nearest.sqrt() - SAME;
    for _ in 0..MAX_AT_CORNER {
        let normals = thinned(normals_at(planes, corner));
        let Some((cosine, normal)) = farthest(&normals, corners, corner) else { return };
        if cosine >= nearest {
            return;
        }
        planes.push(support(normal, corners));
    }
}

/// Thins the normals out if there are very many, because every triple of them is tried. The normals
/// that are left are at least [`SPARSE`] apart.
fn thinned(normals: Vec<DVec3>) -> Vec<DVec3> {
    if normals.len() <= MANY_AT_CORNER {
        return normals;
    }
    let mut kept: Vec<DVec3> = Vec::new();
    for normal in normals {
        if !kept.iter().any(|known| known.distance_squared(normal) < SPARSE * SPARSE) {
            kept.push(normal);
        }
    }
    kept
}

/// The direction that is farthest from all normals, among the directions in which the cell ends at
/// `corner`, and the cosine of its angle to the nearest normal. On the sphere of directions, this
/// direction is the middle of three normals with no other normal nearer.
fn farthest(normals: &[DVec3], corners: &[DVec3], corner: DVec3) -> Option<(f64, DVec3)> {
    let mut farthest: Option<(f64, DVec3)> = None;
    for (i, &a) in normals.iter().enumerate() {
        for (j, &b) in normals.iter().enumerate().skip(i + 1) {
            for &c in &normals[j + 1..] {
                let Some(middle) = (b - a).cross(c - a).try_normalize() else { continue };
                let middle = if middle.dot(a) < 0.0 { -middle } else { middle };
                let cosine = middle.dot(a);
                let alone = normals.iter().all(|n| n.dot(middle) <= cosine + SLACK);
                let ends = || corners.iter().all(|v| middle.dot(*v - corner) <= TOUCHES);
                if alone && farthest.is_none_or(|(known, _)| cosine < known) && ends() {
                    farthest = Some((cosine, middle));
                }
            }
        }
    }
    farthest
}
