//! Finds and loads a map. Its file is found by its path or by its name. A compiled map (`.obsp`) is
//! loaded directly; a drawn map (`.map`) is compiled first.

mod find;
mod load;

pub(crate) use find::{find, find_named, folders};
pub use load::load;
pub(crate) use load::{game_file, load_with_file, read_source};
