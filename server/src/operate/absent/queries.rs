//! Without the feature `a2s`, no query is answered.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use tracing::warn;

use crate::common::error::StartError;
use crate::common::threads::Threads;
use crate::matches::Matches;
use crate::matches::match_handle::MatchHandle;
use crate::network::Queries;
use options::QueryOptions;

/// The options of the feature: none.
pub(crate) mod options {
    /// Server queries.
    #[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
    pub struct QueryOptions {}
}

/// No ports.
pub(crate) struct QueryPorts;

impl QueryPorts {
    pub(crate) fn bind(
        _: &QueryOptions,
        _: &[SocketAddr],
        handed_over: Vec<UdpSocket>,
    ) -> Result<Self, StartError> {
        if !handed_over.is_empty() {
            warn!("the sockets named \"query\" are not used: this build has no feature a2s");
        }
        Ok(Self)
    }

    /// A queue that nobody empties.
    pub(crate) fn queries(&self) -> Queries {
        Queries::queue().0
    }

    pub(crate) fn addresses(&self) -> std::io::Result<Vec<SocketAddr>> {
        Ok(Vec::new())
    }

    pub(crate) fn start(
        self,
        _: &mut Threads,
        _: &Matches<Arc<MatchHandle>>,
    ) -> Result<(), StartError> {
        Ok(())
    }
}
