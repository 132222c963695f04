//! The UDP proxy: a thread that relays datagrams between clients and a server.
//!
//! Each client address has its own socket towards the server, and its own [`Direction`] for each
//! way. The direction decides whether and when a datagram arrives. Datagrams under way wait in a
//! heap, ordered by their time of arrival.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;

use super::conditions::Way;
use super::{Blackout, Direction, Fate, Line, Stats};

/// Bytes of socket buffer to ask for in each direction, so that no burst of a full server is lost
/// here. The system often grants less.
const SOCKET_BUFFER: usize = 8 << 20;

/// Bytes that hold the largest datagram of UDP.
const LARGEST: usize = 65_536;

/// Maximum number of datagrams that are read from one socket before the other sockets are read.
const BATCH: usize = 64;

/// Time for which a silent client's line is kept, as RFC 4787 requires of a NAT.
const IDLE: Duration = Duration::from_secs(120);

/// The setup of a proxy.
#[derive(Clone, Debug)]
pub struct Setup {
    /// UDP address at which clients reach the proxy; port 0 takes any free port.
    pub listen: SocketAddr,
    /// UDP address of the server.
    pub to: SocketAddr,
    /// The conditions of each client's line.
    pub line: Line,
    /// Seed of the random number generator.
    pub seed: u64,
    /// Times at which all clients get new source ports towards the server, counted from the first
    /// datagram.
    pub rebinds: Vec<Duration>,
}

/// A faulty line between clients and a server. Its thread ends when this value is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    /// `None` tells the thread to end.
    orders: Option<mpsc::UnboundedSender<Order>>,
    stats: Arc<Mutex<Stats>>,
    thread: Option<JoinHandle<()>>,
}

/// Orders to a running proxy.
#[derive(Debug)]
enum Order {
    Line(Box<Line>),
    Blackout(Duration),
    Rebind,
}

impl Proxy {
    /// Opens the socket that clients reach, and starts the thread.
    ///
    /// # Errors
    /// The proxy cannot listen at the address, or the thread cannot be started.
    pub fn start(setup: Setup) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let front = {
            let _inside = runtime.enter();
            open(setup.listen)?
        };
        let address = front.local_addr()?;
        let stats = Arc::new(Mutex::new(Stats::default()));
        let (orders, received) = mpsc::unbounded_channel();
        let mut relay = Relay::new(front, setup, Arc::clone(&stats));
        let thread = std::thread::Builder::new()
            .name("badline".to_owned())
            .spawn(move || runtime.block_on(relay.run(received)))?;
        Ok(Self { address, orders: Some(orders), stats, thread: Some(thread) })
    }

    /// The address at which clients reach the proxy.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the conditions of all lines from now on; datagrams under way arrive as
    /// decided.
    pub fn set_line(&self, line: Line) {
        self.order(Order::Line(Box::new(line)));
    }

    /// Lets nothing pass for this long from now on, in either direction.
    pub fn blackout(&self, length: Duration) {
        self.order(Order::Blackout(length));
    }

    /// Gives all clients new source ports towards the server, as a router does when it forgets its
    /// mappings.
    pub fn rebind(&self) {
        self.order(Order::Rebind);
    }

    /// The counts of datagrams so far.
    pub fn stats(&self) -> Stats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // The thread receives orders until this value is dropped. If the thread has panicked,
            // `drop` passes the panic on.
            let _ = orders.send(order);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.orders.take());
        let ended = self.thread.take().map(JoinHandle::join);
        if let Some(Err(panic)) = ended
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

/// One client: its line, and its socket towards the server.
#[derive(Debug)]
struct Client {
    address: SocketAddr,
    back: UdpSocket,
    up: Direction,
    down: Direction,
    heard: Instant,
}

/// A datagram under way, ordered by its time of arrival, then by the order of sending.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnderWay {
    at: Instant,
    number: u64,
    client: u64,
    way: Way,
    bytes: Arc<[u8]>,
}

