//! The UDP proxy: a thread that relays datagrams between clients and a server.
//!
//! Each client address has a socket of its own towards the server, and a [`Direction`] each
//! way that decides when a datagram arrives, if at all. Datagrams under way wait in a heap,
//! ordered by their time of arrival.

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

/// Bytes of socket buffer to ask for, each way: a burst of a full server must
/// not be lost here. What the system grants is often less.
const SOCKET_BUFFER: usize = 8 << 20;

/// The largest datagram of UDP.
const LARGEST: usize = 65_536;

/// Most datagrams read from one socket before others have their turn.
const BATCH: usize = 64;

/// Time for which a silent client's line is kept, as RFC 4787 requires of a NAT.
const IDLE: Duration = Duration::from_secs(120);

/// The setup of a proxy.
#[derive(Clone, Debug)]
pub struct Setup {
    /// UDP address that clients reach it at; port 0 takes any.
    pub listen: SocketAddr,
    /// UDP address of the server.
    pub to: SocketAddr,
    /// The conditions of each client's line.
    pub line: Line,
    /// Seed of the random number generator.
    pub seed: u64,
    /// When all clients get new source ports towards the server, counted from
    /// the first datagram.
    pub rebinds: Vec<Duration>,
}

/// A faulty line between clients and a server: a thread that ends when this is
/// dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    /// `None` once the thread is to end.
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
    /// The address cannot be listened on, or there is no room for a thread.
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

    /// The address at which clients reach it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the conditions of all lines from now on; datagrams under way arrive as
    /// decided.
    pub fn set_line(&self, line: Line) {
        self.order(Order::Line(Box::new(line)));
    }

    /// Lets nothing pass from now on for this long, in either direction.
    pub fn blackout(&self, length: Duration) {
        self.order(Order::Blackout(length));
    }

    /// Gives all clients new source ports towards the server, as a router does
    /// that forgets its mappings.
    pub fn rebind(&self) {
        self.order(Order::Rebind);
    }

    /// Its counts so far.
    pub fn stats(&self) -> Stats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // The thread ends only when this is dropped, or by a panic, which
            // the drop passes on.
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

/// One client: its line, and the socket that the server knows it by.
#[derive(Debug)]
struct Client {
    address: SocketAddr,
    back: UdpSocket,
    up: Direction,
    down: Direction,
    heard: Instant,
}

/// A datagram under way, ordered by when it arrives, then by when it was sent.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnderWay {
    at: Instant,
    number: u64,
    client: u64,
    way: Way,
    bytes: Arc<[u8]>,
}

/// The inside of the thread.
#[derive(Debug)]
struct Relay {
    front: UdpSocket,
    setup: Setup,
    clients: BTreeMap<u64, Client>,
    numbers: HashMap<SocketAddr, u64>,
    under_way: BinaryHeap<Reverse<UnderWay>>,
    /// When the first datagram came.
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

    /// The next time at which there is something to do, even if no datagram comes in.
    fn next_wake(&self) -> Option<Instant> {
        let arrival = self.under_way.peek().map(|Reverse(first)| first.at);
        let rebind = self.setup.rebinds.last().zip(self.start).map(|(&at, start)| start + at);
        arrival.into_iter().chain(rebind).min()
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Line(line) => self.setup.line = *line,
            Order::Blackout(length) => {
                // Before the first datagram there is no time yet.
                let start = self.start.map_or(Duration::ZERO, |start| start.elapsed());
                let blackout = Blackout { start, length };
                self.setup.line.up.blackouts.push(blackout);
                self.setup.line.down.blackouts.push(blackout);
            }
            Order::Rebind => self.rebind(),
        }
    }

    /// Waits until some socket has something to read.
    async fn readable(&self) {
        poll_fn(|context| {
            // Each is asked, so that each may wake this up.
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
                // A client that is gone: its port sends an error back.
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
                    // Only the server may send to this port.
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(_) => {}
                }
            }
        }
        self.buffer = buffer;
    }

    /// Takes in a datagram from a client, which gets a line if it is new.
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

    /// Decides about a datagram, and sends it on its way if it is to arrive.
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

    /// Hands on what has arrived by now.
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
            // Past tokio, which does not know yet that a new socket can send.
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
            // If the system has no port left, the old one stays.
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

/// A seed of its own for each direction of each client.
fn seed_of(seed: u64, client: u64, way: Way) -> u64 {
    // An odd factor: different numbers stay different.
    (2 * client + u64::from(way == Way::Down)).wrapping_mul(0xd134_2543_de82_ef95) ^ seed
}

/// Any port, on the address that reaches `to`.
fn any_port(to: SocketAddr) -> SocketAddr {
    let address = match to.ip() {
        // Other hosts cannot reach this port.
        IpAddr::V4(address) if address.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_loopback() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    SocketAddr::new(address, 0)
}

fn open(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
    // As much as the system grants.
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    UdpSocket::from_std(socket.into())
}

#[cfg(test)]
mod tests;
