//! Map streams, in pieces of any length: a receiver holds no more than it was sent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use obsp_proto::map_transfer::MapReceiver;

fuzz_target!(|bytes: &[u8]| {
    let Some((&cut, stream)) = bytes.split_first() else { return };
    let mut receiver = MapReceiver::new();
    for piece in stream.chunks(usize::from(cut).max(1)) {
        if receiver.receive(piece).is_err() {
            return;
        }
    }
    if let Ok(map) = receiver.finish() {
        assert_eq!(map, &stream[4..]);
    }
});
