//! A match that crashes or hangs ends alone. The other matches of its server go on.

use std::time::{Duration, Instant};

use obsp_client::quic::{ClientEvent, JoinError};
use obsp_client::{Credentials, Disconnected};
use obsp_game::{Game, WorldMut};
use obsp_proto::control::{ClosingReason, RefusalReason};
use obsp_sim::{Buttons, Command, EntityId};
use server::{
    AdminAction, AdminCommand, AdminError, AdminOptions, CommandError, MatchBuilder, Options,
    Server,
};
use tests::harness::pages::{get, metric};
use tests::harness::{Administrators, own_map};
use tokio::time::timeout;

use crate::matches::{HANG, end, into, join, look_on, options, play, ring};

/// A game with a defect: the tick thread crashes once a player presses a button.
#[derive(Clone, Debug)]
struct Fragile;

impl Game for Fragile {
    type State = ();

    fn set_up(&self, _: &mut WorldMut<'_>) {}

    fn moved(&self, (): &mut (), _: &mut WorldMut<'_>, _: EntityId, command: &Command) {
        assert!(!command.buttons.contains(Buttons::PRIMARY), "a defect of the game");
    }
}

#[tokio::test]
async fn a_match_that_crashes_is_over_alone() {
    let fragile = MatchBuilder::new(own_map("arena.obsp")).game(Fragile).max_players(2);
    let tokens = Administrators::new("matches-admin-tokens");
    let admin = AdminOptions {
        admin: Some("127.0.0.1:0".parse().unwrap()),
        admin_tokens: Some(tokens.path().to_owned()),
    };
    let options = Options { admin, ..options() };
    let builder = Server::builder().options(options).add_match("fragile", fragile);
    let running = builder.bind().await.unwrap();
    let mut ann = join(&running, "Ann", &into("main")).await.unwrap();
    let mut bob = join(&running, "Bob", &into("fragile")).await.unwrap();
    let mut carl = join(&running, "Carl", &into("fragile")).await.unwrap();
    look_on(&mut carl, &mut Vec::new(), 10).await;
    assert_eq!(get(running.http_addr(), "/healthz").await.body, "ok\n");
    let fires = async {
        loop {
            match bob.next().await {
                Ok(ClientEvent::CommandDue) => {
                    bob.command(Command { buttons: Buttons::PRIMARY, ..Command::default() });
                }
                Ok(_) => {}
                Err(lost) => return lost,
            }
        }
    };
    let first = timeout(HANG, fires).await.expect("Bob is disconnected");
    let second = play(&mut carl, &mut Vec::new(), |_, _| None::<()>).await.unwrap_err();
    for lost in [first, second] {
        let Disconnected::Closed(ClosingReason::Removed(why)) = lost else { panic!("{lost}") };
        assert_eq!(why.as_str(), "the match has failed");
    }
    let refused = join(&running, "Bob", &into("fragile")).await.unwrap_err();
    assert!(matches!(refused, JoinError::Refused(RefusalReason::NotReady)), "{refused}");
    // The other match is watched for 90 snapshots, longer than it takes the server to notice that a
    // match is dead.
    look_on(&mut ann, &mut Vec::new(), 90).await;
    let dan = join(&running, "Dan", &Credentials::default()).await.unwrap();
    let health = get(running.http_addr(), "/healthz").await;
    assert_eq!(health.status, 200);
    assert_eq!(
        health.body,
        "ok\nmatch fragile: has failed: the tick thread crashed: a defect of the game\n"
    );
    // Actions on the ended match are refused.
    let ask = async |name: &str, action: AdminAction| {
        let command = AdminCommand {
            admin: running.admin_addr().unwrap().into(),
            admin_tokens: tokens.path().to_owned(),
            match_name: name.parse().ok(),
            action,
        };
        tokio::task::spawn_blocking(move || server::admin(&command)).await.unwrap()
    };
    let warren = own_map("warren.obsp").to_string_lossy().into_owned();
    for action in [AdminAction::Restart, AdminAction::Map { map: warren.clone() }] {
        let refused = ask("fragile", action).await.unwrap_err();
        let why = "the match fragile has ended: the tick thread crashed: a defect of the game;";
        assert!(
            matches!(&refused, AdminError::Refused(text) if text.starts_with(why)),
            "{refused}"
        );
    }
    let handle = running.match_handle("fragile").unwrap();
    assert!(matches!(handle.change_map(&warren), Err(CommandError::Ended(_))));
    ask("main", AdminAction::Restart).await.unwrap();
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_match_failed{match=\"fragile\"}"), 1.0);
    assert_eq!(metric(&page, "game_match_failed{match=\"main\"}"), 0.0);
    drop((ann, dan));
    end(running).await;
}

/// Symptom: when the tick thread of one match hung for good, the other matches of its server ended
/// with it, by `--hang-limit` or by the supervisor. Cause: the watchdog ended the server, and the
/// server was unhealthy while any match hung. Cure: the watchdog gives up that match alone.
#[tokio::test]
async fn a_match_that_hangs_is_over_alone_whether_its_thread_comes_back_or_not() {
    for comes_back in [false, true] {
        let options = Options { hang_limit: Duration::from_secs(3), ..options() };
        let running = Server::builder().options(options).add_match("ring", ring());
        let running = running.bind().await.unwrap();
        let mut ann = join(&running, "Ann", &into("main")).await.unwrap();
        let mut bob = join(&running, "Bob", &into("ring")).await.unwrap();
        look_on(&mut ann, &mut Vec::new(), 10).await;
        let held = running.hold_ticks();
        let (mut told_ann, mut told_bob) = (Vec::new(), Vec::new());
        let lost = play(&mut ann, &mut told_ann, |_, _| None::<()>);
        let seen = look_on(&mut bob, &mut told_bob, 120);
        let ((), lost) = tokio::join!(seen, lost);
        let lost = lost.unwrap_err();
        let Disconnected::Closed(ClosingReason::Removed(why)) = lost else { panic!("{lost}") };
        assert_eq!(why.as_str(), "the match has failed");
        let refused = join(&running, "Ann", &into("main")).await.unwrap_err();
        assert!(matches!(refused, JoinError::Refused(RefusalReason::NotReady)), "{refused}");
        look_on(&mut bob, &mut Vec::new(), 30).await;
        let health = get(running.http_addr(), "/healthz").await;
        assert_eq!(health.status, 200);
        let said = "ok\nmatch main: has failed: the tick thread hangs: no tick was finished for ";
        assert!(health.body.starts_with(said), "{}", health.body);
        assert!(health.body.ends_with("it is left behind\n"), "{}", health.body);
        let ticks = async || {
            let page = get(running.http_addr(), "/metrics").await.body;
            assert_eq!(metric(&page, "game_match_failed{match=\"main\"}"), 1.0);
            metric(&page, "game_ticks_total{match=\"main\"}")
        };
        let before = ticks().await;
        if comes_back {
            drop(held);
        } else {
            // The thread is held until the process ends.
            std::mem::forget(held);
        }
        look_on(&mut bob, &mut Vec::new(), 60).await;
        // The thread may finish the tick in which it hung, but plays no other.
        assert!(ticks().await <= before + 1.0);
        drop((ann, bob));
        let begin = Instant::now();
        end(running).await;
        assert!(
            begin.elapsed() < Duration::from_secs(4),
            "the server waits for the thread that hangs"
        );
    }
}
