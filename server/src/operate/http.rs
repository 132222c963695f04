//! HTTP for the pages and for the admin interface: the checks of requests, and the limits of each
//! visitor.
//!
//! The [`gatekeeper`] checks each connection and each request. Connections are shared by address
//! ([`places`]), pay for what they are sent ([`metered`]), and are bounded in time and size
//! ([`connections`]). The public page comes over HTTPS ([`tls`]).

pub(crate) mod connections;
pub(crate) mod gatekeeper;
mod limits;
mod metered;
mod places;
mod tls;

use std::net::{SocketAddr, TcpListener};

use axum::Router;

use crate::common::bind;
use crate::common::error::{RunError, StartError};
use crate::matches::match_handle::MatchHandle;
use gatekeeper::{Audience, Gatekeeper};

/// Binds the TCP socket of the operator's pages, or of another service. `option` names the option
/// that holds its address.
pub(crate) fn bind(address: SocketAddr, option: &'static str) -> Result<TcpListener, StartError> {
    bind::tcp(address).map_err(|source| StartError::Http { address, option, source })
}

/// Serves `pages` to `audience` until asked to stop, under the limits that hold for all pages.
pub(crate) async fn serve(
    listener: TcpListener,
    pages: Router,
    audience: Audience,
    game: &MatchHandle,
) -> Result<(), RunError> {
    let listener = tokio::net::TcpListener::from_std(listener).map_err(RunError::Http)?;
    connections::serve(listener, pages, Gatekeeper::new(audience, game)).await;
    Ok(())
}
