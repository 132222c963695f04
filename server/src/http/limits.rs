use std::time::Duration;

/// The limits of connections to the pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How many may be open at once.
    pub(super) connections: usize,
    /// How many of those may be of one address.
    pub(super) of_one_address: usize,
    /// How long a request may be on its way, or stay away.
    pub(super) request: Duration,
    /// After how long a connection takes no further request.
    pub(super) life: Duration,
    /// How long the last answer may take to be read.
    pub(super) farewell: Duration,
}

impl Limits {
    /// The limits of a server: a quarter of the 1024 descriptors that systems grant, and for
    /// each address the six connections of a browser, ten times over. Pages ask once a second,
    /// and the largest answer, the scene, passes a slow line in 30 s.
    pub(super) const SERVED: Self = Self {
        connections: 256,
        of_one_address: 64,
        request: Duration::from_secs(10),
        life: Duration::from_secs(60),
        farewell: Duration::from_secs(30),
    };
}
