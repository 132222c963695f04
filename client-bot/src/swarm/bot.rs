use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::Tick;
use proto::client::SnapshotReceived;
use proto::control::{MapHash, MatchEvent, PlayerName};
use sim::{Buttons, Command, EntityId, EntityState, Kind};
use tokio::sync::{OnceCell, watch};
use tracing::{debug, info, warn};

use super::deeds::Deeds;
use super::distribution::Distribution;
use super::tally::Tally;
use crate::client::{
    Client, Connector, JoinError, LoadedMap, Lost, Occasion, Prediction, PredictionStats, Traffic,
};
use crate::minds::{Drive, Minds, Sight, Ways};

/// How far a bot looks about itself, in units on each axis.
const SIGHT: f64 = 1200.0;

/// Ticks between two looks about: a twentieth of a second at 60 Hz, faster
/// than anybody reacts.
const SIGHT_EVERY: u64 = 3;

/// Snapshots between two looks at what costs more than a glance.
const LOOK_EVERY: u64 = 30;

/// Seconds that stand for a unit of prediction error in a [`Distribution`]: a
/// bin is then a five hundredth of a unit, and the last one is above twenty.
pub(super) const UNIT_OF_ERROR: f64 = 0.05;

/// One bot, before it is let loose.
pub(super) struct Bot {
    pub(super) connector: Connector,
    pub(super) name: PlayerName,
    pub(super) number: u32,
    pub(super) minds: Minds,
    pub(super) seed: u64,
    /// When it sets out.
    pub(super) after: Duration,
    /// How long it knocks where nobody answers.
    pub(super) patience: Duration,
    pub(super) tally: Arc<Tally>,
    /// Where one can get to, found out by the first bot in the match.
    pub(super) ways: Arc<OnceCell<Ways>>,
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
    /// The first snapshot and the last: of which tick, and when.
    pub(super) heard: Option<[(Tick, Instant); 2]>,
    pub(super) snapshot_bytes: u64,
    pub(super) digests: u64,
    pub(super) digest_mismatches: u64,
    /// Time between snapshots.
    pub(super) gaps: Distribution,
    pub(super) rtts: Distribution,
    /// How old the news were of what moved in sight.
    pub(super) ages: Distribution,
    pub(super) traffic: Traffic,
    /// How far it was from where it had been predicted to be, in units of
    /// [`UNIT_OF_ERROR`].
    pub(super) errors: Distribution,
    /// The same while nothing was near enough to push it.
    pub(super) free_errors: Distribution,
    pub(super) prediction: PredictionStats,
    /// Players that died by its doing.
    pub(super) kills: u64,
    /// What it did with its time.
    pub(super) deeds: Deeds,
    pub(super) tick_rate: f64,
    pub(super) snapshot_rate: f64,
    /// Different entities that were ever in its view.
    pub(super) entities: HashSet<EntityId>,
}

