//! Many bots in one process, each a complete client with a session of its own, and the
//! report of what they measured.
//!
//! Call [`Swarm::check_descriptors`] first, then [`Swarm::run`], which returns the
//! [`Report`]. Bots share a UDP socket in groups, as players behind one router would,
//! unless each is to have its own. Groups share threads: there is one thread for every 64
//! bots, but no more than there are processors. `--duration` begins when every bot has
//! joined or failed to.

mod activity;
mod bot;
mod bot_record;
mod histogram;
mod observations;
mod report;
mod server_clock;
mod tally;

use std::future::Future;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use obsp::descriptors;
use obsp_client::quic::{ConnectError, Connector, MapStore, ServerAddress, Trust};
use obsp_proto::control::{MatchName, PlayerName};
use obsp_proto::token::JoinKey;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::behaviors::BehaviorChoice;
pub use activity::BotActivity;
use bot::{Bot, NavGraphs};
use bot_record::BotRecord;
use histogram::Histogram;
pub use report::{Bandwidth, Bottleneck, Errors, Joining, Rates, Report, Times};
pub use tally::Status;
use tally::Tally;

/// Number of bots that share a socket. Its default receive buffer holds several ticks' snapshots
/// for all of them.
const BOTS_PER_SOCKET: u32 = 16;

/// Number of bots that one thread can run beside a server on the same processors.
const BOTS_PER_THREAD: u32 = 64;

/// Files and sockets that a thread may have besides its bots' own: enough for its event loop, and
/// some to spare.
const DESCRIPTORS_PER_THREAD: usize = 10;

/// Longest and shortest time for which bots retry while no server answers.
const MAX_JOIN_WAIT: Duration = Duration::from_secs(60);
const MIN_JOIN_WAIT: Duration = Duration::from_secs(10);

/// Interval of the timer by which a thread's scheduling delay is measured.
const TIMER_INTERVAL: Duration = Duration::from_millis(20);

/// Interval of status reports while the swarm runs.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);

/// The configuration of a swarm.
#[derive(Clone, Debug)]
pub struct Swarm {
    /// The server's address, or its name with any number of addresses.
    pub server: ServerAddress,
    /// The certificates that the bots accept.
    pub trust: Trust,
    /// Number of bots.
    pub bots: u32,
    /// How long the bots play; with `None`, until `stop` resolves.
    pub duration: Option<Duration>,
    /// Seed of the random number generators.
    pub seed: u64,
    /// How the bots behave.
    pub behavior: BehaviorChoice,
    /// Number of bots to start per second; with `None`, all start at once.
    pub ramp: Option<f64>,
    /// Whether each bot has a socket of its own, as players on connections of their own
    /// have.
    pub own_sockets: bool,
    /// The key that seals the bots' connect tokens, for servers that require them.
    pub join_key: Option<JoinKey>,
    /// The password of the match; empty if there is none.
    pub password: Vec<u8>,
    /// The map of the rotation for which the first bot calls a vote, to which all bots say yes.
    pub vote_map: Option<String>,
    /// The match that the bots join; `None` for the server's first.
    pub match_name: Option<MatchName>,
    /// Folders with compiled maps, besides those that [`MapStore`] searches by default. A map found
    /// there is not fetched from the server.
    pub maps: Vec<PathBuf>,
}

/// The system lets this process open too few files and sockets.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "the system lets this process open {granted} more files and sockets, but {needed} are needed; \
     raise the limit with `ulimit -n 1024`, or send fewer bots"
)]
pub struct TooFewDescriptors {
    granted: usize,
    needed: usize,
}

impl Swarm {
    /// A swarm for a server on this machine, whose certificate is not checked. The bots have a
    /// mixture of behaviors, share sockets, start all at once, have seed 1 and play until `stop`
    /// resolves.
    pub fn new(server: impl Into<ServerAddress>, bots: u32) -> Self {
        Self {
            server: server.into(),
            trust: Trust::Loopback,
            bots,
            duration: None,
            seed: 1,
            behavior: BehaviorChoice::Mix,
            ramp: None,
            own_sockets: false,
            join_key: None,
            password: Vec::new(),
            vote_map: None,
            match_name: None,
            maps: Vec::new(),
        }
    }

