//! The UDP socket under QUIC. It takes out what is no QUIC: queries of server browsers, which go to
//! the thread that answers them, and the headers of proxies (`--proxy-from`). It shows IPv4
//! addresses as such, whatever the family of the socket.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};

use super::proxy_protocol::Proxies;
use super::queries::{Answers, Queries};
use super::udp_port::{Ends, canonical, of_family};
use crate::address_prefix::AddressPrefix;

/// The socket.
#[derive(Debug)]
pub(super) struct GameSocket {
    line: Arc<Line>,
    queries: Queries,
    /// Datagrams that came joined with others of their proxy, and wait to be told apart.
    waiting: Mutex<VecDeque<(RecvMeta, Vec<u8>)>>,
}

/// The part by which datagrams leave, shared with the thread that answers queries.
#[derive(Debug)]
struct Line {
    socket: Arc<dyn AsyncUdpSocket>,
    is_ipv6: bool,
    proxies: Option<Proxies>,
}

impl Line {
    fn send(&self, transmit: Transmit<'_>) -> io::Result<()> {
        let proxies = self.proxies.as_ref();
        let peer = transmit.destination;
        let destination = proxies.map_or(peer, |proxies| proxies.route(peer));
        self.socket.try_send(&of_family(Transmit { destination, ..transmit }, self.is_ipv6))
    }
}

impl Answers for Line {
    fn send(&self, datagram: &[u8], ends: Ends) -> io::Result<()> {
        self.send(ends.transmit(datagram))
    }
}

impl GameSocket {
    /// The socket of an endpoint. It must be called within a tokio runtime.
    pub(super) fn new(
        socket: UdpSocket,
        queries: Queries,
        proxies: &[AddressPrefix],
    ) -> io::Result<Self> {
        let is_ipv6 = socket.local_addr()?.is_ipv6();
        let socket = TokioRuntime.wrap_udp_socket(socket)?;
        let line = Line { socket, is_ipv6, proxies: Proxies::new(proxies) };
        Ok(Self { line: Arc::new(line), queries, waiting: Mutex::default() })
    }

    /// Whether a datagram is a packet of QUIC. A query is put into its queue.
    fn is_quic(&self, datagram: &[u8], ends: Ends) -> bool {
        let is_query = Queries::is_query(datagram);
        if is_query {
            self.queries.put(datagram, ends, &self.line);
        }
        !is_query
    }

    /// Leaves the packets of QUIC alone in the buffer. Packets of one peer may be joined in it, all
    /// of one length but the last.
    fn sort(&self, meta: &mut RecvMeta, buffer: &mut [u8]) {
        let stride = meta.stride.max(1);
        let proxies = self.line.proxies.as_ref().filter(|proxies| proxies.is_stated(meta.addr));
        if let Some(proxies) = proxies {
            return self.unwrap(proxies, meta, buffer);
        }
        let (ends, mut kept) = (Ends { peer: meta.addr, own: meta.dst_ip }, 0);
        for begin in (0..meta.len).step_by(stride) {
            let datagram = begin..meta.len.min(begin + stride);
            if self.is_quic(&buffer[datagram.clone()], ends) {
                let length = datagram.len();
                if kept < begin {
                    buffer.copy_within(datagram, kept);
                }
                kept += length;
            }
        }
        meta.len = kept;
    }

    /// Takes the headers of a proxy off. Its datagrams may be of several clients, so all but the
    /// first wait for a buffer of their own.
    fn unwrap(&self, proxies: &Proxies, meta: &mut RecvMeta, buffer: &mut [u8]) {
        let (proxy, own, now) = (meta.addr, meta.dst_ip, Instant::now());
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for datagram in buffer[..meta.len].chunks(meta.stride.max(1)) {
            let Some((peer, packet)) = proxies.unwrap(proxy, datagram, now) else { continue };
            if !packet.is_empty() && self.is_quic(packet, Ends { peer, own }) {
                let (addr, len) = (peer, packet.len());
                waiting.push_back((RecvMeta { addr, len, stride: len, ..*meta }, packet.to_vec()));
            }
        }
        meta.len = 0;
    }

    /// Fills buffers with datagrams that wait. Returns how many.
    fn take_waiting(&self, buffers: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]) -> usize {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut count = 0;
        for (buffer, meta) in buffers.iter_mut().zip(meta) {
            let Some((ready, packet)) = waiting.pop_front() else { break };
            let len = packet.len().min(buffer.len());
            buffer[..len].copy_from_slice(&packet[..len]);
            *meta = RecvMeta { len, ..ready };
            count += 1;
        }
        count
    }
}

impl AsyncUdpSocket for GameSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.line.socket).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.line.send(transmit.clone())
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let waited = self.take_waiting(buffers, meta);
        if waited > 0 {
            return Poll::Ready(Ok(waited));
        }
        let received = ready!(self.line.socket.poll_recv(context, buffers, meta))?;
        for (meta, buffer) in meta.iter_mut().zip(buffers.iter_mut()).take(received) {
            *meta = canonical(*meta);
            self.sort(meta, buffer);
        }
        Poll::Ready(Ok(received))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.line.socket.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.line.socket.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.line.socket.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.line.socket.may_fragment()
    }
}
