//! Quake III's curves (`patchDef2`): biquadratic Bézier surfaces, cut into solids.
//!
//! A curve is a grid of control points, with an odd number of them in both directions. Three by
//! three control points form one piece, and neighbouring pieces share a row. All pieces of a curve
//! are divided into the same number of cells, 2^a by 2^b, so that they meet without a crack. The
//! number is the smallest one that keeps each point of the surface within [`CHORD`] of the point
//! with the same parameters on its triangle.
//!
//! The corners of cells are rounded to a grid of [`GRID`]. A cell is two triangles, or one
//! quadrangle if it is flat. Each of these is the front of a prism that extends [`DEPTH`] units
//! back along the axis closest to its normal. Neighbouring triangles with the same axis share
//! the plane between their prisms.

use glam::DVec3;

use super::map::{SourceBrush, SourceFace, Texture};
use super::tokens::Token;

/// No point of a curve is farther from its solids than this, in units.
pub const CURVE_BOUND: f64 = 2.0;

/// Rounding to the grid moves a corner by less than this, in units.
const ROUNDING: f64 = 0.109;

/// The rest of the bound, for the distance between the surface and its triangles.
const CHORD: f64 = CURVE_BOUND - ROUNDING;

/// Corners of triangles lie on a grid of this many units, which is exact in any
/// arithmetic.
const GRID: f64 = 0.125;

/// Thickness of the solids along their axis, in units.
const DEPTH: f64 = 4.0;

/// Maximum number of times that a piece is halved in each direction: enough for an arc of some
/// 20,000 units.
const MAX_HALVINGS: u32 = 6;

/// Maximum number of control points of a curve in each direction; Quake III allows 31.
const MAX_POINTS: usize = 129;

/// Maximum number of solids for the curves of a map: ten times as many as a large map of Quake III
/// needs. This many take about a hundred megabytes.
pub(super) const MAX_CURVE_SOLIDS: usize = 1 << 17;

/// A curve as written.
#[derive(Debug, PartialEq)]
pub(super) struct Curve {
    /// Line of the curve's opening brace.
    line: u64,
    texture: String,
    columns: usize,
    rows: usize,
    /// The control points, column by column.
    control: Vec<DVec3>,
}

