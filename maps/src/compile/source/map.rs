//! A map as written: entities with their keys and brushes.

use glam::DVec3;

use super::curves::Curve;
use super::layers::OmittedLayers;
use crate::compile::game_form::RecognisedForm;

/// The whole map.
pub(in crate::compile) struct SourceMap {
    pub(in crate::compile) form: RecognisedForm,
    /// The parts that are not in `entities`, because their layers are omitted from export.
    pub(in crate::compile) omitted: Option<OmittedLayers>,
    pub(in crate::compile) entities: Vec<SourceEntity>,
    /// The lines of curves that are left out on request.
    pub(in crate::compile) left_out: Vec<u64>,
    /// The lines of curves that are malformed or would need too many solids.
    pub(in crate::compile) unreadable: Vec<u64>,
}

/// An entity as written.
pub(in crate::compile) struct SourceEntity {
    /// Line of the opening brace of the entity.
    pub(in crate::compile) line: u64,
    pub(in crate::compile) pairs: Vec<(String, String)>,
    pub(in crate::compile) brushes: Vec<SourceBrush>,
}

impl SourceEntity {
    /// The value of a key: the last value if the key is repeated, and the empty text if the key is
    /// missing.
    pub(in crate::compile) fn get(&self, key: &str) -> &str {
        self.pairs.iter().rev().find(|(k, _)| k == key).map_or("", |(_, value)| value)
    }
}

/// A brush as written.
pub(in crate::compile) struct SourceBrush {
    /// Line of the opening brace of the brush.
    pub(in crate::compile) line: u64,
    pub(in crate::compile) faces: Vec<SourceFace>,
}

/// A half-space as written. The solid lies behind the plane through the three points, which run
/// clockwise seen from the front.
pub(in crate::compile) struct SourceFace {
    pub(in crate::compile) points: [DVec3; 3],
    pub(in crate::compile) texture: Texture,
}

/// A texture as written on a face.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::compile) struct Texture {
    pub(in crate::compile) name: String,
    /// The flags behind the alignment, which maps of Quake II and Quake III have.
    pub(in crate::compile) flags: Option<Flags>,
}

impl From<&str> for Texture {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), flags: None }
    }
}

/// The flags of a face. A third number in the text, the value, is about light and is not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::compile) struct Flags {
    pub(in crate::compile) contents: u32,
    pub(in crate::compile) surface: u32,
}

/// A curve of the source.
#[derive(Debug)]
pub(super) struct CurveText {
    /// Line of the opening brace of the curve.
    pub(super) line: u64,
    /// Index of the entity that the curve belongs to.
    pub(super) entity: usize,
    /// The curve, if it could be read.
    pub(super) curve: Option<Curve>,
}
