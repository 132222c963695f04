//! With `--max-spectators 0`, only the players of a match and the operators may see it.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Instant;

use obsp_client::quic::{Connector, Trust};
use obsp_proto::control::{MapHash, PlayerName};
use serde_json::Value;
use server::{Options, PageOptions, Server};
use tests::harness::pages::{Answer, connect_from, encrypt, get, get_encrypted, read_answer};

use crate::pages::{HANG, OTHER, STRANGER, end, example, options};

/// The answer of the public page to a visitor at this address.
async fn asked_by(source: IpAddr, running: &Server, path: &str) -> Answer {
    let (address, pin) = (running.page_addr().unwrap(), running.certificate_sha256().0);
    let stream = connect_from(source, address).await.unwrap();
    read_answer(encrypt(stream, address, pin).await.unwrap(), path, "").await
}

/// Case: in spite of `--max-spectators 0`, `/effects/0` told where shooters were nine ticks ago.
#[tokio::test]
async fn no_route_tells_a_stranger_of_a_closed_match() {
    let running = Server::start(&Options { max_spectators: 0, ..options() }).unwrap();
    let map = running.map_hash().to_string();
    let routes = server::public_routes();
    assert!(routes.len() > 10 && routes.iter().any(|(_, is_refused)| *is_refused));
    for (route, is_refused) in routes {
        let path = example(route, &map);
        let answer = asked_by(STRANGER, &running, &path).await;
        assert_eq!(answer.status == 403, is_refused, "{path}: {}", answer.status);
        if is_refused {
            assert!(answer.body.contains("this match is closed"), "{path}: {}", answer.body);
            assert_ne!(get(running.http_addr(), &path).await.status, 403, "{path}");
        }
    }
    for path in server::operators_routes() {
        assert_eq!(asked_by(STRANGER, &running, path).await.status, 404, "{path}");
        assert_ne!(get(running.http_addr(), path).await.status, 404, "{path}");
    }
    let info: Value =
        serde_json::from_str(&asked_by(STRANGER, &running, "/info").await.body).unwrap();
    assert_eq!((&info["players"], &info["matches"][0]["players"]), (&Value::Null, &Value::Null));
    let info: Value = serde_json::from_str(&get(running.http_addr(), "/info").await.body).unwrap();
    assert_eq!((&info["players"], &info["matches"][0]["players"]), (&0.into(), &0.into()));
    end(running).await;

    // An open match tells strangers all that spectators see.
    let running = Server::start(&options()).unwrap();
    for (route, _) in server::public_routes() {
        let path = example(route, &map);
        assert_ne!(asked_by(STRANGER, &running, &path).await.status, 403, "{path}");
    }
    end(running).await;
}

/// The page of a player in a closed match draws shots, too. So the server sends the shots to an
/// address with a player in the match, and to no other.
#[tokio::test]
async fn a_player_of_a_closed_match_is_told_what_its_client_knows_anyway() {
    // Loopback is not exempt here, so the server sends shots only because a player has this
    // address.
    let addresses = server::AddressOptions {
        address_exempt: vec!["192.0.2.1".parse().unwrap()],
        ..server::AddressOptions::default()
    };
    let running = Server::start(&Options { max_spectators: 0, addresses, ..options() }).unwrap();
    let own = IpAddr::V4(Ipv4Addr::LOCALHOST);
    assert_eq!(asked_by(own, &running, "/effects/0").await.status, 403);
    let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
    let client = connector.join(&PlayerName::new("Ann").unwrap(), MapHash::ANY).await.unwrap();
    assert_eq!(asked_by(own, &running, "/effects/0").await.status, 200);
    assert_eq!(asked_by(OTHER, &running, "/effects/0").await.status, 403);
    client.leave().await;
    let begin = Instant::now();
    while asked_by(own, &running, "/effects/0").await.status != 403 {
        assert!(begin.elapsed() < HANG, "somebody who has left still sees the match");
    }
    end(running).await;
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("arena-closed-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Case: `/replays/` served the recording in progress where `--record` writes into `--replay-dir`.
#[tokio::test]
async fn the_recording_in_progress_is_for_operators_unless_they_say_otherwise() {
    let folder = folder("running");
    std::fs::write(folder.join("earlier.obsr"), b"OBSR and more").unwrap();
    let recorded = |name: &str, max_spectators, replay_running| Options {
        record: Some(folder.join(name)),
        pages: PageOptions { replay_dir: Some(folder.clone()), replay_running, ..options().pages },
        max_spectators,
        ..options()
    };
    let names = |list: &str| -> Vec<String> {
        let list: Vec<Value> = serde_json::from_str(list).unwrap();
        let mut names: Vec<_> =
            list.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    for (name, max_spectators, replay_running, is_offered) in
        [("a.obsr", 16, false, false), ("b.obsr", 0, true, false), ("c.obsr", 16, true, true)]
    {
        let running = Server::start(&recorded(name, max_spectators, replay_running)).unwrap();
        let (address, pin) = (running.page_addr().unwrap(), running.certificate_sha256().0);
        let public = names(&get_encrypted(address, pin, "/replays").await.body);
        assert_eq!(public.contains(&name.to_owned()), is_offered, "{name}: {public:?}");
        assert!(public.contains(&"earlier.obsr".to_owned()), "{public:?}");
        let path = format!("/replays/{name}");
        let status = get_encrypted(address, pin, &path).await.status;
        assert_eq!(status, if is_offered { 200 } else { 404 }, "{name}");
        let own = names(&get(running.http_addr(), "/replays").await.body);
        assert!(own.contains(&name.to_owned()), "{own:?}");
        assert_eq!(get(running.http_addr(), &path).await.status, 200);
        end(running).await;
    }
    // Once the recording is finished, everybody may play it.
    let running = Server::start(&recorded("d.obsr", 16, false)).unwrap();
    let (address, pin) = (running.page_addr().unwrap(), running.certificate_sha256().0);
    assert_eq!(get_encrypted(address, pin, "/replays/a.obsr").await.status, 200);
    end(running).await;
    std::fs::remove_dir_all(folder).unwrap();
}
