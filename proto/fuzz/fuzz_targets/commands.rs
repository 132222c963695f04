//! Command datagrams: every datagram that decodes survives encoding and decoding again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use obsp_proto::Tick;
use obsp_proto::commands::CommandDatagram;

fuzz_target!(|bytes: &[u8]| {
    let near = Tick(100_000);
    if let Ok(datagram) = CommandDatagram::decode(bytes, near) {
        let again = CommandDatagram::decode(&datagram.encode(), near);
        assert_eq!(again, Ok(datagram));
    }
});
