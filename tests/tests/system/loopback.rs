//! The whole system at once: a real server, real clients and real QUIC on
//! loopback. Every server takes free ports, so tests run side by side.

use std::net::SocketAddr;
use std::time::Duration;

use client_bot::swarm::Swarm;
use obsp_client::Disconnected;
use obsp_client::quic::{Authority, Client, Connector, JoinError, Trust};
use obsp_proto::PROTOCOL_VERSION;
use obsp_proto::control::{
    ChatLine, ClientHello, ClientMessage, ClosingReason, Framer, MAX_SERVER_FRAME, MapHash,
    MatchEvent, PlayerName, RefusalReason, ServerMessage, decode_server_message,
    encode_client_message,
};
use server::replay::{ReplayOptions, replay};
use server::{JoiningOptions, Options, PageOptions, Server};
use tests::harness;
use tests::harness::pages::{get, metric};
use tokio::time::timeout;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

/// Time for which the bots play.
const MATCH: Duration = Duration::from_secs(4);

/// Position of the version in a framed hello: after the length and the tag.
const VERSION_BYTE: usize = 3;

fn options(max_players: u16) -> Options {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = harness::own_map("arena.map");
    Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        max_players,
        ..Options::new(map.to_string_lossy())
    }
}

fn serve(max_players: u16) -> Server {
    Server::start(&options(max_players)).unwrap()
}

/// Ends the server. The clients' tasks go on meanwhile, because they must answer the server's
/// goodbyes.
async fn end(running: Server) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

fn name(text: &str) -> PlayerName {
    PlayerName::new(text).unwrap()
}

fn connector(running: &Server) -> Connector {
    Connector::new(running.local_addr(), Trust::Loopback).unwrap()
}

async fn join(running: &Server, text: &str) -> Result<Client, JoinError> {
    connector(running).join(&name(text), MapHash::ANY).await
}

/// The server's first message to a client that begins its control stream with these bytes.
async fn answer_to(running: &Server, beginning: &[u8]) -> Option<ServerMessage> {
    let connection = connector(running).connect().await.unwrap();
    let (mut send, mut receive) = connection.open_bi().await.unwrap();
    send.write_all(beginning).await.unwrap();
    let mut framer = Framer::new(MAX_SERVER_FRAME);
    let mut bytes = [0; 2048];
    loop {
        let length = timeout(HANG, receive.read(&mut bytes)).await.unwrap().ok()??;
        if let Some(content) = framer.next_frame(&mut &bytes[..length]).unwrap() {
            return Some(decode_server_message(&content).unwrap());
        }
    }
}

