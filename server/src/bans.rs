//! The ban list: addresses, prefixes of addresses and players that an operator has banned, for a
//! time or for good. Bans that are made while the server runs are kept in a TOML file (`--bans
//! FILE`). Each change writes a new file, which is then renamed to FILE.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Most bans that the list holds. A longer list belongs in a firewall.
const MOST: usize = 10_000;

/// The addresses or the player that a ban applies to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) enum Subject {
    /// Addresses that begin with these bits.
    Prefix(IpAddr, u8),
    /// The player whom connect tokens identify by this number.
    Player(u64),
}

/// Why a text names no [`Subject`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0:?} is not an address, a prefix such as 192.0.2.0/24 or a player such as player:7")]
pub(crate) struct SubjectSyntax(String);

impl std::str::FromStr for Subject {
    type Err = SubjectSyntax;

    fn from_str(text: &str) -> Result<Self, SubjectSyntax> {
        let wrong = || SubjectSyntax(text.to_owned());
        if let Some(player) = text.strip_prefix("player:") {
            let player = player.parse().map_err(|_| wrong())?;
            return if player == 0 { Err(wrong()) } else { Ok(Self::Player(player)) };
        }
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address = address.parse::<IpAddr>().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length: u8 = length.map_or(Ok(most), |length| length.parse().map_err(|_| wrong()))?;
        // A length of 0 would ban everybody.
        if length == 0 || length > most {
            return Err(wrong());
        }
        // A socket for both versions of IP shows the IPv4 address 192.0.2.1 as `::ffff:192.0.2.1`.
        // Such an address is stored as the IPv4 address.
        let (address, length) = match address.to_canonical() {
            canonical if canonical.is_ipv4() && address.is_ipv6() => {
                (canonical, length.checked_sub(96).filter(|left| *left > 0).ok_or_else(wrong)?)
            }
            address => (address, length),
        };
        Ok(Self::Prefix(masked(address, length), length))
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Player(player) => write!(formatter, "player:{player}"),
            Self::Prefix(address, length) => {
                let whole = *length == if address.is_ipv4() { 32 } else { 128 };
                if whole {
                    write!(formatter, "{address}")
                } else {
                    write!(formatter, "{address}/{length}")
                }
            }
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
            Self::Prefix(banned, length) => {
                let address = address.to_canonical();
                address.is_ipv4() == banned.is_ipv4() && masked(address, length) == banned
            }
        }
    }
}

/// The address with all bits after the first `length` set to zero.
fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            IpAddr::V4((v4.to_bits() & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            IpAddr::V6((v6.to_bits() & mask).into())
        }
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
}

/// All bans.
#[derive(Debug, Default)]
pub(crate) struct Bans {
    file: Option<PathBuf>,
    /// Bans from the command line, which nobody can lift.
    fixed: Vec<IpAddr>,
    bans: Mutex<Vec<Ban>>,
    /// A thread that changes the bans holds this lock until the change is in the file.
    writing: Mutex<()>,
}

