//! The command line of `client-bot`.

use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use obsp_proto::token::{JoinKey, JoinKeySyntax};
use obsp_proto::{Fingerprint, parse_duration};

use crate::behaviors::BehaviorChoice;
use crate::client::{Authority, Trust};
use crate::swarm::Swarm;

/// The options of the command line.
#[derive(Clone, Debug, PartialEq, Parser)]
#[command(name = "client-bot", version, about = "Sends bots into an arena match", long_about = None)]
pub struct Options {
    /// UDP address of the server
    #[arg(long, value_name = "ADDR", default_value_t = default_server())]
    pub server: SocketAddr,

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

    /// Bots started per second; without it, all at once
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

    /// Name that the server's certificate must carry; without it, the server's address
    #[arg(long, value_name = "NAME", requires = "ca")]
    pub server_name: Option<String>,

    /// Join with connect tokens sealed with the key in this file, each bot as a player
    /// of its own
    #[arg(long, value_name = "FILE")]
    pub join_key: Option<PathBuf>,

    /// Folder with compiled maps, besides `maps`, that are not fetched from the server; may
    /// be given several times
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
        let Self { server, bots, duration, seed, behavior, ramp, own_sockets, .. } = *self;
        let name = self.server_name.clone().unwrap_or_else(|| server.ip().to_string());
        let authority = self.ca.as_deref().map(|path| Authority::read(path, &name)).transpose()?;
        let trust = Trust::new(server.ip(), self.pin, authority)?;
        let join_key = self.join_key.as_deref().map(read_key).transpose()?;
        let maps = self.maps.clone();
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
            maps,
        })
    }
}

fn read_key(path: &Path) -> anyhow::Result<JoinKey> {
    let named = |error: &dyn Display| anyhow::anyhow!("--join-key {}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
    text.parse().map_err(|error: JoinKeySyntax| named(&error))
}

fn default_server() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 4433).into()
}

/// A positive number.
fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "not a number above 0".to_owned())
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
        assert_eq!(options.server, "127.0.0.1:4433".parse().unwrap());
        assert!(matches!(options.swarm().unwrap().trust, Trust::Loopback));
    }

    #[test]
    fn every_option_is_read() {
        let pin = "ab".repeat(32);
        let text = format!(
            "--server 192.0.2.1:5 --bots 32 --duration 30s --seed 9 --json --pin {pin} \
                     --behavior fight --ramp 4 --own-sockets --maps here"
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
