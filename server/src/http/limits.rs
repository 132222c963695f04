use std::time::Duration;

/// The limits of connections to the pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How many may be open at once.
    pub(super) connections: usize,
    /// How many of them one address may have.
    pub(super) of_one_address: usize,
    /// How long a TLS handshake may take, and how long a connection may wait for the head of its
    /// next request.
    pub(super) request: Duration,
    /// How long a connection may live before it takes no further request.
    pub(super) life: Duration,
    /// How long the last answer may take to be read.
    pub(super) farewell: Duration,
}

impl Limits {
    /// The limits of a server. All connections take a quarter of the 1024 descriptors that systems
    /// grant. Each address may have about ten times the six connections of a browser. Pages ask
    /// once a second, and the largest answer, the scene, passes a slow line in 30 s.
    pub(super) const SERVED: Self = Self {
        connections: 256,
        of_one_address: 64,
        request: Duration::from_secs(10),
        life: Duration::from_secs(60),
        farewell: Duration::from_secs(30),
    };
}
