//! Paths of the project's binaries and of its library for C.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The path of the binary with this name. The binaries are built first if they are not up to date,
/// which happens where this package is tested alone. Each test process runs Cargo only once,
/// because Cargo takes half a second even if there is nothing to build.
///
/// # Panics
/// If the build fails.
pub fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| build(&[])).join(name)
}

/// The folder with the client library for C, built like [`program`].
///
/// # Panics
/// If the build fails.
pub fn c_library() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| build(&["--package", "obsp-client-c"])).clone()
}

/// Builds the binaries and the packages `more` with the same features; returns their folder.
fn build(more: &[&str]) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    // target/PROFILE/deps/TEST
    let folder = test.ancestors().nth(2).unwrap();
    let release = folder.file_name().is_some_and(|name| name == "release");
    let built = cargo()
        .args(["build", "--quiet", "--package", "server", "--package", "client-bot"])
        .args(more)
        .args(release.then_some("--release"))
        .arg("--target-dir")
        .arg(folder.parent().unwrap_or(Path::new("target")))
        .status();
    assert!(built.unwrap().success(), "cargo cannot build the programs; see its output above");
    folder.to_owned()
}

/// A `cargo` command that does not compile the dependencies of the tests again.
///
/// Cargo sets environment variables for tests, some of them only because this package has a build
/// script. The build script of `ring` depends on these variables. If this command kept them, it
/// would rebuild `ring` and all that depends on it, and the next command without them would do so
/// again.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    let of_package = |name: &str| {
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "OUT_DIR"
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(of_package)) {
        cargo.env_remove(name);
    }
    cargo
}
