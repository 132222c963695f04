//! Compiled worlds against brute force over the expanded brushes.

mod judge;
mod random_worlds;
mod real_maps;
