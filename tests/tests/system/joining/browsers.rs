//! Queries of server browsers, in the protocol A2S.

mod others;

use obsp_client::Credentials;
use obsp_client::quic::Client;
use std::net::{SocketAddr, UdpSocket};

use a2s::A2SClient;
use server::{IntroductionOptions, Options, QueryOptions, Server};

use crate::joining::{HANG, end, join, options};

/// The query for the server's own entry in a list, `A2S_INFO`.
const INFO: &[u8] = b"\xff\xff\xff\xffTSource Engine Query\0";

/// The options of a server that answers queries at a port of its own.
fn queried(max_players: u16) -> Options {
    let any_port = vec!["127.0.0.1:0".parse().unwrap()];
    let query = QueryOptions { query: any_port };
    Options { query, ..options(max_players) }
}

/// A server with `count` players. Each name has 20 characters of three bytes, and two digits.
async fn crowd(options: &Options, count: usize) -> (Server, Vec<Client>) {
    let running = Server::start(options).unwrap();
    let mut players = Vec::new();
    for number in 0..count {
        players.push(join(&running, &long_name(number), &Credentials::default()).await.unwrap());
    }
    (running, players)
}

fn long_name(number: usize) -> String {
    // The characters differ from name to name, so that no name looks like another.
    let first = 0x4e00 + 64 * number as u32;
    let characters = (first..first + 20).filter_map(char::from_u32);
    format!("{}{number:02}", characters.collect::<String>())
}

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
    let (running, _) = crowd(&queried(8), 0).await;
    let player = join(&running, "Ann", &Credentials::default()).await.unwrap();
    let port = running.query_addr().unwrap();
    let game_port = running.local_addr().port();
    let asked = tokio::task::spawn_blocking(move || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let challenge = query(&socket, port, INFO);
        assert_eq!((challenge.len(), &challenge[..5]), (9, &b"\xff\xff\xff\xffA"[..]));
        let proof = &challenge[5..];
        let answer = query(&socket, port, &[INFO, proof].concat());
        let begin =
            [&b"\xff\xff\xff\xffI\x11Arena\0arena\0arena\0Arena\0\0\0"[..], &[1, 8, 0]].concat();
        assert!(answer.starts_with(&begin), "{answer:?}");
        // The flags say that a port and tags follow.
        let rest = [&[0xa0][..], &game_port.to_le_bytes(), b"60hz,spectators\0"].concat();
        assert!(answer.ends_with(&rest), "{answer:?}");
        let players = query(&socket, port, &[&b"\xff\xff\xff\xffU"[..], proof].concat());
        assert!(players.starts_with(b"\xff\xff\xff\xffD\x01\0Ann\0\0\0\0\0"), "{players:?}");
        // Another address gets a challenge, not an answer, for the same proof.
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        for letter in [b"U", b"V"] {
            let refused = query(&other, port, &[&b"\xff\xff\xff\xff"[..], letter, proof].concat());
            assert_eq!(refused.len(), 9, "{refused:?}");
        }
        let refused = query(&other, port, &[INFO, proof].concat());
        assert_eq!(refused.len(), 9, "{refused:?}");
    });
    asked.await.unwrap();
    drop(player);
    end(running).await;
}

