//! The soak and `/metrics` report stuck players by the same definition. An open map, whose players
//! fall out and come back, is not reported as a fault.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use glam::DVec3;
use obsp_client::Credentials;
use obsp_client::quic::{Client, ClientEvent, Connector, Trust};
use obsp_proto::control::{MapHash, PlayerName};
use obsp_sim::Command;
use server::soak::{Report, SoakOptions, soak};
use server::{Options, PageOptions, Server};
use tests::harness::pages::{get, metric};
use tokio::time::timeout;

use super::places::block;
use super::trial::{asks, command};

/// A time far longer than anything in these tests takes, so only a hang lasts as long.
const HANG: Duration = Duration::from_secs(60);

/// A map with these brushes and spawn points, in a file that is removed when this value is dropped.
struct Map(PathBuf);

impl Map {
    fn new(name: &str, brushes: &str, spawns: &[[i32; 2]]) -> Self {
        let path = std::env::temp_dir().join(format!("{name}-{}.map", std::process::id()));
        let spawn = |[x, y]: &[i32; 2]| {
            format!("{{\n\"classname\" \"info_player_start\"\n\"origin\" \"{x} {y} 25\"\n}}\n")
        };
        let spawns: String = spawns.iter().map(spawn).collect();
        let text = format!("{{\n\"classname\" \"worldspawn\"\n{brushes}}}\n{spawns}");
        std::fs::write(&path, text).expect("the map can be written");
        Self(path)
    }

    fn path(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }

    fn soak(&self, players: u16, ticks: u64) -> Report {
        let options = SoakOptions { players, objects: 0, ticks, ..SoakOptions::new(self.path()) };
        soak(&options).expect("the map can be played")
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A closed shaft of this width, higher than any jump.
fn shaft(width: f64) -> String {
    let (half, out) = (width / 2.0, width / 2.0 + 64.0);
    let v = DVec3::new;
    [
        (v(-out, -out, -16.0), v(out, out, 0.0)),
        (v(half, -out, 0.0), v(out, out, 400.0)),
        (v(-out, -out, 0.0), v(-half, out, 400.0)),
        (v(-out, half, 0.0), v(out, out, 400.0)),
        (v(-out, -out, 0.0), v(out, -half, 400.0)),
        (v(-out, -out, 400.0), v(out, out, 416.0)),
    ]
    .map(|(min, max)| block(min, max))
    .concat()
}

/// Symptom: a soak reported no stuck players although nobody could move. Cause: a player counted as
/// stuck only after pushing in seven directions within ten seconds, which random players did only
/// by chance. Cure: players who get nowhere try all directions.
#[test]
fn a_soak_tells_who_is_in_a_shaft_as_wide_as_a_player() {
    let report = Map::new("shaft", &shaft(33.0), &[[0, 0]]).soak(1, 600);
    assert_eq!((report.stuck_players, report.tunnelled), (1, 0), "{report}");
    assert!(!report.is_clean());
    let report = Map::new("hall", &shaft(48.0), &[[0, 0]]).soak(1, 600);
    assert_eq!(report.stuck_players, 0, "{report}");
}

/// A player who falls into a pit of slopes can move about in it, so the soak must not report them.
#[test]
fn a_soak_finds_nobody_stuck_in_a_pit_of_slopes() {
    let place = super::places::pit(
        String::new(),
        glam::DVec2::ZERO,
        &super::places::around(4, 0.0, |_| (0.0, 50.0, 200.0)),
    );
    let report = Map::new("pit", &place.brushes, &[[0, 0]]).soak(1, 1_200);
    assert!(report.is_clean(), "{report}");
}

/// Symptom: a soak on a map that is open on all sides reported 25 passages through solids. Cause: a
/// player who had fallen out came back 99 units from the spawn point, and the audit excused only 96
/// units. Cure: the simulation announces each body that it puts elsewhere, and the audit excuses
/// exactly these.
#[test]
fn open_map_whose_players_fall_out_and_come_back_is_clean() {
    let v = DVec3::new;
    let floor = block(v(-200.0, -200.0, -16.0), v(200.0, 200.0, 0.0));
    // Walls stand between the edge and the spawn point, so a player's way back crosses them.
    let walls = block(v(60.0, -120.0, 0.0), v(70.0, 120.0, 120.0))
        + &block(v(-70.0, -120.0, 0.0), v(-60.0, 120.0, 120.0));
    let report = Map::new("open", &(floor + &walls), &[[0, 0]]).soak(16, 2_400);
    assert!(report.fallen > 10, "{report}");
    assert_eq!((report.tunnelled, report.misplaced), (0, 0), "{report}");
    assert!(report.is_clean(), "{report}");
}

/// Plays until the metrics count `stuck` stuck players, for 240 ticks at least.
async fn play_until(
    running: &Server,
    client: &mut Client,
    stuck: f64,
    mut next: impl FnMut() -> Command,
) {
    let playing = async {
        let mut ticks = 0;
        loop {
            if let ClientEvent::CommandDue = client.next().await.expect("the player stays") {
                client.command(next());
                ticks += 1;
                if ticks % 30 == 0 {
                    let page = get(running.http_addr(), "/metrics").await.body;
                    if metric(&page, "game_stuck_players") == stuck && ticks >= 240 {
                        return;
                    }
                }
            }
        }
    };
    timeout(HANG, playing).await.expect("the metrics count the expected number of stuck players");
}

#[tokio::test]
async fn metrics_tell_a_player_who_cannot_move_and_not_one_who_is_idle() {
    let map = Map::new("metrics", &shaft(33.0), &[[0, 0]]);
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let options = Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        max_players: 1,
        objects: 0,
        ..Options::new(map.path())
    };
    let running = Server::start(&options).expect("the map can be served");
    let connector = Connector::new(running.local_addr(), Trust::Loopback).expect("a socket opens");
    let name = PlayerName::new("ann").expect("the name is allowed");
    let credentials = Credentials::default();
    let joining = connector.join_with(&name, MapHash::ANY, &credentials);
    let mut client =
        timeout(HANG, joining).await.expect("the server answers").expect("the player joins");
    // The player stands in the shaft for four seconds without input.
    play_until(&running, &mut client, 0.0, Command::default).await;
    let all: Vec<_> = asks().collect();
    let mut asks = all.into_iter().cycle();
    let ask = || command(asks.next().expect("the cycle never ends"));
    play_until(&running, &mut client, 1.0, ask).await;
    drop(client);
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join())
        .await
        .expect("the task does not panic")
        .expect("the server ends without an error");
}
