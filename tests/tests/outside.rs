//! Games outside the workspace. `tests/outside/gravity_gun` depends on the crates by their paths
//! and changes nothing in them. It has tests of its own, which compile and play it. Another game is
//! written by `server new-game`.

use std::path::{Path, PathBuf};
use std::process::Command;

use tests::harness::{self, program};

/// A cargo command for the package of this folder, which finds its dependencies compiled.
///
/// The dependencies were compiled for the running tests, in the versions of the workspace. A
/// package outside the workspace uses the same artefacts if its profile is the same, so it gets the
/// workspace's profile. Cargo still compiles the crates of this repository again, because for it
/// they are crates of another workspace. They are not optimised, because this would take far longer
/// than the two small games do.
fn cargo(subcommand: &str, package: &Path) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).expect("it can be read");
    let manifest: toml::Table = manifest.parse().expect("cargo read it");
    let mut profile = manifest["profile"].clone();
    for own in ["obsp", "obsp-sim", "obsp-game", "obsp-proto", "obsp-oracle"] {
        profile["dev"]["package"][own]["opt-level"] = 0.into();
    }
    let profile = toml::Table::from_iter([("profile".into(), profile)]);
    let config = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("profile.toml");
    // Both tests write the same text, each to its own file, and then rename the file. So neither
    // reads a half-written file.
    let own = config.with_extension(subcommand);
    std::fs::write(&own, profile.to_string()).expect("there is room for a file");
    std::fs::rename(own, &config).expect("a file can be renamed");
    let mut cargo = harness::cargo();
    cargo
        .args([subcommand, "--config"])
        .arg(config)
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(root.join("target"));
    cargo
}

#[test]
fn a_weapon_and_a_body_from_outside_of_the_workspace_are_played() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("outside/gravity_gun");
    let run = cargo("test", &package).arg("--locked").output().expect("cargo runs");
    let told = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(run.status.success(), "{}\n{}", told[0], told[1]);
    assert!(told[0].contains("2 passed"), "the game's own two tests must pass: {}", told[0]);
}

#[test]
fn a_new_game_is_written_built_without_a_network_and_played() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let parent = std::env::temp_dir().join(format!("outside-{}", std::process::id()));
    std::fs::create_dir_all(&parent).expect("there is room for a folder");
    let written = Command::new(program("server"))
        .args(["new-game", "my-game", "--path"])
        .arg(root.canonicalize().expect("the repository is there"))
        .current_dir(&parent)
        .output()
        .expect("the server runs");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let package = parent.join("my-game");
    // With newer versions of the dependencies, Cargo would have to compile them first.
    std::fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).expect("it can be copied");
    let run = cargo("run", &package)
        .args(["--offline", "--", "--soak", "1200", "--json"])
        .output()
        .expect("cargo runs");
    let told = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let _ = std::fs::remove_dir_all(parent);
    assert!(run.status.success(), "{}\n{}", told[0], told[1]);
    let report: serde_json::Value = serde_json::from_str(&told[0]).expect("the report is JSON");
    assert_eq!(report["interpenetrations"], 0, "{report}");
    assert!(
        report["outcome"]["events"]["goal"].as_u64() > Some(0),
        "the scripted players scored no goal: {report}"
    );
}
