//! Connect tokens: bytes of any kind are opened or rejected, and an opened token can be sealed
//! again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use obsp_proto::token::JoinKey;

fuzz_target!(|bytes: &[u8]| {
    let key = JoinKey::from_bytes([7; 32]);
    assert!(key.open(bytes).is_err(), "sealed without the key");
    // A backend with a defect might seal any content.
    if let Ok(token) = key.seal_bytes(bytes, 1, [3; 16])
        && let Ok(opened) = key.open(&token)
    {
        assert_eq!(key.seal_with(&opened.claims, 1, [3; 16]), Ok(token));
    }
});
