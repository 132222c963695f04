use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;
use std::sync::Arc;

use obsp_proto::in_turn;
use thiserror::Error;

/// Maximum number of addresses of a name that are tried.
const MOST: usize = 16;

/// The address at which a server is reached: a name or an IP address, and a UDP port. A name is
/// looked up when a connection is opened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerAddress {
    host: String,
    port: u16,
}

/// The text is no [`ServerAddress`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "{0:?} is not the address of a server: give a name or an address and a port, such as \
         localhost:4433"
)]
pub struct ServerAddressSyntax(String);

/// Looks names up. The default asks the system; a test gives its own addresses.
#[derive(Clone)]
pub struct Resolver(Arc<Lookup>);

/// A lookup of a host's addresses, for a port.
type Lookup = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

impl ServerAddress {
    /// The name, or the address without the brackets of IPv6.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The UDP port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address; `None` for a name.
    pub fn address(&self) -> Option<SocketAddr> {
        self.host.parse().ok().map(|ip: IpAddr| SocketAddr::new(ip.to_canonical(), self.port))
    }
}

impl FromStr for ServerAddress {
    type Err = ServerAddressSyntax;

    fn from_str(text: &str) -> Result<Self, ServerAddressSyntax> {
        let wrong = || ServerAddressSyntax(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?;
        let host = match host.strip_prefix('[') {
            Some(bracketed) => {
                let inner = bracketed.strip_suffix(']').ok_or_else(wrong)?;
                inner.parse::<Ipv6Addr>().map_err(|_| wrong())?;
                inner
            }
            None => host,
        };
        let is_bare_ipv6 = host.contains(':') && !text.starts_with('[');
        let is_printable = |c: char| !c.is_whitespace() && !c.is_control() && !"/[]".contains(c);
        if host.is_empty() || is_bare_ipv6 || !host.chars().all(is_printable) {
            return Err(wrong());
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

impl From<SocketAddr> for ServerAddress {
    fn from(address: SocketAddr) -> Self {
        Self { host: address.ip().to_string(), port: address.port() }
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') {
            write!(formatter, "[{host}]:{port}")
        } else {
            write!(formatter, "{host}:{port}")
        }
    }
}

impl Resolver {
    /// A resolver that uses `lookup`.
    pub fn new(
        lookup: impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(lookup))
    }

    /// The addresses of a server, in the order in which they are to be tried. The lookup may take
    /// as long as the system's resolver does.
    ///
    /// # Errors
    /// The name cannot be looked up, or has no address.
    pub(super) fn addresses(&self, server: &ServerAddress) -> io::Result<Vec<SocketAddr>> {
        if let Some(address) = server.address() {
            return Ok(vec![address]);
        }
        let mut found = in_turn((self.0)(&server.host, server.port)?);
        found.truncate(MOST);
        let none = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        if found.is_empty() { Err(none()) } else { Ok(found) }
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::new(|host, port| Ok((host, port).to_socket_addrs()?.collect()))
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Resolver")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn names_and_addresses_are_read_as_they_are_written() {
        for (text, host) in [
            ("localhost:7", "localhost"),
            ("play.example.org:4433", "play.example.org"),
            ("192.0.2.1:7", "192.0.2.1"),
            ("[::1]:7", "::1"),
        ] {
            let server: ServerAddress = text.parse().unwrap();
            assert_eq!((server.host(), server.to_string().as_str()), (host, text));
            assert_eq!(server.address().is_some(), text.parse::<SocketAddr>().is_ok());
        }
        for bad in ["", "here", "here:", ":7", "here:0", "here:65536", "::1:7", "[x]:7", "a b:7"] {
            let error = bad.parse::<ServerAddress>().unwrap_err().to_string();
            assert!(error.contains("localhost:4433"), "{error}");
        }
    }

    #[test]
    fn the_families_of_a_name_take_turns() {
        let name: ServerAddress = "arena.test:1".parse().unwrap();
        let found = all(&["[2001:db8::1]:1", "[2001:db8::2]:1", "192.0.2.1:1"]);
        let resolver = Resolver::new(move |_, _| Ok(found.clone()));
        let expected = ["[2001:db8::1]:1", "192.0.2.1:1", "[2001:db8::2]:1"];
        assert_eq!(resolver.addresses(&name).unwrap(), all(&expected));
    }

    #[test]
    fn a_name_without_or_with_too_many_addresses() {
        let name: ServerAddress = "arena.test:7".parse().unwrap();
        let none = Resolver::new(|_, _| Ok(Vec::new()));
        assert!(none.addresses(&name).unwrap_err().to_string().contains("no address"));
        let many = Resolver::new(|_, port| {
            Ok((1..=20).map(|last| SocketAddr::from(([192, 0, 2, last], port))).collect())
        });
        assert_eq!(many.addresses(&name).unwrap().len(), MOST);
        // Nothing is looked up for an address.
        let literal = ServerAddress::from(SocketAddr::from(([192, 0, 2, 1], 7)));
        assert_eq!(none.addresses(&literal).unwrap(), all(&["192.0.2.1:7"]));
    }
}
