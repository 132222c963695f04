//! The parts by which a server is operated. People and programs reach the server by the web page
//! ([`page`]) over HTTP ([`http`]), by the admin interface ([`admin`]) and by server queries
//! ([`queries`]). The server reports by metrics ([`metrics`]), spans ([`spans`]), the log ([`log`])
//! and a webhook ([`webhook`]). It may belong to a fleet ([`fleet`]) and run under a service
//! manager ([`service`]). Some options and files are read again while the server runs ([`reload`]),
//! and it drains before it ends ([`drain`]).
//!
//! If a feature is not compiled in, the module of the same name in `absent/` replaces its module.
//! The replacement has no options and starts no service.

#[cfg_attr(not(feature = "admin"), path = "operate/absent/admin.rs")]
pub(crate) mod admin;
pub(crate) mod drain;
#[cfg_attr(not(feature = "agones"), path = "operate/absent/fleet.rs")]
pub(crate) mod fleet;
#[cfg(feature = "http-server")]
pub(crate) mod http;
#[cfg_attr(not(feature = "cli"), path = "operate/absent/log.rs")]
pub(crate) mod log;
pub(crate) mod metrics;
#[cfg_attr(not(feature = "pages"), path = "operate/absent/page.rs")]
pub(crate) mod page;
#[cfg_attr(not(feature = "a2s"), path = "operate/absent/queries.rs")]
pub(crate) mod queries;
pub(crate) mod reload;
pub(crate) mod service;
#[cfg_attr(not(feature = "otlp"), path = "operate/absent/spans.rs")]
pub(crate) mod spans;
#[cfg_attr(not(feature = "admin"), path = "operate/absent/webhook.rs")]
pub(crate) mod webhook;
