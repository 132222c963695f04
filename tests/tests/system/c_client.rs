//! The client library for C, as `client-bot/client-c/install` installs it: the examples, compiled
//! by the system's C compiler, play on a real server. If the compiler has AddressSanitizer, it
//! checks the examples and, through the allocator, all memory that the library hands out and takes
//! back.
//!
//! * `installed`: a program outside of the repository, built by pkg-config and by CMake.
//! * `level`: the map, the sizes and the models that a program in C is given.

mod installed;
mod level;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tests::harness::{ServerProcess, c_library, own_map};

const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../client-bot/client-c")
}

/// The folder into which the library is installed, once for all tests. The library is built in the
/// profile of the tests, because a second build of all crates would take minutes.
fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_installed");
        let _ = std::fs::remove_dir_all(&prefix);
        let mut install = Command::new(package().join("install"));
        install.arg("--built").arg(c_library()).arg(&prefix);
        let installed = install.output().expect("the script can be started");
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        prefix
    })
}

fn compile(compiler: &str, source: &Path, to: &Path, options: &[&str]) -> Option<Output> {
    let mut command = Command::new(compiler);
    command.args(options).arg(source).arg("-I").arg(prefix().join("include"));
    let library = prefix().join("lib");
    let library_path = format!("-Wl,-rpath,{}", library.display());
    command.arg("-L").arg(&library).args(["-lobsp_client", &library_path, "-o"]).arg(to);
    command.output().ok()
}

/// The example `walk`, compiled once for all tests.
fn example() -> Option<&'static Path> {
    static EXAMPLE: OnceLock<Option<PathBuf>> = OnceLock::new();
    EXAMPLE.get_or_init(|| compile_example("walk")).as_deref()
}

/// The example with this name. Without a C compiler, this prints that there is none, and returns
/// `None`.
fn compile_example(name: &str) -> Option<PathBuf> {
    let strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-g"];
    let source = package().join(format!("examples/{name}.c"));
    let example = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let Some(plain) = compile("cc", &source, &example, &strict) else {
        skipped("there is no C compiler called cc");
        return None;
    };
    assert!(plain.status.success(), "{}", String::from_utf8_lossy(&plain.stderr));
    let sanitized = compile("cc", &source, &example, &[&strict[..], &SANITIZERS].concat());
    if !sanitized.is_some_and(|compiled| compiled.status.success()) {
        skipped("this C compiler has no AddressSanitizer");
        let _ = compile("cc", &source, &example, &strict);
    }
    Some(example)
}

/// Prints that a test skips. `eprintln!` would be captured, and not shown for tests that pass.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

fn run(example: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let ran = Command::new(example).args(arguments).output().unwrap();
    let text = [ran.stdout, ran.stderr].concat();
    (ran.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn the_c_example_plays_and_leaves_and_nothing_leaks() {
    let Some(example) = example() else { return };
    let arena = own_map("arena.obsp");
    let server = ServerProcess::start(&["--map", arena.to_str().unwrap()]);
    let address = server.udp.to_string();
    let maps = own_map("");
    // The map comes from a folder, then from the server.
    let name = format!("localhost:{}", server.udp.port());
    for (server, folder) in [(&address, Some(maps.to_str().unwrap())), (&name, None)] {
        let arguments: Vec<&str> = [Some(&**server), folder].into_iter().flatten().collect();
        let (code, said) = run(example, &arguments);
        assert_eq!(code, Some(0), "{said}");
        for expected in ["joined on the map arena", "walker is in the match", "all agreed"] {
            assert!(said.contains(expected), "the example does not print {expected:?}:\n{said}");
        }
        assert!(said.contains("prop ") && said.ends_with("left\n"), "{said}");
    }
    server.logged("the client said goodbye");
}

#[test]
fn the_c_example_says_what_is_wrong() {
    let Some(example) = example() else { return };
    let (code, said) = run(example, &["nonsense"]);
    assert!(
        code == Some(2) && said.contains("\"nonsense\" is not the address of a server"),
        "{said}"
    );
    let (code, said) = run(example, &["192.0.2.1:4433"]);
    assert!(code == Some(2) && said.contains("needs a pin"), "{said}");
    let (code, said) = run(example, &["127.0.0.1:9"]);
    assert!(code == Some(1) && said.contains("no server answers"), "{said}");
}

/// The header must also compile as C++, for Unreal and Godot.
#[test]
fn the_header_compiles_as_cpp() {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("header.cpp");
    let program = "#include \"obsp_client.h\"\n\
                   int main() { return obsp_protocol_version() > 0 ? 0 : 1; }\n";
    std::fs::write(&source, program).unwrap();
    let to = source.with_extension("");
    let Some(compiled) = compile("c++", &source, &to, &["-Wall", "-Wextra", "-Werror"]) else {
        return skipped("there is no C++ compiler called c++");
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    assert!(Command::new(to).status().unwrap().success());
}
