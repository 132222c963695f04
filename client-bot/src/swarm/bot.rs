use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use glam::DVec3;
use proto::client::SnapshotReceived;
use proto::control::{MapHash, PlayerName};
use sim::{EntityId, Kind};
use tokio::sync::watch;
use tracing::{debug, info, warn};

use super::distribution::Distribution;
use super::tally::Tally;
use crate::client::{Client, Connector, JoinError, Lost, Occasion, Traffic};
use crate::minds::Wander;

/// How long a bot keeps knocking where nobody answers: the server may still be
/// compiling itself or its map.
const PATIENCE: Duration = Duration::from_secs(60);

/// Snapshots between two looks at what costs more than a glance.
const LOOK_EVERY: u64 = 30;

/// One bot, before it is let loose.
pub(super) struct Bot {
    pub(super) connector: Connector,
    pub(super) name: PlayerName,
    pub(super) seed: u64,
    pub(super) tally: Arc<Tally>,
}

/// What became of a bot.
pub(super) enum Outcome {
    /// It could not join.
    Failed(JoinError),
    /// It joined and was dropped.
    Dropped(Lost),
    /// It played to the end.
    Played,
}

/// What a bot has to tell.
pub(super) struct Record {
    pub(super) name: PlayerName,
    pub(super) outcome: Outcome,
    /// How long it was in the match.
    pub(super) played: Duration,
    pub(super) snapshots: u64,
    pub(super) snapshot_bytes: u64,
    pub(super) digests: u64,
    pub(super) digest_mismatches: u64,
    /// Time between snapshots.
    pub(super) gaps: Distribution,
    pub(super) rtts: Distribution,
    pub(super) traffic: Traffic,
    /// Different entities that were ever in its view.
    pub(super) entities: HashSet<EntityId>,
}

impl Bot {
    /// Joins, plays until `end`, and tells how it was.
    pub(super) async fn run(self, mut end: watch::Receiver<bool>) -> Record {
        let mut record = Record::new(self.name.clone());
        let joined = tokio::select! {
            joined = self.join() => joined,
            _ = end.wait_for(|end| *end) => {
                Err(JoinError::NoAnswer { server: self.connector.server() })
            }
        };
        let mut client = match joined {
            Ok(client) => client,
            Err(error) => {
                warn!("{} could not join: {error}", self.name);
                self.tally.failed();
                record.outcome = Outcome::Failed(error);
                return record;
            }
        };
        self.tally.joined();
        let begin = Instant::now();
        let lost = tokio::select! {
            lost = self.play(&mut client, &mut record) => Some(lost),
            _ = end.wait_for(|end| *end) => None,
        };
        record.played = begin.elapsed();
        record.take_stock(&client);
        match lost {
            Some(lost) => {
                warn!("{} was dropped: {lost}", self.name);
                self.tally.lost();
                record.outcome = Outcome::Dropped(lost);
            }
            None => client.leave().await,
        }
        record
    }

    /// Knocks until somebody answers or patience ends.
    async fn join(&self) -> Result<Client, JoinError> {
        let begin = Instant::now();
        loop {
            match self.connector.join(&self.name, MapHash::ANY).await {
                Err(error @ JoinError::NoAnswer { .. }) if begin.elapsed() < PATIENCE => {
                    if self.tally.first_to_wait() {
                        info!("{error} yet; trying for {} s", PATIENCE.as_secs());
                    }
                }
                joined => return joined,
            }
        }
    }

    /// Plays until the client is lost.
    async fn play(&self, client: &mut Client, record: &mut Record) -> Lost {
        let mut mind = Wander::new(self.seed);
        loop {
            match client.next().await {
                Ok(Occasion::Snapshot(snapshot)) => self.note(snapshot, client, record),
                Ok(Occasion::CommandDue) => {
                    let session = client.session();
                    let own = session.player().and_then(|player| session.entity(player));
                    let command = mind.decide(own.map(|own| own.position), props(client));
                    client.command(command);
                }
                Err(lost) => return lost,
            }
        }
    }

    fn note(&self, snapshot: SnapshotReceived, client: &Client, record: &mut Record) {
        let agrees = snapshot.digest_agrees != Some(false);
        if !agrees {
            debug!("{}: tick {} does not agree", self.name, snapshot.tick);
        }
        self.tally.snapshot(agrees);
        if let Some(gap) = snapshot.gap {
            record.gaps.record(gap);
        }
        if record.snapshots.is_multiple_of(LOOK_EVERY) {
            record.rtts.record(client.rtt());
            record.entities.extend(client.session().entities().map(|entity| entity.id));
        }
        record.snapshots += 1;
    }
}

/// Where the props are that a client sees.
fn props(client: &Client) -> impl Iterator<Item = DVec3> {
    let is_prop = |kind| matches!(kind, Kind::Prop { .. });
    let entities = client.session().entities();
    entities.filter(move |entity| is_prop(entity.kind)).map(|entity| entity.position)
}

impl Record {
    fn new(name: PlayerName) -> Self {
        Self {
            name,
            outcome: Outcome::Played,
            played: Duration::ZERO,
            snapshots: 0,
            snapshot_bytes: 0,
            digests: 0,
            digest_mismatches: 0,
            gaps: Distribution::new(),
            rtts: Distribution::new(),
            traffic: Traffic::default(),
            entities: HashSet::new(),
        }
    }

    /// Takes over what the client has counted by itself.
    fn take_stock(&mut self, client: &Client) {
        let stats = client.session().stats();
        self.snapshot_bytes = stats.snapshot_bytes;
        self.digests = stats.digests;
        self.digest_mismatches = stats.digest_mismatches;
        self.traffic = client.traffic();
        self.entities.extend(client.session().entities().map(|entity| entity.id));
    }
}
