//! Decides who may play, by a password of the match (`--password`) and by a list of players
//! (`--allow`). The password replaces connect tokens; the list works with connect tokens and
//! without them.
//!
//! A client presents the password, or its own word of the list, in place of the connect token.
//! Wrong guesses are limited for each address. Passwords and words are never logged.

pub(crate) mod allow_list;
pub(crate) mod options;
pub(crate) mod secret;

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

use thiserror::Error;
use tracing::warn;

use super::admission::Shares;
use crate::common::address_key::AddressKey;
use crate::common::error::DoorError;
use crate::common::regular_file;
use crate::common::token_bucket::{Rate, TokenBucket};
use allow_list::AllowList;
pub(crate) use allow_list::Known;
use options::JoiningOptions;
use secret::{Tag, Tagger};

/// Wrong guesses of one address: a few typing errors at once, and six a minute in the long run. At
/// this rate, one address needs thousands of years to find a word of eight random letters.
const GUESSES: Rate = Rate { per_second: 0.1, burst: 5.0 };

/// Wrong guesses of an address that many people share (`--address-exempt`): the slips of one player
/// must not lock out the others. To guess a word of eight random letters would still take thousands
/// of years.
const SHARED_GUESSES: Rate = Rate { per_second: 1.0, burst: 50.0 };

/// Wrong guesses of all addresses for which the table of remembered addresses has no room.
const OTHER_GUESSES: Rate = Rate { per_second: 1.0, burst: 50.0 };

/// Addresses with wrong guesses that are remembered.
const REMEMBERED: usize = 4096;

/// Why a client may not play.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum Denied {
    /// The client presents no password.
    #[error("a password is needed")]
    Missing,
    /// The client presents a wrong password.
    #[error("the password is wrong")]
    Wrong,
    /// Too many wrong guesses came from the address.
    #[error("too many wrong passwords came from this address")]
    TooMany,
    /// The list of players does not name the client.
    #[error("the list of --allow does not name this client")]
    NotAllowed,
}

/// The conditions under which the operator lets clients play.
#[derive(Debug)]
struct Rules {
    password: Option<Tag>,
    allowed: Option<AllowList>,
}

/// The password, the list and the wrong guesses.
#[derive(Debug)]
pub(crate) struct Admittance {
    tagger: Tagger,
    rules: RwLock<Arc<Rules>>,
    guesses: Mutex<Guesses>,
    /// Tells which addresses many people share.
    shares: Shares,
}

#[derive(Debug)]
struct Guesses {
    by_address: HashMap<AddressKey, TokenBucket>,
    others: TokenBucket,
}

impl Admittance {
    /// Reads the files that the options name.
    ///
    /// # Errors
    /// A file cannot be read or used.
    pub(crate) fn read(options: &JoiningOptions, shares: Shares) -> Result<Self, DoorError> {
        let tagger = Tagger::new().map_err(|reason| DoorError {
            option: "--password",
            path: options.password.clone().unwrap_or_default(),
            reason,
        })?;
        let rules = RwLock::new(Arc::new(read(options, &tagger)?));
        let guesses = Guesses::new(Instant::now());
        Ok(Self { tagger, rules, guesses: Mutex::new(guesses), shares })
    }

    /// Reads the files again. Returns a sentence for each change. Clients that already play may
    /// stay.
    ///
    /// # Errors
    /// A file cannot be read or used, and the old rules hold.
    pub(crate) fn reload(&self, options: &JoiningOptions) -> Result<Vec<String>, DoorError> {
        let rules = read(options, &self.tagger)?;
        let old = self.rules();
        let mut changes = Vec::new();
        if rules.password != old.password {
            changes.push(match rules.password {
                Some(_) => "players need another password from now on".to_owned(),
                None => "players need no password from now on".to_owned(),
            });
        }
        if rules.allowed != old.allowed {
            changes.push(match &rules.allowed {
                Some(list) => format!("the list of who may play has {} entries now", list.len()),
                None => "players need not be on a list from now on".to_owned(),
            });
        }
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
        Ok(changes)
    }

    /// Whether clients have to present a password, or a word of their own.
    pub(crate) fn asks(&self) -> bool {
        let rules = self.rules();
        rules.password.is_some() || rules.allowed.as_ref().is_some_and(AllowList::has_words)
    }

