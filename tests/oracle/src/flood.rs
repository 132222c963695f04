//! Reachable space: a flood from the map's entities, and from the void around it.
//!
//! Space is divided into an octree of cubes until a cube is certainly free of brushes or smaller
//! than a step; free cubes that share a face are connected. So flooded space is really reachable.
//! Space that no flood reaches is doubtful and is not judged: it lies behind gaps narrower than two
//! steps.
//!
//! `maps/COMPILER.md` defines the outside. An entity that touches no brush is a certain seed: the
//! space that it reaches is inside. An entity that touches a brush may be on either side of the
//! brush: space that such an entity reaches is inside only if the void does not reach the space. A
//! box starts where it is free and contains the entity's origin. So a larger box reaches nothing
//! that a smaller box about the same centre does not reach.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::boxes::{Bounds, overlap};
use crate::brushes::{Brushes, Cover};

/// Width of the empty space around the brushes that belongs to the void, in units.
const MARGIN: f64 = 64.0;

/// Sides that the smallest cubes may have, in units: the least side that does not need too many
/// cubes is used. Most maps are on a grid of even numbers.
const STEPS: [f64; 5] = [2.0, 4.0, 8.0, 16.0, 32.0];

/// Largest number of smallest cubes that the surfaces of a map may need.
const MAX_CUBES: f64 = 1.2e6;

/// Distance that a path keeps from all brushes, in units. A gap narrower than twice this is within
/// the shell about surfaces, which is not judged.
const CLOSE: f64 = 0.005;

/// The last part of the path to an entity, in units, which may touch brushes.
const TOUCH: f64 = 0.25;

/// The seeds from which a point can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The point can be reached from an entity.
    Entity,
    /// The point can be reached from the void around the map, and from no entity.
    Void,
    /// The flood finds no way to the point.
    Doubtful,
}

/// The flooded space of one size.
#[derive(Debug)]
pub struct Flood {
    brushes: Rc<Brushes>,
    corner: [f64; 3],
    side: f64,
    step: f64,
    /// All cubes. The children of a cube follow each other, from the index in its state.
    cubes: RefCell<Vec<State>>,
    /// For each block of eight children, the index of their parent.
    parents: RefCell<Vec<u32>>,
    leaks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not examined yet.
    New,
    /// Divided into eight cubes, the first of which has this index.
    Split(u32),
    /// Inside a brush, or of the smallest side and not free.
    Closed,
    Free(Reach),
}

/// A cube while the tree is walked.
#[derive(Clone, Copy, Debug)]
struct Cube {
    index: u32,
    low: [f64; 3],
    side: f64,
}

impl Flood {
    /// Floods the free space of one size in this order: from `certain` seeds, from the void, and
    /// from `uncertain` seeds, which may be on either side of a brush. Each flood fills only space
    /// that the ones before it did not reach. Seeds inside a brush are skipped.
    pub fn new(brushes: Rc<Brushes>, certain: &[[f64; 3]], uncertain: &[[f64; 3]]) -> Self {
        let (min, max) = brushes.bounds();
        let size = (0..3).map(|i| max[i] - min[i]).fold(0.0, f64::max) + 2.0 * MARGIN;
        let surface = brushes.surface();
        let step =
            STEPS.into_iter().find(|step| surface / (step * step) < MAX_CUBES).unwrap_or(64.0);
        let mut side = step;
        while side < size {
            side *= 2.0;
        }
        let corner = min.map(|x| ((x - MARGIN) / step).floor() * step);
        let cubes = RefCell::new(vec![State::New]);
        let parents = RefCell::default();
        let mut flood = Self { brushes, corner, side, step, cubes, parents, leaks: false };
        let around = |flood: &Self, seeds: &[[f64; 3]]| {
            seeds.iter().flat_map(|&seed| flood.near(seed, TOUCH)).collect::<Vec<Cube>>()
        };
        let outermost = flood.cube_at(flood.corner).expect("the corner is in the outermost cube");
        let mut from = around(&flood, certain);
        if certain.iter().any(|&seed| flood.cube_at(seed).is_none()) {
            // A seed beyond all cubes is in the void.
            from.push(outermost);
        }
        flood.spread(from, Reach::Entity);
        flood.leaks = flood.state(outermost) == State::Free(Reach::Entity);
        flood.spread(vec![outermost], Reach::Void);
        flood.spread(around(&flood, uncertain), Reach::Entity);
        flood
    }

