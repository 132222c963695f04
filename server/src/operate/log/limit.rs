//! Limits on repeated log lines: each call site, which is a place in the code that logs, has an
//! allowance. Further lines are suppressed and counted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tracing::callsite::Identifier;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use super::lost::LostLine;

/// Lines that one call site may log in a row: enough for every player of a large match to
/// join or leave at once.
const BURST: f64 = 300.0;

/// Lines a second that one call site may log in the long run: a peer can cause at most 40 MB an
/// hour.
pub(super) const PER_SECOND: f64 = 10.0;

/// Suppresses lines of call sites that log too often, because a peer that causes lines must not
/// fill the disk with them. Debugging lines are not suppressed, because somebody has asked for
/// them.
#[derive(Clone, Default)]
pub(super) struct SiteLimit(Arc<Mutex<HashMap<Identifier, Site>>>);

/// A call site.
struct Site {
    metadata: &'static Metadata<'static>,
    /// Lines that the call site may log now.
    allowance: f64,
    last: Instant,
    /// Suppressed lines that no notice has reported yet.
    suppressed: u64,
}

/// How many lines of one call site were suppressed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Suppressed {
    /// The call site: file and line.
    pub(super) site: String,
    pub(super) lines: u64,
}

impl SiteLimit {
    /// Whether a line of this call site may be logged at `now`.
    fn admits(&self, metadata: &'static Metadata<'static>, now: Instant) -> bool {
        if *metadata.level() > Level::INFO {
            return true;
        }
        let mut sites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let site = sites.entry(metadata.callsite()).or_insert_with(|| Site {
            metadata,
            allowance: BURST,
            last: now,
            suppressed: 0,
        });
        let gained = PER_SECOND * now.saturating_duration_since(site.last).as_secs_f64();
        site.allowance = (site.allowance + gained).min(BURST);
        site.last = now;
        if site.allowance >= 1.0 {
            site.allowance -= 1.0;
            return true;
        }
        site.suppressed += 1;
        LostLine::RateLimited.count(1);
        false
    }

    /// The lines suppressed since the last call.
    pub(super) fn take_suppressed(&self) -> Vec<Suppressed> {
        let mut sites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let suppressed =
            sites.values_mut().filter(|site| site.suppressed > 0).map(|site| Suppressed {
                site: file_and_line(site.metadata),
                lines: std::mem::take(&mut site.suppressed),
            });
        let mut suppressed: Vec<_> = suppressed.collect();
        suppressed.sort_unstable_by(|a, b| a.site.cmp(&b.site));
        suppressed
    }
}

fn file_and_line(metadata: &Metadata<'_>) -> String {
    let file = metadata.file().unwrap_or_else(|| metadata.target());
    metadata.line().map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}

impl<S: Subscriber> Layer<S> for SiteLimit {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        self.admits(event.metadata(), Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tracing::subscriber::with_default;
    use tracing_subscriber::Registry;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::operate::log::LogFormat;
    use crate::operate::log::lines;
    use crate::operate::log::queue::Queue;

    #[test]
    fn lines_of_a_call_site_that_logs_too_often_are_suppressed_and_no_others() {
        let (queue, limit) = (Queue::new(), SiteLimit::default());
        let lines = lines(LogFormat::Text, false, Arc::clone(&queue));
        with_default(Registry::default().with(limit.clone()).with(lines), || {
            for _ in 0..1000 {
                tracing::warn!("peer");
            }
            tracing::info!("operator");
            for _ in 0..1000 {
                tracing::debug!("developer");
            }
        });
        let mut batch = Vec::new();
        queue.drain(&mut batch);
        let written = String::from_utf8(batch).unwrap();
        let count = |word: &str| written.lines().filter(|line| line.ends_with(word)).count();
        // On a slow machine, the call site regains some allowance meanwhile.
        assert!((300..400).contains(&count("peer")), "{}", count("peer"));
        assert_eq!((count("operator"), count("developer")), (1, 1000));
        let suppressed = limit.take_suppressed();
        assert_eq!(suppressed.len(), 1);
        assert_eq!(suppressed[0].lines as usize, 1000 - count("peer"));
        assert!(suppressed[0].site.contains("limit.rs:"), "{suppressed:?}");
        assert!(limit.take_suppressed().is_empty());
    }

    #[test]
    fn a_call_site_regains_its_allowance() {
        let limit = SiteLimit::default();
        let metadata = {
            use tracing::callsite::Callsite;
            let callsite = tracing::callsite!(name: "test", kind: tracing::metadata::Kind::EVENT, target: "test", level: Level::WARN, fields: message);
            callsite.metadata()
        };
        let begin = Instant::now();
        let admitted = |seconds: u64| {
            let now = begin + Duration::from_secs(seconds);
            (0..1000).filter(|_| limit.admits(metadata, now)).count()
        };
        assert_eq!([admitted(0), admitted(1), admitted(2), admitted(600)], [300, 10, 10, 300]);
    }
}
