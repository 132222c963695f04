//! The static world by definition: a box is in solid if its centre lies in one of the brushes
//! expanded by the box.
//!
//! A plane through three points with integer (or decimal) coordinates has an integer normal. The
//! normal stays an integer when the brush is expanded by a box. Bevels at axes and edges make the
//! expansion the exact Minkowski sum, and they also have integer normals. So every query has an
//! exact answer, computed from every brush nearby. Space is not divided, and there is no epsilon.
//! Floating point decides only cases that are certain by a wide margin.

mod entry;
mod halfspace;
mod polyhedron;
mod rules;

use std::cmp::Ordering;

pub use entry::{Entry, Fraction};
pub use halfspace::Halfspace;
pub use polyhedron::Polyhedron;
pub use rules::{Content, content};

use crate::boxes::{Bounds, Boxes, Corridor, overlap};
use crate::map_text::Entity;

/// The static solids of a map, unexpanded.
#[derive(Clone, Debug)]
pub struct Solids {
    solids: Vec<Solid>,
    left_out: Vec<usize>,
}

/// A static solid.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Line of the brush's opening brace.
    pub line: usize,
    /// Whether the brush is solid for boxes only, not for the bare point.
    pub clip: bool,
    /// Shape of the brush.
    pub polyhedron: Polyhedron,
}

/// All solid brushes of a map, expanded for one box.
#[derive(Clone, Debug)]
pub struct Brushes {
    brushes: Vec<Expanded>,
    boxes: Boxes,
}

/// One expanded brush.
#[derive(Clone, Debug)]
struct Expanded {
    line: usize,
    halfspaces: Vec<Halfspace>,
    bounds: Bounds,
}

/// The judgement of a point. Points within a given distance of a surface are not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The point is inside a brush, deeper than the given distance.
    Solid,
    /// The point is farther from every brush than the given distance.
    Empty,
    /// The point is too close to a surface to judge.
    Shell,
}

impl Solids {
    /// The static solids of a map.
    pub fn new(entities: &[Entity]) -> Self {
        let (mut solids, mut left_out) = (Vec::new(), Vec::new());
        for (entity, brush) in entities.iter().flat_map(|e| e.brushes.iter().map(move |b| (e, b))) {
            let content = content(entity, brush);
            if content == Content::Nothing {
                continue;
            }
            let (line, clip) = (brush.line, content == Content::Clip);
            // A brush beyond the limits of the world is absent for all sizes.
            let polyhedron = Polyhedron::from_text(brush);
            match polyhedron.filter(|p| !p.is_thin() && !p.is_too_far()) {
                Some(polyhedron) => solids.push(Solid { line, clip, polyhedron }),
                None => left_out.push(line),
            }
        }
        Self { solids, left_out }
    }

    /// The solids, in the order of the map.
    pub fn iter(&self) -> impl Iterator<Item = &Solid> {
        self.solids.iter()
    }

    /// Line numbers of brushes that are left out: they enclose no bounded volume, are thinner
    /// than 1/32 unit, or reach beyond ±32,768.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// The brushes that are solid for a box of these half extents. The half extents of the bare
    /// point are zero.
    pub fn expanded(&self, half_extents: [f64; 3]) -> Brushes {
        let point = half_extents == [0.0; 3];
        let solids = self.solids.iter().filter(|solid| !(solid.clip && point));
        let brushes: Vec<Expanded> = solids
            .map(|solid| {
                let (min, max) = solid.polyhedron.bounds();
                Expanded {
                    line: solid.line,
                    halfspaces: solid.polyhedron.expanded(half_extents),
                    bounds: [
                        [0, 1, 2].map(|i| min[i] - half_extents[i]),
                        [0, 1, 2].map(|i| max[i] + half_extents[i]),
                    ],
                }
            })
            .collect();
        let bounds: Vec<Bounds> = brushes.iter().map(|brush| brush.bounds).collect();
        Brushes { boxes: Boxes::new(&bounds), brushes }
    }
}

impl Brushes {
    /// The static solids of a map, expanded by a box of these half extents. The half extents of
    /// the bare point are zero.
    pub fn new(entities: &[Entity], half_extents: [f64; 3]) -> Self {
        Solids::new(entities).expanded(half_extents)
    }

    /// The number of brushes that are solid for this box.
    pub fn count(&self) -> usize {
        self.brushes.len()
    }

    /// The box around all brushes.
    pub fn bounds(&self) -> ([f64; 3], [f64; 3]) {
        let [min, max] = self.boxes.bounds();
        (min, max)
    }

    /// The surface of the boxes around all brushes, in square units.
    pub(crate) fn surface(&self) -> f64 {
        let area = |[min, max]: &Bounds| {
            let [x, y, z] = [0, 1, 2].map(|i| max[i] - min[i]);
            2.0 * (x * y + y * z + z * x)
        };
        self.brushes.iter().map(|brush| area(&brush.bounds)).sum()
    }

    /// Whether the point is strictly inside a brush; exact for every point.
    pub fn holds(&self, point: [f64; 3]) -> bool {
        self.holder(point).is_some()
    }

