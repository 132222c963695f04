//! Effects that come over the session: to spectators, and to players who ask for them.

use std::collections::HashSet;

use glam::DVec3;
use obsp_client::Credentials;
use obsp_client::quic::{Client, ClientEvent, Connector, Trust};
use obsp_proto::Tick;
use obsp_proto::control::{MapHash, PlayerName};
use obsp_proto::effects::Effect;
use obsp_sim::{Buttons, Command};
use server::{Options, Server};
use tests::badline::{Conditions, Line, Proxy, Setup};
use tests::harness::pages::{get, metric};
use tokio::time::timeout;

use crate::spectators::spectator::{HANG, Spectator};
use crate::spectators::{end, options, serve};

/// The number of rays for which the shooter waits.
const SHOTS: usize = 12;

async fn join(server: std::net::SocketAddr, name: &str, effects: bool) -> Client {
    let connector = Connector::new(server, Trust::Loopback).unwrap();
    let by = Credentials { effects, ..Credentials::default() };
    let name = PlayerName::new(name).unwrap();
    timeout(HANG, connector.join_with(&name, MapHash::ANY, &by)).await.unwrap().unwrap()
}

/// Sends commands with these buttons until `is_done`.
async fn play(client: &mut Client, buttons: Buttons, mut is_done: impl FnMut(&mut Client) -> bool) {
    let command = Command { buttons, ..Command::default() };
    let until = async {
        while !is_done(client) {
            if let ClientEvent::CommandDue = client.next().await.unwrap() {
                client.command(command);
            }
        }
    };
    timeout(HANG, until).await.unwrap();
}

/// The rays that a client has got since the last call: the tick, the shooter and the start of each.
fn rays(client: &mut Client) -> Vec<(Tick, u16, DVec3)> {
    let effects = std::iter::from_fn(|| client.next_effect());
    effects
        .filter_map(|(tick, effect)| match effect {
            Effect::Ray { player, from, .. } => Some((tick, player, from)),
            _ => None,
        })
        .collect()
}

/// The rays that the server's `/effects` lists: the tick and the start of each.
async fn told(running: &Server) -> Vec<(u64, DVec3)> {
    let body = get(running.http_addr(), "/effects/0").await.body;
    let told: Vec<serde_json::Value> = serde_json::from_str(&body).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    told.iter()
        .filter(|effect| effect["what"] == "ray")
        .map(|ray| {
            let from = DVec3::from_array(std::array::from_fn(|axis| number(&ray["from"][axis])));
            (ray["tick"].as_u64().unwrap(), from)
        })
        .collect()
}

/// Fires until the shooter has got `SHOTS` rays, and checks that they are the server's. If `all`,
/// it also checks that the shooter missed no ray.
async fn shoots(running: &Server, server: std::net::SocketAddr, all: bool) {
    let mut shooter = join(server, "shooter", true).await;
    let own = shooter.view().player().unwrap().slot;
    let mut got = Vec::new();
    play(&mut shooter, Buttons::PRIMARY, |client| {
        got.extend(rays(client));
        got.len() >= SHOTS
    })
    .await;
    let ticks: HashSet<_> = got.iter().map(|(tick, ..)| *tick).collect();
    assert_eq!(ticks.len(), got.len(), "a shot came twice: {got:?}");
    let told = told(running).await;
    for (tick, player, from) in &got {
        assert_eq!(*player, own);
        let of_tick = told.iter().find(|(at, _)| *at == u64::from(tick.0));
        let (_, place) = of_tick.unwrap_or_else(|| panic!("{tick}: not in {told:?}"));
        // Places are rounded to a 32nd of a unit.
        assert!((*place - *from).abs().max_element() < 0.04, "{place} {from}");
    }
    if all {
        let last = u64::from(got.last().unwrap().0.0);
        assert_eq!(told.iter().filter(|(tick, _)| *tick <= last).count(), got.len());
    }
    shooter.leave().await;
}

#[tokio::test]
async fn shots_come_to_their_shooter_over_the_session() {
    let running = serve(options());
    shoots(&running, running.local_addr(), true).await;
    end(running).await;
}

#[tokio::test]
async fn shots_come_over_a_line_that_loses_a_fifth() {
    let running = serve(options());
    let line = Line::both(Conditions { loss: 0.2, ..Conditions::default() });
    let listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let setup = Setup { listen, to: running.local_addr(), line, seed: 7, rebinds: Vec::new() };
    let proxy = Proxy::start(setup).unwrap();
    shoots(&running, proxy.address(), false).await;
    end(running).await;
}

#[tokio::test]
async fn spectators_get_all_effects_and_players_who_do_not_ask_none() {
    let running = serve(Options { objects: 0, ..options() });
    let mut shooter = join(running.local_addr(), "shooter", false).await;
    let own = shooter.view().player().unwrap().slot;
    let mut spectator = Spectator::come(&running).await.unwrap();
    let watches = async {
        loop {
            if let (tick, Effect::Ray { player, .. }) = spectator.next_effect().await {
                return (tick, player);
            }
        }
    };
    let fires = play(&mut shooter, Buttons::PRIMARY, |client| {
        assert_eq!(client.next_effect(), None, "the shooter has not asked");
        false
    });
    let (tick, player) = tokio::select! {
        seen = timeout(HANG, watches) => seen.unwrap(),
        () = fires => unreachable!("the shooter fires on"),
    };
    assert_eq!(player, own);
    let told = told(&running).await;
    assert!(told.iter().any(|(at, _)| *at == u64::from(tick.0)), "{tick}: {told:?}");
    let page = get(running.http_addr(), "/metrics").await.body;
    assert!(metric(&page, "game_effects_total") >= 1.0);
    assert!(metric(&page, "game_effect_bytes_total") >= 16.0);
    assert_eq!(metric(&page, "game_effects_cut_total"), 0.0);
    shooter.leave().await;
    end(running).await;
}
