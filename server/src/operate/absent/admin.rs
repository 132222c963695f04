//! Without the feature `admin`, there is no admin interface.

// `server admin` still needs the bodies: it is a client of the admin interfaces of other servers.
#[path = "../admin/bodies.rs"]
pub(crate) mod bodies;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::common::error::{RunError, StartError};
use crate::matches::MatchHandles;
use crate::operate::metrics::server_telemetry::ServerTelemetry;
use crate::operate::reload::Reloads;
use options::AdminOptions;

/// The options of the feature: none.
pub(crate) mod options {
    /// The admin interface.
    #[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
    pub struct AdminOptions {}
}

/// A type without values, in place of the admin interface.
pub(crate) enum Admin {}

/// A type without values, in place of the tokens of administrators.
pub(crate) enum Tokens {}

/// The data that an admin interface would show and change.
pub(crate) struct Context {
    pub(crate) games: MatchHandles,
    pub(crate) drain: Duration,
    pub(crate) reload: Reloads,
    pub(crate) telemetry: Arc<ServerTelemetry>,
}

impl Admin {
    pub(crate) fn open(_: &AdminOptions) -> Result<Option<Self>, StartError> {
        Ok(None)
    }

    pub(crate) fn tokens(&self) -> Tokens {
        match *self {}
    }

    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        match *self {}
    }

    pub(crate) fn run(self, _: Context) -> Result<(), RunError> {
        match self {}
    }
}

impl Tokens {
    pub(crate) fn reload(&self, _: &AdminOptions) -> Result<Vec<String>, String> {
        match *self {}
    }
}
