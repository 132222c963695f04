pub(crate) mod advertise;
pub(crate) mod allowed_origin;
pub(crate) mod origins;
pub(crate) mod validity;

use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::SystemTime;

use obsp_proto::Fingerprint;
use serde::Serialize;
use tokio::sync::watch;

use self::validity::Validity;
use advertise::Advertised;

/// A family of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
}

/// The address at which clients reach the server, and the certificate that they know it by.
pub(crate) struct PublicEndpoint {
    /// The addresses of the UDP sockets.
    pub(crate) listens: Vec<SocketAddr>,
    /// The address that clients use. A fleet may set it later.
    pub(crate) advertised: watch::Sender<Advertised>,
    /// The fingerprint of the certificate that new connections are shown.
    pub(crate) certificate: watch::Sender<Fingerprint>,
    /// When that certificate is valid, if it can be read.
    pub(crate) validity: watch::Sender<Option<Validity>>,
    /// The TLS configuration of the public page. It uses the certificate of the QUIC endpoint.
    pub(crate) https: watch::Sender<Arc<rustls::ServerConfig>>,
    /// Whether the server has made the certificate itself.
    pub(crate) self_signed: bool,
}

impl PublicEndpoint {
    /// The reason why no browser can enter at `now`, if the certificate is not valid then.
    pub(crate) fn certificate_fault(&self, now: SystemTime) -> Option<String> {
        self.validity.borrow().and_then(|validity| validity.fault(now))
    }

    /// The addresses by which connect tokens may name this server.
    pub(crate) fn names(&self) -> Vec<String> {
        let advertised = self.advertised.borrow().clone();
        let own = self.listens.iter().map(SocketAddr::to_string);
        let mapped = |own: &SocketAddr| SocketAddr::new(own.ip(), advertised.port).to_string();
        let public = match advertised.host {
            Some(_) => vec![advertised.to_string()],
            None => self.listens.iter().map(mapped).collect(),
        };
        public.into_iter().chain(own).collect()
    }

    /// The families of the addresses at which the server listens.
    pub(crate) fn families(&self) -> Vec<Family> {
        let has_v4 = |own: &SocketAddr| own.is_ipv4() || own.ip() == Ipv6Addr::UNSPECIFIED;
        let v4 = self.listens.iter().any(has_v4).then_some(Family::Ipv4);
        let v6 = self.listens.iter().any(SocketAddr::is_ipv6).then_some(Family::Ipv6);
        v4.into_iter().chain(v6).collect()
    }
}
