//! Shared parts of the integration tests: seeded randomness, paths of maps, checks of the
//! shipped maps, a crowd of players, server processes, and the library for C.

mod administrators;
mod crowd;
mod exact_judge;
mod lateness;
mod map_builder;
pub mod near;
pub mod pages;
mod pem;
pub mod prefix_proxy;
mod program;
mod server_process;
mod shipped;

use std::io::Write;
use std::path::{Path, PathBuf};

pub use ::oracle::Random;
pub use administrators::Administrators;
pub use crowd::{Wanderer, crowd_shapes, placed};
pub use exact_judge::{ExactJudge, Form, drawn_number, number_of};
pub use lateness::{Lateness, undisturbed};
pub use map_builder::MapBuilder;
pub use obsp::verify::OneSize;
pub use pem::{base64, pem};
pub use program::{c_library, cargo, program};
pub use server_process::ServerProcess;
pub use shipped::ShippedMap;

/// A map of this project, by its path inside `maps/`.
pub fn own_map(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../maps").join(name)
}

/// A map of another project, by its path inside `../shared/maps/` beside the checkout. These maps
/// are not part of the repository. If the map is absent, this prints that nothing was tested on it
/// and returns `None`.
///
/// # Panics
/// If the map is absent and `ARENA_NEED_SHARED=1` is set.
pub fn foreign_map(name: &str) -> Option<PathBuf> {
    shared(&format!("maps/{name}"))
}

/// A file or folder inside `../shared/` beside the checkout; otherwise like [`foreign_map`].
///
/// # Panics
/// If the file is absent and `ARENA_NEED_SHARED=1` is set.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(name);
    if path.exists() {
        return Some(path);
    }
    let skipped = format!("there is no {}; nothing was tested on it", path.display());
    let needed = std::env::var_os("ARENA_NEED_SHARED").is_some_and(|value| value == "1");
    assert!(!needed, "{skipped}, although ARENA_NEED_SHARED=1 is set");
    // The test harness captures `eprintln!`, and does not show it for tests that pass.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
    None
}

/// The number in an environment variable, or `default`. Larger numbers make a test run for longer
/// than in CI.
///
/// # Panics
/// If the variable is set and not a number.
pub fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |value| {
        value.parse().unwrap_or_else(|_| panic!("{name}={value}: not a number"))
    })
}

/// Compiles a map for the default sizes.
///
/// # Panics
/// If the map does not compile.
pub fn compile(path: &Path) -> obsp::Map {
    let options = obsp::CompileOptions::default();
    let compiled = obsp::Source::read(path).and_then(|source| {
        obsp::compile(&source, &obsp::Spaces::default(), &options, &mut |_, _, _| {})
    });
    compiled.unwrap_or_else(|error| panic!("{error}")).map
}