#[tokio::test]
async fn eight_bots_play_and_see_what_the_server_means_and_it_replays() {
    let recording = std::env::temp_dir().join(format!("eight-bots-{}.obsr", std::process::id()));
    // No body stays in the match when its player leaves, so the last metrics are of an empty match.
    let joining = JoiningOptions { combat_time: Duration::ZERO, ..JoiningOptions::default() };
    let options = Options { record: Some(recording.clone()), objects: 40, joining, ..options(8) };
    let running = Server::start(&options).unwrap();
    let swarm = Swarm { duration: Some(MATCH), ..Swarm::new(running.local_addr(), 8) };
    // The metrics are read once all bots play. The time that they need to join depends on the
    // machine's load.
    let (all_play, mut play) = tokio::sync::watch::channel(false);
    let looking = async {
        play.wait_for(|all| *all).await.unwrap();
        loop {
            let page = get(running.http_addr(), "/metrics").await.body;
            let accepted = metric(&page, "game_commands_total{outcome=\"accepted\"}");
            if metric(&page, "game_snapshots_total") > 8.0 * 20.0 && accepted > 8.0 * 10.0 {
                return (page, get(running.http_addr(), "/healthz").await.status);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let playing = swarm.run(std::future::pending(), |status| {
        all_play.send_replace(status.playing == 8);
    });
    let (report, looked) = tokio::join!(playing, timeout(HANG, looking));
    let (page, health) = looked.unwrap();

    let report = report.unwrap();
    assert!(report.passed(), "{report}");
    assert_eq!((report.joined, report.dropped, report.digest_mismatches), (8, 0, 0), "{report}");
    // A digest comes with every sixteenth snapshot, about four times a second for each bot. Here
    // other tests share the CPU, so the bar is low; `.ci/run` judges the full rate.
    assert!(report.digests >= 8 * 2, "{report}");
    assert!((8.0..66.0).contains(&report.snapshots_per_second.min), "{report}");
    assert!(report.entities_seen_min >= running.props() + 8, "{report}");
    assert!(running.props() >= 60);

    assert_eq!(health, 200);
    assert!(page.contains("game_build_info"), "{page}");
    assert_eq!(metric(&page, "game_players"), 8.0);
    assert_eq!(metric(&page, "game_entities{kind=\"player\"}"), 8.0);
    assert_eq!(metric(&page, "game_emergency_replacements_total"), 0.0);

    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_disconnects_total{reason=\"left\"}"), 8.0);
    assert_eq!(metric(&page, "game_players"), 0.0);
    end(running).await;

    // The recording of the match leads to the same digests, tick by tick.
    let map = Some(harness::own_map("arena.obsp").to_string_lossy().into_owned());
    let options = ReplayOptions { map, ..ReplayOptions::new(&recording) };
    let replayed = replay(&options).unwrap();
    std::fs::remove_file(recording).unwrap();
    assert_eq!(replayed.difference, None, "{replayed}");
    assert!(replayed.verified > 60, "{replayed}");
}

#[tokio::test]
async fn chat_reaches_all_players_in_order() {
    let running = serve(2);
    let (mut one, mut other) =
        (join(&running, "one").await.unwrap(), join(&running, "other").await.unwrap());
    let speaker = one.session().player().unwrap();
    for line in ["hello", "and goodbye"] {
        one.say(ChatLine::new(line).unwrap());
    }
    for client in [&mut one, &mut other] {
        let mut heard = Vec::new();
        let hearing = async {
            while heard.len() < 2 {
                client.next().await.unwrap();
                while let Some((_, event)) = client.next_event() {
                    if let MatchEvent::Said { player, line } = event {
                        assert_eq!(player, speaker);
                        heard.push(line.to_string());
                    }
                }
            }
        };
        timeout(HANG, hearing).await.unwrap();
        assert_eq!(heard, ["hello", "and goodbye"]);
    }
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_chat_lines_total"), 2.0);
    one.leave().await;
    other.leave().await;
    end(running).await;
}

#[tokio::test]
async fn a_banned_player_is_refused() {
    let ban = vec!["127.0.0.1".parse().unwrap()];
    let running = Server::start(&Options { ban, ..options(1) }).unwrap();
    let refused = join(&running, "banned").await.unwrap_err();
    assert!(matches!(refused, JoinError::Connection(_)), "{refused}");
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_refusals_total{reason=\"banned\"}"), 1.0);
    assert_eq!(metric(&page, "game_connections{state=\"opening\"}"), 0.0);
    end(running).await;
}

#[tokio::test]
async fn a_server_is_believed_by_the_authority_that_vouches_for_it() {
    let folder = std::env::temp_dir().join(format!("authority-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name);
    let made = rcgen::generate_simple_self_signed(["arena.example".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["arena.example".to_owned()]).unwrap();
    std::fs::write(file("own.pem"), harness::pem("CERTIFICATE", made.cert.der())).unwrap();
    std::fs::write(file("key.pem"), harness::pem("PRIVATE KEY", &made.signing_key.serialize_der()))
        .unwrap();
    std::fs::write(file("other.pem"), harness::pem("CERTIFICATE", other.cert.der())).unwrap();
    let with = |cert: &str, key: &str| {
        Server::start(&Options { cert: Some(file(cert)), key: Some(file(key)), ..options(1) })
    };
    for (cert, key, wrong) in
        [("key.pem", "own.pem", "key.pem"), ("own.pem", "none.pem", "none.pem")]
    {
        let error = with(cert, key).unwrap_err().to_string();
        assert!(error.contains(wrong), "{error}");
    }
    let running = with("own.pem", "key.pem").unwrap();
    let join = async |authority: &str, server_name: &str| {
        let authority = Authority::read(&file(authority), server_name).unwrap();
        let connector = Connector::new(running.local_addr(), Trust::Authority(authority)).unwrap();
        connector.join(&name("a"), MapHash::ANY).await
    };
    let refused = |joined| matches!(joined, Err(JoinError::Connection(_)));
    assert!(
        refused(join("other.pem", "arena.example").await),
        "a certificate of another authority is accepted"
    );
    assert!(
        refused(join("own.pem", "elsewhere.example").await),
        "a certificate for another name is accepted"
    );
    join("own.pem", "arena.example").await.unwrap().leave().await;
    end(running).await;
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_full_server_says_so_until_somebody_leaves() {
    let running = serve(1);
    let first = join(&running, "first").await.unwrap();
    let refused = join(&running, "second").await.unwrap_err();
    let full = RefusalReason::Full { limit: 1 };
    assert!(matches!(&refused, JoinError::Refused(reason) if *reason == full), "{refused}");
    first.leave().await;
    // The server has answered the goodbye, so the place is free by the next tick.
    join(&running, "third").await.unwrap().leave().await;
    end(running).await;
}

#[tokio::test]
async fn a_client_that_vanishes_frees_its_place() {
    let running = serve(1);
    // The client is dropped without a goodbye, so QUIC closes the connection.
    drop(join(&running, "first").await.unwrap());
    let again = async {
        while let Err(error) = join(&running, "second").await {
            assert!(matches!(error, JoinError::Refused(RefusalReason::Full { .. })), "{error}");
        }
    };
    timeout(HANG, again).await.unwrap();
    end(running).await;
}

#[tokio::test]
async fn another_map_is_refused_by_name() {
    let running = serve(1);
    let other = MapHash([7; 32]);
    let refused = connector(&running).join(&name("a"), other).await.unwrap_err();
    let JoinError::Refused(RefusalReason::WrongMap { server, name: map }) = refused else {
        panic!("{refused}");
    };
    assert_eq!((server, map.as_str()), (running.map_hash(), "arena"));
    let right = connector(&running).join(&name("a"), running.map_hash()).await;
    right.unwrap().leave().await;
    end(running).await;
}

#[tokio::test]
async fn another_version_is_refused_and_told_which_is_right() {
    let running = serve(1);
    let hello = ClientMessage::Hello(ClientHello::new(MapHash::ANY, &name("old")));
    let mut bytes = encode_client_message(&hello);
    assert_eq!(u32::from(bytes[VERSION_BYTE]), PROTOCOL_VERSION);
    bytes[VERSION_BYTE] += 1;
    let expected = RefusalReason::WrongVersion { server: PROTOCOL_VERSION };
    assert_eq!(answer_to(&running, &bytes).await, Some(ServerMessage::Refused(expected)));
    end(running).await;
}

#[tokio::test]
async fn an_unfit_name_is_refused() {
    let running = serve(1);
    let hello = ClientMessage::Hello(ClientHello::new(MapHash::ANY, &name("bell")));
    let mut bytes = encode_client_message(&hello);
    let at = bytes.windows(4).position(|four| four == b"bell").unwrap();
    bytes[at] = 0x07;
    let expected = ServerMessage::Refused(RefusalReason::BadName);
    assert_eq!(answer_to(&running, &bytes).await, Some(expected));
    end(running).await;
}

#[tokio::test]
async fn a_client_that_breaks_the_protocol_is_dropped_and_nobody_else_notices() {
    let running = serve(2);
    let mut good = join(&running, "good").await.unwrap();
    // After a frame above every limit, the server closes the connection without an answer.
    assert_eq!(answer_to(&running, &[0xff, 0xff, 0]).await, None);
    // A player who sends a datagram that is not a command loses the place.
    let hello = ClientMessage::Hello(ClientHello::new(MapHash::ANY, &name("bad")));
    let connection = connector(&running).connect().await.unwrap();
    let (mut send, _receive) = connection.open_bi().await.unwrap();
    send.write_all(&encode_client_message(&hello)).await.unwrap();
    // After the first snapshot the player is in the match.
    timeout(HANG, connection.read_datagram()).await.unwrap().unwrap();
    connection.send_datagram(vec![0xff; 40].into()).unwrap();
    timeout(HANG, connection.closed()).await.unwrap();

    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_disconnects_total{reason=\"malformed\"}"), 1.0);
    assert_eq!(metric(&page, "game_refusals_total{reason=\"malformed\"}"), 1.0);
    for _ in 0..30 {
        timeout(HANG, good.next()).await.unwrap().unwrap();
    }
    good.leave().await;
    end(running).await;
}

#[tokio::test]
async fn a_server_that_stops_tells_its_clients() {
    let running = serve(1);
    let mut client = join(&running, "last").await.unwrap();
    running.shutdown();
    let told = async {
        loop {
            if let Err(lost) = client.next().await {
                return lost;
            }
        }
    };
    let lost = timeout(HANG, told).await.unwrap();
    assert!(matches!(lost, Disconnected::Closed(ClosingReason::ShuttingDown)), "{lost}");
    drop(client);
    end(running).await;
}

#[tokio::test]
async fn only_the_pinned_server_is_believed() {
    let running = serve(1);
    let own = running.certificate_sha256().to_string();
    let other = own.chars().rev().collect::<String>();
    let join = async |pin: &str| {
        let trust = Trust::Pin(pin.parse().unwrap());
        let connector = Connector::new(running.local_addr(), trust).unwrap();
        connector.join(&name("a"), MapHash::ANY).await
    };
    assert!(matches!(join(&other).await, Err(JoinError::Connection(_))));
    join(&own).await.unwrap().leave().await;
    end(running).await;
}

#[tokio::test]
async fn a_server_whose_time_is_over_ends_by_itself() {
    let duration = Some(Duration::from_millis(200));
    let running = Server::start(&Options { duration, ..options(1) }).unwrap();
    timeout(HANG, running.ending()).await.unwrap();
    running.join().unwrap();
}

#[test]
fn a_server_that_cannot_start_says_what_to_do() {
    let running = serve(1);
    let taken = Options { listen: vec![running.local_addr()], ..options(1) };
    let error = Server::start(&taken).unwrap_err().to_string();
    assert!(error.contains("--listen") && error.contains("another program"), "{error}");
    assert!(error.contains("another option of this server"), "{error}");
    let taken = Options { pages: PageOptions::at(running.http_addr()), ..options(1) };
    let error = Server::start(&taken).unwrap_err().to_string();
    assert!(error.contains("--http"), "{error}");
    let error = Server::start(&Options::new("nowhere.obsp")).unwrap_err().to_string();
    assert!(error.contains("nowhere.obsp") && error.contains("arena"), "{error}");
    let many = Options { objects: 5000, ..options(1) };
    let error = Server::start(&many).unwrap_err().to_string();
    assert!(error.contains("--objects"), "{error}");
}
