//! The expanded brushes of one size, for an editor and for verification.

use std::fmt::Write;

use glam::DVec3;

use super::error::{BrushWarning, CompileError};
use super::expand::expanded;
use super::options::CompileOptions;
use super::parsed_map::ParsedMap;
use super::source::Source;
use crate::geometry::{ConvexSolid, Face};
use crate::spaces::Size;

/// The texture of all faces: a picture of `trenchbroom/textures`.
const TEXTURE: &str = "wall_plaster";

/// Distance in units between the points that a face's plane is written with. The farther apart they
/// are, the more exact the plane is.
const REACH: f64 = 64.0;

/// The static world for one size. A point outside these solids is the centre of a box that overlaps
/// no brush.
///
/// ```
/// use std::path::Path;
///
/// use obsp::glam::Vec3;
/// use obsp::{CompileOptions, Expansion, Size, Source};
///
/// let source = Source::read(Path::new("trenchbroom/initial.map"))?;
/// let size = Size { name: "crate".into(), half_extents: Vec3::splat(16.0) };
/// let expansion = Expansion::new(&source, &size, &CompileOptions::default())?;
/// // A room of six walls, the first of which is the floor, 544 by 544 units.
/// assert_eq!(expansion.solids.len(), 6);
/// assert!((expansion.solids[0].bounds().max.x - (272.0 + 16.0)).abs() < 1e-6);
/// # Ok::<(), obsp::CompileError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expansion {
    /// The expanded brushes, in the order of the source.
    pub solids: Vec<ConvexSolid>,
    /// For each solid, the line of its brush's opening brace.
    pub lines: Vec<u64>,
    /// Warnings about brushes and faces that were left out.
    pub warnings: Vec<BrushWarning>,
    /// The keys of every entity that has an origin.
    entities: Vec<Vec<(String, String)>>,
}

impl Expansion {
    /// Expands the solid brushes of a map by the box of one size.
    ///
    /// # Errors
    /// [`CompileError`] names the file, the line and the reason.
    pub fn new(
        source: &Source,
        size: &Size,
        options: &CompileOptions,
    ) -> Result<Self, CompileError> {
        let parsed = ParsedMap::read(source, options)?;
        let half_extents = size.half_extents.as_dvec3();
        let solid = || parsed.statics.iter().filter(|brush| !(brush.clip && size.is_point()));
        let lines = solid().map(|brush| brush.line).collect();
        let solids = solid().map(|brush| {
            expanded(&brush.solid, half_extents).map_err(|reason| CompileError::Expansion {
                path: source.path().to_owned(),
                line: brush.line,
                size: size.name.clone(),
                reason,
            })
        });
        let placed = parsed.entities.into_iter().filter(|entity| entity.origin().is_some());
        Ok(Self {
            solids: solids.collect::<Result<_, _>>()?,
            lines,
            warnings: parsed.warnings,
            entities: placed.map(|entity| entity.pairs).collect(),
        })
    }

    /// The text of a `.map` in Standard form, with these solids as the brushes
    /// of its map.
    pub fn to_map(&self) -> String {
        let mut text = String::from("// Game: obsp\n// Format: Standard\n");
        text += "{\n\"classname\" \"worldspawn\"\n";
        for solid in &self.solids {
            text += "{\n";
            for face in solid.faces() {
                for DVec3 { x, y, z } in points(solid, face) {
                    write!(text, "( {x} {y} {z} ) ").expect("a string grows");
                }
                writeln!(text, "{TEXTURE} 0 0 0 1 1").expect("a string grows");
            }
            text += "}\n";
        }
        text += "}\n";
        for pairs in &self.entities {
            text += "{\n";
            for (key, value) in pairs {
                writeln!(text, "\"{key}\" \"{value}\"").expect("a string grows");
            }
            text += "}\n";
        }
        text
    }
}

/// Three points of a face's plane, clockwise seen from outside. They are near the face,
/// and on whole coordinates if the plane allows it.
fn points(solid: &ConvexSolid, face: &Face) -> [DVec3; 3] {
    let normal = face.plane.normal;
    let centre = solid.winding(face).centre().round();
    // This order of operations keeps the distance of an axial plane exact to the last bit.
    let at = centre - normal * normal.dot(centre) + normal * face.plane.distance;
    let aside = if normal.z.abs() < 0.9 { DVec3::Z } else { DVec3::X };
    let along = normal.cross(aside).normalize() * REACH;
    // Adding zero turns minus zero into zero.
    [at + along, at, at + normal.cross(along)].map(|point| point + 0.0)
}
