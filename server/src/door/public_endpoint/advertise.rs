use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The address at which clients reach the game's UDP port. If a container engine or a router maps
/// the port, the server listens at another address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advertised {
    /// A name or an address, without the brackets of an IPv6 address. `None` stands for the host at
    /// which a client found the server's pages.
    pub host: Option<String>,
    /// The UDP port, not 0.
    pub port: u16,
}

/// The text is not an [`Advertised`] address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("write it like game.example.org:7777, [2001:db8::1]:7777 or :7777")]
pub struct AdvertisedSyntax;

impl FromStr for Advertised {
    type Err = AdvertisedSyntax;

    fn from_str(text: &str) -> Result<Self, AdvertisedSyntax> {
        let (host, port) = text.rsplit_once(':').ok_or(AdvertisedSyntax)?;
        let port = port.parse().ok().filter(|port| *port != 0).ok_or(AdvertisedSyntax)?;
        let host = match host.strip_prefix('[') {
            Some(inner) => {
                let inner = inner.strip_suffix(']').ok_or(AdvertisedSyntax)?;
                inner.parse::<std::net::Ipv6Addr>().map_err(|_| AdvertisedSyntax)?;
                inner
            }
            None => host,
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
        let bracketed = text.starts_with('[');
        if !host.chars().all(is_part) || (host.contains(':') && !bracketed) {
            return Err(AdvertisedSyntax);
        }
        let host = Some(host).filter(|host| !host.is_empty()).map(str::to_owned);
        Ok(Self { host, port })
    }
}

impl fmt::Display for Advertised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        match host {
            Some(host) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Some(host) => write!(f, "{host}:{port}"),
            None => write!(f, ":{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        for (text, host) in [
            ("game.example.org:7777", Some("game.example.org")),
            ("203.0.113.9:7777", Some("203.0.113.9")),
            ("[2001:db8::1]:7777", Some("2001:db8::1")),
            (":7777", None),
        ] {
            let read: Advertised = text.parse().unwrap();
            assert_eq!((read.host.as_deref(), read.port), (host, 7777), "{text}");
            assert_eq!(read.to_string(), text);
        }
        for text in [
            "",
            "host",
            "host:",
            "host:0",
            "host:65536",
            "2001:db8::1:7777",
            "[::1]",
            "[x]:1",
            "a/b:1",
            "a b:1",
        ] {
            assert!(text.parse::<Advertised>().is_err(), "{text} was accepted");
        }
    }
}
