//! From polygons to the onion BSP (Golodetz 2013, Listings 1 to 4).
//!
//! The polygons of all sizes go down one tree together. Where the paper finds
//! a point of a leaf and asks each size's own tree about it, this keeps the
//! leaf's whole cell and asks what is solid of all of it, so that a leaf is
//! known to be uniform, however thin it is; a cell that turns out not to be is
//! cut on. Work lists stand in for recursion, so that no map decides how deep
//! the stack goes.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use thiserror::Error;

use super::cell::{Cell, State};
use super::draft::{Branch, Draft, Grown};
use super::parallel::in_order;
use super::planes::{PlaneId, PlaneTable};
use super::polygon::{Polygon, Side};
use super::splitter::choose_splitter;
use crate::spaces::SizeId;
use crate::world::onion::{InvalidTree, MAX_DEPTH, Solidity};
use crate::world::shift::InvalidShiftTree;
use crate::world::surface::MAX_CORNERS;

/// Most branches before pruning: forty times as many as any map that was
/// measured, and a gigabyte while compiling.
const MAX_BRANCHES: usize = 1_000_000;

/// The tree is divided in one piece until no part has more than this share of
/// the polygons; the parts are then divided independently. Enough of them to
/// keep threads busy to the end. It decides nothing about the tree.
const PARTS: usize = 64;

/// Why there is no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// It grew beyond all measure.
    #[error("more than {MAX_BRANCHES} branches")]
    TooManyBranches,
    /// Its surface did.
    #[error("the surface has more than {MAX_CORNERS} corners")]
    TooManyCorners,
    /// It is too deep for queries.
    #[error(transparent)]
    Tree(#[from] InvalidTree),
    /// The same, of the tree whose planes are shifted.
    #[error("shifted planes: {0}")]
    Shift(#[from] InvalidShiftTree),
}

/// What is solid: what leaves are made to agree with.
pub(super) trait Medium: Sync {
    /// What all of `cell` is for `size`, apart from what is thinner than the
    /// tolerance.
    fn state(&self, cell: &Cell, size: SizeId, planes: &PlaneTable) -> State;
}

/// Builds trees from the polygons of surfaces.
pub(super) struct Builder<'a> {
    pub(super) planes: &'a PlaneTable,
    pub(super) sizes: &'a [SizeId],
    pub(super) threads: NonZeroUsize,
}

/// A part of space still to be divided.
struct Task {
    cell: Cell,
    polygons: Vec<Polygon>,
    /// Sizes whose solidity is known for the whole cell.
    known: Known,
    depth: usize,
    /// The child that the result becomes; `None` for the root.
    parent: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Default)]
struct Known {
    sizes: Solidity,
    solid: Solidity,
}

impl Builder<'_> {
    /// The tree of `cell` whose leaves are what `medium` says, divided by the
    /// planes of `polygons` and whatever else is needed. `progress` hears how
    /// many of the polygons are done.
    pub(super) fn build<M: Medium>(
        &self,
        medium: &M,
        polygons: Vec<Polygon>,
        cell: Cell,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Draft, BuildError> {
        let part = polygons.len() / PARTS;
        let budget = AtomicUsize::new(0);
        let first = Task { cell, polygons, known: Known::default(), depth: 0, parent: None };
        let (mut draft, parts) = self.grow(medium, first, part, self.threads, &budget)?;
        let parents: Vec<_> = parts.iter().map(|part| part.parent).collect();
        let mut done = 0;
        let work = |part: Task| {
            let polygons = part.polygons.len();
            self.grow(medium, part, 0, NonZeroUsize::MIN, &budget)
                .map(|(draft, _)| (draft, polygons))
        };
        let grown = in_order(self.threads, parts, work, |grown| {
            done += grown.as_ref().map_or(0, |&(_, polygons)| polygons);
            progress(done);
        });
        for (parent, grown) in parents.into_iter().zip(grown) {
            draft.graft(parent, grown?.0);
        }
        draft.settle();
        Ok(draft)
    }

    /// Divides `task` until no part has more than `enough` polygons left, if
    /// there are any; returns those parts.
    fn grow<M: Medium>(
        &self,
        medium: &M,
        task: Task,
        enough: usize,
        threads: NonZeroUsize,
        budget: &AtomicUsize,
    ) -> Result<(Draft, Vec<Task>), BuildError> {
        let mut draft = Draft { root: Grown::Leaf(Solidity::EMPTY), branches: Vec::new() };
        let mut parts = Vec::new();
        let mut tasks = vec![Task { parent: None, ..task }];
        while let Some(task) = tasks.pop() {
            if (1..=enough).contains(&task.polygons.len()) {
                parts.push(task);
                continue;
            }
            let (parent, depth) = (task.parent, task.depth);
            let grown = match self.divide(medium, task, threads) {
                Divided::Leaf(solidity) => Grown::Leaf(solidity),
                Divided::Branch(plane, sides) => {
                    if budget.fetch_add(1, Ordering::Relaxed) >= MAX_BRANCHES {
                        return Err(BuildError::TooManyBranches);
                    }
                    if depth == MAX_DEPTH {
                        return Err(BuildError::Tree(InvalidTree::Depth));
                    }
                    let index = draft.branches.len();
                    draft.branches.push(Branch::new(plane));
                    let [front, back] = *sides;
                    tasks.push(Task { parent: Some((index, 1)), ..back });
                    tasks.push(Task { parent: Some((index, 0)), ..front });
                    Grown::Branch(index)
                }
            };
            draft.link(parent, grown);
        }
        Ok((draft, parts))
    }

    fn divide<M: Medium>(&self, medium: &M, mut task: Task, threads: NonZeroUsize) -> Divided {
        loop {
            let mut mixed = None;
            for &size in self.sizes {
                if task.known.sizes.contains(size) || task.polygons.iter().any(|p| p.size == size) {
                    continue;
                }
                match medium.state(&task.cell, size, self.planes) {
                    State::Mixed(plane) => mixed = mixed.or(Some(plane)),
                    State::Empty => task.known = task.known.with(size, false),
                    State::Solid => task.known = task.known.with(size, true),
                }
            }
            let Some(plane) = choose_splitter(&task.polygons, self.planes, threads).or(mixed)
            else {
                return Divided::Leaf(task.known.solid);
            };
            // Planes of the tree face one way, so that a plane is one plane.
            let plane = PlaneId::from_index(plane.index());
            if task.cell.side(&self.planes.get(plane)) != Side::Both {
                // It grazes the cell: what lies in it bounds nothing here.
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
    /// The two sides of `plane`. Polygons in the plane have done their part.
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

impl Known {
    fn with(self, size: SizeId, solid: bool) -> Self {
        let known = Self { sizes: self.sizes.with(size), ..self };
        if solid { Self { solid: self.solid.with(size), ..known } } else { known }
    }
}
