use clap::Args;

/// The collector of spans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct OtlpOptions {
    /// Address of an OpenTelemetry collector, such as `http://127.0.0.1:4318`; the server sends it
    /// the times of joins, map transfers, single ticks and administrators' requests, by OTLP over
    /// HTTP
    #[arg(long, value_name = "URL", env = "ARENA_OTLP")]
    pub otlp: Option<String>,
}
