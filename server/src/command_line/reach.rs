//! How the program's own tools (`server health`, `server admin`) reach a server over TCP: all
//! addresses of a name are tried, as RFC 8305 ("Happy Eyeballs") says, and the first that can be
//! connected to is taken.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use obsp_proto::in_turn;
use thiserror::Error;

/// Time between two attempts (RFC 8305, section 5). The next one starts at once if one fails.
const STAGGER: Duration = Duration::from_millis(250);

/// A server's TCP port, by name or address. An unspecified address, such as `[::]`, stands for the
/// loopback addresses: a server that listens at it is reached there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The text that the user wrote.
    text: String,
    /// The addresses, in the order in which they are tried; one at least.
    addresses: Vec<SocketAddr>,
}

/// The error of each address of a [`Reached`], in the order in which the addresses were tried.
#[derive(Debug, Error)]
pub struct Unreached(pub Vec<(SocketAddr, io::Error)>);

impl fmt::Display for Unreached {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (address, error)) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(formatter, "{separator}{address}: {error}")?;
        }
        Ok(())
    }
}

impl From<SocketAddr> for Reached {
    fn from(address: SocketAddr) -> Self {
        Self { text: address.to_string(), addresses: reachable(address) }
    }
}

impl FromStr for Reached {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write an address and a port, such as 127.0.0.1:8080 or localhost:8080";
        let found = text.to_socket_addrs().map_err(|error| format!("{error}; {example}"))?;
        let addresses = in_turn(found.flat_map(reachable));
        if addresses.is_empty() {
            return Err(format!("the name has no address; {example}"));
        }
        Ok(Self { text: text.to_owned(), addresses })
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Reached {
    /// Connects to the first address that takes the connection, within `patience`.
    ///
    /// # Errors
    /// No address takes the connection in time.
    pub(crate) fn connect(&self, patience: Duration) -> Result<TcpStream, Unreached> {
        let (report, reports) = channel();
        let mut waiting = self.addresses.iter().copied().enumerate();
        let (mut running, mut failed, end) = (0, Vec::new(), Instant::now() + patience);
        loop {
            if let Some((place, address)) = waiting.next() {
                let (report, left) =
                    (report.clone(), end.saturating_duration_since(Instant::now()));
                // After one attempt has succeeded, the others go on until their time is up. Nobody
                // waits for them.
                thread::spawn(move || {
                    let connected = TcpStream::connect_timeout(&address, left.max(STAGGER));
                    let _ = report.send((place, address, connected));
                });
                running += 1;
            }
            let wait = if waiting.len() == 0 { patience + STAGGER } else { STAGGER };
            match reports.recv_timeout(wait) {
                Ok((_, _, Ok(stream))) => return Ok(stream),
                Ok((place, address, Err(error))) => {
                    running -= 1;
                    failed.push((place, address, error));
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if waiting.len() == 0 && running == 0 {
                failed.sort_by_key(|(place, ..)| *place);
                let failed = failed.into_iter().map(|(_, address, error)| (address, error));
                return Err(Unreached(failed.collect()));
            }
        }
    }
}

/// Sends an HTTP request, and returns the answer, up to `longest` bytes. The request is HTTP 1.0,
/// so the answer ends when the connection closes.
pub(super) fn ask(
    mut stream: TcpStream,
    request: &str,
    patience: Duration,
    longest: u64,
) -> io::Result<String> {
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(longest).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The status of an HTTP answer.
pub(super) fn status(answer: &str) -> Option<&str> {
    answer.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1))
}

/// The addresses by which this machine reaches a server that listens at `address`.
fn reachable(address: SocketAddr) -> Vec<SocketAddr> {
    let (v4, v6) = (IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST));
    let hosts = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => vec![v4],
        IpAddr::V6(ip) if ip.is_unspecified() => vec![v6, v4],
        ip => vec![ip],
    };
    hosts.into_iter().map(|host| SocketAddr::new(host, address.port())).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn of(addresses: &[SocketAddr]) -> Reached {
        Reached { text: "dual.test:1".into(), addresses: addresses.to_vec() }
    }

    /// An address at which nobody listens.
    fn nobody(ip: IpAddr) -> SocketAddr {
        TcpListener::bind((ip, 0)).unwrap().local_addr().unwrap()
    }

    #[test]
    fn one_address_of_a_name() {
        let v4 = IpAddr::from(Ipv4Addr::LOCALHOST);
        let v6 = IpAddr::from(Ipv6Addr::LOCALHOST);
        for here in [v4, v6] {
            let Ok(listener) = TcpListener::bind((here, 0)) else {
                eprintln!("skipped: no IPv6 here");
                continue;
            };
            let there = listener.local_addr().unwrap();
            let name = of(&[nobody(v4), there]);
            let begin = Instant::now();
            let stream = name.connect(Duration::from_secs(2)).unwrap();
            assert_eq!(stream.peer_addr().unwrap(), there);
            assert!(begin.elapsed() < Duration::from_secs(1));
        }
    }

    #[test]
    fn each_address_is_told_with_what_became_of_it() {
        let gone = [nobody(Ipv4Addr::LOCALHOST.into()), nobody(Ipv4Addr::new(127, 0, 0, 2).into())];
        let failed = of(&gone).connect(Duration::from_secs(2)).unwrap_err();
        assert_eq!(failed.0.iter().map(|(address, _)| *address).collect::<Vec<_>>(), gone);
        let text = failed.to_string();
        assert!(gone.iter().all(|address| text.contains(&address.to_string())), "{text}");
    }

    #[test]
    fn the_unspecified_address_is_reached_by_loopback() {
        let all = |text: &str| text.parse::<Reached>().unwrap().addresses;
        assert_eq!(all("0.0.0.0:8"), ["127.0.0.1:8".parse().unwrap()]);
        assert_eq!(all("[::]:8"), ["[::1]:8", "127.0.0.1:8"].map(|text| text.parse().unwrap()));
        assert!(all("localhost:8").contains(&"127.0.0.1:8".parse().unwrap()));
        for bad in ["localhost", "8080", ""] {
            assert!(bad.parse::<Reached>().unwrap_err().contains("such as 127.0.0.1"), "{bad}");
        }
    }
}
