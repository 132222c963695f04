//! Rigid polyhedra: the shapes of everything that moves, except the boxes of players.
//!
//! A model is a Wavefront OBJ file in `maps/models/`. Its units are the map's units, and every face
//! is a convex polygon. The module `shapes` makes such texts from points and sizes.
//! [`Model::from_obj`] checks that the surface is closed, oriented outward, made of flat convex
//! polygons and does not intersect itself. Then it integrates the mass properties, moves the centre
//! of mass to the origin, and cuts the inside into convex parts by a polygon BSP. Polygons and
//! parts describe exactly the same solid: collision tests use the parts. Models that are drawn in a
//! map have the brushes of their entity as their parts (`brushes`).

mod brushes;
mod crossing;
mod error;
mod mass;
mod material;
mod obj;
mod shapes;
mod surface;

use std::sync::Arc;

use glam::{DMat3, DVec3};

use crate::geometry::{self, Aabb, ConvexSolid, DegenerateSolid, Plane, PolygonBsp, Winding};
use crate::text;

pub use crate::geometry::Polygon;
pub use brushes::{BrushModelError, BrushModelFault, Drawn};
pub use error::{FaceFault, ModelError};
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

/// A rigid polyhedron about its centre of mass, in units. A model that is drawn in a map is instead
/// about the point that [`Model::drawn`] returns.
#[derive(Clone, Debug)]
pub struct Model {
    name: String,
    source: Arc<str>,
    drawn: Option<Drawn>,
    material: Material,
    kind: BodyKind,
    polygons: Vec<Polygon>,
    bsp: Option<PolygonBsp>,
    parts: Vec<ConvexSolid>,
    volume: f64,
    inertia: DMat3,
    radius: f64,
    bounds: Aabb,
}

/// Largest relative difference between the volume of the parts and the volume of the surface.
const VOLUME_TOLERANCE: f64 = 1e-7;

/// Largest difference between these volumes for each square unit of the surface, in units. It
/// allows for the tolerance of planes and corners, and exceeds [`VOLUME_TOLERANCE`] on models of
/// less than 60 units. The volume of any part is far greater than both.
const FACE_TOLERANCE: f64 = 1e-6;

/// A convex model of more polygons than this takes the corners of its part from its polygons. A
/// smaller model cuts its part out of space by its planes. This rounds the corners a little
/// differently, and digests of matches depend on the rounding.
const LARGE: usize = 128;

/// Maximum number of polygons at all nodes of a concave model's tree together. A surface with folds
/// everywhere would otherwise take minutes, and fill the memory with the pieces of its polygons.
/// 1,024 polygons never come near this number unless each plane cuts hundreds of others.
const MAX_STEPS: usize = 1 << 20;

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
        let surface: Vec<(Plane, Winding)> =
            polygons.iter().map(|polygon| (polygon.plane, polygon.winding.clone())).collect();
        let whole = (surface.len() > LARGE).then(|| geometry::inside(&surface)).flatten();
        let jagged = || ModelError::TooJagged { model: name.to_owned(), polygons: polygons.len() };
        let bsp = match &whole {
            Some(solid) => PolygonBsp::of_convex(solid, surface.len()),
            None => PolygonBsp::build_within(surface, MAX_STEPS).ok_or_else(jagged)?,
        };
        let area: f64 = polygons.iter().map(|polygon| polygon.winding.area()).sum();
        let parts = convex_parts(name, &bsp, whole, (mass.volume, area))?;
        let corners = || polygons.iter().flat_map(|p| p.winding.vertices.iter().copied());
        Ok(Self {
            name: name.to_owned(),
            source: text.into(),
            drawn: None,
            material: Material::USUAL,
            kind: BodyKind::Dynamic,
            radius: corners().map(DVec3::length).fold(0.0, f64::max),
            bounds: Aabb::around(corners()),
            polygons,
            bsp: Some(bsp),
            parts,
            volume: mass.volume,
            inertia: mass.inertia,
        })
    }

    /// The name of the model in map keys and logs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The OBJ text of the model. Another program can read the same shape from it. It is empty for
    /// a model that is drawn in a map.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The place of a model that is drawn in a map ([`Map::model_of`](crate::Map::model_of));
    /// `None` for other models.
    pub fn drawn(&self) -> Option<&Drawn> {
        self.drawn.as_ref()
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

    /// This model with bodies that forces and contacts move, like the bodies of an OBJ text. The
    /// centre of mass is the point about which the model is made: for a model that is drawn in a
    /// map, the entity's origin or the middle of its box.
    ///
    /// ```
    /// let model = obsp::model::shipped().remove(0);
    /// assert!(!model.as_kinematic().as_dynamic().is_kinematic());
    /// ```
    #[must_use]
    pub fn as_dynamic(self) -> Self {
        Self { kind: BodyKind::Dynamic, ..self }
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

    /// Whether two models have the same name, shape, material and kind.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.source, &self.drawn, self.material, self.kind)
            == (&other.name, &other.source, &other.drawn, other.material, other.kind)
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

    /// The solid-leaf BSP of the surface; `None` for a model that is drawn in a map as several
    /// brushes.
    pub fn bsp(&self) -> Option<&PolygonBsp> {
        self.bsp.as_ref()
    }

    /// Convex parts that fill the surface exactly. A convex model has one part. Parts may touch.
    /// They overlap only if they are brushes that overlap in a map.
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

/// The convex parts of a surface: only `whole`, if the surface is known to have no other part.
fn convex_parts(
    name: &str,
    bsp: &PolygonBsp,
    whole: Option<ConvexSolid>,
    (volume, area): (f64, f64),
) -> Result<Vec<ConvexSolid>, ModelError> {
    let broken = |detail: String| ModelError::Nested { model: name.to_owned(), detail };
    let cells = || {
        let cells = bsp.solid_cells();
        cells.iter().map(|planes| ConvexSolid::from_planes(planes)).collect()
    };
    let parts: Result<Vec<ConvexSolid>, DegenerateSolid> =
        whole.map_or_else(cells, |whole| Ok(vec![whole]));
    let parts = parts.map_err(|e| broken(format!("one of them is not valid: {e}")))?;
    let sum: f64 = parts.iter().map(ConvexSolid::volume).sum();
    if (sum - volume).abs() > (volume * VOLUME_TOLERANCE).max(area * FACE_TOLERANCE) {
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
