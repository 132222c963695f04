//! The ban list: addresses, prefixes of addresses and players that an operator has banned, for a
//! time or for good. Bans that are made while the server runs are kept in a TOML file (`--bans
//! FILE`), which is written whole at each change, and read again on request.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::address_prefix::AddressPrefix;
use crate::clock::{Reading, Steps};
use crate::regular_file;
use crate::state_file::{self, Readers};

/// Most bans that the list holds. A longer list belongs in a firewall.
const MOST: usize = 10_000;

/// Bytes of the largest file of bans: 1,600 for each of [`MOST`].
const LARGEST: u64 = 16 << 20;

/// The shortest prefixes that can be banned, of IPv4 and of IPv6. A shorter one is a slip of the
/// pen: an IPv4 /8 is 1/256 of all addresses already, and no provider has an IPv6 /16 for itself.
const BROADEST: [u8; 2] = [8, 16];

/// The addresses or the player that a ban applies to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) enum Subject {
    /// Addresses that begin with the same bits. An IPv6 address that is written without a length is
    /// its /64.
    Prefix(AddressPrefix),
    /// The player whom connect tokens identify by this number.
    Player(u64),
}

/// Why a text names no [`Subject`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum SubjectSyntax {
    /// It is none of the three.
    #[error("{0:?} is not an address, a prefix such as 192.0.2.0/24 or a player such as player:7")]
    Unknown(String),
    /// It would ban too many.
    #[error(transparent)]
    TooBroad(#[from] TooBroad),
}

/// A prefix covers so many addresses that banning it would be a mistake.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "{0} covers too many addresses to be banned: of IPv4 a prefix of /{v4} or longer can be, of \
     IPv6 one of /{v6} or longer", v4 = BROADEST[0], v6 = BROADEST[1]
)]
pub struct TooBroad(AddressPrefix);

/// Refuses prefixes that are shorter than [`BROADEST`].
fn not_too_broad(prefix: AddressPrefix) -> Result<AddressPrefix, TooBroad> {
    let shortest = BROADEST[usize::from(!prefix.is_ipv4())];
    if prefix.length() < shortest { Err(TooBroad(prefix)) } else { Ok(prefix) }
}

impl std::str::FromStr for Subject {
    type Err = SubjectSyntax;

    fn from_str(text: &str) -> Result<Self, SubjectSyntax> {
        let wrong = || SubjectSyntax::Unknown(text.to_owned());
        if let Some(player) = text.strip_prefix("player:") {
            let player = player.parse().map_err(|_| wrong())?;
            return if player == 0 { Err(wrong()) } else { Ok(Self::Player(player)) };
        }
        let prefix = AddressPrefix::parse_host(text).map_err(|_| wrong())?;
        Ok(Self::Prefix(not_too_broad(prefix)?))
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Player(player) => write!(formatter, "player:{player}"),
            Self::Prefix(prefix) => prefix.fmt(formatter),
        }
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.to_string()
    }
}

impl TryFrom<String> for Subject {
    type Error = SubjectSyntax;

    fn try_from(text: String) -> Result<Self, SubjectSyntax> {
        text.parse()
    }
}

impl Subject {
    /// Whether this subject applies to a client at this address whose connect token names this
    /// player.
    pub(crate) fn is_about(&self, address: IpAddr, player: Option<u64>) -> bool {
        match *self {
            Self::Player(banned) => player == Some(banned),
            Self::Prefix(banned) => banned.contains(address),
        }
    }

    /// The remark that this subject is more than the address in `text`, if it is.
    pub(crate) fn remark(&self, text: &str) -> Option<String> {
        let address = text.parse::<IpAddr>().ok()?;
        let Self::Prefix(banned) = self else { return None };
        (*banned != AddressPrefix::address(address)).then(|| {
            format!("one host has all addresses of {self}; {address}/128 is that address alone")
        })
    }
}

/// One ban.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ban {
    /// The addresses or the player that it applies to.
    pub(crate) subject: Subject,
    /// The reason of the ban.
    #[serde(default)]
    pub(crate) reason: String,
    /// The name of the administrator who made the ban.
    #[serde(default)]
    pub(crate) by: String,
    /// The time at which the ban was made, in seconds since 1970.
    #[serde(default)]
    pub(crate) since: u64,
    /// The time at which the ban ends, in seconds since 1970. `None` if it is permanent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<u64>,
}

/// The content of the file of bans.
#[derive(Default, Serialize, Deserialize)]
struct BansFile {
    #[serde(default)]
    ban: Vec<Ban>,
}

