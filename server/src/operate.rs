//! How a server is operated beside its matches: the web page ([`page`]) and the HTTP under it
//! ([`http`]), the admin interface ([`admin`]), answers to server lists ([`queries`]), metrics
//! ([`metrics`]), spans ([`spans`]) and the log ([`log`]), the fleet ([`fleet`]) and the service
//! manager ([`service`]) around it, whom it tells of what happens ([`webhook`]), what is read again
//! while it runs ([`reload`]), and its end ([`drain`]).

pub(crate) mod admin;
pub(crate) mod drain;
pub(crate) mod fleet;
pub(crate) mod http;
pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod page;
pub(crate) mod queries;
pub(crate) mod reload;
pub(crate) mod service;
pub(crate) mod spans;
pub(crate) mod webhook;
