//! Reads OBJ text into polygons. Only the range of their coordinates is checked.
//!
//! Of the format, only vertices and faces matter. Names, materials, normals and texture coordinates
//! are skipped. After a backslash a statement goes on in the next line. A comment may follow a
//! statement.

mod words;

use glam::DVec3;

use super::ModelError;
use crate::geometry::Winding;
use words::{Word, statements};

pub use words::ObjPlace;

/// Maximum coordinate of a model, in units: the default map is 2,048 units across.
pub(super) const REACH: f64 = 1024.0;

/// Maximum number of polygons per model. The hull of 4,096 points has fewer. Every test of a body
/// visits all corners of its convex parts, so even this many are far too many for most games.
pub(super) const MAX_POLYGONS: usize = 8192;

/// Maximum number of corners of all polygons together. By Euler's formula, [`MAX_POLYGONS`]
/// polygons have fewer than six times as many corners, unless some corners lie within edges.
pub(super) const MAX_CORNERS: usize = 8 * MAX_POLYGONS;

/// A fault of the text, and the word that shows the fault.
struct Fault<'a> {
    at: Word<'a>,
    reason: &'static str,
}

/// Statements for shapes other than polygons, each with the reason why it is refused and the way
/// out.
const OTHERS: [(&str, &str); 5] =
    [("p", LOOSE), ("l", LOOSE), ("curv", CURVED), ("curv2", CURVED), ("surf", CURVED)];

/// The corners of a face: words, each with the vertex that it means.
type Corners<'a> = Vec<(Word<'a>, i64)>;

/// The vertices and faces of a text.
#[derive(Default)]
struct Read<'a> {
    vertices: Vec<[f32; 3]>,
    /// The vertices count from 0, and may be out of range.
    faces: Vec<Corners<'a>>,
}

const NUMBER: &str = "a coordinate is not a number";
const COORDINATES: &str = "a vertex has three coordinates, and may have a weight or a colour";
const WEIGHT: &str = "the weight of a vertex is a number other than 0";
const INDEX: &str = "a corner of a face is the number of a vertex, and may have the numbers of a \
                     texture coordinate and a normal behind slashes";
const NO_VERTEX: &str = "no vertex has this number";
const LOOSE: &str = "points and lines enclose nothing: leave them out of the model";
const CURVED: &str = "curves and curved surfaces are not read: divide them into polygons";

pub(super) fn read(name: &str, text: &str) -> Result<Vec<Winding>, ModelError> {
    let syntax = |Fault { at, reason }: Fault<'_>| ModelError::Syntax {
        model: name.to_owned(),
        place: Some(at.place()),
        reason: reason.to_owned(),
    };
    let mut read = Read::default();
    for statement in statements(text) {
        let other = statement.first().and_then(|keyword| {
            let (_, reason) = OTHERS.iter().find(|(other, _)| *other == keyword.text)?;
            Some((keyword.place(), *reason))
        });
        if let Some((place, reason)) = other {
            return Err(ModelError::NoPolygon { model: name.to_owned(), place, reason });
        }
        read.add(&statement).map_err(syntax)?;
    }
    let Read { vertices, faces } = read;
    if faces.is_empty() {
        let first = statements(text).next().and_then(|words| words.first().map(Word::line_place));
        return Err(ModelError::NoFaces {
            model: name.to_owned(),
            vertices: vertices.len(),
            first,
        });
    }
    let polygons = faces.len();
    let corners: usize = faces.iter().map(Vec::len).sum();
    if polygons > MAX_POLYGONS || corners > MAX_CORNERS {
        return Err(ModelError::TooComplex { model: name.to_owned(), polygons, corners });
    }
    let mut windings = Vec::with_capacity(polygons);
    for face in faces {
        let corner = |(at, index): (Word<'_>, i64)| {
            let vertex = usize::try_from(index).ok().and_then(|index| vertices.get(index));
            let vertex = vertex.ok_or_else(|| syntax(Fault { at, reason: NO_VERTEX }))?;
            within_reach(name, *vertex)
        };
        let vertices = face.into_iter().map(corner).collect::<Result<Vec<_>, _>>()?;
        windings.push(Winding { vertices });
    }
    Ok(windings)
}

fn within_reach(name: &str, vertex: [f32; 3]) -> Result<DVec3, ModelError> {
    // Adding zero turns a negative zero into zero, so equal corners have equal bits.
    let vertex = DVec3::from(vertex.map(f64::from)) + DVec3::ZERO;
    if vertex.abs().cmple(DVec3::splat(REACH)).all() {
        Ok(vertex)
    } else {
        Err(ModelError::OutOfReach { model: name.to_owned(), vertex })
    }
}

impl<'a> Read<'a> {
    fn add(&mut self, statement: &[Word<'a>]) -> Result<(), Fault<'a>> {
        let [keyword, words @ ..] = statement else { return Ok(()) };
        match keyword.text {
            "v" => self.vertex(*keyword, words),
            "f" => self.face(*keyword, words),
            _ => Ok(()),
        }
    }

    fn vertex(&mut self, keyword: Word<'a>, words: &[Word<'a>]) -> Result<(), Fault<'a>> {
        let number =
            |at: &Word<'a>, reason| at.text.parse::<f32>().map_err(|_| Fault { at: *at, reason });
        let whole = Fault { at: keyword.whole_line(), reason: COORDINATES };
        let (coordinates, more) = words.split_at_checked(3).unwrap_or((words, &[]));
        let mut vertex = [0.0; 3];
        for (value, word) in vertex.iter_mut().zip(coordinates) {
            *value = number(word, NUMBER)?;
        }
        match (coordinates.len(), more) {
            (3, []) => (),
            (3, [weight]) => {
                let fault = Fault { at: *weight, reason: WEIGHT };
                let weight = number(weight, WEIGHT)?;
                if weight == 0.0 {
                    return Err(fault);
                }
                vertex = vertex.map(|value| value / weight);
            }
            // Editors write three or four numbers of a colour.
            (3, [_, _, _] | [_, _, _, _]) => {
                more.iter().try_for_each(|word| number(word, COORDINATES).map(drop))?;
            }
            _ => return Err(whole),
        }
        self.vertices.push(vertex);
        Ok(())
    }

    fn face(&mut self, keyword: Word<'a>, words: &[Word<'a>]) -> Result<(), Fault<'a>> {
        if words.is_empty() {
            return Err(Fault { at: keyword, reason: INDEX });
        }
        let above = self.vertices.len() as i64;
        let corner = |word: &Word<'a>| {
            let fault = Fault { at: *word, reason: INDEX };
            let mut parts = word.text.split('/');
            let Some(Ok(index)) = parts.next().map(str::parse::<i64>) else { return Err(fault) };
            let others: Vec<&str> = parts.collect();
            let whole = |part: &&str| part.is_empty() || part.parse::<i64>().is_ok();
            if others.len() > 2 || !others.iter().all(whole) {
                return Err(fault);
            }
            // Numbers count from 1, or backwards from the vertices above.
            let index = if index < 0 { above.saturating_add(index) } else { index - 1 };
            Ok((*word, index))
        };
        self.faces.push(words.iter().map(corner).collect::<Result<_, _>>()?);
        Ok(())
    }
}
