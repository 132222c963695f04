//! Turns the name of a map into the map. The file is found by its path or by its name. A compiled
//! map (`.obsp`) is loaded as it is; a drawn one (`.map`) is compiled first.

mod find;
mod load;

pub(crate) use find::{find, folders};
pub use load::load;
pub(crate) use load::{game_file, load_with_file, read_source};