    /// Whether only players on a list may play.
    pub(crate) fn has_list(&self) -> bool {
        self.rules().allowed.is_some()
    }

    /// Decides whether a client at this address may play. The client presents `secret`, and
    /// `player` is the player of its connect token, if it has one. Returns the player if `secret`
    /// is the word of a player on the list.
    ///
    /// # Errors
    /// The client may not play.
    pub(crate) fn judge(
        &self,
        address: IpAddr,
        player: Option<u64>,
        secret: &[u8],
        now: Instant,
    ) -> Result<Option<Known>, Denied> {
        let Rules { password, allowed } = &*self.rules();
        let is_listed = allowed.as_ref().is_none_or(|list| list.admits(address, player));
        // A connect token has been checked before, and is not a password.
        if player.is_some() {
            return if is_listed { Ok(None) } else { Err(Denied::NotAllowed) };
        }
        let has_words = allowed.as_ref().is_some_and(AllowList::has_words);
        if password.is_none() && !has_words {
            return if is_listed { Ok(None) } else { Err(Denied::NotAllowed) };
        }
        if secret.is_empty() {
            let is_admitted = password.is_none() && is_listed;
            return if is_admitted { Ok(None) } else { Err(Denied::Missing) };
        }
        let mut guesses = self.guesses.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = if self.shares.is_exempt(address) { SHARED_GUESSES } else { GUESSES };
        let (guesses, rate) = guesses.of(address.into(), rate, now);
        if !guesses.wait(rate, 1.0, now).is_zero() {
            return Err(Denied::TooMany);
        }
        let tag = self.tagger.tag(secret);
        if let Some(known) = allowed.as_ref().and_then(|list| list.known(&tag)) {
            return Ok(Some(known.clone()));
        }
        // The comparison need not take constant time: see `Tagger`.
        if *password == Some(tag) {
            return if is_listed { Ok(None) } else { Err(Denied::NotAllowed) };
        }
        guesses.charge(rate, 1.0, now);
        Err(Denied::Wrong)
    }

    fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Guesses {
    fn new(now: Instant) -> Self {
        Self { by_address: HashMap::new(), others: TokenBucket::full(now) }
    }

    /// The bucket to which the guesses of an address are charged, and the bucket's rate.
    fn of(&mut self, address: AddressKey, rate: Rate, now: Instant) -> (&mut TokenBucket, Rate) {
        if !self.by_address.contains_key(&address) && self.by_address.len() >= REMEMBERED {
            self.by_address.retain(|_, bucket| !bucket.is_full(GUESSES, now));
            if self.by_address.len() >= REMEMBERED {
                return (&mut self.others, OTHER_GUESSES);
            }
        }
        (self.by_address.entry(address).or_insert(TokenBucket::full(now)), rate)
    }
}

/// The content of the files that the options name.
fn read(options: &JoiningOptions, tagger: &Tagger) -> Result<Rules, DoorError> {
    let password = read_file("--password", options.password.as_deref(), |text| {
        // An editor adds the line end. Other blanks belong to the password.
        let password = text.trim_end_matches(['\r', '\n']);
        if password.contains('\n') {
            return Err("the password has more than one line; write it on one".to_owned());
        }
        secret::check(password).map_err(|why| format!("the password cannot be used: {why}"))?;
        Ok(tagger.tag(password.as_bytes()))
    });
    let allowed =
        read_file("--allow", options.allow.as_deref(), |text| AllowList::parse(text, tagger));
    let rules = Rules { password: password?, allowed: allowed? };
    if rules.allowed.as_ref().is_some_and(|list| list.len() == 0) {
        warn!(
            "the list of --allow has no entries, so nobody may play; the disk may have been full \
             when it was written"
        );
    }
    Ok(rules)
}

/// Reads the file that an option names, if it names one.
fn read_file<T>(
    option: &'static str,
    path: Option<&Path>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, DoorError> {
    let Some(path) = path else { return Ok(None) };
    let text = regular_file::read_text(path, regular_file::LARGEST);
    let parsed = text.map_err(|error| error.to_string()).and_then(|text| parse(&text));
    parsed.map(Some).map_err(|reason| DoorError { option, path: path.to_owned(), reason })
}

#[cfg(test)]
mod tests;
