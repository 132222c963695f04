//! The command line of the program `badline`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use super::conditions::Way;
use super::{Blackout, Conditions, Line, Setup};

/// The command line of the program `badline`.
#[derive(Clone, Debug, PartialEq, Parser)]
#[command(
    name = "badline",
    version,
    about = "Puts a bad line between game clients and a server: a UDP proxy that delays, loses, \
             duplicates and reorders datagrams, and carries no more than a narrow link",
    after_help = "\
A value applies to both directions; `up:` or `down:` before it sets only one (up is from the client
to the server), and an option may be given twice: --loss up:1% --loss down:5%.
Each client address has a line of its own. Times of --blackout and --rebind count from the first
datagram. What happens to the nth datagram of a direction depends on --seed and n alone.
Delays are kept to about a millisecond.

A mobile phone:   badline --delay 40ms --jitter 20ms --loss 2% --burst 3
A full DSL line:  badline --delay 15ms --bandwidth up:512 --bandwidth down:2000 --queue 500ms
A lift:           badline --delay 30ms --blackout 10s+3s --rebind 13s"
)]
pub struct Options {
    /// UDP address that clients connect to
    #[arg(long, value_name = "ADDR", default_value_t = local(4434))]
    pub listen: SocketAddr,

    /// UDP address of the server
    #[arg(long, value_name = "ADDR", default_value_t = local(4433))]
    pub to: SocketAddr,

    /// Time that each datagram takes, such as `50ms`; a round trip takes the delays of both
    /// directions
    #[arg(long, value_name = "TIME", value_parser = Value::parse(duration))]
    pub delay: Vec<Value<Duration>>,

    /// Maximum that is added to or taken from the delay, evenly distributed; a jitter above the
    /// time between two datagrams reorders them
    #[arg(long, value_name = "TIME", value_parser = Value::parse(duration))]
    pub jitter: Vec<Value<Duration>>,

    /// Share of datagrams that are lost
    #[arg(long, value_name = "PERCENT", value_parser = Value::parse(percent))]
    pub loss: Vec<Value<f64>>,

    /// Mean number of datagrams lost in a row (Gilbert-Elliott); without this option, each is lost
    /// independently
    #[arg(long, value_name = "N", value_parser = Value::parse(at_least_one))]
    pub burst: Vec<Value<f64>>,

    /// Share of datagrams that arrive twice
    #[arg(long, value_name = "PERCENT", value_parser = Value::parse(percent))]
    pub duplicate: Vec<Value<f64>>,

    /// Share of datagrams that arrive 20 ms later, after their successors
    #[arg(long, value_name = "PERCENT", value_parser = Value::parse(percent))]
    pub reorder: Vec<Value<f64>>,

    /// Bandwidth in kbit/s of IP packets: each datagram counts 28 bytes more than its payload
    #[arg(long, value_name = "KBITS", value_parser = Value::parse(positive))]
    pub bandwidth: Vec<Value<f64>>,

    /// Longest time that a datagram waits for bandwidth; datagrams that would wait longer are
    /// dropped [default: 200ms]
    #[arg(long, value_name = "TIME", value_parser = Value::parse(duration))]
    pub queue: Vec<Value<Duration>>,

    /// Largest UDP payload in bytes that passes: an IP path with an MTU of 1228 carries 1200
    #[arg(long, value_name = "BYTES", value_parser = Value::parse(bytes))]
    pub mtu: Vec<Value<usize>>,

    /// Nothing passes for LENGTH from START on, such as `10s+3s`; may be repeated
    #[arg(long, value_name = "START+LENGTH", value_parser = Value::parse(blackout))]
    pub blackout: Vec<Value<Blackout>>,

    /// All clients get new source ports towards the server at this time, as when a router
    /// forgets its mappings; may be repeated
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub rebind: Vec<Duration>,

    /// Seed of the random number generator
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// End after this time; without this option, the program ends at Ctrl-C
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,

    /// Write the counts of datagrams to this file as JSON at the end; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub stats_json: Option<PathBuf>,
}

/// A value for one direction or both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value<T> {
    /// The only direction to which the value applies; both if `None`.
    only: Option<Way>,
    value: T,
}

impl<T: 'static> Value<T> {
    /// Reads a value with `parse`, after an optional `up:` or `down:`.
    fn parse(
        parse: fn(&str) -> Result<T, String>,
    ) -> impl Fn(&str) -> Result<Self, String> + Clone + Send + Sync + 'static {
        move |text| {
            let (only, text) = match text.split_once(':') {
                Some(("up", value)) => (Some(Way::Up), value),
                Some(("down", value)) => (Some(Way::Down), value),
                _ => (None, text),
            };
            Ok(Self { only, value: parse(text)? })
        }
    }
}

