//! A connection on a thread of its own, for engines with a frame loop instead of a tokio
//! runtime. Call [`SocketThread::receive`], [`crate::Client::tick`] and
//! [`SocketThread::transmit`] in every frame.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use obsp_proto::Time;
use obsp_proto::control::ServerHello;
use quinn::{Connection, RecvStream, SendStream, VarInt};
use tokio::runtime;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::map_fetch::{self, PendingMap};
use super::{
    CHUNK, CLOSE_OK, ConnectError, Connector, LEAVE_TIMEOUT, MapStore, ServerAddress, Trust,
};
use crate::{Client, LoadedMap, MapError, Transmit};

/// Maximum number of arrivals that wait for the frame loop: two seconds of snapshots. While more
/// wait, datagrams are dropped and the control stream is not read.
const MAX_ARRIVALS: usize = 128;

/// Maximum number of orders that wait for the thread. The thread takes no orders while the server
/// reads nothing. Further output waits in the client.
const MAX_ORDERS: usize = 64;

/// Time in which a connection that was closed sends its last packets.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// The connection of one [`Client`], on a thread of its own. Dropping it closes the connection and
/// waits for the thread. The wait is at most two seconds for a goodbye and half a second for the
/// last packets, even if the server does not answer.
#[derive(Debug)]
pub struct SocketThread {
    arrivals: Receiver<Arrival>,
    orders: Option<Sender<Order>>,
    /// Dropping this ends the thread.
    alive: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// The hello whose map the thread loads or has loaded.
    fetched: Option<ServerHello>,
}

/// A report of the thread.
#[derive(Debug)]
enum Arrival {
    Stream(Vec<u8>),
    Datagram(Bytes),
    /// The map that this hello names, or the reason why it could not be loaded.
    Map(ServerHello, Result<Arc<LoadedMap>, MapError>),
    /// The connection has ended, or could not be made, for this reason.
    Closed(String),
}

/// A task for the thread.
#[derive(Debug)]
enum Order {
    Send(Transmit),
    FetchMap(ServerHello),
}

impl SocketThread {
    /// Starts to connect to `server`, an address or a name. The thread looks a name up and tries
    /// all of its addresses, as [`Connector::connect`] does. Maps are taken from `maps`, or fetched
    /// from the server. If no server answers, [`SocketThread::receive`] reports it to the client.
    ///
    /// # Errors
    /// The system refuses a socket or a thread, or TLS cannot be configured.
    pub fn connect(
        server: impl Into<ServerAddress>,
        trust: Trust,
        maps: Arc<MapStore>,
    ) -> Result<Self, ConnectError> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let connector = {
            let _guard = runtime.enter();
            Connector::new(server, trust)?
        };
        let (report, arrivals) = mpsc::channel(MAX_ARRIVALS);
        let (orders, accepted) = mpsc::channel(MAX_ORDERS);
        let (alive, mut dropped) = oneshot::channel();
        let run = move || {
            runtime.block_on(async {
                if let Err(reason) = run(&connector, maps, &report, accepted, &mut dropped).await {
                    // The report fails if the caller has dropped its end. Nobody needs it in that
                    // case.
                    let _ = report.send(Arrival::Closed(reason)).await;
                }
                let _ = timeout(CLOSE_TIMEOUT, connector.close()).await;
            });
            // The system's resolver may still be asked, and cannot be stopped.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("obsp-socket".to_owned()).spawn(run)?;
        let (orders, alive) = (Some(orders), Some(alive));
        Ok(Self { arrivals, orders, alive, thread: Some(thread), fetched: None })
    }

    /// Passes everything that has arrived on to the client, its map included.
    pub fn receive(&mut self, client: &mut Client, now: Time) {
        while let Ok(arrival) = self.arrivals.try_recv() {
            match arrival {
                Arrival::Stream(bytes) => client.handle_stream(&bytes, now),
                Arrival::Datagram(bytes) => {
                    client.handle_datagram(&bytes, now);
                }
                // A map of an earlier world is too late, and is ignored.
                Arrival::Map(_, Ok(map)) => {
                    if client.needs_map().is_some_and(|hello| map.check(hello).is_ok()) {
                        let _ = client.use_map(map, now);
                    }
                }
                Arrival::Map(hello, Err(error)) => {
                    if client.needs_map() == Some(&hello) {
                        client.handle_no_map(error);
                    }
                }
                Arrival::Closed(reason) => client.handle_closed(&reason),
            }
        }
        if let Some(hello) = client.needs_map()
            && self.fetched.as_ref() != Some(hello)
            && self.order(|| Some(Order::FetchMap(hello.clone())))
        {
            self.fetched = Some(hello.clone());
        }
    }

