//! Posts joins, leaves, results of rounds, and bans to the address of `--webhook`.
//!
//! Each event is a JSON object in an HTTP POST ([`event`]), signed if there is a key ([`target`]).
//! Posts wait in a bounded queue, which a thread empties in order ([`delivery`]). The match never
//! waits for the receiver: a post that finds the queue full is dropped and counted.

mod delivery;
mod event;
mod target;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use obsp_proto::control::MatchName;
use thiserror::Error;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::watch;
use tracing::info;

use crate::operate::introduction::ServerName;
use crate::options::Options;
use crate::telemetry::{PostOutcome, ServerTelemetry};
use crate::threads::join_until;
use crate::unix_time::unix_time;
use event::Envelope;
pub(crate) use event::{Happening, Person, Standing};
use target::{Key, Target};

/// Posts that may wait: as many as 32 players cause in a minute of joining and leaving.
const WAITING: usize = 256;

/// How long the end of the server waits for the last posts.
const PATIENCE: Duration = Duration::from_secs(2);

/// The name of the thread, for messages.
const PART: &str = "webhook thread";

/// Why events cannot be posted.
#[derive(Debug, Error)]
pub enum WebhookError {
    /// The value is not an address to which events can be posted. The message does not show it,
    /// because it may hold a secret.
    #[error("--webhook: {reason}; write it like https://example.org/arena")]
    Address {
        /// The reason.
        reason: &'static str,
    },
    /// The file of the key cannot be used.
    #[error("--webhook-key {}: {reason}", .path.display())]
    Key {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The system's certificates cannot be used.
    #[error("--webhook: cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The system refuses a thread or an event loop.
    #[error("cannot start the {PART}: {0}")]
    Thread(std::io::Error),
}

/// A post that waits to be sent.
#[derive(Clone, Debug)]
struct Post {
    /// The id of the post. No other post has it, even after a restart of the server. A repeated
    /// post keeps its id.
    id: String,
    event: &'static str,
    body: Arc<[u8]>,
}

/// Takes events for the webhook. Without `--webhook` it drops them.
#[derive(Clone, Default)]
pub(crate) struct Webhook(Option<Arc<Queue>>);

struct Queue {
    server: Option<ServerName>,
    /// When the server started, in seconds since 1970.
    start: u64,
    count: AtomicU64,
    posts: Sender<Post>,
    telemetry: Arc<ServerTelemetry>,
}

impl Webhook {
    /// Queues an event, of a match or of the whole server. It never waits.
    pub(crate) fn tell(&self, match_name: Option<&MatchName>, happening: &Happening) {
        let Some(queue) = &self.0 else { return };
        let id = format!("{}-{}", queue.start, queue.count.fetch_add(1, Ordering::Relaxed));
        let envelope = Envelope {
            id: &id,
            time: unix_time(),
            server: queue.server.as_ref().map(ServerName::as_str),
            match_name: match_name.map(MatchName::as_str),
            happening,
        };
        // Plain structures of numbers and texts can always be written.
        let body = serde_json::to_vec(&envelope).unwrap_or_default().into();
        if queue.posts.try_send(Post { id, event: happening.name(), body }).is_err() {
            queue.telemetry.webhook.count(PostOutcome::Dropped);
        }
    }

    /// Whether there is a receiver.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.is_some()
    }
}

/// The thread that posts. Dropping it waits up to two seconds for the last posts.
#[derive(Debug)]
pub(crate) struct Poster {
    thread: Option<JoinHandle<()>>,
    ending: watch::Sender<bool>,
}

impl Poster {
    /// Starts the thread, if the options name a receiver.
    pub(crate) fn start(
        options: &Options,
        telemetry: &Arc<ServerTelemetry>,
    ) -> Result<Option<(Self, Webhook)>, WebhookError> {
        let Some(url) = &options.webhook.webhook else { return Ok(None) };
        let key = options.webhook.webhook_key.as_deref().map(Key::read).transpose()?;
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
            server: options.introduction.name.clone(),
            start: unix_time(),
            count: AtomicU64::new(0),
            posts,
            telemetry: Arc::clone(telemetry),
        };
        Ok(Some((Self { thread, ending }, Webhook(Some(Arc::new(queue))))))
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
    use crate::telemetry::ServerIdentity;

    fn webhook() -> (Webhook, Receiver<Post>, Arc<ServerTelemetry>) {
        let telemetry = Arc::new(ServerTelemetry::new(&ServerIdentity::default()).unwrap());
        let (posts, waiting) = channel(WAITING);
        let queue = Queue {
            server: None,
            start: 5,
            count: AtomicU64::new(0),
            posts,
            telemetry: Arc::clone(&telemetry),
        };
        (Webhook(Some(Arc::new(queue))), waiting, telemetry)
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
        assert!(!Webhook::default().is_heard());
        Webhook::default().tell(None, &ban());
    }
}
