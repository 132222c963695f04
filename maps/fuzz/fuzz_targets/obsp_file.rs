//! Any bytes with the header of an `.obsp` are refused or accepted. An accepted map answers every
//! query, and is written to the same bytes.
#![no_main]

use std::sync::OnceLock;

use glam::Vec3;
use libfuzzer_sys::fuzz_target;
use obsp::body::Sphere;
use obsp::{CompileOptions, Map, Source, Spaces, Trace, compile};

/// Bytes before the body: magic, version and the body's hash.
const VERSION_AT: usize = 4;
const HASH_AT: usize = 8;
const BODY_AT: usize = 40;

fuzz_target!(|bytes: &[u8]| {
    let _ = Map::from_bytes(bytes);
    let mut bytes = bytes.to_vec();
    if bytes.len() >= BODY_AT {
        // The body is decoded only in a file with the right magic, version and hash.
        bytes[..HASH_AT].copy_from_slice(header());
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes[VERSION_AT..HASH_AT]).update(&bytes[BODY_AT..]);
        bytes[HASH_AT..BODY_AT].copy_from_slice(hasher.finalize().as_bytes());
    }
    if let Ok(map) = Map::from_bytes(&bytes) {
        assert_eq!(map.to_bytes(), bytes);
        ask(&map);
    }
});

/// Magic and version of this build.
fn header() -> &'static [u8] {
    static HEADER: OnceLock<Vec<u8>> = OnceLock::new();
    HEADER.get_or_init(|| {
        let text = include_bytes!("../seeds/map_source/standard.map");
        let source = Source::from_text("seed", text.as_slice());
        let compiled =
            compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| ());
        compiled.expect("the seed is a map").map.to_bytes()[..HASH_AT].to_vec()
    })
}

fn ask(map: &Map) {
    let places = [Vec3::ZERO, Vec3::new(8.0, -40.0, 24.0), Vec3::splat(1e6), Vec3::NAN];
    let sphere = Sphere::new(16.0).expect("an ordinary radius");
    for start in places {
        for (index, size) in map.sizes().iter().enumerate() {
            let id = map.size(&size.name).expect("the map has every size that it lists");
            assert_eq!(id.index(), index);
            let _ = map.clearance(id, start, 8.0);
            for end in places {
                if let Trace::Hit(hit) = map.find_first_transition(id, start, end) {
                    assert!((0.0..=1.0).contains(&hit.time), "{hit:?}");
                    assert!(!map.is_solid(id, hit.end), "{hit:?}");
                }
            }
        }
        for end in places {
            let _ = map.cast(&sphere, start, end);
        }
        let _ = map.overlaps(&sphere, start);
        let _ = map.liquid_at(start.as_dvec3());
    }
    for entity in map.entities() {
        let _ = (entity.classname(), entity.origin(), entity.angle());
    }
}