    /// Checks that the system grants the sockets and files that the bots need.
    ///
    /// # Errors
    /// The system grants too few. [`Swarm::run`] may panic then.
    pub fn check_descriptors(&self) -> Result<(), TooFewDescriptors> {
        let connectors = self.bots.div_ceil(BOTS_PER_SOCKET) as usize;
        // A server that is given by its name may need a socket for each family.
        let sockets = if self.server.address().is_some() { 1 } else { 2 };
        let needed = connectors * sockets + (1 + self.shares().count()) * DESCRIPTORS_PER_THREAD;
        let granted = descriptors::granted(needed);
        if granted < needed { Err(TooFewDescriptors { granted, needed }) } else { Ok(()) }
    }

    /// Starts the bots, lets them play until the duration is over or `stop` resolves,
    /// stops them and reports what they measured. `on_status` is called regularly
    /// meanwhile.
    ///
    /// # Errors
    /// No socket could be opened.
    pub async fn run(
        &self,
        stop: impl Future<Output = ()>,
        mut on_status: impl FnMut(&Status),
    ) -> Result<Report, ConnectError> {
        let tally = Arc::new(Tally::new(self.bots));
        let end = watch::Sender::new(false);
        let maps = Arc::new(MapStore::default().with_folders(&self.maps));
        let nav_graphs = Arc::new(NavGraphs::default());
        let (sender, mut messages) = mpsc::unbounded_channel();
        let threads: Vec<JoinHandle<()>> = self
            .shares()
            .map(|share| {
                let worker = Worker {
                    swarm: self.clone(),
                    share,
                    maps: Arc::clone(&maps),
                    nav_graphs: Arc::clone(&nav_graphs),
                    tally: Arc::clone(&tally),
                    end: end.subscribe(),
                    messages: sender.clone(),
                };
                std::thread::spawn(move || worker.run())
            })
            .collect();
        drop(sender);

        let mut received = Vec::new();
        {
            let over = async {
                tally.settled().await;
                match self.duration {
                    Some(duration) => tokio::time::sleep(duration).await,
                    None => std::future::pending().await,
                }
            };
            tokio::pin!(over, stop);
            let mut status_due = tokio::time::interval(STATUS_INTERVAL);
            loop {
                tokio::select! {
                    () = &mut over => break,
                    () = &mut stop => break,
                    _ = status_due.tick() => on_status(&tally.status()),
                    message = messages.recv() => match message {
                        Some(message) => received.push(message),
                        None => break,
                    },
                }
            }
        }
        end.send_replace(true);
        while let Some(message) = messages.recv().await {
            received.push(message);
        }
        for thread in threads {
            // All messages of the thread have been received, so it is about to end.
            if let Err(crash) = thread.join() {
                std::panic::resume_unwind(crash);
            }
        }
        let (mut records, mut scheduling_delay) = (Vec::new(), Histogram::new());
        for message in received {
            match message? {
                WorkerMessage::Finished(record) => records.push(*record),
                WorkerMessage::SchedulingDelay(of_thread) => scheduling_delay.merge(&of_thread),
            }
        }
        Ok(Report::new(self.bots, records, &scheduling_delay))
    }

    /// The numbers of the bots of each thread. Whole groups go to the threads in turn.
    fn shares(&self) -> impl Iterator<Item = Vec<u32>> {
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = (self.bots.div_ceil(BOTS_PER_THREAD)).clamp(1, processors as u32);
        (0..threads).map(move |thread| {
            (0..self.bots).filter(|&number| self.group(number) % threads == thread).collect()
        })
    }

    /// The group of a bot; bots of one group share a socket.
    fn group(&self, number: u32) -> u32 {
        if self.own_sockets { number } else { number / BOTS_PER_SOCKET }
    }
}

