//! Reads again the options and files that may change during a match: on SIGHUP (`systemctl
//! reload`), and when an administrator asks for it (`server admin reload`).
//!
//! Each thing that may change is a [`Part`], which is registered once with the options that it
//! reads. If a new value is wrong, the part keeps the old value and reports the error. An option
//! that has changed and that belongs to no part needs a restart. The outcome is a [`Report`], which
//! is logged and sent to the administrator.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tracing::{info, warn};

use super::options::Options;
use crate::matches::watchdog::Notifier;
use crate::operate::reload::Report;

/// The options as they are read at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) options: Options,
    /// The values of each option, by its long name, before they were parsed.
    pub(crate) values: BTreeMap<String, Vec<OsString>>,
}

/// Reads the options again, or says why they are wrong.
pub(crate) type Source = Box<dyn Fn() -> Result<Reading, String> + Send + Sync>;

/// Applies the options that differ from the values in use. Returns a sentence for each change.
type Take = Box<dyn Fn(&Options) -> Result<Vec<String>, String> + Send + Sync>;

/// A thing that may change while the match goes on.
pub(crate) struct Part {
    /// The name of the part in the log.
    name: &'static str,
    /// The long names of the options that the part reads.
    options: &'static [&'static str],
    take: Take,
}

impl Part {
    /// A part that reads these options and applies them by `take`. `take` returns a sentence for
    /// each change, without secrets, or the reason why a new value cannot be used. It compares the
    /// options with the values in use, because the options that were read last may have been
    /// refused.
    pub(crate) fn new(
        name: &'static str,
        options: &'static [&'static str],
        take: impl Fn(&Options) -> Result<Vec<String>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { name, options, take: Box::new(take) }
    }
}

/// All parts.
pub(crate) struct Reload {
    parts: Vec<Part>,
    source: OnceLock<Source>,
    notifier: Notifier,
    /// Only one reload runs at a time.
    state: Mutex<State>,
}

impl std::fmt::Debug for Reload {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.parts.iter().map(|part| part.name).collect();
        write!(formatter, "Reload({names:?})")
    }
}

struct State {
    /// The options that were read last, whether or not each part could apply them.
    options: Options,
    /// The values at the start. `None` if the options cannot be read again.
    first: Option<BTreeMap<String, Vec<OsString>>>,
}

impl Reload {
    /// Prepares the reloads of these parts. `options` are the options of the start. The notifier
    /// informs the service manager of each reload.
    pub(crate) fn new(options: &Options, parts: Vec<Part>, notifier: Notifier) -> Arc<Self> {
        let state = Mutex::new(State { options: options.clone(), first: None });
        Arc::new(Self { parts, source: OnceLock::new(), notifier, state })
    }

    /// Lets every later reload read the options by `source`, too. Without `source`, a reload reads
    /// only the files that the options name.
    pub(crate) fn follow(&self, source: Source) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.first = source().ok().map(|reading| reading.values);
        let _ = self.source.set(source);
    }

    /// Reads everything again. It waits for the disk.
    pub(crate) fn run(&self, asked_by: &str) -> Report {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.notifier.reloading();
        info!(asked_by, "reloading");
        let report = self.read(&mut state);
        for change in &report.changed {
            info!("reload: {change}");
        }
        for option in &report.needs_restart {
            warn!("reload: {option} has changed, and takes effect at the next start");
        }
        for refused in &report.refused {
            warn!("reload: {refused}");
        }
        info!(
            changed = report.changed.len(),
            needs_restart = report.needs_restart.len(),
            refused = report.refused.len(),
            "reloaded"
        );
        self.notifier.reloaded();
        report
    }

    fn read(&self, state: &mut State) -> Report {
        let mut report = Report::default();
        let mut options = state.options.clone();
        match self.source.get().map(|source| source()) {
            Some(Ok(reading)) => {
                options = reading.options;
                report.needs_restart = self.fixed(state.first.as_ref(), &reading.values);
            }
            Some(Err(error)) => {
                let error = error.trim();
                report.refused.push(format!("the options stay as they are: {error}"));
            }
            None => {}
        }
        for part in &self.parts {
            match (part.take)(&options) {
                Ok(changes) => report.changed.extend(changes),
                Err(error) => {
                    report.refused.push(format!("{}: the old value stays: {error}", part.name));
                }
            }
        }
        state.options = options;
        report
    }

    /// The options that belong to no part and differ from their values at the start.
    fn fixed(
        &self,
        first: Option<&BTreeMap<String, Vec<OsString>>>,
        now: &BTreeMap<String, Vec<OsString>>,
    ) -> Vec<String> {
        let Some(first) = first else { return Vec::new() };
        let belongs = |name: &str| self.parts.iter().any(|part| part.options.contains(&name));
        let has_changed = |name: &&String| first.get(*name) != now.get(*name) && !belongs(name);
        let names: std::collections::BTreeSet<&String> = first.keys().chain(now.keys()).collect();
        names.into_iter().filter(has_changed).map(|name| format!("--{name}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU16, Ordering};

    use super::*;

    fn reading(players: u16, port: &str) -> Reading {
        let options = Options { max_players: players, ..Options::new("arena") };
        let values = [("max-players", players.to_string()), ("listen", port.to_owned())];
        let values = values.map(|(name, value)| (name.to_owned(), vec![value.into()]));
        Reading { options, values: values.into() }
    }

    #[test]
    fn changed_unchangeable_and_wrong_parts_are_told_apart() {
        let players = Arc::new(AtomicU16::new(8));
        let seen = Arc::clone(&players);
        let part = Part::new("players", &["max-players"], move |now| {
            if now.max_players > 100 {
                return Err("too many".to_owned());
            }
            let is_new = seen.swap(now.max_players, Ordering::Relaxed) != now.max_players;
            Ok(is_new.then(|| format!("players: now {}", now.max_players)).into_iter().collect())
        });
        let reload = Reload::new(&reading(8, "1").options, vec![part], Notifier::default());
        let next = Arc::new(Mutex::new(Ok(reading(8, "1"))));
        let source = Arc::clone(&next);
        reload.follow(Box::new(move || source.lock().unwrap().clone()));
        assert_eq!(reload.run("a test"), Report::default());

        *next.lock().unwrap() = Ok(reading(9, "2"));
        let report = reload.run("a test");
        assert_eq!(report.changed, ["players: now 9"]);
        assert_eq!(report.needs_restart, ["--listen"]);
        assert_eq!(report.to_string(), "players: now 9; --listen needs a restart");
        // A change that still waits for a restart is reported again. A change that was applied is
        // not.
        let report = reload.run("a test");
        assert_eq!((report.changed.len(), report.needs_restart.len()), (0, 1));

        *next.lock().unwrap() = Ok(reading(101, "1"));
        // A value that was refused is refused again at the next reload.
        for _ in 0..2 {
            let report = reload.run("a test");
            assert_eq!(report.refused, ["players: the old value stays: too many"]);
            assert!(report.needs_restart.is_empty() && players.load(Ordering::Relaxed) == 9);
        }

        *next.lock().unwrap() = Err("c.toml: no such option".to_owned());
        let report = reload.run("a test");
        assert!(report.refused[0].contains("c.toml: no such option"), "{report}");
        assert_eq!(Report::default().to_string(), "nothing has changed");
    }
}
