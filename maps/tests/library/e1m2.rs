//! Quake's e1m2. A light in the tip of a narrow recess also touches the outside.
//!
//! The map is sealed for all sizes, as id's tools say. In an earlier version, `mapc verify` called
//! 57,670 of the answers wrong, because the oracle's flood started at that light and the compiler's
//! flood did not. Both now follow one definition of the outside (COMPILER.md).

use std::io::Write;
use std::path::{Path, PathBuf};

use obsp::verify::OneSize;
use obsp::{CompileOptions, Sealing, Source, Spaces, compile};
use oracle::Random;
use oracle::brushes::Solids;
use oracle::map_text;
use oracle::verify::Judge;

/// The map, which is not part of the repository. Without it, the function says so and returns
/// `None`.
fn map() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/maps");
    let path = folder.join("id-gpl/e1m2.map");
    if path.exists() {
        return Some(path);
    }
    let skipped = format!("there is no {}; nothing was tested on it", path.display());
    let needed = std::env::var_os("ARENA_NEED_SHARED").is_some_and(|value| value == "1");
    assert!(!needed, "{skipped}");
    // `eprintln!` would be captured, and not shown for tests that pass.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
    None
}

#[test]
fn e1m2() {
    let Some(path) = map() else { return };
    let source = Source::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let (spaces, options) = (Spaces::default(), CompileOptions::default());
    let compiled = compile(&source, &spaces, &options, &mut |_, _, _| {});
    let compiled = compiled.unwrap_or_else(|error| panic!("{error}"));
    for (size, sealing) in spaces.sizes().iter().zip(&compiled.report.sealings) {
        assert_eq!(*sealing, Sealing::Sealed, "{}", size.name);
    }
    let text = std::fs::read_to_string(&path).expect("the compiler has read it");
    let entities = map_text::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let solids = Solids::new(&entities);
    for (id, size) in spaces.iter() {
        let judge = Judge::new(&entities, &solids, size.half_extents.to_array().map(f64::from));
        assert!(!judge.flood().leaks(), "{}: the oracle says that the map leaks", size.name);
        let subject = OneSize { map: &compiled.map, size: id };
        let mut random = Random::new(id.index() as u64);
        let points = judge.points(&subject, 20_000, &mut random);
        let traces = judge.traces(&subject, 1_000, &mut random);
        for wrong in [points.wrong, traces.wrong, traces.stray] {
            assert_eq!(wrong.count, 0, "{}: {:?}", size.name, wrong.shown);
        }
        assert!(points.filled > 0, "{}: the outside was not filled", size.name);
    }
}
