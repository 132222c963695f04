//! `server health`: asks a running server whether its match is alive. It is for the health check of
//! a container: the image of the server has no other HTTP client.

use std::io;
use std::time::Duration;

use clap::Args;
use thiserror::Error;

use super::reach::{Reached, Unreached, ask, status};
use crate::common::socket_address::DEFAULT_HTTP;

/// How long the server may take to answer: less than the time that Docker grants a check.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum number of bytes of the answer that are read. The answer of a server is shorter.
const LONGEST_ANSWER: u64 = 4096;

/// The server to ask.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct HealthOptions {
    /// TCP address of the server's pages; if a name has several addresses, all are tried; an
    /// unspecified address, such as 0.0.0.0, stands for the loopback address
    #[arg(long, value_name = "ADDR", env = "ARENA_HTTP",
          default_value_t = Reached::from(DEFAULT_HTTP))]
    pub http: Reached,
}

/// Why a server is not healthy.
#[derive(Debug, Error)]
pub enum HealthError {
    /// No address of the server can be connected to.
    #[error("http://{server}/healthz cannot be reached: {tried}")]
    Unreached {
        /// The server, as the user wrote it.
        server: Reached,
        /// The error of each address.
        tried: Unreached,
    },
    /// The server does not answer.
    #[error("http://{server}/healthz does not answer: {source}")]
    Silent {
        /// The server, as the user wrote it.
        server: Reached,
        /// The system's error.
        source: io::Error,
    },
    /// The answer does not come from a healthy server: the server says that it is unhealthy, or
    /// another program answers.
    #[error("http://{server}/healthz answers {answer:?}")]
    Unhealthy {
        /// The server, as the user wrote it.
        server: Reached,
        /// The server's answer.
        answer: String,
    },
}

/// Asks the server whether its match is alive.
///
/// # Errors
/// The server says that its match is not alive, or does not answer within two seconds.
pub fn health(options: &HealthOptions) -> Result<(), HealthError> {
    let server = options.http.clone();
    let stream = match server.connect(PATIENCE) {
        Ok(stream) => stream,
        Err(tried) => return Err(HealthError::Unreached { server, tried }),
    };
    let request = "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n";
    let answer = match ask(stream, request, PATIENCE, LONGEST_ANSWER) {
        Ok(answer) => answer,
        Err(source) => return Err(HealthError::Silent { server, source }),
    };
    if status(&answer) == Some("200") {
        return Ok(());
    }
    // The body of the answer, or the whole answer if it has no body.
    let text = answer.split_once("\r\n\r\n").map_or(answer.as_str(), |(_, body)| body);
    Err(HealthError::Unhealthy { server, answer: text.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

    use super::*;

    /// The result of the check of a server that gives this answer.
    fn found(answer: &'static [u8]) -> Result<(), HealthError> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 200];
            let length = stream.read(&mut request).unwrap();
            assert!(request[..length].starts_with(b"GET /healthz HTTP/1.0\r\n"));
            stream.write_all(answer).unwrap();
        });
        let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
        health(&HealthOptions { http: any.into() })
    }

    #[test]
    fn only_a_server_that_says_so_is_healthy() {
        found(b"HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nok\n").unwrap();
        for (answer, says) in [
            (
                &b"HTTP/1.0 503 Service Unavailable\r\n\r\nthe last tick was 4.0 s ago\n"[..],
                "4.0 s",
            ),
            (b"HTTP/1.0 404 Not Found\r\n\r\n", "\"\""),
            (b"SSH-2.0-OpenSSH 200 \xff", "OpenSSH"),
            (b"", "\"\""),
        ] {
            let error = found(answer).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("0.0.0.0"), "{error}");
        }
    }

    #[test]
    fn a_server_that_is_not_there_or_says_nothing_is_not_healthy() {
        let listener = TcpListener::bind("[::1]:0").unwrap();
        let address = listener.local_addr().unwrap();
        let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, address.port()));
        let options = HealthOptions { http: any.into() };
        let silent = health(&options).unwrap_err();
        assert!(matches!(silent, HealthError::Silent { .. }), "{silent}");
        drop(listener);
        let error = health(&options).unwrap_err().to_string();
        assert!(error.contains("[::1]:") && error.contains("127.0.0.1:"), "{error}");
    }
}
