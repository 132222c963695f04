//! An audit of a running match for overlaps of bodies with each other and with brushes.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::{Body, Shape, boxes_overlap, interpenetrate};
use crate::oracle::brushes::Solids;
use crate::oracle::map_text::Entity;

/// Audits a whole world, tick after tick: every body against every other and against every solid
/// brush. A pair is not judged again unless one of the two has moved.
#[derive(Debug)]
pub struct Audit {
    brushes: Vec<(usize, Body)>,
    shapes: Vec<Arc<Shape>>,
    bodies: BTreeMap<u64, Judged>,
}

/// A body in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Identifies the body across ticks.
    pub id: u64,
    /// Index of the body's shape.
    pub shape: usize,
    /// The body's rotation.
    pub orientation: DQuat,
    /// The body's position.
    pub position: DVec3,
}

/// Two things that interpenetrate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Two bodies, by id.
    Bodies(u64, u64),
    /// A body, and the brush that begins on this line of the map.
    Brush(u64, usize),
    /// A body that cannot be judged: its position is not finite, or its rotation is not a unit
    /// quaternion.
    Nowhere(u64),
}

#[derive(Debug)]
struct Judged {
    placed: Placed,
    body: Body,
    moved: bool,
}

impl Audit {
    /// An audit of bodies of these shapes in a map, clip brushes included.
    pub fn new(entities: &[Entity], shapes: Vec<Arc<Shape>>) -> Self {
        let brushes = Solids::new(entities)
            .iter()
            .map(|solid| {
                let corner = |c: &[f64; 3]| DVec3::from_array(*c);
                let loops: Vec<Vec<DVec3>> = solid
                    .polyhedron
                    .loops()
                    .iter()
                    .map(|l| l.iter().map(corner).collect())
                    .collect();
                (solid.line, Shape::from_loops(&loops).in_place())
            })
            .collect();
        Self { brushes, shapes, bodies: BTreeMap::new() }
    }

    /// The box that the boxes of a body and of the brush on a line share; `None` if one of them is
    /// unknown. It holds whatever both share.
    pub fn shared_box(&self, id: u64, line: usize) -> Option<[DVec3; 2]> {
        let [min, max] = self.bodies.get(&id)?.body.bounds();
        let [from, to] = self.brushes.iter().find(|(at, _)| *at == line)?.1.bounds();
        Some([min.max(from), max.min(to)])
    }

    /// All overlaps in which at least one body is new or has moved since the last call.
    pub fn judge(&mut self, things: &[Placed]) -> Vec<Overlap> {
        let mut known = std::mem::take(&mut self.bodies);
        let mut overlaps = Vec::new();
        for &placed in things {
            let Placed { id, orientation, position, .. } = placed;
            let squares: f64 = orientation.to_array().iter().map(|part| part * part).sum();
            let is_turn = (squares - 1.0).abs() < 1e-6;
            if !is_turn || !position.is_finite() {
                overlaps.push(Overlap::Nowhere(id));
                continue;
            }
            let judged = match known.remove(&placed.id) {
                Some(judged) if judged.placed == placed => Judged { moved: false, ..judged },
                _ => {
                    let shape = &self.shapes[placed.shape];
                    let body = shape.posed(placed.orientation, placed.position);
                    Judged { placed, body, moved: true }
                }
            };
            assert!(self.bodies.insert(placed.id, judged).is_none(), "id {} is reused", placed.id);
        }
        let bodies: Vec<(&u64, &Judged)> = self.bodies.iter().collect();
        for (i, (id, a)) in bodies.iter().enumerate() {
            for (other, b) in &bodies[..i] {
                if (a.moved || b.moved) && interpenetrate(&a.body, &b.body) {
                    overlaps.push(Overlap::Bodies(**other, **id));
                }
            }
            if !a.moved {
                continue;
            }
            for (line, brush) in &self.brushes {
                if boxes_overlap(a.body.bounds(), brush.bounds()) && interpenetrate(&a.body, brush)
                {
                    overlaps.push(Overlap::Brush(**id, *line));
                }
            }
        }
        overlaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::map_text::parse;

    #[test]
    fn overlaps_are_found_when_they_arise() {
        // A floor from z = -16 to 0.
        let floor = parse(
            "{\n\"classname\" \"worldspawn\"\n{\n( -64 -64 0 ) ( -64 64 0 ) ( 64 64 0 ) t\n\
             ( 64 64 -16 ) ( -64 64 -16 ) ( -64 -64 -16 ) t\n\
             ( -64 -64 -16 ) ( -64 -64 0 ) ( 64 -64 0 ) t\n\
             ( 64 64 0 ) ( -64 64 0 ) ( -64 64 -16 ) t\n\
             ( -64 64 0 ) ( -64 -64 0 ) ( -64 -64 -16 ) t\n\
             ( 64 -64 -16 ) ( 64 -64 0 ) ( 64 64 0 ) t\n}\n}\n",
        )
        .expect("a map");
        let half = DVec3::splat(8.0);
        let mut audit = Audit::new(&floor, vec![Shape::cuboid(-half, half)]);
        let at = |id, x, z| Placed {
            id,
            shape: 0,
            orientation: DQuat::IDENTITY,
            position: DVec3::new(x, 0.0, z),
        };
        assert_eq!(audit.judge(&[at(1, 0.0, 8.0), at(2, 16.0, 8.0)]), [], "touching");
        assert_eq!(audit.judge(&[at(1, 0.0, 7.9), at(2, 16.0, 8.0)]), [Overlap::Brush(1, 3)]);
        assert_eq!(
            audit.judge(&[at(1, 0.0, 7.9), at(2, 16.0, 8.0)]),
            [],
            "a pair that has not moved is judged again"
        );
        assert_eq!(audit.judge(&[at(1, 0.0, 8.0), at(2, 15.9, 8.0)]), [Overlap::Bodies(1, 2)]);
        let nowhere = [
            at(4, f64::NAN, 8.0),
            at(4, f64::INFINITY, 8.0),
            Placed { orientation: DQuat::from_xyzw(0.0, 0.0, f64::NAN, 1.0), ..at(4, 0.0, 99.0) },
            Placed { orientation: DQuat::IDENTITY * 1e155, ..at(4, 0.0, 99.0) },
            Placed { orientation: DQuat::IDENTITY * 0.0, ..at(4, 0.0, 99.0) },
        ];
        for placed in nowhere {
            assert_eq!(audit.judge(&[placed]), [Overlap::Nowhere(4)], "{placed:?}");
        }
        assert_eq!(audit.judge(&[at(2, 15.9, 8.0)]), []);
        assert_eq!(audit.judge(&[at(1, 0.0, 8.0), at(2, 15.9, 8.0)]), [Overlap::Bodies(1, 2)]);
    }
}
