//! Without the feature `pages`, there are no pages.

use std::net::TcpListener;
use std::sync::Arc;

use tracing::warn;

use crate::common::error::StartError;
use crate::common::threads::Threads;
use options::PageOptions;
use page_state::AllPages;

/// The options of the feature: none.
pub(crate) mod options {
    /// The pages of the match.
    #[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
    pub struct PageOptions {}
}

/// The data that pages would be made from.
pub(crate) mod page_state {
    use std::sync::Arc;

    use super::options::PageOptions;
    use crate::matches::match_handle::MatchHandle;
    use crate::matches::tick_thread::published::{ContactSubscription, PublishedEffects};
    use crate::matches::{Matches, recording};
    use crate::operate::metrics::server_telemetry::ServerTelemetry;

    /// The pages of all matches: none.
    pub(crate) type AllPages = Matches<Arc<PageState>>;

    /// The pages of a match: none.
    pub(crate) struct PageState;

    impl PageState {
        pub(crate) fn new(
            _: Arc<MatchHandle>,
            _: Arc<ServerTelemetry>,
            _: Arc<recording::Latest>,
            _: &PageOptions,
            _: Arc<ContactSubscription>,
            _: PublishedEffects,
        ) -> Self {
            Self
        }
    }
}

/// No listeners.
pub(crate) struct PagePorts;

/// No addresses.
#[derive(Clone, Debug)]
pub(crate) struct PageAddresses;

impl PagePorts {
    pub(crate) fn bind(
        _: &PageOptions,
        http: Option<TcpListener>,
        page: Option<TcpListener>,
    ) -> Result<Self, StartError> {
        if http.or(page).is_some() {
            warn!(
                "the sockets named \"http\" and \"page\" are not used: this build has no feature \
                 pages"
            );
        }
        Ok(Self)
    }

    pub(crate) fn addresses(&self) -> std::io::Result<PageAddresses> {
        Ok(PageAddresses)
    }

    pub(crate) fn start(self, _: &mut Threads, _: Arc<AllPages>) -> Result<(), StartError> {
        Ok(())
    }
}
