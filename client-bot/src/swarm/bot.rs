//! One bot: joins, plays by its behavior, rejoins after a lost connection, and records
//! what it measures.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use obsp_client::quic::{Backoff, Client, ClientEvent, Connector, JoinError};
use obsp_client::{Credentials, Disconnected, LoadedMap, Prediction};
use obsp_proto::client::SnapshotReceived;
use obsp_proto::control::{ChatLine, MapHash, MatchEvent, MatchName, PlayerName, Ticket};
use obsp_proto::token::{JoinKey, TokenClaims};
use obsp_sim::Command;
use tokio::sync::{OnceCell, watch};
use tracing::{debug, info, warn};

use super::activity::ActivityRecorder;
use super::bot_record::{BotRecord, Outcome};
use super::tally::Tally;
use crate::behaviors::{Actions, BehaviorChoice, Drive, NavGraph, Perception, breathing};

/// How far a bot perceives other entities, in units on each axis.
const PERCEPTION_RADIUS: f64 = 1200.0;

/// Ticks between two updates of a bot's perception: a twentieth of a second at 60 Hz, faster
/// than anybody reacts.
const PERCEPTION_INTERVAL: u64 = 3;

/// Snapshots between two samples of the round-trip time and of the known entities, because the
/// samples take long to collect.
const SAMPLE_INTERVAL: u64 = 30;

/// Commands between two samples of the age of visible entities. The interval is not in snapshots,
/// because states age during an outage, when no snapshots arrive.
const AGE_SAMPLE_INTERVAL: u64 = 30;

/// Number of commands after which the first bot calls its vote: the others have two seconds at 60
/// Hz to join.
const VOTE_AFTER: u64 = 120;

/// Time between two attempts to join while no server answers.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Seconds for which a bot's connect token is valid.
const TOKEN_SECONDS: u64 = 60;

/// The navigation graphs of all maps, each explored by the first bot that plays there.
#[derive(Default)]
pub(super) struct NavGraphs(Mutex<HashMap<[u8; 32], SharedNavGraph>>);

/// The navigation graph of one map, once it has been explored.
type SharedNavGraph = Arc<OnceCell<Arc<NavGraph>>>;

impl NavGraphs {
    fn of(&self, map: [u8; 32]) -> SharedNavGraph {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(map).or_default())
    }
}

/// The configuration of one bot.
pub(super) struct Bot {
    pub(super) connector: Connector,
    pub(super) name: PlayerName,
    pub(super) number: u32,
    pub(super) behavior: BehaviorChoice,
    pub(super) seed: u64,
    /// How long to wait before joining.
    pub(super) after: Duration,
    /// How long to retry while no server answers.
    pub(super) max_join_wait: Duration,
    pub(super) tally: Arc<Tally>,
    /// The key that seals connect tokens, if the server requires them.
    pub(super) join_key: Option<JoinKey>,
    /// The password of the match; empty if there is none.
    pub(super) password: Vec<u8>,
    /// The map for which the first bot calls a vote, if votes are to be tried.
    pub(super) vote_map: Option<String>,
    /// The match to join; `None` for the server's first.
    pub(super) match_name: Option<MatchName>,
    pub(super) nav_graphs: Arc<NavGraphs>,
}

impl Bot {
    /// Joins, plays until `end`, and returns what it measured.
    pub(super) async fn run(self, mut end: watch::Receiver<bool>) -> BotRecord {
        let mut record = BotRecord::new(self.name.clone());
        let joined = tokio::select! {
            joined = async {
                tokio::time::sleep(self.after).await;
                self.join().await
            } => joined,
            _ = end.wait_for(|end| *end) => {
                Err(JoinError::NoAnswer { server: self.connector.server().clone() })
            }
        };
        let mut client = match joined {
            Ok(client) => client,
            Err(error) => {
                let is_repeated = error.is_silence() && !self.tally.first_without_answer();
                if is_repeated {
                    debug!("{} could not join: {error}", self.name);
                } else {
                    warn!("{} could not join: {error}", self.name);
                }
                self.tally.failed();
                record.outcome = Outcome::Failed(error);
                return record;
            }
        };
        self.tally.joined();
        loop {
            record.has_joined(&client);
            let begin = Instant::now();
            let lost = tokio::select! {
                lost = self.play(&mut client, &mut record) => Some(lost),
                _ = end.wait_for(|end| *end) => None,
            };
            record.played += begin.elapsed();
            record.collect_stats(&client);
            let Some(lost) = lost else {
                client.leave().await;
                return record;
            };
            let ticket = client.ticket();
            drop(client);
            match self.rejoin(&lost, ticket, &mut end).await {
                Some(back) => client = back,
                None => {
                    warn!("{} was dropped: {lost}", self.name);
                    self.tally.lost();
                    record.outcome = Outcome::Dropped(lost);
                    return record;
                }
            }
            record.reconnects += 1;
        }
    }

