//! Geometry of moving convex parts, without entities: where bodies are (`pose`), which parts they
//! have (`shape`), how heavy they are (`mass`), how they spin (`top`), how much of them is in a
//! volume (`submersion`), where liquids flow (`currents`), how far apart two parts are
//! (`separation`), which point of a body is nearest (`nearest`), which bodies may be near each
//! other (`grid`), which pairs cheap tests prove apart (`cascade`), and when two moving parts first
//! come too near (`time_of_impact`).

pub(crate) mod cascade;
pub(crate) mod currents;
pub(crate) mod distances;
pub(crate) mod grid;
pub(crate) mod mass;
pub(crate) mod nearest;
pub(crate) mod oriented_box;
pub(crate) mod pose;
pub(crate) mod rounded_box;
pub(crate) mod separation;
pub(crate) mod shape;
pub(crate) mod submersion;
pub(crate) mod time_of_impact;
pub(crate) mod top;
