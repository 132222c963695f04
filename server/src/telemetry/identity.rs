use std::sync::Arc;

use obsp_proto::control::MatchName;

use crate::recording;
use crate::spans::Spans;

/// The constants of a server that its metrics are registered with.
#[derive(Default)]
pub(crate) struct ServerIdentity {
    /// Whether the server makes its certificate itself.
    pub(crate) self_signed: bool,
    /// The recorder of spans.
    pub(crate) spans: Spans,
    /// The inodes by which the kernel's tables name the UDP sockets.
    pub(crate) udp_inodes: Vec<u64>,
}

/// The constants of a match that its metrics are registered with.
pub(crate) struct Identity<'a> {
    /// The name of the match, where the server has several.
    pub(crate) label: Option<MatchName>,
    pub(crate) map: &'a str,
    pub(crate) map_hash: &'a str,
    pub(crate) tick_rate: u32,
    pub(crate) max_players: u16,
    /// Seconds that loading or compiling the map took.
    pub(crate) map_load: f64,
    /// The recording of the match, if there is one.
    pub(crate) recording: Arc<recording::Latest>,
}
