//! A proxy in front of the server, which sends the client's address in PROXY protocol, version 2.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use obsp_client::quic::{Connector, Trust};
use server::{AddressOptions, Options, Server};

use crate::addresses::{V4, end, join, options};

/// A UDP proxy for one client at a time, which claims that the client is at this address.
struct Proxy {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Proxy {
    fn start(own: IpAddr, server: SocketAddr, client: SocketAddr) -> Self {
        let front = UdpSocket::bind((V4, 0)).unwrap();
        let back = UdpSocket::bind((own, 0)).unwrap();
        back.connect(server).unwrap();
        for socket in [&front, &back] {
            socket.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
        }
        let (address, stop) = (front.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        thread::spawn(move || {
            let header = header(client, server);
            let (mut datagram, mut visitor) = ([0; 2048], None);
            while !stopped.load(Ordering::Relaxed) {
                while let Ok((length, from)) = front.recv_from(&mut datagram) {
                    visitor = Some(from);
                    let _ = back.send(&[&header[..], &datagram[..length]].concat());
                }
                while let (Ok(length), Some(visitor)) = (back.recv(&mut datagram), visitor) {
                    let _ = front.send_to(&datagram[..length], visitor);
                }
            }
        });
        Self { address, stop }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The header of PROXY protocol, version 2, for UDP over IPv4 or IPv6.
fn header(client: SocketAddr, server: SocketAddr) -> Vec<u8> {
    let octets = |ip| match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let destination = match client.ip() {
        IpAddr::V4(_) => octets(server.ip()),
        IpAddr::V6(_) => vec![0; 16],
    };
    let ports = [client.port().to_be_bytes(), server.port().to_be_bytes()].concat();
    let addresses = [octets(client.ip()), destination, ports].concat();
    let family = if client.is_ipv4() { 0x12 } else { 0x22 };
    let fixed = [0x21, family, 0, addresses.len() as u8];
    [&b"\r\n\r\n\0\r\nQUIT\n"[..], &fixed, &addresses].concat()
}

fn behind(proxies: &str) -> Options {
    let proxy_from = vec![proxies.parse().unwrap()];
    let addresses = AddressOptions { proxy_from, ..AddressOptions::default() };
    Options { addresses, ban: vec!["192.0.2.7".parse().unwrap()], ..options(&[V4]) }
}

async fn join_at(address: SocketAddr) -> Result<SocketAddr, String> {
    let connector = Connector::new(address, Trust::Loopback).unwrap();
    join(&connector).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_stated_proxy_tells_the_client_whom_bans_and_limits_see() {
    let running = Server::start(&behind("127.0.0.0/29")).unwrap();
    let server = running.local_addr();
    for good in ["192.0.2.8:5", "[2001:db8::1]:5"] {
        let proxy = Proxy::start(Ipv4Addr::new(127, 0, 0, 2).into(), server, good.parse().unwrap());
        assert_eq!(join_at(proxy.address).await, Ok(proxy.address), "{good}");
    }
    let banned = Proxy::start(V4, server, "192.0.2.7:5".parse().unwrap());
    let error = join_at(banned.address).await.unwrap_err();
    assert!(
        !error.contains("no server answers"),
        "the banned address got no answer instead of a refusal: {error}"
    );
    // A datagram of a proxy without a header is dropped.
    assert!(join_at(server).await.unwrap_err().contains("no server answers"));
    end(running).await;
}

#[tokio::test]
async fn a_header_of_anybody_else_is_not_read() {
    let running = Server::start(&behind("127.0.0.4")).unwrap();
    let server = running.local_addr();
    let proxy = Proxy::start(V4, server, "192.0.2.8:5".parse().unwrap());
    assert!(join_at(proxy.address).await.unwrap_err().contains("no server answers"));
    assert_eq!(join_at(server).await, Ok(server));
    end(running).await;
}
