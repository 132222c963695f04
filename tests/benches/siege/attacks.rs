//! The attacks, each as strong as one machine can make it.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use obsp_proto::Tick;
use tests::harness::pages::connect_from;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;

use crate::attacker::{Attacker, GAME, Intruder, command, unknown_capsule};
use crate::frames::{self, Frames};
use crate::page::{PublicPage, hold, newcomer, page_downloads, unfinished_heads};

/// The server under attack, by its addresses.
#[derive(Clone)]
pub(crate) struct Target {
    /// The address at which players join.
    pub(crate) udp: SocketAddr,
    /// The address of the HTTP pages.
    pub(crate) http: SocketAddr,
    /// The public page.
    pub(crate) page: PublicPage,
    /// The attackers' own address, or the first of several.
    pub(crate) source: Ipv4Addr,
}

/// An attack, by the name of its row.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// A description, printed below the table.
    pub(crate) what: &'static str,
    /// The number of attackers.
    count: u16,
    /// The number of addresses that they have together.
    addresses: u8,
    one: One,
}

/// The action that one attacker repeats.
#[derive(Clone, Copy)]
enum One {
    Nothing,
    IdleSession,
    Capsules,
    IdleHandshake,
    AbortedHandshake,
    Join,
    ChatAndRejoin,
    Chat,
    PipelinedMetrics,
    SlowHttp,
    MapDownloads,
    Mismatches,
    Datagrams,
    UnfinishedFrame,
    PageDownloads,
    PagePlaces,
    UnfinishedHeads,
    Frames(Frames),
}

const fn attack(name: &'static str, what: &'static str, count: u16, one: One) -> Attack {
    Attack { name, what, count, addresses: 1, one }
}

/// The rows of the table.
pub(crate) const ATTACKS: &[Attack] = &[
    attack("nothing", "nobody attacks", 0, One::Nothing),
    attack(
        "idle sessions",
        "130 WebTransport sessions without a control stream",
        130,
        One::IdleSession,
    ),
    attack("capsules", "4 spectators send unknown capsules", 4, One::Capsules),
    attack("idle handshakes", "130 handshakes that go no further", 130, One::IdleHandshake),
    attack(
        "broken handshakes",
        "8 attackers begin handshakes and break them off, as fast as they can",
        8,
        One::AbortedHandshake,
    ),
    attack("joins", "48 players and 16 spectators", 64, One::Join),
    attack(
        "chat and rejoin",
        "18 players send as many chat lines as they may, leave and join again",
        18,
        One::ChatAndRejoin,
    ),
    Attack {
        name: "chat",
        what: "22 players chat within the rules, each at an address of its own",
        count: 22,
        addresses: 22,
        one: One::Chat,
    },
    attack("pipelined pages", "16 connections pipeline /metrics", 16, One::PipelinedMetrics),
    attack("slow pages", "500 slow HTTP connections", 250, One::SlowHttp),
    attack("map downloads", "16 attackers download the map in a loop", 16, One::MapDownloads),
    attack(
        "mismatches",
        "16 players play for 3 s, then send 1,800 reports of mismatches each",
        16,
        One::Mismatches,
    ),
    attack("datagrams", "8 players send 20,000 commands a second each", 8, One::Datagrams),
    attack(
        "unfinished frames",
        "16 attackers send a byte of a frame now and then",
        16,
        One::UnfinishedFrame,
    ),
    attack(
        "page downloads 8",
        "8 connections ask the public page for the map, over and over",
        8,
        One::PageDownloads,
    ),
    attack(
        "page downloads 60",
        "60 connections ask the public page for the map, over and over",
        60,
        One::PageDownloads,
    ),
    Attack {
        name: "page places",
        what: "252 connections of 4 addresses hold the page's places, 4 newcomers try to get one",
        count: 256,
        addresses: 8,
        one: One::PagePlaces,
    },
    Attack {
        name: "unfinished heads",
        what: "256 connections of 4 addresses send 390 kB of a head to the page",
        count: 256,
        addresses: 4,
        one: One::UnfinishedHeads,
    },
    attack(
        "path challenges",
        "8 players flood path challenges",
        8,
        One::Frames(Frames::PathChallenges),
    ),
    attack(
        "forged challenges",
        "8 players flood path challenges from ports that are not theirs",
        8,
        One::Frames(Frames::ForgedChallenges),
    ),
    attack(
        "connection ids",
        "8 players flood new connection ids",
        8,
        One::Frames(Frames::ConnectionIds),
    ),
    attack(
        "small frames",
        "8 players flood empty datagrams, pings, resets and blocked streams",
        8,
        One::Frames(Frames::Small),
    ),
];

/// Carries out an attack until the process is killed.
pub(crate) async fn run(attack: &Attack, target: Target) {
    let mut attackers = JoinSet::new();
    for number in 0..attack.count {
        let source = match target.source.octets() {
            // The last attackers of `page places` are newcomers, each at an address of its own.
            [a, b, c, d] if matches!(attack.one, One::PagePlaces) => {
                let host = if number < HOLDERS { number % 4 } else { 4 + number - HOLDERS };
                Ipv4Addr::new(a, b, c, d + host as u8)
            }
            [a, b, c, d] => {
                Ipv4Addr::new(a, b, c, d + (number % u16::from(attack.addresses)) as u8)
            }
        };
        attackers.spawn(repeat(attack.one, number, source, target.clone()));
    }
    while attackers.join_next().await.is_some() {}
}

/// The attackers of `page places` that hold a place. The others are newcomers.
const HOLDERS: u16 = 252;

