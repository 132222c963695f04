//! Rooms whose inside is hard to tell from the outside: with recesses whose tips touch the
//! outside, and with holes.

use super::shape::Shape;
use super::world::walls;
use crate::Random;

/// A room about the origin, and lights at difficult places.
pub(super) struct Room {
    pub(super) walls: Vec<Shape>,
    pub(super) lights: Vec<[f64; 3]>,
}

/// Thickness of the walls.
const WALL: f64 = 32.0;

/// The distance between the tip of a recess and the outside, in units.
const LEFT: [f64; 6] = [0.0, 0.0, 0.001, 0.01, 1.0, 8.0];

/// Widths of slots, in units. Only a ray passes the narrowest slot, and every size passes the
/// widest one.
const SLOTS: [f64; 5] = [0.05, 0.5, 8.0, 40.0, 100.0];

impl Room {
    /// A closed room. One wall has up to three recesses, which are as high as the room and narrow
    /// to a tip. Lights are in the tips, near them, on surfaces, and anywhere.
    pub(super) fn with_recesses(reach: f64, random: &mut Random) -> Self {
        let mut walls = walls(reach);
        // The first two walls are across x, the last two across z.
        walls.remove(1);
        let mut lights = Vec::new();
        let count = 1 + random.below(3);
        let width = 2.0 * (reach + WALL) / count as f64;
        for part in 0..count {
            let low = -reach - WALL + part as f64 * width;
            let high = low + width;
            let tip = (0.5 * (low + high) + random.between(-60.0, 60.0)).round();
            let half = random.between(2.0, 60.0).round();
            let deep = reach + WALL - LEFT[random.below(LEFT.len())];
            let (near, far) = (reach, reach + WALL);
            let [below, above] = [[low, tip - half], [high, tip + half]].map(|[end, edge]| {
                let mut polygon = vec![[near, end], [far, end], [far, tip]];
                if deep < far {
                    polygon.push([deep, tip]);
                }
                polygon.push([near, edge]);
                polygon
            });
            // Both polygons must be counter-clockwise.
            let above: Vec<[f64; 2]> = above.into_iter().rev().collect();
            for polygon in [below, above] {
                walls.push(Shape::prism(&polygon, -reach - WALL, reach + WALL));
            }
            let height = random.between(-400.0, 400.0).round();
            let before = [0.0, 0.0, 0.003, 0.02, 1.0, 6.0][random.below(6)];
            lights.push([deep - before, tip, height]);
        }
        lights.push([random.between(-500.0, 500.0), reach, 0.0]);
        lights.push([random.between(-500.0, 500.0), random.between(-500.0, 500.0), -reach]);
        lights.extend((0..2).map(|_| [(); 3].map(|()| random.between(-reach, reach))));
        Self { walls, lights }
    }

    /// A room that lacks a wall, or one wall of which has a slot as high as the room.
    pub(super) fn open(reach: f64, random: &mut Random) -> Self {
        let mut walls = walls(reach);
        if random.one_in(3) {
            walls.remove(random.below(walls.len()));
        } else {
            walls.remove(1);
            let half = 0.5 * SLOTS[random.below(SLOTS.len())];
            let at = random.between(-400.0, 400.0).round();
            let end = reach + WALL;
            walls.push(Shape::cuboid([reach, -end, -end], [end, at - half, end]));
            walls.push(Shape::cuboid([reach, at + half, -end], [end, end, end]));
        }
        let lights = (0..3).map(|_| [(); 3].map(|()| random.between(-reach, reach)));
        Self { walls, lights: lights.collect() }
    }
}
