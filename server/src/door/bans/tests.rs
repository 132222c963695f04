use std::fs;
use std::time::Duration;

use super::*;
use crate::common::clock::Clock;

/// A reading in which both clocks show `unix` seconds: since 1970, and since the machine's start.
fn at(unix: u64) -> Reading {
    let elapsed = Duration::from_secs(unix);
    Reading { wall: std::time::UNIX_EPOCH + elapsed, elapsed }
}

fn ban(subject: &str, expires: Option<u64>) -> Ban {
    let subject = subject.parse().unwrap();
    Ban { subject, reason: "spam".into(), by: "ops".into(), since: 1, expires }
}

#[test]
fn addresses_prefixes_and_players_are_told_apart() {
    for (subject, address, player, is_about) in [
        ("192.0.2.1", "192.0.2.1", None, true),
        ("192.0.2.1", "::ffff:192.0.2.1", None, true),
        ("::ffff:192.0.2.1", "192.0.2.1", None, true),
        ("::ffff:192.0.2.0/120", "192.0.2.77", None, true),
        ("::ffff:192.0.2.0/120", "192.0.3.77", None, false),
        ("192.0.2.1", "192.0.2.2", Some(7), false),
        ("192.0.2.77/24", "192.0.2.2", None, true),
        ("192.0.2.0/24", "192.0.3.2", None, false),
        ("2001:db8::/64", "2001:db8::1:2", None, true),
        ("2001:db8::/64", "2001:db8:0:1::", None, false),
        ("2001:db8:1:2::1/128", "2001:db8:1:2::2", None, false),
        ("player:7", "192.0.2.1", Some(7), true),
        ("player:7", "192.0.2.1", None, false),
    ] {
        let subject: Subject = subject.parse().unwrap();
        assert_eq!(subject.is_about(address.parse().unwrap(), player), is_about, "{subject}");
        assert_eq!(subject.to_string().parse::<Subject>().unwrap(), subject);
    }
    for bad in [
        "",
        "192.0.2",
        "0.0.0.0/0",
        "192.0.2.1/33",
        "::ffff:0.0.0.0/96",
        "player:",
        "player:0",
        "player:x",
    ] {
        assert!(bad.parse::<Subject>().is_err(), "{bad}");
    }
}

#[test]
fn ban_of_an_ipv6_host() {
    let [first, next, other]: [IpAddr; 3] =
        ["fd00:9::aaaa:1", "fd00:9::aaaa:2", "fd00:9:0:1::1"].map(|ip| ip.parse().unwrap());
    let bans = Bans::read(Vec::new(), None).unwrap();
    bans.add(ban("fd00:9::aaaa:1", None), at(5)).unwrap();
    for (address, is_banned) in [(first, true), (next, true), (other, false)] {
        assert_eq!(bans.is_banned(address, None, 6), is_banned, "{address}");
    }
    let subject: Subject = "fd00:9::aaaa:1".parse().unwrap();
    let remark = subject.remark("fd00:9::aaaa:1").unwrap();
    assert!(remark.contains("fd00:9::/64") && remark.contains("aaaa:1/128"), "{remark}");
    for exact in ["fd00:9::aaaa:1/128", "192.0.2.1", "192.0.2.0/24", "player:7"] {
        assert_eq!(exact.parse::<Subject>().unwrap().remark(exact), None, "{exact}");
    }
    let one = Bans::read(Vec::new(), None).unwrap();
    one.add(ban("fd00:9::aaaa:1/128", None), at(5)).unwrap();
    assert!(one.is_banned(first, None, 6) && !one.is_banned(next, None, 6));
    let fixed = Bans::read(vec!["fd00:9::/48".parse().unwrap()], None).unwrap();
    assert!(fixed.is_banned(other, None, 6));
}

#[test]
fn bans_outlive_the_server_and_end_when_their_time_is_over() {
    let path = std::env::temp_dir().join(format!("bans-{}.toml", std::process::id()));
    let _ = fs::remove_file(&path);
    let fixed: IpAddr = "10.0.0.1".parse().unwrap();
    let bans = Bans::read(vec![AddressPrefix::address(fixed)], Some(&path)).unwrap();
    let stranger: IpAddr = "192.0.2.9".parse().unwrap();
    assert!(bans.is_banned(fixed, None, 5) && !bans.is_banned(stranger, None, 5));
    bans.add(ban("192.0.2.0/24", Some(100)), at(5)).unwrap();
    bans.add(ban("player:7", None), at(5)).unwrap();
    bans.add(ban("player:7", None), at(6)).unwrap();
    assert_eq!(bans.list(6).len(), 2);

    let again = Bans::read(Vec::new(), Some(&path)).unwrap();
    assert_eq!(again.list(6), bans.list(6));
    assert!(again.is_banned(stranger, None, 99) && !again.is_banned(stranger, None, 100));
    assert!(again.is_banned(fixed, Some(7), 1000) && !again.is_banned(fixed, None, 1000));
    assert!(again.lift(&"player:7".parse().unwrap(), at(1000)).unwrap());
    assert!(!again.lift(&"player:7".parse().unwrap(), at(1000)).unwrap());
    assert_eq!(Bans::read(Vec::new(), Some(&path)).unwrap().list(1000), []);
    fs::write(&path, "[[ban]]\nsubject = \"everybody\"").unwrap();
    let error = Bans::read(Vec::new(), Some(&path)).unwrap_err().to_string();
    assert!(error.contains("everybody"), "{error}");
    fs::remove_file(path).unwrap();
}

