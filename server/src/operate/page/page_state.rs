use std::path::PathBuf;
use std::sync::Arc;

use super::effects::Effects;
use super::level_view::LevelViews;
use super::options::PageOptions;
use super::replays::OtherMaps;
use super::replays::rewind::Excerpts;
use crate::matches::match_handle::MatchHandle;
use crate::matches::tick_thread::published::{ContactSubscription, PublishedEffects};
use crate::matches::{Matches, OfMatch, recording};
use crate::operate::metrics::server_telemetry::ServerTelemetry;

/// The pages of all matches of a server.
pub(crate) type AllPages = Matches<Arc<PageState>>;

impl OfMatch for Arc<PageState> {
    fn game(&self) -> &Arc<MatchHandle> {
        &self.game
    }
}

/// The data that the pages about a match are made from.
pub(crate) struct PageState {
    pub(super) game: Arc<MatchHandle>,
    /// The metrics of the whole server.
    pub(super) telemetry: Arc<ServerTelemetry>,
    /// The recording of the level that is played, if there is one.
    pub(super) recording: Arc<recording::Latest>,
    /// The folder of the recordings that pages may play.
    pub(super) replay_dir: Option<PathBuf>,
    /// Whether everybody who may watch the match is offered the recording that is being written.
    pub(super) replay_running: bool,
    pub(super) contact_subscription: Arc<ContactSubscription>,
    pub(super) effects: Effects,
    pub(super) level_views: LevelViews,
    pub(super) other_maps: OtherMaps,
    pub(super) excerpts: Excerpts,
}

impl PageState {
    /// Pages about the match of `game`.
    pub(crate) fn new(
        game: Arc<MatchHandle>,
        telemetry: Arc<ServerTelemetry>,
        recording: Arc<recording::Latest>,
        options: &PageOptions,
        contact_subscription: Arc<ContactSubscription>,
        effects: PublishedEffects,
    ) -> Self {
        let PageOptions { replay_dir, replay_running, .. } = options.clone();
        if let Some(folder) = replay_dir.as_deref().filter(|folder| !folder.is_dir()) {
            let folder = folder.display();
            tracing::warn!(
                "--replay-dir {folder}: the page offers no recordings until there is a folder of this name"
            );
        }
        Self {
            game,
            telemetry,
            recording,
            replay_dir,
            replay_running,
            contact_subscription,
            effects: Effects::new(effects),
            level_views: LevelViews::default(),
            other_maps: OtherMaps::default(),
            excerpts: Excerpts::default(),
        }
    }
}