    /// Whether an entity can reach the void.
    pub fn leaks(&self) -> bool {
        self.leaks
    }

    /// Side of the smallest cubes, in units.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The seeds from which the point can be reached. The point must be farther than 0.005 units
    /// from all brushes.
    pub fn reach(&self, point: [f64; 3]) -> Reach {
        let Some(cube) = self.cube_at(point) else {
            return if self.leaks { Reach::Entity } else { Reach::Void };
        };
        if let State::Free(reach) = self.state(cube) {
            return reach;
        }
        let found = self.near(point, 0.0).into_iter().filter_map(|cube| match self.state(cube) {
            State::Free(reach) => Some(reach),
            _ => None,
        });
        found.fold(Reach::Doubtful, |all, reach| match (all, reach) {
            (Reach::Entity, _) | (_, Reach::Entity) => Reach::Entity,
            (Reach::Void, _) | (_, Reach::Void) => Reach::Void,
            _ => Reach::Doubtful,
        })
    }

    /// The free cubes whose centres can be reached on a straight line from the point. The
    /// last `touch` units of the line may touch brushes.
    fn near(&self, point: [f64; 3], touch: f64) -> Vec<Cube> {
        if self.brushes.holds(point) {
            return Vec::new();
        }
        let reach = 2.0 * self.step;
        let mut near = Vec::new();
        self.visit([point.map(|x| x - reach), point.map(|x| x + reach)], &mut |cube, state| {
            if matches!(state, State::Free(_)) && self.is_open(cube.centre(), point, touch) {
                near.push(cube);
            }
        });
        near
    }

    /// Whether the line to `point` is free. Where two brushes touch in an edge, no line passes
    /// between them.
    fn is_open(&self, from: [f64; 3], point: [f64; 3], touch: f64) -> bool {
        let length = (0..3).map(|i| (point[i] - from[i]).powi(2)).sum::<f64>().sqrt();
        let grown = self.brushes.entry_with_margin(from, point, CLOSE);
        self.brushes.entry_with_margin(from, point, 0.0).is_none()
            && grown.is_none_or(|time| (1.0 - time) * length < touch)
    }

    /// Marks all free cubes that are connected with these.
    fn spread(&self, from: Vec<Cube>, reach: Reach) {
        let mut open = VecDeque::from(from);
        open.retain(|&cube| self.mark(cube, reach));
        while let Some(cube) = open.pop_front() {
            for axis in 0..3 {
                for sign in [0, 1] {
                    // The slab on the other side of the face is thinner than any cube.
                    let thin = 0.25 * self.step;
                    let mut slab =
                        [cube.low.map(|x| x + thin), cube.low.map(|x| x + cube.side - thin)];
                    let face = cube.low[axis] + f64::from(sign) * cube.side;
                    let beyond = face + if sign == 0 { -thin } else { thin };
                    (slab[0][axis], slab[1][axis]) = (beyond, beyond);
                    self.visit_near(cube, &slab, &mut |next, _| {
                        if self.mark(next, reach) {
                            open.push_back(next);
                        }
                    });
                }
            }
        }
    }

    /// Marks the cube, and returns whether it is free and was not marked before.
    fn mark(&self, cube: Cube, reach: Reach) -> bool {
        let new = self.state(cube) == State::Free(Reach::Doubtful);
        if new {
            self.cubes.borrow_mut()[cube.index as usize] = State::Free(reach);
        }
        new
    }

    fn cube_at(&self, point: [f64; 3]) -> Option<Cube> {
        let mut at = None;
        self.visit([point, point], &mut |cube, _| at = at.or(Some(cube)));
        at
    }

