//! The watchdog: a thread that does nothing but ask all others for signs of life. It logs when a
//! thread has given none for a second or more. It gives up a match whose tick thread hangs for too
//! long. It ends the server when it gives up the last match, or when the network thread hangs.
//!
//! Each thread proves its own life. A tick thread notes the end of each tick
//! ([`Stall`](crate::matches::telemetry::Stall)). The event loops of the network thread, of the
//! pages and of the admin interface beat ten times a second ([`EventLoop`]). A match that hears its
//! players also has to send them something (`Answers` of its telemetry). The threads that write
//! recordings are not watched: if one is too slow, its recording ends, and `/readyz` says so.
//!
//! The watchdog checks all of this four times a second. It distinguishes two faults. If a thread
//! *hangs* while the rest of the process runs, the server has a defect. If the *whole process*
//! stood still, somebody stopped it, or the machine slept or had no processor to spare. Time in
//! which the watchdog itself did not run is never counted as a hang.
//!
//! The watchdog also reports to the service manager, if there is one. It reports that the server is
//! ready once it ticks, gives a sign of life as long as the server is alive, and reports its end.
//! If the watchdog itself hangs, these signs of life stop, so the service manager notices.

mod gate;
mod judge;
pub(crate) mod options;
mod service_manager;
mod subject;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

pub(crate) use gate::Gate;
pub use gate::ThreadHeld;
pub(crate) use service_manager::{Notifier, ServiceManager};

use super::Matches;
use super::match_handle::MatchHandle;
use super::telemetry::{EventLoop, STALL};
use crate::common::error::RunError;
use judge::{Finding, Watchdog};
use service_manager::Ticking;
use subject::Subject;

/// Time between two checks of the signs of life. A hang is reported at most this much later than
/// [`STALL`].
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The watchdog thread before it runs.
pub(crate) struct WatchdogThread {
    /// The watchdog's event loop, which nothing else uses.
    pub(crate) runtime: Runtime,
    /// Time that a thread may hang before its match, or the server, is given up. With `None`,
    /// nothing is given up.
    pub(crate) hang_limit: Option<Duration>,
    /// The supervisor of this process.
    pub(crate) manager: ServiceManager,
}

impl WatchdogThread {
    /// Watches the threads of these matches until the server is asked to end.
    ///
    /// # Errors
    /// A thread that the server needs hangs. Only a restart helps then.
    pub(crate) fn run(mut self, games: &Matches<Arc<MatchHandle>>) -> Result<(), RunError> {
        let stop = &games.first().stop;
        let _stops_the_others = stop.when_dropped();
        let watched = self.runtime.block_on(async {
            tokio::select! {
                () = stop.requested() => Ok(()),
                hangs = watch(games, self.hang_limit, &mut self.manager) => Err(hangs),
            }
        });
        self.manager.stopping();
        watched
    }
}

/// Watches for as long as it is polled. A thread that has hung for `limit` will not go on, and
/// nobody can end it, so its match is given up. Returns once the server cannot go on, because only
/// a restart helps then.
async fn watch(
    games: &Matches<Arc<MatchHandle>>,
    limit: Option<Duration>,
    manager: &mut ServiceManager,
) -> RunError {
    let begin = Instant::now();
    let matches = games.iter().flat_map(|game| [Subject::Ticks(game), Subject::Answers(game)]);
    let pulses = &games.first().telemetry.registry.pulses;
    let loops = EventLoop::ALL.map(|each| Subject::Loop(each, pulses.of(each)));
    let mut watched: Vec<_> = matches
        .chain(loops)
        .map(|subject| {
            let limit = limit.filter(|_| subject.is_vital());
            (subject, Watchdog::new(begin, limit))
        })
        .collect();
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let now = Instant::now();
        manager.report(now, ticking(games, now), || status(games, now));
        for (subject, watchdog) in &mut watched {
            if subject.is_over() {
                continue;
            }
            let (age, stall) = (subject.age(now), subject.last_stall());
            let Some(finding) = watchdog.check(now, age, stall) else { continue };
            subject.note(finding, age);
            if finding == Finding::HangsForGood
                && let Some(ends) = give_up(subject, age)
            {
                return ends;
            }
        }
    }
}

/// Gives up the match or the thread that does not recover. Returns the error with which the server
/// ends, unless other matches are played on.
fn give_up(subject: &Subject<'_>, age: Duration) -> Option<RunError> {
    let seconds = age.as_secs();
    let (game, why, ends) = match subject {
        Subject::Ticks(game) => {
            let why = format!(
                "the tick thread hangs: no tick was finished for {seconds} s; a thread cannot be \
                 ended, so it is left behind"
            );
            // The flag is set before the match fails. If the thread comes back, it sees the
            // failure and clears the flag.
            game.is_left_behind.store(true, Ordering::Relaxed);
            (game, why, RunError::Hangs { seconds })
        }
        Subject::Answers(game) => {
            let why = format!("no snapshot was sent for {seconds} s, though players are heard");
            (game, why, RunError::Silent { seconds })
        }
        Subject::Loop(..) => return Some(RunError::NetworkHangs { seconds }),
    };
    (!game.fail(&why)).then_some(ends)
}

/// How many of the matches are alive, as a player sees them: they tick, and their snapshots are
/// sent. A match that has failed was reported when it failed, and nobody waits for its ticks.
fn ticking(games: &Matches<Arc<MatchHandle>>, now: Instant) -> Ticking {
    let ticks = |game: &Arc<MatchHandle>| game.is_alive(now) && game.latest.borrow().state.tick > 0;
    match games.is_served(now) && games.played().any(ticks) {
        true if games.played().all(ticks) => Ticking::All,
        true => Ticking::Some,
        false => Ticking::None,
    }
}

/// The state of the server, for people who read the service manager's reports.
fn status(games: &Matches<Arc<MatchHandle>>, now: Instant) -> String {
    let age = |game: &Arc<MatchHandle>| game.telemetry.tick.age(now);
    let network = games.first().telemetry.registry.pulses.of(EventLoop::Network);
    if let Some(age) = network.age(now).filter(|age| *age >= STALL) {
        return format!("the network thread hangs: no sign of life for {} s", age.as_secs());
    }
    match games.played().map(age).max().filter(|age| *age >= STALL) {
        None => format!("players: {} of {}", games.players(), games.player_limit()),
        Some(age) => format!("no tick was finished for {} s", age.as_secs()),
    }
}