    /// Sends as much of the client's output as the thread can take now.
    pub fn transmit(&mut self, client: &mut Client) {
        while self.order(|| client.poll_transmit().map(Order::Send)) {}
    }

    /// Gives the thread an order if the thread can take one. Returns false if it cannot, or if
    /// there is no order.
    fn order(&self, order: impl FnOnce() -> Option<Order>) -> bool {
        let Some(orders) = &self.orders else { return false };
        match orders.try_reserve() {
            Ok(place) => order().map(|order| place.send(order)).is_some(),
            Err(TrySendError::Full(())) => false,
            // A thread that has ended has already reported the reason. Its remaining orders are
            // discarded.
            Err(TrySendError::Closed(())) => order().is_some(),
        }
    }
}

impl Drop for SocketThread {
    fn drop(&mut self) {
        (self.orders, self.alive) = (None, None);
        self.arrivals.close();
        if let Some(thread) = self.thread.take() {
            // If the thread has panicked, its message has been printed already.
            let _ = thread.join();
        }
    }
}

/// Connects, and carries bytes until the connection ends, or for [`LEAVE_TIMEOUT`] after `dropped`.
/// The error is the reason of the end. There is none if the caller ended the connection.
async fn run(
    connector: &Connector,
    maps: Arc<MapStore>,
    report: &Sender<Arrival>,
    mut orders: Receiver<Order>,
    dropped: &mut oneshot::Receiver<()>,
) -> Result<(), String> {
    let opened = async {
        let connection = connector.connect().await.map_err(|error| error.to_string())?;
        let streams = connection.open_bi().await.map_err(|error| error.to_string())?;
        Ok::<_, String>((connection, streams))
    };
    let (connection, (send, receive)) = tokio::select! {
        opened = opened => opened?,
        // The client has not said hello yet, so it need not say goodbye.
        _ = &mut *dropped => return Ok(()),
    };
    let no_longer = async {
        let _ = dropped.await;
        sleep(LEAVE_TIMEOUT).await;
    };
    tokio::select! {
        ended = receive_all(&connection, receive, report) => ended,
        ended = send_all(&connection, send, maps, report, &mut orders) => ended,
        () = no_longer => Ok(()),
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
            // The stream is read first, because it may say why the connection ends.
            biased;
            read = stream.read(&mut chunk) => {
                let Some(length) = read.map_err(|error| error.to_string())? else {
                    return Err(connection.closed().await.to_string());
                };
                // The report fails after the caller has dropped its end. The loop goes on, because
                // a goodbye may still have to be sent.
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
    orders: &mut Receiver<Order>,
) -> Result<(), String> {
    let mut pending_map: Option<PendingMap> = None;
    let mut pending_for: Option<ServerHello> = None;
    loop {
        let order = tokio::select! {
            order = orders.recv() => order,
            map = map_fetch::wait(&mut pending_map) => {
                pending_map = None;
                if let Some(hello) = pending_for.take() {
                    let _ = report.send(Arrival::Map(hello, map)).await;
                }
                continue;
            }
        };
        match order {
            None => return Ok(()),
            Some(Order::FetchMap(hello)) => {
                let (maps, connection) = (Arc::clone(&maps), connection.clone());
                pending_map = Some(map_fetch::start(maps, connection, hello.clone()));
                pending_for = Some(hello);
            }
            Some(Order::Send(Transmit::Stream(bytes))) => {
                stream.write_all(&bytes).await.map_err(|error| error.to_string())?;
            }
            // A datagram that QUIC does not accept counts as lost.
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

#[cfg(test)]
mod tests;
