//! The part of the onion BSP around a place, below which the queries near that place begin.

use glam::Vec3;

use super::near::Clearance;
use super::onion::{Child, OnionTree, Target, rounding};
use super::trace::Trace;
use crate::spaces::SizeId;

/// Planes at least this far from a region, in units, change no query within the region. It is twice
/// the distance at which queries look at a plane more closely.
const APART: f32 = 1.0 / 16.0;

/// A box of positions in a map, and the lowest part of the map's tree that holds all of them. Many
/// queries near one place, such as the sweeps of a player's tick, need not come down the whole tree
/// each time. They give the same results as the queries of the map, bit for bit, even where they
/// leave the region.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    onion: &'a OnionTree,
    min: Vec3,
    max: Vec3,
    /// All leaves that a query within the box comes to are below this child.
    child: Child,
}

impl<'a> Region<'a> {
    pub(super) fn new(onion: &'a OnionTree, centre: Vec3, reach: Vec3) -> Self {
        let (min, max) = (centre - reach, centre + reach);
        // The rounding of a distance from a plane is greatest at the farthest corner.
        let apart = APART + 4.0 * rounding(min.abs().max(max.abs()));
        let mut child = onion.root();
        while let Target::Node(index) = child.target() {
            let node = &onion.nodes()[index as usize];
            let distance = node.signed_distance(centre);
            let least = node.normal.abs().dot(reach) + apart;
            child = if distance > least {
                node.front
            } else if distance < -least {
                node.back
            } else {
                break;
            };
        }
        Self { onion, min, max, child }
    }

    /// The part of the tree at which a query begins if it stays between these positions.
    #[inline]
    fn root_for(&self, positions: [Vec3; 2]) -> Child {
        let holds = |at: Vec3| self.min.cmple(at).all() && at.cmple(self.max).all();
        if positions.into_iter().all(holds) { self.child } else { self.onion.root() }
    }

    /// The clearance of a point, with the result of [`Map::clearance`](crate::Map::clearance).
    #[inline]
    pub fn clearance(&self, size: SizeId, point: Vec3, radius: f32) -> Clearance {
        let away = Vec3::splat(radius);
        self.onion.clearance(self.root_for([point - away, point + away]), size, point, radius)
    }

    /// The first contact of a moving box, with the result of
    /// [`Map::find_first_transition`](crate::Map::find_first_transition).
    #[inline]
    pub fn find_first_transition(&self, size: SizeId, start: Vec3, end: Vec3) -> Trace {
        self.onion.trace(self.root_for([start, end]), size, start, end)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::{CompileOptions, Map, Source, Spaces, compile};

    /// Numbers in `0..1`, by xorshift.
    struct Random(u64);

    impl Random {
        fn unit(&mut self) -> f32 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 40) as f32 / (1 << 24) as f32
        }

        fn within(&mut self, centre: Vec3, reach: Vec3) -> Vec3 {
            let share = Vec3::new(self.unit(), self.unit(), self.unit());
            centre + reach * (share * 2.0 - 1.0)
        }
    }

    /// Tetrahedra of random corners, which have planes in all directions.
    fn rubble(random: &mut Random) -> Map {
        let mut text = String::from("{ \"classname\" \"worldspawn\"\n");
        for _ in 0..40 {
            let centre = random.within(Vec3::ZERO, Vec3::splat(160.0));
            let mut corner = || random.within(centre, Vec3::splat(60.0)).round();
            let mut corners = [corner(), corner(), corner(), corner()];
            let [a, b, c, d] = corners;
            if (b - a).cross(c - a).dot(d - a) < 0.0 {
                corners.swap(2, 3);
            }
            text += "{\n";
            for face in [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]] {
                for at in face.map(|index: usize| corners[index]) {
                    write!(text, "( {} {} {} ) ", at.x, at.y, at.z).expect("a string grows");
                }
                text += "t 0 0 0 1 1\n";
            }
            text += "}\n";
        }
        text += "}\n";
        let source = Source::from_text("rubble", text);
        let compiled =
            compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| {});
        compiled.expect("the rubble compiles").map
    }

    #[test]
    fn queries_in_a_region_give_the_same_bits_as_in_the_whole_map() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let map = rubble(&mut random);
        let sizes = ["point", "standing"].map(|name| map.size(name).expect("a default size"));
        let (mut hits, mut near, mut lower) = (0, 0, 0);
        for _ in 0..2000 {
            let centre = random.within(Vec3::ZERO, Vec3::splat(200.0));
            let reach = Vec3::splat(1.0 + 30.0 * random.unit());
            let region = map.region(centre, reach);
            lower += u32::from(region.child != map.region(centre, Vec3::splat(1e6)).child);
            for size in sizes {
                // Some of the queries leave the region.
                let mut place = || random.within(centre, reach * 1.1);
                let mut start = place();
                let end = place();
                if let crate::Trace::Hit(hit) = map.find_first_transition(size, start, end) {
                    start = hit.end;
                }
                let trace = map.find_first_transition(size, start, end);
                assert_eq!(region.find_first_transition(size, start, end), trace);
                hits += u32::from(matches!(trace, crate::Trace::Hit(_)));
                for radius in [1.0 / 64.0, 4.0] {
                    let clearance = map.clearance(size, start, radius);
                    assert_eq!(region.clearance(size, start, radius), clearance);
                    near += u32::from(matches!(clearance, crate::Clearance::Near(_)));
                }
            }
        }
        assert!(hits > 200 && near > 200 && lower > 1000, "{hits}, {near}, {lower}");
    }
}
