//! Map streams, in pieces of any length: a received map is exactly the bytes after the length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use obsp_proto::download::{Download, Receiver};

fuzz_target!(|bytes: &[u8]| {
    let Some((&cut, stream)) = bytes.split_first() else { return };
    // The stream is also tried as a game's data.
    let _ = obsp_proto::game_data::GameData::from_bytes(stream);
    let mut receiver = Receiver::new(Download::Map);
    for piece in stream.chunks(usize::from(cut).max(1)) {
        if receiver.receive(piece).is_err() {
            return;
        }
    }
    if let Ok(map) = receiver.finish() {
        assert_eq!(map, &stream[4..]);
    }
});
