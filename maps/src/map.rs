//! The compiled map and its queries.
//!
//! A [`Map`] is immutable: an onion BSP over all sizes for points and
//! traces of the boxes of `spaces.toml`, the unexpanded convex solids
//! for bodies of any other shape, the liquids, and the map's entities. Every query is a
//! pure function without allocation, safe to call from any thread.

mod brush_models;
mod entity;
mod extent;
mod format;
mod leaf;
pub(crate) mod liquid;
mod near;
pub(crate) mod onion;
mod region;
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
pub use extent::{ClippedSegment, UNIVERSE, clip_box_to_extent, clip_to_extent};
pub(crate) use format::MAX_FACES;
pub use format::{FormatError, LoadMapError, SaveMapError};
use format::{Section, Sections};
pub use leaf::{Leaf, LeafId};
use liquid::Liquids;
pub use liquid::{Liquid, LiquidKind};
pub use near::{Clearance, Near};
use onion::OnionTree;
pub use onion::{InvalidTree, Solidity};
pub use region::Region;
use shift::ShiftTree;
use surface::Surface;
pub use trace::{Hit, SURFACE_DISTANCE, Trace};

/// A compiled map.
#[derive(Clone, Debug)]
pub struct Map {
    parts: MapParts,
    solid_tree: BoxTree,
    liquids: Liquids,
    /// Sections of the file that this version does not know.
    unknown: Vec<Section>,
    hash: [u8; 32],
}

/// The parts of a map that every map has, each part valid by itself.
#[derive(Clone, Debug)]
pub(crate) struct MapParts {
    pub(crate) name: String,
    pub(crate) spaces: Spaces,
    pub(crate) onion: OnionTree,
    /// Sizes for which the map is sealed.
    pub(crate) sealed: Solidity,
    pub(crate) shift: ShiftTree,
    pub(crate) surface: Surface,
    pub(crate) solids: Vec<ConvexSolid>,
    pub(crate) entities: Vec<MapEntity>,
}

/// The numbers of a map's parts, which `mapc info` prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapCounts {
    /// Branches of the onion BSP.
    pub onion_nodes: usize,
    /// Number of leaves of the onion BSP, which are stored inline in its branches.
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
    /// Volumes of liquids.
    pub liquids: usize,
}

impl Map {
    /// A map of these parts. Its hash is computed from them.
    pub(crate) fn new(parts: MapParts, liquids: Vec<Liquid>) -> Self {
        let sections = Sections { liquids, unknown: Vec::new() };
        let hash = format::content_hash(&parts, &sections);
        Self::with_hash(parts, sections, hash)
    }

    fn with_hash(parts: MapParts, sections: Sections, hash: [u8; 32]) -> Self {
        let boxes: Vec<Aabb> = parts.solids.iter().map(|solid| *solid.bounds()).collect();
        Self {
            parts,
            solid_tree: BoxTree::new(&boxes),
            liquids: Liquids::new(sections.liquids),
            unknown: sections.unknown,
            hash,
        }
    }

    /// Reads an `.obsp` file.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// let map = obsp::Map::load(Path::new("arena.obsp"))?;
    /// assert_eq!(map.name(), "arena");
    /// assert!(map.is_sealed());
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    ///
    /// # Errors
    /// [`LoadMapError`] if the file cannot be read, or is not a whole, valid map.
    pub fn load(path: &Path) -> Result<Self, LoadMapError> {
        format::load(path)
    }

