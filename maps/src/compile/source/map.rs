//! A map as written: entities with their keys and brushes.

use glam::DVec3;

/// The whole map.
#[derive(Default)]
pub(in crate::compile) struct SourceMap {
    pub(in crate::compile) entities: Vec<SourceEntity>,
    /// Lines on which curves begin that are left out on request.
    pub(in crate::compile) left_out: Vec<u64>,
    /// Lines on which curves begin that are malformed or would need too many solids.
    pub(in crate::compile) unreadable: Vec<u64>,
}

/// An entity as written.
pub(in crate::compile) struct SourceEntity {
    /// Line of its opening brace.
    pub(in crate::compile) line: u64,
    pub(in crate::compile) pairs: Vec<(String, String)>,
    pub(in crate::compile) brushes: Vec<SourceBrush>,
}

/// A brush as written.
pub(in crate::compile) struct SourceBrush {
    /// Line of its opening brace.
    pub(in crate::compile) line: u64,
    pub(in crate::compile) faces: Vec<SourceFace>,
}

/// A half-space as written: the solid lies behind the plane through the three
/// points, which run clockwise seen from the front.
pub(in crate::compile) struct SourceFace {
    pub(in crate::compile) points: [DVec3; 3],
    pub(in crate::compile) texture: String,
}
