//! The library from outside: models, real maps, messages and extreme numbers.

mod brush_models;
#[cfg(feature = "verify")]
mod e1m2;
#[path = "../../../tests/extremes/mod.rs"]
#[allow(dead_code, reason = "each crate uses other kinds of numbers")]
mod extremes;
mod messages;
mod numbers;