/// Case query-rules-silent: the server did not answer queries for rules, queries that were padded
/// with zeros to 1,200 bytes, and queries at the game's own port.
#[tokio::test]
async fn query_rules_silent() {
    let introduction = IntroductionOptions {
        name: Some("Ann's hall".parse().unwrap()),
        motd: Some("Be kind".parse().unwrap()),
    };
    let (running, players) = crowd(&Options { introduction, ..queried(8) }, 1).await;
    let ports = [running.query_addr().unwrap(), running.local_addr()];
    let asked = tokio::task::spawn_blocking(move || {
        for port in ports {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let padded = [INFO, &[0; 1175]].concat();
            assert_eq!(padded.len(), 1200);
            let challenge = query(&socket, port, &padded);
            let proof = &challenge[5..];
            for question in [[INFO, proof, &[0; 1171]].concat(), [INFO, &[0; 1171], proof].concat()]
            {
                let answer = query(&socket, port, &question);
                assert!(answer.starts_with(b"\xff\xff\xff\xffI\x11Ann's hall\0arena\0"), "{port}");
            }
            let rules = query(&socket, port, &[&b"\xff\xff\xff\xffV"[..], proof].concat());
            assert!(rules.starts_with(b"\xff\xff\xff\xffE"), "{rules:?}");
            let mut client = A2SClient::new().unwrap();
            client.set_timeout(HANG).unwrap();
            let rules = client.rules(port).unwrap();
            let value = |name: &str| {
                let rule = rules.iter().find(|rule| rule.name == name);
                rule.unwrap_or_else(|| panic!("no rule {name}")).value.clone()
            };
            for (name, expected) in [
                ("motd", "Be kind"),
                ("map", "arena"),
                ("game", "Arena"),
                ("tick_rate", "60"),
                ("players", "1"),
                ("players_max", "8"),
                ("sv_password", "0"),
                ("phase", "playing"),
                ("version", env!("CARGO_PKG_VERSION")),
                ("tags", "60hz,spectators"),
            ] {
                assert_eq!(value(name), expected, "{name}");
            }
        }
    });
    asked.await.unwrap();
    drop(players);
    end(running).await;
}

/// Without `--query` the game's port does not answer queries either, so the server is in no list.
#[tokio::test]
async fn without_the_option_no_query_is_answered() {
    let (running, players) = crowd(&options(8), 1).await;
    assert_eq!(running.query_addr(), None);
    let port = running.local_addr();
    let asked = tokio::task::spawn_blocking(move || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_millis(300))).unwrap();
        socket.send_to(INFO, port).unwrap();
        assert!(socket.recv_from(&mut [0; 64]).is_err());
    });
    asked.await.unwrap();
    drop(players);
    end(running).await;
}

/// Case query-rules-silent: the server did not start with `--query` on the port of `--listen`.
#[tokio::test]
async fn the_port_of_the_game_may_be_the_query_port() {
    // A port that was free a moment ago.
    let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let query = QueryOptions { query: vec![free] };
    let (running, players) = crowd(&Options { listen: vec![free], query, ..options(8) }, 2).await;
    assert_eq!((running.local_addr(), running.query_addr()), (free, Some(free)));
    let asked = tokio::task::spawn_blocking(move || {
        let mut client = A2SClient::new().unwrap();
        client.set_timeout(HANG).unwrap();
        (client.info(free).unwrap(), client.players(free).unwrap())
    });
    let (info, told) = asked.await.unwrap();
    assert_eq!((info.players, told.len()), (2, 2));
    drop(players);
    end(running).await;
}

/// A client library of another project reads the answers.
#[tokio::test]
async fn a_client_library_of_others_reads_the_answers() {
    let running = Server::start(&queried(8)).unwrap();
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

/// Case query-player-list-cut: only 16 of 28 players with long names were listed.
#[tokio::test]
async fn query_player_list_cut() {
    let (running, players) = crowd(&queried(32), 32).await;
    let ports = [running.query_addr().unwrap(), running.local_addr()];
    let asked = tokio::task::spawn_blocking(move || {
        ports.map(|port| {
            let mut client = A2SClient::new().unwrap();
            client.set_timeout(HANG).unwrap();
            (client.info(port).unwrap(), client.players(port).unwrap())
        })
    });
    let expected: Vec<_> = (0..32).map(long_name).collect();
    for (info, told) in asked.await.unwrap() {
        assert_eq!((info.players, info.max_players), (32, 32));
        let mut names: Vec<_> = told.into_iter().map(|player| player.name).collect();
        names.sort();
        assert_eq!(names, expected);
    }
    drop(players);
    end(running).await;
}
