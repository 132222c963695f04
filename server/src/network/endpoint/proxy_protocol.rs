//! PROXY protocol, version 2, over UDP (`--proxy-from`). A proxy in front of the server puts a
//! header with the client's address before each datagram. Headers are accepted only from the
//! proxies that the operator names, because any other sender could claim any address. After this
//! module, the client's address is the peer's address: limits, bans and the log see it. Answers go
//! back to the proxy without a header.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::warn;

use super::udp_port::canonical_address;
use crate::common::address_prefix::AddressPrefix;

/// The bytes that begin each header (the protocol's section 2.2).
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// Bytes of a header before its addresses.
const FIXED: usize = 16;
/// The version, and a command that says that the proxy speaks for itself.
const LOCAL: u8 = 0x20;
/// The version, and a command that says that the proxy speaks for a client.
const PROXY: u8 = 0x21;
/// UDP over IPv4, with the number of bytes that its addresses and ports take.
const UDP_4: (u8, usize) = (0x12, 12);
/// UDP over IPv6, with the number of bytes that its addresses and ports take.
const UDP_6: (u8, usize) = (0x22, 36);

/// Clients behind proxies that are remembered: many times the players and spectators of a server.
const REMEMBERED: usize = 8192;
/// A client that was silent for this long may be forgotten, because no answer is sent that late.
const SILENCE: Duration = Duration::from_secs(60);
/// If the table is full, a client may be forgotten after this much silence. Players send many
/// datagrams a second. So a flood of forged addresses pushes out only forged addresses.
const SILENCE_IN_A_FLOOD: Duration = Duration::from_secs(2);
/// The full table is searched for silent clients once in this time.
const SEARCH_EVERY: Duration = Duration::from_millis(250);
/// At most once in this time, the log reports datagrams whose header is missing or wrong.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// The proxies that the operator names, and the clients that they have spoken for.
#[derive(Debug)]
pub(crate) struct Proxies {
    stated: Vec<AddressPrefix>,
    /// Datagrams that were dropped.
    dropped: Arc<AtomicU64>,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    routes: HashMap<SocketAddr, Route>,
    searched: Option<Instant>,
    told: Option<Instant>,
}

/// The proxy that reaches a client.
#[derive(Debug)]
struct Route {
    proxy: SocketAddr,
    heard: Instant,
}

impl Proxies {
    /// Proxies at these addresses, whose dropped datagrams are counted. `None` if there are none.
    pub(crate) fn new(stated: &[AddressPrefix], dropped: &Arc<AtomicU64>) -> Option<Self> {
        let (stated, dropped) = (stated.to_vec(), Arc::clone(dropped));
        (!stated.is_empty()).then(|| Self { stated, dropped, table: Mutex::default() })
    }

    /// Whether datagrams from `peer` begin with a header.
    pub(crate) fn is_stated(&self, peer: SocketAddr) -> bool {
        self.stated.iter().any(|proxies| proxies.contains(peer.ip()))
    }

    /// The client that a proxy speaks for, and its datagram. `None` if the header is missing or
    /// wrong, or if there are too many clients: the datagram is dropped, and counted.
    pub(crate) fn unwrap<'a>(
        &self,
        proxy: SocketAddr,
        datagram: &'a [u8],
        now: Instant,
    ) -> Option<(SocketAddr, &'a [u8])> {
        let unwrapped = self.read(proxy, datagram, now);
        if unwrapped.is_none() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        unwrapped
    }

    fn read<'a>(
        &self,
        proxy: SocketAddr,
        datagram: &'a [u8],
        now: Instant,
    ) -> Option<(SocketAddr, &'a [u8])> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((client, payload)) = read(datagram) else {
            if table.told.is_none_or(|told| now.duration_since(told) >= TELL_EVERY) {
                table.told = Some(now);
                warn!(
                    "a datagram of {proxy}, a proxy of --proxy-from, has no PROXY header of \
                     version 2 for UDP, and is dropped; let the proxy send one with each datagram"
                );
            }
            return None;
        };
        let Some(client) = client else { return Some((proxy, payload)) };
        table.remember(client, proxy, now).then_some((client, payload))
    }

    /// The address to which a datagram to this peer has to be sent.
    pub(crate) fn route(&self, peer: SocketAddr) -> SocketAddr {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.routes.get(&peer).map_or(peer, |route| route.proxy)
    }
}

