//! A UDP socket that answers from the address that was asked. A host may have several addresses,
//! and a socket of `0.0.0.0` or `[::]` receives for all of them. A peer drops an answer that does
//! not come from the address that it asked.
//!
//! This file is also the one place where both families of addresses meet. A socket of `[::]` shows
//! the IPv4 address 192.0.2.1 as `::ffff:192.0.2.1`. Everything above this file sees 192.0.2.1.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use quinn::udp::{RecvMeta, Transmit, UdpSocketState};

use super::queries::Answers;

/// Bytes of the largest UDP datagram. The kernel joins datagrams of one sender up to this size.
const LARGEST: usize = 1 << 16;

/// The other end of a datagram, and the server's address at which it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The sender, who receives the answer.
    pub(crate) peer: SocketAddr,
    /// The server's address that was asked. The answer leaves from it. `None` if the system does
    /// not report it.
    pub(crate) own: Option<IpAddr>,
}

/// A UDP socket for a thread that waits for datagrams.
#[derive(Debug)]
pub(crate) struct UdpPort {
    socket: UdpSocket,
    state: UdpSocketState,
    is_ipv6: bool,
}

impl UdpPort {
    /// A port whose [`receive`](Self::receive) waits for this long at most.
    ///
    /// # Errors
    /// The socket cannot be configured.
    pub(crate) fn new(socket: UdpSocket, wait: Duration) -> io::Result<Self> {
        let state = UdpSocketState::new((&socket).into())?;
        // The call above has made the socket non-blocking.
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(wait))?;
        let is_ipv6 = socket.local_addr()?.is_ipv6();
        Ok(Self { socket, state, is_ipv6 })
    }

    /// Waits for datagrams and hands each to `each`. The kernel may have joined several of one
    /// sender.
    ///
    /// # Errors
    /// No datagram arrived in time, or the system reports that an earlier answer did not arrive.
    pub(crate) fn receive(
        &self,
        buffer: &mut ReceiveBuffer,
        mut each: impl FnMut(&[u8], Ends),
    ) -> io::Result<()> {
        let mut meta = [RecvMeta::default()];
        let mut buffers = [IoSliceMut::new(&mut buffer.0)];
        self.state.recv((&self.socket).into(), &mut buffers, &mut meta)?;
        let meta = canonical(meta[0]);
        for datagram in datagrams(&buffer.0, &meta) {
            each(datagram, Ends { peer: meta.addr, own: meta.dst_ip });
        }
        Ok(())
    }

    /// The address that the port listens at.
    ///
    /// # Errors
    /// The system does not report it.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

impl Answers for UdpPort {
    fn send(&self, datagram: &[u8], ends: Ends) -> io::Result<()> {
        let transmit = of_family(ends.transmit(datagram), self.is_ipv6);
        self.state.try_send((&self.socket).into(), &transmit)
    }
}

/// The buffer of [`UdpPort::receive`].
pub(crate) struct ReceiveBuffer(Vec<u8>);

impl Default for ReceiveBuffer {
    fn default() -> Self {
        Self(vec![0; LARGEST])
    }
}

impl Ends {
    /// A datagram to the peer.
    pub(crate) fn transmit(self, contents: &[u8]) -> Transmit<'_> {
        let Self { peer: destination, own: src_ip } = self;
        Transmit { destination, ecn: None, contents, segment_size: None, src_ip }
    }
}

/// The datagrams that the kernel has joined in `buffer`.
fn datagrams<'a>(buffer: &'a [u8], meta: &RecvMeta) -> impl Iterator<Item = &'a [u8]> {
    let filled = &buffer[..meta.len.min(buffer.len())];
    filled.chunks(meta.stride.max(1))
}

/// An address in the form that all code above the socket uses: an IPv4 address is written as IPv4,
/// whichever socket it came from.
pub(crate) fn canonical_address(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => SocketAddr::from((ip, address.port())),
        IpAddr::V6(_) => address,
    }
}

/// Received datagrams, with their addresses in the form that all code above the socket uses.
pub(crate) fn canonical(meta: RecvMeta) -> RecvMeta {
    RecvMeta {
        addr: canonical_address(meta.addr),
        dst_ip: meta.dst_ip.map(|own| own.to_canonical()),
        ..meta
    }
}

/// A datagram to send, with its addresses in the form that a socket of this family takes.
pub(crate) fn of_family(transmit: Transmit<'_>, is_ipv6: bool) -> Transmit<'_> {
    if !is_ipv6 {
        return transmit;
    }
    let mapped = |ip| match ip {
        IpAddr::V4(ip) => IpAddr::V6(ip.to_ipv6_mapped()),
        ip => ip,
    };
    let destination = match transmit.destination {
        SocketAddr::V4(peer) => SocketAddr::new(mapped((*peer.ip()).into()), peer.port()),
        // An IPv6 address stays as it is, with the scope that a link-local address needs.
        peer => peer,
    };
    Transmit { destination, src_ip: transmit.src_ip.map(mapped), ..transmit }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use socket2::{Domain, Socket, Type};

    use super::*;

    const HANG: Duration = Duration::from_secs(5);

    fn dual_stack() -> Option<UdpSocket> {
        let socket = Socket::new(Domain::IPV6, Type::DGRAM, None).ok()?;
        socket.set_only_v6(false).ok()?;
        socket.bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)).into()).ok()?;
        Some(socket.into())
    }

    /// Asks at `own`, by a socket that hears no other address, and returns what the port saw.
    fn ask(port: &UdpPort, own: IpAddr) -> Ends {
        let client = UdpSocket::bind((own, 0)).unwrap();
        client.connect((own, port.address().unwrap().port())).unwrap();
        client.set_read_timeout(Some(HANG)).unwrap();
        client.send(b"where?").unwrap();
        let mut seen = None;
        port.receive(&mut ReceiveBuffer::default(), |datagram, ends| {
            assert_eq!(datagram, b"where?");
            port.send(b"here", ends).unwrap();
            seen = Some(ends);
        })
        .unwrap();
        let mut answer = [0; 16];
        let length = client.recv(&mut answer).expect("the answer comes from the address asked");
        assert_eq!(&answer[..length], b"here");
        let seen = seen.unwrap();
        assert_eq!(seen.peer, client.local_addr().unwrap());
        seen
    }

    #[test]
    fn query_reply_address() {
        let any = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let port = UdpPort::new(any, HANG).unwrap();
        for own in [Ipv4Addr::new(127, 0, 0, 1), Ipv4Addr::new(127, 0, 0, 2)] {
            assert_eq!(ask(&port, own.into()).own, Some(own.into()));
        }
    }

    #[test]
    fn a_socket_of_both_families_names_plain_addresses_and_answers_from_them() {
        let Some(socket) = dual_stack() else { return eprintln!("skipped: no IPv6 here") };
        let port = UdpPort::new(socket, HANG).unwrap();
        let second = Ipv4Addr::new(127, 0, 0, 2).into();
        for own in [Ipv4Addr::LOCALHOST.into(), second, Ipv6Addr::LOCALHOST.into()] {
            assert_eq!(ask(&port, own).own, Some(own));
        }
    }

    #[test]
    fn datagrams_that_the_kernel_joined_are_told_apart() {
        let meta = RecvMeta { len: 7, stride: 3, ..RecvMeta::default() };
        let found: Vec<_> = datagrams(b"abcdefgxx", &meta).collect();
        assert_eq!(found, [&b"abc"[..], b"def", b"g"]);
        let empty = RecvMeta { len: 0, stride: 0, ..RecvMeta::default() };
        assert_eq!(datagrams(b"abc", &empty).count(), 0);
    }
}
