//! The log: lines on standard error that can never stop or slow a match.
//!
//! A thread that logs formats a line and appends it to a [`Queue`] that is bounded in bytes. The
//! [`writer`], a thread of its own, writes the lines that wait. If nobody reads the pipe, or the
//! disk is full, the queue fills and further lines are dropped. Lines that are dropped or cannot be
//! written are counted ([`lost`], and the metric `game_log_lines_lost_total`). One line reports
//! them as soon as lines can be written again. Lines of a place in the code that logs too often are
//! held back ([`limit`]), so that a peer cannot fill the disk.
//!
//! `tracing-appender` also writes on a thread of its own, but bounds its queue in lines instead of
//! bytes, and does not report lines that it cannot write.

mod limit;
mod line;
mod lost;
pub(crate) mod options;
mod queue;
mod writer;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tracing::{Level, Subscriber, warn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, fmt, reload};

use limit::SiteLimit;
pub(crate) use lost::LostLine;
pub use options::LogFormat;
use queue::Queue;

/// The log filter, unless `RUST_LOG` sets another: this project's own messages, and only errors of
/// other crates. A peer can make some other crates warn as often as it likes.
const DEFAULT_FILTER: &str = "error,server=info,obsp=info,obsp_sim=info,obsp_proto=info";

/// How long the process waits for lines to be written before it ends.
const FLUSH: Duration = Duration::from_secs(1);

/// The handle that changes the filter of the process's log, once there is a log.
static FILTER: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();

/// Changes the filter of the process's log. Returns `None` if the process has no log.
pub(crate) fn set_filter(filter: &str) -> Option<Result<(), FilterError>> {
    FILTER.get().map(|handle| reload(handle, filter))
}

fn reload(handle: &reload::Handle<EnvFilter, Registry>, filter: &str) -> Result<(), FilterError> {
    let filter = parse(filter)?;
    // Reloading fails only once the subscriber is gone, and nothing is logged then.
    let _ = handle.reload(filter);
    Ok(())
}

/// The log of this process. Dropping it waits, up to a second, until the last
/// line is written.
pub struct Log {
    format: LogFormat,
    queue: Arc<Queue>,
    filter: reload::Handle<EnvFilter, Registry>,
}

/// A log filter that cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("{filter:?} is not a log filter: {source}; try \"info\" or \"error,server=debug\"")]
pub struct FilterError {
    /// The filter that was asked for.
    filter: String,
    /// The reason.
    source: tracing_subscriber::filter::ParseError,
}

impl Log {
    /// Starts the log of this process on standard error. The log includes panics, and `RUST_LOG`
    /// sets its filter.
    ///
    /// # Errors
    /// The system refuses a thread, or this process has a log already.
    pub fn start(format: LogFormat) -> io::Result<Self> {
        let limit = SiteLimit::default();
        let queue = Queue::new();
        writer::start(Arc::clone(&queue), io::stderr(), format, limit.clone())?;
        let asked = std::env::var("RUST_LOG").ok().filter(|asked| !asked.is_empty());
        let asked = asked.map(|asked| parse(&asked)).transpose();
        let (filter, wrong) = match asked {
            Ok(filter) => (filter.unwrap_or_else(|| EnvFilter::new(DEFAULT_FILTER)), None),
            Err(error) => (EnvFilter::new(DEFAULT_FILTER), Some(error)),
        };
        let (filter, handle) = reload::Layer::new(filter);
        let ansi = io::stderr().is_terminal();
        let lines = lines(format, ansi, Arc::clone(&queue));
        let subscriber = Registry::default().with(filter).with(limit).with(lines);
        subscriber.try_init().map_err(io::Error::other)?;
        log_panics(format, Arc::clone(&queue));
        if let Some(error) = wrong {
            warn!("RUST_LOG: {error}; logging {DEFAULT_FILTER:?} instead");
        }
        let _ = FILTER.set(handle.clone());
        Ok(Self { format, queue, filter: handle })
    }

