//! Programs of this project, as their users start them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The binary of this name, built with the other one as `.ci/run` does: then
/// there is nothing left to build here. Whoever tests only this package has not
/// built it yet.
///
/// # Panics
/// If it does not build.
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    // target/PROFILE/deps/TEST
    let folder = test.ancestors().nth(2).unwrap();
    let release = folder.file_name().is_some_and(|name| name == "release");
    let mut cargo = Command::new(env!("CARGO"));
    // What cargo tells a test about its package: `ring` looks at it when it is
    // built, and everything above it would be built anew.
    let of_package =
        |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(of_package)) {
        cargo.env_remove(name);
    }
    let built = cargo
        .args(["build", "--quiet", "--package", "server", "--package", "client-bot"])
        .args(release.then_some("--release"))
        .arg("--target-dir")
        .arg(folder.parent().unwrap_or(Path::new("target")))
        .status();
    assert!(built.unwrap().success(), "{name} does not build");
    folder.join(name)
}