    /// The line number of a brush that contains the point strictly inside it.
    pub fn holder(&self, point: [f64; 3]) -> Option<usize> {
        let holds = |b: &&Expanded| b.halfspaces.iter().all(|h| h.side(point) == Ordering::Less);
        self.near(point, point, 0.0).find(holds).map(|b| b.line)
    }

    /// Whether the point is solid or empty, unless it is within `shell` units of a brush's
    /// surface.
    pub fn judge(&self, point: [f64; 3], shell: f64) -> Judgement {
        let mut judgement = Judgement::Empty;
        for brush in self.near(point, point, shell) {
            let outside = brush.outside(point, shell);
            if outside <= -shell {
                return Judgement::Solid;
            }
            if outside < shell {
                judgement = Judgement::Shell;
            }
        }
        judgement
    }

    /// The time at which a segment first enters a brush that is grown by `margin` units (shrunk
    /// if negative), as a fraction of the segment. It is computed in floating point, so it is
    /// conclusive only for a margin far above its rounding.
    pub fn entry_with_margin(&self, start: [f64; 3], end: [f64; 3], margin: f64) -> Option<f64> {
        let entries = self.near(start, end, margin.max(0.0));
        entries.filter_map(|brush| brush.entry(start, end, margin)).min_by(f64::total_cmp)
    }

    /// Whether a brush has a face with this unit normal within `reach` of `point`, to judge the
    /// hit of a trace. Where two faces are nearly in one plane, either normal is accepted as long
    /// as the planes are no farther apart than `shell`.
    pub fn has_face(&self, point: [f64; 3], normal: [f64; 3], reach: f64, shell: f64) -> bool {
        let along = |h: &Halfspace| (0..3).map(|i| h.unit()[i] * normal[i]).sum::<f64>();
        let at = |h: &&Halfspace| h.distance(point).abs() <= reach;
        let faces = |within: f64| {
            self.near(point, point, within).flat_map(move |b| {
                let outside = b.outside(point, within);
                b.halfspaces.iter().filter(at).map(move |h| (h, outside))
            })
        };
        // Largest divergence of the two planes per unit of distance from the point.
        let slope = faces(reach)
            .filter(|&(_, outside)| outside <= reach)
            .map(|(h, _)| (1.0 - along(h).clamp(0.0, 1.0).powi(2)).sqrt())
            .fold(1.0, f64::min);
        let flat = (shell / slope).clamp(reach, 1.0);
        faces(flat).any(|(h, outside)| outside <= flat && along(h) > 1.0 - 1e-5)
    }

    /// How much of a box is inside brushes.
    pub(crate) fn cover(&self, cell: &Bounds) -> Cover {
        let middle = [0, 1, 2].map(|i| 0.5 * (cell[0][i] + cell[1][i]));
        let half = [0, 1, 2].map(|i| 0.5 * (cell[1][i] - cell[0][i]));
        let mut cover = Cover::None;
        for brush in self.boxes.find(|bounds| overlap(bounds, cell)) {
            match self.brushes[brush].cover(middle, half) {
                Cover::None => {}
                Cover::Some => cover = Cover::Some,
                Cover::All => return Cover::All,
            }
        }
        cover
    }

    /// Brushes within `margin` of a segment, and possibly a few more.
    fn near(&self, a: [f64; 3], b: [f64; 3], margin: f64) -> impl Iterator<Item = &Expanded> {
        let way = Corridor::new(a, b, margin);
        self.boxes.find(move |bounds| way.meets(bounds)).map(|i| &self.brushes[i])
    }
}

/// How much of a box is inside brushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    /// No part of the box is inside: the whole box is in front of a plane of each brush.
    None,
    /// Part of the box may be inside: neither of the other two is certain.
    Some,
    /// The whole box is inside one brush.
    All,
}

/// A box that extends less than this into a brush does not overlap it. The value is far above
/// rounding and far below the details of maps.
const GRAZE: f64 = 1e-6;

impl Expanded {
    /// The greatest distance of the point in front of a plane of the brush. A result above
    /// `enough` may be too small: the search ends there.
    fn outside(&self, point: [f64; 3], enough: f64) -> f64 {
        let mut most = f64::NEG_INFINITY;
        for h in &self.halfspaces {
            most = most.max(h.distance(point));
            if most > enough {
                break;
            }
        }
        most
    }

    fn entry(&self, start: [f64; 3], end: [f64; 3], margin: f64) -> Option<f64> {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for h in &self.halfspaces {
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
    }

    fn cover(&self, middle: [f64; 3], half: [f64; 3]) -> Cover {
        let mut all = true;
        for h in &self.halfspaces {
            let reach: f64 = (0..3).map(|i| h.unit()[i].abs() * half[i]).sum();
            let distance = h.distance(middle);
            if distance - reach > -GRAZE {
                return Cover::None;
            }
            all &= distance + reach < GRAZE;
        }
        if all { Cover::All } else { Cover::Some }
    }
}

#[cfg(test)]
mod tests;
