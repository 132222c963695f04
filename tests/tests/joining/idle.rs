//! Idle players are removed where that is asked for, and names are told apart.

use std::time::Duration;

use obsp_client::quic::ClientEvent;
use obsp_client::{Credentials, Disconnected};
use obsp_proto::control::{ClosingReason, MatchEvent};
use obsp_sim::Command;
use server::{JoiningOptions, Options, Server};
use tests::harness::pages::{get, metric};

use crate::{end, join, lost, name, options, play};

#[tokio::test]
async fn idle_players_are_warned_and_removed_and_names_are_told_apart() {
    let joining = JoiningOptions { idle: Duration::from_secs(2), ..JoiningOptions::default() };
    let running = Server::start(&Options { joining, ..options(2) }).unwrap();
    let mut active = join(&running, "ann", &Credentials::default()).await.unwrap();
    let mut idle = join(&running, "Ann", &Credentials::default()).await.unwrap();
    let own = idle.session().player();
    let mut names = Vec::new();
    let warned = play(&mut idle, 0, |_, event| match event {
        Some(MatchEvent::Joined { player, name }) => {
            names.push((Some(player) == own, name));
            None
        }
        Some(MatchEvent::Announced { line }) => Some(line),
        _ => None,
    });
    let warned = warned.await.unwrap();
    assert!(warned.as_str().contains("unless you move"), "{warned}");
    names.sort();
    assert_eq!(names, [(false, name("ann")), (true, name("Ann (2)"))]);
    let mut turn = 0;
    let moving = async {
        loop {
            if let Ok(ClientEvent::CommandDue) = active.next().await {
                turn += 1;
                active.command(Command { yaw: turn, ..Command::default() });
            }
        }
    };
    let removed = tokio::select! {
        removed = lost(&mut idle, 0) => removed,
        () = moving => unreachable!("it has no end"),
    };
    let Disconnected::Closed(ClosingReason::Removed(why)) = &removed else { panic!("{removed}") };
    assert!(why.as_str().starts_with("idle"), "{why}");
    assert!(removed.is_final());
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_disconnects_total{reason=\"idle\"}"), 1.0);
    assert_eq!(metric(&page, "game_players"), 1.0, "{page}");
    drop((active, idle));
    end(running).await;
}
