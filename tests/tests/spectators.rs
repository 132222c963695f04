//! Spectators as a browser comes: over WebTransport, on the players' own port.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use client_bot::Client;
use client_bot::client::{Connector, Occasion, Trust};
use proto::client::{Event, Session};
use proto::control::{MapHash, PlayerName, RefusalReason};
use proto::quantise::QuantisedEntity;
use proto::{Tick, Time};
use server::{Options, Running, Server};
use sim::Command;
use tests::harness;
use tests::harness::pages::{get, metric};
use tokio::time::timeout;
use web_transport_quinn::{ClientBuilder, RecvStream, SendStream, Session as WebSession};

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

/// How long spectators look on.
const LOOK: Duration = Duration::from_secs(2);

fn serve(options: Options) -> Running {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    Server::start(&Options { listen: any_port, http: any_port, ..options }).unwrap()
}

fn options() -> Options {
    Options::new(harness::own_map("arena.obsp").to_string_lossy())
}

async fn end(running: Running) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

/// A spectator with the sessions of `proto`, over WebTransport.
struct Spectator {
    web: WebSession,
    send: SendStream,
    receive: RecvStream,
    session: Session,
    epoch: Instant,
}

impl Spectator {
    /// Comes to see the match, and hears whether it may.
    async fn come(running: &Running) -> Result<Self, RefusalReason> {
        let hash = running.certificate_sha256().to_string();
        let byte = |i: usize| u8::from_str_radix(&hash[2 * i..2 * i + 2], 16).unwrap();
        let client =
            ClientBuilder::new().with_server_certificate_hashes(vec![(0..32).map(byte).collect()]);
        let url = format!("https://127.0.0.1:{}/", running.local_addr().port());
        let url: url::Url = url.parse().unwrap();
        let web = timeout(HANG, client.unwrap().connect(url)).await.unwrap().unwrap();
        let (send, receive) = web.open_bi().await.unwrap();
        let name = PlayerName::new("spectator").unwrap();
        let session = Session::new(&name, MapHash::ANY, Time::ZERO);
        let mut this = Self { web, send, receive, session, epoch: Instant::now() };
        while this.session.hello().is_none() {
            this.say().await;
            for event in this.hear().await {
                if let Event::Refused(reason) = event {
                    return Err(reason);
                }
            }
        }
        Ok(this)
    }

    fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }

    async fn say(&mut self) {
        let output = self.session.stream_output();
        self.send.write_all(&output).await.unwrap();
    }

    async fn hear(&mut self) -> Vec<Event> {
        let mut chunk = [0; 2048];
        let length = timeout(HANG, self.receive.read(&mut chunk)).await.unwrap().unwrap();
        self.session.receive_stream(self.now(), &chunk[..length.unwrap_or(0)]).unwrap()
    }

    /// The next snapshot's tick and whether its digest agreed, if it had one;
    /// acknowledged.
    async fn see(&mut self) -> (Tick, Option<bool>) {
        loop {
            let datagram = timeout(HANG, self.web.read_datagram()).await.unwrap().unwrap();
            let now = self.now();
            let Some(snapshot) = self.session.receive_datagram(now, &datagram).unwrap() else {
                continue;
            };
            if let Some(sent) = self.session.command(now, Command::default(), None) {
                self.web.send_datagram(sent.datagram.into()).unwrap();
            }
            return (snapshot.tick, snapshot.digest_agrees);
        }
    }

    fn holds(&self) -> BTreeMap<u16, QuantisedEntity> {
        (0..4096).filter_map(|slot| Some((slot, *self.session.quantised(slot)?))).collect()
    }
}

async fn player(running: &Running) -> Client {
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
            if let Occasion::CommandDue = timeout(HANG, player.next()).await.unwrap().unwrap() {
                player.command(Command { forward: 127, ..Command::default() });
            }
        }
        player
    });
    let mut spectator = Spectator::come(&running).await.expect("a full server shows itself");
    let hello = spectator.session.hello().unwrap();
    assert_eq!((hello.player, hello.snapshot_rate), (None, NonZeroU16::new(20).unwrap()));

    let begin = Instant::now();
    let (mut snapshots, mut digests) = (0, 0);
    while begin.elapsed() < LOOK {
        let (_, agrees) = spectator.see().await;
        assert_ne!(agrees, Some(false));
        snapshots += 1;
        digests += usize::from(agrees.is_some());
    }
    let expected = 20 * LOOK.as_secs() as usize;
    assert!((expected / 2..=expected + 2).contains(&snapshots), "{snapshots} snapshots");
    assert!(digests > 0);
    let seen = spectator.holds();
    assert!(seen.len() > running.props(), "{} of {}", seen.len(), running.props() + 1);

    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_players"), 1.0);
    assert_eq!(metric(&page, "game_connections{state=\"watching\"}"), 1.0);
    plays.await.unwrap().leave().await;
    end(running).await;
}

#[tokio::test]
async fn spectators_have_a_limit_of_their_own() {
    let running = serve(Options { max_spectators: 1, ..options() });
    let first = Spectator::come(&running).await.expect("the first");
    let refused = Spectator::come(&running).await.err();
    assert_eq!(refused, Some(RefusalReason::Full { limit: 1 }));
    drop(first);
    let again = async { while Spectator::come(&running).await.is_err() {} };
    timeout(HANG, again).await.unwrap();
    end(running).await;
}