impl Bot {
    /// Joins, plays until `end`, and tells how it was.
    pub(super) async fn run(self, mut end: watch::Receiver<bool>) -> Record {
        let mut record = Record::new(self.name.clone());
        let joined = tokio::select! {
            joined = async {
                tokio::time::sleep(self.after).await;
                self.join().await
            } => joined,
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
                Err(error @ JoinError::NoAnswer { .. }) if begin.elapsed() < self.patience => {
                    if self.tally.first_to_wait() {
                        info!("{error} yet; trying for {} s", self.patience.as_secs());
                    }
                }
                joined => return joined,
            }
        }
    }

    /// Plays until the client is lost.
    async fn play(&self, client: &mut Client, record: &mut Record) -> Lost {
        let mut mind = self.minds.mind(self.number, self.seed);
        let Some(map) = client.prediction().map(|prediction| Arc::clone(prediction.map())) else {
            unreachable!("a connector gives a client its map");
        };
        record.deeds = Deeds::new(&map.world);
        let ways = match self.learn_ways(&map, client, record).await {
            Ok(ways) => ways,
            Err(lost) => return lost,
        };
        let mut driver = Drive::new(self.seed ^ u64::from(self.number));
        let (mut others, mut looks) = (Vec::new(), 0_u64);
        loop {
            match client.next().await {
                Ok(Occasion::Snapshot { snapshot, error }) => {
                    self.note(snapshot, client, record);
                    if let Some(error) = error {
                        let units = Duration::from_secs_f64(error.units * UNIT_OF_ERROR);
                        record.errors.record(units);
                        if !error.pushed && error.units > 0.1 {
                            let own = snapshot.answer;
                            debug!("{}: {} units off at {own:?}", self.name, error.units);
                        }
                        if !error.pushed {
                            record.free_errors.record(units);
                        }
                    }
                    while let Some((tick, event)) = client.next_event() {
                        debug!("{}: tick {tick}: {event:?}", self.name);
                        let own = client.session().player();
                        if let MatchEvent::Died { player, by } = event
                            && Some(by) == own
                            && player != by
                        {
                            record.kills += 1;
                        }
                    }
                }
                Ok(Occasion::CommandDue) => {
                    let own = client.motion().map(|(_, motion)| motion);
                    let tank = vehicle(client);
                    let here = own.map(|own| own.position.as_dvec3());
                    let here = here.or(tank.map(|tank| tank.position));
                    if let Some(here) = here.filter(|_| looks.is_multiple_of(SIGHT_EVERY)) {
                        others.clear();
                        others.extend(client.others(here, SIGHT));
                    }
                    looks += 1;
                    let sight = Sight { own, others: &others, map: &map.world, ways };
                    let command = match tank {
                        Some(tank) => {
                            let command = driver.decide(&tank, &sight);
                            record.deeds.note_driving(command.buttons.contains(Buttons::GRENADE));
                            command
                        }
                        None => mind.decide(&sight),
                    };
                    let shoves = client.prediction().is_some_and(Prediction::is_shoving);
                    record.deeds.note(own.as_ref(), command, shoves);
                    client.command(command);
                }
                Err(lost) => return lost,
            }
        }
    }

    /// Finds out where one can get to, or waits for whoever is about it; and stands
    /// still in the match meanwhile.
    async fn learn_ways(
        &self,
        map: &Arc<LoadedMap>,
        client: &mut Client,
        record: &mut Record,
    ) -> Result<&Ways, Lost> {
        let map = Arc::clone(map);
        // On a thread of its own: this one has other bots to play.
        let explored = self.ways.get_or_init(async || {
            let explored = tokio::task::spawn_blocking(move || Ways::explore(&map.world)).await;
            explored.unwrap_or_else(|crash| std::panic::resume_unwind(crash.into_panic()))
        });
        let mut explored = pin!(explored);
        loop {
            tokio::select! {
                ways = &mut explored => return Ok(ways),
                occasion = client.next() => match occasion? {
                    Occasion::Snapshot { snapshot, .. } => self.note(snapshot, client, record),
                    Occasion::CommandDue => {
                        client.command(Command::default());
                    }
                },
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
            self.note_ages(snapshot.tick, client, record);
        }
        record.snapshots += 1;
        let heard = (snapshot.tick, Instant::now());
        record.heard = Some([record.heard.map_or(heard, |[first, _]| first), heard]);
    }
}

impl Bot {
    /// Notes how old the news are of what moves in sight.
    fn note_ages(&self, now: Tick, client: &Client, record: &mut Record) {
        let session = client.session();
        let (Some((_, own)), Some(hello)) = (client.motion(), session.hello()) else { return };
        let here = own.position.as_dvec3();
        for (told, entity) in session.told() {
            let in_sight = (entity.position - here).abs().max_element() < SIGHT;
            if in_sight && !entity.asleep && entity.velocity != glam::DVec3::ZERO {
                let ticks = now.distance(told).max(0) as f64;
                let age = Duration::from_secs_f64(ticks / f64::from(hello.tick_rate.get()));
                record.ages.record(age);
            }
        }
    }
}

/// The vehicle that the client's player drives, if they drive one.
fn vehicle(client: &Client) -> Option<EntityState> {
    let own = client.session().entity(client.session().player()?)?;
    matches!(own.kind, Kind::Vehicle { .. }).then_some(own)
}

impl Record {
    /// Nothing to tell yet.
    pub(super) fn new(name: PlayerName) -> Self {
        Self {
            name,
            outcome: Outcome::Played,
            played: Duration::ZERO,
            snapshots: 0,
            heard: None,
            snapshot_bytes: 0,
            digests: 0,
            digest_mismatches: 0,
            gaps: Distribution::new(),
            rtts: Distribution::new(),
            ages: Distribution::new(),
            errors: Distribution::new(),
            free_errors: Distribution::new(),
            prediction: PredictionStats::default(),
            deeds: Deeds::default(),
            tick_rate: 0.0,
            snapshot_rate: 0.0,
            traffic: Traffic::default(),
            kills: 0,
            entities: HashSet::new(),
        }
    }

    /// Takes over what the client has counted by itself.
    fn take_stock(&mut self, client: &Client) {
        let stats = client.session().stats();
        self.snapshot_bytes = stats.snapshot_bytes;
        self.digests = stats.digests;
        self.digest_mismatches = stats.digest_mismatches;
        self.prediction = client.prediction().map(|p| *p.stats()).unwrap_or_default();
        self.traffic = client.traffic();
        let hello = client.session().hello();
        self.tick_rate = hello.map_or(0.0, |hello| f64::from(hello.tick_rate.get()));
        self.snapshot_rate = hello.map_or(0.0, |hello| f64::from(hello.snapshot_rate.get()));
        self.entities.extend(client.session().entities().map(|entity| entity.id));
    }
}
