//! Spectators over WebTransport on the players' own port, as browsers connect.

mod effects;
mod hostile;
mod spectator;

use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use obsp_client::quic::{Client, ClientEvent, Connector, Trust};
use obsp_proto::control::{ClosingReason, MapHash, MatchEvent, PlayerName, RefusalReason, Vitals};
use obsp_proto::quantise::{QuantisedBody, QuantisedEntity};
use obsp_sim::Command;
use server::{AdminAction, AdminCommand, AdminOptions, Options, PageOptions, Server};
use spectator::{HANG, Spectator};
use tests::harness::pages::{get, metric};
use tests::harness::{self, Administrators};
use tokio::time::timeout;

/// Time for which a spectator watches.
const LOOK: Duration = Duration::from_secs(2);

fn serve(options: Options) -> Server {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    Server::start(&Options { listen: vec![any_port], pages: PageOptions::at(any_port), ..options })
        .unwrap()
}

fn options() -> Options {
    Options::new(harness::own_map("arena.obsp").to_string_lossy())
}

async fn end(running: Server) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

async fn player(running: &Server) -> Client {
    let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
    connector.join(&PlayerName::new("player").unwrap(), MapHash::ANY).await.unwrap()
}

#[tokio::test]
async fn a_spectator_sees_what_players_see_and_takes_no_place() {
    let running = serve(Options { max_players: 1, ..options() });
    let mut player = player(&running).await;
    let plays = tokio::spawn(async move {
        let begin = Instant::now();
        while begin.elapsed() < LOOK + LOOK {
            if let ClientEvent::CommandDue = timeout(HANG, player.next()).await.unwrap().unwrap() {
                player.command(Command { forward: 127, ..Command::default() });
            }
        }
        player
    });
    let mut spectator = Spectator::come(&running).await.expect("a full server accepts a spectator");
    let hello = spectator.session.hello().unwrap();
    assert_eq!((hello.player, hello.snapshot_rate), (None, NonZeroU16::new(20).unwrap()));

    let first = spectator.see().await.0;
    let (begin, mut last) = (Instant::now(), first);
    let (mut snapshots, mut digests) = (0, 0);
    while begin.elapsed() < LOOK {
        let (tick, agrees) = spectator.see().await;
        assert_ne!(agrees, Some(false));
        last = tick;
        snapshots += 1;
        digests += usize::from(agrees.is_some());
    }
    // Twenty snapshots a second are one for every three ticks.
    let due = (last.0 - first.0) as usize / 3;
    assert!((due / 2..=due + 1).contains(&snapshots), "{snapshots} snapshots of {due}");
    assert!(digests > 0);
    let seen = spectator.holds();
    assert!(
        seen.len() > running.props(),
        "the spectator sees only {} of {} entities",
        seen.len(),
        running.props() + 1
    );

    let whole = Vitals { health: 100, score: 0 };
    let mut told = Vec::new();
    while !matches!(told.last(), Some(MatchEvent::Vitals { vitals, .. }) if *vitals == whole) {
        told.extend(spectator.next_event().await);
    }
    assert!(matches!(told[0], MatchEvent::Joined { .. }), "{told:?}");

    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_players"), 1.0);
    assert_eq!(metric(&page, "game_connections{state=\"watching\"}"), 1.0);
    plays.await.unwrap().leave().await;
    end(running).await;
}

#[tokio::test]
async fn spectators_have_a_limit_of_their_own() {
    let running = serve(Options { max_spectators: 1, ..options() });
    let first = Spectator::come(&running).await.expect("the first spectator is accepted");
    let refused = Spectator::come(&running).await.err();
    assert_eq!(refused, Some(RefusalReason::Full { limit: 1 }));
    drop(first);
    let again = async { while Spectator::come(&running).await.is_err() {} };
    timeout(HANG, again).await.unwrap();
    end(running).await;
}

#[tokio::test]
async fn a_banned_spectator_goes_and_stays_away() {
    let tokens = Administrators::new("spectator-bans");
    let admin = AdminOptions {
        admin: Some("127.0.0.1:0".parse().unwrap()),
        admin_tokens: Some(tokens.path().to_owned()),
    };
    let running = serve(Options { admin, ..options() });
    let ask = async |action| {
        let (admin, admin_tokens) = (running.admin_addr().unwrap(), tokens.path().to_owned());
        let command = AdminCommand { admin: admin.into(), admin_tokens, match_name: None, action };
        tokio::task::spawn_blocking(move || server::admin(&command)).await.unwrap().unwrap();
    };
    let mut spectator = Spectator::come(&running).await.unwrap();
    let (subject, reason) = ("127.0.0.0/8".to_owned(), "glare".to_owned());
    ask(AdminAction::Ban { subject: subject.clone(), reason, time: None }).await;
    let closing = spectator.closing().await;
    let ClosingReason::Removed(why) = &closing else { panic!("{closing}") };
    assert_eq!(why.as_str(), "glare");
    assert!(Spectator::try_connect(&running).await.is_err(), "a banned spectator can connect");
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_refusals_total{reason=\"banned\"}"), 1.0);
    ask(AdminAction::Unban { subject }).await;
    Spectator::come(&running).await.expect("a spectator is accepted after the ban");
    drop(spectator);
    end(running).await;
}

#[tokio::test]
async fn a_spectator_sees_the_match_that_it_names_and_no_other() {
    let warren = harness::own_map("warren.obsp").to_string_lossy().into_owned();
    let matches = vec![format!("duel={warren}").parse().unwrap()];
    let running = serve(Options { matches, ..options() });
    let player = player(&running).await;
    let [duel, other] = ["duel", "nowhere"].map(|name| name.parse().unwrap());
    let mut spectator = Spectator::come_to(&running, Some(&duel)).await.unwrap();
    assert_eq!(spectator.session.hello().unwrap().map_name.as_str(), "warren");
    for _ in 0..20 {
        assert_ne!(spectator.see().await.1, Some(false));
    }
    let is_player = |entity: &QuantisedEntity| matches!(entity.body, QuantisedBody::Player { .. });
    assert!(!spectator.holds().values().any(is_player), "the player is in the other match");
    let mut main = Spectator::come(&running).await.unwrap();
    let sees = async {
        while !main.holds().values().any(is_player) {
            main.see().await;
        }
    };
    timeout(HANG, sees).await.expect("the player is in the first match");
    let Some(RefusalReason::NoSuchMatch { matches }) =
        Spectator::come_to(&running, Some(&other)).await.err()
    else {
        panic!("a match that does not exist is not refused as such")
    };
    assert_eq!(matches.to_string(), "main, duel");
    let page = get(running.http_addr(), "/metrics").await.body;
    for name in ["main", "duel"] {
        let series = format!("game_connections{{match=\"{name}\",state=\"watching\"}}");
        assert_eq!(metric(&page, &series), 1.0);
    }
    drop((player, spectator, main));
    end(running).await;
}
