use metrics::{Counter, counter};

use super::catalogue;

/// The outcome of a post to the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostOutcome {
    /// The receiver has taken the post.
    Delivered,
    /// The receiver refuses the post.
    Refused,
    /// Every try failed: the receiver could not be reached, or reported an error.
    Failed,
    /// Too many posts waited already.
    Dropped,
}

/// Posts to the webhook and their outcomes.
pub(crate) struct WebhookMetrics([Counter; 4]);

impl WebhookMetrics {
    pub(super) fn register() -> Self {
        let labels = ["delivered", "refused", "failed", "dropped"];
        Self(labels.map(|outcome| counter!(catalogue::WEBHOOK_POSTS, "outcome" => outcome)))
    }

    pub(crate) fn count(&self, outcome: PostOutcome) {
        self.0[outcome as usize].increment(1);
    }
}
