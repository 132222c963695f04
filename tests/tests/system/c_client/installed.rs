//! A program outside of the repository is built with the installed library: by pkg-config and by
//! CMake, with the shared library and the static one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::harness::{ServerProcess, own_map};

use super::{package, prefix, run, skipped};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The version in the library's name. As long as the major version is 0, the minor one is part of
/// it.
const ABI: &str = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));

/// Maximum size in bytes of the shared library without symbols: 6 MB in a release. A test
/// in the development profile builds no release, because that would take minutes. In this profile
/// few crates are optimised, so it has a bound of its own.
const MOST_BYTES: u64 = if cfg!(debug_assertions) { 8_000_000 } else { 6_000_000 };

/// A folder outside of the repository with the examples alone. It is removed when dropped.
struct Outside(PathBuf);

impl Outside {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("obsp-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for the program can be made");
        for file in ["walk.c", "level.c", "CMakeLists.txt"] {
            let from = package().join("examples").join(file);
            fs::copy(from, folder.join(file)).expect("the example can be copied");
        }
        Self(folder)
    }

    /// Runs a line of the shell in the folder, with the installed library.
    fn sh(&self, line: &str) {
        let mut shell = Command::new("sh");
        shell.args(["-euc", line]).current_dir(&self.0).env("PREFIX", prefix());
        let ran = shell.output().expect("the shell can be started");
        let said = [ran.stdout, ran.stderr].concat();
        assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&said));
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether these programs are installed. If not, prints the first one that is missing.
///
/// # Panics
/// If a program is missing, and `ARENA_NEED_CMAKE=1` is set.
fn has(programs: &[&str]) -> bool {
    let starts = |program: &&&str| Command::new(program).arg("--version").output().is_ok();
    let Some(absent) = programs.iter().find(|program| !starts(program)) else { return true };
    let needed = std::env::var_os("ARENA_NEED_CMAKE").is_some_and(|value| value == "1");
    let why = format!("there is no {absent}, so no program is built with the installed library");
    assert!(!needed, "{why}");
    skipped(&why);
    false
}

/// The shared libraries that a program or a library asks for, and its own name.
fn dynamic(file: &Path) -> String {
    let read = Command::new("readelf").arg("-d").arg(file).output();
    String::from_utf8(read.expect("readelf can be started").stdout).expect("UTF-8")
}

/// Plays with a program, and checks that it asks for the shared library exactly if `is_shared`.
fn play(program: &Path, is_shared: bool) {
    let asks = dynamic(program).contains(&format!("[libobsp_client.so.{ABI}]"));
    assert_eq!(asks, is_shared, "{}: {}", program.display(), dynamic(program));
    let arena = own_map("arena.obsp");
    let server = ServerProcess::start(&["--map", arena.to_str().unwrap()]);
    let (code, said) = run(program, &[&server.udp.to_string()]);
    assert_eq!(code, Some(0), "{}: {said}", program.display());
    assert!(said.starts_with("map arena "), "{said}");
}

#[test]
fn pkg_config_builds_a_program_shared_and_static() {
    if !has(&["cc", "pkg-config", "readelf"]) {
        return;
    }
    let outside = Outside::new("pkg-config");
    outside.sh("export PKG_CONFIG_PATH=\"$PREFIX/lib/pkgconfig\"
        cc level.c -o shared $(pkg-config --cflags --libs obsp-client) \
            -Wl,-rpath,$(pkg-config --variable=libdir obsp-client)
        cc level.c -o static $(pkg-config --cflags --libs obsp-client-static)
        pkg-config --static --libs obsp-client | grep -q -e -lm");
    play(&outside.0.join("shared"), true);
    play(&outside.0.join("static"), false);
}

#[test]
fn cmake_builds_a_program_shared_and_static() {
    if !has(&["cc", "cmake", "readelf"]) {
        return;
    }
    let outside = Outside::new("cmake");
    outside.sh("cmake -S . -B build -DCMAKE_PREFIX_PATH=\"$PREFIX\" && cmake --build build");
    play(&outside.0.join("build/level"), true);
    play(&outside.0.join("build/level_static"), false);
}

/// The library's name has the version of its ABI, and the library without symbols is small.
#[test]
fn the_shared_library_has_a_name_with_a_version_and_is_small() {
    if !has(&["readelf"]) {
        return;
    }
    let file = prefix().join(format!("lib/libobsp_client.so.{VERSION}"));
    let dynamic = dynamic(&file);
    let name = format!("libobsp_client.so.{ABI}");
    assert!(dynamic.contains(&format!("soname: [{name}]")), "{dynamic}");
    for link in ["libobsp_client.so", &name] {
        let target = fs::canonicalize(prefix().join("lib").join(link)).expect("a link");
        assert_eq!(target, fs::canonicalize(&file).expect("the library"), "{link}");
    }
    let bytes = fs::metadata(&file).expect("the library").len();
    assert!(
        bytes <= MOST_BYTES,
        "{}: it has {bytes} bytes; at most {MOST_BYTES} are allowed. A new dependency may be the \
         cause: cargo tree -p obsp-client-c -e normal",
        file.display()
    );
}
