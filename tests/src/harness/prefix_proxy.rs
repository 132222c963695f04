//! A reverse proxy that offers the pages of a server below a path.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// The path below which the proxy offers the server's pages.
pub const PREFIX: &str = "/arena";

/// Maximum number of bytes of a request's head.
const LONGEST_HEAD: usize = 16 * 1024;

/// A proxy that runs as long as its runtime.
pub struct PrefixProxy {
    /// The address of the proxy.
    pub address: SocketAddr,
    misses: Arc<Mutex<Vec<String>>>,
}

impl PrefixProxy {
    /// Starts a proxy that passes `PREFIX/X` on to `/X` of `server`, and answers 404 to all else.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let misses = Arc::<Mutex<Vec<String>>>::default();
        let missed = Arc::clone(&misses);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, server, Arc::clone(&missed)));
            }
        });
        Self { address, misses }
    }

    /// The paths that were asked for and are not below `PREFIX`.
    ///
    /// # Panics
    /// If a task of the proxy has panicked.
    pub fn misses(&self) -> Vec<String> {
        self.misses.lock().unwrap().clone()
    }
}

/// Passes on the only request of a connection.
async fn pass(
    mut visitor: TcpStream,
    server: SocketAddr,
    misses: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < LONGEST_HEAD {
        head.push(visitor.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let (request, fields) = head.split_once("\r\n")?;
    let mut words = request.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let Some(rest) = path.strip_prefix(PREFIX).filter(|rest| rest.starts_with('/')) else {
        misses.lock().unwrap().push(path.to_owned());
        let missing = b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        return visitor.write_all(missing).await.ok();
    };
    let is_kept = |field: &&str| !field.to_ascii_lowercase().starts_with("connection:");
    let fields: Vec<_> = fields.split("\r\n").filter(is_kept).collect();
    let request =
        format!("{method} {rest} HTTP/1.1\r\nconnection: close\r\n{}", fields.join("\r\n"));
    let mut server = TcpStream::connect(server).await.ok()?;
    server.write_all(request.as_bytes()).await.ok()?;
    copy_bidirectional(&mut visitor, &mut server).await.ok()?;
    Some(())
}