    /// Changes the filter of the log. `filter` has the syntax of `RUST_LOG`.
    ///
    /// # Errors
    /// The filter cannot be parsed. The log keeps the old one.
    pub fn set_filter(&self, filter: &str) -> Result<(), FilterError> {
        reload(&self.filter, filter)
    }

    /// Logs why the process ends. No filter holds this line back.
    pub fn fatal(&self, error: &dyn Display) {
        self.queue.push(line::line(self.format, Level::ERROR, &error.to_string(), &[]).as_bytes());
    }

    /// Waits until all that was logged is written, but no longer than a second.
    pub fn flush(&self) {
        self.queue.flush(FLUSH);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.flush();
    }
}

fn parse(filter: &str) -> Result<EnvFilter, FilterError> {
    let wrong = |source| FilterError { filter: filter.to_owned(), source };
    EnvFilter::builder().parse(filter).map_err(wrong)
}

/// The layer that formats events and appends them to the queue.
fn lines<S>(format: LogFormat, ansi: bool, queue: Arc<Queue>) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let lines = fmt::layer()
        .with_target(false)
        .with_ansi(ansi)
        // Otherwise the layer would print an error about a line that cannot be written, and
        // printing could panic.
        .log_internal_errors(false)
        .with_writer(move || Arc::clone(&queue).writer());
    match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().boxed(),
    }
}

/// Logs panics instead of printing them, which could block or fail.
fn log_panics(format: LogFormat, queue: Arc<Queue>) {
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        let mut message = format!("thread {} {panic}", thread.name().unwrap_or("unnamed"));
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            message += &format!("\n{backtrace}");
        }
        queue.push(line::line(format, Level::ERROR, &message, &[]).as_bytes());
    }));
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_filter_that_makes_no_sense_is_named() {
        assert!(parse("error,server=debug").is_ok());
        let error = parse("server=loud").unwrap_err().to_string();
        assert!(error.contains("\"server=loud\""), "{error}");
    }

    #[test]
    fn of_libraries_only_errors_are_logged() {
        let queue = Queue::new();
        let lines = lines(LogFormat::Text, false, Arc::clone(&queue));
        let filter = EnvFilter::new(DEFAULT_FILTER);
        tracing::subscriber::with_default(Registry::default().with(filter).with(lines), || {
            tracing::info!("ours");
            tracing::debug!("ours, for developers");
            // A spectator can cause thousands of these a second.
            tracing::warn!(target: "web_transport_quinn::session", "unknown capsule");
            tracing::error!(target: "quinn::endpoint", "theirs");
        });
        let mut batch = Vec::new();
        queue.drain(&mut batch);
        let written = String::from_utf8(batch).unwrap();
        let ends: Vec<_> = written.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
        assert_eq!(ends, ["ours", "theirs"], "{written}");
    }

    #[test]
    fn the_filter_can_be_changed_while_lines_are_logged() {
        let queue = Queue::new();
        let (filter, handle) = reload::Layer::new(EnvFilter::new("error"));
        let lines = lines(LogFormat::Text, false, Arc::clone(&queue));
        let log = Log { format: LogFormat::Text, queue: Arc::clone(&queue), filter: handle };
        tracing::subscriber::with_default(Registry::default().with(filter).with(lines), || {
            warn!("first");
            log.set_filter("warn").unwrap();
            warn!("second");
            assert!(log.set_filter("server=loud").is_err());
            warn!("third");
        });
        log.fatal(&"the end");
        let mut batch = Vec::new();
        queue.drain(&mut batch);
        let written = String::from_utf8(batch).unwrap();
        let words: Vec<_> = written.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
        assert_eq!(words, ["second", "third", "end"], "{written}");
        // No thread takes lines from the queue here, so the drop waits as long as it may.
        queue.push(b"never written\n");
        let begin = Instant::now();
        drop(log);
        assert!(begin.elapsed() >= FLUSH);
    }
}
