//! Without the feature `admin`, nothing is posted to a webhook.

use std::sync::Arc;

use crate::common::error::WebhookError;
use crate::door::introduction::ServerName;
use crate::matches::happening::Listener;
use crate::operate::metrics::server_telemetry::ServerTelemetry;
use options::WebhookOptions;

/// The options of the feature: none.
pub(crate) mod options {
    /// The receiver of joins, leaves, results and bans.
    #[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
    pub struct WebhookOptions {}
}

/// A type without values, in place of the thread that posts.
#[derive(Debug)]
pub(crate) enum Poster {}

impl Poster {
    pub(crate) fn start(
        _: &WebhookOptions,
        _: Option<&ServerName>,
        _: &Arc<ServerTelemetry>,
    ) -> Result<Option<(Self, Listener)>, WebhookError> {
        Ok(None)
    }
}
