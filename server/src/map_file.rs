//! From the name of a map to the map: found by path or by name, loaded if it
//! is compiled, compiled if it is drawn.

mod find;
mod load;

pub(crate) use find::{find, folders};
pub use load::load;
pub(crate) use load::{game_file, load_with_file, read_source};
