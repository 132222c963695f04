//! A native client that stands still at its spawn point. Once `fire` is called, it shoots the only
//! other player until they die.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use glam::DVec3;
use obsp_client::quic::{Client, ClientEvent, Connector, Trust};
use obsp_proto::control::{MapHash, MatchEvent, PlayerName};
use obsp_sim::{Buttons, Command};
use tokio::time::timeout;

use crate::chromium::HANG;

/// Height of the eyes above the middle of a standing player, in units.
const EYES: f64 = 22.0;

/// Steps of a command's angles in a radian.
const STEPS: f64 = 65_536.0 / std::f64::consts::TAU;

/// The state of a marksman, as its client knows it.
#[derive(Debug, Default)]
pub(crate) struct MarksmanState {
    /// The slot of the marksman.
    pub(crate) own: u16,
    /// The latest position of the marksman's middle.
    pub(crate) here: Option<DVec3>,
    /// The latest position of the other player's middle.
    pub(crate) target: Option<DVec3>,
    /// All events of the match.
    pub(crate) events: Vec<MatchEvent>,
}

/// The client, on a thread of its own.
pub(crate) struct Marksman {
    state: Arc<Mutex<MarksmanState>>,
    fires: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Marksman {
    /// Lets a marksman join under this name.
    pub(crate) fn join(server: SocketAddr, name: &'static str) -> Self {
        let state = Arc::<Mutex<MarksmanState>>::default();
        let [fires, done] = [(); 2].map(|()| Arc::<AtomicBool>::default());
        let thread = std::thread::spawn({
            let (state, fires, done) = (Arc::clone(&state), Arc::clone(&fires), Arc::clone(&done));
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(play(server, name, &state, &fires, &done));
            }
        });
        Self { state, fires, done, thread: Some(thread) }
    }

    /// Reads the marksman's state.
    pub(crate) fn state<T>(&self, read: impl FnOnce(&MarksmanState) -> T) -> T {
        read(&self.state.lock().unwrap())
    }

    /// Lets the marksman fire until the other player dies.
    pub(crate) fn fire(&self) {
        self.fires.store(true, Ordering::Relaxed);
    }

    /// Lets the marksman leave.
    pub(crate) fn leave(mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

async fn play(
    server: SocketAddr,
    name: &str,
    state: &Mutex<MarksmanState>,
    fires: &AtomicBool,
    done: &AtomicBool,
) {
    let connector = Connector::new(server, Trust::Loopback).unwrap();
    let name = PlayerName::new(name).unwrap();
    let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
    let mut ticks = 0_u64;
    while !done.load(Ordering::Relaxed) {
        match timeout(HANG, client.next()).await.unwrap().unwrap() {
            ClientEvent::CommandDue => {
                ticks += 1;
                // The trigger is released between two shots.
                let shoots = fires.load(Ordering::Relaxed) && ticks.is_multiple_of(2);
                client.command(aim(&client).map_or_else(Command::default, |command| {
                    let buttons = if shoots { Buttons::PRIMARY } else { Buttons::default() };
                    Command { buttons, ..command }
                }));
            }
            ClientEvent::Snapshot { .. } => {
                let mut state = state.lock().unwrap();
                note(&mut client, &mut state, fires);
            }
            ClientEvent::NewWorld => unreachable!("the match has one world"),
        }
    }
    client.leave().await;
}

/// A command that looks at the other player; `None` while either is not in the world.
fn aim(client: &Client) -> Option<Command> {
    let view = client.view();
    let eyes = view.position()? + DVec3::Z * EYES;
    let to = view.entities().find(|entity| entity.kind.is_player())?.position - eyes;
    let yaw = (to.y.atan2(to.x) * STEPS).round() as i32 as u16;
    let pitch = (to.z.atan2(to.truncate().length()) * STEPS).round() as i16;
    Some(Command { yaw, pitch, ..Command::default() })
}

/// Notes the server's events and positions.
fn note(client: &mut Client, state: &mut MarksmanState, fires: &AtomicBool) {
    let own = client.session().player();
    while let Some((_, event)) = client.next_event() {
        if matches!(event, MatchEvent::Died { player, .. } if Some(player) != own) {
            fires.store(false, Ordering::Relaxed);
        }
        state.events.push(event);
    }
    state.own = own.map_or(u16::MAX, |own| own.slot);
    state.here = client.motion().map(|(_, motion)| motion.position.as_dvec3());
    let mut others = client.session().entities().filter(|entity| Some(entity.id) != own);
    state.target = others.find(|entity| entity.kind.is_player()).map(|entity| entity.position);
}
