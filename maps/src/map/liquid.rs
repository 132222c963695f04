//! The liquids of a map: convex volumes that stop nothing, and can be swum in.
//!
//! The compiler makes them of the brushes of liquids. No two of them overlap, so a body's share in
//! a liquid is the sum of its shares in the volumes.

use std::fmt;

use glam::DVec3;

use super::Map;
use crate::box_tree::BoxTree;
use crate::geometry::{Aabb, ConvexSolid};

/// Maximum number of liquid volumes of a map, after the compiler has divided them.
pub(crate) const MAX_LIQUIDS: usize = 16_384;

/// A kind of liquid, in the order of harm. Where brushes of liquids overlap, the most harmful kind
/// counts, as in Quake II.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiquidKind {
    /// Harms nobody who has air.
    Water,
    /// Burns slowly.
    Slime,
    /// Burns fast.
    Lava,
}

impl LiquidKind {
    /// Every kind, in order.
    pub const ALL: [Self; 3] = [Self::Water, Self::Slime, Self::Lava];

    /// The kind's name: `water`, `slime` or `lava`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Water => "water",
            Self::Slime => "slime",
            Self::Lava => "lava",
        }
    }

    /// The number that stands for the kind in a file.
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }

    /// The kind with this number.
    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

impl fmt::Display for LiquidKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One convex volume of a liquid.
#[derive(Clone, Debug, PartialEq)]
pub struct Liquid {
    kind: LiquidKind,
    solid: ConvexSolid,
}

impl Liquid {
    pub(crate) fn new(kind: LiquidKind, solid: ConvexSolid) -> Self {
        Self { kind, solid }
    }

    /// The kind of liquid.
    pub fn kind(&self) -> LiquidKind {
        self.kind
    }

    /// The volume that the liquid fills. Solids of the world may reach into it.
    pub fn solid(&self) -> &ConvexSolid {
        &self.solid
    }

    /// The box around the volume.
    pub fn bounds(&self) -> &Aabb {
        self.solid.bounds()
    }

    /// Whether `point` lies inside or on the volume.
    pub fn contains(&self, point: DVec3) -> bool {
        self.bounds().contains(point) && self.solid.contains(point)
    }
}

/// The liquids of a map, and the tree that finds them.
#[derive(Clone, Debug, Default)]
pub(super) struct Liquids {
    volumes: Vec<Liquid>,
    tree: BoxTree,
}

impl Liquids {
    pub(super) fn new(volumes: Vec<Liquid>) -> Self {
        let boxes: Vec<Aabb> = volumes.iter().map(|liquid| *liquid.bounds()).collect();
        Self { volumes, tree: BoxTree::new(&boxes) }
    }

    pub(super) fn volumes(&self) -> &[Liquid] {
        &self.volumes
    }
}

impl Map {
    /// The liquids of the map, as volumes that do not overlap each other. Most maps have none.
    pub fn liquids(&self) -> &[Liquid] {
        self.liquids.volumes()
    }

    /// The liquid at `point`; `None` if there is none. A point on the common face of two volumes is
    /// in the more harmful one. The solids of the world do not count, so a place in a wall may be
    /// in a liquid.
    ///
    /// ```
    /// use obsp::LiquidKind;
    /// use obsp::glam::DVec3;
    ///
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp"))?;
    /// // The pit in the middle of the arena is wet up to twelve units above its ground.
    /// let ground = DVec3::new(0.0, 0.0, -128.0);
    /// assert_eq!(map.liquid_at(ground + DVec3::Z * 6.0), Some(LiquidKind::Water));
    /// assert_eq!(map.liquid_at(ground + DVec3::Z * 13.0), None);
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    #[inline]
    pub fn liquid_at(&self, point: DVec3) -> Option<LiquidKind> {
        if self.liquids.volumes.is_empty() {
            return None;
        }
        let mut found = None;
        self.liquids.tree.each_where(
            |bounds| bounds.contains(point),
            |index| {
                let liquid = &self.liquids.volumes[index as usize];
                if liquid.solid.contains(point) {
                    found = found.max(Some(liquid.kind));
                }
            },
        );
        found
    }

    /// Calls `visit` with the index in [`Map::liquids`] of every liquid whose bounding box overlaps
    /// or touches `bounds`, in an order that depends only on the map.
    #[inline]
    pub fn liquids_touching(&self, bounds: &Aabb, visit: impl FnMut(u32)) {
        self.liquids.tree.overlapping(bounds, visit);
    }
}
