//! The queue of queries of server browsers, from the ports of `--query` and from the game's own
//! port to the thread that answers. The queue is short, and a query that finds it full is dropped.
//! So a flood of queries costs the network thread only the check of their first bytes.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::udp_port::Ends;

/// Queries that may wait.
const WAITING: usize = 64;

/// Bytes of the longest query: the largest packet on usual paths. Clients that measure the path pad
/// their queries.
const LONGEST: usize = 1500;

/// The first bytes of each query. No QUIC packet begins like this: it would be a Retry of a version
/// that nobody speaks, and clients send no Retry at all.
const FIRST_BYTES: [u8; 4] = [0xff; 4];

/// A query that waits for its answer.
pub(crate) struct Asked {
    /// The whole datagram, [`FIRST_BYTES`] included.
    pub(crate) datagram: Vec<u8>,
    ends: Ends,
    port: Arc<dyn Answers>,
}

/// A socket by which queries are answered.
pub(crate) trait Answers: Send + Sync {
    /// Sends a datagram to `ends.peer`, from the address that was asked.
    ///
    /// # Errors
    /// The system cannot send the datagram, or cannot send it now.
    fn send(&self, datagram: &[u8], ends: Ends) -> io::Result<()>;
}

impl Asked {
    /// The sender of the query. An IPv4 address is written as IPv4, whichever socket the query came
    /// to.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.ends.peer
    }

    /// Answers with one datagram, from the address that was asked. It may be called several times.
    ///
    /// # Errors
    /// The system cannot send the datagram, or cannot send it now.
    pub(crate) fn answer(&self, datagram: &[u8]) -> io::Result<()> {
        self.port.send(datagram, self.ends)
    }
}

/// The end of the queue into which ports put queries.
#[derive(Clone, Debug)]
pub(crate) struct Queries(SyncSender<Asked>);

impl Queries {
    /// A queue: the end for ports, and the end for the thread that answers.
    pub(crate) fn queue() -> (Self, Receiver<Asked>) {
        let (put, take) = sync_channel(WAITING);
        (Self(put), take)
    }

    /// Whether a datagram is a query and not a packet of QUIC.
    pub(crate) fn is_query(datagram: &[u8]) -> bool {
        datagram.starts_with(&FIRST_BYTES)
    }

    /// Queues a query, if there is room. Anything else is dropped.
    pub(crate) fn put(&self, datagram: &[u8], ends: Ends, port: &Arc<impl Answers + 'static>) {
        if Self::is_query(datagram) && datagram.len() <= LONGEST {
            let port = Arc::clone(port) as Arc<dyn Answers>;
            // A full queue drops the query, and the browser asks again.
            let _ = self.0.try_send(Asked { datagram: datagram.to_vec(), ends, port });
        }
    }
}