/// The state of the thread.
#[derive(Debug)]
struct Relay {
    front: UdpSocket,
    setup: Setup,
    clients: BTreeMap<u64, Client>,
    numbers: HashMap<SocketAddr, u64>,
    under_way: BinaryHeap<Reverse<UnderWay>>,
    /// The time of the first datagram.
    start: Option<Instant>,
    sent: u64,
    stats: Stats,
    shared: Arc<Mutex<Stats>>,
    buffer: Vec<u8>,
}

impl Relay {
    fn new(front: UdpSocket, mut setup: Setup, shared: Arc<Mutex<Stats>>) -> Self {
        setup.rebinds.sort_unstable_by_key(|&at| Reverse(at));
        Self {
            front,
            setup,
            clients: BTreeMap::new(),
            numbers: HashMap::new(),
            under_way: BinaryHeap::new(),
            start: None,
            sent: 0,
            stats: Stats::default(),
            shared,
            buffer: vec![0; LARGEST],
        }
    }

    /// Relays until the owner of the proxy is gone.
    async fn run(&mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        loop {
            let wake = self.next_wake();
            let woken = async {
                match wake {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => self.obey(order),
                    None => return,
                },
                () = self.readable() => self.read(),
                () = woken => {}
            }
            self.rebind_if_due();
            self.deliver_due();
            *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = self.stats;
        }
    }

