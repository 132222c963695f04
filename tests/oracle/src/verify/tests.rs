//! Tests that a judge finds wrong answers. Otherwise a verdict without a wrong answer would mean
//! nothing.

use super::*;
use crate::Random;
use crate::brushes::Entry;
use crate::map_text::{Entity, parse};
use crate::testing::{cuboid, map};

/// A room with a step in it, and an entity.
fn entities() -> Vec<Entity> {
    let brushes = [
        cuboid([-16, -16, -16], [136, 136, 0]),
        cuboid([-16, -16, 64], [136, 136, 80]),
        cuboid([-16, -16, 0], [0, 136, 64]),
        cuboid([128, -16, 0], [136, 136, 64]),
        cuboid([0, -16, 0], [128, 0, 64]),
        cuboid([0, 128, 0], [128, 136, 64]),
        cuboid([64, 0, 0], [128, 128, 24]),
    ];
    let brushes: Vec<&str> = brushes.iter().map(String::as_str).collect();
    let text = map(&brushes) + "{\n\"classname\" \"light\"\n\"origin\" \"32 32 32\"\n}\n";
    parse(&text).expect("a map")
}

const HALF: [f64; 3] = [4.0, 4.0, 8.0];

/// A way in which a witness falsifies its answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    /// The whole world is this much too high.
    Higher(f32),
    /// The outside is solid.
    Filled,
    /// A corner of the room is solid.
    Overfilled,
    Normal,
    /// Hits stop at the surface, not at the promised distance from it.
    Stop,
    /// No trace hits anything.
    Clear,
}

struct Witness {
    brushes: Brushes,
    lie: Lie,
}

impl Witness {
    fn shifted(&self, point: [f32; 3]) -> [f64; 3] {
        let [x, y, z] = wide(point);
        if let Lie::Higher(by) = self.lie { [x, y, z - f64::from(by)] } else { [x, y, z] }
    }
}

impl Subject for Witness {
    fn is_solid(&self, point: [f32; 3]) -> bool {
        let outside = point.iter().zip([128.0, 128.0, 64.0]).any(|(&x, max)| x < 0.0 || x > max);
        match self.lie {
            Lie::Filled if outside => true,
            Lie::Overfilled if point[0] < 10.0 && point[1] < 10.0 => true,
            _ => self.brushes.holds(self.shifted(point)),
        }
    }

    fn trace(&self, start: [f32; 3], end: [f32; 3]) -> Answer {
        let (a, b) = (self.shifted(start), self.shifted(end));
        let at = |time: f64| [0, 1, 2].map(|i| (f64::from(start[i]) + (b[i] - a[i]) * time) as f32);
        match self.brushes.first_entry(a, b) {
            _ if self.lie == Lie::Clear => Answer::Clear,
            None => Answer::Clear,
            Some(Entry::StartsInside) => Answer::StartSolid,
            Some(Entry::At { time, normal, .. }) => {
                let time = time.rounded();
                let approach: f64 = (0..3).map(|i| normal[i] * (a[i] - b[i])).sum();
                let distance = if self.lie == Lie::Stop { 0.0 } else { self.surface_distance() };
                let stop = (time - distance / approach).max(0.0);
                let mut normal = normal.map(|x| x as f32);
                if self.lie == Lie::Normal {
                    normal.rotate_left(1);
                }
                Answer::Hit { time, point: at(time), normal, end: at(stop) }
            }
        }
    }

    fn surface_distance(&self) -> f64 {
        0.03125
    }
}

/// The numbers of wrong points, traces and moves that are found.
fn wrong(lie: Lie) -> [usize; 3] {
    let entities = entities();
    let solids = Solids::new(&entities);
    let judge = Judge::new(&entities, &solids, HALF);
    let witness = Witness { brushes: solids.expanded(HALF), lie };
    let mut random = Random::new(1);
    let points = judge.points(&witness, 3000, &mut random);
    let traces = judge.traces(&witness, 500, &mut random);
    let walk = judge.walk(&witness, 500, &mut random);
    assert_eq!((points.asked, traces.asked, walk.moves), (3000, 500, 500));
    assert_eq!(points.doubtful, 0, "{lie:?}");
    assert_eq!(points.filled > 100, matches!(lie, Lie::Filled | Lie::Overfilled), "{lie:?}");
    let all = |wrong: &Wrong, stray: &Wrong| wrong.count + stray.count;
    let traces = all(&traces.wrong, &traces.stray);
    [points.wrong.count, traces, all(&walk.wrong, &walk.stray)]
}

#[test]
fn the_truth_passes() {
    assert_eq!(wrong(Lie::None), [0; 3]);
    assert_eq!(wrong(Lie::Filled), [0; 3]);
}

#[test]
fn lies_are_found() {
    for lie in [Lie::Higher(0.5), Lie::Higher(-0.5), Lie::Overfilled] {
        assert_ne!(wrong(lie)[0], 0, "{lie:?}");
    }
    for lie in [Lie::Higher(0.05), Lie::Higher(-0.05), Lie::Normal, Lie::Stop, Lie::Clear] {
        let [_, traces, moves] = wrong(lie);
        assert!(traces > 0 && moves > 0, "{lie:?}: {traces} {moves}");
    }
}

