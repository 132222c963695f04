//! Rigid polyhedra: the shapes of everything that moves, except the boxes of players.
//!
//! A model is a Wavefront OBJ file in `maps/models/`. Its units are the map's units, and every face
//! is a convex polygon. [`Model::from_obj`] checks that the surface is closed, oriented outward,
//! made of flat convex polygons and does not intersect itself. Then it integrates the mass
//! properties, moves the centre of mass to the origin, and cuts the inside into convex parts by a
//! polygon BSP. Polygons and parts describe exactly the same solid: collision tests use the parts.

mod crossing;
mod mass;
mod material;
mod obj;
mod surface;

use std::sync::Arc;

use glam::{DMat3, DVec3};
use thiserror::Error;

use crate::geometry::{Aabb, ConvexSolid, DegenerateSolid, Plane, PolygonBsp};
use crate::text;

pub use crate::geometry::Polygon;
pub use material::{Material, MaterialError};
pub use obj::ObjPlace;

/// How the bodies of a model move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// Bodies of the model move by gravity, contacts and impulses.
    #[default]
    Dynamic,
    /// Bodies of the model move only by the velocity that a game sets, like lifts, doors and
    /// platforms. No contact changes that velocity.
    Kinematic,
    /// Bodies of the model move by the rules of missiles, and players do not shove them.
    Missile,
}

/// A rigid polyhedron about its centre of mass, in units.
#[derive(Clone, Debug)]
pub struct Model {
    name: String,
    source: Arc<str>,
    material: Material,
    kind: BodyKind,
    polygons: Vec<Polygon>,
    bsp: PolygonBsp,
    parts: Vec<ConvexSolid>,
    volume: f64,
    inertia: DMat3,
    radius: f64,
    bounds: Aabb,
}

/// Reasons why a text is not a valid model.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ModelError {
    /// The text is not a Wavefront OBJ file.
    #[error(
        "model {model}.obj{}: this is not a readable OBJ file ({reason}); the file may be cut off, \
         or written by hand: export it again",
        at(.place)
    )]
    Syntax {
        /// Name of the model.
        model: String,
        /// The first place that cannot be read.
        place: Option<ObjPlace>,
        /// The fault at that place.
        reason: String,
    },
    /// The text has no face.
    #[error(
        "model {model}.obj{}: no faces and {vertices} vertices were found in the text; in a \
         Wavefront OBJ file, v x y z is a line for a vertex, and f 1 2 3 is a line for a face: \
         export the model as OBJ, with its faces",
        at(.first)
    )]
    NoFaces {
        /// Name of the model.
        model: String,
        /// Number of vertices in the text.
        vertices: usize,
        /// The first words of the text; none if it is empty.
        first: Option<ObjPlace>,
    },
    /// The text describes a shape by something other than vertices and polygons, such as a curve.
    #[error("model {model}.obj:{place}: {reason}")]
    NoPolygon {
        /// Name of the model.
        model: String,
        /// Place of the part.
        place: ObjPlace,
        /// The reason why it is refused, and the way out.
        reason: &'static str,
    },
    /// A coordinate is not a number, or too large.
    #[error(
        "model {model}.obj: vertex {vertex} is not within {} units of the origin; the model may \
         be drawn in other units: scale it down",
        obj::REACH
    )]
    OutOfReach {
        /// Name of the model.
        model: String,
        /// The vertex as read.
        vertex: DVec3,
    },
    /// The model has more polygons, or corners of polygons, than allowed.
    #[error(
        "model {model}.obj: it has {polygons} polygons with {corners} corners; at most {} with \
         {} are allowed: use fewer",
        obj::MAX_POLYGONS,
        obj::MAX_CORNERS
    )]
    TooComplex {
        /// Name of the model.
        model: String,
        /// Number of polygons of the model.
        polygons: usize,
        /// The number of their corners, all together.
        corners: usize,
    },
    /// An edge that does not join exactly two polygons, once in each direction.
    #[error(
        "model {model}.obj: edge {from} to {to} is used {uses} times in this direction and \
         {returns} times in the other; a closed surface uses each once: a face may be missing, \
         doubled or turned round there"
    )]
    OpenEdge {
        /// Name of the model.
        model: String,
        /// Start of the edge.
        from: DVec3,
        /// End of the edge.
        to: DVec3,
        /// Number of polygons that run along the edge from `from` to `to`.
        uses: usize,
        /// Polygons that run back.
        returns: usize,
    },
    /// A polygon that is not a flat convex polygon with an area.
    #[error("model {model}.obj: the face with edge {from} to {to} is {fault}")]
    BadFace {
        /// Name of the model.
        model: String,
        /// Start of the edge that shows the fault.
        from: DVec3,
        /// End of the edge.
        to: DVec3,
        /// The fault of the face.
        fault: FaceFault,
    },
    /// The surface encloses no volume, or is turned inside out.
    #[error(
        "model {model}.obj: its volume is {volume}, which is not above 0; its faces may look \
         inward: turn them round, so that they run counter-clockwise from outside"
    )]
    InsideOut {
        /// Name of the model.
        model: String,
        /// The signed volume, in cubic units.
        volume: f64,
    },
    /// An edge that meets a face without being part of its outline.
    #[error(
        "model {model}.obj: edge {from} to {to} meets the face around {face}; a surface must \
         not touch or cross itself: draw the two as one body, or apart"
    )]
    SelfIntersecting {
        /// Name of the model.
        model: String,
        /// Start of the edge.
        from: DVec3,
        /// End of the edge.
        to: DVec3,
        /// Middle of the face.
        face: DVec3,
    },
    /// Closed surfaces that contain the same space twice, or a hollow that is turned inside out. No
    /// faces cross, but the volumes of the parts do not add up.
    #[error(
        "model {model}.obj: its convex parts do not make up its volume ({detail}); \
         one of its bodies may lie inside another: move them apart; or some faces may be not \
         quite flat: divide them into triangles"
    )]
    Nested {
        /// Name of the model.
        model: String,
        /// The contradiction.
        detail: String,
    },
}