impl Curve {
    /// Reads the words between the braces of a curve; `None` if they are malformed.
    pub(super) fn read(line: u64, words: &[Token<'_>]) -> Option<Self> {
        let texture = words.get(2)?.name();
        let mut words = words.iter().skip(1).map(|word| word.text);
        if words.next()? != b"{" {
            return None;
        }
        words.next();
        let head = list(&mut words)?;
        let [columns, rows] = [*head.first()?, *head.get(1)?].map(|n| n as usize);
        let fits = |n: usize| n >= 3 && n % 2 == 1 && n <= MAX_POINTS;
        if !fits(columns) || !fits(rows) || words.next()? != b"(" {
            return None;
        }
        let mut control = Vec::with_capacity(columns * rows);
        for _ in 0..columns {
            if words.next()? != b"(" {
                return None;
            }
            for _ in 0..rows {
                let numbers = list(&mut words)?;
                let [x, y, z, ..] = numbers[..] else { return None };
                control.push(DVec3::new(x, y, z));
            }
            if words.next()? != b")" {
                return None;
            }
        }
        let finite = control.iter().all(|p| p.is_finite() && p.abs().max_element() < 1e6);
        finite.then_some(Self { line, texture, columns, rows, control })
    }

    fn control(&self, column: usize, row: usize) -> DVec3 {
        self.control[column * self.rows + row]
    }

    /// How many times every piece is halved along columns and along rows; `None` if more than
    /// [`MAX_HALVINGS`] were needed.
    fn halvings(&self) -> Option<[u32; 2]> {
        let bend = |a: DVec3, b: DVec3, c: DVec3| 2.0 * (a - 2.0 * b + c).length();
        let (mut along, mut across, mut twist) = (0.0_f64, 0.0_f64, 0.0_f64);
        for column in 0..self.columns {
            for row in 0..self.rows {
                let at = |i, j| self.control(column + i, row + j);
                let (c, r) = (column + 1 < self.columns, row + 1 < self.rows);
                if c && column % 2 == 0 {
                    along = along.max(bend(at(0, 0), at(1, 0), at(2, 0)));
                }
                if r && row % 2 == 0 {
                    across = across.max(bend(at(0, 0), at(0, 1), at(0, 2)));
                }
                if c && r {
                    let by = at(0, 0) - at(1, 0) - at(0, 1) + at(1, 1);
                    twist = twist.max(4.0 * by.length());
                }
            }
        }
        // A surface with these second derivatives is no farther from its triangles than the
        // sum below.
        let (mut a, mut b) = (0_u32, 0_u32);
        loop {
            let (u, v) = (0.5_f64.powi(a as i32), 0.5_f64.powi(b as i32));
            let (along, across) = (along * u * u, across * v * v);
            if (along + 2.0 * twist * u * v + across) / 8.0 <= CHORD {
                return Some([a, b]);
            }
            let first = along > across || (along == across && a <= b);
            *if first { &mut a } else { &mut b } += 1;
            if a.max(b) > MAX_HALVINGS {
                return None;
            }
        }
    }

    /// The corner of cells with these indices, rounded to the grid.
    fn corner(&self, [a, b]: [u32; 2], i: usize, j: usize) -> DVec3 {
        let piece = |at: usize, halvings: u32, points: usize| {
            let piece = (at >> halvings).min((points - 1) / 2 - 1);
            let t = (at - (piece << halvings)) as f64 / f64::from(1_u32 << halvings);
            (2 * piece, [(1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t])
        };
        let (column, us) = piece(i, a, self.columns);
        let (row, vs) = piece(j, b, self.rows);
        let mut point = DVec3::ZERO;
        for (i, u) in us.into_iter().enumerate() {
            for (j, v) in vs.into_iter().enumerate() {
                point += self.control(column + i, row + j) * (u * v);
            }
        }
        (point / GRID).round() * GRID
    }

    /// The solids behind the surface; `None` if there would be more than `most`, or if the bound
    /// cannot be met.
    pub(super) fn brushes(&self, most: usize) -> Option<Vec<SourceBrush>> {
        let halvings = self.halvings()?;
        let cells = |points: usize, halvings: u32| ((points - 1) / 2) << halvings;
        let [columns, rows] = [cells(self.columns, halvings[0]), cells(self.rows, halvings[1])];
        // A cell may be two triangles.
        if 2 * columns * rows > most {
            return None;
        }
        let mut brushes = Vec::new();
        for i in 0..columns {
            for j in 0..rows {
                let corner = |by: [usize; 2]| self.corner(halvings, i + by[0], j + by[1]);
                // The corners run counter-clockwise seen from the front.
                let cell = [[0, 0], [0, 1], [1, 1], [1, 0]].map(corner);
                brushes.extend(fronts(cell).iter().filter_map(|front| self.prism(front)));
            }
        }
        Some(brushes)
    }

    /// The prism behind a flat convex front; `None` if it has no area.
    fn prism(&self, front: &[DVec3]) -> Option<SourceBrush> {
        let normal = area(front);
        let axis = DVec3::AXES[normal.abs().max_position()];
        let height = normal.dot(axis);
        if height == 0.0 {
            return None;
        }
        let back = axis * (-height.signum() * DEPTH);
        let texture = Texture::from(self.texture.as_str());
        // The points run clockwise seen from outside.
        let face = |points: [DVec3; 3]| SourceFace { points, texture: texture.clone() };
        let [a, b, c, ..] = front[..] else { return None };
        let mut faces = vec![face([c, b, a]), face([a + back, b + back, c + back])];
        for (at, &from) in front.iter().enumerate() {
            let to = front[(at + 1) % front.len()];
            faces.push(face([from, to, to + back]));
        }
        Some(SourceBrush { line: self.line, faces })
    }
}

/// A vector along the normal of a polygon, as long as twice its area.
fn area(polygon: &[DVec3]) -> DVec3 {
    let first = polygon[0];
    polygon[1..].windows(2).map(|pair| (pair[0] - first).cross(pair[1] - first)).sum()
}

/// The cell itself if it is flat and convex, otherwise the two triangles along its
/// diagonal. The arithmetic is exact, because corners are on a grid.
fn fronts(cell: [DVec3; 4]) -> Vec<Vec<DVec3>> {
    let normal = area(&cell);
    let turns = |i: usize| {
        let [a, b, c] = [0, 1, 2].map(|by| cell[(i + by) % 4]);
        (b - a).cross(c - b)
    };
    let flat = (cell[3] - cell[0]).dot(turns(0)) == 0.0;
    let convex = (0..4).all(|i| turns(i).dot(normal) > 0.0);
    if flat && convex {
        return vec![cell.to_vec()];
    }
    let [a, b, c, d] = cell;
    vec![vec![a, b, c], vec![a, c, d]]
}

/// Reads numbers in parentheses.
fn list<'a>(words: &mut impl Iterator<Item = &'a [u8]>) -> Option<Vec<f64>> {
    if words.next()? != b"(" {
        return None;
    }
    let mut numbers = Vec::new();
    loop {
        match words.next()? {
            b")" => return Some(numbers),
            word => numbers.push(std::str::from_utf8(word).ok()?.parse().ok()?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;
    use crate::compile::brush;

    /// The words of a curve with these columns.
    fn text(columns: &[Vec<DVec3>]) -> String {
        let mut text =
            format!("patchDef2 {{ wall ( {} {} 0 0 0 ) (", columns.len(), columns[0].len());
        for column in columns {
            text += " (";
            for DVec3 { x, y, z } in column {
                text += &format!(" ( {x} {y} {z} 0 0 )");
            }
            text += " )";
        }
        text + " ) }"
    }

    fn read(text: &str) -> Option<Curve> {
        let words: Vec<Token<'_>> = tokens(text.as_bytes()).collect();
        Curve::read(7, &words)
    }

    /// A quarter of a pipe along y, with a bulge in its middle.
    fn pipe(radius: f64, bulge: f64) -> Curve {
        let column = |x: f64, z: f64, by: f64| {
            [0.0, 128.0, 256.0].map(|y| DVec3::new(x, y, z + if y == 128.0 { by } else { 0.0 }))
        };
        let columns =
            [column(-radius, radius, 0.0), column(-radius, 0.0, bulge), column(0.0, 0.0, 0.0)];
        read(&text(&columns.map(Vec::from))).expect("a curve")
    }

    #[test]
    fn no_point_of_a_curve_is_far_from_its_solids() {
        for (radius, bulge) in [(64.0, 0.0), (300.0, 40.0), (17.3, -30.0)] {
            let curve = pipe(radius, bulge);
            let brushes = curve.brushes(MAX_CURVE_SOLIDS).expect("few solids");
            let solids: Vec<_> = brushes
                .iter()
                .map(|brush| {
                    let (solid, redundant) = brush::solid(brush).expect("a solid");
                    assert_eq!((brush.line, redundant), (7, None));
                    solid
                })
                .collect();
            let near = |point: DVec3| {
                let out = |solid: &crate::geometry::ConvexSolid| {
                    let most = solid.faces().iter().map(|f| f.plane.signed_distance(point));
                    most.fold(f64::NEG_INFINITY, f64::max)
                };
                let least = solids.iter().map(out).fold(f64::INFINITY, f64::min);
                least.abs() <= CURVE_BOUND
            };
            let [us, vs] = [0, 1].map(|_| (0..=40).map(|i| f64::from(i) / 40.0));
            for (u, v) in us.flat_map(|u| vs.clone().map(move |v| (u, v))) {
                let bezier = |t: f64| [(1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t];
                let mut point = DVec3::ZERO;
                for (i, a) in bezier(u).into_iter().enumerate() {
                    for (j, b) in bezier(v).into_iter().enumerate() {
                        point += curve.control(i, j) * (a * b);
                    }
                }
                assert!(near(point), "{point} of radius {radius}");
            }
        }
    }

    #[test]
    fn a_flat_curve_is_one_solid_and_a_bent_one_a_few() {
        let flat = |y: f64| [0.0, 32.0, 64.0].map(|x| DVec3::new(x, y, 8.0)).to_vec();
        let sheet = read(&text(&[flat(0.0), flat(64.0), flat(128.0)])).expect("a curve");
        assert_eq!(sheet.brushes(MAX_CURVE_SOLIDS).expect("one").len(), 1);
        assert_eq!(pipe(64.0, 0.0).brushes(MAX_CURVE_SOLIDS).expect("few").len(), 4);
        // The sheet's rows run along x and its columns along y, so its front looks up.
        let brush = &sheet.brushes(MAX_CURVE_SOLIDS).expect("one")[0];
        let (solid, _) = brush::solid(brush).expect("a solid");
        assert_eq!((solid.bounds().min.z, solid.bounds().max.z), (4.0, 8.0));
    }

    #[test]
    fn malformed_and_oversized_curves_are_rejected() {
        let good = text(&[vec![DVec3::ZERO; 3], vec![DVec3::X; 3], vec![DVec3::Y; 3]]);
        assert!(read(&good).is_some());
        for (from, to) in [
            ("( 3 3", "( 3 4"),
            ("( 3 3", "( 1 3"),
            ("( 3 3", "( 5 3"),
            ("0 0 0 )", "0 x 0 )"),
            ("{", ""),
        ] {
            assert_eq!(read(&good.replacen(from, to, 1)), None, "{from} as {to}");
        }
        for end in 0..good.len() {
            let _ = read(&good[..end]);
        }
        assert!(pipe(64.0, 0.0).brushes(8).is_some());
        assert!(pipe(64.0, 0.0).brushes(7).is_none(), "four cells, two triangles each");
        let huge = pipe(100_000.0, 0.0);
        assert!(huge.brushes(MAX_CURVE_SOLIDS).is_none());
    }
}
