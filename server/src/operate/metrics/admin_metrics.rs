use metrics::{Counter, counter};

use super::catalogue;

/// Requests of administrators and their outcomes.
pub(crate) struct AdminMetrics(Vec<(&'static str, [Counter; 2])>);

/// The requests; `unauthorised` counts all without a valid token.
const REQUESTS: [&str; 19] = [
    "status",
    "players",
    "kick",
    "mute",
    "bans",
    "ban",
    "unban",
    "mutes",
    "mute_subject",
    "unmute_subject",
    "say",
    "map",
    "restart",
    "settings",
    "drain",
    "log",
    "reload",
    "openapi",
    "unauthorised",
];

const OUTCOMES: [&str; 2] = ["done", "refused"];

impl AdminMetrics {
    pub(super) fn register() -> Self {
        let counters = |request: &'static str| {
            OUTCOMES.map(|outcome| {
                counter!(catalogue::ADMIN_REQUESTS, "request" => request, "outcome" => outcome)
            })
        };
        Self(REQUESTS.into_iter().map(|request| (request, counters(request))).collect())
    }

    pub(crate) fn count(&self, request: &str, done: bool) {
        debug_assert!(REQUESTS.contains(&request), "{request}");
        if let Some((_, [yes, no])) = self.0.iter().find(|(name, _)| *name == request) {
            if done { yes } else { no }.increment(1);
        }
    }

    /// Whether requests of this name are counted.
    #[cfg(test)]
    pub(crate) fn knows(request: &str) -> bool {
        REQUESTS.contains(&request)
    }
}
