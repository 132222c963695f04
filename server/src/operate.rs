//! How a server is operated beside its matches: the web page ([`page`]) and the HTTP under it
//! ([`http`]), the admin interface ([`admin`]), answers to server lists ([`queries`]), metrics
//! ([`metrics`]), spans ([`spans`]) and the log ([`log`]), the fleet ([`fleet`]) and the service
//! manager ([`service`]) around it, whom it tells of what happens ([`webhook`]), what is read again
//! while it runs ([`reload`]), and its end ([`drain`]).
//!
//! A module of a feature that is not compiled in is replaced by the module of the same name in
//! `absent/`. It has no options, and its service never exists.

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
