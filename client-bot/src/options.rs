//! The command line of `client-bot`.

use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use obsp_client::quic::{Authority, ServerAddress, Trust};
use obsp_proto::Fingerprint;
use obsp_proto::control::MatchName;
use obsp_proto::token::{JoinKey, JoinKeySyntax};

use crate::behaviors::BehaviorChoice;
use crate::swarm::Swarm;

/// The options of the command line.
#[derive(Clone, Debug, PartialEq, Parser)]
#[command(name = "client-bot", version, about = "Sends bots into an arena match", long_about = None)]
pub struct Options {
    /// UDP address of the server, such as `192.0.2.1:4433` or `arena.example:4433`; all addresses
    /// of a name are tried
    #[arg(long, value_name = "ADDR", default_value_t = default_server())]
    pub server: ServerAddress,

    /// Number of bots
    #[arg(long, value_name = "N", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub bots: u32,

    /// How long to play, such as `30s` or `2m`; without it, until Ctrl-C
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub duration: Option<Duration>,

    /// Seed of the random number generators
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// How the bots behave
    #[arg(long, value_enum, default_value_t = BehaviorChoice::Mix)]
    pub behavior: BehaviorChoice,

    /// Number of bots to start per second; without it, all start at once
    #[arg(long, value_name = "PER_SECOND", value_parser = parse_rate)]
    pub ramp: Option<f64>,

    /// Give each bot a UDP socket of its own, so that a proxy such as `badline` treats
    /// each as a client of its own
    #[arg(long)]
    pub own_sockets: bool,

    /// Trust only the server whose certificate has this SHA-256; `--pin` or `--ca` is
    /// required if the server is not on this machine
    #[arg(long, value_name = "SHA256", conflicts_with = "ca")]
    pub pin: Option<Fingerprint>,

    /// Trust a server whose certificate was issued by an authority in this PEM file
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,

    /// Name that the server's certificate must carry; without it, the name or the IP address
    /// given with `--server`
    #[arg(long, value_name = "NAME", requires = "ca")]
    pub server_name: Option<String>,

    /// Join with connect tokens sealed with the key in this file, each bot as a player
    /// of its own
    #[arg(long, value_name = "FILE")]
    pub join_key: Option<PathBuf>,

    /// Join with the password of the match, or with one player's word of the server's `--allow`
    /// list, in this file
    #[arg(long, value_name = "FILE", conflicts_with = "join_key")]
    pub password: Option<PathBuf>,

    /// Have the first bot call a vote for this map of the rotation, and all bots say yes; the
    /// server needs `--votes map`
    #[arg(long, value_name = "MAP")]
    pub vote_map: Option<String>,

    /// Name of the match to join on a server with several; without it, the server's first
    #[arg(long = "match", value_name = "NAME")]
    pub match_name: Option<MatchName>,

    /// Folder with compiled maps, besides `maps`; a map found there is not fetched from the
    /// server; may be given several times
    #[arg(long, value_name = "FOLDER")]
    pub maps: Vec<PathBuf>,

    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// The swarm that these options describe.
    ///
    /// # Errors
    /// The server is on another machine and cannot be verified, or a file of
    /// authorities or of the join key cannot be read.
    pub fn swarm(&self) -> anyhow::Result<Swarm> {
        let server = self.server.clone();
        let Self { bots, duration, seed, behavior, ramp, own_sockets, .. } = *self;
        let name = self.server_name.as_deref().unwrap_or(server.host());
        let authority = self.ca.as_deref().map(|path| Authority::read(path, name)).transpose()?;
        let trust = Trust::new(&server, self.pin, authority)?;
        let join_key = self.join_key.as_deref().map(read_key).transpose()?;
        let password = self.password.as_deref().map(read_password).transpose()?;
        let (maps, vote_map) = (self.maps.clone(), self.vote_map.clone());
        let match_name = self.match_name.clone();
        Ok(Swarm {
            server,
            trust,
            bots,
            duration,
            seed,
            behavior,
            ramp,
            own_sockets,
            join_key,
            password: password.unwrap_or_default(),
            vote_map,
            match_name,
            maps,
        })
    }
}

/// A password without the end of its line.
fn read_password(path: &Path) -> anyhow::Result<Vec<u8>> {
    let text = obsp::text::read(path)
        .map_err(|error| anyhow::anyhow!("--password {}: {error}", path.display()))?;
    Ok(text.trim_end_matches(['\r', '\n']).as_bytes().to_vec())
}

fn read_key(path: &Path) -> anyhow::Result<JoinKey> {
    let named = |error: &dyn Display| anyhow::anyhow!("--join-key {}: {error}", path.display());
    let text = obsp::text::read(path).map_err(|error| named(&error))?;
    text.parse().map_err(|error: JoinKeySyntax| named(&error))
}

fn default_server() -> ServerAddress {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 4433)).into()
}

/// Parses a positive number.
fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "not a number above 0".to_owned())
}

/// Parses a duration such as `30s` or `1m 30s`; a plain number is seconds.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let duration = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
        Err(_) => humantime::parse_duration(text).map_err(|error| error.to_string()),
    };
    duration.map_err(|error| format!("{error}; write it like 30s, 2m or 1h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(["client-bot"].into_iter().chain(text.split_whitespace()))
    }

    #[test]
    fn every_option_has_a_default() {
        let options = parse("").unwrap();
        assert_eq!(options.server.to_string(), "127.0.0.1:4433");
        assert!(matches!(options.swarm().unwrap().trust, Trust::Loopback));
    }

    #[test]
    fn every_option_is_read() {
        let pin = "ab".repeat(32);
        let text = format!(
            "--server 192.0.2.1:5 --bots 32 --duration 30s --seed 9 --json --pin {pin} \
                     --behavior fight --ramp 4 --own-sockets --vote-map warren \
                     --match duel --maps here"
        );
        let options = parse(&text).unwrap();
        let expected = Options {
            server: "192.0.2.1:5".parse().unwrap(),
            bots: 32,
            duration: Some(Duration::from_secs(30)),
            seed: 9,
            behavior: BehaviorChoice::Fight,
            ramp: Some(4.0),
            own_sockets: true,
            pin: Some(pin.parse().unwrap()),
            ca: None,
            server_name: None,
            join_key: None,
            password: None,
            vote_map: Some("warren".into()),
            match_name: Some("duel".parse().unwrap()),
            maps: vec!["here".into()],
            json: true,
        };
        assert_eq!(options, expected);
        assert!(options.swarm().is_ok());
    }

    #[test]
    fn invalid_values_are_rejected() {
        for bad in [
            "--bots 0",
            "--server here",
            "--pin abc",
            "--duration soon",
            "--ramp 0",
            "--server-name a",
        ] {
            assert!(parse(bad).is_err(), "{bad} was accepted");
        }
    }

    #[test]
    fn a_server_elsewhere_needs_pin_or_authority() {
        assert!(parse("--server 192.0.2.1:5").unwrap().swarm().is_err());
        let error = parse("--ca none.pem").unwrap().swarm().unwrap_err().to_string();
        assert!(error.contains("none.pem"), "{error}");
    }
}
