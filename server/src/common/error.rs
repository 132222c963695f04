//! Errors of starting and running a server. Each message says what was seen, where, and what to do.
//!
//! All modules return them, so they depend on no module. Errors of one part have a file of their
//! own, and [`StartError`] gathers them.

pub(crate) mod bans;
mod certificate;
mod door;
mod handed_over;
mod otlp;
mod webhook;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;

pub use bans::BanError;
pub use certificate::CertificateError;
pub use door::DoorError;
pub use handed_over::HandedOverError;
pub use otlp::OtlpError;
pub use webhook::WebhookError;

use obsp_recording::RecordingError;

/// Why metrics cannot be recorded, which is a defect of this server.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct MetricsError(pub(crate) String);

/// Why a server could not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The system lets this process open too few files and sockets.
    #[error(
        "the system lets this process open {granted} more files and sockets, but {needed} are \
         needed; raise the limit with `ulimit -n 1024`, or `LimitNOFILE=` of a systemd unit"
    )]
    Descriptors {
        /// How many more the system grants.
        granted: usize,
        /// How many a server needs.
        needed: usize,
    },
    /// No map has this name.
    #[error("there is no map {name} in this folder or in maps/; {}", list(.known))]
    NoSuchMap {
        /// The value that was asked for.
        name: String,
        /// The maps that were found.
        known: Vec<PathBuf>,
    },
    /// The `game.toml` beside the map cannot be read.
    #[error("{}: {reason}", .path.display())]
    GameFile {
        /// The path of the file.
        path: PathBuf,
        /// The reason, and its place in the file.
        reason: String,
    },
    /// The address of the admin interface is not a loopback address.
    #[error(
        "--admin {0} is not a loopback address; use 127.0.0.1, and a tunnel to reach it from \
         elsewhere"
    )]
    AdminAddress(SocketAddr),
    /// The file of administrators' tokens cannot be used.
    #[error("--admin-tokens {}: {reason}", .path.display())]
    AdminTokens {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A name is not valid for a match.
    #[error(transparent)]
    MatchName(#[from] obsp_proto::control::MatchNameError),
    /// The file of a module for replays cannot be used.
    #[error("--replay-module {}: {reason}", .path.display())]
    ReplayModule {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Two matches have the same name.
    #[error(
        "two matches are called {0}; choose another name (the first match is always called main)"
    )]
    MatchNameTaken(obsp_proto::control::MatchName),
    /// The options ask for more matches than a server runs.
    #[error(
        "{matches} matches are too many: a server runs at most {}",
        obsp_proto::control::MAX_MATCHES
    )]
    TooManyMatches {
        /// How many were asked for.
        matches: usize,
    },
    /// There is no map in the rotation.
    #[error(
        "no map was found in {}; name maps, or a folder that holds maps, with --maps",
        .0.join(", ")
    )]
    NoMaps(Vec<String>),
    /// The file of the join key cannot be used.
    #[error("--join-key {}: {reason}; `server token --new-key FILE` makes a key", .path.display())]
    JoinKey {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The list of bans cannot be read.
    #[error(transparent)]
    Bans(#[from] BanError),
    /// Events cannot be posted.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    /// Spans cannot be exported.
    #[error(transparent)]
    Otlp(#[from] OtlpError),
    /// The file is not a compiled map.
    #[error(transparent)]
    LoadMap(#[from] obsp::LoadMapError),
    /// The map in the file cannot be compiled.
    #[error(transparent)]
    CompileMap(#[from] obsp::CompileError),
    /// No map can be compiled for players of the size that the `game.toml` asks for.
    #[error(transparent)]
    Spaces(#[from] obsp::SpacesError),
    /// No match can be set up with this map and these options.
    #[error("map {map}: {source}")]
    Setup {
        /// The name of the map.
        map: String,
        /// The reason.
        source: obsp_sim::SetupError,
    },
    /// The map is too large to be put on the wire.
    #[error("map {map}: {source}")]
    Bounds {
        /// The name of the map.
        map: String,
        /// The reason.
        source: obsp_proto::quantise::BoundsError,
    },
    /// The match would have more entities than the protocol can number.
    #[error(
        "{props} props and {players} players are more than the {} entities a match may have; \
         ask for fewer with --objects or --max-players",
        obsp_proto::MAX_ENTITIES
    )]
    TooManyEntities {
        /// How many props the match begins with.
        props: usize,
        /// How many players may join.
        players: u16,
    },
    /// The recording cannot be started.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The UDP address cannot be bound.
    #[error("cannot listen on UDP {address}: {source}{}", way_out(.source, "--listen"))]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The TCP address cannot be bound.
    #[error("cannot serve HTTP on {address}: {source}{}", way_out(.source, .option))]
    Http {
        /// The address that was asked for.
        address: SocketAddr,
        /// The option that names the address.
        option: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The UDP address for server queries cannot be bound.
    #[error("cannot answer queries on UDP {address}: {source}{}", way_out(.source, "--query"))]
    Query {
        /// The address that was asked for.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// A socket from the service manager cannot be used.
    #[error(transparent)]
    HandedOver(#[from] HandedOverError),
    /// The certificate cannot be made, or read from its files.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The compiled map is too large to be sent to clients.
    #[error("map {map}: the compiled map has {bytes} bytes, more than clients accept; simplify it")]
    TooLarge {
        /// The name of the map.
        map: String,
        /// The size of the compiled map.
        bytes: usize,
    },
    /// The options ask for more snapshots than ticks.
    #[error(
        "{snapshots} snapshots a second are more than the {ticks} ticks a second; lower \
         --snapshot-rate"
    )]
    SnapshotRate {
        /// Snapshots a second.
        snapshots: u32,
        /// Ticks a second.
        ticks: u32,
    },
    /// The password, or the list of who may play, cannot be used.
    #[error(transparent)]
    Door(#[from] DoorError),
    /// TLS refuses the certificate or the configuration.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// TLS lacks a cipher that QUIC needs.
    #[error("cannot set up TLS for QUIC: {0}")]
    Cipher(#[from] quinn::crypto::rustls::NoInitialCipherSuite),
    /// The QUIC endpoint could not be opened on its socket.
    #[error("cannot open the QUIC endpoint: {0}")]
    Endpoint(io::Error),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes; server queries need them for challenges")]
    Random,
    /// The metrics are set up wrongly, which is a defect of this server.
    #[error("cannot set up the metrics: {0}")]
    Metrics(#[from] MetricsError),
    /// The system refuses a thread or an event loop.
    #[error("cannot start the {part}: {source}")]
    Thread {
        /// The part that was to be started.
        part: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// The advice for an address that cannot be bound.
fn way_out(error: &io::Error, option: &str) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!(
                "; another program has this address, or another option of this server names it: \
                 stop that program, or choose another address with {option}"
            )
        }
        io::ErrorKind::AddrNotAvailable => {
            format!("; no interface of this machine has this address: choose another with {option}")
        }
        io::ErrorKind::PermissionDenied => {
            format!("; choose a port above 1023 with {option}")
        }
        _ => String::new(),
    }
}

fn list(maps: &[PathBuf]) -> String {
    if maps.is_empty() {
        return "no folder maps/ has a map; give the path of an .obsp or .map file".into();
    }
    let names: Vec<_> = maps.iter().map(|path| path.display().to_string()).collect();
    format!("known maps: {}", names.join(", "))
}

/// Why a running server ended without a request.
#[derive(Debug, Error)]
pub enum RunError {
    /// A thread of the server crashed. This is a defect; the thread has logged its message.
    #[error("the {part} crashed; please report the message above")]
    Crashed {
        /// The thread.
        part: &'static str,
    },
    /// The tick thread hangs.
    #[error(
        "the tick thread hangs: no tick was finished for {seconds} s; the machine may have been \
         overloaded, or the server has a defect; restart the server, and if it happens again on \
         a machine with time to spare, please report the map and the options"
    )]
    Hangs {
        /// Seconds since the last tick.
        seconds: u64,
    },
    /// The network thread hangs.
    #[error(
        "the network thread hangs: its event loop has not turned for {seconds} s; the machine may \
         have been overloaded, or the server has a defect; restart the server, and if it happens \
         again on a machine with time to spare, please report the options and the last lines of \
         the log"
    )]
    NetworkHangs {
        /// Seconds since the event loop turned.
        seconds: u64,
    },
    /// Nothing is sent to players.
    #[error(
        "no snapshot was sent for {seconds} s, though players are heard; the machine may have been \
         overloaded, or the server has a defect; restart the server, and if it happens again on \
         a machine with time to spare, please report the options and the last lines of the log"
    )]
    Silent {
        /// Seconds since the last snapshot.
        seconds: u64,
    },
    /// A thread does not end though it was asked to. The cause is a defect, or a disk that hangs.
    #[error(
        "the {part} does not end and is left behind; check whether a disk hangs; if not, please \
         report the map and the options"
    )]
    DoesNotEnd {
        /// The thread.
        part: &'static str,
    },
    /// The match has lasted so long that no tick number is left.
    #[error("the match has used up its tick numbers; restart the server")]
    Outlived,
    /// The state of the match cannot be encoded for the wire.
    #[error("the match cannot be sent: {0}; please report the map and the options")]
    Quantise(#[from] obsp_proto::quantise::QuantiseError),
    /// Writing the recording failed before its end.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The HTTP pages stopped.
    #[error("the HTTP listener failed: {0}")]
    Http(io::Error),
}

impl RunError {
    /// Whether threads are left running that the server cannot wait for.
    pub(crate) fn leaves_threads(&self) -> bool {
        matches!(self, Self::Hangs { .. } | Self::NetworkHangs { .. } | Self::DoesNotEnd { .. })
    }
}
