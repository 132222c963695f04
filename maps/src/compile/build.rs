//! From polygons to the onion BSP (Golodetz 2013, Listings 1 to 4).
//!
//! The polygons of all sizes go down one tree together. Where the paper finds
//! a point of a leaf and asks each size's own tree about it, this keeps the
//! leaf's whole cell and asks each size's solids about all of it, so that a
//! leaf is known to be uniform, however thin it is; a cell that turns out not
//! to be is cut on. The work list stands in for recursion, so that no map
//! decides how deep the stack goes.

use thiserror::Error;

use super::cell::{Cell, State};
use super::hull::Hull;
use super::planes::{PlaneId, PlaneTable};
use super::polygon::{Polygon, Side};
use super::splitter::choose_splitter;
use super::{Stage, Tick};
use crate::spaces::SizeId;
use crate::world::onion::{Child, InvalidTree, Node, OnionTree, Solidity};
use crate::world::shift::InvalidShiftTree;
use crate::world::surface::MAX_CORNERS;

/// Most branches before pruning. A quarter of a gigabyte while compiling, and
/// far beyond any map that was measured.
const MAX_BRANCHES: usize = 4_000_000;

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

/// A branch under construction; children come later in the list.
pub(super) struct Branch {
    pub(super) plane: PlaneId,
    /// In front, and behind.
    pub(super) children: [Grown; 2],
}

/// A child under construction.
#[derive(Clone, Copy)]
pub(super) enum Grown {
    Branch(usize),
    Leaf(Solidity),
}

/// A part of space still to be divided.
struct Task {
    cell: Cell,
    polygons: Vec<Polygon>,
    /// Sizes whose solidity is known for the whole cell.
    known: Known,
    /// The child that the result becomes; `None` for the root.
    parent: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Default)]
struct Known {
    sizes: Solidity,
    solid: Solidity,
}

/// Space, divided until every part is uniform for every size.
pub(super) struct Division {
    pub(super) root: Grown,
    pub(super) branches: Vec<Branch>,
}

/// Builds the tree of all `hulls` from their surfaces.
pub(super) fn build(
    hulls: &[Hull],
    polygons: Vec<Polygon>,
    cell: Cell,
    planes: &PlaneTable,
    progress: &mut Tick<'_>,
) -> Result<OnionTree, BuildError> {
    let division = divide_space(hulls, polygons, cell, planes, progress)?;
    let (root, nodes) = flatten(&division, planes)?;
    Ok(OnionTree::new(root, nodes)?)
}

/// Divides `cell` by the planes of all `polygons`.
pub(super) fn divide_space(
    hulls: &[Hull],
    polygons: Vec<Polygon>,
    cell: Cell,
    planes: &PlaneTable,
    progress: &mut Tick<'_>,
) -> Result<Division, BuildError> {
    let mut branches: Vec<Branch> = Vec::new();
    let mut root = Grown::Leaf(Solidity::EMPTY);
    let total = polygons.len() as u64;
    let mut left = total;
    let mut tasks = vec![Task { cell, polygons, known: Known::default(), parent: None }];
    while let Some(task) = tasks.pop() {
        let parent = task.parent;
        let before = task.polygons.len() as u64;
        let grown = match divide(task, hulls, planes) {
            Divided::Leaf(solidity) => Grown::Leaf(solidity),
            Divided::Branch(plane, sides) => {
                let index = branches.len();
                if index == MAX_BRANCHES {
                    return Err(BuildError::TooManyBranches);
                }
                let children = [Grown::Leaf(Solidity::EMPTY); 2];
                branches.push(Branch { plane, children });
                let [front, back] = *sides;
                let after = (front.polygons.len() + back.polygons.len()) as u64;
                left = (left + after).saturating_sub(before);
                progress(Stage::Tree, total.saturating_sub(left), total);
                tasks.push(Task { parent: Some((index, 1)), ..back });
                tasks.push(Task { parent: Some((index, 0)), ..front });
                Grown::Branch(index)
            }
        };
        match parent {
            Some((branch, side)) => branches[branch].children[side] = grown,
            None => root = grown,
        }
    }
    let root = prune(&mut branches, root);
    Ok(Division { root, branches })
}

