//! The matches of a server: one or more, in the order in which they were asked for. A client that
//! does not name one joins the first.
//!
//! The tick thread ([`tick_thread`]) alone owns the simulation. All other parts hold the
//! [`match_handle`]. A match goes from [`level`] to level as its [`rounds`] say. Players sit on
//! [`seats`], through which their commands come. A match may be recorded ([`recording`]) and
//! audited ([`audit_thread`]). It is measured ([`telemetry`]), and the [`watchdog`] notices if it
//! hangs.

pub(crate) mod audit_thread;
pub(crate) mod happening;
pub(crate) mod level;
pub(crate) mod map_file;
pub(crate) mod match_handle;
pub mod recording;
pub(crate) mod rounds;
pub(crate) mod seats;
pub(crate) mod telemetry;
pub(crate) mod tick_thread;
pub(crate) mod watchdog;

use std::sync::Arc;
use std::time::Instant;

use obsp_proto::control::{MatchName, MatchNames};

use match_handle::MatchHandle;
use telemetry::{EventLoop, STALL};

/// One `T` for each match of a server. There is at least one.
#[derive(Clone, Debug)]
pub(crate) struct Matches<T> {
    first: T,
    others: Vec<T>,
}

/// The handles of all matches.
pub(crate) type MatchHandles = Matches<Arc<MatchHandle>>;

/// A part of a server that belongs to one match.
pub(crate) trait OfMatch {
    fn game(&self) -> &Arc<MatchHandle>;
}

impl OfMatch for Arc<MatchHandle> {
    fn game(&self) -> &Arc<MatchHandle> {
        self
    }
}

impl<T> Matches<T> {
    /// The first match and the others.
    pub(crate) fn new(first: T, others: Vec<T>) -> Self {
        Self { first, others }
    }

    pub(crate) fn first(&self) -> &T {
        &self.first
    }

    /// All entries, beginning with the first match's.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The number of matches; at least one.
    pub(crate) fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// The entries of both, match by match.
    pub(crate) fn zip<'a, U>(&'a self, other: &'a Matches<U>) -> Matches<(&'a T, &'a U)> {
        let others = self.others.iter().zip(&other.others).collect();
        Matches { first: (&self.first, &other.first), others }
    }

    /// Makes one `U` for each match, from its `T`.
    pub(crate) fn map<U>(&self, mut part: impl FnMut(&T) -> U) -> Matches<U> {
        Matches { first: part(&self.first), others: self.others.iter().map(part).collect() }
    }
}

impl<T> IntoIterator for Matches<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::iter::Once<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self.first).chain(self.others)
    }
}

impl<T: OfMatch> Matches<T> {
    /// The match named `name`.
    ///
    /// # Errors
    /// No match has this name. The error lists the names of all matches.
    pub(crate) fn find(&self, name: &str) -> Result<&T, MatchNames> {
        let found = self.iter().find(|part| part.game().name.as_str() == name);
        found.ok_or_else(|| self.names())
    }

    /// The match that the query of a request names by `match=NAME`, or the first if it names none.
    ///
    /// # Errors
    /// No match has that name. The error lists the names of all matches.
    pub(crate) fn asked(&self, query: Option<&str>) -> Result<&T, MatchNames> {
        // Names of matches have no character that a URL would have to encode.
        let mut pairs = query.into_iter().flat_map(|query| query.split('&'));
        match pairs.find_map(|pair| pair.strip_prefix("match=")) {
            Some(name) => self.find(name),
            None => Ok(&self.first),
        }
    }

    /// The names of all matches.
    pub(crate) fn names(&self) -> MatchNames {
        let name = |part: &T| -> MatchName { part.game().name.clone() };
        MatchNames::new(self.iter().map(name))
    }

    /// The matches that have not failed.
    pub(crate) fn played(&self) -> impl Iterator<Item = &T> {
        self.iter().filter(|part| !part.game().has_failed())
    }

    /// Whether any match that has not failed is alive: the network thread's event loop turns, the
    /// match ticks, and its snapshots are sent. If one match of several hangs, the watchdog gives
    /// it up, and the server is alive as long as another match is.
    pub(crate) fn is_alive(&self, now: Instant) -> bool {
        self.is_served(now) && self.played().any(|part| part.game().is_alive(now))
    }

    /// Whether the network thread, which serves the players of all matches, turns its event loop.
    pub(crate) fn is_served(&self, now: Instant) -> bool {
        let pulses = &self.first.game().telemetry.registry.pulses;
        pulses.of(EventLoop::Network).age(now).is_none_or(|age| age < STALL)
    }

    /// Players in all matches.
    pub(crate) fn players(&self) -> usize {
        self.iter().map(|part| part.game().clients.players()).sum()
    }

    /// The sum of the player limits of the matches that have not failed.
    pub(crate) fn player_limit(&self) -> u16 {
        let limits = self.played().map(|part| part.game().match_info().player_limit);
        limits.fold(0, u16::saturating_add)
    }
}
