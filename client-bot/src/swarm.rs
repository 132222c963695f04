//! Many bots in one process, each a real client with a session of its own,
//! and the report of how the server treated them.
//!
//! Groups of bots share a UDP socket, as players behind one router would, and
//! many groups a thread; there is one for every 64 bots, but no more of them
//! than processors. The clock of `--duration` starts when every bot has joined
//! or failed to.

mod bot;
mod deeds;
mod distribution;
mod report;
mod tally;

use std::future::Future;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use proto::control::PlayerName;
use tokio::sync::{OnceCell, mpsc, watch};
use tokio::task::JoinSet;

use crate::client::{ConnectError, Connector, MapStore, Trust};
use crate::minds::{Minds, Ways};
use bot::{Bot, Record};
pub use deeds::Doings;
use distribution::Distribution;
pub use report::Report;
pub use tally::Status;
use tally::Tally;

/// Bots on one socket: their snapshots of a tick fit its default receive
/// buffer several times over.
const BOTS_ON_A_SOCKET: u32 = 16;

/// Bots that one thread carries easily, beside a server on the same processors.
const BOTS_ON_A_THREAD: u32 = 64;

/// How long bots knock where nobody answers, at most and at least.
const MOST_PATIENCE: Duration = Duration::from_secs(60);
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

/// Time between two wakings by which a thread's lateness is measured.
const WAKE_EVERY: Duration = Duration::from_millis(20);

/// Time between two looks at how the swarm is doing.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What a swarm is to do.
#[derive(Clone, Debug)]
pub struct Swarm {
    /// Where the server is.
    pub server: SocketAddr,
    /// Whom to believe to be it.
    pub trust: Trust,
    /// How many bots to send.
    pub bots: u32,
    /// How long they play; without it, until told to stop.
    pub duration: Option<Duration>,
    /// What they draw lots from.
    pub seed: u64,
    /// What they want.
    pub minds: Minds,
    /// How many set out a second; without it, all at once.
    pub ramp: Option<f64>,
}

impl Swarm {
    /// Sends the bots in, lets them play until the time is over or `stop`
    /// comes, calls them back and tells how it went. `watch` hears of it
    /// meanwhile.
    ///
    /// # Errors
    /// Not one bot could be sent.
    pub async fn run(
        &self,
        stop: impl Future<Output = ()>,
        mut watch: impl FnMut(&Status),
    ) -> Result<Report, ConnectError> {
        let tally = Arc::new(Tally::new(self.bots));
        let end = watch::Sender::new(false);
        let (maps, ways) = (Arc::new(MapStore::default()), Arc::new(OnceCell::new()));
        let (records, mut ended) = mpsc::unbounded_channel();
        let threads: Vec<JoinHandle<()>> = self
            .shares()
            .map(|share| {
                let squad = Squad {
                    swarm: self.clone(),
                    share,
                    maps: Arc::clone(&maps),
                    ways: Arc::clone(&ways),
                    tally: Arc::clone(&tally),
                    end: end.subscribe(),
                    records: records.clone(),
                };
                std::thread::spawn(move || squad.run())
            })
            .collect();
        drop(records);

        let mut told = Vec::new();
        {
            let over = async {
                tally.settled().await;
                match self.duration {
                    Some(duration) => tokio::time::sleep(duration).await,
                    None => std::future::pending().await,
                }
            };
            tokio::pin!(over, stop);
            let mut looks = tokio::time::interval(LOOK_EVERY);
            loop {
                tokio::select! {
                    () = &mut over => break,
                    () = &mut stop => break,
                    _ = looks.tick() => watch(&tally.status()),
                    heard = ended.recv() => match heard {
                        Some(heard) => told.push(heard),
                        None => break,
                    },
                }
            }
        }
        end.send_replace(true);
        while let Some(heard) = ended.recv().await {
            told.push(heard);
        }
        for thread in threads {
            // It has let go of its end of the queue, so it is done.
            if let Err(crash) = thread.join() {
                std::panic::resume_unwind(crash);
            }
        }
        let (mut records, mut lateness) = (Vec::new(), Distribution::new());
        for heard in told {
            match heard? {
                Heard::Bot(record) => records.push(*record),
                Heard::Lateness(of_thread) => lateness.merge(&of_thread),
            }
        }
        Ok(Report::new(self.bots, records, &lateness))
    }

