use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use proto::{Fingerprint, parse_duration};

use crate::client::{Authority, NoTrust, Trust};
use crate::minds::Minds;
use crate::swarm::Swarm;

/// How many bots, where, and for how long: the command line of the binary.
#[derive(Clone, Debug, PartialEq, Parser)]
#[command(name = "client-bot", version, about = "Sends bots into an arena match", long_about = None)]
pub struct Options {
    /// UDP address of the server
    #[arg(long, value_name = "ADDR", default_value_t = default_server())]
    pub server: SocketAddr,

    /// How many bots to send
    #[arg(long, value_name = "N", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub bots: u32,

    /// Stop after this time, such as `30s` or `2m`; without it, play until Ctrl-C
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub duration: Option<Duration>,

    /// Seed of what the bots do
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// What the bots want
    #[arg(long, value_enum, default_value_t = Minds::Mix)]
    pub minds: Minds,

    /// How many bots set out a second; without it, all at once
    #[arg(long, value_name = "PER_SECOND", value_parser = parse_rate)]
    pub ramp: Option<f64>,

    /// Believe only the server whose certificate has this SHA-256; this or `--ca` is
    /// needed if it is not on this machine
    #[arg(long, value_name = "SHA256", conflicts_with = "ca")]
    pub pin: Option<Fingerprint>,

    /// Believe a server whose certificate an authority in this PEM file has issued
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,

    /// Name that the certificate must carry; without it, the address of the server
    #[arg(long, value_name = "NAME", requires = "ca")]
    pub server_name: Option<String>,

    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// The swarm that is asked for.
    ///
    /// # Errors
    /// The server is elsewhere and there is nothing to know it by, or the
    /// authority cannot be read.
    pub fn swarm(&self) -> Result<Swarm, NoTrust> {
        let Self { server, bots, duration, seed, minds, ramp, .. } = *self;
        let name = self.server_name.clone().unwrap_or_else(|| server.ip().to_string());
        let authority = self.ca.as_deref().map(|path| Authority::read(path, &name)).transpose()?;
        let trust = Trust::new(server.ip(), self.pin, authority)?;
        Ok(Swarm { server, trust, bots, duration, seed, minds, ramp })
    }
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
    fn nothing_needs_to_be_said() {
        let options = parse("").unwrap();
        assert_eq!(options.server, "127.0.0.1:4433".parse().unwrap());
        assert!(matches!(options.swarm().unwrap().trust, Trust::Loopback));
    }

    #[test]
    fn every_option_is_read() {
        let pin = "ab".repeat(32);
        let text = format!(
            "--server 192.0.2.1:5 --bots 32 --duration 30s --seed 9 --json --pin {pin} \
                     --minds fight --ramp 4"
        );
        let options = parse(&text).unwrap();
        let expected = Options {
            server: "192.0.2.1:5".parse().unwrap(),
            bots: 32,
            duration: Some(Duration::from_secs(30)),
            seed: 9,
            minds: Minds::Fight,
            ramp: Some(4.0),
            pin: Some(pin.parse().unwrap()),
            ca: None,
            server_name: None,
            json: true,
        };
        assert_eq!(options, expected);
        assert!(options.swarm().is_ok());
    }

    #[test]
    fn senseless_values_are_refused() {
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
    fn a_server_elsewhere_needs_to_be_known() {
        assert!(parse("--server 192.0.2.1:5").unwrap().swarm().is_err());
        let error = parse("--ca none.pem").unwrap().swarm().unwrap_err().to_string();
        assert!(error.contains("none.pem"), "{error}");
    }
}
