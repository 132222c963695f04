//! Sends posts in the order in which they came, and tries each a few times.

use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use super::target::PostError;
use super::{PATIENCE, Post};
use crate::operate::metrics::webhook_metrics::PostOutcome;

/// The waits before a post is tried again: long enough for a receiver to restart.
const WAITS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(25)];

/// A receiver of posts.
pub(super) trait Receives {
    /// Posts once.
    fn post(&self, post: &Post) -> impl Future<Output = Result<(), PostError>>;
}

/// Sends posts until the server has `ended`, and then the posts that still wait, for [`PATIENCE`]
/// at most.
pub(super) async fn deliver_all(
    mut waiting: Receiver<Post>,
    mut ended: watch::Receiver<bool>,
    target: &impl Receives,
    count: impl Fn(PostOutcome),
) {
    let mut is_reached = true;
    let mut delivery = async |post: &Post, ended: &mut watch::Receiver<bool>| {
        let outcome = deliver(post, ended, target).await;
        match (&outcome, is_reached) {
            (Ok(()), false) => info!("the webhook takes posts again"),
            (Err(error), true) => warn!("a post to the webhook is lost: {error}"),
            (Err(error), false) => debug!("a post to the webhook is lost: {error}"),
            (Ok(()), true) => {}
        }
        is_reached = outcome.is_ok();
        count(match outcome {
            Ok(()) => PostOutcome::Delivered,
            Err(error) if error.is_final() => PostOutcome::Refused,
            Err(_) => PostOutcome::Failed,
        });
    };
    loop {
        let post = tokio::select! {
            biased;
            post = waiting.recv() => post,
            _ = ended.wait_for(|&ended| ended) => break,
        };
        let Some(post) = post else { return };
        delivery(&post, &mut ended).await;
        if *ended.borrow() {
            break;
        }
    }
    waiting.close();
    let rest = async {
        while let Some(post) = waiting.recv().await {
            delivery(&post, &mut ended).await;
        }
    };
    if timeout(PATIENCE, rest).await.is_err() {
        warn!(
            "the last posts to the webhook are lost: the receiver did not take them within \
             {PATIENCE:?} of the server's end"
        );
    }
}

/// Tries a post until the receiver takes or refuses it, or until the last of [`WAITS`] is over. A
/// try that fails after the end of the server is the last.
async fn deliver(
    post: &Post,
    ended: &mut watch::Receiver<bool>,
    target: &impl Receives,
) -> Result<(), PostError> {
    let mut outcome = target.post(post).await;
    for wait in WAITS {
        let Err(error) = &outcome else { break };
        if error.is_final() || *ended.borrow() {
            break;
        }
        debug!("a post to the webhook is tried again in {wait:?}: {error}");
        tokio::select! {
            () = sleep(wait) => {}
            _ = ended.wait_for(|&ended| ended) => {}
        }
        outcome = target.post(post).await;
    }
    outcome
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Arc;

    use hyper::StatusCode;
    use tokio::sync::mpsc::channel;
    use tokio::time::Instant;

    use super::*;

    /// A receiver that answers in turn with these outcomes and then takes everything.
    struct Scripted {
        answers: RefCell<Vec<Result<(), PostError>>>,
        tried: RefCell<Vec<(String, Duration)>>,
        begin: Instant,
    }

    impl Receives for Scripted {
        async fn post(&self, post: &Post) -> Result<(), PostError> {
            self.tried.borrow_mut().push((post.id.clone(), self.begin.elapsed()));
            let mut answers = self.answers.borrow_mut();
            if answers.is_empty() { Ok(()) } else { answers.remove(0) }
        }
    }

    fn post(id: &str) -> Post {
        Post { id: id.to_owned(), event: "join", body: Arc::from(&b"{}"[..]) }
    }

    fn unavailable() -> Result<(), PostError> {
        Err(PostError::Status(StatusCode::SERVICE_UNAVAILABLE))
    }

    async fn deliver_script(
        answers: Vec<Result<(), PostError>>,
        posts: &[&str],
    ) -> (Vec<(String, u64)>, Vec<PostOutcome>) {
        let (put, waiting) = channel(8);
        for id in posts {
            put.try_send(post(id)).unwrap();
        }
        drop(put);
        let (_ending, ended) = watch::channel(false);
        let (tried, begin) = (RefCell::default(), Instant::now());
        let receiver = Scripted { answers: RefCell::new(answers), tried, begin };
        let counted = RefCell::<Vec<PostOutcome>>::default();
        let count = |outcome| counted.borrow_mut().push(outcome);
        deliver_all(waiting, ended, &receiver, count).await;
        let tried = receiver.tried.into_inner();
        (tried.into_iter().map(|(id, at)| (id, at.as_secs())).collect(), counted.into_inner())
    }

    fn at(id: &str, second: u64) -> (String, u64) {
        (id.to_owned(), second)
    }

    #[tokio::test(start_paused = true)]
    async fn a_post_is_tried_again_and_keeps_its_place() {
        let (tried, counted) =
            deliver_script(vec![unavailable(), unavailable(), Ok(())], &["a", "b"]).await;
        assert_eq!(tried, [at("a", 0), at("a", 1), at("a", 6), at("b", 6)]);
        assert_eq!(counted, [PostOutcome::Delivered; 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_post_is_given_up_after_four_tries() {
        let answers = vec![unavailable(), unavailable(), unavailable(), unavailable()];
        let (tried, counted) = deliver_script(answers, &["a", "b"]).await;
        assert_eq!(tried, [at("a", 0), at("a", 1), at("a", 6), at("a", 31), at("b", 31)]);
        assert_eq!(counted, [PostOutcome::Failed, PostOutcome::Delivered]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_post_that_is_refused_is_not_repeated() {
        for status in [StatusCode::BAD_REQUEST, StatusCode::UNAUTHORIZED, StatusCode::FOUND] {
            let (tried, counted) =
                deliver_script(vec![Err(PostError::Status(status))], &["a", "b"]).await;
            assert_eq!(tried, [at("a", 0), at("b", 0)], "{status}");
            assert_eq!(counted, [PostOutcome::Refused, PostOutcome::Delivered], "{status}");
        }
        let (tried, _) =
            deliver_script(vec![Err(PostError::Status(StatusCode::TOO_MANY_REQUESTS))], &["a"])
                .await;
        assert_eq!(tried, [at("a", 0), at("a", 1)]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_the_server_sends_what_waits_and_tries_nothing_again() {
        let (put, waiting) = channel(8);
        for id in ["a", "b", "c"] {
            put.try_send(post(id)).unwrap();
        }
        let (ending, ended) = watch::channel(false);
        let (tried, begin) = (RefCell::default(), Instant::now());
        let answers = RefCell::new(vec![unavailable(), unavailable(), unavailable()]);
        let receiver = Scripted { answers, tried, begin };
        let counted = RefCell::<Vec<PostOutcome>>::default();
        let count = |outcome| counted.borrow_mut().push(outcome);
        let end = async {
            sleep(Duration::from_millis(1500)).await;
            ending.send_replace(true);
        };
        tokio::join!(deliver_all(waiting, ended, &receiver, count), end);
        let tried = receiver.tried.into_inner();
        let tried: Vec<_> = tried.iter().map(|(id, at)| (id.as_str(), at.as_millis())).collect();
        // The third try of `a` comes at once when the server ends, and is the last.
        assert_eq!(tried, [("a", 0), ("a", 1000), ("a", 1500), ("b", 1500), ("c", 1500)]);
        assert_eq!(counted.into_inner().len(), 3);
        // Nothing receives posts any more.
        assert!(put.try_send(post("d")).is_err());
    }
}
