//! From polygons to the onion BSP (Golodetz 2013, Listings 1 to 4).
//!
//! The polygons of all sizes go down one tree together. The paper takes a point of a leaf and
//! classifies it with each size's own tree. This builder keeps the leaf's whole cell and classifies
//! all of it, so even a thin leaf is known to be uniform. A cell that is mixed is divided further.
//! Work lists replace recursion, so that the depth of the stack does not depend on the map.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cell::{Cell, CellState, SolidSpace};
use super::dividers::choose_divider;
use super::draft::{Branch, Draft, DraftChild};
use super::error::{BuildError, MAX_BRANCHES};
use super::parallel::in_order;
use super::planes::{PlaneId, PlaneTable};
use super::polygon::{Polygon, Side};
use super::splitter::choose_splitter;
use crate::map::onion::{MAX_DEPTH, Solidity};
use crate::spaces::SizeId;

/// Space is divided as a whole until no part has more than a 64th of the polygons. The threads then
/// divide the parts independently. This is enough to keep all threads busy to the end. The number
/// of parts does not affect the tree.
const PARTS: usize = 64;

/// Builds trees from the polygons of surfaces.
pub(super) struct Builder<'a> {
    pub(super) planes: &'a PlaneTable,
    pub(super) sizes: &'a [SizeId],
    pub(super) threads: NonZeroUsize,
    /// Planes that divide brushes with very many faces.
    pub(super) dividers: &'a [PlaneId],
    pub(super) limits: Limits,
}

/// Limits of a tree.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Maximum number of branches before pruning.
    pub(super) branches: usize,
    /// Maximum depth.
    pub(super) depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { branches: MAX_BRANCHES, depth: MAX_DEPTH }
    }
}

/// A part of space still to be divided.
struct Task {
    cell: Cell,
    polygons: Vec<Polygon>,
    /// Sizes whose solidity is known for the whole cell.
    known: KnownSizes,
    depth: usize,
    /// The branch above the result, and the side of that branch; `None` for the root.
    parent: Option<(usize, usize)>,
}

/// The sizes whose solidity is known for the whole of a cell.
#[derive(Clone, Copy, Default)]
struct KnownSizes {
    sizes: Solidity,
    /// The known sizes for which the cell is solid.
    solid: Solidity,
}

