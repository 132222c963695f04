//! The static world by definition: a box is in solid if its centre lies in
//! one of the brushes expanded by the box.
//!
//! A plane through three points with whole (or decimal) coordinates has a
//! whole normal; expansion by a box, and the bevels at axes and edges that
//! make it the exact Minkowski sum, stay whole. So every question has an
//! exact answer, found by asking every brush: no tree, no epsilon. Floating
//! point only decides what is certain by a wide margin, and rules nothing
//! else.

mod entry;
mod halfspace;
mod polyhedron;
mod rules;

pub use entry::{Entry, Fraction};
pub use halfspace::Halfspace;
pub use polyhedron::Polyhedron;
pub use rules::{Content, content};

use crate::map_text::Entity;

/// All solid brushes of a map, expanded for one box.
#[derive(Clone, Debug)]
pub struct Brushes {
    brushes: Vec<Expanded>,
    left_out: Vec<usize>,
}

/// One expanded brush.
#[derive(Clone, Debug)]
struct Expanded {
    line: usize,
    halfspaces: Vec<Halfspace>,
    min: [f64; 3],
    max: [f64; 3],
}

/// What is known of a point when nothing nearer than some distance to a
/// surface is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Deeper than that inside a brush.
    Solid,
    /// Farther than that from every brush.
    Empty,
    /// Too near to a surface to judge.
    Shell,
}

impl Brushes {
    /// The static solids of a map, expanded by a box of these half extents.
    /// All zero is the bare point.
    pub fn new(entities: &[Entity], half_extents: [i64; 3]) -> Self {
        let (polyhedra, left_out) = static_polyhedra(entities, half_extents == [0; 3]);
        let brushes = polyhedra
            .iter()
            .map(|(line, polyhedron)| {
                let grown = |axis: usize| half_extents[axis] as f64;
                let (min, max) = polyhedron.bounds();
                Expanded {
                    line: *line,
                    halfspaces: polyhedron.expanded(half_extents),
                    min: [0, 1, 2].map(|i| min[i] - grown(i)),
                    max: [0, 1, 2].map(|i| max[i] + grown(i)),
                }
            })
            .collect();
        Self { brushes, left_out }
    }

    /// How many brushes are solid for this box.
    pub fn count(&self) -> usize {
        self.brushes.len()
    }

    /// Lines of brushes that enclose no bounded volume.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// The box around all brushes.
    pub fn bounds(&self) -> ([f64; 3], [f64; 3]) {
        let corner = |pick: fn(f64, f64) -> f64, start: f64, of: fn(&Expanded) -> [f64; 3]| {
            [0, 1, 2].map(|i| self.brushes.iter().map(|b| of(b)[i]).fold(start, pick))
        };
        (corner(f64::min, f64::INFINITY, |b| b.min), corner(f64::max, f64::NEG_INFINITY, |b| b.max))
    }

    /// Whether some brush holds the point strictly inside; exact for every
    /// point.
    pub fn holds(&self, point: [f64; 3]) -> bool {
        self.near(point, point, 0.0)
            .any(|brush| brush.halfspaces.iter().all(|h| h.side(point) == std::cmp::Ordering::Less))
    }

    /// The line of a brush that holds the point strictly inside.
    pub fn holder(&self, point: [f64; 3]) -> Option<usize> {
        self.near(point, point, 0.0)
            .find(|b| b.halfspaces.iter().all(|h| h.side(point) == std::cmp::Ordering::Less))
            .map(|b| b.line)
    }

    /// Solid or empty, unless the point is within `shell` units of some
    /// brush's surface.
    pub fn judge(&self, point: [f64; 3], shell: f64) -> Judgement {
        let mut judgement = Judgement::Empty;
        for brush in self.near(point, point, shell) {
            let outside = brush.outside(point);
            if outside <= -shell {
                return Judgement::Solid;
            }
            if outside < shell {
                judgement = Judgement::Shell;
            }
        }
        judgement
    }

    /// When a segment first enters a brush grown by `margin` units (shrunk if
    /// negative), as a fraction of the segment; in floating point, so only a
    /// margin far above its rounding makes a verdict of it.
    pub fn entry_with_margin(&self, start: [f64; 3], end: [f64; 3], margin: f64) -> Option<f64> {
        self.near(start, end, margin.max(0.0))
            .filter_map(|brush| {
                let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
                for h in &brush.halfspaces {
                    let (a, b) = (h.distance(start) - margin, h.distance(end) - margin);
                    if a > 0.0 && b > 0.0 {
                        return None;
                    }
                    if a > b {
                        enter = enter.max(a / (a - b));
                    } else if a < b {
                        leave = leave.min(a / (a - b));
                    }
                }
                (enter < leave).then_some(enter)
            })
            .min_by(f64::total_cmp)
    }

    /// Distance from `point` to the nearest plane of any brush near it whose
    /// normal is `normal`: small where a trace claims to have hit that plane.
    pub fn distance_to_plane(&self, point: [f64; 3], normal: [f64; 3], reach: f64) -> f64 {
        self.near(point, point, reach)
            .flat_map(|b| &b.halfspaces)
            .filter(|h| (0..3).map(|i| h.unit()[i] * normal[i]).sum::<f64>() > 1.0 - 1e-5)
            .map(|h| h.distance(point).abs())
            .fold(f64::INFINITY, f64::min)
    }

    /// Brushes whose box comes within `margin` of the box around two points.
    fn near(&self, a: [f64; 3], b: [f64; 3], margin: f64) -> impl Iterator<Item = &Expanded> {
        let min = [0, 1, 2].map(|i| a[i].min(b[i]) - margin);
        let max = [0, 1, 2].map(|i| a[i].max(b[i]) + margin);
        self.brushes
            .iter()
            .filter(move |x| (0..3).all(|i| x.min[i] <= max[i] && min[i] <= x.max[i]))
    }
}

impl Expanded {
    /// How far the point is in front of the plane it is farthest in front of.
    fn outside(&self, point: [f64; 3]) -> f64 {
        self.halfspaces.iter().map(|h| h.distance(point)).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The static solids of a map with the lines where they begin, and the lines
/// of those that enclose no bounded volume. Clip brushes are solid only to
/// boxes, not to the bare `point`.
pub fn static_polyhedra(
    entities: &[Entity],
    point: bool,
) -> (Vec<(usize, Polyhedron)>, Vec<usize>) {
    let (mut solid, mut left_out) = (Vec::new(), Vec::new());
    let brushes = entities.iter().flat_map(|e| e.brushes.iter().map(move |b| (e, b)));
    for (entity, brush) in brushes {
        match content(entity, brush) {
            Content::Nothing => continue,
            Content::Clip if point => continue,
            Content::Clip | Content::Solid => {}
        }
        match Polyhedron::from_text(brush) {
            Some(polyhedron) => solid.push((brush.line, polyhedron)),
            None => left_out.push(brush.line),
        }
    }
    (solid, left_out)
}

#[cfg(test)]
mod tests;
