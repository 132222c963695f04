//! Why a socket that was handed over cannot be used.

use thiserror::Error;

/// Why a socket that was handed over cannot be used.
#[derive(Debug, Error)]
pub enum HandedOverError {
    /// The server cannot use the socket.
    #[error(
        "the service manager hands over socket {number} (of LISTEN_FDS) with the name {name:?}, \
         which this server cannot use: UDP sockets (ListenDatagram=) are named listen or query, \
         and a TCP listener (ListenStream=) needs the name http, for the pages of operators, or \
         page, for the public page (FileDescriptorName=)"
    )]
    Useless {
        /// The number of the socket, from 0.
        number: usize,
        /// The name that `FileDescriptorName=` gives it.
        name: String,
    },
    /// There are two sockets for one listener.
    #[error(
        "the service manager hands over two TCP sockets for {purpose}; name them http and page by \
         FileDescriptorName="
    )]
    Twice {
        /// The purpose of both sockets.
        purpose: &'static str,
    },
}