impl Bans {
    /// Permanent bans of the addresses in `fixed`, and the bans in `file`, which need not exist
    /// yet.
    pub(crate) fn read(fixed: Vec<IpAddr>, file: Option<&Path>) -> Result<Self, BanError> {
        let mut bans = Vec::new();
        if let Some(path) = file {
            match obsp::text::read(path) {
                Ok(text) => {
                    let file: BansFile = toml::from_str(&text).map_err(|error| {
                        BanError::Syntax { path: path.to_owned(), message: error.to_string() }
                    })?;
                    bans = file.ban;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(BanError::Read { path: path.to_owned(), source }),
            }
        }
        Ok(Self {
            file: file.map(Path::to_owned),
            fixed,
            bans: Mutex::new(bans),
            writing: Mutex::default(),
        })
    }

    /// Whether a client may not join because its address is banned, or the player whom its connect
    /// token names. `now` is in seconds since 1970.
    pub(crate) fn is_banned(&self, address: IpAddr, player: Option<u64>, now: u64) -> bool {
        let canonical = address.to_canonical();
        let bans = self.bans.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |ban: &Ban| ban.expires.is_none_or(|expires| now < expires);
        self.fixed.contains(&canonical)
            || bans.iter().any(|ban| holds(ban) && ban.subject.is_about(canonical, player))
    }

    /// The bans that have not ended at `now`.
    pub(crate) fn list(&self, now: u64) -> Vec<Ban> {
        let bans = self.bans.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |ban: &&Ban| ban.expires.is_none_or(|expires| now < expires);
        bans.iter().filter(holds).cloned().collect()
    }

    /// Adds a ban. It replaces an earlier ban of the same subject.
    ///
    /// # Errors The list is full; or the file cannot be written, and the ban holds only until the
    ///   server ends.
    pub(crate) fn add(&self, ban: Ban, now: u64) -> Result<(), BanError> {
        self.change(now, |bans| {
            bans.retain(|other| other.subject != ban.subject);
            if bans.len() >= MOST {
                return Err(BanError::TooMany);
            }
            bans.push(ban);
            Ok(())
        })
    }

    /// Lifts the ban of a subject. Returns false if the subject is not banned.
    ///
    /// # Errors The file cannot be written. The ban is lifted, but only until the server ends.
    pub(crate) fn lift(&self, subject: &Subject, now: u64) -> Result<bool, BanError> {
        let mut found = false;
        self.change(now, |bans| {
            let before = bans.len();
            bans.retain(|ban| ban.subject != *subject);
            found = bans.len() < before;
            Ok(())
        })?;
        Ok(found)
    }

    fn change(
        &self,
        now: u64,
        change: impl FnOnce(&mut Vec<Ban>) -> Result<(), BanError>,
    ) -> Result<(), BanError> {
        // The lock is held while the file is written, so that the last change is also the last to
        // be written. A thread that only reads the bans does not wait for the disk.
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = {
            let mut bans = self.bans.lock().unwrap_or_else(PoisonError::into_inner);
            bans.retain(|ban| ban.expires.is_none_or(|expires| now < expires));
            change(&mut bans)?;
            BansFile { ban: bans.clone() }
        };
        let Some(path) = &self.file else { return Ok(()) };
        write(path, &written).map_err(|source| BanError::Write { path: path.clone(), source })
    }
}

/// Writes a new file beside the old one and renames it, so that the file is always complete.
fn write(path: &Path, written: &BansFile) -> io::Result<()> {
    let text = toml::to_string(written).map_err(io::Error::other)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    fs::write(&beside, text)?;
    fs::File::open(&beside)?.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn bans_outlive_the_server_and_end_when_their_time_is_over() {
        let path = std::env::temp_dir().join(format!("bans-{}.toml", std::process::id()));
        let _ = fs::remove_file(&path);
        let fixed: IpAddr = "10.0.0.1".parse().unwrap();
        let bans = Bans::read(vec![fixed], Some(&path)).unwrap();
        let stranger: IpAddr = "192.0.2.9".parse().unwrap();
        assert!(bans.is_banned(fixed, None, 5) && !bans.is_banned(stranger, None, 5));
        bans.add(ban("192.0.2.0/24", Some(100)), 5).unwrap();
        bans.add(ban("player:7", None), 5).unwrap();
        bans.add(ban("player:7", None), 6).unwrap();
        assert_eq!(bans.list(6).len(), 2);

        let again = Bans::read(Vec::new(), Some(&path)).unwrap();
        assert_eq!(again.list(6), bans.list(6));
        assert!(again.is_banned(stranger, None, 99) && !again.is_banned(stranger, None, 100));
        assert!(again.is_banned(fixed, Some(7), 1000) && !again.is_banned(fixed, None, 1000));
        assert!(again.lift(&"player:7".parse().unwrap(), 1000).unwrap());
        assert!(!again.lift(&"player:7".parse().unwrap(), 1000).unwrap());
        assert_eq!(Bans::read(Vec::new(), Some(&path)).unwrap().list(1000), []);
        fs::write(&path, "[[ban]]\nsubject = \"everybody\"").unwrap();
        let error = Bans::read(Vec::new(), Some(&path)).unwrap_err().to_string();
        assert!(error.contains("everybody"), "{error}");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_ban_that_cannot_be_kept_holds_nevertheless() {
        let nowhere = Path::new("/nonexistent/bans.toml");
        let bans = Bans::read(Vec::new(), Some(nowhere)).unwrap();
        let error = bans.add(ban("192.0.2.1", None), 5).unwrap_err();
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
                    bans.add(ban(subject, expires), now).unwrap();
                    model.insert(subject, expires);
                }
                1 => {
                    let held =
                        model.remove(subject).is_some_and(|end| end.is_none_or(|end| now < end));
                    let lifted = bans.lift(&subject.parse().unwrap(), now).unwrap();
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
