use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::Parser;

/// Ticks per second unless asked otherwise.
const DEFAULT_TICK_RATE: u32 = 60;
/// Players that a match holds unless asked otherwise.
const DEFAULT_MAX_PLAYERS: u16 = 32;
/// UDP port on which players join unless asked otherwise.
const DEFAULT_PORT: u16 = 4433;
/// TCP port of the operator's pages unless asked otherwise.
const DEFAULT_HTTP_PORT: u16 = 8080;

/// What to serve, where and how: the command line of the binary, and the
/// argument of [`Server::start`](crate::Server::start).
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "server", version, about = "Serves an arena match over QUIC", long_about = None)]
pub struct Options {
    /// Map to serve: a path, or a name found in `maps/`; a `.map` is compiled first
    #[arg(long, value_name = "NAME")]
    pub map: String,

    /// UDP address on which players join; port 0 takes any free one
    #[arg(long, value_name = "ADDR", default_value_t = any_address(DEFAULT_PORT))]
    pub listen: SocketAddr,

    /// TCP address of `/metrics` and `/healthz`; port 0 takes any free one
    #[arg(long, value_name = "ADDR", default_value_t = loopback(DEFAULT_HTTP_PORT))]
    pub http: SocketAddr,

    /// Ticks per second
    #[arg(long, value_name = "HZ", default_value_t = DEFAULT_TICK_RATE,
          value_parser = clap::value_parser!(u32).range(20..=128))]
    pub tick_rate: u32,

    /// Rigid bodies to scatter beyond those that the map places
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub objects: u32,

    /// Seed of everything that is drawn by lot
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// Players that the match holds
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_PLAYERS,
          value_parser = clap::value_parser!(u16).range(1..))]
    pub max_players: u16,

    /// Stop after this time, such as `30s` or `2m`; without it, run until stopped
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub duration: Option<Duration>,
}

impl Options {
    /// The options that `server --map NAME` alone gives.
    pub fn new(map: impl Into<String>) -> Self {
        Self {
            map: map.into(),
            listen: any_address(DEFAULT_PORT),
            http: loopback(DEFAULT_HTTP_PORT),
            tick_rate: DEFAULT_TICK_RATE,
            objects: 0,
            seed: 1,
            max_players: DEFAULT_MAX_PLAYERS,
            duration: None,
        }
    }
}

fn any_address(port: u16) -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, port).into()
}

fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// A time such as `30s`, `1m 30s` or plain seconds.
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

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        Options::try_parse_from(["server"].iter().chain(arguments))
    }

    #[test]
    fn a_map_is_all_that_must_be_said() {
        assert_eq!(parse(&["--map", "arena.obsp"]).unwrap(), Options::new("arena.obsp"));
        assert!(parse(&[]).is_err());
    }

    #[test]
    fn every_option_is_read() {
        let text = "--map m --listen [::1]:5 --http 127.0.0.1:6 --tick-rate 30 --objects 300 \
                    --seed 9 --max-players 8 --duration 90s";
        let options = parse(&text.split_whitespace().collect::<Vec<_>>()).unwrap();
        let expected = Options {
            map: "m".into(),
            listen: "[::1]:5".parse().unwrap(),
            http: "127.0.0.1:6".parse().unwrap(),
            tick_rate: 30,
            objects: 300,
            seed: 9,
            max_players: 8,
            duration: Some(Duration::from_secs(90)),
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn senseless_values_are_refused() {
        for bad in [
            ["--tick-rate", "19"],
            ["--tick-rate", "129"],
            ["--max-players", "0"],
            ["--listen", "4433"],
            ["--duration", "soon"],
            ["--duration", "-1"],
        ] {
            assert!(parse(&["--map", "m", bad[0], bad[1]]).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn durations_come_in_words_and_in_seconds() {
        let cases = [("30s", 30_000), ("2m", 120_000), ("1m 30s", 90_000), ("0.5", 500)];
        for (text, milliseconds) in cases {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        assert!(parse_duration("nan").is_err());
    }
}
