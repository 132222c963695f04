//! Queries of server browsers by A2S.

use obsp_client::Credentials;
use std::net::{SocketAddr, UdpSocket};

use a2s::A2SClient;
use server::{AdminOptions, Options, Server};

use crate::{HANG, end, join, options};

/// Sends a question to the query port, and returns the answer.
fn query(socket: &UdpSocket, port: SocketAddr, question: &[u8]) -> Vec<u8> {
    socket.set_read_timeout(Some(HANG)).unwrap();
    socket.send_to(question, port).unwrap();
    let mut answer = [0; 2048];
    let (length, from) = socket.recv_from(&mut answer).unwrap();
    assert_eq!(from, port);
    answer[..length].to_vec()
}

#[tokio::test]
async fn a_server_browser_sees_the_server_once_it_has_proven_its_address() {
    let any_port = Some("127.0.0.1:0".parse().unwrap());
    let admin = AdminOptions { query: any_port, ..AdminOptions::default() };
    let running = Server::start(&Options { admin, ..options(8) }).unwrap();
    let player = join(&running, "Ann", &Credentials::default()).await.unwrap();
    let port = running.query_addr().unwrap();
    let game_port = running.local_addr().port();
    let asked = tokio::task::spawn_blocking(move || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let info = b"\xff\xff\xff\xffTSource Engine Query\0";
        let challenge = query(&socket, port, info);
        assert_eq!((challenge.len(), &challenge[..5]), (9, &b"\xff\xff\xff\xffA"[..]));
        let proof = &challenge[5..];
        let answer = query(&socket, port, &[&info[..], proof].concat());
        let begin =
            [&b"\xff\xff\xff\xffI\x11Arena\0arena\0arena\0Arena\0\0\0"[..], &[1, 8, 0]].concat();
        assert!(answer.starts_with(&begin), "{answer:?}");
        assert!(answer.ends_with(&game_port.to_le_bytes()));
        let players = query(&socket, port, &[&b"\xff\xff\xff\xffU"[..], proof].concat());
        assert!(players.starts_with(b"\xff\xff\xff\xffD\x01\0Ann\0\0\0\0\0"), "{players:?}");
        // Another address gets a challenge, not an answer, for the same proof.
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let refused = query(&other, port, &[&info[..], proof].concat());
        assert_eq!(refused.len(), 9, "{refused:?}");
    });
    asked.await.unwrap();
    drop(player);
    end(running).await;
}

/// A client library for server browsers, written by others, reads the answers.
#[tokio::test]
async fn a_client_library_of_others_reads_the_answers() {
    let any_port = Some("127.0.0.1:0".parse().unwrap());
    let admin = AdminOptions { query: any_port, ..AdminOptions::default() };
    let running = Server::start(&Options { admin, ..options(8) }).unwrap();
    let names = ["Ann", "J\u{fc}rgen"];
    let mut players = Vec::new();
    for name in names {
        players.push(join(&running, name, &Credentials::default()).await.unwrap());
    }
    let (port, game_port) = (running.query_addr().unwrap(), running.local_addr().port());
    let asked = tokio::task::spawn_blocking(move || {
        let mut client = A2SClient::new().unwrap();
        client.set_timeout(HANG).unwrap();
        (client.info(port).unwrap(), client.players(port).unwrap())
    });
    let (info, told) = asked.await.unwrap();
    assert_eq!((info.map.as_str(), info.players, info.max_players), ("arena", 2, 8));
    assert_eq!((info.visibility, info.vac, info.bots), (false, false, 0), "{info:?}");
    assert_eq!(info.extended_server_info.port, Some(game_port));
    let mut told_names: Vec<_> = told.iter().map(|player| player.name.as_str()).collect();
    told_names.sort();
    assert_eq!(told_names, names);
    assert!(told.iter().all(|player| player.score == 0 && player.duration < 60.0), "{told:?}");
    drop(players);
    end(running).await;
}