    /// The next time at which the thread must act, even if no datagram comes in.
    fn next_wake(&self) -> Option<Instant> {
        let arrival = self.under_way.peek().map(|Reverse(first)| first.at);
        let rebind = self.setup.rebinds.last().zip(self.start).map(|(&at, start)| start + at);
        arrival.into_iter().chain(rebind).min()
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Line(line) => self.setup.line = *line,
            Order::Blackout(length) => {
                // Times count from the first datagram; before it, the time is 0.
                let start = self.start.map_or(Duration::ZERO, |start| start.elapsed());
                let blackout = Blackout { start, length };
                self.setup.line.up.blackouts.push(blackout);
                self.setup.line.down.blackouts.push(blackout);
            }
            Order::Rebind => self.rebind(),
        }
    }

    /// Waits until a socket has a datagram to read.
    async fn readable(&self) {
        poll_fn(|context| {
            // All sockets are polled, because only a polled socket wakes this task.
            let mut is_ready = self.front.poll_recv_ready(context).is_ready();
            for client in self.clients.values() {
                is_ready |= client.back.poll_recv_ready(context).is_ready();
            }
            if is_ready { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Reads datagrams from the sockets.
    fn read(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for _ in 0..BATCH {
            match self.front.try_recv_from(&mut buffer) {
                Ok((length, client)) => self.accept_up(client, &buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The system reports an error if the port of a client is closed.
                Err(_) => {}
            }
        }
        let numbers: Vec<u64> = self.clients.keys().copied().collect();
        for number in numbers {
            for _ in 0..BATCH {
                let Some(client) = self.clients.get(&number) else { break };
                match client.back.try_recv_from(&mut buffer) {
                    Ok((length, from)) if from == self.setup.to => {
                        self.send(number, Way::Down, &buffer[..length]);
                    }
                    // Datagrams from other senders than the server are ignored.
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(_) => {}
                }
            }
        }
        self.buffer = buffer;
    }

    /// Accepts a datagram from a client, and gives the client a line if it is new.
    fn accept_up(&mut self, address: SocketAddr, bytes: &[u8]) {
        let now = Instant::now();
        self.start.get_or_insert(now);
        let number = match self.numbers.get(&address) {
            Some(&number) => number,
            None => {
                self.forget_idle(now);
                let number = self.stats.clients;
                // Without a socket towards the server, the datagram is lost.
                let Ok(back) = open(any_port(self.setup.to)) else {
                    self.stats.up.undeliverable += 1;
                    return;
                };
                let seed = |way| Direction::new(seed_of(self.setup.seed, number, way));
                let (up, down) = (seed(Way::Up), seed(Way::Down));
                self.clients.insert(number, Client { address, back, up, down, heard: now });
                self.numbers.insert(address, number);
                self.stats.clients += 1;
                number
            }
        };
        self.send(number, Way::Up, bytes);
    }

    /// Decides the fate of a datagram, and puts it under way if it is to arrive.
    fn send(&mut self, number: u64, way: Way, bytes: &[u8]) {
        let now = Instant::now();
        let start = *self.start.get_or_insert(now);
        let time = now.saturating_duration_since(start);
        let Some(client) = self.clients.get_mut(&number) else { return };
        client.heard = now;
        let (direction, conditions, counts) = match way {
            Way::Up => (&mut client.up, &self.setup.line.up, &mut self.stats.up),
            Way::Down => (&mut client.down, &self.setup.line.down, &mut self.stats.down),
        };
        let fate = direction.send(time, bytes.len(), conditions);
        counts.note(time, bytes.len(), &fate);
        let Fate::Arrives { at, copy, .. } = fate else { return };
        let bytes: Arc<[u8]> = bytes.into();
        for arrival in [Some(at), copy].into_iter().flatten() {
            let (at, bytes) = (start + arrival, Arc::clone(&bytes));
            let datagram = UnderWay { at, number: self.sent, client: number, way, bytes };
            self.under_way.push(Reverse(datagram));
            self.sent += 1;
        }
        counts.most_under_way = counts.most_under_way.max(self.under_way.len() as u64);
    }

    /// Hands on the datagrams whose time of arrival has come.
    fn deliver_due(&mut self) {
        let now = Instant::now();
        while self.under_way.peek().is_some_and(|Reverse(first)| first.at <= now) {
            let Some(Reverse(datagram)) = self.under_way.pop() else { return };
            let Some(client) = self.clients.get(&datagram.client) else { continue };
            let bytes = &datagram.bytes;
            let (socket, to, counts) = match datagram.way {
                Way::Up => (&client.back, self.setup.to, &mut self.stats.up),
                Way::Down => (&self.front, client.address, &mut self.stats.down),
            };
            // This bypasses tokio, which does not know yet that a new socket can send.
            match SockRef::from(socket).send_to(bytes, &to.into()) {
                Ok(_) => {
                    counts.delivered += 1;
                    counts.delivered_bytes += bytes.len() as u64;
                }
                Err(_) => counts.undeliverable += 1,
            }
        }
    }

    fn rebind_if_due(&mut self) {
        let Some(start) = self.start else { return };
        while self.setup.rebinds.pop_if(|at| start.elapsed() >= *at).is_some() {
            self.rebind();
        }
    }

    fn rebind(&mut self) {
        for client in self.clients.values_mut() {
            // If the system has no free port, the client keeps the old one.
            if let Ok(back) = open(any_port(self.setup.to)) {
                client.back = back;
            }
        }
    }

    fn forget_idle(&mut self, now: Instant) {
        self.clients.retain(|_, client| now.saturating_duration_since(client.heard) < IDLE);
        self.numbers.retain(|_, number| self.clients.contains_key(number));
    }
}

/// The seed of one direction of one client.
fn seed_of(seed: u64, client: u64, way: Way) -> u64 {
    // The factor is odd, so different numbers stay different.
    (2 * client + u64::from(way == Way::Down)).wrapping_mul(0xd134_2543_de82_ef95) ^ seed
}

/// An address with any port, from which `to` can be reached.
fn any_port(to: SocketAddr) -> SocketAddr {
    let address = match to.ip() {
        // Other hosts cannot reach a port on a loopback address.
        IpAddr::V4(address) if address.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_loopback() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    SocketAddr::new(address, 0)
}

fn open(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
    // If the system refuses this size, the socket keeps its default.
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    UdpSocket::from_std(socket.into())
}

#[cfg(test)]
mod tests;
