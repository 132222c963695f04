//! The order in which the addresses of a server's name are tried.

use std::net::SocketAddr;

/// The addresses, each once, with the families in turn (RFC 8305, section 4). If the first attempt
/// fails because of its family, the second attempt takes the other family. The first address stays
/// the first, because the system's resolver knows the rules of this machine. An IPv4-mapped IPv6
/// address becomes its IPv4 address.
pub fn in_turn(found: impl IntoIterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let mut left: Vec<SocketAddr> = Vec::new();
    for address in found {
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        if !left.contains(&address) {
            left.push(address);
        }
    }
    let mut ordered: Vec<SocketAddr> = Vec::new();
    while !left.is_empty() {
        let last = ordered.last().map(SocketAddr::is_ipv4);
        let next = left.iter().position(|address| last != Some(address.is_ipv4()));
        ordered.push(left.remove(next.unwrap_or(0)));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_families_take_turns_and_the_first_address_stays_the_first() {
        let all = |text: &str| {
            text.split(' ').map(|text| text.parse().unwrap()).collect::<Vec<SocketAddr>>()
        };
        for (found, expected) in [
            ("[::1]:1 [::2]:1 [::3]:1 1.1.1.1:1", "[::1]:1 1.1.1.1:1 [::2]:1 [::3]:1"),
            ("1.1.1.1:1 2.2.2.2:1 [::1]:1 [::1]:1", "1.1.1.1:1 [::1]:1 2.2.2.2:1"),
            ("1.1.1.1:1 2.2.2.2:1 [::ffff:1.1.1.1]:1", "1.1.1.1:1 2.2.2.2:1"),
        ] {
            assert_eq!(in_turn(all(found)), all(expected), "{found}");
        }
        assert_eq!(in_turn([]), []);
    }
}
