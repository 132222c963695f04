//! What the integration tests share: seeded randomness, where maps lie, what
//! must hold of those that ship, and a crowd of players to run about in them.

mod crowd;
mod drawing;
pub mod near;
pub mod pages;
mod pem;
mod program;
mod server_process;
mod shipped;

use std::io::Write;
use std::path::{Path, PathBuf};

pub use ::oracle::Random;
pub use crowd::{Wanderer, crowd_shapes, placed};
pub use drawing::Drawing;
pub use obsp::verify::OneSize;
pub use pem::{base64, pem};
pub use program::program;
pub use server_process::ServerProcess;
pub use shipped::ShippedMap;

/// A map of this project, by its path inside `maps/`.
pub fn own_map(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../maps").join(name)
}

/// A map that nobody here drew, by its path inside `../shared/maps/` beside
/// the checkout. Such maps are used in place and not part of the repository,
/// so where they are absent this says loudly what is not tested, and gives
/// `None`.
///
/// # Panics
/// If it is absent and `ARENA_NEED_SHARED=1` says that it must not be.
pub fn foreign_map(name: &str) -> Option<PathBuf> {
    shared(&format!("maps/{name}"))
}

/// A file or folder inside `../shared/` beside the checkout; for the rest as
/// [`foreign_map`].
///
/// # Panics
/// If it is absent and `ARENA_NEED_SHARED=1` says that it must not be.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(name);
    if path.exists() {
        return Some(path);
    }
    let skipped = format!("there is no {}; nothing was tested on it", path.display());
    let needed = std::env::var_os("ARENA_NEED_SHARED").is_some_and(|value| value == "1");
    assert!(!needed, "{skipped}");
    // Not `eprintln!`, which is captured, and never shown of a test that passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
    None
}

/// A number that the environment may set, so that a test can be run longer
/// than there is time for after every push.
///
/// # Panics
/// If it is set to anything but a number.
pub fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |value| {
        value.parse().unwrap_or_else(|_| panic!("{name}={value}: not a number"))
    })
}

/// Compiles a map for the default sizes.
///
/// # Panics
/// If it does not compile.
pub fn compile(path: &Path) -> obsp::World {
    let options = obsp::Options::default();
    let compiled = obsp::Source::read(path).and_then(|source| {
        obsp::compile(&source, &obsp::Spaces::default(), &options, &mut |_, _, _| {})
    });
    compiled.unwrap_or_else(|error| panic!("{error}")).world
}
