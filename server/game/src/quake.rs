//! Families of Quake's map entities, which any game can use. Each family has a file and works by the
//! operations of [`WorldMut`](crate::WorldMut) alone: a game asks for the families that it wants.
//!
//! `items` has what players pick up.

pub mod items;