/// The bots of one thread.
struct Worker {
    swarm: Swarm,
    /// The numbers of the worker's bots.
    share: Vec<u32>,
    maps: Arc<MapStore>,
    nav_graphs: Arc<NavGraphs>,
    tally: Arc<Tally>,
    end: watch::Receiver<bool>,
    messages: mpsc::UnboundedSender<Result<WorkerMessage, ConnectError>>,
}

/// A report of a worker thread.
enum WorkerMessage {
    /// The record of one bot.
    Finished(Box<BotRecord>),
    /// The distribution of the thread's scheduling delay.
    SchedulingDelay(Histogram),
}

impl Worker {
    /// Runs the bots until the end, and reports each of them.
    fn run(self) {
        let messages = self.messages.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let played = match runtime {
            Ok(runtime) => runtime.block_on(self.play()),
            Err(error) => Err(ConnectError::Socket(error)),
        };
        if let Err(error) = played {
            // The receiver is gone only if the swarm was dropped.
            let _ = messages.send(Err(error));
        }
    }

    async fn play(self) -> Result<(), ConnectError> {
        let swarm = &self.swarm;
        let mut connectors: Vec<Connector> = Vec::new();
        let mut bots = JoinSet::new();
        for group in self.share.chunk_by(|&a, &b| swarm.group(a) == swarm.group(b)) {
            let connector = Connector::new(swarm.server.clone(), swarm.trust.clone())?;
            let connector = connector.with_maps(Arc::clone(&self.maps));
            connectors.push(connector.clone());
            for &number in group {
                let bot = Bot {
                    connector: connector.clone(),
                    name: name(number),
                    number,
                    behavior: swarm.behavior,
                    seed: swarm.seed.wrapping_add(u64::from(number)),
                    after: swarm.ramp.map_or(Duration::ZERO, |rate| {
                        let seconds = f64::from(number) / rate;
                        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
                    }),
                    max_join_wait: max_join_wait(swarm.duration),
                    join_key: swarm.join_key.clone(),
                    password: swarm.password.clone(),
                    vote_map: swarm.vote_map.clone(),
                    match_name: swarm.match_name.clone(),
                    tally: Arc::clone(&self.tally),
                    nav_graphs: Arc::clone(&self.nav_graphs),
                };
                bots.spawn(bot.run(self.end.clone()));
            }
        }
        let delay = tokio::spawn(scheduling_delay(self.end.clone()));
        while let Some(ended) = bots.join_next().await {
            match ended {
                // The receiver is gone only if the swarm was dropped.
                Ok(record) => {
                    drop(self.messages.send(Ok(WorkerMessage::Finished(Box::new(record)))))
                }
                Err(crash) => std::panic::resume_unwind(crash.into_panic()),
            }
        }
        if let Ok(delay) = delay.await {
            let _ = self.messages.send(Ok(WorkerMessage::SchedulingDelay(delay)));
        }
        for connector in connectors {
            connector.close().await;
        }
        Ok(())
    }
}

/// Measures this thread's scheduling delay until the end: how late its timer fires. While the
/// delay is long, the measurements of the thread's bots say nothing about the server.
async fn scheduling_delay(mut end: watch::Receiver<bool>) -> Histogram {
    let mut delays = Histogram::new();
    let measure = async {
        loop {
            let due = Instant::now() + TIMER_INTERVAL;
            tokio::time::sleep_until(due.into()).await;
            delays.record(due.elapsed());
        }
    };
    tokio::select! {
        () = measure => {}
        _ = end.wait_for(|end| *end) => {}
    }
    delays
}

/// How long bots retry while no server answers: the server may still be compiling itself or its
/// map, but a short run should not wait for long.
fn max_join_wait(duration: Option<Duration>) -> Duration {
    duration.map_or(MAX_JOIN_WAIT, |duration| duration.clamp(MIN_JOIN_WAIT, MAX_JOIN_WAIT))
}

/// The name of the bot with this number.
fn name(number: u32) -> PlayerName {
    match PlayerName::new(&format!("bot {}", number + 1)) {
        Ok(name) => name,
        Err(error) => unreachable!("the name of bot {} is refused: {error}", number + 1),
    }
}
