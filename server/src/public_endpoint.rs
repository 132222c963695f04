use std::net::SocketAddr;
use std::sync::Arc;

use obsp_proto::Fingerprint;
use tokio::sync::watch;

use crate::options::Advertised;

/// The address at which clients reach the server, and the certificate that they know it by.
pub(crate) struct PublicEndpoint {
    /// The address of the UDP socket.
    pub(crate) local: SocketAddr,
    /// The address that clients use. A fleet may set it later.
    pub(crate) advertised: watch::Sender<Advertised>,
    /// The fingerprint of the certificate that new connections are shown.
    pub(crate) certificate: watch::Sender<Fingerprint>,
    /// The TLS configuration of the public page, with the same certificate.
    pub(crate) https: watch::Sender<Arc<rustls::ServerConfig>>,
    /// Whether the server has made the certificate itself.
    pub(crate) self_signed: bool,
}

impl PublicEndpoint {
    /// The addresses by which connect tokens may name this server.
    pub(crate) fn names(&self) -> Vec<String> {
        let advertised = self.advertised.borrow().clone();
        let host = advertised.host.unwrap_or_else(|| self.local.ip().to_string());
        vec![format!("{host}:{}", advertised.port), self.local.to_string()]
    }
}
