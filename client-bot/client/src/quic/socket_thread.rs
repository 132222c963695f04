//! A connection on a thread of its own, for engines with a frame loop instead of a tokio
//! runtime: [`SocketThread::receive`], [`crate::Client::tick`] and
//! [`SocketThread::transmit`] in every frame.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use obsp_proto::Time;
use obsp_proto::control::ServerHello;
use quinn::{Connection, RecvStream, SendStream, VarInt};
use tokio::runtime;
use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedReceiver, UnboundedSender};
use tokio::time::timeout;

use super::map_fetch::{self, PendingMap};
use super::{CHUNK, CLOSE_OK, ConnectError, Connector, LEAVE_TIMEOUT, MapStore, Trust};
use crate::{Client, LoadedMap, MapError, Transmit};

/// Most arrivals that wait for the frame loop: two seconds of snapshots. While more wait,
/// datagrams are dropped and the control stream is not read.
const MAX_ARRIVALS: usize = 128;

/// The connection of one [`Client`], on a thread of its own. Dropping it closes the
/// connection and waits for the thread, for two seconds at most.
#[derive(Debug)]
pub struct SocketThread {
    arrivals: Receiver<Arrival>,
    /// Not bounded: the thread takes all of it at once, and ends when the connection does.
    orders: Option<UnboundedSender<Order>>,
    thread: Option<JoinHandle<()>>,
    /// The hello whose map the thread loads or has loaded.
    fetched: Option<ServerHello>,
}

/// What the thread reports.
#[derive(Debug)]
enum Arrival {
    Stream(Vec<u8>),
    Datagram(Bytes),
    Map(Result<Arc<LoadedMap>, MapError>),
    /// The connection has ended, or could not be made; the reason.
    Closed(String),
}

/// What the thread is asked to do.
#[derive(Debug)]
enum Order {
    Send(Transmit),
    FetchMap(ServerHello),
}

impl SocketThread {
    /// Starts to connect to `server`. Maps are taken from `maps`, or fetched from the server.
    /// That no server answers is reported to the client by [`SocketThread::receive`].
    ///
    /// # Errors
    /// The system refuses a socket or a thread, or TLS cannot be configured.
    pub fn connect(
        server: SocketAddr,
        trust: Trust,
        maps: Arc<MapStore>,
    ) -> Result<Self, ConnectError> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let connector = {
            let _guard = runtime.enter();
            Connector::new(server, trust)?
        };
        let (report, arrivals) = mpsc::channel(MAX_ARRIVALS);
        let (orders, accepted) = mpsc::unbounded_channel();
        let run = move || {
            runtime.block_on(async {
                if let Err(reason) = run(&connector, maps, &report, accepted).await {
                    // If nobody listens any more, nobody wants to know.
                    let _ = report.send(Arrival::Closed(reason)).await;
                }
                let _ = timeout(LEAVE_TIMEOUT, connector.close()).await;
            });
        };
        let thread = thread::Builder::new().name("obsp-socket".to_owned()).spawn(run)?;
        Ok(Self { arrivals, orders: Some(orders), thread: Some(thread), fetched: None })
    }

    /// Passes on to the client what has arrived, its map included.
    pub fn receive(&mut self, client: &mut Client, now: Time) {
        while let Ok(arrival) = self.arrivals.try_recv() {
            match arrival {
                Arrival::Stream(bytes) => client.handle_stream(&bytes, now),
                Arrival::Datagram(bytes) => {
                    client.handle_datagram(&bytes, now);
                }
                // Another one is of the world before: the match has gone on meanwhile.
                Arrival::Map(Ok(map)) => {
                    if client.needs_map().is_some_and(|hello| hello.map == map.hash()) {
                        let _ = client.use_map(map, now);
                    }
                }
                Arrival::Map(Err(error)) => client.handle_no_map(error),
                Arrival::Closed(reason) => client.handle_closed(&reason),
            }
        }
        if let Some(hello) = client.needs_map()
            && self.fetched.as_ref() != Some(hello)
        {
            self.fetched = Some(hello.clone());
            self.order(Order::FetchMap(hello.clone()));
        }
    }

    /// Sends what the client wants sent.
    pub fn transmit(&mut self, client: &mut Client) {
        while let Some(transmit) = client.poll_transmit() {
            self.order(Order::Send(transmit));
        }
    }

    fn order(&self, order: Order) {
        // A thread that has ended has reported why.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
    }
}

impl Drop for SocketThread {
    fn drop(&mut self) {
        self.orders = None;
        self.arrivals.close();
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has said so.
            let _ = thread.join();
        }
    }
}

/// Connects, and carries bytes until the connection ends. Fails with the reason if it was
/// not the caller who ended it.
async fn run(
    connector: &Connector,
    maps: Arc<MapStore>,
    report: &Sender<Arrival>,
    mut orders: UnboundedReceiver<Order>,
) -> Result<(), String> {
    let connection = connector.connect().await.map_err(|error| error.to_string())?;
    let (send, receive) = connection.open_bi().await.map_err(|error| error.to_string())?;
    tokio::select! {
        ended = receive_all(&connection, receive, report) => ended,
        ended = send_all(&connection, send, maps, report, &mut orders) => ended,
    }
}

async fn receive_all(
    connection: &Connection,
    mut stream: RecvStream,
    report: &Sender<Arrival>,
) -> Result<(), String> {
    let mut chunk = [0; CHUNK];
    loop {
        tokio::select! {
            // The stream first: it may say why the connection ends.
            biased;
            read = stream.read(&mut chunk) => {
                let Some(length) = read.map_err(|error| error.to_string())? else {
                    return Err(connection.closed().await.to_string());
                };
                // Fails once the caller has gone, who may still have a goodbye to send.
                let _ = report.send(Arrival::Stream(chunk[..length].to_owned())).await;
            }
            datagram = connection.read_datagram() => {
                let datagram = datagram.map_err(|error| error.to_string())?;
                let _ = report.try_send(Arrival::Datagram(datagram));
            }
        }
    }
}

async fn send_all(
    connection: &Connection,
    mut stream: SendStream,
    maps: Arc<MapStore>,
    report: &Sender<Arrival>,
    orders: &mut UnboundedReceiver<Order>,
) -> Result<(), String> {
    let mut pending_map: Option<PendingMap> = None;
    loop {
        let order = tokio::select! {
            order = orders.recv() => order,
            map = map_fetch::wait(&mut pending_map) => {
                pending_map = None;
                let _ = report.send(Arrival::Map(map)).await;
                continue;
            }
        };
        match order {
            None => return Ok(()),
            Some(Order::FetchMap(hello)) => {
                let (maps, connection) = (Arc::clone(&maps), connection.clone());
                pending_map = Some(map_fetch::start(maps, connection, hello));
            }
            Some(Order::Send(Transmit::Stream(bytes))) => {
                stream.write_all(&bytes).await.map_err(|error| error.to_string())?;
            }
            // A datagram that is not accepted counts as lost.
            Some(Order::Send(Transmit::Datagram(bytes))) => {
                let _ = connection.send_datagram(Bytes::from(bytes));
            }
            Some(Order::Send(Transmit::Finish)) => {
                // The client leaves whether the server answers or not.
                if stream.finish().is_ok() {
                    let _ = timeout(LEAVE_TIMEOUT, connection.closed()).await;
                }
                connection.close(CLOSE_OK, b"goodbye");
                return Ok(());
            }
            Some(Order::Send(Transmit::Close { code, reason })) => {
                connection.close(VarInt::from_u32(code), reason.as_bytes());
                return Ok(());
            }
        }
    }
}