enum Divided {
    Leaf(Solidity),
    Branch(PlaneId, Box<[Task; 2]>),
}

fn divide(mut task: Task, hulls: &[Hull], planes: &PlaneTable) -> Divided {
    loop {
        let mut mixed = None;
        for hull in hulls {
            let size = hull.size;
            if task.known.sizes.contains(size) || task.polygons.iter().any(|p| p.size == size) {
                continue;
            }
            match task.cell.state(hull) {
                State::Mixed(plane) => mixed = mixed.or(Some(plane)),
                State::Empty => task.known = task.known.with(size, false),
                State::Solid => task.known = task.known.with(size, true),
            }
        }
        let Some(plane) = choose_splitter(&task.polygons, planes).or(mixed) else {
            return Divided::Leaf(task.known.solid);
        };
        // Planes of the tree face one way, so that a plane is one plane.
        let plane = PlaneId::from_index(plane.index());
        let cut = planes.get(plane);
        if task.cell.side(&cut) != Side::Both {
            // It grazes the cell: what lies in it bounds nothing here.
            task.polygons.retain(|p| p.plane.index() != plane.index());
            continue;
        }
        return Divided::Branch(plane, Box::new(task.split(plane, planes)));
    }
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
        let (front_cell, back_cell) = self.cell.split(&cut);
        let side = |cell, polygons| Self { cell, polygons, known: self.known, parent: None };
        [side(front_cell, front), side(back_cell, back)]
    }
}

impl Known {
    fn with(self, size: SizeId, solid: bool) -> Self {
        let known = Self { sizes: self.sizes.with(size), ..self };
        if solid { Self { solid: self.solid.with(size), ..known } } else { known }
    }
}

/// Replaces branches whose children are equal leaves by that leaf, from the
/// ends of the tree up; returns the new root.
fn prune(branches: &mut [Branch], root: Grown) -> Grown {
    let mut replaced: Vec<Option<Solidity>> = vec![None; branches.len()];
    let resolve = |child: Grown, replaced: &[Option<Solidity>]| match child {
        Grown::Branch(index) => replaced[index].map_or(child, Grown::Leaf),
        Grown::Leaf(_) => child,
    };
    // Children come after their parents, so they are settled before them.
    for index in (0..branches.len()).rev() {
        let children = branches[index].children.map(|child| resolve(child, &replaced));
        branches[index].children = children;
        if let [Grown::Leaf(front), Grown::Leaf(back)] = children
            && front == back
        {
            replaced[index] = Some(front);
        }
    }
    resolve(root, &replaced)
}

/// Lays the tree out in pre-order, front first, rounded to `f32`.
fn flatten(division: &Division, planes: &PlaneTable) -> Result<(Child, Vec<Node>), BuildError> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut root_child = Child::leaf(Solidity::EMPTY);
    let mut pending = vec![(division.root, None::<(usize, usize)>)];
    while let Some((grown, parent)) = pending.pop() {
        let child = match grown {
            Grown::Leaf(solidity) => Child::leaf(solidity),
            Grown::Branch(index) => {
                let branch = &division.branches[index];
                let at = nodes.len();
                let plane = planes.get(branch.plane);
                let unset = Child::leaf(Solidity::EMPTY);
                let (normal, distance) = (plane.normal.as_vec3(), plane.distance as f32);
                nodes.push(Node::new(normal, distance, unset, unset));
                pending.push((branch.children[1], Some((at, 1))));
                pending.push((branch.children[0], Some((at, 0))));
                Child::node(at).ok_or(BuildError::TooManyBranches)?
            }
        };
        match parent {
            Some((at, 0)) => nodes[at].front = child,
            Some((at, _)) => nodes[at].back = child,
            None => root_child = child,
        }
    }
    Ok((root_child, nodes))
}
