//! Idle players are removed if the option is set, and players with equal names can be
//! distinguished.

use std::time::Duration;

use obsp_client::quic::ClientEvent;
use obsp_client::{Credentials, Disconnected};
use obsp_proto::control::{ClosingReason, MatchEvent};
use obsp_sim::Command;
use server::{JoiningOptions, Options, Server};
use tests::harness::pages::{get, metric};

use crate::joining::{end, join, lost, name, options, play};

#[tokio::test]
async fn idle_players_are_warned_and_removed_and_names_are_told_apart() {
    let joining = JoiningOptions { idle: Duration::from_secs(2), ..JoiningOptions::default() };
    let running = Server::start(&Options { joining, ..options(2) }).unwrap();
    let mut active = join(&running, "ann", &Credentials::default()).await.unwrap();
    let mut idle = join(&running, "Ann", &Credentials::default()).await.unwrap();
    let own = idle.session().player();
    let (mut turn, mut names) = (0, Vec::new());
    // This player moves from the start, because idle time counts from joining.
    let moving = async {
        loop {
            if let ClientEvent::CommandDue =
                active.next().await.expect("a player who moves is not removed")
            {
                turn += 1;
                active.command(Command { yaw: turn, ..Command::default() });
            }
        }
    };
    let idling = async {
        let warned = play(&mut idle, 0, |_, event| match event {
            Some(MatchEvent::Joined { player, name }) => {
                names.push((Some(player) == own, name));
                None
            }
            Some(MatchEvent::Announced { line }) => Some(line),
            _ => None,
        });
        (warned.await.unwrap(), lost(&mut idle, 0).await)
    };
    let (warned, removed) = tokio::select! {
        ended = idling => ended,
        () = moving => unreachable!("the player moves until the test ends"),
    };
    assert!(warned.as_str().contains("unless you move"), "{warned}");
    names.sort();
    assert_eq!(names, [(false, name("ann")), (true, name("Ann (2)"))]);
    let Disconnected::Closed(ClosingReason::Removed(why)) = &removed else { panic!("{removed}") };
    assert!(why.as_str().starts_with("idle"), "{why}");
    assert!(removed.is_final());
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_disconnects_total{reason=\"idle\"}"), 1.0);
    assert_eq!(metric(&page, "game_players"), 1.0, "{page}");
    drop((active, idle));
    end(running).await;
}