fn at(place: &Option<ObjPlace>) -> String {
    place.as_ref().map_or_else(String::new, |place| format!(":{place}"))
}

/// A fault of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FaceFault {
    /// Fewer than three corners, or all on one line.
    #[error("without area")]
    NoArea,
    /// The corners are not on one plane.
    #[error("not flat")]
    NotFlat,
    /// The outline turns the wrong way at a corner, or runs round more than once.
    #[error("not convex; cut it into convex polygons")]
    NotConvex,
}

/// Largest relative difference between the volume of the parts and the volume of the surface. The
/// tolerances of a small model's planes and corners leave such a difference. The volume of any part
/// is far greater.
const VOLUME_TOLERANCE: f64 = 1e-7;

impl Model {
    /// Reads a Wavefront OBJ file and checks that it is a solid. All objects and groups in the file
    /// are one model. Materials, normals and texture coordinates are ignored. A byte order mark is
    /// not part of the text.
    ///
    /// ```
    /// use obsp::model::{Model, ModelError};
    ///
    /// let text = "v 0 0 0\nv 6 0 0\nv 0 6 0\nv 0 0 6\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    /// let tetrahedron = Model::from_obj("tetrahedron", text)?;
    /// assert!((tetrahedron.volume() - 36.0).abs() < 1e-9);
    /// assert_eq!(tetrahedron.parts().len(), 1);
    ///
    /// // Without its last face the surface is open.
    /// let open = Model::from_obj("open", text.trim_end_matches("f 2 3 4\n"));
    /// assert!(matches!(open, Err(ModelError::OpenEdge { .. })));
    /// # Ok::<(), ModelError>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError`] says what is wrong, and where.
    pub fn from_obj(name: &str, text: &str) -> Result<Self, ModelError> {
        let text = text::without_mark(text);
        let mut windings = obj::read(name, text)?;
        let normals = surface::check(name, &windings)?;
        crossing::check(name, &windings, &normals)?;
        let mass = mass::integrate(&windings);
        if mass.volume <= 0.0 || mass.volume.is_nan() {
            return Err(ModelError::InsideOut { model: name.to_owned(), volume: mass.volume });
        }
        for vertex in windings.iter_mut().flat_map(|w| &mut w.vertices) {
            *vertex -= mass.centre;
        }
        let polygons: Vec<Polygon> = windings
            .into_iter()
            .zip(normals)
            .map(|(winding, normal)| {
                let plane = Plane::through(normal, winding.centre());
                Polygon::new(winding, plane)
            })
            .collect();
        let bsp =
            PolygonBsp::build(polygons.iter().map(|p| (p.plane, p.winding.clone())).collect());
        let parts = convex_parts(name, &bsp, mass.volume)?;
        let corners = || polygons.iter().flat_map(|p| p.winding.vertices.iter().copied());
        Ok(Self {
            name: name.to_owned(),
            source: text.into(),
            material: Material::USUAL,
            kind: BodyKind::Dynamic,
            radius: corners().map(DVec3::length).fold(0.0, f64::max),
            bounds: Aabb::around(corners()),
            polygons,
            bsp,
            parts,
            volume: mass.volume,
            inertia: mass.inertia,
        })
    }

    /// The name of the model in map keys and logs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The OBJ text of the model. Another program can read the same shape from it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// This model with another material.
    pub fn with_material(self, material: Material) -> Self {
        Self { material, ..self }
    }

    /// The material of the model's bodies.
    pub fn material(&self) -> Material {
        self.material
    }

