//! Games from outside of the crate: the arena game and small games of these tests play on small
//! maps.

mod arena;
mod callbacks;
mod drawn;
mod drawn_doors;
#[allow(dead_code, reason = "each crate asks for numbers of other kinds")]
#[path = "../../../../tests/extremes/mod.rs"]
mod extremes;
mod hostile;
mod items;
mod numbers;
mod saved;
mod sizes;
mod volumes;
