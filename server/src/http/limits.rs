use std::time::Duration;

/// The limits of connections to the pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Most connections that may be open at once.
    pub(super) connections: usize,
    /// Most open connections of one address.
    pub(super) of_one_address: usize,
    /// How long a TLS handshake may take, and how long a connection may wait for the head of its
    /// next request.
    pub(super) request: Duration,
    /// Age at which a connection takes no further request.
    pub(super) life: Duration,
    /// How long the visitor may take to read the last answer.
    pub(super) farewell: Duration,
}

impl Limits {
    /// The limits of a server. All connections together use a quarter of the 1024 descriptors that
    /// systems usually grant. An address may have about ten times the six connections that a
    /// browser opens. Pages send a request once a second, far more often than `request` demands.
    /// The largest answer, the scene, passes a slow line in 30 s, the time of `farewell`.
    pub(super) const SERVED: Self = Self {
        connections: 256,
        of_one_address: 64,
        request: Duration::from_secs(10),
        life: Duration::from_secs(60),
        farewell: Duration::from_secs(30),
    };
}