    /// This model with missiles as its bodies. Players do not shove missiles.
    pub fn as_missile(self) -> Self {
        Self { kind: BodyKind::Missile, ..self }
    }

    /// This model with kinematic bodies: they move by the velocity that a game gives them,
    /// and no contact changes it.
    pub fn as_kinematic(self) -> Self {
        Self { kind: BodyKind::Kinematic, ..self }
    }

    /// How the model's bodies move.
    pub fn kind(&self) -> BodyKind {
        self.kind
    }

    /// Whether bodies of the model are missiles. Players do not shove missiles.
    pub fn is_missile(&self) -> bool {
        self.kind == BodyKind::Missile
    }

    /// Whether the model's bodies are kinematic.
    pub fn is_kinematic(&self) -> bool {
        self.kind == BodyKind::Kinematic
    }

    /// Whether two models have the same name, OBJ text, material and kind.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.source, self.material, self.kind)
            == (&other.name, &other.source, other.material, other.kind)
    }

    /// Whether the model is one of the [`shipped`] models, which every program contains.
    pub fn is_shipped(&self) -> bool {
        let shipped =
            SHIPPED.iter().find(|(name, text)| *name == self.name && *text == &*self.source);
        shipped.is_some() && (self.material, self.kind) == shipped_properties(&self.name)
    }

    /// The polygons of the surface.
    pub fn polygons(&self) -> &[Polygon] {
        &self.polygons
    }

    /// The solid-leaf BSP of the surface.
    pub fn bsp(&self) -> &PolygonBsp {
        &self.bsp
    }

    /// Convex parts that touch but do not overlap, and fill the surface exactly. A convex model has
    /// one part.
    pub fn parts(&self) -> &[ConvexSolid] {
        &self.parts
    }

    /// Volume in cubic units.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Inertia about the centre of mass for a mass of 1, in square units.
    pub fn inertia(&self) -> DMat3 {
        self.inertia
    }

    /// Maximum distance of the surface from the centre of mass, in units.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The smallest box in the model's own axes.
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }
}

fn convex_parts(name: &str, bsp: &PolygonBsp, volume: f64) -> Result<Vec<ConvexSolid>, ModelError> {
    let broken = |detail: String| ModelError::Nested { model: name.to_owned(), detail };
    let parts: Vec<ConvexSolid> = bsp
        .solid_cells()
        .iter()
        .map(|planes| ConvexSolid::from_planes(planes))
        .collect::<Result<_, DegenerateSolid>>()
        .map_err(|e| broken(format!("one of them is not valid: {e}")))?;
    let sum: f64 = parts.iter().map(ConvexSolid::volume).sum();
    if (sum - volume).abs() > volume * VOLUME_TOLERANCE {
        return Err(broken(format!("{sum} of {volume} cubic units")));
    }
    Ok(parts)
}

macro_rules! shipped_files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../models/", $name, ".obj")))),*]
    };
}

/// A model's index in this list is its `ModelId`, which is sent over the wire. So new models go to
/// the end.
const SHIPPED: [(&str, &str); 12] = shipped_files![
    "crate",
    "small_crate",
    "barrel",
    "plank",
    "l_block",
    "u_block",
    "rocket",
    "grenade",
    "hovertank",
    "cargo_box",
    "repair_pad",
    "star",
];

/// The names of the shipped models that a match may scatter at random. The others have a
/// role: vehicles, landing pads, projectiles.
pub const EVERYDAY: [&str; 8] =
    ["crate", "small_crate", "barrel", "plank", "l_block", "u_block", "cargo_box", "star"];

/// The material of a shipped model, and how its bodies move.
fn shipped_properties(name: &str) -> (Material, BodyKind) {
    match name {
        // A grenade bounces on for a while.
        "grenade" => (Material { restitution: 0.6, ..Material::USUAL }, BodyKind::Missile),
        "rocket" => (Material::USUAL, BodyKind::Missile),
        _ => (Material::USUAL, BodyKind::Dynamic),
    }
}

/// The models that ship, in the fixed order of their ids.
///
/// ```
/// let models = obsp::model::shipped();
/// assert_eq!(models[0].name(), "crate");
/// assert!(models.iter().all(|model| model.is_shipped() && model.volume() > 0.0));
/// ```
pub fn shipped() -> Vec<Model> {
    SHIPPED
        .iter()
        .map(|(name, text)| match Model::from_obj(name, text) {
            Ok(model) => {
                let (material, kind) = shipped_properties(name);
                Model { kind, ..model.with_material(material) }
            }
            // This cannot happen, because the texts are part of the binary, and a test loads each
            // of them.
            Err(error) => unreachable!("a shipped model is broken: {error}"),
        })
        .collect()
}

#[cfg(test)]
mod tests;
