use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use obsp_client::quic::{ClientEvent, Connector, Trust};
use obsp_proto::control::{MapHash, PlayerName};
use obsp_sim::Command;
use tokio::time::timeout;

use crate::chromium::HANG;

/// Ticks between two turns of a walker: a second.
const TURN_EVERY: u64 = 60;

/// Ticks of each turn for which a walker stands still. When it begins to move, all clients get its
/// position for the same tick, even if their other updates come at different ticks.
const REST: u64 = 15;

/// Ticks for which positions are kept: as many as a page keeps, and the ticks that pass while the
/// test asks the page.
const REMEMBERED: u32 = 1200;

/// Positions in units, by slot, generation and tick.
pub(crate) type Positions = BTreeMap<(u16, u16, u32), [f64; 3]>;

/// Native clients that walk in circles, harm nobody, and note all positions that they get.
pub(crate) struct Walkers {
    positions: Arc<Mutex<Positions>>,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Walkers {
    /// Lets `count` walkers join.
    pub(crate) fn join(server: SocketAddr, count: u16) -> Self {
        let (positions, done) = (Arc::<Mutex<Positions>>::default(), Arc::<AtomicBool>::default());
        let thread = std::thread::spawn({
            let (positions, done) = (Arc::clone(&positions), Arc::clone(&done));
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let local = tokio::task::LocalSet::new();
                for number in 0..count {
                    let (positions, done) = (Arc::clone(&positions), Arc::clone(&done));
                    local.spawn_local(walk(server, number, positions, done));
                }
                runtime.unwrap().block_on(local);
            }
        });
        Self { positions, done, thread: Some(thread) }
    }

    /// The positions that the walkers got lately.
    pub(crate) fn positions(&self) -> Positions {
        self.positions.lock().unwrap().clone()
    }

    /// Lets the walkers leave.
    pub(crate) fn leave(mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

async fn walk(
    server: SocketAddr,
    number: u16,
    positions: Arc<Mutex<Positions>>,
    done: Arc<AtomicBool>,
) {
    let connector = Connector::new(server, Trust::Loopback).unwrap();
    let name = PlayerName::new(&format!("walker {number}")).unwrap();
    let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
    let mut ticks = 0;
    while !done.load(Ordering::Relaxed) {
        match timeout(HANG, client.next()).await.unwrap().unwrap() {
            ClientEvent::CommandDue => {
                ticks += 1;
                // The angles wrap around.
                let turns = (ticks / TURN_EVERY) as u16;
                let yaw = turns.wrapping_mul(9000).wrapping_add(number.wrapping_mul(20_000));
                let forward = if ticks % TURN_EVERY < REST { 0 } else { 127 };
                client.command(Command { forward, yaw, ..Command::default() });
            }
            // Positions in the old world are void.
            ClientEvent::NewWorld => positions.lock().unwrap().clear(),
            ClientEvent::Snapshot { .. } => {
                while client.next_event().is_some() {}
                let mut positions = positions.lock().unwrap();
                let latest = client.session().latest_tick().map_or(0, |tick| tick.0);
                positions.retain(|&(_, _, tick), _| tick + REMEMBERED > latest);
                positions.extend(client.session().observed_entities().map(|(tick, entity)| {
                    let id = entity.id;
                    ((id.slot, id.generation, tick.0), entity.position.to_array())
                }));
            }
        }
    }
    let _ = timeout(Duration::from_secs(2), client.leave()).await;
}