#[test]
fn a_prefix_that_is_too_broad_is_refused_and_the_broadest_is_not() {
    for (text, is_fine) in [
        ("10.0.0.0/8", true),
        ("10.0.0.0/7", false),
        ("0.0.0.0/1", false),
        ("0.0.0.0/0", false),
        ("2001::/16", true),
        ("2000::/15", false),
        ("8000::/1", false),
        ("::/0", false),
    ] {
        let refused = text.parse::<Subject>().err().map(|error| error.to_string());
        assert_eq!(refused.is_none(), is_fine, "{text}");
        let fixed = Bans::read(vec![text.parse().unwrap()], None);
        assert_eq!(fixed.is_ok(), is_fine, "{text}");
        for says in refused.iter().chain(&fixed.err().map(|error| error.to_string())) {
            assert!(says.contains("/8") && says.contains("/16"), "{says}");
        }
    }
}

/// A machine boots in 2000, somebody is banned for two hours, and the clock is set.
#[test]
fn a_stepped_clock_neither_ends_nor_prolongs_a_ban_of_this_run() {
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    let stranger: IpAddr = "192.0.2.1".parse().unwrap();
    for (start, set) in [(946_684_800, 1_800_000_000), (1_800_000_000, 1_765_000_000)] {
        let path = std::env::temp_dir().join(format!("step-{start}-{}", std::process::id()));
        let clock = Clock::by_hand(start);
        let bans = Bans::read(Vec::new(), Some(&path)).unwrap();
        let ends = clock.unix() + 7200;
        bans.add(ban("192.0.2.1", Some(ends)), clock.now()).unwrap();
        bans.add(ban("player:7", None), clock.now()).unwrap();
        clock.pass(hours(1));
        clock.set(set);
        assert_eq!(bans.follow_clock(clock.now()).unwrap(), 1);
        assert_eq!(bans.follow_clock(clock.now()).unwrap(), 0, "once");
        let again = Bans::read(Vec::new(), Some(&path)).unwrap();
        for bans in [&bans, &again] {
            assert!(bans.is_banned(stranger, None, clock.unix()));
            assert!(bans.is_banned(stranger, None, clock.unix() + 3599));
            assert!(!bans.is_banned(stranger, None, clock.unix() + 3600));
        }
        // The bans of an earlier run end at the date that the file says.
        clock.set(start);
        assert_eq!(again.follow_clock(clock.now()).unwrap(), 0);
        fs::remove_file(path).unwrap();
    }
}

/// The clock is set, and a ban is made before the server compares the clocks. That ban already
/// counts from the new date. Making it ends none of the earlier bans.
#[test]
fn a_ban_between_the_step_and_the_minute_s_look_is_not_moved() {
    for (start, set) in [(946_684_800, 1_800_000_000), (1_800_000_000, 1_765_000_000)] {
        let clock = Clock::by_hand(start);
        let bans = Bans::read(Vec::new(), None).unwrap();
        let banned = |subject| {
            bans.add(ban(subject, Some(clock.unix() + 7200)), clock.now()).unwrap();
        };
        banned("192.0.2.1");
        clock.pass(Duration::from_secs(3600));
        clock.set(set);
        banned("192.0.2.2");
        assert!(!bans.lift(&"192.0.2.3".parse().unwrap(), clock.now()).unwrap());
        bans.follow_clock(clock.now()).unwrap();
        for (address, left) in [("192.0.2.1", 3600), ("192.0.2.2", 7200)] {
            let is_banned = |unix| bans.is_banned(address.parse().unwrap(), None, unix);
            assert!(is_banned(set) && is_banned(set + left - 1), "{address}");
            assert!(!is_banned(set + left), "{address}");
        }
    }
}

