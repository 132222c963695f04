//! A real server and real bots over a bad line: a UDP proxy on this machine
//! that delays, loses and reorders what passes through it.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use client_bot::client::{Connector, MapStore, Occasion, Trust};
use client_bot::minds::Minds;
use client_bot::swarm::Swarm;
use proto::control::{MapHash, PlayerName};
use server::{Options, Running, Server};
use tests::harness::{self, Random};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;

/// How the line misbehaves, each way.
#[derive(Clone, Copy)]
struct Habits {
    delay: Duration,
    /// Most that is added to the delay or taken from it.
    jitter: Duration,
    loss: f64,
}

/// The bad line of the bar: 100 ms there and back, give or take 20, and 5 %
/// lost each way. A jitter longer than the time between two packets reorders.
const BAD: Habits =
    Habits { delay: Duration::from_millis(50), jitter: Duration::from_millis(20), loss: 0.05 };

const LARGEST: usize = 2048;

/// A proxy in front of `server`; gives its address. It ends with the runtime.
async fn proxy(server: SocketAddr, habits: Habits, seed: u64) -> (SocketAddr, Arc<AtomicUsize>) {
    let front = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let address = front.local_addr().unwrap();
    let waiting = Arc::new(AtomicUsize::new(0));
    let longest = Arc::clone(&waiting);
    tokio::spawn(async move {
        let mut backs: HashMap<SocketAddr, mpsc::UnboundedSender<Vec<u8>>> = HashMap::new();
        let mut bytes = [0; LARGEST];
        let mut number = seed;
        while let Ok((length, client)) = front.recv_from(&mut bytes).await {
            if let Entry::Vacant(vacant) = backs.entry(client) {
                let back = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
                back.connect(server).await.unwrap();
                number += 2;
                let up = Exit { socket: Arc::clone(&back), to: None };
                let down = Exit { socket: Arc::clone(&front), to: Some(client) };
                let to_server = line(habits, number, Arc::clone(&longest), up);
                let to_client = line(habits, number + 1, Arc::clone(&longest), down);
                vacant.insert(to_server);
                tokio::spawn(async move {
                    let mut bytes = [0; LARGEST];
                    // An error is a server that is not there at the moment.
                    loop {
                        if let Ok(length) = back.recv(&mut bytes).await
                            && to_client.send(bytes[..length].to_vec()).is_err()
                        {
                            return;
                        }
                    }
                });
            }
            let _ = backs[&client].send(bytes[..length].to_vec());
        }
    });
    (address, waiting)
}

/// Where a line ends.
struct Exit {
    socket: Arc<UdpSocket>,
    /// `None` if the socket has only one peer.
    to: Option<SocketAddr>,
}

impl Exit {
    async fn deliver(&self, packet: &[u8]) {
        // What cannot be delivered is lost, as on any line.
        let _ = match self.to {
            Some(to) => self.socket.send_to(packet, to).await,
            None => self.socket.send(packet).await,
        };
    }
}

/// One direction of one client's line.
fn line(
    habits: Habits,
    seed: u64,
    longest: Arc<AtomicUsize>,
    exit: Exit,
) -> mpsc::UnboundedSender<Vec<u8>> {
    let (sender, mut packets) = mpsc::unbounded_channel::<Vec<u8>>();
    let mut random = Random::new(seed);
    tokio::spawn(async move {
        let mut under_way: BTreeMap<(Instant, u64), Vec<u8>> = BTreeMap::new();
        let mut count = 0;
        loop {
            let next = under_way.first_key_value().map(|((arrival, _), _)| *arrival);
            let arrival = async {
                match next {
                    Some(arrival) => tokio::time::sleep_until(arrival.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                packet = packets.recv() => {
                    let Some(packet) = packet else { return };
                    if random.unit() < habits.loss {
                        continue;
                    }
                    let late = habits.jitter.mul_f64(2.0 * random.unit());
                    count += 1;
                    let arrival = Instant::now() + habits.delay + late - habits.jitter;
                    under_way.insert((arrival, count), packet);
                    longest.fetch_max(under_way.len(), Ordering::Relaxed);
                }
                () = arrival => {
                    if let Some((_, packet)) = under_way.pop_first() {
                        exit.deliver(&packet).await;
                    }
                }
            }
        }
    });
    sender
}

/// These tests measure rates: one at a time.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

fn serve(max_players: u16) -> Running {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    let options = Options { listen: any_port, http: any_port, max_players, ..Options::new(map) };
    Server::start(&options).unwrap()
}

async fn end(running: Running) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_bad_line_is_playable() {
    let _turn = TURN.lock().await;
    let running = serve(6);
    let (server, waiting) = proxy(running.local_addr(), BAD, 1).await;
    let swarm = Swarm {
        server,
        trust: Trust::Loopback,
        bots: 6,
        duration: Some(Duration::from_secs(8)),
        seed: 1,
        minds: Minds::Mix,
        ramp: None,
    };
    let report = swarm.run(std::future::pending(), |_| {}).await.unwrap();
    println!("{report}");
    assert!(report.passed(), "{report}");
    assert!(report.digests > 6 * 8, "{report}");
    // One in twenty is lost, and some come too late to be of use.
    assert!((45.0..61.0).contains(&report.snapshots_per_second.min), "{report}");
    assert!(report.rtt_ms.p50 > 80.0, "{report}");
    // A delay of seventy milliseconds holds five packets of each of two kinds,
    // and what QUIC itself adds: nothing queues.
    let waiting = waiting.load(Ordering::Relaxed);
    assert!(waiting < 64, "{waiting} packets under way at once");
    end(running).await;
}

#[tokio::test]
async fn a_client_without_the_map_gets_it_over_a_bad_line() {
    let _turn = TURN.lock().await;
    let running = serve(2);
    let (server, _) = proxy(running.local_addr(), BAD, 2).await;
    let nowhere = Arc::new(MapStore::new(Vec::new()));
    let connector = Connector::new(server, Trust::Loopback).unwrap().with_maps(nowhere);
    let name = PlayerName::new("mapless").unwrap();
    let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
    let map = client.prediction().unwrap().map();
    assert_eq!(map.world.hash(), running.map_hash().0);
    // What is predicted on it is what the server plays.
    let mut errors = Vec::new();
    while errors.len() < 10 {
        match client.next().await.unwrap() {
            Occasion::Snapshot { error, .. } => errors.extend(error),
            Occasion::CommandDue => {
                client.command(sim::Command { forward: 127, ..sim::Command::default() });
            }
        }
    }
    assert!(errors.iter().all(|error| error.units < 20.0), "{errors:?}");
    client.leave().await;
    end(running).await;
}
