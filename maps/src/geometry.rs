//! Planes, boxes, windings and convex solids, in `f64` map units.
//!
//! Everything that is exact at compile time is built from these types. Brushes are
//! [`ConvexSolid`]s, expansion moves their [`Plane`]s, and the moving world separates its convex
//! parts with the same type.

mod aabb;
mod convex_solid;
mod convex_surface;
pub(crate) mod hull;
mod plane;
mod polygon;
mod polygon_bsp;
mod polyhedron;
mod union_surface;
mod winding;

pub use aabb::Aabb;
pub use convex_solid::{ConvexSolid, DegenerateSolid, Face};
pub(crate) use convex_surface::inside;
pub use plane::Plane;
pub use polygon::Polygon;
pub use polygon_bsp::{Child, Node, PolygonBsp};
pub(crate) use union_surface::union_surface;
pub use winding::Winding;