#[test]
fn a_file_that_was_edited_is_read_again_and_a_wrong_one_lifts_nobody() {
    let path = std::env::temp_dir().join(format!("again-{}.toml", std::process::id()));
    let bans = Bans::read(Vec::new(), Some(&path)).unwrap();
    bans.add(ban("192.0.2.1", None), at(5)).unwrap();
    assert_eq!(bans.reload(Vec::new()).unwrap(), Vec::<String>::new());
    let fixed: AddressPrefix = "198.51.100.0/24".parse().unwrap();
    fs::write(&path, "[[ban]]\nsubject = \"player:8\"").unwrap();
    assert_eq!(bans.reload(vec![fixed]).unwrap().len(), 2);
    let [first, inside] = ["192.0.2.1", "198.51.100.9"].map(|text| text.parse().unwrap());
    assert!(!bans.is_banned(first, None, 6) && bans.is_banned(first, Some(8), 6));
    assert!(bans.is_banned(inside, None, 6));

    for wrong in ["ban = 5", "[[ban]]\nsubject = \"0.0.0.0/1\""] {
        fs::write(&path, wrong).unwrap();
        assert!(bans.reload(vec![fixed]).is_err());
        assert!(bans.is_banned(first, Some(8), 6));
    }
    fs::remove_file(&path).unwrap();
    let error = bans.reload(vec![fixed]).unwrap_err().to_string();
    assert!(error.contains("cannot read the bans or mutes"), "{error}");
    assert!(bans.is_banned(first, Some(8), 6));
    fs::write(&path, "").unwrap();
    assert_eq!(bans.reload(Vec::new()).unwrap().len(), 2);
    assert!(!bans.is_banned(first, Some(8), 6) && !bans.is_banned(inside, None, 6));
    fs::remove_file(&path).unwrap();
}

#[test]
fn bans_that_could_not_be_written_are_not_lost_by_reading_the_file_again() {
    let folder = std::env::temp_dir().join(format!("unwritten-{}", std::process::id()));
    let path = folder.join("bans.toml");
    let bans = Bans::read(Vec::new(), Some(&path)).unwrap();
    assert!(bans.add(ban("192.0.2.1", None), at(5)).is_err());
    fs::create_dir(&folder).unwrap();
    fs::write(&path, "[[ban]]\nsubject = \"player:8\"").unwrap();
    bans.reload(Vec::new()).unwrap();
    assert_eq!(bans.list(6).len(), 2);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_was_cut_while_it_was_written_is_told() {
    let path = std::env::temp_dir().join(format!("bans-cut-{}", std::process::id()));
    fs::write(&path, "\x18[ban]]\nsubject = \"player:8\"").unwrap();
    let error = Bans::read(Vec::new(), Some(&path)).unwrap_err().to_string();
    assert!(error.contains("killed while it wrote this file"), "{error}");
    fs::remove_file(&path).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_in_place_of_the_file_is_named_and_blocks_nobody() {
    let path = std::env::temp_dir().join(format!("bans-pipe-{}", std::process::id()));
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let error = Bans::read(Vec::new(), Some(&path)).unwrap_err().to_string();
    assert!(error.contains("it is a pipe"), "{error}");
    fs::remove_file(&path).unwrap();
}

#[test]
fn a_ban_that_cannot_be_kept_holds_nevertheless() {
    let nowhere = Path::new("/nonexistent/bans.toml");
    let bans = Bans::read(Vec::new(), Some(nowhere)).unwrap();
    let error = bans.add(ban("192.0.2.1", None), at(5)).unwrap_err();
    assert!(error.to_string().contains("until the server ends"), "{error}");
    assert!(bans.is_banned("192.0.2.1".parse().unwrap(), None, 6));
}

/// Random bans and lifts. The list bans a client exactly if a simple model, which checks every
/// ban, bans it.
#[test]
fn a_hundred_thousand_operations_agree_with_a_model() {
    let seed = 17;
    let mut random = obsp_sim::Random::new(seed);
    let bans = Bans::read(Vec::new(), None).unwrap();
    let subjects = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "player:1", "player:2", "::1"];
    let strangers =
        [("10.1.2.3", Some(2)), ("10.1.9.9", None), ("10.2.0.1", Some(1)), ("::1", None)];
    let mut model = std::collections::BTreeMap::<&str, Option<u64>>::new();
    let mut now = 0;
    for operation in 0..100_000 {
        let subject = subjects[random.below(subjects.len() as u64) as usize];
        match random.below(4) {
            0 => {
                let expires = (random.below(3) > 0).then(|| now + random.below(20));
                bans.add(ban(subject, expires), at(now)).unwrap();
                model.insert(subject, expires);
            }
            1 => {
                let held = model.remove(subject).is_some_and(|end| end.is_none_or(|end| now < end));
                let lifted = bans.lift(&subject.parse().unwrap(), at(now)).unwrap();
                assert_eq!(lifted, held, "seed {seed}, {operation}");
            }
            2 => now += random.below(3),
            _ => {
                let (address, player) = strangers[random.below(4) as usize];
                let address: IpAddr = address.parse().unwrap();
                let is_held = |(subject, end): (&&str, &Option<u64>)| {
                    let subject: Subject = subject.parse().unwrap();
                    end.is_none_or(|end| now < end) && subject.is_about(address, player)
                };
                let expected = model.iter().any(is_held);
                let banned = bans.is_banned(address, player, now);
                assert_eq!(banned, expected, "seed {seed}, {operation}");
            }
        }
    }
}