    /// Visits every undivided cube that touches a box.
    fn visit(&self, region: Bounds, visit: &mut impl FnMut(Cube, State)) {
        let all = Cube { index: 0, low: self.corner, side: self.side };
        if overlap(&all.bounds(), &region) {
            self.visit_below(all, &region, visit);
        }
    }

    /// Visits every undivided cube that touches a box near `from`. It goes up to the smallest cube
    /// around the box, and down from there.
    fn visit_near(&self, from: Cube, region: &Bounds, visit: &mut impl FnMut(Cube, State)) {
        let mut around = from;
        while !around.holds(region) {
            let Some(block) = around.index.checked_sub(1) else {
                return self.visit(*region, visit);
            };
            let index = self.parents.borrow()[block as usize / 8];
            let (side, child) = (around.side, block % 8);
            let low = [0, 1, 2].map(|i| around.low[i] - f64::from(child >> i & 1) * side);
            around = Cube { index, low, side: 2.0 * side };
        }
        self.visit_below(around, region, visit);
    }

    fn visit_below(&self, cube: Cube, region: &Bounds, visit: &mut impl FnMut(Cube, State)) {
        let first = match self.state(cube) {
            State::Split(first) => first,
            state => return visit(cube, state),
        };
        let middle = cube.centre();
        // The halves of the cube that the region touches on an axis: 0 is the lower one.
        let halves = |axis: usize| {
            let (lower, upper) = (region[0][axis] <= middle[axis], region[1][axis] >= middle[axis]);
            u32::from(!lower)..1 + u32::from(upper)
        };
        for z in halves(2) {
            for y in halves(1) {
                for x in halves(0) {
                    let half = [x, y, z];
                    let low = [0, 1, 2].map(|i| [cube.low[i], middle[i]][half[i] as usize]);
                    let index = first + (x | y << 1 | z << 2);
                    self.visit_below(Cube { index, low, side: 0.5 * cube.side }, region, visit);
                }
            }
        }
    }

    /// The state of the cube, computed at the first call.
    fn state(&self, cube: Cube) -> State {
        let known = self.cubes.borrow()[cube.index as usize];
        if known != State::New {
            return known;
        }
        let state = match self.brushes.cover(&cube.bounds()) {
            Cover::None => State::Free(Reach::Doubtful),
            Cover::Some if cube.side > self.step => {
                let mut cubes = self.cubes.borrow_mut();
                let first = cubes.len() as u32;
                cubes.extend([State::New; 8]);
                self.parents.borrow_mut().push(cube.index);
                State::Split(first)
            }
            Cover::Some | Cover::All => State::Closed,
        };
        self.cubes.borrow_mut()[cube.index as usize] = state;
        state
    }
}

impl Cube {
    fn centre(&self) -> [f64; 3] {
        self.low.map(|x| x + 0.5 * self.side)
    }

    fn bounds(&self) -> Bounds {
        [self.low, self.low.map(|x| x + self.side)]
    }