impl Table {
    /// Remembers the proxy of a client. Returns false if the table is full.
    fn remember(&mut self, client: SocketAddr, proxy: SocketAddr, now: Instant) -> bool {
        let is_known = self.routes.contains_key(&client);
        if !is_known && self.routes.len() >= REMEMBERED {
            if self.searched.is_some_and(|last| now.duration_since(last) < SEARCH_EVERY) {
                return false;
            }
            self.searched = Some(now);
            self.forget(SILENCE, now);
            if self.routes.len() >= REMEMBERED {
                self.forget(SILENCE_IN_A_FLOOD, now);
            }
            if self.routes.len() >= REMEMBERED {
                return false;
            }
        }
        self.routes.insert(client, Route { proxy, heard: now });
        true
    }

    fn forget(&mut self, silence: Duration, now: Instant) {
        self.routes.retain(|_, route| now.duration_since(route.heard) < silence);
    }
}

/// Reads a header. Returns the client, or `None` if the proxy speaks for itself, and the bytes
/// after the header. The whole result is `None` if this is not a header for UDP, or if its address
/// cannot be answered.
fn read(datagram: &[u8]) -> Option<(Option<SocketAddr>, &[u8])> {
    let (fixed, rest) = datagram.split_at_checked(FIXED)?;
    let (signature, fixed) = fixed.split_at(SIGNATURE.len());
    let [command, family, high, low] = *fixed else { return None };
    let (addresses, payload) = rest.split_at_checked(u16::from_be_bytes([high, low]).into())?;
    let is_whole = |length| addresses.len() >= length;
    let client = match (command, family) {
        _ if signature != SIGNATURE => return None,
        (LOCAL, _) => return Some((None, payload)),
        (PROXY, family) if family == UDP_4.0 && is_whole(UDP_4.1) => {
            let ip: [u8; 4] = addresses[..4].try_into().ok()?;
            (IpAddr::from(Ipv4Addr::from(ip)), &addresses[8..10])
        }
        (PROXY, family) if family == UDP_6.0 && is_whole(UDP_6.1) => {
            let ip: [u8; 16] = addresses[..16].try_into().ok()?;
            (IpAddr::from(Ipv6Addr::from(ip)), &addresses[32..34])
        }
        _ => return None,
    };
    let port = u16::from_be_bytes(client.1.try_into().ok()?);
    let client = canonical_address(SocketAddr::new(client.0, port));
    let can_be_answered = port != 0 && !client.ip().is_unspecified() && !client.ip().is_multicast();
    can_be_answered.then_some((Some(client), payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    /// A datagram with the header of this client.
    fn wrapped(client: SocketAddr, payload: &[u8]) -> Vec<u8> {
        let (family, addresses) = match client.ip() {
            IpAddr::V4(ip) => (UDP_4.0, [&ip.octets()[..], &[9; 4]].concat()),
            IpAddr::V6(ip) => (UDP_6.0, [&ip.octets()[..], &[9; 16]].concat()),
        };
        let ports = [client.port().to_be_bytes(), 4433u16.to_be_bytes()].concat();
        let length = (addresses.len() + ports.len()) as u16;
        let fixed = [PROXY, family];
        [&SIGNATURE[..], &fixed, &length.to_be_bytes(), &addresses, &ports, payload].concat()
    }

    fn proxies() -> Proxies {
        Proxies::new(&["10.0.0.0/24".parse().unwrap()], &Arc::default()).unwrap()
    }

    #[test]
    fn dropped_datagrams_are_counted() {
        let (dropped, now) = (Arc::default(), Instant::now());
        let proxies = Proxies::new(&["10.0.0.0/24".parse().unwrap()], &dropped).unwrap();
        let proxy = at("10.0.0.1:7");
        assert!(proxies.unwrap(proxy, &wrapped(at("192.0.2.1:5"), b"hello"), now).is_some());
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        for count in 1..=3 {
            assert!(proxies.unwrap(proxy, b"no header", now).is_none());
            assert_eq!(dropped.load(Ordering::Relaxed), count);
        }
    }

    #[test]
    fn the_client_is_named_and_answers_go_to_its_proxy() {
        let (proxies, now) = (proxies(), Instant::now());
        assert!(Proxies::new(&[], &Arc::default()).is_none());
        let (first, second) = (at("10.0.0.1:7"), at("10.0.0.255:8"));
        assert!(proxies.is_stated(first) && proxies.is_stated(second));
        assert!(!proxies.is_stated(at("10.0.1.0:7")));
        for (client, named, proxy) in [
            ("192.0.2.1:5", "192.0.2.1:5", first),
            ("[2001:db8::1]:5", "[2001:db8::1]:5", first),
            ("[::ffff:192.0.2.2]:5", "192.0.2.2:5", second),
        ] {
            let datagram = wrapped(at(client), b"hello");
            assert_eq!(proxies.unwrap(proxy, &datagram, now), Some((at(named), &b"hello"[..])));
            assert_eq!(proxies.route(at(named)), proxy);
        }
        // A client that comes by another proxy is answered by that proxy.
        proxies.unwrap(second, &wrapped(at("192.0.2.1:5"), b""), now).unwrap();
        assert_eq!(proxies.route(at("192.0.2.1:5")), second);
        assert_eq!(proxies.route(at("192.0.2.1:6")), at("192.0.2.1:6"));
    }

    #[test]
    fn a_header_that_is_cut_wrong_or_not_for_udp_is_dropped() {
        let (proxies, now, proxy) = (proxies(), Instant::now(), at("10.0.0.1:7"));
        let good = wrapped(at("192.0.2.1:5"), b"");
        for length in 0..good.len() {
            assert_eq!(proxies.unwrap(proxy, &good[..length], now), None, "{length}");
        }
        let changed = |place: usize, value| {
            let mut bad = good.clone();
            bad[place] = value;
            bad
        };
        for (place, value) in [(0, 0), (12, 0x11), (12, 0x22), (13, 0x11), (13, 0x22), (15, 11)] {
            assert_eq!(proxies.unwrap(proxy, &changed(place, value), now), None, "{place}");
        }
        for nobody in ["192.0.2.1:0", "0.0.0.0:5", "224.0.0.1:5", "[::]:5", "[ff02::1]:5"] {
            assert_eq!(proxies.unwrap(proxy, &wrapped(at(nobody), b"x"), now), None, "{nobody}");
        }
        // A proxy that checks the server speaks for itself, and more fields may follow addresses.
        let local = changed(12, LOCAL);
        assert_eq!(proxies.unwrap(proxy, &local, now), Some((proxy, &b""[..])));
        let mut longer = wrapped(at("192.0.2.1:5"), b"\x04\0\x01xhello");
        longer[15] += 4;
        let read = proxies.unwrap(proxy, &longer, now);
        assert_eq!(read, Some((at("192.0.2.1:5"), &b"hello"[..])));
    }

    #[test]
    fn a_flood_of_forged_clients_pushes_out_its_own() {
        let (proxies, begin, proxy) = (proxies(), Instant::now(), at("10.0.0.1:7"));
        let client = |number: usize| SocketAddr::from(([192, 0, 2, 1], number as u16 + 1));
        let come =
            |number, now| proxies.unwrap(proxy, &wrapped(client(number), b""), now).is_some();
        for number in 0..REMEMBERED {
            assert!(come(number, begin), "{number}");
        }
        assert!(!come(REMEMBERED, begin), "the table is full");
        let late = begin + SILENCE_IN_A_FLOOD;
        // The player goes on sending. Each datagram of the flood comes from another address.
        assert!(come(0, late - Duration::from_millis(1)));
        assert!(come(REMEMBERED, late));
        assert_eq!(proxies.route(client(0)), proxy);
        assert_eq!(proxies.route(client(1)), client(1), "forgotten");
    }
}
