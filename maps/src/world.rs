//! The compiled world and the questions it answers.
//!
//! A [`World`] is immutable: an onion BSP over all sizes for points and
//! traces of the boxes named in `spaces.toml`, the unexpanded convex solids
//! for bodies of any other shape, and the map's entities. Every query is a
//! pure function without allocation, safe to call from any thread.

mod entity;
mod format;
mod near;
pub(crate) mod onion;
mod trace;

use std::path::Path;

use glam::Vec3;

use crate::box_tree::BoxTree;
use crate::geometry::{Aabb, ConvexSolid};
use crate::spaces::{Size, SizeId, Spaces};

pub use entity::MapEntity;
pub(crate) use format::MAX_FACES;
pub use format::{FormatError, LoadError, SaveError};
pub use near::{Clearance, Near};
use onion::OnionTree;
pub use onion::{InvalidTree, Solidity, UNIVERSE};
pub use trace::{Hit, SURFACE_DISTANCE, Trace};

/// A compiled map.
#[derive(Clone, Debug)]
pub struct World {
    name: String,
    spaces: Spaces,
    onion: OnionTree,
    solids: Vec<ConvexSolid>,
    solid_tree: BoxTree,
    entities: Vec<MapEntity>,
    hash: [u8; 32],
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
    /// Convex solids of the static world.
    pub solids: usize,
    /// Entities of any class.
    pub entities: usize,
}

impl World {
    /// Puts a world together; its hash is that of what it holds.
    pub(crate) fn new(
        name: String,
        spaces: Spaces,
        onion: OnionTree,
        solids: Vec<ConvexSolid>,
        entities: Vec<MapEntity>,
    ) -> Self {
        let mut world = Self::with_hash(name, spaces, onion, solids, entities, [0; 32]);
        world.hash = format::content_hash(&world);
        world
    }

    fn with_hash(
        name: String,
        spaces: Spaces,
        onion: OnionTree,
        solids: Vec<ConvexSolid>,
        entities: Vec<MapEntity>,
        hash: [u8; 32],
    ) -> Self {
        let boxes: Vec<Aabb> = solids.iter().map(|solid| *solid.bounds()).collect();
        let solid_tree = BoxTree::new(&boxes);
        Self { name, spaces, onion, solids, solid_tree, entities, hash }
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
        &self.name
    }

    /// The sizes the world was compiled for.
    pub fn sizes(&self) -> &[Size] {
        self.spaces.sizes()
    }

    /// The size of this name.
    pub fn size(&self, name: &str) -> Option<SizeId> {
        self.spaces.find(name)
    }

    /// For all sizes at once: is a box of that size, centred at `point`, in
    /// solid? Touching a surface is not. Everything beyond [`UNIVERSE`] is
    /// solid, and so is what is not a number.
    #[inline]
    pub fn solidity(&self, point: Vec3) -> Solidity {
        self.onion.solidity(point)
    }

    /// Whether a box of this size, centred at `point`, is in solid.
    #[inline]
    pub fn is_solid(&self, size: SizeId, point: Vec3) -> bool {
        self.solidity(point).contains(size)
    }

    /// What lies within `radius` units of a box of this size whose centre is at
    /// `point`: how a mover keeps off surfaces by more than rounding.
    #[inline]
    pub fn clearance(&self, size: SizeId, point: Vec3, radius: f32) -> Clearance {
        self.onion.clearance(size, point, radius)
    }

    /// What a box of this size meets first while its centre moves from
    /// `start` to `end` (Golodetz 2013, Listing 5). Sliding exactly along a
    /// surface meets nothing.
    #[inline]
    pub fn find_first_transition(&self, size: SizeId, start: Vec3, end: Vec3) -> Trace {
        self.onion.trace(size, start, end)
    }

    /// The box around all solids; empty if there are none.
    pub fn bounds(&self) -> Aabb {
        self.solid_tree.bounds()
    }

    /// The static world's convex solids, as drawn: not expanded.
    pub fn solids(&self) -> &[ConvexSolid] {
        &self.solids
    }

    /// Visits the index of every solid whose box overlaps `bounds`, in an
    /// order that depends on the world alone.
    #[inline]
    pub fn solids_touching(&self, bounds: &Aabb, visit: impl FnMut(u32)) {
        self.solid_tree.overlapping(bounds, visit);
    }

    /// All entities, in the order of the source.
    pub fn entities(&self) -> &[MapEntity] {
        &self.entities
    }

    /// How large the world is.
    pub fn counts(&self) -> WorldCounts {
        WorldCounts {
            onion_nodes: self.onion.nodes().len(),
            onion_leaves: self.onion.nodes().len() + 1,
            onion_depth_max: self.onion.depth().max,
            onion_depth_mean: self.onion.depth().mean,
            solids: self.solids.len(),
            entities: self.entities.len(),
        }
    }
}
