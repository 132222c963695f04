//! A server that stands still, as in a suspended virtual machine or a long page fault.

use std::time::{Duration, Instant};

use tests::harness::pages::{get, metric};
use tests::harness::{ServerProcess, undisturbed};
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};

use super::player::{Seen, join, run_in_circles};
use super::{PROMPT, start};
use crate::PLACES;

const PLAYERS: usize = 4;

/// Time in the match before the stall, in which the jitter buffer settles.
const BEFORE: Duration = Duration::from_secs(2);

/// Time from the end of the stall until commands must be used again, and the time for which their
/// use is then measured.
const RECOVERY: Duration = Duration::from_secs(1);
const WATCHED: Duration = Duration::from_secs(1);

/// Smallest share of players' ticks that must then use a command of the player's own. If the
/// commands of one of the four players were not used, the share would be 0.75.
const USED: f64 = 0.9;

/// Minimum distance along the ground by which each player gets away meanwhile, in units. Players
/// run at 320 units a second in circles, but may be in each other's way.
const WAY: f32 = 16.0;

/// A stall of 1.3 s or more once paralysed every player until they joined again. Their commands
/// were too early for the jitter buffer, which dropped them without telling the clients by how
/// much.
#[tokio::test]
async fn after_a_stall_every_player_plays_on() {
    let _place = PLACES.acquire().await;
    let scenario = async || {
        let stalls = [500, 1300, 3000, 10_000].map(Duration::from_millis);
        let stalls: JoinSet<_> = stalls.into_iter().map(play_through).collect();
        stalls.join_all().await.into_iter().flatten().collect()
    };
    let failures = undisturbed(PROMPT, scenario).await;
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Plays through a stall, and returns the failures.
async fn play_through(stall: Duration) -> Vec<String> {
    let server = start(&[]).await;
    let mut clients = Vec::new();
    for number in 0..PLAYERS {
        clients.push(join(server.udp, &format!("player {number}")).await);
    }
    let stop = Instant::now() + BEFORE;
    let go_on = stop + stall;
    let end = go_on + RECOVERY + WATCHED;
    let players: JoinSet<Seen> =
        clients.into_iter().map(|client| run_in_circles(client, end)).collect();
    sleep_until(stop.into()).await;
    server.signal("STOP");
    sleep_until(go_on.into()).await;
    server.signal("CONT");
    sleep(RECOVERY).await;
    let before = CommandTicks::of(&server).await;
    // Players leave at `end`, so the measurement stops just before.
    sleep(WATCHED - Duration::from_millis(100)).await;
    let after = CommandTicks::of(&server).await;
    let players = players.join_all().await;

    let mut failures = Vec::new();
    let used = (after.used - before.used) / (after.all - before.all);
    println!("{stall:?}: {:.1} % of commands used within a second", used * 100.0);
    if used < USED {
        failures.push(format!("{stall:?}: only {:.1} % of commands are used", used * 100.0));
    }
    for (number, seen) in players.iter().enumerate() {
        let way = seen.way(go_on + RECOVERY, end);
        if let Some(lost) = &seen.lost {
            failures.push(format!("{stall:?}: player {number} was dropped: {lost}"));
        } else if way < WAY {
            failures.push(format!("{stall:?}: player {number} moved only {way} units"));
        }
        if seen.mismatches > 0 {
            failures.push(format!("{stall:?}: player {number} saw {} mismatches", seen.mismatches));
        }
    }
    failures
}

/// The server's counts of players' ticks so far.
struct CommandTicks {
    /// Ticks that used a command of the player's own.
    used: f64,
    all: f64,
}

impl CommandTicks {
    async fn of(server: &ServerProcess) -> Self {
        let page = get(server.http, "/metrics").await.body;
        let of =
            |source| metric(&page, &format!("game_command_ticks_total{{source=\"{source}\"}}"));
        let used = of("client");
        Self { used, all: used + of("repeated") + of("neutral") }
    }
}
