//! Compiled worlds against brute force over the expanded brushes, and filled
//! worlds against bare ones.

mod capacity;
mod filling;
mod judge;
mod random_worlds;
mod real_maps;
mod thin;
