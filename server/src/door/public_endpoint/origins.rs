//! Decides which web pages may send requests to this server from a browser. A page of another site
//! must not read the operator's pages, even if it points a name of its own at this server (DNS
//! rebinding). It must not make its visitors enter matches either.

use std::net::IpAddr;

use super::advertise::Advertised;
use super::allowed_origin::AllowedOrigin;

/// The hosts and origins that are allowed.
#[derive(Clone, Debug)]
pub(crate) struct Origins {
    allowed: Vec<AllowedOrigin>,
    /// The host at which clients reach the server, if one is advertised.
    advertised: Option<String>,
}

impl Origins {
    /// The origins that the operator allows, and the host that is advertised to clients.
    pub(crate) fn new(allowed: &[AllowedOrigin], advertised: Option<&Advertised>) -> Self {
        let advertised = advertised.and_then(|address| address.host.clone());
        Self { allowed: allowed.to_vec(), advertised }
    }

    /// Whether a request with this `Host` header is meant for this server: it names an address,
    /// this machine, a host of the local network, or one that is allowed. Any other name may be one
    /// that another site has pointed here.
    pub(crate) fn knows_host(&self, authority: &str) -> bool {
        let host = host(authority);
        host.parse::<IpAddr>().is_ok()
            || !host.contains('.')
            || is_loopback(host)
            || self.advertised.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(host))
            || self.allowed.iter().any(|origin| origin.is_of(host))
    }

    /// Whether a page of this `Origin` may enter a match that it reaches at `authority`. The page
    /// may do so if it comes from the same host and that host is known, if it comes from this
    /// machine, or if it is allowed.
    pub(crate) fn allows(&self, origin: &str, authority: &str) -> bool {
        let Some((_, of_page)) = origin.split_once("://") else { return false };
        let page = host(of_page);
        (page.eq_ignore_ascii_case(host(authority)) && self.knows_host(authority))
            || is_loopback(page)
            || self.allowed.iter().any(|allowed| allowed.matches(origin))
    }
}

/// The host of `HOST` or `HOST:PORT`, without the brackets of an IPv6 address.
fn host(authority: &str) -> &str {
    if let Some(bracketed) = authority.strip_prefix('[') {
        return bracketed.split(']').next().unwrap_or_default();
    }
    authority.rsplit_once(':').map_or(authority, |(host, _)| host)
}

fn is_loopback(host: &str) -> bool {
    let is_local = |host: &str| host.eq_ignore_ascii_case("localhost");
    let name = host.rsplit('.').next().unwrap_or_default();
    is_local(name) || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins() -> Origins {
        let advertised: Advertised = "play.example:7777".parse().unwrap();
        Origins::new(&["https://arena.example:8443".parse().unwrap()], Some(&advertised))
    }

    #[test]
    fn a_name_that_a_page_elsewhere_made_point_here_is_not_known() {
        let origins = origins();
        for known in [
            "127.0.0.1:8080",
            "[::1]:8080",
            "[2001:db8::1]",
            "192.0.2.1",
            "localhost:8080",
            "arena.localhost",
            "server:8080",
            "play.example:8080",
            "ARENA.example",
        ] {
            assert!(origins.knows_host(known), "{known}");
        }
        for unknown in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "evil.a:1"] {
            assert!(!origins.knows_host(unknown), "{unknown}");
        }
    }

    #[test]
    fn a_page_of_the_same_host_or_this_machine_or_one_allowed_may_look_on() {
        let origins = origins();
        for (origin, authority) in [
            ("http://192.0.2.1:8080", "192.0.2.1:4433"),
            ("https://play.example", "play.example:7777"),
            ("http://127.0.0.1:8080", "192.0.2.1:4433"),
            ("http://localhost:8080", "own.example:4433"),
            ("https://arena.example:8443", "192.0.2.1:4433"),
        ] {
            assert!(origins.allows(origin, authority), "{origin} {authority}");
        }
        for (origin, authority) in [
            ("https://evil.example", "192.0.2.1:4433"),
            // Another site has pointed this name here.
            ("https://evil.example", "evil.example:4433"),
            ("http://192.0.2.2:8080", "192.0.2.1:4433"),
            ("https://arena.example", "192.0.2.1:4433"),
            ("http://arena.example:8443", "192.0.2.1:4433"),
            ("null", "192.0.2.1:4433"),
            ("", "192.0.2.1:4433"),
        ] {
            assert!(!origins.allows(origin, authority), "{origin} {authority}");
        }
        let any = Origins::new(&["*".parse().unwrap()], None);
        assert!(any.allows("https://evil.example", "192.0.2.1:4433"));
        assert!(any.knows_host("evil.example"));
    }
}
