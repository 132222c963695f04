//! Posts joins, leaves, results of rounds, and bans to the address of `--webhook`.
//!
//! Each event is a JSON object in an HTTP POST ([`envelope`]), signed if there is a key
//! ([`target`]). Posts wait in a bounded queue, which a thread empties in order ([`delivery`]). The
//! match never waits for the receiver: a post that finds the queue full is dropped and counted.

mod delivery;
mod envelope;
pub(crate) mod options;
mod target;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use obsp_proto::control::MatchName;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::watch;
use tracing::info;

use super::metrics::server_telemetry::ServerTelemetry;
use super::metrics::webhook_metrics::PostOutcome;
use crate::common::clock::unix_time;
use crate::common::error::WebhookError;
use crate::common::threads::join_until;
use crate::door::introduction::ServerName;
use crate::matches::happening::{Happening, Listener};
use envelope::Envelope;
use options::WebhookOptions;
use target::{Key, Target};

/// Posts that may wait: as many as 32 players cause in a minute of joining and leaving.
const WAITING: usize = 256;

/// How long the end of the server waits for the last posts.
const PATIENCE: Duration = Duration::from_secs(2);

/// The name of the thread, for messages.
const PART: &str = "webhook thread";

/// A post that waits to be sent.
#[derive(Clone, Debug)]
struct Post {
    /// The id of the post. No other post has it, even after a restart of the server. A repeated
    /// post keeps its id.
    id: String,
    event: &'static str,
    body: Arc<[u8]>,
}

/// Takes events for the webhook.
struct Queue {
    server: Option<ServerName>,
    /// When the server started, in seconds since 1970.
    start: u64,
    count: AtomicU64,
    posts: Sender<Post>,
    telemetry: Arc<ServerTelemetry>,
}

impl Queue {
    /// Queues an event, of a match or of the whole server. It never waits.
    fn take(&self, match_name: Option<&MatchName>, happening: &Happening) {
        let id = format!("{}-{}", self.start, self.count.fetch_add(1, Ordering::Relaxed));
        let envelope = Envelope {
            id: &id,
            time: unix_time(),
            server: self.server.as_ref().map(ServerName::as_str),
            match_name: match_name.map(MatchName::as_str),
            happening,
        };
        // Plain structures of numbers and texts can always be written.
        let body = serde_json::to_vec(&envelope).unwrap_or_default().into();
        if self.posts.try_send(Post { id, event: happening.name(), body }).is_err() {
            self.telemetry.webhook.count(PostOutcome::Dropped);
        }
    }

    /// Hands events to this queue.
    fn listener(self) -> Listener {
        Listener::new(move |match_name, happening| self.take(match_name, happening))
    }
}

/// The thread that posts. Dropping it waits up to two seconds for the last posts.
#[derive(Debug)]
pub(crate) struct Poster {
    thread: Option<JoinHandle<()>>,
    ending: watch::Sender<bool>,
}

impl Poster {
    /// Starts the thread, if the options name a receiver. Each post contains the name of the
    /// server.
    pub(crate) fn start(
        options: &WebhookOptions,
        server: Option<&ServerName>,
        telemetry: &Arc<ServerTelemetry>,
    ) -> Result<Option<(Self, Listener)>, WebhookError> {
        let Some(url) = &options.webhook else { return Ok(None) };
        let key = options.webhook_key.as_deref().map(Key::read).transpose()?;
        if key.is_none() {
            info!("without --webhook-key, posts to the webhook are not signed");
        }
        let target = Target::new(url, key, target::system_roots()?)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(WebhookError::Thread)?;
        let (posts, waiting) = channel(WAITING);
        let (ending, ended) = watch::channel(false);
        let metrics = Arc::clone(telemetry);
        let work = move || {
            let count = |outcome| metrics.webhook.count(outcome);
            runtime.block_on(delivery::deliver_all(waiting, ended, &target, count));
        };
        let thread = Builder::new().name(PART.to_owned()).spawn(work);
        let thread = Some(thread.map_err(WebhookError::Thread)?);
        let queue = Queue {
            server: server.cloned(),
            start: unix_time(),
            count: AtomicU64::new(0),
            posts,
            telemetry: Arc::clone(telemetry),
        };
        Ok(Some((Self { thread, ending }, queue.listener())))
    }
}

impl Drop for Poster {
    fn drop(&mut self) {
        self.ending.send_replace(true);
        if let Some(thread) = self.thread.take()
            && join_until(PART, thread, Instant::now() + PATIENCE).is_err()
        {
            tracing::warn!("the last posts to the webhook were not sent in time");
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::Receiver;

    use super::*;
    use crate::operate::metrics::server_telemetry::ServerIdentity;

    fn webhook() -> (Listener, Receiver<Post>, Arc<ServerTelemetry>) {
        let telemetry = Arc::new(ServerTelemetry::new(&ServerIdentity::default()).unwrap());
        let (posts, waiting) = channel(WAITING);
        let queue = Queue {
            server: None,
            start: 5,
            count: AtomicU64::new(0),
            posts,
            telemetry: Arc::clone(&telemetry),
        };
        (queue.listener(), waiting, telemetry)
    }

    fn ban() -> Happening {
        let (subject, reason, by) = ("player:7".into(), String::new(), "ops".into());
        Happening::Ban { subject, reason, by, expires: None }
    }

    #[test]
    fn the_queue_drops_and_counts_what_is_beyond_its_bound() {
        let (webhook, mut waiting, telemetry) = webhook();
        let dropped = || {
            let page = telemetry.render(|| {});
            page.contains("game_webhook_posts_total{outcome=\"dropped\"} 1")
        };
        for _ in 0..WAITING {
            webhook.tell(None, &ban());
        }
        assert!(!dropped());
        webhook.tell(None, &ban());
        assert!(dropped());
        // The first posts wait in their order, and the later ones were dropped.
        let ids: Vec<_> =
            std::iter::from_fn(|| waiting.try_recv().ok()).map(|post| post.id).collect();
        assert_eq!(ids, (0..WAITING).map(|number| format!("5-{number}")).collect::<Vec<_>>());
    }

    #[test]
    fn without_a_receiver_nothing_is_written() {
        assert!(!Listener::default().is_heard());
        Listener::default().tell(None, &ban());
    }
}