    /// The numbers of the bots of each thread: whole groups, dealt out in turn.
    fn shares(&self) -> impl Iterator<Item = Vec<u32>> {
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = (self.bots.div_ceil(BOTS_ON_A_THREAD)).clamp(1, processors as u32);
        let bots = self.bots;
        let group = |number: u32| number / BOTS_ON_A_SOCKET;
        (0..threads).map(move |thread| {
            (0..bots).filter(|&number| group(number) % threads == thread).collect()
        })
    }
}

/// The bots of one thread.
struct Squad {
    swarm: Swarm,
    /// Their numbers.
    share: Vec<u32>,
    maps: Arc<MapStore>,
    ways: Arc<OnceCell<Ways>>,
    tally: Arc<Tally>,
    end: watch::Receiver<bool>,
    records: mpsc::UnboundedSender<Result<Heard, ConnectError>>,
}

/// What a thread has to tell.
enum Heard {
    /// How it was for one bot.
    Bot(Box<Record>),
    /// How late the thread woke up, whenever it wanted to.
    Lateness(Distribution),
}

impl Squad {
    /// Plays until the end, and tells of each bot.
    fn run(self) {
        let records = self.records.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let played = match runtime {
            Ok(runtime) => runtime.block_on(self.play()),
            Err(error) => Err(ConnectError::Socket(error)),
        };
        if let Err(error) = played {
            // Nobody to hear it is no error.
            let _ = records.send(Err(error));
        }
    }

    async fn play(self) -> Result<(), ConnectError> {
        let swarm = &self.swarm;
        let mut connectors: Vec<Connector> = Vec::new();
        let mut bots = JoinSet::new();
        for group in self.share.chunk_by(|a, b| a / BOTS_ON_A_SOCKET == b / BOTS_ON_A_SOCKET) {
            let connector = Connector::new(swarm.server, swarm.trust.clone())?;
            let connector = connector.with_maps(Arc::clone(&self.maps));
            connectors.push(connector.clone());
            for &number in group {
                let bot = Bot {
                    connector: connector.clone(),
                    name: name(number),
                    number,
                    minds: swarm.minds,
                    seed: swarm.seed.wrapping_add(u64::from(number)),
                    after: swarm.ramp.map_or(Duration::ZERO, |rate| {
                        let seconds = f64::from(number) / rate;
                        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
                    }),
                    patience: patience(swarm.duration),
                    tally: Arc::clone(&self.tally),
                    ways: Arc::clone(&self.ways),
                };
                bots.spawn(bot.run(self.end.clone()));
            }
        }
        let lateness = tokio::spawn(lateness(self.end.clone()));
        while let Some(ended) = bots.join_next().await {
            match ended {
                // Nobody to hear it is no error.
                Ok(record) => drop(self.records.send(Ok(Heard::Bot(Box::new(record))))),
                Err(crash) => std::panic::resume_unwind(crash.into_panic()),
            }
        }
        if let Ok(lateness) = lateness.await {
            let _ = self.records.send(Ok(Heard::Lateness(lateness)));
        }
        for connector in connectors {
            connector.close().await;
        }
        Ok(())
    }
}

/// How late this thread wakes up, until the end: while that is long, what its
/// bots see says nothing of the server.
async fn lateness(mut end: watch::Receiver<bool>) -> Distribution {
    let mut lateness = Distribution::new();
    let measure = async {
        loop {
            let due = Instant::now() + WAKE_EVERY;
            tokio::time::sleep_until(due.into()).await;
            lateness.record(due.elapsed());
        }
    };
    tokio::select! {
        () = measure => {}
        _ = end.wait_for(|end| *end) => {}
    }
    lateness
}

/// How long bots knock where nobody answers: the server may still be compiling
/// itself or its map; but who wants to play shortly does not wait for long.
fn patience(duration: Option<Duration>) -> Duration {
    duration.map_or(MOST_PATIENCE, |duration| duration.clamp(LEAST_PATIENCE, MOST_PATIENCE))
}

/// What the bot of this number is called.
fn name(number: u32) -> PlayerName {
    match PlayerName::new(&format!("bot {}", number + 1)) {
        Ok(name) => name,
        Err(error) => unreachable!("a word and a number make a name: {error}"),
    }
}
