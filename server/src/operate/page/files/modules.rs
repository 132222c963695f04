//! The simulation as WebAssembly: a module for a page that plays in a match, and one for a page
//! that plays a recording. `server/web/wasm/build` makes the two that ship. The module for
//! recordings has the rules of the arena game. `--replay-module` names a module with the rules of
//! another game.
//!
//! The files are compressed with Brotli, which makes them a sixth smaller than gzip. Browsers take
//! it over HTTPS and from their own machine.

use std::path::Path;
use std::sync::OnceLock;

use axum::http::HeaderMap;
use bytes::Bytes;

use crate::common::error::StartError;
use crate::common::regular_file::{explain, read};
use crate::operate::page::content::{BROTLI, Content, takes};

/// The modules that ship.
pub(super) const PLAY: &[u8] = include_bytes!("../../../../web/wasm/play.wasm.br");
pub(super) const REPLAY: &[u8] = include_bytes!("../../../../web/wasm/replay.wasm.br");

/// The media type of a module.
const WASM: &str = "application/wasm";

/// Maximum size of a module's file in bytes: 30 times the size of the arena game's module.
const LARGEST: u64 = 1 << 24;

/// The modules of a server.
pub(super) struct Modules {
    play: Module,
    replay: Module,
}

impl Modules {
    /// The modules that ship. The module in `file`, if there is one, replaces the one for
    /// recordings.
    ///
    /// # Errors
    /// The file is not a module.
    pub(super) fn new(file: Option<&Path>) -> Result<Self, StartError> {
        let replay = match file {
            None => Bytes::from_static(REPLAY),
            Some(path) => read_module(path)
                .map_err(|reason| StartError::ReplayModule { path: path.to_owned(), reason })?,
        };
        Ok(Self { play: Module::new(Bytes::from_static(PLAY)), replay: Module::new(replay) })
    }

    /// The module with this file name.
    pub(super) fn find(&self, name: &str) -> Option<&Module> {
        match name {
            "play.wasm" => Some(&self.play),
            "replay.wasm" => Some(&self.replay),
            _ => None,
        }
    }

    /// The bytes of all modules.
    pub(super) fn bytes(&self) -> [&[u8]; 2] {
        [&self.play.packed, &self.replay.packed]
    }
}

/// A module.
pub(super) struct Module {
    packed: Bytes,
    content: Content,
    /// For visitors who do not take Brotli; compressed with gzip at the first request.
    other: OnceLock<Content>,
}

impl Module {
    fn new(packed: Bytes) -> Self {
        let content = Content::brotli(WASM, packed.clone());
        Self { packed, content, other: OnceLock::new() }
    }

    /// The module for a visitor with these headers.
    pub(super) fn content(&self, asked: &HeaderMap) -> Content {
        if takes(asked, BROTLI) {
            return self.content.clone();
        }
        let other = || Content::new(WASM, unpacked(&self.packed).into());
        self.other.get_or_init(other).clone()
    }
}

/// Reads the file of a module.
fn read_module(path: &Path) -> Result<Bytes, String> {
    let packed = read(path, LARGEST).map_err(|error| explain(path, &error))?;
    if !unpacked(&packed).starts_with(b"\0asm") {
        return Err("it is no WebAssembly compressed with Brotli; `server/web/wasm/build --game \
                    FOLDER FILE` writes such a file from the folder of a game"
            .to_owned());
    }
    Ok(packed.into())
}

/// A module as a browser runs it; empty or cut off if the bytes are not compressed with Brotli.
pub(super) fn unpacked(module: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    let _ = brotli_decompressor::BrotliDecompress(&mut &module[..], &mut whole);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulation_is_small_enough_to_be_loaded_at_once() {
        // The module for replays also reads recordings. A page loads it only when someone rewinds.
        for (name, module, most, most_unpacked) in
            [("play", PLAY, 340_000, 1_000_000), ("replay", REPLAY, 500_000, 1_550_000)]
        {
            assert!(module.len() <= most, "{name}: {} bytes", module.len());
            let whole = unpacked(module);
            assert!(whole.starts_with(b"\0asm"), "{name}");
            assert!(whole.len() <= most_unpacked, "{name}: {} bytes", whole.len());
        }
    }

    #[test]
    fn a_file_takes_the_place_of_the_module_for_recordings_if_it_is_one() {
        let path = std::env::temp_dir().join(format!("module-{}.wasm.br", std::process::id()));
        std::fs::write(&path, PLAY).unwrap();
        let [play, replay] = Modules::new(Some(&path)).unwrap().bytes().map(<[u8]>::len);
        assert_eq!([play, replay], [PLAY.len(); 2], "the file has the module for matches");
        // A module that is not compressed is refused, and so is a file of anything else.
        let beyond = vec![0; LARGEST as usize + 1];
        for (bytes, said) in [
            (&unpacked(PLAY)[..], "no WebAssembly compressed with Brotli"),
            (b"", "build --game FOLDER FILE"),
            (&beyond[..], "larger than 16777216 bytes"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let error = Modules::new(Some(&path)).err().unwrap().to_string();
            assert!(error.starts_with("--replay-module /"), "{error}");
            assert!(error.contains(said), "{error}");
        }
        std::fs::remove_file(&path).unwrap();
        let error = Modules::new(Some(&path)).err().unwrap().to_string();
        assert!(error.ends_with("there is no such file"), "{error}");
    }
}
