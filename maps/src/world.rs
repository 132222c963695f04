//! The compiled world and the questions it answers.
//!
//! A [`World`] is immutable: an onion BSP over all sizes for points and
//! traces of the boxes named in `spaces.toml`, the unexpanded convex solids
//! for bodies of any other shape, and the map's entities. Every query is a
//! pure function without allocation, safe to call from any thread.

mod entity;
mod format;
mod leaf;
mod near;
pub(crate) mod onion;
pub mod shift;
pub(crate) mod surface;
mod trace;

use std::path::Path;

use glam::Vec3;

use crate::body::Support;
use crate::box_tree::BoxTree;
use crate::geometry::{Aabb, ConvexSolid, Polygon};
use crate::spaces::{Size, SizeId, Spaces};

pub use entity::MapEntity;
pub(crate) use format::MAX_FACES;
pub use format::{FormatError, LoadError, SaveError};
pub use leaf::{Leaf, LeafId};
pub use near::{Clearance, Near};
use onion::OnionTree;
pub use onion::{InvalidTree, Solidity, UNIVERSE};
use shift::ShiftTree;
use surface::Surface;
pub use trace::{Hit, SURFACE_DISTANCE, Trace};

/// A compiled map.
#[derive(Clone, Debug)]
pub struct World {
    parts: WorldParts,
    solid_tree: BoxTree,
    hash: [u8; 32],
}

/// All that a world holds, each part valid by itself.
#[derive(Clone, Debug)]
pub(crate) struct WorldParts {
    pub(crate) name: String,
    pub(crate) spaces: Spaces,
    pub(crate) onion: OnionTree,
    /// Sizes that the map is sealed for.
    pub(crate) sealed: Solidity,
    pub(crate) shift: ShiftTree,
    pub(crate) surface: Surface,
    pub(crate) solids: Vec<ConvexSolid>,
    pub(crate) entities: Vec<MapEntity>,
}

/// How large a world is, as `mapc info` reports it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldCounts {
    /// Branches of the onion BSP.
    pub onion_nodes: usize,
    /// Leaves of the onion BSP; they are stored inline in its branches.
    pub onion_leaves: usize,
    /// Branches above the deepest leaf.
    pub onion_depth_max: usize,
    /// Branches above a leaf, on average.
    pub onion_depth_mean: f64,
    /// Branches of the shift tree.
    pub shift_nodes: usize,
    /// Polygons of the static world's surface.
    pub polygons: usize,
    /// Convex solids of the static world.
    pub solids: usize,
    /// Entities of any class.
    pub entities: usize,
}

impl World {
    /// Puts a world together; its hash is that of what it holds.
    pub(crate) fn new(parts: WorldParts) -> Self {
        let hash = format::content_hash(&parts);
        Self::with_hash(parts, hash)
    }

    fn with_hash(parts: WorldParts, hash: [u8; 32]) -> Self {
        let boxes: Vec<Aabb> = parts.solids.iter().map(|solid| *solid.bounds()).collect();
        Self { parts, solid_tree: BoxTree::new(&boxes), hash }
    }