/// Why bans cannot be read or kept.
#[derive(Debug, Error)]
pub enum BanError {
    /// The file cannot be read.
    #[error("cannot read the bans in {}: {source}", .path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is no list of bans.
    #[error("{}: {message}", .path.display())]
    Syntax {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// The file cannot be written.
    #[error("cannot write the bans to {}: {source}; they hold until the server ends", .path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The list is full.
    #[error("the list is full: it holds {MOST} bans; lift some of them, or ban prefixes instead")]
    TooMany,
    /// A ban of the options covers too many addresses.
    #[error("--ban: {0}")]
    TooBroad(#[from] TooBroad),
}

/// All bans.
#[derive(Debug, Default)]
pub(crate) struct Bans {
    file: Option<PathBuf>,
    lists: Mutex<Lists>,
    /// A thread that changes the bans holds this lock until the change is in the file. It holds
    /// whether the last change could not be written.
    writing: Mutex<Unwritten>,
}

#[derive(Debug, Default)]
struct Lists {
    /// Bans from the command line, which nobody can lift.
    fixed: Vec<AddressPrefix>,
    bans: Vec<Ban>,
    /// Subjects that this run of the server has banned. Their bans move with the clock when that
    /// is set: each looks for steps since it was made, because a later ban goes by the new date.
    own: HashMap<Subject, Steps>,
}

/// Whether the bans are newer than the file.
type Unwritten = bool;

impl Bans {
    /// Permanent bans of the addresses in `fixed`, and the bans in `file`, which need not exist
    /// yet.
    pub(crate) fn read(fixed: Vec<AddressPrefix>, file: Option<&Path>) -> Result<Self, BanError> {
        let fixed = checked(fixed)?;
        let bans = file.map(in_file).transpose()?.flatten().unwrap_or_default();
        Ok(Self {
            file: file.map(Path::to_owned),
            lists: Mutex::new(Lists { fixed, bans, own: HashMap::new() }),
            writing: Mutex::default(),
        })
    }

    /// Reads the file again, and takes other fixed bans. Returns a sentence for each change.
    ///
    /// # Errors
    /// The file cannot be read, or is gone though there are bans. They all stay then.
    pub(crate) fn reload(&self, fixed: Vec<AddressPrefix>) -> Result<Vec<String>, BanError> {
        let fixed = checked(fixed)?;
        let unwritten = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let read = match &self.file {
            Some(path) => match in_file(path)? {
                // An operator who means to lift all bans leaves an empty file.
                None if !self.lists().bans.is_empty() => {
                    let source = io::ErrorKind::NotFound.into();
                    return Err(BanError::Read { path: path.clone(), source });
                }
                read => Some(read.unwrap_or_default()),
            },
            None => None,
        };
        let mut lists = self.lists();
        let mut changes = Vec::new();
        if lists.fixed != fixed {
            changes.push(format!("--ban: {} addresses and prefixes", fixed.len()));
            lists.fixed = fixed;
        }
        if let Some(mut read) = read {
            if *unwritten {
                // Bans that the file does not have yet are not lost by reading it.
                let known: HashSet<_> = read.iter().map(|ban| ban.subject.clone()).collect();
                let lost = |ban: &&Ban| !known.contains(&ban.subject);
                read.extend(lists.bans.iter().filter(lost).cloned());
            }
            if lists.bans != read {
                changes.push(format!("{} entries, {} before", read.len(), lists.bans.len()));
                lists.bans = read;
            }
        }
        Ok(changes)
    }

    /// Lets the bans of this run last as long as they were meant to, if the wall clock was set
    /// since they were made. Returns how many end at another date now. It is called every minute.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn follow_clock(&self, now: Reading) -> Result<usize, BanError> {
        let mut moved = 0;
        self.change(|lists| {
            moved = lists.follow_clock(now);
            Ok(moved > 0)
        })?;
        Ok(moved)
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a client may not join because its address is banned, or the player whom its connect
    /// token names. `now` is in seconds since 1970.
    pub(crate) fn is_banned(&self, address: IpAddr, player: Option<u64>, now: u64) -> bool {
        let lists = self.lists();
        let holds = |ban: &Ban| ban.expires.is_none_or(|expires| now < expires);
        lists.fixed.iter().any(|banned| banned.contains(address))
            || lists.bans.iter().any(|ban| holds(ban) && ban.subject.is_about(address, player))
    }

    /// The bans that have not ended at `now`.
    pub(crate) fn list(&self, now: u64) -> Vec<Ban> {
        let holds = |ban: &&Ban| ban.expires.is_none_or(|expires| now < expires);
        self.lists().bans.iter().filter(holds).cloned().collect()
    }

    /// Adds a ban. It replaces an earlier ban of the same subject.
    ///
    /// # Errors
    /// The list is full; or the file cannot be written, and the ban holds only until the server
    /// ends.
    pub(crate) fn add(&self, ban: Ban, now: Reading) -> Result<(), BanError> {
        self.change(|lists| {
            lists.forget_ended(now);
            lists.bans.retain(|other| other.subject != ban.subject);
            if lists.bans.len() >= MOST {
                return Err(BanError::TooMany);
            }
            lists.own.insert(ban.subject.clone(), Steps::since(now));
            lists.bans.push(ban);
            Ok(true)
        })
    }

    /// Lifts the ban of a subject. Returns false if the subject is not banned.
    ///
    /// # Errors
    /// The file cannot be written. The ban is lifted, but only until the server ends.
    pub(crate) fn lift(&self, subject: &Subject, now: Reading) -> Result<bool, BanError> {
        let mut found = false;
        self.change(|lists| {
            lists.forget_ended(now);
            let before = lists.bans.len();
            lists.bans.retain(|ban| ban.subject != *subject);
            found = lists.bans.len() < before;
            Ok(true)
        })?;
        Ok(found)
    }

    /// Changes the lists, and writes the file if `change` says that it must be.
    fn change(
        &self,
        change: impl FnOnce(&mut Lists) -> Result<bool, BanError>,
    ) -> Result<(), BanError> {
        // The lock is held while the file is written, so that the last change is also the last to
        // be written. A thread that only reads the bans does not wait for the disk.
        let mut unwritten = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = {
            let mut lists = self.lists();
            if !change(&mut lists)? {
                return Ok(());
            }
            BansFile { ban: lists.bans.clone() }
        };
        let Some(path) = &self.file else { return Ok(()) };
        let outcome = write(path, &written);
        *unwritten = outcome.is_err();
        outcome.map_err(|source| BanError::Write { path: path.clone(), source })
    }
}

impl Lists {
    fn follow_clock(&mut self, now: Reading) -> usize {
        let mut moved = 0;
        for ban in &mut self.bans {
            let Some(end) = &mut ban.expires else { continue };
            let step = self.own.get_mut(&ban.subject).and_then(|steps| steps.next(now));
            let Some(seconds) = step else { continue };
            ban.since = ban.since.saturating_add_signed(seconds);
            *end = end.saturating_add_signed(seconds);
            moved += 1;
        }
        moved
    }

    /// Forgets bans that have ended, but none that only seems to because the clock was set.
    fn forget_ended(&mut self, now: Reading) {
        self.follow_clock(now);
        let unix = now.unix();
        self.bans.retain(|ban| ban.expires.is_none_or(|expires| unix < expires));
        let Self { bans, own, .. } = self;
        own.retain(|subject, _| bans.iter().any(|ban| ban.subject == *subject));
    }
}

/// The prefixes, none of which is too broad.
fn checked(fixed: Vec<AddressPrefix>) -> Result<Vec<AddressPrefix>, TooBroad> {
    fixed.into_iter().map(not_too_broad).collect()
}

/// The bans in a file. `None` if there is no file.
fn in_file(path: &Path) -> Result<Option<Vec<Ban>>, BanError> {
    match regular_file::read_text(path, LARGEST) {
        Ok(text) if state_file::is_cut(text.as_bytes()) => {
            let message = "the server was killed while it wrote this file, so the file is damaged: \
                           put a copy in its place, or remove what is wrong in it, beginning with \
                           the control character at its start";
            Err(BanError::Syntax { path: path.to_owned(), message: message.to_owned() })
        }
        Ok(text) => match toml::from_str::<BansFile>(&text) {
            Ok(file) => Ok(Some(file.ban)),
            Err(error) => {
                Err(BanError::Syntax { path: path.to_owned(), message: error.to_string() })
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(BanError::Read { path: path.to_owned(), source }),
    }
}

/// Writes the file, if it can be read again.
fn write(path: &Path, written: &BansFile) -> io::Result<()> {
    let text = toml::to_string(written).map_err(io::Error::other)?;
    if text.len() as u64 > LARGEST {
        let error = format!("its {} bytes would be more than {LARGEST}", text.len());
        return Err(io::Error::other(error));
    }
    state_file::write(path, text.as_bytes(), Readers::Usual)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;
    use crate::clock::Clock;

    /// Clocks that show so many seconds since 1970, and since the machine's start.
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

    /// The clock is set, and only then looked at: a ban that was made in between goes by the new
    /// date already, and making it ends none of those before.
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
        assert!(error.contains("cannot read the bans"), "{error}");
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
                    let held =
                        model.remove(subject).is_some_and(|end| end.is_none_or(|end| now < end));
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
}
