//! Server queries: any datagram is read or rejected, no challenge is longer than the query, and any
//! text makes an answer of few packets.
#![no_main]

#[allow(dead_code, unreachable_pub, reason = "a target needs a part of it")]
#[path = "../../src/operate/queries/answer.rs"]
mod answer;
#[allow(dead_code, unreachable_pub, reason = "a target needs a part of it")]
#[path = "../../src/operate/queries/query.rs"]
mod query;
#[allow(dead_code, unreachable_pub, reason = "a target needs a part of it")]
#[path = "../../src/operate/queries/split.rs"]
mod split;

use answer::PlayerInfo;
use libfuzzer_sys::fuzz_target;
use query::Query;

fuzz_target!(|bytes: &[u8]| {
    if let Some(query) = Query::parse(bytes) {
        let challenge = answer::challenge(query.challenge.unwrap_or_default());
        assert!(challenge.len() <= bytes.len());
    }
    let name = String::from_utf8_lossy(bytes).into_owned();
    let player = PlayerInfo { name, score: -1, seconds: 0.0 };
    let packets = split::split(answer::players(&vec![player; 300]), 7);
    assert!(packets.len() < 100 && packets.iter().all(|packet| packet.len() <= split::LONGEST));
});
