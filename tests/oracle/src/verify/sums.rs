use std::collections::{HashMap, VecDeque};

use crate::brushes::Solids;
use crate::sweep;

/// Tolerance of a sum, in units: half of the shell about surfaces.
const OFF: f64 = 0.005;

/// A brush expanded by a box, as the program under test computes it.
#[derive(Clone, Debug)]
pub struct Sum {
    /// Line of the brush's opening brace.
    pub line: usize,
    /// Outward planes: unit normals and distances.
    pub planes: Vec<([f64; 3], f64)>,
    /// Corners.
    pub corners: Vec<[f64; 3]>,
}

/// Describes the faults of the sums of a map's solids with a box of these half extents.
///
/// The sum of two convex bodies is the hull of the sums of their corners. So none of these sums
/// may be in front of a plane, and the box around any corner of the sum must meet the brush.
/// Neither edges nor bevels are involved.
pub fn judge_sums(solids: &Solids, half_extents: [f64; 3], sums: &[Sum]) -> Vec<String> {
    // The brushes of a curve all have its line, and are in the same order in both lists.
    let mut by_line: HashMap<usize, VecDeque<&Sum>> = HashMap::new();
    for sum in sums {
        by_line.entry(sum.line).or_default().push_back(sum);
    }
    let point = half_extents == [0.0; 3];
    let mut faults = Vec::new();
    for solid in solids.iter().filter(|solid| !(solid.clip && point)) {
        let corners = solid.polyhedron.points();
        let line = solid.line;
        let Some(sum) = by_line.get_mut(&line).and_then(VecDeque::pop_front) else {
            faults.push(format!("the brush of line {line} has volume, but was left out"));
            continue;
        };
        for (normal, distance) in &sum.planes {
            let along = |p: &[f64; 3]| (0..3).map(|i| normal[i] * p[i]).sum::<f64>();
            let reach: f64 = (0..3).map(|i| normal[i].abs() * half_extents[i]).sum();
            let most = corners.iter().map(along).fold(f64::NEG_INFINITY, f64::max) + reach;
            if most - distance > OFF {
                let by = most - distance;
                faults.push(format!(
                    "the expanded brush of line {line} lacks {by} units along {normal:?}"
                ));
            }
        }
        for &corner in &sum.corners {
            let gap = sweep::gap(&corners, half_extents, corner);
            if gap > OFF {
                faults.push(format!(
                    "the expanded brush of line {line} reaches {gap} units too far at {corner:?}"
                ));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map_text::parse;
    use crate::testing::{cuboid, map};

    /// The sum of the box from 0 to 8: its planes are moved out by `by`, its corners by `corner`.
    fn sum(by: f64, corner: f64) -> Sum {
        let axis = |i: usize, sign: f64| [0, 1, 2].map(|j| if i == j { sign } else { 0.0 });
        let planes = (0..3).flat_map(|i| [(axis(i, 1.0), 8.0 + by), (axis(i, -1.0), by)]).collect();
        let corners = (0..8)
            .map(|i| [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { 8.0 + corner } else { -corner }));
        Sum { line: 3, planes, corners: corners.collect() }
    }

    #[test]
    fn a_sum_is_neither_too_small_nor_too_large_nor_missing() {
        let solids = Solids::new(&parse(&map(&[&cuboid([0; 3], [8; 3])])).expect("a map"));
        let judged = |sums: &[Sum]| judge_sums(&solids, [2.0; 3], sums).len();
        assert_eq!(judged(&[sum(2.0, 2.0)]), 0);
        assert_eq!(judged(&[sum(1.9, 2.0)]), 6);
        assert_eq!(judged(&[sum(2.0, 2.1)]), 8);
        assert_eq!(judged(&[]), 1);
    }
}
