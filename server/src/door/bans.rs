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
use tracing::warn;

use crate::common::address_prefix::{AddressPrefix, TooBroad};
use crate::common::clock::{Reading, Steps};
use crate::common::error::BanError;
use crate::common::error::bans::MOST;
use crate::common::state_file::Readers;
use crate::common::{regular_file, state_file};

/// Bytes of the largest file of bans: 1,600 for each of [`MOST`].
const LARGEST: u64 = 16 << 20;

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
    /// The text is not an address, a prefix or a player.
    #[error("{0:?} is not an address, a prefix such as 192.0.2.0/24 or a player such as player:7")]
    Unknown(String),
    /// The prefix covers too many addresses.
    #[error(transparent)]
    TooBroad(#[from] TooBroad),
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
        Ok(Self::Prefix(prefix.not_too_broad()?))
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

    /// A remark if this subject covers more than the address in `text`.
    pub(crate) fn remark(&self, text: &str) -> Option<String> {
        let address = text.parse::<IpAddr>().ok()?;
        let Self::Prefix(banned) = self else { return None };
        (*banned != AddressPrefix::address(address)).then(|| {
            format!("one host has all addresses of {self}; for one address, write {address}/128")
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ban {
    /// The addresses or the player that the ban applies to.
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

#[derive(Debug, Default)]
pub(crate) struct Bans {
    file: Option<PathBuf>,
    lists: Mutex<Lists>,
    /// A thread that changes the bans holds this lock until the change is in the file. The value
    /// says whether the last change could not be written.
    writing: Mutex<Unwritten>,
}

#[derive(Debug, Default)]
struct Lists {
    /// Bans from the command line, which nobody can lift.
    fixed: Vec<AddressPrefix>,
    bans: Vec<Ban>,
    /// Subjects that this run of the server has banned. When the clock is set, the ends of their
    /// bans move with it. A ban moves only by the steps since it was made, because its end was
    /// computed from the date of that moment.
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
        if let Some((path, Err(error))) = file.map(|path| (path, state_file::try_out(path))) {
            warn!(
                "{} cannot be written: {error}; bans or mutes that are added while the server \
                 runs hold only until the server ends",
                path.display()
            );
        }
        Ok(Self {
            file: file.map(Path::to_owned),
            lists: Mutex::new(Lists { fixed, bans, own: HashMap::new() }),
            writing: Mutex::default(),
        })
    }

    /// Reads the file again, and takes other fixed bans. Returns a sentence for each change.
    ///
    /// # Errors
    /// The file cannot be read, or is gone although there are bans. All bans then stay.
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
                // Bans that are not in the file yet stay in the list.
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

    /// Keeps the bans of this run at their intended length if the wall clock was set since they
    /// were made. Returns how many bans now end at another date. It is called every minute.
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

    /// Whether a client may not join, because its address is banned or because the player whom its
    /// connect token names is banned. `now` is in seconds since 1970.
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

    /// Forgets bans that have ended. A ban that only seems to have ended because the clock was set
    /// stays.
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
    fixed.into_iter().map(AddressPrefix::not_too_broad).collect()
}

/// The bans in a file. `None` if there is no file.
fn in_file(path: &Path) -> Result<Option<Vec<Ban>>, BanError> {
    match regular_file::read_text(path, LARGEST) {
        Ok(text) if state_file::is_cut(text.as_bytes()) => {
            let message = "the server was killed while it wrote this file, so the file is damaged: \
                           put a backup in its place, or remove the control character at its \
                           start and then everything that is incomplete";
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

/// Writes the file, unless it would be too large to be read again.
fn write(path: &Path, written: &BansFile) -> io::Result<()> {
    let text = toml::to_string(written).map_err(io::Error::other)?;
    if text.len() as u64 > LARGEST {
        let error = format!(
            "the file would have {} bytes, and at most {LARGEST} are read; lift some bans",
            text.len()
        );
        return Err(io::Error::other(error));
    }
    state_file::write(path, text.as_bytes(), Readers::Usual)
}

#[cfg(test)]
mod tests;