    /// Whether the box is inside and does not touch the surface.
    fn holds(&self, [min, max]: &Bounds) -> bool {
        (0..3).all(|i| min[i] > self.low[i] && max[i] < self.low[i] + self.side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brushes::Solids;
    use crate::map_text::parse;
    use crate::testing::{cuboid, map};

    /// The inside of a box from 0 to 64 with walls 4 thick, one of which has a hole of this width.
    fn room(hole: i64) -> Rc<Brushes> {
        let walls = [
            cuboid([-4, -4, -4], [68, 68, 0]),
            cuboid([-4, -4, 64], [68, 68, 68]),
            cuboid([-4, -4, 0], [0, 68, 64]),
            cuboid([64, -4, 0], [68, 68, 64]),
            cuboid([0, -4, 0], [64, 0, 64]),
            cuboid([0, 64, hole], [64, 68, 64]),
        ];
        let walls: Vec<&str> = walls.iter().map(String::as_str).collect();
        let entities = parse(&map(&walls)).expect("a map");
        Rc::new(Solids::new(&entities).expanded([0.0; 3]))
    }

    const INSIDE: [f64; 3] = [9.5, 50.25, 3.0];
    const OUTSIDE: [f64; 3] = [-10.0, 25.0, 75.0];
    const FAR: [f64; 3] = [1e5, 0.0, 0.0];

    #[test]
    fn a_sealed_room_is_distinguished_from_the_void() {
        let flood = Flood::new(room(0), &[[25.0, 25.0, 25.0]], &[]);
        assert!(!flood.leaks());
        assert_eq!(flood.reach(INSIDE), Reach::Entity);
        assert_eq!(flood.reach(OUTSIDE), Reach::Void);
        assert_eq!(flood.reach(FAR), Reach::Void);
        // This point is next to a wall, where no whole cube is free.
        assert_eq!(flood.reach([0.006, 25.0, 63.994]), Reach::Entity);
        assert_eq!(flood.reach([-4.006, 25.0, 25.0]), Reach::Void);
    }

    #[test]
    fn a_hole_of_four_units_is_a_leak() {
        let flood = Flood::new(room(4), &[[25.0, 25.0, 25.0]], &[]);
        assert!(flood.leaks());
        for point in [INSIDE, OUTSIDE, FAR, [25.0, 66.0, 1.0]] {
            assert_eq!(flood.reach(point), Reach::Entity);
        }
    }

    #[test]
    fn rooms_without_entities_are_not_reached() {
        let flood = Flood::new(room(0), &[[-2.0, 5.0, 5.0], [32.0, 32.0, 75.0]], &[]);
        assert!(flood.leaks(), "one entity is outside, and another is in a wall");
        assert_eq!(flood.reach(INSIDE), Reach::Doubtful);
        let empty = Flood::new(room(0), &[], &[]);
        assert_eq!(empty.reach(OUTSIDE), Reach::Void);
        assert_eq!(empty.reach(INSIDE), Reach::Doubtful);
    }

    /// The search beside a cube finds the same cubes as a search from the whole world.
    #[test]
    fn a_search_that_goes_up_from_a_cube_misses_none() {
        let flood = Flood::new(room(4), &[[25.0, 25.0, 25.0]], &[]);
        let mut cubes = Vec::new();
        flood.visit([flood.corner, flood.corner.map(|x| x + flood.side)], &mut |cube, _| {
            cubes.push(cube);
        });
        assert!(cubes.len() > 1000);
        for cube in cubes {
            for (axis, way) in [(0, -0.5), (0, 0.5), (1, -0.5), (1, 0.5), (2, -0.5), (2, 0.5)] {
                let mut slab = [cube.low.map(|x| x + 0.5), cube.low.map(|x| x + cube.side - 0.5)];
                let face = cube.low[axis] + if way > 0.0 { cube.side } else { 0.0 };
                (slab[0][axis], slab[1][axis]) = (face + way, face + way);
                let (mut near, mut all) = (Vec::new(), Vec::new());
                flood.visit_near(cube, &slab, &mut |found, _| near.push(found.index));
                flood.visit(slab, &mut |found, _| all.push(found.index));
                assert_eq!(near, all, "{cube:?}, axis {axis}, {way}");
            }
        }
    }

    /// A light of e1m2 stands in the tip of a recess, where it touches the outside as well. No leak
    /// starts there. Space that the light reaches, and the void does not, is inside.
    #[test]
    fn a_touch_of_a_wall_is_inside_only_away_from_the_void() {
        let beside = [-4.0, 25.0, 25.0];
        let within = [0.0, 25.0, 25.0];
        let flood = Flood::new(room(0), &[], &[beside, within]);
        assert!(!flood.leaks());
        assert_eq!(flood.reach(OUTSIDE), Reach::Void);
        assert_eq!(flood.reach(INSIDE), Reach::Entity);
        assert!(
            Flood::new(room(0), &[beside], &[]).leaks(),
            "the entity beside the wall is certainly outside"
        );
        assert!(Flood::new(room(0), &[FAR], &[]).leaks(), "the entity is beyond all cubes");
        let open = Flood::new(room(4), &[], &[within]);
        assert!(!open.leaks());
        assert_eq!(open.reach(INSIDE), Reach::Void);
    }
}
