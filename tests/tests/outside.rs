//! A game outside the workspace: `tests/outside/gravity_gun` depends on the crates by their paths
//! and changes nothing in them. It has tests of its own, which compile and play it.

use std::path::Path;
use std::process::Command;

#[test]
fn a_weapon_and_a_body_from_outside_of_the_workspace_are_played() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = Command::new(cargo)
        .args(["test", "--locked", "--manifest-path"])
        .arg(root.join("tests/outside/gravity_gun/Cargo.toml"))
        .arg("--target-dir")
        .arg(root.join("target/outside"))
        .output()
        .expect("cargo runs");
    let told = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(run.status.success(), "{}\n{}", told[0], told[1]);
    assert!(told[0].contains("2 passed"), "the game's own two tests must pass: {}", told[0]);
}
