//! Blackouts longer than the server's time-out. A client that comes back in time is the same player
//! as before. A client that comes later is a new player.

use std::time::{Duration, UNIX_EPOCH};

use obsp_client::quic::{Client, ClientEvent, Connector, JoinError, Trust};
use obsp_client::{Credentials, Disconnected};
use obsp_proto::control::{ClosingReason, MapHash, MatchEvent, PlayerName, RefusalReason, Ticket};
use obsp_proto::token::{JoinKey, TokenClaims};
use obsp_sim::{Command, EntityId};
use server::{AdminAction, AdminCommand};
use tests::badline::{Conditions, Line};
use tests::harness::pages::{get, metric};
use tests::harness::{Administrators, ServerProcess};
use tokio::time::{sleep, timeout};

use super::player::join;
use super::{proxy, start};

/// Time for which the server keeps the bodies of players who are away.
const REJOIN: &str = "15s";

/// A time far longer than the server waits for silent clients and for players who are away.
const PATIENCE: Duration = Duration::from_secs(60);

async fn read(server: &ServerProcess, series: &str) -> f64 {
    metric(&get(server.http, "/metrics").await.body, series)
}

/// Waits until the series has reached `number`. The page of metrics may be a moment old.
async fn counted(server: &ServerProcess, series: &str, number: f64) {
    let counted = async {
        while read(server, series).await < number {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, counted)
        .await
        .unwrap_or_else(|_| panic!("the metric {series} does not reach {number}"));
}

/// Plays until `done` returns true for an event of the match.
async fn hear(client: &mut Client, mut done: impl FnMut(&MatchEvent) -> bool) {
    loop {
        if let ClientEvent::CommandDue = client.next().await.unwrap() {
            client.command(Command::default());
        }
        while let Some((_, event)) = client.next_event() {
            if done(&event) {
                return;
            }
        }
    }
}

/// Joins over a new connection with the ticket of `lost`, and leaves again. Returns the player's
/// body.
async fn come_back(server: &ServerProcess, lost: &Client) -> Option<EntityId> {
    let by = Credentials { ticket: lost.ticket(), ..Credentials::default() };
    let name = PlayerName::new("whoever").unwrap();
    let connector = Connector::new(server.udp, Trust::Loopback).unwrap();
    let client = connector.join_with(&name, MapHash::ANY, &by).await.unwrap();
    let body = client.session().player();
    client.leave().await;
    body
}

/// The answer of this server to an action of `server admin`.
async fn ask(server: &ServerProcess, tokens: &Administrators, action: AdminAction) -> String {
    let admin = server.said("admin interface on http://").trim_end_matches('/').parse().unwrap();
    let command =
        AdminCommand { admin, admin_tokens: tokens.path().to_owned(), match_name: None, action };
    tokio::task::spawn_blocking(move || server::admin(&command)).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_client_that_timed_out_rejoins_in_time_as_the_same_player_and_later_as_another() {
    let tokens = Administrators::new("comebacks");
    let path = tokens.path().to_string_lossy();
    let server =
        start(&["--rejoin", REJOIN, "--admin", "127.0.0.1:0", "--admin-tokens", &path]).await;
    let line = proxy(server.udp, Line::both(Conditions::default()), 1);
    let mut witness = join(server.udp, "witness").await;
    let soon = join(line.address(), "soon").await;
    let late = join(line.address(), "late").await;
    let kicked = join(line.address(), "kicked").await;
    let bodies = [&soon, &late].map(|client| client.session().player());
    line.blackout(2 * PATIENCE);

    let mut left = Vec::new();
    let note_left = |event: &MatchEvent, left: &mut Vec<EntityId>| {
        if let MatchEvent::Left { player } = event {
            left.push(*player);
        }
    };
    let silent = async {
        tokio::select! {
            () = counted(&server, "game_disconnects_total{reason=\"timed_out\"}", 3.0) => {}
            () = hear(&mut witness, |event| { note_left(event, &mut left); false }) => {}
        }
    };
    silent.await;
    assert_eq!(left, [], "the body of a player who timed out was removed");
    assert_eq!(read(&server, "game_players").await, 4.0);

    // A player who is kicked while away leaves at once. Their ticket does not bring the body back.
    let players = ask(&server, &tokens, AdminAction::Players).await;
    let players: serde_json::Value = serde_json::from_str(&players).unwrap();
    let players = players.as_array().unwrap();
    let away: Vec<_> = players.iter().filter(|player| player["away"] == true).collect();
    assert_eq!(away.len(), 3, "{players:?}");
    let number = away.iter().find(|player| player["name"] == "kicked").unwrap()["number"].clone();
    let number = number.as_u64().unwrap();
    ask(&server, &tokens, AdminAction::Kick { number, reason: "spam".into() }).await;
    let kicked_left = hear(&mut witness, |event| {
        note_left(event, &mut left);
        !left.is_empty()
    });
    timeout(PATIENCE, kicked_left).await.expect("the player who was kicked while away leaves");
    assert_eq!(left, [kicked.session().player().unwrap()]);
    assert_ne!(come_back(&server, &kicked).await, kicked.session().player());
    left.clear();

    assert_eq!(
        come_back(&server, &soon).await,
        bodies[0],
        "a client that came back in time is another player"
    );
    counted(&server, "game_rejoins_total", 1.0).await;
    let both_left = hear(&mut witness, |event| {
        note_left(event, &mut left);
        bodies.iter().flatten().all(|body| left.contains(body))
    });
    // One player said goodbye, the other did not come back in time.
    timeout(PATIENCE, both_left).await.expect("a player who does not come back leaves");
    assert_ne!(
        come_back(&server, &late).await,
        bodies[1],
        "a client that came back too late is the same player"
    );
    assert_eq!(read(&server, "game_rejoins_total").await, 1.0);
}

/// A ban of a player who is away frees their place at once. Their ticket does not bring the body
/// back, neither during the ban nor afterwards.
#[tokio::test]
async fn a_player_banned_while_away_loses_place_and_ticket() {
    let (tokens, key) = (Administrators::new("bans-of-the-absent"), JoinKey::generate().unwrap());
    let key_file = std::env::temp_dir().join(format!("absent-key-{}", std::process::id()));
    std::fs::write(&key_file, key.to_hex()).unwrap();
    let (admins, join_key) = (tokens.path().to_string_lossy(), key_file.to_string_lossy());
    let server = start(&[
        "--join-key",
        &join_key,
        "--rejoin",
        "10m",
        "--admin",
        "127.0.0.1:0",
        "--admin-tokens",
        &admins,
    ])
    .await;
    let come = async |address, player: u64, ticket| {
        let name = PlayerName::new(&format!("player {player}")).unwrap();
        let (servers, user_data) = (Vec::new(), Vec::new());
        let claims =
            TokenClaims { player, name: name.clone(), reserved: false, servers, user_data };
        let token = key.seal(&claims, UNIX_EPOCH.elapsed().unwrap().as_secs() + 60).unwrap();
        let connector = Connector::new(address, Trust::Loopback).unwrap();
        connector
            .join_with(
                &name,
                MapHash::ANY,
                &Credentials { token, ticket, ..Credentials::default() },
            )
            .await
    };
    let line = proxy(server.udp, Line::both(Conditions::default()), 1);
    let mut witness = come(server.udp, 1, Ticket::NONE).await.unwrap();
    let lost = come(line.address(), 7, Ticket::NONE).await.unwrap();
    let body = lost.session().player().unwrap();
    line.blackout(2 * PATIENCE);
    tokio::select! {
        () = counted(&server, "game_disconnects_total{reason=\"timed_out\"}", 1.0) => {}
        () = hear(&mut witness, |event| *event == MatchEvent::Left { player: body }) => {
            panic!("the body of a player who is away was removed")
        }
    };

    let (subject, reason) = ("player:7".to_owned(), "spam".to_owned());
    let ban =
        ask(&server, &tokens, AdminAction::Ban { subject: subject.clone(), reason, time: None });
    let gone = hear(&mut witness, |event| *event == MatchEvent::Left { player: body });
    let (_, gone) = tokio::join!(ban, timeout(PATIENCE, gone));
    gone.expect("the player who was banned while away leaves");
    let alone = async {
        while read(&server, "game_players").await > 1.0 {
            sleep(Duration::from_millis(200)).await;
        }
    };
    timeout(PATIENCE, alone).await.expect("the place becomes free");
    let refused = come(server.udp, 7, lost.ticket()).await.expect_err("a banned player is refused");
    assert!(matches!(refused, JoinError::Refused(RefusalReason::Banned)), "{refused}");

    ask(&server, &tokens, AdminAction::Unban { subject }).await;
    let back = come(server.udp, 7, lost.ticket()).await.unwrap();
    assert_ne!(back.session().player(), Some(body));
    assert_eq!(read(&server, "game_rejoins_total").await, 0.0);
    std::fs::remove_file(key_file).unwrap();
}

/// Time in the match before the kick, longer than the eight seconds after which the fault below was
/// seen.
const LONG: Duration = Duration::from_secs(11);

/// A client that had been connected for eight seconds was once taken for a flood 100 ms after it
/// was removed: the meter of the closing phase began with all the datagrams that it had ever sent.
#[tokio::test]
async fn a_removed_player_is_told_the_reason_over_a_bad_line() {
    let tokens = Administrators::new("removals");
    let path = tokens.path().to_string_lossy();
    let server = start(&["--admin", "127.0.0.1:0", "--admin-tokens", &path]).await;
    let conditions = Conditions { delay: Duration::from_millis(200), ..Conditions::default() };
    let line = proxy(server.udp, Line::both(conditions), 1);
    let mut client = join(line.address(), "player").await;
    let _ = timeout(LONG, hear(&mut client, |_| false)).await;
    let players = ask(&server, &tokens, AdminAction::Players).await;
    let players: serde_json::Value = serde_json::from_str(&players).unwrap();
    let number = players[0]["number"].as_u64().unwrap();
    ask(&server, &tokens, AdminAction::Kick { number, reason: "spam".into() }).await;
    let lost = async {
        loop {
            match client.next().await {
                Ok(ClientEvent::CommandDue) => _ = client.command(Command::default()),
                Ok(_) => {}
                Err(lost) => break lost,
            }
        }
    };
    let lost = timeout(PATIENCE, lost).await.expect("the removed player is disconnected");
    let Disconnected::Closed(ClosingReason::Removed(why)) = &lost else { panic!("{lost}") };
    assert_eq!(why.as_str(), "spam");
    // After this time the connection is over.
    sleep(Duration::from_secs(3)).await;
    assert_eq!(read(&server, "game_limits_hit_total{limit=\"datagrams\"}").await, 0.0);
}
