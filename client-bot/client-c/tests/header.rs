//! The committed header is the one that cbindgen generates from the sources.

use std::path::Path;

use cbindgen::{Builder, Config};

const RENEW: &str = "RENEW_HEADER=1 cargo test -p obsp-client-c --test header";

#[test]
fn the_header_is_the_one_of_the_sources() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config::from_file(package.join("cbindgen.toml")).expect("a valid configuration");
    // cbindgen finds the modules through this file, in order.
    let builder = Builder::new().with_src(package.join("src/lib.rs"));
    let bindings = builder.with_config(config).generate().expect("sources that can be read");
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    let generated = String::from_utf8(generated).expect("a header in UTF-8");

    let path = package.join("include/obsp_client.h");
    if std::env::var_os("RENEW_HEADER").is_some_and(|value| value == "1") {
        std::fs::write(&path, &generated).expect("a file that can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines = generated.lines().zip(committed.lines()).enumerate();
    let differs = lines.find(|(_, (generated, committed))| generated != committed);
    assert!(
        generated == committed,
        "{}: it is not the header of the sources{}. Renew it: {RENEW}",
        path.display(),
        differs.map_or(String::new(), |(line, _)| format!(" from line {} on", line + 1)),
    );
}
