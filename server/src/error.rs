//! Errors of starting and of running a server. Each names the thing, the place and the
//! way out.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;

use crate::recording::RecordingError;

/// Why a server could not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The system lets this process open too few files and sockets.
    #[error(
        "the system lets this process open {granted} more files and sockets, {needed} are needed; \
         raise the limit with `ulimit -n 1024`, or `LimitNOFILE=` of a systemd unit"
    )]
    Descriptors {
        /// How many it grants.
        granted: usize,
        /// How many a server needs.
        needed: usize,
    },
    /// There is no such map.
    #[error("there is no map {name} in this folder or in maps/; {}", list(.known))]
    NoSuchMap {
        /// The value that was asked for.
        name: String,
        /// Maps that there are.
        known: Vec<PathBuf>,
    },
    /// The `game.toml` beside the map cannot be read.
    #[error("{}: {reason}", .path.display())]
    GameFile {
        /// Which file.
        path: PathBuf,
        /// The reason, with its place.
        reason: String,
    },
    /// The admin interface is for this machine alone.
    #[error("--admin {0} can be reached from elsewhere; take a loopback address, and a tunnel")]
    AdminAddress(SocketAddr),
    /// There are no administrators.
    #[error("--admin-tokens {}: {reason}", .path.display())]
    AdminTokens {
        /// Which file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The name of a match is none.
    #[error(transparent)]
    MatchName(#[from] obsp_proto::control::MatchNameError),
    /// Two matches have one name.
    #[error("two matches are called {0}; the first match of a server is called main")]
    MatchNameTaken(obsp_proto::control::MatchName),
    /// More matches than a server runs.
    #[error("{matches} matches are more than the {} of a server", obsp_proto::control::MAX_MATCHES)]
    TooManyMatches {
        /// How many were asked for.
        matches: usize,
    },
    /// There is no map in the rotation.
    #[error("there is no map in {}; name some, or a folder with some, with --maps", .0.join(", "))]
    NoMaps(Vec<String>),
    /// The join key cannot be had.
    #[error("--join-key {}: {reason}; `server token --new-key FILE` makes one", .path.display())]
    JoinKey {
        /// Which file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The bans cannot be had.
    #[error(transparent)]
    Bans(#[from] crate::bans::BanError),
    /// Spans cannot be exported.
    #[error(transparent)]
    Otlp(#[from] crate::spans::OtlpError),
    /// The file is no compiled map.
    #[error(transparent)]
    LoadMap(#[from] obsp::LoadError),
    /// The file is no map that can be compiled.
    #[error(transparent)]
    CompileMap(#[from] obsp::CompileError),
    /// No map can be compiled for players of the size that the `game.toml` asks for.
    #[error(transparent)]
    Spaces(#[from] obsp::SpacesError),
    /// The map or the options cannot carry a match.
    #[error("map {map}: {source}")]
    Setup {
        /// Which map.
        map: String,
        /// The missing model.
        source: obsp_sim::SetupError,
    },
    /// The map is too large to be put on the wire.
    #[error("map {map}: {source}")]
    Bounds {
        /// Which map.
        map: String,
        /// How large it is.
        source: obsp_proto::quantise::BoundsError,
    },
    /// More entities than the wire can name.
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
    /// The recording cannot be begun.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The UDP address cannot be had.
    #[error("cannot listen on UDP {address}: {source}{}", way_out(.source, "--listen"))]
    Listen {
        /// The value that was asked for.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The TCP address cannot be had.
    #[error("cannot serve HTTP on {address}: {source}{}", way_out(.source, .option))]
    Http {
        /// The value that was asked for.
        address: SocketAddr,
        /// The option that names it.
        option: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The UDP address for server queries cannot be had.
    #[error("cannot answer queries on UDP {address}: {source}{}", way_out(.source, "--query"))]
    Query {
        /// The value that was asked for.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// There is no certificate.
    #[error(transparent)]
    Certificate(#[from] crate::network::CertificateError),
    /// The compiled map is too large to be sent to clients.
    #[error("map {map}: {bytes} bytes are more than clients take; simplify the map")]
    TooLarge {
        /// Which map.
        map: String,
        /// How large it is.
        bytes: usize,
    },
    /// More snapshots than ticks.
    #[error("{snapshots} snapshots a second of {ticks} ticks; choose --snapshot-rate up to that")]
    SnapshotRate {
        /// Snapshots a second.
        snapshots: u32,
        /// Ticks a second.
        ticks: u32,
    },
    /// TLS refuses the certificate or the configuration.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// TLS lacks a cipher that QUIC needs.
    #[error("cannot set up TLS for QUIC: {0}")]
    Cipher(#[from] quinn::crypto::rustls::NoInitialCipherSuite),
    /// The QUIC endpoint could not be opened on its socket.
    #[error("cannot open the QUIC endpoint: {0}")]
    Endpoint(io::Error),
    /// The metrics are set up wrongly: a defect of this server.
    #[error("cannot set up the metrics: {0}")]
    Metrics(#[from] metrics_exporter_prometheus::BuildError),
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
            format!("; another program has it: stop that one, or choose another with {option}")
        }
        io::ErrorKind::AddrNotAvailable => {
            format!("; no interface of this machine has it: choose another with {option}")
        }
        io::ErrorKind::PermissionDenied => {
            format!("; choose a port above 1023 with {option}")
        }
        _ => String::new(),
    }
}

fn list(maps: &[PathBuf]) -> String {
    if maps.is_empty() {
        return "no maps/ folder here has any; give the path of a .obsp or .map file".into();
    }
    let names: Vec<_> = maps.iter().map(|path| path.display().to_string()).collect();
    format!("there are {}", names.join(", "))
}

/// Why a running server ended though nobody asked it to.
#[derive(Debug, Error)]
pub enum RunError {
    /// A thread of the server crashed: a defect, whose message has been
    /// printed by the thread.
    #[error("the {part} crashed; please report the message above")]
    Crashed {
        /// Which one.
        part: &'static str,
    },
    /// The tick thread hangs: a defect.
    #[error(
        "the tick thread hangs: no tick was finished for {seconds} s; start the server anew, and \
         please report the map and the options"
    )]
    Hangs {
        /// Seconds since the last tick.
        seconds: u64,
    },
    /// A thread does not end though it was asked to: a defect, or a disk that hangs.
    #[error(
        "the {part} does not end and is left behind; if a disk hangs, see to that; else please \
         report the map and the options"
    )]
    DoesNotEnd {
        /// Which one.
        part: &'static str,
    },
    /// The match has lasted longer than ticks can be numbered.
    #[error("the match has outlived its tick numbers; start it anew")]
    Outlived,
    /// The match cannot be put on the wire.
    #[error("the match cannot be sent: {0}")]
    Quantise(#[from] obsp_proto::quantise::QuantiseError),
    /// The recording could not be written to its end.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The HTTP pages stopped.
    #[error("the HTTP listener failed: {0}")]
    Http(io::Error),
}

impl RunError {
    /// Whether threads are left behind that nobody can wait for.
    pub(crate) fn leaves_threads(&self) -> bool {
        matches!(self, Self::Hangs { .. } | Self::DoesNotEnd { .. })
    }
}
