//! Binds all sockets of the server, UDP and TCP. The address `[::]` stands for all addresses of the
//! machine, of both families. The system's default (`bindv6only`) does not matter, and a machine
//! without IPv6 gets the IPv4 addresses.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use socket2::{Domain, Socket, Type};
use tracing::info;

/// Connections that may wait until they are accepted. The standard library uses the same number.
const BACKLOG: i32 = 4096;

/// A UDP socket of this address. `others` are the other addresses that the same option names. If
/// `0.0.0.0` with the same port is among them, the socket of `[::]` takes only IPv6.
///
/// # Errors
/// The address cannot be bound.
pub(crate) fn udp(address: SocketAddr, others: &[SocketAddr]) -> io::Result<Socket> {
    let v4_too = !others.contains(&(Ipv4Addr::UNSPECIFIED, address.port()).into());
    or_ipv4_alone(address, |address| open(address, Type::DGRAM, v4_too))
}

/// A non-blocking TCP listener of this address.
///
/// # Errors
/// The address cannot be bound.
pub(crate) fn tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = or_ipv4_alone(address, |address| open(address, Type::STREAM, true))?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn open(address: SocketAddr, kind: Type, v4_too: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, None)?;
    if address.is_ipv6() {
        let both = v4_too && address.ip().is_unspecified();
        socket.set_only_v6(!both)?;
    }
    if cfg!(unix) && kind == Type::STREAM {
        // A restarted server takes the port at once, although old connections linger.
        socket.set_reuse_address(true)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Opens a socket. Where the system has no IPv6, `[::]` becomes `0.0.0.0`, and the log says so.
fn or_ipv4_alone<S>(
    address: SocketAddr,
    open: impl Fn(SocketAddr) -> io::Result<S>,
) -> io::Result<S> {
    let opened = open(address);
    if address.ip() == Ipv6Addr::UNSPECIFIED && opened.as_ref().is_err_and(lacks_ipv6) {
        let v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()));
        info!("this system has no IPv6, so the server listens at {v4} instead of {address}");
        return open(v4);
    }
    opened
}

/// Whether this error means that the system has no IPv6.
#[cfg(unix)]
fn lacks_ipv6(error: &io::Error) -> bool {
    let lacking = [libc::EAFNOSUPPORT, libc::EADDRNOTAVAIL, libc::EPROTONOSUPPORT];
    error.raw_os_error().is_some_and(|code| lacking.contains(&code))
}

#[cfg(not(unix))]
fn lacks_ipv6(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::AddrNotAvailable)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpStream, UdpSocket};

    use super::*;

    fn any(address: &str) -> SocketAddr {
        address.parse().unwrap()
    }

    #[test]
    fn the_unspecified_ipv6_address_is_reached_by_both_families() {
        let Ok(listener) = tcp(any("[::]:0")) else { return eprintln!("skipped: no IPv6 here") };
        let port = listener.local_addr().unwrap().port();
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        TcpStream::connect((Ipv6Addr::LOCALHOST, port)).unwrap();
        let both = udp(any("[::]:0"), &[]).unwrap();
        assert!(!both.only_v6().unwrap());
        let address = both.local_addr().unwrap().as_socket().unwrap();
        let error = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, address.port())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn both_unspecified_addresses_may_be_named() {
        let v4 = udp(any("0.0.0.0:0"), &[]).unwrap();
        let v4 = v4.local_addr().unwrap().as_socket().unwrap();
        let v6 = SocketAddr::from((Ipv6Addr::UNSPECIFIED, v4.port()));
        let Ok(socket) = udp(v6, &[v4, v6]) else { return eprintln!("skipped: no IPv6 here") };
        assert!(socket.only_v6().unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_system_without_ipv6_gets_the_ipv4_addresses() {
        let without_ipv6 = |address: SocketAddr| match address {
            SocketAddr::V4(_) => Ok(address),
            SocketAddr::V6(_) => Err(io::Error::from_raw_os_error(libc::EAFNOSUPPORT)),
        };
        let opened = or_ipv4_alone(any("[::]:5"), without_ipv6);
        assert_eq!(opened.unwrap(), any("0.0.0.0:5"));
        // A specific address is not replaced. An address that is taken is still an error.
        assert!(or_ipv4_alone(any("[::1]:5"), without_ipv6).is_err());
        let taken = |_| Err::<(), _>(io::Error::from(io::ErrorKind::AddrInUse));
        assert!(or_ipv4_alone(any("[::]:5"), taken).is_err());
    }
}