    /// Reads the bytes of an `.obsp` file. They need not be trusted. Bytes that are not a valid
    /// map are an error.
    ///
    /// ```
    /// use obsp::Map;
    ///
    /// let bytes = std::fs::read("arena.obsp")?;
    /// let map = Map::from_bytes(&bytes)?;
    /// assert_eq!(map.to_bytes(), bytes);
    /// assert!(Map::from_bytes(&bytes[1..]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FormatError`] says what is wrong with the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        format::from_bytes(bytes)
    }

    /// The number of bytes at the start of an `.obsp` file that [`Map::hash_at_start`] reads.
    pub const START: usize = format::BODY_AT;

    /// The content hash that is stored in the first [`Map::START`] bytes of an `.obsp` file. This
    /// function does not check the hash. [`Map::from_bytes`] checks it against the content.
    /// `None` if the bytes do not begin such a file, or the file has another version of the format.
    ///
    /// ```
    /// use obsp::Map;
    ///
    /// let bytes = std::fs::read("arena.obsp")?;
    /// let stored = Map::hash_at_start(&bytes[..Map::START]);
    /// assert_eq!(stored, Some(Map::from_bytes(&bytes)?.hash()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hash_at_start(bytes: &[u8]) -> Option<[u8; 32]> {
        format::hash_at_start(bytes)
    }

    /// The bytes of an `.obsp` file: the same map gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        format::to_bytes(self)
    }

    /// Writes an `.obsp` file beside `path` and renames it, so that a reader never sees
    /// half of a file.
    ///
    /// ```
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// let path = std::env::temp_dir().join(format!("saved-{}.obsp", std::process::id()));
    /// map.save(&path)?;
    /// assert_eq!(obsp::Map::load(&path)?.hash(), map.hash());
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SaveMapError`] names the file that could not be written.
    pub fn save(&self, path: &Path) -> Result<(), SaveMapError> {
        format::save(self, path)
    }

    /// BLAKE3 hash of the map's content. Client and server have the same map if their hashes are
    /// equal.
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// The map's name: the source's file name without its ending.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// The sizes for which the map was compiled.
    pub fn sizes(&self) -> &[Size] {
        self.parts.spaces.sizes()
    }

    /// The size with this name.
    pub fn size(&self, name: &str) -> Option<SizeId> {
        self.parts.spaces.find(name)
    }

    /// Whether the map is sealed for this size: no box of this size gets from an entity to the
    /// void around the map. For such sizes the compiler makes the outside solid, unless
    /// [`CompileOptions::keep_outside`](crate::CompileOptions::keep_outside) is set.
    pub fn is_sealed_for(&self, size: SizeId) -> bool {
        self.parts.sealed.contains(size)
    }

    /// Whether the map is sealed for the bare point, as Quake's compilers demand. If the map has
    /// no such size, whether the map is sealed for every size.
    pub fn is_sealed(&self) -> bool {
        let spaces = &self.parts.spaces;
        match spaces.iter().find(|(_, size)| size.is_point()) {
            Some((point, _)) => self.is_sealed_for(point),
            None => spaces.iter().all(|(id, _)| self.is_sealed_for(id)),
        }
    }

    /// The sizes whose box is in solid if it is centred at `point`. Touching a surface does
    /// not count. Everything beyond [`UNIVERSE`] is solid, and so is a point with a coordinate
    /// that is not a number.
    ///
    /// ```
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// let point = map.size("point").expect("a default size");
    /// let large = map.size("large").expect("a default size");
    /// // The floor is at height 0, and a large box reaches 44 units down.
    /// let solidity = map.solidity(obsp::glam::Vec3::new(-400.0, -320.0, 30.0));
    /// assert!(!solidity.contains(point) && solidity.contains(large));
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    #[inline]
    pub fn solidity(&self, point: Vec3) -> Solidity {
        self.parts.onion.solidity(point)
    }

    /// The leaf of the onion BSP that contains `point`, and the sizes for which it is solid. A
    /// point exactly on a dividing plane belongs to the leaf in front of the plane. This leaf may
    /// be solid although the point only touches it and is empty by [`Map::solidity`]. `None`
    /// beyond [`UNIVERSE`].
    ///
    /// ```
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// let standing = map.size("standing").expect("a default size");
    /// let leaf = map.leaf(obsp::glam::Vec3::new(-400.0, -320.0, 60.0));
    /// assert!(leaf.is_some_and(|leaf| !leaf.solidity.contains(standing)));
    /// assert_eq!(map.leaf(obsp::glam::Vec3::splat(1e9)), None);
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    #[inline]
    pub fn leaf(&self, point: Vec3) -> Option<Leaf> {
        self.parts.onion.leaf(point)
    }

    /// Whether a box of this size, centred at `point`, is in solid.
    ///
    /// ```
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// let standing = map.size("standing").expect("a default size");
    /// let spawn = map.entities().iter().find(|e| e.classname() == "info_player_deathmatch");
    /// let origin = spawn.and_then(|e| e.origin()).expect("the arena has spawn points").as_vec3();
    /// assert!(!map.is_solid(standing, origin));
    /// assert!(map.is_solid(standing, origin - obsp::glam::Vec3::Z));
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    #[inline]
    pub fn is_solid(&self, size: SizeId, point: Vec3) -> bool {
        self.parts.onion.is_solid(size, point)
    }

    /// The surface nearest to a box of this size whose centre is at `point`, if it is within
    /// `radius` units. With this query a mover keeps a distance from surfaces that is larger than
    /// rounding.
    ///
    /// ```
    /// use obsp::Clearance;
    /// use obsp::glam::Vec3;
    ///
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// // A player whose feet are half a unit above the floor.
    /// let standing = map.size("standing").expect("a default size");
    /// let centre = Vec3::new(-400.0, -320.0, 28.5);
    /// match map.clearance(standing, centre, 1.0) {
    ///     Clearance::Near(near) => assert_eq!((near.distance, near.normal), (0.5, Vec3::Z)),
    ///     other => panic!("a floor is near: {other:?}"),
    /// }
    /// assert_eq!(map.clearance(standing, centre, 0.25), Clearance::Clear);
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    #[inline]
    pub fn clearance(&self, size: SizeId, point: Vec3, radius: f32) -> Clearance {
        let onion = &self.parts.onion;
        onion.clearance(onion.root(), size, point, radius)
    }

    /// The region of all positions that are no farther than `reach` from `centre` along each axis.
    /// Queries near one place cost less there.
    ///
    /// ```
    /// use obsp::glam::Vec3;
    ///
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// let standing = map.size("standing").expect("a default size");
    /// let start = Vec3::new(-400.0, -320.0, 60.0);
    /// let (end, region) = (start - Vec3::Z * 40.0, map.region(start, Vec3::splat(40.0)));
    /// let trace = region.find_first_transition(standing, start, end);
    /// assert_eq!(trace, map.find_first_transition(standing, start, end));
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    pub fn region(&self, centre: Vec3, reach: Vec3) -> Region<'_> {
        Region::new(&self.parts.onion, centre, reach)
    }

    /// The first contact of a box of this size while its centre moves from `start` to `end`
    /// (Golodetz 2013, Listing 5). Sliding exactly along a surface is not a contact. The segment is
    /// clipped to the map's extent by [`clip_to_extent`]: an end beyond [`UNIVERSE`] is moved to
    /// the edge of the extent. A start beyond it is in solid, and so is a segment with a coordinate
    /// that is not finite.
    ///
    /// ```
    /// use obsp::Trace;
    /// use obsp::glam::Vec3;
    ///
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// let standing = map.size("standing").expect("a default size");
    /// let start = Vec3::new(-400.0, -320.0, 60.0);
    /// match map.find_first_transition(standing, start, start - Vec3::Z * 100.0) {
    ///     Trace::Hit(hit) => assert_eq!((hit.point.z, hit.normal), (28.0, Vec3::Z)),
    ///     other => panic!("a floor is below: {other:?}"),
    /// }
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    #[inline]
    pub fn find_first_transition(&self, size: SizeId, start: Vec3, end: Vec3) -> Trace {
        let onion = &self.parts.onion;
        onion.trace(onion.root(), size, start, end)
    }

    /// The first contact of any convex body while its reference point moves from
    /// `start` to `end` (Melax 2000). The body never passes through a solid, and may be
    /// stopped too early at edges, within the bounds that
    /// [`CompileOptions::bevel_angle`](crate::CompileOptions::bevel_angle) sets. For the sizes of
    /// `spaces.toml` [`Map::find_first_transition`] is exact. The segment is clipped in the
    /// same way.
    ///
    /// ```
    /// use obsp::Trace;
    /// use obsp::body::Cylinder;
    /// use obsp::glam::Vec3;
    ///
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// let barrel = Cylinder::new(12.0, 20.0).expect("within the limits of bodies");
    /// let start = Vec3::new(-400.0, -320.0, 60.0);
    /// match map.cast(&barrel, start, start - Vec3::Z * 100.0) {
    ///     Trace::Hit(hit) => assert_eq!((hit.point.z, hit.normal), (20.0, Vec3::Z)),
    ///     other => panic!("a floor is below: {other:?}"),
    /// }
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    #[inline]
    pub fn cast(&self, body: &impl Support, start: Vec3, end: Vec3) -> Trace {
        self.parts.shift.trace(body, start, end, &mut ())
    }

    /// Whether a body at rest, with its reference point at `at`, is in solid, or so close to an
    /// edge that [`Map::cast`] would stop it.
    ///
    /// ```
    /// use obsp::body::Sphere;
    /// use obsp::glam::Vec3;
    ///
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// // A ball that lies on the floor touches it, and one a unit lower overlaps it.
    /// let ball = Sphere::new(8.0).expect("within the limits of bodies");
    /// assert!(!map.overlaps(&ball, Vec3::new(-400.0, -320.0, 8.0)));
    /// assert!(map.overlaps(&ball, Vec3::new(-400.0, -320.0, 7.0)));
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    #[inline]
    pub fn overlaps(&self, body: &impl Support, at: Vec3) -> bool {
        self.parts.shift.overlaps(body, at, &mut ())
    }

    /// The tree behind [`Map::cast`].
    // Public for the benchmarks only, which count the branches that a query visits.
    #[doc(hidden)]
    pub fn shift_tree(&self) -> &ShiftTree {
        &self.parts.shift
    }

    /// The surface of the union of all solids, as convex polygons, each with
    /// a sphere around it. It is for drawing only: bodies collide with [`Map::solids`].
    pub fn polygons(&self) -> &[Polygon] {
        self.parts.surface.polygons()
    }

    /// The polygons of the surface, each with the face that it is a part of.
    pub(crate) fn surface(&self) -> &Surface {
        &self.parts.surface
    }

    /// The box around all solids; empty if there are none.
    pub fn bounds(&self) -> Aabb {
        self.solid_tree.bounds()
    }

    /// The static world's convex solids, unexpanded.
    pub fn solids(&self) -> &[ConvexSolid] {
        &self.parts.solids
    }

    /// Calls `visit` with the index of every solid whose bounding box overlaps or touches
    /// `bounds`, in an order that depends only on the map.
    ///
    /// ```
    /// use obsp::geometry::Aabb;
    /// use obsp::glam::DVec3;
    ///
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// // A box whose lower half is in the floor, and that nothing else touches.
    /// let bounds = Aabb::from_centre(DVec3::new(-400.0, -320.0, 0.0), DVec3::splat(16.0));
    /// let mut highest = f64::NEG_INFINITY;
    /// map.solids_touching(&bounds, |index| {
    ///     highest = highest.max(map.solids()[index as usize].bounds().max.z);
    /// });
    /// assert!(highest.abs() < 0.001);
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    #[inline]
    pub fn solids_touching(&self, bounds: &Aabb, visit: impl FnMut(u32)) {
        self.solid_tree.overlapping(bounds, visit);
    }

    /// All entities, in the order of the source.
    pub fn entities(&self) -> &[MapEntity] {
        &self.parts.entities
    }

    /// The numbers of the map's parts.
    pub fn counts(&self) -> MapCounts {
        MapCounts {
            onion_nodes: self.parts.onion.nodes().len(),
            onion_leaves: self.parts.onion.nodes().len() + 1,
            onion_depth_max: self.parts.onion.depth().max,
            onion_depth_mean: self.parts.onion.depth().mean,
            shift_nodes: self.parts.shift.branches().len(),
            polygons: self.parts.surface.polygons().len(),
            solids: self.parts.solids.len(),
            entities: self.parts.entities.len(),
            liquids: self.liquids().len(),
        }
    }
}
