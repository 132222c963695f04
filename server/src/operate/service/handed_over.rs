//! Sockets that a service manager has bound and hands over when it starts the server ("socket
//! activation", `sd_listen_fds(3)`). They take the place of the addresses of the options. So ports
//! below 1024 need no privilege, and datagrams that come while the server restarts wait in the
//! sockets.

use std::net::{TcpListener, UdpSocket};

use listenfd::ListenFd;

use crate::common::error::HandedOverError;
use crate::matches::watchdog::options::ServiceOptions;

/// The sockets that were handed over, by their purpose.
#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    /// UDP sockets in place of `--listen`.
    pub(crate) listen: Vec<UdpSocket>,
    /// UDP sockets in place of `--query`.
    pub(crate) query: Vec<UdpSocket>,
    /// The listener in place of `--http`.
    pub(crate) http: Option<TcpListener>,
    /// The listener in place of `--page`.
    pub(crate) page: Option<TcpListener>,
}

impl HandedOver {
    /// Takes the sockets that were handed over to this process. There are none if no service
    /// manager hands sockets over. Only the first call of a process gets them.
    ///
    /// # Errors
    /// A socket cannot be used. Without this error, clients would connect to a socket that nobody
    /// serves.
    pub(crate) fn take(options: &ServiceOptions) -> Result<Self, HandedOverError> {
        let mut taken = Self::default();
        if !options.hands_over() {
            return Ok(taken);
        }
        let mut sockets = ListenFd::from_env();
        let names: Vec<&str> =
            options.listen_fdnames.iter().flat_map(|all| all.split(':')).collect();
        for number in 0..sockets.len() {
            let name = names.get(number).copied().unwrap_or_default();
            let useless = || HandedOverError::Useless { number, name: name.to_owned() };
            let udp = sockets.take_udp_socket(number).ok().flatten();
            let tcp = sockets.take_tcp_listener(number).ok().flatten();
            match (name, udp, tcp) {
                ("query", Some(udp), _) => taken.query.push(udp),
                ("http" | "page", Some(_), _) => return Err(useless()),
                (_, Some(udp), _) => taken.listen.push(udp),
                ("page", None, Some(tcp)) => put(&mut taken.page, tcp, "the public page")?,
                ("http", None, Some(tcp)) => put(&mut taken.http, tcp, "the operator's pages")?,
                // A TCP socket is used only if its name says for which pages, because the pages of
                // operators are not for everybody.
                (_, None, _) => return Err(useless()),
            }
        }
        Ok(taken)
    }
}

/// Puts a listener in its place, if the place is empty.
fn put(
    place: &mut Option<TcpListener>,
    listener: TcpListener,
    purpose: &'static str,
) -> Result<(), HandedOverError> {
    match place.replace(listener) {
        None => Ok(()),
        Some(_) => Err(HandedOverError::Twice { purpose }),
    }
}