/// A room that is divided at y = 32 by a wall of this thickness.
fn divided(thickness: f64) -> Vec<Entity> {
    let (low, high) = (32.0, 32.0 + thickness);
    let wall = format!(
        "( 0 {low} 64 ) ( 0 {high} 64 ) ( 64 {low} 64 ) t\n( 0 {low} 0 ) ( 64 {low} 0 ) ( 0 64 0 ) t\n\
         ( 64 {low} 0 ) ( 64 {low} 64 ) ( 64 64 0 ) t\n( 0 {low} 0 ) ( 0 64 0 ) ( 0 {low} 64 ) t\n\
         ( 0 {high} 0 ) ( 64 {high} 0 ) ( 0 {high} 64 ) t\n( 0 {low} 0 ) ( 0 {low} 64 ) ( 64 {low} 0 ) t\n"
    );
    let brushes = [
        cuboid([-16, -16, -16], [80, 80, 0]),
        cuboid([-16, -16, 64], [80, 80, 80]),
        cuboid([-16, -16, 0], [0, 80, 64]),
        cuboid([64, -16, 0], [80, 80, 64]),
        cuboid([0, -16, 0], [64, 0, 64]),
        cuboid([0, 64, 0], [64, 80, 64]),
        wall,
    ];
    let brushes: Vec<&str> = brushes.iter().map(String::as_str).collect();
    let text = map(&brushes) + "{\n\"classname\" \"light\"\n\"origin\" \"32 16 32\"\n}\n";
    parse(&text).expect("a map")
}

/// The entities without the world's last brush, the thin wall.
fn without_wall(entities: &[Entity]) -> Vec<Entity> {
    let mut entities = entities.to_vec();
    entities[0].brushes.pop();
    entities
}

/// A wall 0.001 units thick was once solid for boxes and absent for rays, and the judge did not
/// find it. A wall that the judge leaves out must also be absent for boxes, and one that it counts
/// must also be solid for rays.
#[test]
fn a_wall_with_two_truths_is_found() {
    let wrong = |thickness: f64, half: [f64; 3], has_wall: bool| {
        let entities = divided(thickness);
        let solids = Solids::new(&entities);
        let judge = Judge::new(&entities, &solids, half);
        // The witness answers as if there were no limit of thickness: its wall is thick enough to
        // be kept, or it is missing.
        let told = if has_wall { divided(thickness.max(0.04)) } else { without_wall(&entities) };
        let witness = Witness { brushes: Brushes::new(&told, half), lie: Lie::None };
        let crossings = judge.crossings(&witness, &solids);
        let mut random = Random::new(3);
        let points = judge.points(&witness, 2000, &mut random);
        let traces = judge.traces(&witness, 500, &mut random);
        (crossings.wrong.count, points.wrong.count + traces.wrong.count)
    };
    for thickness in [0.031_25, 0.05, 1.0] {
        for half in [[0.0; 3], HALF] {
            assert_eq!(wrong(thickness, half, true), (0, 0), "{thickness}");
            assert!(
                wrong(thickness, half, false).0 > 0,
                "a missing wall of {thickness} units is not found"
            );
        }
    }
    for thickness in [0.001, 0.031] {
        assert_eq!(wrong(thickness, [0.0; 3], false), (0, 0), "{thickness}");
        assert_eq!(wrong(thickness, HALF, false), (0, 0), "{thickness}");
        assert!(
            wrong(thickness, HALF, true).1 > 0,
            "a wall of {thickness} units that stops boxes is not found"
        );
    }
}

/// Casts bodies correctly against these brushes, then reports each contact `late` units too late.
struct Bodies {
    brushes: crate::sweep::Solids,
    late: f64,
}

impl Caster for Bodies {
    fn cast(
        &self,
        body: &crate::sweep::Body,
        start: [f32; 3],
        end: [f32; 3],
    ) -> Option<(f64, [f32; 3])> {
        let (a, b) = (wide(start), wide(end));
        let length = (0..3).map(|i| (b[i] - a[i]).powi(2)).sum::<f64>().sqrt();
        let time = self.brushes.first_contact(body, a, b)? + self.late / length;
        let at = |time: f64| [0, 1, 2].map(|i| (a[i] + (b[i] - a[i]) * time) as f32);
        Some((time, at((time - 0.05 / length).max(0.0))))
    }
}

#[test]
fn bodies_that_pass_a_wall_are_found() {
    let wrong = |thickness: f64, has_wall: bool, late: f64| {
        let entities = divided(thickness);
        let told = if has_wall { entities.clone() } else { without_wall(&entities) };
        let witness = Bodies { brushes: crate::sweep::Solids::new(&told), late };
        let casts = casts(&entities, &witness, 200, &mut Random::new(5));
        assert_eq!(casts.asked, 200);
        assert!(casts.stopped > 50);
        casts.wrong.count
    };
    for thickness in [0.031_25, 4.0] {
        assert_eq!(wrong(thickness, true, 0.0), 0, "{thickness}");
        assert!(
            wrong(thickness, false, 0.0) > 0,
            "a wall of {thickness} units that lets bodies pass is not found"
        );
    }
    assert!(wrong(4.0, true, 0.1) > 0, "contacts a tenth of a unit too late are not found");
    // A wall this thin is left out for all bodies, so it may let them pass.
    assert_eq!(wrong(0.03, false, 0.0), 0);
}
