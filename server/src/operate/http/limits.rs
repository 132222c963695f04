use std::time::Duration;

/// The limits of connections to the pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximum number of connections that may be open at once.
    pub(crate) connections: usize,
    /// Maximum number of open connections of one address.
    pub(crate) of_one_address: usize,
    /// How long a TLS handshake may take.
    pub(crate) opening: Duration,
    /// How long a connection may wait for the head of its next request.
    pub(crate) request: Duration,
    /// Age at which a connection takes no further request.
    pub(crate) life: Duration,
    /// How long the visitor may take to read each [`FAREWELL_PART`] of the last answer.
    pub(crate) farewell: Duration,
}

impl Limits {
    /// The limits of a server. All connections together use a quarter of the 1024 descriptors that
    /// systems usually grant. An address may have about ten times the six connections that a
    /// browser opens. Pages send a request once a second, far more often than `request` demands.
    pub(crate) const SERVED: Self = Self {
        connections: 256,
        of_one_address: 64,
        opening: Duration::from_secs(10),
        request: Duration::from_secs(10),
        life: Duration::from_secs(60),
        farewell: Duration::from_secs(30),
    };
}

/// Bytes of the last answer that the visitor must have read within `farewell`, unless the answer
/// ends before. So the largest recording can be sent in full, and the server does not wait for a
/// visitor who reads nothing.
pub(crate) const FAREWELL_PART: u64 = 1 << 20;

/// Bytes that a visitor may send before its TLS handshake is finished: several times what browsers
/// send. The protocol itself would allow 64 KiB for each connection.
pub(crate) const LONGEST_HANDSHAKE: usize = 16 * 1024;

/// Limit in bytes of a request's head, and of the part of an answer that waits in a connection. The
/// heads that browsers send have less than 2 KiB.
pub(crate) const BUFFER: usize = 16 * 1024;

/// Bytes that are charged to the visitor's address, and sent, at a time.
pub(crate) const PIECE: usize = 16 * 1024;
