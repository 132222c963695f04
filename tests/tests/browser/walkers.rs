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

/// Ticks of those that it stands still. News of who begins to move are due to
/// everybody at once, so all are told of the same tick now and then, however
/// often they are told.
const REST: u64 = 15;

/// Ticks of which is remembered what was told: as many as a page keeps, and the
/// time that asking it takes.
const REMEMBERED: u32 = 1200;

/// Slot, generation and tick of something told, and the position, in units.
pub(crate) type Told = BTreeMap<(u16, u16, u32), [f64; 3]>;

/// Native clients that walk about in circles and harm nobody, and write down
/// all that they are told.
pub(crate) struct Walkers {
    told: Arc<Mutex<Told>>,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Walkers {
    /// Lets so many join.
    pub(crate) fn join(server: SocketAddr, count: u16) -> Self {
        let (told, done) = (Arc::<Mutex<Told>>::default(), Arc::<AtomicBool>::default());
        let thread = std::thread::spawn({
            let (told, done) = (Arc::clone(&told), Arc::clone(&done));
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let local = tokio::task::LocalSet::new();
                for number in 0..count {
                    let (told, done) = (Arc::clone(&told), Arc::clone(&done));
                    local.spawn_local(walk(server, number, told, done));
                }
                runtime.unwrap().block_on(local);
            }
        });
        Self { told, done, thread: Some(thread) }
    }

    /// What they were told of late.
    pub(crate) fn told(&self) -> Told {
        self.told.lock().unwrap().clone()
    }

    /// Lets them leave.
    pub(crate) fn leave(mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

async fn walk(server: SocketAddr, number: u16, told: Arc<Mutex<Told>>, done: Arc<AtomicBool>) {
    let connector = Connector::new(server, Trust::Loopback).unwrap();
    let name = PlayerName::new(&format!("walker {number}")).unwrap();
    let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
    let mut ticks = 0;
    while !done.load(Ordering::Relaxed) {
        match timeout(HANG, client.next()).await.unwrap().unwrap() {
            ClientEvent::CommandDue => {
                ticks += 1;
                // Turns go round.
                let turns = (ticks / TURN_EVERY) as u16;
                let yaw = turns.wrapping_mul(9000).wrapping_add(number.wrapping_mul(20_000));
                let forward = if ticks % TURN_EVERY < REST { 0 } else { 127 };
                client.command(Command { forward, yaw, ..Command::default() });
            }
            // Observations of the world before are void.
            ClientEvent::NewWorld => told.lock().unwrap().clear(),
            ClientEvent::Snapshot { .. } => {
                while client.next_event().is_some() {}
                let mut told = told.lock().unwrap();
                let latest = client.session().latest_tick().map_or(0, |tick| tick.0);
                told.retain(|&(_, _, tick), _| tick + REMEMBERED > latest);
                told.extend(client.session().observed_entities().map(|(tick, entity)| {
                    let id = entity.id;
                    ((id.slot, id.generation, tick.0), entity.position.to_array())
                }));
            }
        }
    }
    let _ = timeout(Duration::from_secs(2), client.leave()).await;
}
