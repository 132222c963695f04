//! The reasons why something is no model.

use glam::DVec3;
use thiserror::Error;

use super::obj;
use super::obj::ObjPlace;

/// Reasons why a text, or points and sizes, are not a valid model.
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
         {} are allowed: simplify its mesh, or divide the model into several",
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
    /// A point of a hull that is not finite, or too far from the others.
    #[error(
        "model {model}: point {index} is {point}, which is not a place within {} units of the \
         middle of all points; the points may be in other units: scale them down",
        obj::REACH
    )]
    BadPoint {
        /// Name of the model.
        model: String,
        /// Index of the point.
        index: usize,
        /// The point.
        point: DVec3,
    },
    /// The points of a hull have no volume between them.
    #[error(
        "model {model}: its {points} different points lie {span}, up to 1/2048 unit, so their hull \
         has no volume; the points may be in other units: scale them up, or add a point beside the \
         others"
    )]
    NoVolume {
        /// Name of the model.
        model: String,
        /// Number of different points.
        points: usize,
        /// Where all points lie.
        span: &'static str,
    },
    /// A number that a box, cylinder or ball may not have.
    #[error("model {model}: the {what} is {seen}, which is not between {least} and {most}")]
    BadSize {
        /// Name of the model.
        model: String,
        /// The meaning of the number.
        what: &'static str,
        /// The number.
        seen: f64,
        /// The least number that is allowed.
        least: f64,
        /// The greatest number that is allowed.
        most: f64,
    },
    /// The surface has so many folds that cutting it into convex parts would take too long.
    #[error(
        "model {model}.obj: its {polygons} polygons are not convex, and cutting them into convex \
         parts takes more than {} steps, which is the limit; the surface may be rough, or have \
         many folds: smooth it, use fewer polygons, or make several models of it",
        super::MAX_STEPS
    )]
    TooJagged {
        /// Name of the model.
        model: String,
        /// Number of polygons of the model.
        polygons: usize,
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
    /// More corners than a face may have.
    #[error(
        "of {corners} corners; at most {} are allowed: cut it into smaller polygons",
        super::surface::MAX_FACE_CORNERS
    )]
    TooManyCorners {
        /// Number of corners of the face.
        corners: usize,
    },
}
