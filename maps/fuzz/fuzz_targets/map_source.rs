//! The compiler turns any bytes into a valid map, or into an error that names the file and the
//! reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use obsp::{CompileOptions, Map, Source, Spaces, compile};

fuzz_target!(|text: &[u8]| {
    let source = Source::from_text("fuzzed", text);
    match compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| ()) {
        Ok(compiled) => {
            let bytes = compiled.map.to_bytes();
            let read = Map::from_bytes(&bytes).expect("a compiled map can be read");
            assert_eq!(read.to_bytes(), bytes);
        }
        Err(error) => assert!(error.to_string().contains("fuzzed"), "{error}"),
    }
});
