//! Compiled maps are compared with brute force over the expanded brushes, and filled
//! maps with unfilled ones.

mod capacity;
mod filling;
mod judge;
mod random_worlds;
mod real_maps;
mod thin;
