//! Spans: how long single joins, transfers, ticks and requests took.
//!
//! Metrics describe a server as a whole; a span describes one join, one map transfer or one tick.
//! Without `--otlp`, recording a span is a test for `None`.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{
    Span, SpanBuilder, SpanContext, SpanKind, Status, TraceContextExt, Tracer,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::SdkTracer;

use super::TickPhases;

/// One in this many ticks is recorded as a span: one in ten seconds at 60 Hz.
const TICKS_A_SPAN: u32 = 600;

/// The span of a join, to which later spans of the same connection belong.
pub(crate) type JoinSpan = SpanContext;

/// Records spans, if they are exported.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    tracer: Option<SdkTracer>,
}

impl Spans {
    /// Records spans by this tracer.
    pub(crate) fn to(tracer: SdkTracer) -> Self {
        Self { tracer: Some(tracer) }
    }

    /// Records the joining of a connection: from its first packet until it was in the match, or
    /// until it was refused for a reason. `handshake` is the part of the time that the handshake
    /// took. Returns the context of the span, for later spans that belong to it, such as the
    /// transfer of the map.
    pub(crate) fn join(
        &self,
        connection: u64,
        address: SocketAddr,
        [handshake, whole]: [Duration; 2],
        outcome: Result<u16, &'static str>,
    ) -> Option<JoinSpan> {
        let tracer = self.tracer.as_ref()?;
        let [begin, end] = last(whole);
        let attributes = vec![
            number("arena.connection", connection),
            KeyValue::new("client.address", address.ip().to_string()),
            number("client.port", address.port()),
        ];
        let mut span = span(tracer, "join", SpanKind::Server, begin, &Context::new());
        span.set_attributes(attributes);
        span.add_event_with_timestamp("handshake done", begin + handshake, Vec::new());
        match outcome {
            Ok(slot) => span.set_attribute(number("arena.slot", slot)),
            Err(reason) => fail(&mut span, reason),
        }
        span.end_with_timestamp(end);
        Some(span.span_context().clone())
    }

    /// Records the transfer of a map of `bytes`, which took `time`, to the client with the span
    /// `join`. `is_sent` is false if the transfer was aborted.
    pub(crate) fn map_transfer(
        &self,
        join: Option<JoinSpan>,
        bytes: usize,
        time: Duration,
        is_sent: bool,
    ) {
        let Some(tracer) = &self.tracer else { return };
        let [begin, end] = last(time);
        let context = join.map(|join| Context::new().with_remote_span_context(join));
        let context = context.unwrap_or_default();
        let mut span = span(tracer, "map transfer", SpanKind::Server, begin, &context);
        span.set_attribute(number("arena.map.bytes", bytes as u64));
        if !is_sent {
            fail(&mut span, "aborted");
        }
        span.end_with_timestamp(end);
    }

    /// Records an administrator's request, which took `time` and was answered with an HTTP
    /// status.
    pub(crate) fn admin(&self, request: &'static str, who: &str, time: Duration, status: u16) {
        let Some(tracer) = &self.tracer else { return };
        let [begin, end] = last(time);
        let mut span = span(tracer, "admin", SpanKind::Server, begin, &Context::new());
        span.set_attribute(KeyValue::new("arena.admin.request", request));
        span.set_attribute(KeyValue::new("arena.admin.who", who.to_owned()));
        span.set_attribute(number("http.response.status_code", status));
        span.end_with_timestamp(end);
    }

    /// Records a tick that has just ended, and its phases. Only one in [`TICKS_A_SPAN`] ticks is
    /// recorded.
    pub(crate) fn tick(&self, tick: u32, phases: &TickPhases) {
        let Some(tracer) = &self.tracer else { return };
        if !tick.is_multiple_of(TICKS_A_SPAN) {
            return;
        }
        let [begin, end] = last(phases.work() + phases.waking);
        let mut whole = span(tracer, "tick", SpanKind::Internal, begin, &Context::new());
        whole.set_attribute(number("arena.tick", tick));
        let context = Context::new().with_remote_span_context(whole.span_context().clone());
        let mut at = begin;
        for (name, time) in phases.named() {
            let mut part = span(tracer, name, SpanKind::Internal, at, &context);
            at += time;
            part.end_with_timestamp(at);
        }
        whole.end_with_timestamp(end);
    }
}

/// The beginning and the end of something that took `time` and has just ended.
fn last(time: Duration) -> [SystemTime; 2] {
    let now = SystemTime::now();
    [now - time, now]
}

fn span(
    tracer: &SdkTracer,
    name: &'static str,
    kind: SpanKind,
    begin: SystemTime,
    parent: &Context,
) -> impl Span + use<> {
    let builder = SpanBuilder::from_name(name).with_kind(kind).with_start_time(begin);
    tracer.build_with_context(builder, parent)
}

/// Marks a span as failed.
fn fail(span: &mut impl Span, reason: &'static str) {
    span.set_attribute(KeyValue::new("arena.reason", reason));
    span.set_status(Status::error(reason));
}

/// An attribute that is a number. A number that does not fit OpenTelemetry's type becomes the
/// largest that does.
fn number(name: &'static str, value: impl TryInto<i64>) -> KeyValue {
    KeyValue::new(name, value.try_into().unwrap_or(i64::MAX))
}
