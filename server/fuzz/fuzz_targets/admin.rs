//! Bodies of requests to the admin interface. The parser reads or refuses any bytes. A body that
//! can be read can be written and read again, and a ban applies to the subject that it names and to
//! nobody else.
#![no_main]

#[allow(dead_code, unreachable_pub, reason = "a target needs a part of it")]
#[path = "../../src/door/bans.rs"]
mod bans;
#[allow(dead_code, unreachable_pub, reason = "a target needs a part of it")]
#[path = "../../src/operate/admin/bodies.rs"]
mod bodies;
#[allow(dead_code, unreachable_pub, reason = "a target needs a part of it")]
#[path = "../../src/common"]
mod common {
    #[path = "address_prefix.rs"]
    pub(crate) mod address_prefix;
    #[path = "clock.rs"]
    pub(crate) mod clock;
    #[path = "error"]
    pub(crate) mod error {
        #[path = "bans.rs"]
        pub(crate) mod bans;
        pub(crate) use bans::BanError;
    }
    #[path = "regular_file.rs"]
    pub(crate) mod regular_file;
    #[path = "state_file.rs"]
    pub(crate) mod state_file;
}

use std::fmt::Debug;
use std::net::IpAddr;

use bans::{Ban, Bans, Subject};
use bodies::{ChangeMap, Drain, Kick, LogFilter, Mute, NewBan, Say, Settings, Unban};
use common::clock::Reading;
use libfuzzer_sys::fuzz_target;
use serde::{Deserialize, Serialize};

/// Both clocks at their beginning.
const START: Reading =
    Reading { wall: std::time::UNIX_EPOCH, elapsed: std::time::Duration::ZERO };

fn read_again<T: for<'a> Deserialize<'a> + Serialize + PartialEq + Debug>(bytes: &[u8]) {
    if let Ok(body) = bodies::read::<T>(bytes) {
        let written = serde_json::to_vec(&body).expect("plain structures can be written");
        assert_eq!(bodies::read::<T>(&written), Ok(body));
    }
}

fn ban(body: NewBan) {
    let NewBan { subject, reason, seconds } = body;
    let Ok(subject) = subject.parse::<Subject>() else { return };
    assert_eq!(subject.to_string().parse(), Ok(subject.clone()), "a subject reads back unchanged");
    let bans = Bans::read(Vec::new(), None).expect("no file is read");
    let expires = seconds.map(|seconds| seconds.saturating_add(1));
    let ban = Ban { subject: subject.clone(), reason, by: "ops".to_owned(), since: 0, expires };
    bans.add(ban, START).expect("there is room");
    match subject {
        Subject::Prefix(prefix) => {
            let text = prefix.to_string();
            let first = text.split('/').next().and_then(|first| first.parse::<IpAddr>().ok());
            assert!(bans.is_banned(first.expect("a prefix begins with an address"), None, 0));
        }
        Subject::Player(player) => {
            let anywhere = [127, 0, 0, 1].into();
            assert!(bans.is_banned(anywhere, Some(player), 0));
            assert!(!bans.is_banned(anywhere, None, 0));
        }
    }
    assert_eq!(bans.list(0).len(), 1);
    assert!(bans.lift(&subject, START).is_ok_and(|lifted| lifted));
}

fuzz_target!(|bytes: &[u8]| {
    read_again::<Kick>(bytes);
    read_again::<Mute>(bytes);
    read_again::<NewBan>(bytes);
    read_again::<Unban>(bytes);
    read_again::<Say>(bytes);
    read_again::<ChangeMap>(bytes);
    read_again::<Drain>(bytes);
    read_again::<LogFilter>(bytes);
    read_again::<Settings>(bytes);
    if let Ok(body) = bodies::read::<NewBan>(bytes) {
        ban(body);
    }
    if let Ok(subject) = str::from_utf8(bytes) {
        let (subject, reason) = (subject.to_owned(), String::new());
        ban(NewBan { subject, reason, seconds: None });
    }
});
