//! Many bots in one process, each a real client with a session of its own,
//! and the report of how the server treated them.
//!
//! All bots run on one thread. Groups of them share a UDP socket, as players
//! behind one router would. The clock of `--duration` starts when every bot
//! has joined or failed to.

mod bot;
mod deeds;
mod distribution;
mod report;
mod tally;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use proto::control::PlayerName;
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinSet;

use crate::client::{ConnectError, Connector, MapStore, Trust};
use crate::minds::Minds;
use bot::Bot;
pub use deeds::Doings;
pub use report::Report;
pub use tally::Status;
use tally::Tally;

/// Bots on one socket: their snapshots of a tick fit its default receive
/// buffer several times over.
const BOTS_ON_A_SOCKET: u32 = 16;

/// How long bots knock where nobody answers, at most and at least.
const MOST_PATIENCE: Duration = Duration::from_secs(60);
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

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
        let mut connectors = Vec::new();
        let (maps, ways) = (Arc::new(MapStore::default()), Arc::new(OnceCell::new()));
        let mut bots = JoinSet::new();
        for number in 0..self.bots {
            if number % BOTS_ON_A_SOCKET == 0 {
                let connector = Connector::new(self.server, self.trust.clone())?;
                connectors.push(connector.with_maps(Arc::clone(&maps)));
            }
            // The line above has just pushed one for the first of each group.
            let Some(connector) = connectors.last().cloned() else { continue };
            let bot = Bot {
                connector,
                name: name(number),
                number,
                minds: self.minds,
                seed: self.seed.wrapping_add(u64::from(number)),
                after: self.ramp.map_or(Duration::ZERO, |rate| {
                    Duration::try_from_secs_f64(f64::from(number) / rate).unwrap_or(Duration::MAX)
                }),
                patience: patience(self.duration),
                tally: Arc::clone(&tally),
                ways: Arc::clone(&ways),
            };
            bots.spawn(bot.run(end.subscribe()));
        }

        let mut records = Vec::new();
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
                    ended = bots.join_next() => match ended {
                        Some(Ok(record)) => records.push(record),
                        Some(Err(crash)) => std::panic::resume_unwind(crash.into_panic()),
                        None => break,
                    },
                }
            }
        }
        end.send_replace(true);
        while let Some(ended) = bots.join_next().await {
            match ended {
                Ok(record) => records.push(record),
                Err(crash) => std::panic::resume_unwind(crash.into_panic()),
            }
        }
        for connector in connectors {
            connector.close().await;
        }
        Ok(Report::new(self.bots, records))
    }
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