impl Builder<'_> {
    /// The tree of `cell` whose leaves agree with `space`, divided by the
    /// planes of `polygons` and further planes as needed. `progress` is called with the
    /// number of polygons that are done.
    pub(super) fn build<S: SolidSpace>(
        &self,
        space: &S,
        polygons: Vec<Polygon>,
        cell: Cell,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Draft, BuildError> {
        let part = polygons.len() / PARTS;
        let budget = AtomicUsize::new(0);
        let first = Task { cell, polygons, known: KnownSizes::default(), depth: 0, parent: None };
        let (mut draft, parts) = self.grow(space, first, part, self.threads, &budget)?;
        let parents: Vec<_> = parts.iter().map(|part| part.parent).collect();
        let mut done = 0;
        let work = |part: Task| {
            let polygons = part.polygons.len();
            self.grow(space, part, 0, NonZeroUsize::MIN, &budget)
                .map(|(draft, _)| (draft, polygons))
        };
        let grown = in_order(self.threads, parts, work, |grown| {
            done += grown.as_ref().map_or(0, |&(_, polygons)| polygons);
            progress(done);
        });
        for (parent, grown) in parents.into_iter().zip(grown) {
            draft.graft(parent, grown?.0);
        }
        draft.simplify();
        Ok(draft)
    }

    /// Divides `task` until no part has more than `enough` polygons. Returns these parts.
    fn grow<S: SolidSpace>(
        &self,
        space: &S,
        task: Task,
        enough: usize,
        threads: NonZeroUsize,
        budget: &AtomicUsize,
    ) -> Result<(Draft, Vec<Task>), BuildError> {
        let mut draft = Draft { root: DraftChild::Leaf(Solidity::EMPTY), branches: Vec::new() };
        let mut parts = Vec::new();
        let mut tasks = vec![Task { parent: None, ..task }];
        while let Some(task) = tasks.pop() {
            if (1..=enough).contains(&task.polygons.len()) {
                parts.push(task);
                continue;
            }
            let (parent, depth) = (task.parent, task.depth);
            let at = task.cell.centre();
            let grown = match self.divide(space, task, threads) {
                Divided::Leaf(solidity) => DraftChild::Leaf(solidity),
                Divided::Branch(plane, sides) => {
                    if budget.fetch_add(1, Ordering::Relaxed) >= self.limits.branches {
                        return Err(BuildError::TooManyBranches);
                    }
                    if depth == self.limits.depth {
                        return Err(BuildError::TooDeep { at: at.to_array() });
                    }
                    let index = draft.branches.len();
                    draft.branches.push(Branch::new(plane));
                    let [front, back] = *sides;
                    tasks.push(Task { parent: Some((index, 1)), ..back });
                    tasks.push(Task { parent: Some((index, 0)), ..front });
                    DraftChild::Branch(index)
                }
            };
            draft.link(parent, grown);
        }
        Ok((draft, parts))
    }

    fn divide<S: SolidSpace>(&self, space: &S, mut task: Task, threads: NonZeroUsize) -> Divided {
        loop {
            let mut mixed = None;
            for &size in self.sizes {
                if task.known.sizes.contains(size) || task.polygons.iter().any(|p| p.size == size) {
                    continue;
                }
                match space.state(&task.cell, size, self.planes) {
                    CellState::Mixed(plane) => mixed = mixed.or(Some(plane)),
                    CellState::Empty => task.known = task.known.with(size, false),
                    CellState::Solid => task.known = task.known.with(size, true),
                }
            }
            let splitter = choose_splitter(&task.polygons, self.planes, threads);
            let Some(plane) = splitter.or(mixed) else {
                return Divided::Leaf(task.known.solid);
            };
            let Task { polygons, cell, .. } = &task;
            let divider = choose_divider(self.dividers, plane, polygons, cell, self.planes);
            let plane = divider.unwrap_or(plane);
            // Both facings of a plane stand for one plane of the tree.
            let plane = PlaneId::from_index(plane.index());
            if task.cell.side(&self.planes.get(plane)) != Side::Both {
                // The plane only grazes the cell, so polygons in the plane bound nothing within the
                // cell.
                task.polygons.retain(|p| p.plane.index() != plane.index());
                continue;
            }
            return Divided::Branch(plane, Box::new(task.split(plane, self.planes)));
        }
    }
}

enum Divided {
    Leaf(Solidity),
    Branch(PlaneId, Box<[Task; 2]>),
}

impl Task {
    /// The tasks in front of `plane` and behind it. Polygons in the plane need no further division
    /// and are dropped.
    fn split(self, plane: PlaneId, planes: &PlaneTable) -> [Self; 2] {
        let cut = planes.get(plane);
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for polygon in self.polygons {
            if polygon.plane.index() == plane.index() {
                continue;
            }
            match polygon.side(&cut) {
                Side::On => (),
                Side::Front => front.push(polygon),
                Side::Back => back.push(polygon),
                Side::Both => {
                    let (f, b) = polygon.split(&cut);
                    front.extend(f);
                    back.extend(b);
                }
            }
        }
        let (front_cell, back_cell) = self.cell.split(plane, &cut);
        let depth = self.depth + 1;
        let side = |cell, polygons| Self { cell, polygons, known: self.known, depth, parent: None };
        [side(front_cell, front), side(back_cell, back)]
    }
}

impl KnownSizes {
    fn with(self, size: SizeId, solid: bool) -> Self {
        let known = Self { sizes: self.sizes.with(size), ..self };
        if solid { Self { solid: self.solid.with(size), ..known } } else { known }
    }
}
