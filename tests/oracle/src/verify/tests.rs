//! A judge that finds nothing wrong proves nothing unless it finds what is.

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

/// A falsification of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    /// Everything is this much higher than it is.
    Higher(f32),
    /// The outside is solid.
    Filled,
    /// A corner of the room is solid too.
    Overfilled,
    Normal,
    /// Hits stop where they touch.
    Stop,
    /// Nothing is ever hit.
    Clear,
}

struct Witness {
    brushes: Brushes,
    lie: Lie,
}

impl Witness {
    fn told(&self, point: [f32; 3]) -> [f64; 3] {
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
            _ => self.brushes.holds(self.told(point)),
        }
    }

    fn trace(&self, start: [f32; 3], end: [f32; 3]) -> Answer {
        let (a, b) = (self.told(start), self.told(end));
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

/// Wrong points, traces and moves.
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
