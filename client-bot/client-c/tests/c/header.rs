//! The committed header is the one that cbindgen generates from the sources. Its comments are for
//! readers who have nothing except the header.

use std::path::Path;

use cbindgen::{Builder, Config};

const RENEW: &str = "RENEW_HEADER=1 cargo test -p obsp-client-c header";

/// The folder of the package.
fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The header of the sources.
fn generated() -> String {
    let package = package();
    let config = Config::from_file(package.join("cbindgen.toml")).expect("a valid configuration");
    // cbindgen finds the modules through this file, in order.
    let builder = Builder::new().with_src(package.join("src/lib.rs"));
    let bindings = builder.with_config(config).generate().expect("cbindgen can read the sources");
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    String::from_utf8(generated).expect("the generated header is UTF-8")
}

#[test]
fn the_header_is_the_one_of_the_sources() {
    let generated = generated();
    let path = package().join("include/obsp_client.h");
    if std::env::var_os("RENEW_HEADER").is_some_and(|value| value == "1") {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines = generated.lines().zip(committed.lines()).enumerate();
    let differs = lines.find(|(_, (generated, committed))| generated != committed);
    assert!(
        generated == committed,
        "{}: it differs from the header generated from the sources{}. Renew it: {RENEW}",
        path.display(),
        differs.map_or(String::new(), |(line, _)| format!(", from line {} on", line + 1)),
    );
}

/// The sources' comments become the header's comments, and readers of the header have neither the
/// sources nor rustdoc.
#[test]
fn the_header_refers_to_nothing_of_rust() {
    for (index, line) in generated().lines().enumerate() {
        for sign in [".rs", "::", "[`", "`]", "Rust", "rustdoc", "crate"] {
            assert!(!line.contains(sign), "line {} has {sign:?}: {line}", index + 1);
        }
    }
}
