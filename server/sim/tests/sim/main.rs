//! The simulation from outside: bodies in liquids, and extreme numbers from callers.

mod buoyancy;
#[path = "../../../game/tests/game/drawn.rs"]
mod drawn;
#[allow(dead_code, reason = "each crate asks for numbers of other kinds")]
#[path = "../../../../tests/extremes/mod.rs"]
mod extremes;
mod numbers;
