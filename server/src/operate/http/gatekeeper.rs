//! The checks that each connection and each request to a listener has to pass.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use metrics::Counter;

use super::limits::Limits;
use super::metered::Toll;
use super::tls::Tls;
use crate::common::stop::Stop;
use crate::door::outgoing::{Outgoing, Payer};
use crate::door::public_endpoint::origins::Origins;
use crate::matches::match_handle::MatchHandle;
use crate::matches::match_handle::who_may_see::Viewer;

/// The peers that may connect to a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Administrators at this machine. Their bytes do not leave the machine, so they are not
    /// charged.
    Administrators,
    /// The operators of the server.
    Operators,
    Everybody,
}

/// The checks that each connection and each request has to pass.
#[derive(Clone)]
pub(crate) struct Gatekeeper {
    pub(crate) limits: Limits,
    pub(crate) audience: Audience,
    pub(crate) origins: Origins,
    pub(crate) outgoing: Arc<Outgoing>,
    /// Counts connections that lose their places to others.
    pub(crate) places_lost: Counter,
    pub(crate) stop: Stop,
    /// The TLS configuration. `None` for plain HTTP.
    pub(crate) tls: Option<Tls>,
}

impl Gatekeeper {
    /// The gatekeeper of plain HTTP pages of the server that `game` belongs to.
    pub(crate) fn new(audience: Audience, game: &MatchHandle) -> Self {
        Self {
            limits: Limits::SERVED,
            audience,
            origins: game.access.origins.clone(),
            outgoing: Arc::clone(&game.outgoing),
            places_lost: game.telemetry.registry.visitors.places_lost.clone(),
            stop: game.stop.clone(),
            tls: None,
        }
    }

    /// Makes this gatekeeper serve HTTPS. Each connection uses the configuration that `tls` holds
    /// when it opens.
    pub(crate) fn with_tls(self, tls: Tls) -> Self {
        Self { tls: Some(tls), ..self }
    }

    /// The charge for the bytes of this payer's connections.
    pub(crate) fn toll(&self, payer: Payer) -> Toll {
        match self.audience {
            Audience::Administrators => Toll::Free,
            Audience::Operators if payer.is_exempt() => Toll::Noted(payer),
            Audience::Operators | Audience::Everybody => Toll::Paid(payer),
        }
    }

    /// The viewer whom the pages are for, if the request comes from this address.
    pub(crate) fn viewer(&self, address: IpAddr) -> Viewer {
        match self.audience {
            Audience::Administrators | Audience::Operators => Viewer::Operator,
            Audience::Everybody => Viewer::Stranger(address),
        }
    }
}

/// The refusal of a request for an unknown host: a page elsewhere may have made that host's name
/// point to this server (DNS rebinding). A request without a host passes, because it does not come
/// from a browser.
pub(crate) fn misdirected(
    request: &Request<Incoming>,
    origins: &Origins,
) -> Option<Response<Body>> {
    let host = request.headers().get(header::HOST)?;
    if host.to_str().is_ok_and(|host| origins.knows_host(host)) {
        return None;
    }
    let text = "this server does not know that host; --allow-origin SCHEME://HOST allows it\n";
    let mut refusal = Response::new(Body::from(text));
    *refusal.status_mut() = StatusCode::MISDIRECTED_REQUEST;
    Some(refusal)
}

/// Adds the headers that every answer has. Browsers must not guess the type of an answer. They must
/// not tell other sites the address of a page, because the address may hold a connect token.
pub(crate) fn harden(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
}