    /// Joins again after the connection was lost; `None` if that is pointless or took
    /// too long.
    async fn rejoin(
        &self,
        lost: &Disconnected,
        ticket: Ticket,
        end: &mut watch::Receiver<bool>,
    ) -> Option<Client> {
        if lost.is_final() {
            return None;
        }
        info!("{} lost its connection ({lost}) and tries to rejoin", self.name);
        let backoff = Backoff::new(self.seed ^ u64::from(self.number));
        let (name, max_wait) = (&self.name, self.max_join_wait);
        let credentials = self.credentials(ticket);
        tokio::select! {
            joined = self.connector.rejoin(name, MapHash::ANY, &credentials, backoff, max_wait) => {
                joined.inspect_err(|error| info!("{} gives up: {error}", self.name)).ok()
            }
            _ = end.wait_for(|end| *end) => None,
        }
    }

    /// The credentials to join with: a new connect token as a backend would seal it, or the
    /// password. They also contain the ticket of an earlier connection.
    fn credentials(&self, ticket: Ticket) -> Credentials {
        let claims = TokenClaims {
            // The backend's player numbers begin with 1.
            player: u64::from(self.number) + 1,
            name: self.name.clone(),
            reserved: false,
            servers: Vec::new(),
            user_data: Vec::new(),
        };
        let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
        let seal = |key: &JoinKey| key.seal(&claims, now + TOKEN_SECONDS).ok();
        Credentials {
            token: self
                .join_key
                .as_ref()
                .map_or(Some(self.password.clone()), seal)
                .unwrap_or_default(),
            ticket,
            match_name: self.match_name.clone(),
            effects: false,
        }
    }

