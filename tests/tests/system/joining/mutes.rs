//! A mute still holds when the player comes back from the same address, with a connect token or
//! with a ticket.

use std::time::{Duration, Instant, UNIX_EPOCH};

use obsp_client::Credentials;
use obsp_client::quic::Client;
use obsp_proto::control::{ChatLine, MatchEvent};
use obsp_proto::token::{JoinKey, TokenClaims};
use server::{AddressOptions, AdminAction, AdminOptions, JoiningOptions, Options, Server};
use tests::harness::Administrators;

use crate::joining::administrators::ask;
use crate::joining::{File, end, join, options, play};

/// A server whose players all come from one address, which is not exempt.
fn serve(joining: JoiningOptions, tokens: &Administrators) -> Server {
    let admin = AdminOptions {
        admin: Some("127.0.0.1:0".parse().unwrap()),
        admin_tokens: Some(tokens.path().to_owned()),
    };
    let addresses = AddressOptions {
        address_exempt: vec!["192.0.2.1".parse().unwrap()],
        ..AddressOptions::default()
    };
    Server::start(&Options { joining, admin, addresses, ..options(4) }).unwrap()
}

/// The connection's number of the player with this name.
async fn number(running: &Server, tokens: &Administrators, of: &str) -> String {
    let players = ask(running, tokens.path(), AdminAction::Players).await.unwrap();
    let players: serde_json::Value = serde_json::from_str(&players).unwrap();
    let player = players.as_array().unwrap().iter().find(|player| player["name"] == of).unwrap();
    player["number"].to_string()
}

/// Whether others hear this client. If they do, the client also gets its own line back.
async fn is_heard(client: &mut Client, line: &str) -> bool {
    client.say(ChatLine::new(line).unwrap());
    let until = Instant::now() + Duration::from_millis(1500);
    play(client, 0, |_, event| match event {
        Some(MatchEvent::Said { line: said, .. }) if said.as_str() == line => Some(true),
        _ => (Instant::now() > until).then_some(false),
    })
    .await
    .unwrap()
}

fn mute(who: impl ToString) -> AdminAction {
    AdminAction::Mute { who: who.to_string(), reason: "spam".into(), time: None }
}

/// Symptom: a muted player left, joined again and was heard.
#[tokio::test]
async fn a_player_who_joins_again_from_the_same_address_is_still_muted() {
    let tokens = Administrators::new("mutes-address");
    let file = File::new("mutes.toml", "");
    let joining =
        JoiningOptions { mutes: Some(file.path().to_owned()), ..JoiningOptions::default() };
    let running = serve(joining, &tokens);
    let ask = async |action| ask(&running, tokens.path(), action).await;
    let mut noisy = join(&running, "noisy", &Credentials::default()).await.unwrap();
    assert!(is_heard(&mut noisy, "one").await);
    let said = ask(mute(number(&running, &tokens, "noisy").await)).await.unwrap();
    assert!(said.contains("127.0.0.1"), "{said}");
    assert!(!is_heard(&mut noisy, "two").await);
    noisy.leave().await;
    let mut again = join(&running, "somebody else", &Credentials::default()).await.unwrap();
    assert!(!is_heard(&mut again, "three").await);
    let list = ask(AdminAction::Mutes).await.unwrap();
    assert!(list.contains("127.0.0.1") && list.contains("spam"), "{list}");
    assert!(std::fs::read_to_string(file.path()).unwrap().contains("127.0.0.1"));
    ask(AdminAction::Unmute { who: "127.0.0.1".into() }).await.unwrap();
    assert!(is_heard(&mut again, "four").await);
    let error = ask(AdminAction::Unmute { who: "127.0.0.1".into() }).await.unwrap_err();
    assert!(error.contains("not muted"), "{error}");
    drop(again);
    end(running).await;
}

#[tokio::test]
async fn a_player_with_another_token_is_still_muted() {
    let tokens = Administrators::new("mutes-token");
    let key = JoinKey::generate().unwrap();
    let file = File::new("mutes-join-key", &key.to_hex());
    let joining =
        JoiningOptions { join_key: Some(file.path().to_owned()), ..JoiningOptions::default() };
    let running = serve(joining, &tokens);
    let ask = async |action| ask(&running, tokens.path(), action).await;
    let by = |player: u64, name: &str| {
        let name = crate::joining::name(name);
        let claims = TokenClaims {
            player,
            name,
            reserved: false,
            servers: Vec::new(),
            user_data: Vec::new(),
        };
        let expires = UNIX_EPOCH.elapsed().unwrap().as_secs() + 60;
        Credentials { token: key.seal(&claims, expires).unwrap(), ..Credentials::default() }
    };
    let noisy = join(&running, "noisy", &by(7, "noisy")).await.unwrap();
    let said = ask(mute(number(&running, &tokens, "noisy").await)).await.unwrap();
    assert!(said.contains("player:7"), "{said}");
    noisy.leave().await;
    let mut again = join(&running, "noisy", &by(7, "noisy again")).await.unwrap();
    assert!(!is_heard(&mut again, "a token").await);
    // Another player of the same address is heard.
    let mut other = join(&running, "other", &by(8, "other")).await.unwrap();
    assert!(is_heard(&mut other, "other").await);

    ask(AdminAction::Unmute { who: "player:7".into() }).await.unwrap();
    assert!(is_heard(&mut again, "lifted").await);
    drop((other, again));
    end(running).await;
}

/// The server knows a player without a token, at an address that many share, only by the ticket.
#[tokio::test]
async fn a_player_with_a_ticket_alone_is_still_muted() {
    let tokens = Administrators::new("mutes-ticket");
    let admin = AdminOptions {
        admin: Some("127.0.0.1:0".parse().unwrap()),
        admin_tokens: Some(tokens.path().to_owned()),
    };
    let running = Server::start(&Options { admin, ..options(4) }).unwrap();
    let noisy = join(&running, "noisy", &Credentials::default()).await.unwrap();
    let mut other = join(&running, "other", &Credentials::default()).await.unwrap();
    let number = number(&running, &tokens, "noisy").await;
    ask(&running, tokens.path(), mute(number)).await.unwrap();
    let by = Credentials { ticket: noisy.ticket(), ..Credentials::default() };
    let mut back = join(&running, "noisy", &by).await.unwrap();
    assert!(!is_heard(&mut back, "a ticket").await);
    assert!(is_heard(&mut other, "another player").await);
    drop((noisy, other, back));
    end(running).await;
}

#[tokio::test]
async fn a_mute_ends_when_its_time_is_over() {
    let tokens = Administrators::new("mutes-time");
    let running = serve(JoiningOptions::default(), &tokens);
    let mut noisy = join(&running, "noisy", &Credentials::default()).await.unwrap();
    let action = AdminAction::Mute {
        who: "127.0.0.0/8".into(),
        reason: String::new(),
        time: Some(Duration::from_secs(4)),
    };
    ask(&running, tokens.path(), action).await.unwrap();
    assert!(!is_heard(&mut noisy, "one").await);
    let begin = Instant::now();
    while !is_heard(&mut noisy, "two").await {
        assert!(begin.elapsed() < crate::joining::HANG);
    }
    drop(noisy);
    end(running).await;
}