impl Options {
    /// The setup of the proxy.
    pub fn setup(&self) -> Setup {
        let line = Line { up: self.conditions(Way::Up), down: self.conditions(Way::Down) };
        let (listen, to, seed) = (self.listen, self.to, self.seed);
        Setup { listen, to, line, seed, rebinds: self.rebind.clone() }
    }

    fn conditions(&self, way: Way) -> Conditions {
        let default = Conditions::default();
        Conditions {
            delay: last(&self.delay, way).unwrap_or(default.delay),
            jitter: last(&self.jitter, way).unwrap_or(default.jitter),
            loss: last(&self.loss, way).unwrap_or(default.loss),
            burst: last(&self.burst, way).unwrap_or(default.burst),
            duplicate: last(&self.duplicate, way).unwrap_or(default.duplicate),
            reorder: last(&self.reorder, way).unwrap_or(default.reorder),
            bandwidth: last(&self.bandwidth, way),
            queue: last(&self.queue, way).unwrap_or(default.queue),
            mtu: last(&self.mtu, way),
            blackouts: all(&self.blackout, way).collect(),
        }
    }
}

/// The values that apply to a direction.
fn all<T: Copy>(values: &[Value<T>], way: Way) -> impl Iterator<Item = T> {
    let holds = move |value: &&Value<T>| value.only.is_none_or(|only| only == way);
    values.iter().filter(holds).map(|value| value.value)
}

/// The value that applies to a direction: the last one given.
fn last<T: Copy>(values: &[Value<T>], way: Way) -> Option<T> {
    all(values, way).last()
}

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error}; write it like 50ms or 3s"))
}

fn blackout(text: &str) -> Result<Blackout, String> {
    let (start, length) = text.split_once('+').ok_or("write it like 10s+3s")?;
    Ok(Blackout { start: duration(start)?, length: duration(length)? })
}

/// A share from 0 to 1.
fn percent(text: &str) -> Result<f64, String> {
    let percent = number(text.strip_suffix('%').unwrap_or(text))?;
    if (0.0..=100.0).contains(&percent) {
        Ok(percent / 100.0)
    } else {
        Err("a share is from 0 % to 100 %; write it like 5%".to_owned())
    }
}

fn at_least_one(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    if number >= 1.0 { Ok(number) } else { Err("the number must be 1 or more".to_owned()) }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    if number > 0.0 { Ok(number) } else { Err("the number must be above 0".to_owned()) }
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "not a number".to_owned())
}

fn bytes(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "not a number of bytes".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(["badline"].into_iter().chain(text.split_whitespace()))
    }

    #[test]
    fn without_options_the_line_has_no_fault() {
        let setup = parse("").unwrap().setup();
        assert_eq!(setup.line, Line::default());
        assert_eq!((setup.listen, setup.to), (local(4434), local(4433)));
    }

    #[test]
    fn every_fault_is_read_for_both_directions() {
        let text = "--delay 50ms --jitter 20ms --loss 5% --burst 3 --duplicate 1% --reorder 2 \
                    --bandwidth 64 --queue 1s --mtu 1200 --blackout 10s+3s --blackout 1m+500ms \
                    --rebind 5s --rebind 7s --seed 9 --listen 127.0.0.1:1 --to [::1]:2";
        let setup = parse(text).unwrap().setup();
        let seconds = Duration::from_secs;
        let blackouts = vec![
            Blackout { start: seconds(10), length: seconds(3) },
            Blackout { start: seconds(60), length: Duration::from_millis(500) },
        ];
        let expected = Conditions {
            delay: Duration::from_millis(50),
            jitter: Duration::from_millis(20),
            loss: 0.05,
            burst: 3.0,
            duplicate: 0.01,
            reorder: 0.02,
            bandwidth: Some(64.0),
            queue: seconds(1),
            mtu: Some(1200),
            blackouts,
        };
        assert_eq!(setup.line, Line::both(expected));
        assert_eq!(setup.rebinds, [seconds(5), seconds(7)]);
        assert_eq!((setup.seed, setup.listen), (9, local(1)));
        assert_eq!(setup.to, "[::1]:2".parse().unwrap());
    }

    #[test]
    fn a_direction_may_be_set_alone() {
        let text = "--loss 1% --loss down:5% --bandwidth up:64 --blackout up:1s+1s";
        let line = parse(text).unwrap().setup().line;
        assert_eq!((line.up.loss, line.down.loss), (0.01, 0.05));
        assert_eq!((line.up.bandwidth, line.down.bandwidth), (Some(64.0), None));
        assert_eq!((line.up.blackouts.len(), line.down.blackouts.len()), (1, 0));
    }

    #[test]
    fn invalid_values_are_rejected() {
        for bad in [
            "--delay 50",
            "--loss 101%",
            "--loss -1",
            "--loss nan",
            "--burst 0.5",
            "--bandwidth 0",
            "--mtu big",
            "--blackout 10s",
            "--loss sideways:1%",
            "--to there",
        ] {
            assert!(parse(bad).is_err(), "{bad} was accepted");
        }
    }
}
