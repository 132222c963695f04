//! Models that are drawn in a map: the brushes of an entity, as one body.
//!
//! The convex parts are the brushes as they are drawn, which may touch or overlap. So players and
//! bodies meet exactly the planes of the brushes.

use glam::DVec3;
use thiserror::Error;

use super::{BodyKind, Material, Model, mass, obj};
use crate::compile::{MIN_THICKNESS, too_thin};
use crate::geometry::{Aabb, ConvexSolid, Plane, Polygon, PolygonBsp, Winding, union_surface};

/// The entity of a map whose brushes are a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// Content hash of the map.
    pub map: [u8; 32],
    /// Index of the entity in [`Map::entities`](crate::Map::entities).
    pub entity: usize,
    /// The point of the map about which the model is made. A body at this place that is not turned
    /// lies where the brushes are drawn.
    pub place: DVec3,
}

/// The reason why the brushes of an entity are no model.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{name}, entity {entity} of class {class}: {fault}")]
pub struct BrushModelError {
    /// Name of the model.
    pub name: String,
    /// Index of the entity in [`Map::entities`](crate::Map::entities).
    pub entity: usize,
    /// Class of the entity.
    pub class: String,
    /// The reason.
    pub fault: BrushModelFault,
}

/// A fault of brushes that are to be a model.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BrushModelFault {
    /// The entity has no brushes.
    #[error("it has no brushes that could be a model; draw some, and tie them to the entity")]
    NoBrushes,
    /// The entity is of another map.
    #[error("it is not of this map; take it from Map::entities of the map that is played")]
    OfOtherMap,
    /// The brushes have more faces, or corners of faces, than a model may have.
    #[error(
        "its brushes have {faces} faces with {corners} corners; at most {} with {} are allowed: \
         use simpler brushes, or make several entities of them",
        obj::MAX_POLYGONS,
        obj::MAX_CORNERS
    )]
    TooComplex {
        /// Number of faces of all brushes together.
        faces: usize,
        /// Number of corners of these faces.
        corners: usize,
    },
    /// The brushes cross each other so often that their surface has too many pieces.
    #[error(
        "its brushes cross each other so often that their surface has more than {} pieces: let \
         them touch instead of cross, or make several entities of them",
        obj::MAX_POLYGONS
    )]
    CrossTooOften,
    /// The brushes reach too far from the point about which the model is made.
    #[error(
        "its brushes reach {reach} units from {place}, about which it turns; at most {} are \
         allowed: make several entities of it, or move its origin nearer",
        obj::REACH
    )]
    OutOfReach {
        /// Greatest distance of a corner along an axis, in units.
        reach: f64,
        /// The point about which the model is made.
        place: DVec3,
    },
    /// A brush is too thin to stop anything surely.
    #[error(
        "one of its brushes is only {thickness} units thick; at least {MIN_THICKNESS} are needed: \
         make the brush thicker, or delete it"
    )]
    TooThin {
        /// Thickness of the brush, in units.
        thickness: f64,
    },
}

impl Model {
    /// The kinematic model of an entity's brushes, about `origin` or, without one, about the middle
    /// of the box around the brushes, rounded to whole units.
    pub(crate) fn of_brushes(
        name: String,
        (map, entity): ([u8; 32], usize),
        brushes: &[ConvexSolid],
        origin: Option<DVec3>,
    ) -> Result<Self, BrushModelFault> {
        let bounds = brushes.iter().fold(Aabb::EMPTY, |all, brush| all.union(*brush.bounds()));
        if brushes.is_empty() {
            return Err(BrushModelFault::NoBrushes);
        }
        let faces = || brushes.iter().flat_map(ConvexSolid::faces);
        let (count, corners) = (faces().count(), faces().map(|face| face.vertices.len()).sum());
        if count > obj::MAX_POLYGONS || corners > obj::MAX_CORNERS {
            return Err(BrushModelFault::TooComplex { faces: count, corners });
        }
        // Whole numbers are exact on the wire, so clients see the brushes where they are drawn.
        let place = origin.unwrap_or_else(|| bounds.centre().round());
        let reach = (bounds.min - place).abs().max((bounds.max - place).abs()).max_element();
        if reach > obj::REACH {
            return Err(BrushModelFault::OutOfReach { reach, place });
        }
        if let Some(thin) = brushes.iter().find(|brush| too_thin(brush).is_some()) {
            return Err(BrushModelFault::TooThin { thickness: thin.thickness() });
        }
        let parts: Vec<ConvexSolid> = brushes.iter().map(|brush| brush.moved(-place)).collect();
        let surface =
            union_surface(&parts, obj::MAX_POLYGONS).ok_or(BrushModelFault::CrossTooOften)?;
        let windings: Vec<Winding> = surface.iter().map(|(_, winding)| winding.clone()).collect();
        let mass = mass::integrate(&windings);
        let polygon = |(plane, winding): (Plane, Winding)| Polygon::new(winding, plane);
        let bsp = match &parts[..] {
            [part] => Some(PolygonBsp::of_convex(part, surface.len())),
            _ => None,
        };
        let corners = || parts.iter().flat_map(|part| part.vertices().iter().copied());
        Ok(Self {
            name,
            source: "".into(),
            drawn: Some(Drawn { map, entity, place }),
            material: Material::USUAL,
            kind: BodyKind::Kinematic,
            radius: corners().map(DVec3::length).fold(0.0, f64::max),
            bounds: Aabb::around(corners()),
            polygons: surface.into_iter().map(polygon).collect(),
            bsp,
            parts,
            volume: mass.volume,
            inertia: mass.inertia,
        })
    }
}