async fn repeat(one: One, number: u16, source: Ipv4Addr, target: Target) {
    let attacker = Attacker::new(source, target.udp);
    loop {
        match one {
            One::Nothing => {}
            One::IdleSession => {
                if let Some(web) = attacker.web().await {
                    web.closed().await;
                }
            }
            One::Capsules => _ = capsules(&attacker).await,
            One::IdleHandshake => {
                if let Some(connection) = attacker.connect(GAME).await {
                    connection.closed().await;
                }
            }
            One::AbortedHandshake => attacker.abort().await,
            One::Join if number < 48 => {
                if let Some(Ok(player)) = attacker.join().await {
                    play(player, |_| ()).await;
                }
            }
            One::Join => {
                if let Some(Ok(web)) = attacker.spectate().await {
                    web.closed().await;
                }
            }
            One::ChatAndRejoin => _ = chat_and_rejoin(&attacker).await,
            One::Chat => _ = chat(&attacker).await,
            One::PipelinedMetrics => _ = pipeline(target.http, source).await,
            One::SlowHttp => _ = dawdle(target.http, source).await,
            One::MapDownloads => _ = download(&attacker).await,
            One::Mismatches => _ = lie(&attacker).await,
            One::Datagrams => {
                if let Some(Ok(player)) = attacker.join().await {
                    flood(player).await;
                }
            }
            One::UnfinishedFrame => _ = unfinished(&attacker).await,
            One::PageDownloads => _ = page_downloads(&target.page, source).await,
            One::PagePlaces if number < HOLDERS => _ = hold(&target.page, source).await,
            One::PagePlaces => newcomer(&target.page, source).await,
            One::UnfinishedHeads => _ = unfinished_heads(&target.page, source).await,
            One::Frames(kind) => {
                let server = target.udp;
                _ = spawn_blocking(move || frames::flood(kind, source, server)).await;
            }
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// The longest chat line that the server accepts.
fn line() -> String {
    "\u{1F600}".repeat(160)
}

async fn capsules(attacker: &Attacker) -> Option<()> {
    let (_connection, mut send, _) = attacker.web_by_hand(None).await?;
    let many = unknown_capsule().repeat(1000);
    loop {
        send.write_all(&many).await.ok()?;
        sleep(Duration::from_millis(9)).await;
    }
}

/// Sends commands as a player does, and calls `and` after each, while the connection lasts.
async fn play(player: Intruder, mut and: impl FnMut(&Intruder)) {
    let mut tick = player.tick;
    while player.connection.close_reason().is_none() {
        tick = tick.after(1);
        let _ = player.connection.send_datagram(command(tick).into());
        and(&player);
        sleep(Duration::from_millis(16)).await;
    }
}

async fn chat_and_rejoin(attacker: &Attacker) -> Option<()> {
    let mut player = attacker.join().await?.ok()?;
    for _ in 0..5 {
        player.say(&line()).await;
    }
    player.leave().await;
    Some(())
}

async fn chat(attacker: &Attacker) -> Option<()> {
    let mut player = attacker.join().await?.ok()?;
    let mut tick = player.tick;
    loop {
        player.say(&line()).await.then_some(())?;
        for _ in 0..60 {
            tick = tick.after(1);
            let _ = player.connection.send_datagram(command(tick).into());
            sleep(Duration::from_millis(16)).await;
        }
    }
}

async fn pipeline(http: SocketAddr, source: Ipv4Addr) -> Option<()> {
    let mut stream = connect_from(source.into(), http).await.ok()?;
    let request = b"GET /metrics HTTP/1.1\r\nhost: server\r\n\r\n".repeat(50);
    let (mut reading, mut writing) = stream.split();
    let ask = async {
        while writing.write_all(&request).await.is_ok() {}
        None
    };
    let mut bytes = vec![0; 1 << 16];
    let hear = async {
        while reading.read(&mut bytes).await.is_ok_and(|length| length > 0) {}
        Some(())
    };
    tokio::select! { done = ask => done, done = hear => done }
}

async fn dawdle(http: SocketAddr, source: Ipv4Addr) -> Option<()> {
    // 250 attackers have two connections each.
    let mut streams = [
        connect_from(source.into(), http).await.ok()?,
        connect_from(source.into(), http).await.ok()?,
    ];
    loop {
        for stream in &mut streams {
            stream.write_all(b"G").await.ok()?;
        }
        sleep(Duration::from_secs(1)).await;
    }
}

async fn download(attacker: &Attacker) -> Option<()> {
    let player = attacker.join().await?.ok()?;
    player.download().await?;
    player.download().await?;
    player.leave().await;
    Some(())
}

async fn lie(attacker: &Attacker) -> Option<()> {
    let mut player = attacker.join().await?.ok()?;
    let mut tick = player.tick;
    for _ in 0..180 {
        tick = tick.after(1);
        let _ = player.connection.send_datagram(command(tick).into());
        sleep(Duration::from_millis(16)).await;
    }
    for claim in 0..1800 {
        player.claim_mismatch(claim).await.then_some(())?;
    }
    player.leave().await;
    Some(())
}

async fn flood(player: Intruder) {
    while player.connection.close_reason().is_none() {
        for ahead in 0..20 {
            let tick = Tick(player.tick.0 + ahead);
            let _ = player.connection.send_datagram(command(tick).into());
        }
        sleep(Duration::from_millis(1)).await;
    }
}

async fn unfinished(attacker: &Attacker) -> Option<()> {
    let mut player = attacker.join().await?.ok()?;
    // This sends the length of a frame of a thousand bytes, and then its bytes, one a second.
    for byte in [0xe8, 0x03].into_iter().chain([0; 1000]) {
        player.send.write_all(&[byte]).await.ok()?;
        sleep(Duration::from_secs(1)).await;
    }
    Some(())
}
