//! Without the feature `agones`, the server belongs to no fleet.

use std::sync::Arc;

use crate::common::stop::Stop;
use crate::matches::Matches;
use crate::matches::match_handle::MatchHandle;
use options::AgonesOptions;

/// The options of the feature: none.
pub(crate) mod options {
    /// Whether and how the server reports to an Agones fleet.
    #[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
    pub struct AgonesOptions {}

    impl AgonesOptions {
        pub(crate) fn is_member(&self) -> bool {
            false
        }
    }
}

/// Reports nothing.
pub(crate) async fn run(_: &AgonesOptions, _: bool, _: &Matches<Arc<MatchHandle>>, _: &Stop) {}
