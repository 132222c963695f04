use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::*;
use crate::door::admission::options::AddressOptions;

/// A file of a test, which is removed when this value is dropped.
struct File(PathBuf);

/// Number of the next file. Tests run side by side, and two of them may choose the same name.
static NUMBER: AtomicU32 = AtomicU32::new(0);

impl File {
    fn new(test: &str, text: &str) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("door-{test}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn options(password: Option<&File>, allow: Option<&File>) -> JoiningOptions {
    JoiningOptions {
        password: password.map(|file| file.0.clone()),
        allow: allow.map(|file| file.0.clone()),
        ..JoiningOptions::default()
    }
}

fn admittance(options: &JoiningOptions) -> Admittance {
    Admittance::read(options, Shares::from(&AddressOptions::default())).unwrap()
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn without_rules_everybody_may_play_whatever_they_present() {
    let door = admittance(&options(None, None));
    let now = Instant::now();
    for secret in [&b""[..], b"anything"] {
        assert_eq!(door.judge(address("192.0.2.1"), None, secret, now), Ok(None));
    }
    assert!(!door.asks() && !door.has_list());
}

/// Symptom: server browsers showed a server as open to all although it admitted only a list of
/// addresses.
#[test]
fn a_list_of_addresses_asks_for_no_word_and_is_a_list() {
    let file = File::new("addresses", "192.0.2.0/24");
    let door = admittance(&options(None, Some(&file)));
    assert!(door.has_list() && !door.asks());
}

#[test]
fn only_who_presents_the_password_may_play() {
    let file = File::new("password", "open sesame\r\n");
    let door = admittance(&options(Some(&file), None));
    let (now, from) = (Instant::now(), address("192.0.2.1"));
    assert!(door.asks());
    assert_eq!(door.judge(from, None, b"open sesame", now), Ok(None));
    assert_eq!(door.judge(from, None, b"", now), Err(Denied::Missing));
    for wrong in [&b"open sesam"[..], b"open sesame\n", b"OPEN SESAME"] {
        assert_eq!(door.judge(from, None, wrong, now), Err(Denied::Wrong));
    }
    assert!(!format!("{door:?}").contains("sesame"));
}

/// Symptom: five slips of one player behind a shared address locked out all others there.
#[test]
fn an_address_that_many_share_has_more_guesses_but_not_any_number() {
    let file = File::new("shared-guesses", "open sesame");
    let door = admittance(&options(Some(&file), None));
    let (now, shared) = (Instant::now(), address("127.0.0.1"));
    for _ in 0..50 {
        assert_eq!(door.judge(shared, None, b"guess!", now), Err(Denied::Wrong));
    }
    assert_eq!(door.judge(shared, None, b"open sesame", now), Err(Denied::TooMany));
    let soon = now + Duration::from_secs(1);
    assert_eq!(door.judge(shared, None, b"open sesame", soon), Ok(None));
}

#[test]
fn guesses_are_limited_by_address() {
    let file = File::new("guesses", "open sesame");
    let door = admittance(&options(Some(&file), None));
    let now = Instant::now();
    let guess = |from: &str, now| door.judge(address(from), None, b"guess!", now);
    let right = |from: &str, now| door.judge(address(from), None, b"open sesame", now);
    for _ in 0..5 {
        assert_eq!(guess("2001:db8::1", now), Err(Denied::Wrong));
    }
    // One host may use its whole prefix. The right password is refused as well. Otherwise a client
    // could go on guessing.
    assert_eq!(guess("2001:db8::2", now), Err(Denied::TooMany));
    assert_eq!(right("2001:db8::2", now), Err(Denied::TooMany));
    assert_eq!(right("2001:db8:0:1::1", now), Ok(None), "others are not locked out");
    assert_eq!(right("2001:db8::1", now + Duration::from_secs(9)), Err(Denied::TooMany));
    assert_eq!(right("2001:db8::1", now + Duration::from_secs(10)), Ok(None));
    // The right password costs nothing.
    for _ in 0..100 {
        assert_eq!(right("192.0.2.1", now), Ok(None));
    }
}

#[test]
fn the_memory_of_guesses_is_bounded() {
    let file = File::new("bounded", "open sesame");
    let door = admittance(&options(Some(&file), None));
    let now = Instant::now();
    let guess = |number: u32, now| {
        door.judge(std::net::Ipv4Addr::from(number).into(), None, b"guess!", now)
    };
    for number in 0..REMEMBERED as u32 {
        assert_eq!(guess(number, now), Err(Denied::Wrong));
    }
    let others = (0..1000).filter(|number| guess(1 << 20 | number, now) == Err(Denied::Wrong));
    assert_eq!(others.count(), 50, "the others share a bucket");
    assert_eq!(door.guesses.lock().unwrap().by_address.len(), REMEMBERED);
    let later = now + Duration::from_secs(10);
    assert_eq!(guess(1 << 21, later), Err(Denied::Wrong));
    assert_eq!(door.guesses.lock().unwrap().by_address.len(), 1);
}

#[test]
fn a_list_lets_in_whom_it_names() {
    let list = File::new("list", "192.0.2.0/24\nplayer:7\nplayer:8 mellon99 Ann\n");
    let door = admittance(&options(None, Some(&list)));
    let now = Instant::now();
    let [friend, stranger] = ["192.0.2.9", "198.51.100.1"].map(address);
    assert_eq!(door.judge(friend, None, b"", now), Ok(None));
    assert_eq!(door.judge(stranger, None, b"", now), Err(Denied::Missing));
    let ann = door.judge(stranger, None, b"mellon99", now).unwrap().unwrap();
    assert_eq!((ann.player, ann.name.unwrap().as_str()), (8, "Ann"));
    assert_eq!(door.judge(stranger, None, b"mellon98", now), Err(Denied::Wrong));
    // With connect tokens, the number of the player counts.
    assert_eq!(door.judge(stranger, Some(7), b"a token", now), Ok(None));
    assert_eq!(door.judge(stranger, Some(9), b"a token", now), Err(Denied::NotAllowed));
    // If the list has no words, no client is asked for a word.
    let list = File::new("addresses", "192.0.2.0/24\n");
    let door = admittance(&options(None, Some(&list)));
    assert!(!door.asks());
    assert_eq!(door.judge(friend, None, b"whatever", now), Ok(None));
    assert_eq!(door.judge(stranger, None, b"", now), Err(Denied::NotAllowed));
}

#[test]
fn a_password_and_a_list_both_count() {
    let password = File::new("both-password", "open sesame");
    let list = File::new("both-list", "192.0.2.0/24\nplayer:8 mellon99\n");
    let door = admittance(&options(Some(&password), Some(&list)));
    let now = Instant::now();
    let [friend, stranger] = ["192.0.2.9", "198.51.100.1"].map(address);
    assert_eq!(door.judge(friend, None, b"open sesame", now), Ok(None));
    assert_eq!(door.judge(friend, None, b"", now), Err(Denied::Missing));
    assert_eq!(door.judge(stranger, None, b"open sesame", now), Err(Denied::NotAllowed));
    assert!(door.judge(stranger, None, b"mellon99", now).unwrap().is_some());
}

#[test]
fn files_are_read_again_and_wrong_ones_change_nothing() {
    let file = File::new("again", "open sesame");
    let list = File::new("again-list", "player:8 mellon99\n");
    let options = options(Some(&file), Some(&list));
    let door = admittance(&options);
    let (now, from) = (Instant::now(), address("192.0.2.1"));
    assert_eq!(door.reload(&options).unwrap(), Vec::<String>::new());
    std::fs::write(&file.0, "short").unwrap();
    let error = door.reload(&options).unwrap_err().to_string();
    assert!(error.contains("--password") && error.contains("fewer than 6"), "{error}");
    assert!(!error.contains("short"), "{error}");
    assert!(door.judge(from, None, b"mellon99", now).is_ok());
    std::fs::write(&file.0, "another one").unwrap();
    std::fs::write(&list.0, "192.0.2.1\n").unwrap();
    let changes = door.reload(&options).unwrap();
    assert_eq!(changes.len(), 2);
    assert!(!changes.concat().contains("another one") && changes[1].contains("1 entries"));
    assert_eq!(door.judge(from, None, b"another one", now), Ok(None));
    assert_eq!(door.judge(from, None, b"open sesame", now), Err(Denied::Wrong));
    let open = door.reload(&self::options(None, None)).unwrap();
    assert!(open[0].contains("no password"), "{open:?}");
}
