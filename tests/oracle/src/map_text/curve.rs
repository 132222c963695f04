//! Quake III's curves as solids, as the compiler's documentation specifies them.
//!
//! A curve consists of pieces of three by three control points. Each piece is divided into 2^a by
//! 2^b cells, as few as keep the surface within [`OFF`] of its triangles. A bound from the second
//! derivatives decides this. Corners are rounded to eighths. A flat convex cell is the front of a
//! prism, four units deep along the axis closest to its normal. Any other cell is divided along a
//! diagonal into two triangles, and each triangle is the front of a prism. Here the cells are found
//! by halving the pieces.

use super::{Brush, Decimal, FaceText};

type Point = [f64; 3];

/// Maximum distance of the surface from its triangles: two units, less the rounding to eighths.
const OFF: f64 = 2.0 - 0.109;

/// Depth of the prisms, in units.
const DEPTH: f64 = 4.0;

/// Maximum number of halvings in one direction.
const MOST: usize = 6;

/// The prisms of a curve, which is given by columns of control points; `None` if the curve needs
/// too many cells.
pub(super) fn brushes(line: usize, texture: &str, control: &[Vec<Point>]) -> Option<Vec<Brush>> {
    let [a, b] = halvings(control)?;
    let mut columns: Vec<Vec<Point>> = control.to_vec();
    for _ in 0..b {
        columns = columns.iter().map(|column| halved(column)).collect();
    }
    let mut rows = transposed(&columns);
    for _ in 0..a {
        rows = rows.iter().map(|row| halved(row)).collect();
    }
    // Every other control point is on the surface.
    let on = |points: &Vec<Point>| points.iter().step_by(2).map(eighths).collect::<Vec<_>>();
    let rows: Vec<Vec<[i64; 3]>> = rows.iter().step_by(2).map(on).collect();
    let mut brushes = Vec::new();
    let columns = rows[0].len();
    for i in 0..columns - 1 {
        for j in 0..rows.len() - 1 {
            let cell = [rows[j][i], rows[j + 1][i], rows[j + 1][i + 1], rows[j][i + 1]];
            for front in fronts(cell) {
                brushes.extend(prism(line, texture, &front));
            }
        }
    }
    Some(brushes)
}

fn map<const N: usize>(points: [&Point; N], of: impl Fn([f64; N]) -> f64) -> Point {
    [0, 1, 2].map(|i| of(points.map(|p| p[i])))
}

fn length(a: Point) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn transposed(points: &[Vec<Point>]) -> Vec<Vec<Point>> {
    (0..points[0].len()).map(|i| points.iter().map(|list| list[i]).collect()).collect()
}

/// The same curve, with each of its pieces divided into two.
fn halved(points: &[Point]) -> Vec<Point> {
    let middle = |p: &Point, q: &Point| map([p, q], |[p, q]| (p + q) / 2.0);
    let mut half = vec![points[0]];
    for piece in points[1..].chunks(2) {
        let from = half[half.len() - 1];
        let (near, far) = (middle(&from, &piece[0]), middle(&piece[0], &piece[1]));
        half.extend([near, middle(&near, &far), far, piece[1]]);
    }
    half
}

fn halvings(control: &[Vec<Point>]) -> Option<[usize; 2]> {
    let bends = |lists: &[Vec<Point>]| {
        let pieces =
            lists.iter().flat_map(|list| (0..list.len() - 2).step_by(2).map(move |i| (list, i)));
        let bend = |(list, i): (&Vec<Point>, usize)| {
            2.0 * length(map([&list[i], &list[i + 1], &list[i + 2]], |[p, q, r]| p - 2.0 * q + r))
        };
        pieces.map(bend).fold(0.0, f64::max)
    };
    let (across, along) = (bends(control), bends(&transposed(control)));
    let twist = |pair: &[Vec<Point>]| {
        (0..pair[0].len() - 1)
            .map(|j| {
                let corners = [&pair[0][j], &pair[1][j], &pair[0][j + 1], &pair[1][j + 1]];
                4.0 * length(map(corners, |[p, q, r, s]| p - q - r + s))
            })
            .fold(0.0, f64::max)
    };
    let twist = control.windows(2).map(twist).fold(0.0, f64::max);
    let (mut a, mut b) = (0, 0);
    while a <= MOST && b <= MOST {
        let (u, v) = (1.0 / f64::from(1 << a), 1.0 / f64::from(1 << b));
        let (along, across) = (along * u * u, across * v * v);
        if along + 2.0 * twist * u * v + across <= 8.0 * OFF {
            return Some([a, b]);
        }
        if along > across || (along == across && a <= b) { a += 1 } else { b += 1 }
    }
    None
}

fn eighths(point: &Point) -> [i64; 3] {
    point.map(|x| (x * 8.0).round() as i64)
}

fn minus(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [0, 1, 2].map(|i| a[i] - b[i])
}

fn cross(a: [i64; 3], b: [i64; 3]) -> [i128; 3] {
    let [a, b] = [a, b].map(|v| v.map(i128::from));
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [i128; 3], b: [i128; 3]) -> i128 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

fn fronts(cell: [[i64; 3]; 4]) -> Vec<Vec<[i64; 3]>> {
    let [a, b, c, d] = cell;
    let turn = |i: usize| {
        let [p, q, r] = [cell[i % 4], cell[(i + 1) % 4], cell[(i + 2) % 4]];
        cross(minus(q, p), minus(r, q))
    };
    let normal = cross(minus(c, a), minus(d, b));
    let flat = dot(cross(minus(b, a), minus(c, a)), minus(d, a).map(i128::from)) == 0;
    if flat && (0..4).all(|i| dot(turn(i), normal) > 0) {
        return vec![cell.to_vec()];
    }
    vec![vec![a, b, c], vec![a, c, d]]
}

/// The prism behind a front, whose corners run counter-clockwise seen from the front.
fn prism(line: usize, texture: &str, front: &[[i64; 3]]) -> Option<Brush> {
    let normal = front[1..]
        .windows(2)
        .map(|pair| cross(minus(pair[0], front[0]), minus(pair[1], front[0])))
        .fold([0; 3], |sum, n| [0, 1, 2].map(|i| sum[i] + n[i]));
    // The first of equal components counts.
    let axis = (0..3).rev().max_by_key(|&i: &usize| normal[i].abs())?;
    if normal[axis] == 0 {
        return None;
    }
    let mut back = [0; 3];
    back[axis] = -(normal[axis].signum() as i64) * (DEPTH * 8.0) as i64;
    let behind = |p: [i64; 3]| [0, 1, 2].map(|i| p[i] + back[i]);
    let face = |points: [[i64; 3]; 3]| FaceText {
        points: points.map(|p| p.map(written)),
        texture: texture.to_owned(),
        numbers: Vec::new(),
    };
    let mut faces = vec![
        face([front[2], front[1], front[0]]),
        face([behind(front[0]), behind(front[1]), behind(front[2])]),
    ];
    for (i, &from) in front.iter().enumerate() {
        let to = front[(i + 1) % front.len()];
        faces.push(face([from, to, behind(to)]));
    }
    Some(Brush { line, faces })
}

fn written(eighths: i64) -> Decimal {
    Decimal::parse(&format!("{:.3}", eighths as f64 / 8.0)).expect("the text is a decimal")
}
