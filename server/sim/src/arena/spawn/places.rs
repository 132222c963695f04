//! The places of a map that players can reach from its spawn points.

use std::collections::{BTreeSet, VecDeque};

use glam::{DVec3, Vec3};
use obsp::{SizeId, Trace};

/// The distance between places exceeds the width of a player by this, in units, so that many
/// players find room.
const ASIDE: f32 = 4.0;

/// The height of a cell is this much less than the height of a player, in units, so that floors
/// above each other are in different cells.
const LOWER: f32 = 8.0;

/// A walk shorter than this share of the distance between places has met a wall.
const SHORT: f32 = 0.25;

/// Maximum number of places of a map. A floor of 4,600 by 4,600 units has this many places.
const MOST: usize = 16_384;

/// Places of a map where a player can stand, in the order in which a flood fill from all spawn
/// points reaches them, so the nearest places come first. The fill sweeps the box of a player. It
/// walks, climbs steps and falls like a player, so it leaves the map only where a player could.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(Vec<Vec3>);

impl Places {
    /// The places of `map` that a player with the box of `size` reaches from `points`. The player
    /// walks up ledges that are at most `step_height` units high.
    pub(crate) fn new(map: &obsp::Map, size: SizeId, points: &[DVec3], step_height: f64) -> Self {
        let half = map.sizes()[size.index()].half_extents;
        let mut flood = Flood {
            map,
            size,
            stride: 2.0 * half.x + ASIDE,
            storey: 2.0 * half.z - LOWER,
            step: step_height as f32,
            lowest: map.bounds().min.z as f32 - 1.0,
            known: BTreeSet::new(),
        };
        let mut places = Vec::new();
        let mut open: VecDeque<Vec3> =
            points.iter().filter_map(|point| flood.land(point.as_vec3())).collect();
        while let Some(place) = open.pop_front() {
            places.push(place);
            if places.len() + open.len() < MOST {
                open.extend(flood.beside(place));
            }
        }
        Self(places)
    }

    /// Centres of the box, nearest to spawn points first.
    pub(crate) fn centres(&self) -> &[Vec3] {
        &self.0
    }
}

struct Flood<'a> {
    map: &'a obsp::Map,
    size: SizeId,
    /// Distance between places, in units.
    stride: f32,
    /// Height of a cell, in units. Floors above each other are in different cells.
    storey: f32,
    /// Highest ledge that a player walks up, in units.
    step: f32,
    /// Below this height there is nothing to land on.
    lowest: f32,
    known: BTreeSet<[i32; 3]>,
}

impl Flood<'_> {
    /// The new places that lie one stride from `place`.
    fn beside(&mut self, place: Vec3) -> Vec<Vec3> {
        let up = self.go(place, place + Vec3::Z * self.step);
        [Vec3::X, Vec3::Y, -Vec3::X, -Vec3::Y]
            .into_iter()
            .filter_map(|direction| {
                let over = self.go(up, up + direction * self.stride);
                (over.distance(up) >= SHORT * self.stride).then(|| self.land(over))?
            })
            .collect()
    }

    /// The place below `from`, if it is a new one.
    fn land(&mut self, from: Vec3) -> Option<Vec3> {
        let trace = self.map.find_first_transition(self.size, from, from.with_z(self.lowest));
        let Trace::Hit(hit) = trace else { return None };
        let cell = hit.end / Vec3::new(self.stride, self.stride, self.storey);
        let new = self.known.insert(cell.floor().to_array().map(|c| c as i32));
        new.then_some(hit.end)
    }

    fn go(&self, from: Vec3, to: Vec3) -> Vec3 {
        walk(self.map, self.size, from, to)
    }
}

/// The place where a box stops that moves from `from` towards `to`.
pub(super) fn walk(map: &obsp::Map, size: SizeId, from: Vec3, to: Vec3) -> Vec3 {
    match map.find_first_transition(size, from, to) {
        Trace::Clear => to,
        Trace::Hit(hit) => hit.end,
        Trace::StartSolid => from,
    }
}
