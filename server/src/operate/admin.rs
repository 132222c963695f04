//! The admin interface (`--admin`): JSON over HTTP, on a loopback listener with its own thread.
//! Programs use it, and so does its command-line client, `server admin`.
//!
//! [`access`] checks bearer tokens. [`bodies`] defines the bodies of requests, and [`views`] those
//! of responses. [`routes`] handles the requests, and [`mutes`] handles the requests that mute.
//! `admin/openapi.json` describes the interface; a test checks that it describes exactly the
//! routes. Every request to a route is counted. A request that may change something is also logged,
//! with the name of the administrator.

mod access;
pub(crate) mod bodies;
mod mutes;
pub(crate) mod options;
mod routes;
mod views;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use tokio::runtime::Builder;

use super::http;
use crate::common::error::{RunError, StartError};
use crate::matches::Matches;
use crate::matches::match_handle::MatchHandle;
use crate::matches::telemetry::EventLoop;
use crate::operate::http::gatekeeper::Audience;
use crate::operate::metrics::server_telemetry::ServerTelemetry;
use crate::operate::reload::Reloads;
use access::Access;
use options::AdminOptions;

/// A listening admin interface; [`Admin::run`] answers its requests.
pub(crate) struct Admin {
    listener: TcpListener,
    access: Arc<Access>,
}

/// The matches that administrators see and change.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) games: Matches<Arc<MatchHandle>>,
    /// The server's `--drain` time. A drain request that names no time lasts this long, but at
    /// least ten minutes.
    pub(crate) drain: std::time::Duration,
    /// Reads options and files again when an administrator asks for it.
    pub(crate) reload: Reloads,
    /// Counts the requests.
    pub(crate) telemetry: Arc<ServerTelemetry>,
}

/// The tokens of the administrators.
pub(crate) struct Tokens(Arc<Access>);

impl Tokens {
    /// Reads the file that the options name again. Returns a sentence for each change, which shows
    /// no token.
    pub(crate) fn reload(&self, options: &AdminOptions) -> Result<Vec<String>, String> {
        let Some(path) = &options.admin_tokens else {
            return Err("a server with --admin needs --admin-tokens".into());
        };
        self.0.reload(path).map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Admin {
    /// Opens the interface, if the options name its address.
    ///
    /// # Errors
    /// The errors of [`Admin::at`].
    pub(crate) fn open(options: &AdminOptions) -> Result<Option<Self>, StartError> {
        let (Some(address), Some(tokens)) = (options.admin, &options.admin_tokens) else {
            return Ok(None);
        };
        Self::at(address, tokens).map(Some)
    }

    /// Binds the listener and reads the tokens of the administrators.
    ///
    /// # Errors
    /// The address is not a loopback address or cannot be bound; or the file of tokens cannot be
    /// used.
    fn at(address: SocketAddr, tokens: &Path) -> Result<Self, StartError> {
        if !address.ip().is_loopback() {
            return Err(StartError::AdminAddress(address));
        }
        let access = Access::read(tokens)
            .map_err(|reason| StartError::AdminTokens { path: tokens.to_owned(), reason })?;
        Ok(Self { listener: http::bind(address, "--admin")?, access: Arc::new(access) })
    }

    /// The tokens, which may be read again.
    pub(crate) fn tokens(&self) -> Tokens {
        Tokens(Arc::clone(&self.access))
    }

    /// The address on which the interface listens.
    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests until the server ends.
    pub(crate) fn run(self, context: Context) -> Result<(), RunError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(RunError::Http)?;
        let game = Arc::clone(context.games.first());
        let pages = routes::router(context, self.access);
        let served = runtime.block_on(async {
            tokio::select! {
                served = http::serve(self.listener, pages, Audience::Administrators, &game) => served,
                never = game.telemetry.registry.pulses.of(EventLoop::Admin).keep(|| {}) => match never {},
            }
        });
        runtime.shutdown_background();
        served
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::routes::ROUTES;

    fn page() -> Value {
        serde_json::from_str(include_str!("admin/openapi.json")).unwrap()
    }

    #[test]
    fn the_description_names_every_route_and_no_other() {
        let page = page();
        let described: BTreeSet<_> = page["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, operations)| {
                let operations = operations.as_object().unwrap().iter();
                operations.map(move |(method, operation)| {
                    let name = operation["operationId"].as_str().unwrap().to_owned();
                    (method.clone(), path.clone(), name)
                })
            })
            .collect();
        let routes = ROUTES.map(|(method, path, name)| (method.into(), path.into(), name.into()));
        assert_eq!(described, routes.into());
    }

    #[test]
    fn every_request_is_counted() {
        for (.., name) in ROUTES {
            assert!(crate::operate::metrics::admin_metrics::AdminMetrics::knows(name), "{name}");
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let page = page();
        let text = page.to_string();
        for part in text.split("\"#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(page["components"]["schemas"].get(name).is_some(), "{name}");
        }
    }
}
