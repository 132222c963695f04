//! A server whose bodies cost more than `--sim-budget`. It simulates a heap more coarsely, players
//! still get every tick, and the recording replays to the same digests.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use client_bot::swarm::Swarm;
use glam::{DQuat, DVec3};
use obsp_game::{Game, WorldMut};
use obsp_sim::EntityId;
use server::replay::{ReplayOptions, replay_game};
use server::{Options, PageOptions, Server};
use tests::harness::MapBuilder;
use tests::harness::pages::{get, metric};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(60);

/// Ticks for which the bots play.
const MATCH: f64 = 360.0;

/// Crates of the heap along each of its axes.
const WIDTH: i32 = 5;

/// Ticks between two kicks of the heap.
const REST: u64 = 90;

/// A game that throws up a heap of crates again and again, so that the heap never sleeps.
#[derive(Clone, Debug)]
struct Stirred;

impl Game for Stirred {
    type State = Vec<EntityId>;

    fn set_up(&self, world: &mut WorldMut<'_>) -> Self::State {
        let model = world.model("crate").expect("the model ships");
        let cells = (0..WIDTH.pow(3)).map(|i| [i % WIDTH, i / WIDTH % WIDTH, i / WIDTH.pow(2)]);
        let places = cells.map(|cell| 40.0 * DVec3::from_array(cell.map(f64::from)));
        let places = places.map(|place| place + DVec3::new(500.0, 500.0, 40.0));
        places.filter_map(|at| world.spawn_body(model, at, DQuat::IDENTITY).ok()).collect()
    }

    fn tick(&self, heap: &mut Self::State, world: &mut WorldMut<'_>) {
        if world.tick().is_multiple_of(REST) {
            for (index, &body) in heap.iter().enumerate() {
                // Without the sideways part, the crates would fall back as they lay.
                let aside = DVec3::X * (index % 7) as f64 * 10.0;
                let _ = world.add_velocity(body, DVec3::Z * 250.0 + aside);
            }
        }
    }
}

/// A walled floor. Players spawn in one corner, and the heap is near the opposite one.
fn room() -> MapBuilder {
    MapBuilder::floor()
        .block([-1024, -1024, 0], [-992, 1024, 256])
        .block([992, -1024, 0], [1024, 1024, 256])
        .block([-992, -1024, 0], [992, -992, 256])
        .block([-992, 992, 0], [992, 1024, 256])
}

#[tokio::test]
async fn a_heap_above_the_budget_is_degraded_and_players_keep_their_rate() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("overload");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let (map, record) = (folder.join("heap.map"), folder.join("heap.obsr"));
    std::fs::write(&map, room().text()).expect("the map can be written");
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let options = Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        max_players: 6,
        // This is 50 units of work a tick; the heap costs about 300.
        sim_budget: 3_000,
        record: Some(record.clone()),
        ..Options::new(map.to_string_lossy())
    };
    let server =
        Server::builder().options(options).game(Stirred).bind().await.expect("the server starts");
    let (done, over) = oneshot::channel::<()>();
    let bots = Swarm::new(server.local_addr(), 6);
    let playing = bots.run(async { drop(over.await) }, |_| ());
    let http = server.http_addr();
    let watching = async {
        loop {
            let page = get(http, "/metrics").await.body;
            let is_over = metric(&page, "game_ticks_total") > MATCH;
            if is_over && metric(&page, "game_degraded_islands") > 0.0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        drop(done);
    };
    let (report, watched) = tokio::join!(playing, timeout(HANG, watching));
    watched.expect("the heap exceeds the budget");
    let report = report.expect("the bots start");
    assert!(report.passed(), "{report}");
    // A busy machine may miss ticks, so the bar is relative to the ticks that were played.
    let (rate, ticks) = (report.snapshots_per_second.mean, report.server_ticks_per_second.mean);
    assert!(rate > 0.85 * ticks, "{report}");
    server.handle().shutdown();
    tokio::task::spawn_blocking(|| server.join()).await.expect("no panic").expect("a clean end");

    let map = Some(map.to_string_lossy().into_owned());
    let replayed = ReplayOptions { map, audit: true, ..ReplayOptions::new(record) };
    let outcome = replay_game(&Stirred, &replayed).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.passed(), "{outcome}");
    assert!(outcome.ticks > 300, "{outcome}");
}