    /// Reads an `.obsp` file.
    ///
    /// # Errors
    /// [`LoadError`] if it cannot be read or is not a whole, valid world.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        format::load(path)
    }

    /// Reads the bytes of an `.obsp` file. They may come from anyone: what is
    /// not a valid world is an error.
    ///
    /// # Errors
    /// [`FormatError`] says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        format::from_bytes(bytes)
    }

    /// The bytes of an `.obsp` file: the same world gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        format::to_bytes(self)
    }

    /// Writes an `.obsp` file beside `path` and renames it there, so that
    /// nobody ever sees half of one.
    ///
    /// # Errors
    /// [`SaveError`] names the file that could not be written.
    pub fn save(&self, path: &Path) -> Result<(), SaveError> {
        format::save(self, path)
    }

    /// BLAKE3 hash of all that the world holds: client and server have the
    /// same map if it is equal.
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// The map's name: the source's file name without its ending.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// The sizes the world was compiled for.
    pub fn sizes(&self) -> &[Size] {
        self.parts.spaces.sizes()
    }

    /// The size of this name.
    pub fn size(&self, name: &str) -> Option<SizeId> {
        self.parts.spaces.find(name)
    }

    /// Whether the map is sealed for this size: no entity can reach the void
    /// around the map. The compiler makes the outside solid then.
    pub fn is_sealed_for(&self, size: SizeId) -> bool {
        self.parts.sealed.contains(size)
    }

    /// Whether the map is sealed as Quake means it: for the bare point; if
    /// there is no such size, for every size there is.
    pub fn is_sealed(&self) -> bool {
        let spaces = &self.parts.spaces;
        match spaces.iter().find(|(_, size)| size.is_point()) {
            Some((point, _)) => self.is_sealed_for(point),
            None => spaces.iter().all(|(id, _)| self.is_sealed_for(id)),
        }
    }

    /// For all sizes at once: is a box of that size, centred at `point`, in
    /// solid? Touching a surface is not. Everything beyond [`UNIVERSE`] is
    /// solid, and so is what is not a number.
    #[inline]
    pub fn solidity(&self, point: Vec3) -> Solidity {
        self.parts.onion.solidity(point)
    }

    /// The leaf of the onion BSP that `point` lies in, and for which sizes it
    /// is solid. A point exactly on a dividing plane lies in the leaf in front
    /// of it, which may be solid though the point, as [`World::solidity`]
    /// says, only touches. `None` beyond [`UNIVERSE`].
    #[inline]
    pub fn leaf(&self, point: Vec3) -> Option<Leaf> {
        self.parts.onion.leaf(point)
    }

    /// Whether a box of this size, centred at `point`, is in solid.
    #[inline]
    pub fn is_solid(&self, size: SizeId, point: Vec3) -> bool {
        self.parts.onion.is_solid(size, point)
    }

    /// What lies within `radius` units of a box of this size whose centre is at
    /// `point`: how a mover keeps off surfaces by more than rounding.
    #[inline]
    pub fn clearance(&self, size: SizeId, point: Vec3, radius: f32) -> Clearance {
        self.parts.onion.clearance(size, point, radius)
    }

    /// What a box of this size meets first while its centre moves from
    /// `start` to `end` (Golodetz 2013, Listing 5). Sliding exactly along a
    /// surface meets nothing.
    #[inline]
    pub fn find_first_transition(&self, size: SizeId, start: Vec3, end: Vec3) -> Trace {
        self.parts.onion.trace(size, start, end)
    }

    /// What any convex body meets first while its reference point moves from
    /// `start` to `end` (Melax 2000). It never passes what it cannot, and may be
    /// stopped too early at edges: see [`shift`]. For the sizes of
    /// `spaces.toml` there is the exact [`World::find_first_transition`].
    #[inline]
    pub fn cast(&self, body: &impl Support, start: Vec3, end: Vec3) -> Trace {
        self.parts.shift.trace(body, start, end, &mut ())
    }

    /// Whether a body at rest, its reference point at `at`, is in solid or so
    /// near an edge that [`World::cast`] could not tell.
    #[inline]
    pub fn overlaps(&self, body: &impl Support, at: Vec3) -> bool {
        self.parts.shift.overlaps(body, at, &mut ())
    }

    /// The tree behind [`World::cast`]: for queries that are to be counted, and
    /// for walking it.
    pub fn shift_tree(&self) -> &ShiftTree {
        &self.parts.shift
    }

    /// The surface of the union of all solids, as convex polygons, each with
    /// the sphere around it: what a polyhedron is tested against (Blow 1997).
    pub fn polygons(&self) -> &[Polygon] {
        self.parts.surface.polygons()
    }

    /// The box around all solids; empty if there are none.
    pub fn bounds(&self) -> Aabb {
        self.solid_tree.bounds()
    }

    /// The static world's convex solids, as drawn: not expanded.
    pub fn solids(&self) -> &[ConvexSolid] {
        &self.parts.solids
    }

    /// Visits the index of every solid whose box overlaps `bounds`, in an
    /// order that depends on the world alone.
    #[inline]
    pub fn solids_touching(&self, bounds: &Aabb, visit: impl FnMut(u32)) {
        self.solid_tree.overlapping(bounds, visit);
    }

    /// All entities, in the order of the source.
    pub fn entities(&self) -> &[MapEntity] {
        &self.parts.entities
    }

    /// How large the world is.
    pub fn counts(&self) -> WorldCounts {
        WorldCounts {
            onion_nodes: self.parts.onion.nodes().len(),
            onion_leaves: self.parts.onion.nodes().len() + 1,
            onion_depth_max: self.parts.onion.depth().max,
            onion_depth_mean: self.parts.onion.depth().mean,
            shift_nodes: self.parts.shift.branches().len(),
            polygons: self.parts.surface.polygons().len(),
            solids: self.parts.solids.len(),
            entities: self.parts.entities.len(),
        }
    }
}
