use std::sync::Arc;

use obsp_proto::control::MatchName;

use crate::matches::recording;

/// The constants with which the metrics of a match are registered.
pub(crate) struct Identity<'a> {
    /// The name of the match, if the server has several.
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
