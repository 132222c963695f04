//! Without the feature `otlp`, no spans are recorded.

use std::net::SocketAddr;
use std::time::Duration;

use super::TickPhases;

/// A type without values that stands for the span of a join.
#[derive(Clone, Debug)]
pub(crate) enum JoinSpan {}

/// Records no spans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans;

impl Spans {
    pub(crate) fn join(
        &self,
        _: u64,
        _: SocketAddr,
        _: [Duration; 2],
        _: Result<u16, &'static str>,
    ) -> Option<JoinSpan> {
        None
    }

    pub(crate) fn map_transfer(&self, _: Option<JoinSpan>, _: usize, _: Duration, _: bool) {}

    pub(crate) fn admin(&self, _: &'static str, _: &str, _: Duration, _: u16) {}

    pub(crate) fn tick(&self, _: u32, _: &TickPhases) {}
}
