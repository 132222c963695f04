use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};

/// The address at which a server has its pages for operators by default.
pub(crate) const DEFAULT_HTTP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// The address that `text` means, such as `127.0.0.1:4433`, `[::1]:4433` or `localhost:4433`. If a
/// name has several addresses, the result is the first IPv4 one, because the default addresses are
/// IPv4, too. The result is an IPv6 one only if there is no other.
pub(crate) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let example = "write an address and a port, such as 127.0.0.1:4433 or localhost:4433";
    let found = text.to_socket_addrs().map_err(|error| format!("{error}; {example}"))?;
    let found: Vec<SocketAddr> = found.collect();
    let first = found.iter().find(|address| address.is_ipv4()).or_else(|| found.first());
    first.copied().ok_or_else(|| format!("the name has no address; {example}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_addresses() {
        for (text, expected) in [
            ("localhost:4433", "127.0.0.1:4433"),
            ("192.0.2.1:5", "192.0.2.1:5"),
            ("[::1]:5", "[::1]:5"),
        ] {
            assert_eq!(parse_address(text), Ok(expected.parse().unwrap()), "{text}");
        }
        for text in ["localhost", "4433", "localhost:port", ""] {
            let error = parse_address(text).unwrap_err();
            assert!(error.contains("such as 127.0.0.1:4433"), "{text}: {error}");
        }
    }
}
