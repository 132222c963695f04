//! The body of an `.obsp` file: a map as records that bincode encodes.
//!
//! Decoding checks everything that queries rely on, because anyone can compute the right hash of a
//! hostile body.

use bincode::{BorrowDecode, Encode};
use glam::{DVec3, Vec3};

use super::error::{FormatError, MAX_BYTES};
use super::list::List;
use super::shift::ShiftRecord;
use super::surface::SurfaceRecord;
use crate::geometry::{ConvexSolid, Face, Plane};
use crate::map::onion::{Child, Node, OnionTree, Solidity};
use crate::map::{MapEntity, MapParts};
use crate::spaces::{Size, Spaces};

/// Maximum number of faces per stored solid, whose check takes faces × vertices steps. The compiler
/// accepts no brush with more faces.
pub(crate) const MAX_FACES: usize = 1024;
/// By Euler's formula a convex solid has less than twice as many vertices as faces.
const MAX_VERTICES: usize = 2 * MAX_FACES;

const CONFIG: bincode::config::Configuration<
    bincode::config::LittleEndian,
    bincode::config::Varint,
    bincode::config::Limit<MAX_BYTES>,
> = bincode::config::standard().with_limit::<MAX_BYTES>();

pub(super) fn encode(record: &impl Encode) -> Vec<u8> {
    // Encoding to memory fails only for locks and borrows, and these records have none.
    bincode::encode_to_vec(record, CONFIG).expect("plain records encode")
}

/// The record at the start of `bytes`, and the bytes after it.
pub(super) fn decode<'a, T: BorrowDecode<'a, ()>>(
    bytes: &'a [u8],
) -> Result<(T, &'a [u8]), FormatError> {
    let (record, read) =
        bincode::borrow_decode_from_slice(bytes, CONFIG).map_err(FormatError::Body)?;
    Ok((record, &bytes[read..]))
}

#[derive(Encode, BorrowDecode)]
struct SizeRecord<'a> {
    name: &'a str,
    half_extents: [f32; 3],
}

#[derive(Encode, BorrowDecode)]
struct NodeRecord {
    normal: [f32; 3],
    distance: f32,
    children: [u32; 2],
}

#[derive(Encode, BorrowDecode)]
struct FaceRecord {
    normal: [f64; 3],
    distance: f64,
    vertices: List<u16>,
}

#[derive(Encode, BorrowDecode)]
pub(super) struct SolidRecord {
    vertices: List<[f64; 3]>,
    faces: List<FaceRecord>,
}

#[derive(Encode, BorrowDecode)]
struct EntityRecord<'a> {
    pairs: List<(&'a str, &'a str)>,
    solids: List<SolidRecord>,
}

/// A whole map, in the form in which it is stored.
#[derive(Encode, BorrowDecode)]
pub(in crate::map) struct Body<'a> {
    name: &'a str,
    sizes: List<SizeRecord<'a>>,
    root: u32,
    nodes: List<NodeRecord>,
    sealed: u32,
    shift: ShiftRecord,
    surface: SurfaceRecord,
    solids: List<SolidRecord>,
    entities: List<EntityRecord<'a>>,
}

impl<'a> Body<'a> {
    pub(in crate::map) fn of(map: &'a MapParts) -> Self {
        let size = |s: &'a Size| SizeRecord { name: &s.name, half_extents: s.half_extents.into() };
        let node = |n: &Node| NodeRecord {
            normal: n.normal.into(),
            distance: n.distance,
            children: [n.front.bits(), n.back.bits()],
        };
        let entity = |e: &'a MapEntity| EntityRecord {
            pairs: List(e.pairs.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()),
            solids: SolidRecord::all(&e.solids),
        };
        Self {
            name: &map.name,
            sizes: List(map.spaces.sizes().iter().map(size).collect()),
            root: map.onion.root().bits(),
            nodes: List(map.onion.nodes().iter().map(node).collect()),
            sealed: map.sealed.bits(),
            shift: ShiftRecord::of(&map.shift),
            surface: SurfaceRecord::of(&map.surface),
            solids: SolidRecord::all(&map.solids),
            entities: List(map.entities.iter().map(entity).collect()),
        }
    }

    pub(in crate::map) fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    /// The body at the start of `bytes`, and the bytes after it.
    pub(super) fn decode(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), FormatError> {
        decode(bytes)
    }

    pub(super) fn into_parts(self) -> Result<MapParts, FormatError> {
        let size = |s: SizeRecord<'_>| Size {
            name: s.name.to_owned(),
            half_extents: Vec3::from(s.half_extents),
        };
        let node = |n: NodeRecord| {
            let [front, back] = n.children.map(Child::from_bits);
            Node::new(Vec3::from(n.normal), n.distance, front, back)
        };
        let spaces = Spaces::new(self.sizes.0.into_iter().map(size).collect())
            .map_err(FormatError::Sizes)?;
        let nodes = self.nodes.0.into_iter().map(node).collect();
        let onion =
            OnionTree::new(Child::from_bits(self.root), nodes).map_err(FormatError::Tree)?;
        let count = spaces.sizes().len();
        let sealed = Solidity::of_sizes(self.sealed, count).ok_or(FormatError::Sealed)?;
        let solids = SolidRecord::into_solids(self.solids)?;
        let shift = self.shift.into_tree().map_err(FormatError::Shift)?;
        let surface = self.surface.into_surface(&solids)?;
        let mut entities = Vec::with_capacity(self.entities.0.len());
        for entity in self.entities.0 {
            let own = |(k, v): (&str, &str)| (k.to_owned(), v.to_owned());
            entities.push(MapEntity {
                pairs: entity.pairs.0.into_iter().map(own).collect(),
                solids: SolidRecord::into_solids(entity.solids)?,
            });
        }
        let name = self.name.to_owned();
        Ok(MapParts { name, spaces, onion, sealed, shift, surface, solids, entities })
    }
}

impl SolidRecord {
    fn all(solids: &[ConvexSolid]) -> List<Self> {
        List(solids.iter().map(Self::of).collect())
    }

    pub(super) fn of(solid: &ConvexSolid) -> Self {
        let face = |f: &Face| FaceRecord {
            normal: f.plane.normal.into(),
            distance: f.plane.distance,
            vertices: List(f.vertices.clone()),
        };
        Self {
            vertices: List(solid.vertices().iter().map(|v| v.to_array()).collect()),
            faces: List(solid.faces().iter().map(face).collect()),
        }
    }

    fn into_solids(records: List<Self>) -> Result<Vec<ConvexSolid>, FormatError> {
        let solid = |(i, record): (usize, Self)| record.into_solid().ok_or(FormatError::Solid(i));
        records.0.into_iter().enumerate().map(solid).collect()
    }

    pub(super) fn into_solid(self) -> Option<ConvexSolid> {
        if self.faces.0.len() > MAX_FACES || self.vertices.0.len() > MAX_VERTICES {
            return None;
        }
        let vertices = self.vertices.0.into_iter().map(DVec3::from).collect();
        let face = |f: FaceRecord| Face {
            plane: Plane { normal: DVec3::from(f.normal), distance: f.distance },
            vertices: f.vertices.0,
        };
        ConvexSolid::from_parts(vertices, self.faces.0.into_iter().map(face).collect()).ok()
    }
}
