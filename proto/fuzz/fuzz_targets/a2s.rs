//! Server queries: any datagram is parsed or rejected, and no challenge is longer than the
//! query.
#![no_main]

use libfuzzer_sys::fuzz_target;
use obsp_proto::a2s::{self, PlayerInfo, Query};

fuzz_target!(|bytes: &[u8]| {
    if let Some(query) = Query::parse(bytes) {
        assert!(a2s::challenge(query.challenge().unwrap_or_default()).len() <= bytes.len());
    }
    let text = String::from_utf8_lossy(bytes);
    let player = PlayerInfo { name: &text, score: -1, seconds: 0.0 };
    assert!(a2s::players(std::iter::repeat_n(player, 300)).len() <= a2s::MAX_ANSWER);
});