    /// Retries until a server answers or the wait is over.
    async fn join(&self) -> Result<Client, JoinError> {
        let begin = Instant::now();
        loop {
            let credentials = self.credentials(Ticket::NONE);
            match self.connector.join_with(&self.name, MapHash::ANY, &credentials).await {
                Err(error) if error.is_silence() && begin.elapsed() < self.max_join_wait => {
                    if self.tally.first_to_wait() {
                        info!("{error}; retrying for {} s", self.max_join_wait.as_secs());
                    }
                    // On a machine without a route to the server each attempt fails at once.
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                joined => return joined,
            }
        }
    }

    /// Plays until the client is disconnected.
    async fn play(&self, client: &mut Client, record: &mut BotRecord) -> Disconnected {
        loop {
            match self.play_world(client, record).await {
                Ok(()) => record.enter_world(client),
                Err(lost) => return lost,
            }
        }
    }

    /// Plays until the match continues in another world.
    async fn play_world(
        &self,
        client: &mut Client,
        record: &mut BotRecord,
    ) -> Result<(), Disconnected> {
        let mut behavior = self.behavior.behavior(self.number, self.seed);
        let Some(map) = client.prediction().map(|prediction| Arc::clone(prediction.map())) else {
            unreachable!("a connector gives a client its map");
        };
        if record.reconnects == 0 && record.worlds == 1 {
            record.activity = ActivityRecorder::new(&map.map);
        }
        let Some(nav) = self.explore_map(&map, client, record).await? else { return Ok(()) };
        let mut driver = Drive::new(self.seed ^ u64::from(self.number));
        let mut actions = client
            .session()
            .hello()
            .filter(|_| self.behavior != BehaviorChoice::Idle)
            .map(|hello| Actions::new(&hello.schema, self.seed ^ u64::from(self.number)));
        let (mut others, mut pictures, mut commands) = (Vec::new(), Vec::new(), 0_u64);
        loop {
            match client.next().await? {
                ClientEvent::NewWorld => return Ok(()),
                ClientEvent::Snapshot { snapshot, error, view_jumps } => {
                    self.record_snapshot(snapshot, client, record);
                    if let Some(error) = error {
                        record.observations().record_error(error, view_jumps);
                        if !error.disturbed && error.units > 0.1 {
                            let own = snapshot.own_motion;
                            debug!("{}: predicted {} units off {own:?}", self.name, error.units);
                        }
                    }
                    while let Some((tick, event)) = client.next_event() {
                        debug!("{}: tick {tick}: {event:?}", self.name);
                        let own = client.session().player();
                        match event {
                            MatchEvent::Died { player, by, .. }
                                if Some(by) == own && player != by =>
                            {
                                record.kills += 1;
                            }
                            MatchEvent::Announced { line } => {
                                record.note_announced(tick, line.as_str());
                                self.answer_vote(&line, client);
                            }
                            _ => {}
                        }
                    }
                }
                // The map of the next world is still being loaded.
                ClientEvent::CommandDue if client.prediction().is_none() => {
                    client.command(Command::default());
                }
                ClientEvent::CommandDue => {
                    let own = client.motion().map(|(_, motion)| motion);
                    let tank = client.view().vehicle();
                    let here = own.map(|own| own.position.as_dvec3());
                    let here = here.or(tank.map(|tank| tank.position));
                    if let Some(here) =
                        here.filter(|_| commands.is_multiple_of(PERCEPTION_INTERVAL))
                    {
                        others.clear();
                        pictures.clear();
                        for entity in client.view().entities_near(here, PERCEPTION_RADIUS) {
                            if entity.traits.is_solid() {
                                others.push(entity);
                            } else if entity.traits.visible {
                                pictures.push(entity.position);
                            }
                        }
                    }
                    commands += 1;
                    if commands == VOTE_AFTER && record.worlds == 1 {
                        self.call_vote(client);
                    }
                    let perception = Perception {
                        own,
                        others: &others,
                        pictures: &pictures,
                        map: &map.map,
                        models: &map.models,
                        nav: &nav,
                    };
                    let command = match tank {
                        Some(tank) => {
                            record.activity.record_driving();
                            driver.decide(&tank, &perception)
                        }
                        None => breathing(behavior.decide(&perception), &perception),
                    };
                    let command = match &mut actions {
                        Some(actions) => actions.add_to(command),
                        None => command,
                    };
                    let shoves = client.prediction().is_some_and(Prediction::is_shoving);
                    record.activity.record_tick(own.as_ref(), command, shoves);
                    client.command(command);
                    if commands.is_multiple_of(AGE_SAMPLE_INTERVAL) {
                        self.sample_ages(client, record);
                    }
                }
            }
        }
    }

    /// Explores the map, or waits for the bot that does, and stands still in the match
    /// meanwhile; `None` if the match continues in another world.
    async fn explore_map(
        &self,
        map: &Arc<LoadedMap>,
        client: &mut Client,
        record: &mut BotRecord,
    ) -> Result<Option<Arc<NavGraph>>, Disconnected> {
        let map = Arc::clone(map);
        let shared = self.nav_graphs.of(map.map.hash());
        // The map is explored on a blocking thread, because this thread runs other bots.
        let explored = shared.get_or_init(async || {
            let explore = move || Arc::new(NavGraph::explore(&map.map, map.movement.usual()));
            let explored = tokio::task::spawn_blocking(explore).await;
            explored.unwrap_or_else(|crash| std::panic::resume_unwind(crash.into_panic()))
        });
        let mut explored = pin!(explored);
        loop {
            tokio::select! {
                nav = &mut explored => return Ok(Some(Arc::clone(nav))),
                event = client.next() => match event? {
                    ClientEvent::NewWorld => return Ok(None),
                    ClientEvent::Snapshot { snapshot, .. } => {
                        self.record_snapshot(snapshot, client, record);
                    }
                    ClientEvent::CommandDue => {
                        client.command(Command::default());
                    }
                },
            }
        }
    }

    fn record_snapshot(&self, snapshot: SnapshotReceived, client: &Client, record: &mut BotRecord) {
        let agrees = snapshot.digest_agrees != Some(false);
        if !agrees {
            debug!("{}: digest mismatch at tick {}", self.name, snapshot.tick);
        }
        self.tally.snapshot(agrees);
        let now = Instant::now();
        if let Some(gap) = snapshot.gap {
            record.observations().gaps.record(gap);
        }
        if let Some(clock) = &mut record.clock {
            clock.arrived(now, snapshot.tick, client.rtt());
        }
        if record.snapshots.is_multiple_of(SAMPLE_INTERVAL) {
            record.rtts.record(client.rtt());
            record.entities.extend(client.session().entities().map(|entity| entity.id));
        }
        record.snapshots += 1;
        let arrival = (snapshot.tick, now);
        record.arrivals = Some([record.arrivals.map_or(arrival, |[first, _]| first), arrival]);
    }

    /// Calls the vote for the map, if votes are to be tried and this is the first bot.
    fn call_vote(&self, client: &mut Client) {
        let Some(map) = self.vote_map.as_ref().filter(|_| self.number == 0) else { return };
        match ChatLine::new(&format!("/votemap {map}")) {
            Ok(line) => client.say(line),
            Err(error) => warn!("cannot call a vote for {map:?}: {error}"),
        }
    }

    /// Says yes to a vote that the server announces with this line, if votes are to be
    /// tried.
    fn answer_vote(&self, line: &ChatLine, client: &mut Client) {
        if self.vote_map.is_none() {
            return;
        }
        info!("{} hears: {line}", self.name);
        if line.as_str().ends_with("Say /yes or /no")
            && let Ok(yes) = ChatLine::new("/yes")
        {
            client.say(yes);
        }
    }

    /// Samples the age of the states of all visible entities that move.
    fn sample_ages(&self, client: &Client, record: &mut BotRecord) {
        let (Some((_, own)), Some(clock)) = (client.motion(), &record.clock) else { return };
        let (here, now) = (own.position.as_dvec3(), Instant::now());
        let moving = client.session().observed_entities().filter(|(_, entity)| {
            let is_near = (entity.position - here).abs().max_element() < PERCEPTION_RADIUS;
            is_near && !entity.asleep && entity.velocity != glam::DVec3::ZERO
        });
        let ages: Vec<Duration> = moving.filter_map(|(tick, _)| clock.age(now, tick)).collect();
        let observations = record.observations();
        ages.into_iter().for_each(|age| observations.ages.record(age));
    }
}
