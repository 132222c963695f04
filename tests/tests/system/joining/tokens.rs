//! A server with a join key admits only connect tokens, and each of them once.

use std::time::UNIX_EPOCH;

use obsp_client::{Credentials, Disconnected};
use obsp_proto::control::{ClosingReason, MatchEvent, RefusalReason};
use obsp_proto::token::{JoinKey, TokenClaims};
use server::{JoiningOptions, Options, Server};

use crate::joining::{File, end, join, lost, name, options, play, refusal};

fn claims(player: u64, servers: &[String]) -> TokenClaims {
    let (name, servers) = (name(&format!("player {player}")), servers.to_vec());
    TokenClaims { player, name, reserved: false, servers, user_data: Vec::new() }
}

fn now() -> u64 {
    UNIX_EPOCH.elapsed().unwrap().as_secs()
}

#[tokio::test]
async fn only_tokens_open_a_server_with_a_key_and_each_does_once() {
    let key = JoinKey::generate().unwrap();
    let file = File::new("join-key", &key.to_hex());
    let joining = JoiningOptions {
        join_key: Some(file.path().to_owned()),
        reserved_slots: 1,
        ..JoiningOptions::default()
    };
    let running = Server::start(&Options { joining, ..options(2) }).unwrap();
    let by = |token| Credentials { token, ..Credentials::default() };
    let refused = join(&running, "stranger", &Credentials::default()).await;
    assert_eq!(refusal(refused), RefusalReason::TokenRequired);

    let here = running.local_addr().to_string();
    let token = by(key.seal(&claims(7, &[here]), now() + 60).unwrap());
    let mut first = join(&running, "whoever", &token).await.unwrap();
    let called = play(&mut first, 0, |client, event| match event {
        Some(MatchEvent::Joined { player, name }) if Some(player) == client.session().player() => {
            Some(name)
        }
        _ => None,
    });
    assert_eq!(called.await.unwrap(), name("player 7"), "the token decides the name");
    for (seconds, servers, key) in [
        (60, vec!["192.0.2.1:4433".to_owned()], &key),
        (0, vec![], &key),
        (60, vec![], &JoinKey::generate().unwrap()),
    ] {
        let wrong = by(key.seal(&claims(8, &servers), now() + seconds).unwrap());
        assert_eq!(refusal(join(&running, "x", &wrong).await), RefusalReason::BadToken);
    }
    assert_eq!(refusal(join(&running, "again", &token).await), RefusalReason::BadToken);

    // The last place is reserved, so the server is full for a plain token.
    let plain = by(key.seal(&claims(9, &[]), now() + 60).unwrap());
    assert_eq!(refusal(join(&running, "x", &plain).await), RefusalReason::Full { limit: 1 });
    let reserved = TokenClaims { reserved: true, ..claims(10, &[]) };
    let reserved = by(key.seal(&reserved, now() + 60).unwrap());
    let second = join(&running, "x", &reserved).await.unwrap();

    // If the same player joins again, the newer connection wins and gets the same body.
    let body = first.session().player();
    let newer = by(key.seal(&claims(7, &[]), now() + 60).unwrap());
    let newer = join(&running, "x", &newer).await.unwrap();
    assert_eq!(newer.session().player(), body);
    assert!(matches!(lost(&mut first, 0).await, Disconnected::Closed(ClosingReason::Replaced)));
    drop((second, newer, first));
    end(running).await;
}
