//! Control streams in both directions, in pieces of any length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use obsp_proto::control::{
    Framer, MAX_CLIENT_FRAME, MAX_SERVER_FRAME, decode_client_message, decode_server_message,
    encode_client_message, encode_server_message, hello_version,
};

fuzz_target!(|bytes: &[u8]| {
    let Some((&cut, stream)) = bytes.split_first() else { return };
    let mut framer = Framer::new(MAX_SERVER_FRAME);
    for mut piece in stream.chunks(usize::from(cut).max(1)) {
        while let Ok(Some(content)) = framer.next_frame(&mut piece) {
            let _ = hello_version(&content);
            if content.len() <= MAX_CLIENT_FRAME
                && let Ok(message) = decode_client_message(&content)
            {
                let framed = encode_client_message(&message);
                assert_eq!(decode_client_message(&framed[2..]), Ok(message));
            }
            if let Ok(message) = decode_server_message(&content) {
                let framed = encode_server_message(&message);
                assert_eq!(decode_server_message(&framed[2..]), Ok(message));
            }
        }
    }
});
