//! The UDP socket under QUIC. It passes queries of server browsers to the thread that answers them,
//! and removes the headers of proxies (`--proxy-from`). QUIC gets only the rest. IPv4 addresses are
//! shown as IPv4 addresses, whatever the family of the socket.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};

use super::proxy_protocol::Proxies;
use super::queries::{Answers, Queries};
use super::udp_port::{Ends, canonical, of_family};
use crate::common::address_prefix::AddressPrefix;

#[derive(Debug)]
pub(crate) struct GameSocket {
    line: Arc<Line>,
    queries: Queries,
    /// Datagrams of proxies, without their headers, that wait for a buffer.
    waiting: Mutex<VecDeque<(RecvMeta, Vec<u8>)>>,
}

/// The part of the socket that sends. The thread that answers queries shares it.
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
    pub(crate) fn new(
        socket: UdpSocket,
        queries: Queries,
        proxies: &[AddressPrefix],
        proxy_drops: &Arc<AtomicU64>,
    ) -> io::Result<Self> {
        let is_ipv6 = socket.local_addr()?.is_ipv6();
        let socket = TokioRuntime.wrap_udp_socket(socket)?;
        let line = Line { socket, is_ipv6, proxies: Proxies::new(proxies, proxy_drops) };
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

    /// Removes all queries from the buffer, so that only packets of QUIC stay in it. The kernel may
    /// have joined packets of one peer in the buffer. All of them have the same length, except that
    /// the last may be shorter.
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

    /// Removes the headers of a proxy. The datagrams may be of several clients, so each packet
    /// waits for a separate buffer.
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

    /// Fills buffers with waiting datagrams. Returns the number of filled buffers.
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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::net::Ipv4Addr;
    use std::sync::mpsc::Receiver;
    use std::time::Duration;

    use quinn::udp::{BATCH_SIZE, UdpSocketState};
    use tokio::time::timeout;

    use super::*;
    use crate::network::endpoint::queries::Asked;

    const HANG: Duration = Duration::from_secs(5);

    fn open(proxies: &[&str]) -> (GameSocket, Receiver<Asked>) {
        let (queries, asked) = Queries::queue();
        let proxies: Vec<_> = proxies.iter().map(|proxy| proxy.parse().unwrap()).collect();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        (GameSocket::new(socket, queries, &proxies, &Arc::default()).unwrap(), asked)
    }

    /// Sends datagrams in one call, so that the kernel may keep them joined. All have the same
    /// length, except that the last may be shorter.
    fn send(to: &GameSocket, datagrams: &[Vec<u8>]) -> SocketAddr {
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let state = UdpSocketState::new((&client).into()).unwrap();
        let all = datagrams.concat();
        let joins = state.max_gso_segments() >= datagrams.len();
        let chunk = if joins { all.len() } else { datagrams[0].len() };
        for contents in all.chunks(chunk) {
            let transmit = Transmit {
                destination: to.local_addr().unwrap(),
                ecn: None,
                contents,
                segment_size: joins.then_some(datagrams[0].len()),
                src_ip: None,
            };
            state.try_send((&client).into(), &transmit).unwrap();
        }
        client.local_addr().unwrap()
    }

    /// Receives this many packets of QUIC, with their senders.
    async fn receive(socket: &GameSocket, count: usize) -> Vec<(SocketAddr, Vec<u8>)> {
        let mut buffers = vec![vec![0; 1 << 16]; BATCH_SIZE];
        let mut packets = Vec::new();
        while packets.len() < count {
            let mut meta = [RecvMeta::default(); BATCH_SIZE];
            let mut slices: Vec<_> = buffers.iter_mut().map(|one| IoSliceMut::new(one)).collect();
            let polled = poll_fn(|context| socket.poll_recv(context, &mut slices, &mut meta));
            let received = timeout(HANG, polled).await.unwrap().unwrap();
            for (meta, buffer) in meta.iter().zip(&buffers).take(received) {
                let whole = buffer[..meta.len].chunks(meta.stride.max(1));
                packets.extend(whole.map(|packet| (meta.addr, packet.to_vec())));
            }
        }
        packets
    }

    fn packet(first: u8, length: usize) -> Vec<u8> {
        [&[first][..], &vec![7; length - 1]].concat()
    }

    fn query(length: usize) -> Vec<u8> {
        [&[0xff; 4][..], &vec![b'T'; length - 4]].concat()
    }

    /// Queries are removed from datagrams that the kernel has joined, at any place among them.
    #[tokio::test]
    async fn queries_and_packets_that_come_joined_are_told_apart() {
        let (socket, asked) = open(&[]);
        let sent = [query(40), packet(0x40, 40), query(40), packet(0xc0, 40), packet(0x41, 30)];
        let client = send(&socket, &sent);
        let packets = receive(&socket, 3).await;
        assert_eq!(packets, [1, 3, 4].map(|place: usize| (client, sent[place].clone())));
        for _ in 0..2 {
            let asked = asked.try_recv().unwrap();
            assert_eq!((asked.peer(), asked.datagram.clone()), (client, query(40)));
            asked.answer(b"answer").unwrap();
        }
        assert!(asked.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_flood_of_queries_fills_its_queue_and_no_more() {
        let (socket, asked) = open(&[]);
        for _ in 0..10 {
            send(&socket, &vec![query(40); 10]);
        }
        send(&socket, &[query(1501)]);
        let client = send(&socket, &[packet(0x40, 40)]);
        assert_eq!(receive(&socket, 1).await, [(client, packet(0x40, 40))]);
        let waiting = asked.try_iter().count();
        assert_eq!(waiting, 64);
    }

    /// Datagrams of several clients of one proxy may come joined.
    #[tokio::test]
    async fn clients_of_one_proxy_that_come_joined_are_told_apart() {
        let (socket, asked) = open(&["127.0.0.1"]);
        let wrapped = |last: u8, packet: Vec<u8>| {
            let addresses = [192, 0, 2, last, 127, 0, 0, 1, 0, 9, 0, 9];
            [&b"\r\n\r\n\0\r\nQUIT\n\x21\x12\0\x0c"[..], &addresses, &packet].concat()
        };
        let at = |last: u8| SocketAddr::from(([192, 0, 2, last], 9));
        let sent = [
            wrapped(1, packet(0x40, 40)),
            wrapped(2, packet(0x41, 40)),
            wrapped(3, query(40)),
            packet(0x42, 68),
            wrapped(1, packet(0x43, 30)),
        ];
        let proxy = send(&socket, &sent);
        let expected =
            [(at(1), packet(0x40, 40)), (at(2), packet(0x41, 40)), (at(1), packet(0x43, 30))];
        assert_eq!(receive(&socket, 3).await, expected);
        let asked = asked.try_recv().unwrap();
        assert_eq!(asked.peer(), at(3));
        let proxies = socket.line.proxies.as_ref().unwrap();
        assert_eq!((proxies.route(at(3)), proxies.route(proxy)), (proxy, proxy));
    }
}
