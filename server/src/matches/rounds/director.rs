//! Leads the match through its rounds: asks the state machine what to do, and does it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use obsp_proto::control::{ChatLine, MapName, MatchEvent, Reason, RoundPhase};
use tracing::{info, warn};

use super::flow::{FlowAction, RoundInput};
use super::loader::{Loaded, Loader};
use super::{RoundRequest, Schedule, short};
use crate::door::clients::Removal;
use crate::door::votes::{Outcome, Proposal};
use crate::matches::happening::{Happening, Standing};
use crate::matches::level::{Level, Prepared};
use crate::matches::match_handle::MatchHandle;
use crate::matches::recording::LevelRecordings;
use crate::matches::tick_thread::NextWorld;

/// Time between two updates of the state machine.
const UPDATE_INTERVAL: Duration = Duration::from_millis(50);

/// The parts through which worlds pass. The loader makes them, the tick thread plays them, and the
/// recordings record them.
pub(crate) struct LevelPipeline {
    pub(crate) loader: Loader,
    /// Worlds for the tick thread.
    pub(crate) worlds: SyncSender<NextWorld>,
    pub(crate) recordings: Arc<LevelRecordings>,
}

/// Leads the match through its rounds; never returns.
pub(crate) async fn direct(
    mut schedule: Schedule,
    mut pipeline: LevelPipeline,
    game: Arc<MatchHandle>,
) {
    let (mut ready, mut entered) = (None::<Prepared>, 0);
    // The map that the players were told of as the next.
    let mut told = None;
    // No phase begins without players. Clients that watch until then are told which phase waits for
    // players.
    let rules = schedule.flow.rules();
    if rules.ends() || !rules.warm_up.is_zero() {
        tell(&game.level(), schedule.flow.phase().0, None, None, &game);
    }
    let mut updates = tokio::time::interval(UPDATE_INTERVAL);
    loop {
        tokio::select! {
            _ = updates.tick() => {}
            Some(request) = schedule.requests.recv() => schedule.on_request(request),
            Some(loaded) = pipeline.loader.next() => {
                schedule.on_loaded(loaded, &mut ready, &game);
            }
        }
        let level = game.level();
        // Until the tick thread has entered the next world, the published state is that of the
        // previous world.
        if level.number < entered {
            continue;
        }
        // A server that drains ends with the round, and enters no world after it.
        let status = game.rounds.status();
        if game.stop.draining().is_some() && status.phase == RoundPhase::Intermission {
            continue;
        }
        schedule.count_votes(&game);
        let best = level.roster.best().map(|(_, score)| score);
        let exited = level.exited.swap(false, Ordering::Relaxed);
        let input = RoundInput { now: game.now(), players: level.roster.clients(), best, exited };
        for action in schedule.flow.update(&input) {
            match action {
                FlowAction::Prepare(map) => pipeline.loader.load(map),
                FlowAction::Enter => {
                    let Some(prepared) = ready.take() else { continue };
                    entered = prepared.level.number;
                    enter(prepared, &pipeline, &game);
                }
                FlowAction::Freeze { next } => {
                    level.frozen.store(true, Ordering::Relaxed);
                    conclude(&level, next.as_deref(), &game);
                }
                FlowAction::Phase(phase, lasts) => {
                    told = schedule.coming_map(&game);
                    tell(&level, phase, lasts, told.clone(), &game);
                }
            }
        }
        // The next map changes if an operator or a vote asks for another, or if it cannot be
        // loaded.
        let (phase, ends) = schedule.flow.phase();
        if told != schedule.coming_map(&game) {
            told = schedule.coming_map(&game);
            let lasts = ends.map(|ends| ends.since(game.now()));
            tell(&level, phase, lasts, told.clone(), &game);
        }
        game.rounds.publish(&schedule.flow);
    }
}

impl Schedule {
    fn on_request(&mut self, request: RoundRequest) {
        match request {
            RoundRequest::Map(map) => self.flow.change_map(map),
            RoundRequest::Restart => self.flow.restart(),
            RoundRequest::Rules(rules) => self.flow.change_rules(rules),
        }
    }

    /// The map of the next round, during an intermission. A server that drains has no next round.
    fn coming_map(&self, game: &MatchHandle) -> Option<MapName> {
        let is_over = self.flow.phase().0 == RoundPhase::Intermission;
        let is_over = is_over && game.stop.draining().is_none();
        let map = self.flow.next_map().filter(|_| is_over)?;
        Some(MapName::new(short(&map)))
    }

    /// Closes a vote that is decided, and does what players have voted for.
    fn count_votes(&mut self, game: &MatchHandle) {
        let clients = game.clients.list();
        let players = clients.iter().filter(|client| !client.spectates);
        let players: Vec<u64> = players.map(|client| client.number).collect();
        let Some(outcome) = game.rounds.close_vote(&players, game.now()) else { return };
        info!(?outcome, "a vote is closed");
        let (text, motion) = match outcome {
            Outcome::Carried(motion) => ("The vote is carried", Some(motion)),
            Outcome::Rejected(_) => ("The vote is not carried", None),
        };
        if let Ok(line) = ChatLine::new(text) {
            game.announce(MatchEvent::Announced { line });
        }
        match motion {
            Some(Proposal::Map(map)) => self.flow.change_map(map),
            Some(Proposal::Kick(number)) => {
                if let Some(client) = game.clients.find(number) {
                    client.remove(Removal::new(Reason::Removed, "voted out"));
                }
            }
            None => {}
        }
    }

    /// Handles the outcome of loading a map.
    fn on_loaded(&mut self, loaded: Loaded, ready: &mut Option<Prepared>, game: &MatchHandle) {
        match loaded.prepared {
            Ok(prepared) => {
                if self.flow.prepared(&loaded.map) {
                    *ready = Some(prepared);
                }
            }
            Err(error) => {
                warn!("map {} cannot be played and is left out: {error}", loaded.map);
                self.flow.failed(&loaded.map, game.now());
            }
        }
    }
}

/// Hands a world to the tick thread.
fn enter(prepared: Prepared, pipeline: &LevelPipeline, game: &MatchHandle) {
    let recorder = pipeline.recordings.begin(&prepared);
    let Prepared { simulation, level, .. } = prepared;
    let match_info = &level.match_info;
    info!(
        map = match_info.map_name.as_str(),
        level = level.number,
        players = game.clients.players(),
        "the match goes on in another world",
    );
    game.telemetry.enters(
        match_info.map_name.as_str(),
        &match_info.map.to_string(),
        level.load_time,
    );
    // The channel has room for one world, and the last one was entered before this one was
    // prepared.
    if pipeline.worlds.try_send(NextWorld { simulation, level, recorder }).is_err() {
        warn!(
            "the match stays on its map: the tick thread has ended, or has not entered the \
             previous map yet; no other map can follow until the server is restarted"
        );
    }
}

/// Announces to everybody which phase the match is in, and which map comes next.
fn tell(
    level: &Level,
    phase: RoundPhase,
    lasts: Option<Duration>,
    next: Option<MapName>,
    game: &MatchHandle,
) {
    let ticks = |time: Duration| time.as_secs_f64() * f64::from(level.match_info.tick_rate.get());
    // `as` saturates, but no round is that long.
    let ends = lasts.map(|time| game.next_tick().after(ticks(time) as u32));
    let event = MatchEvent::Round { phase, ends, next };
    level.enter_phase(event.clone());
    game.announce_in(level, event);
}

/// Announces who has won and which map comes next.
fn conclude(level: &Level, next: Option<&str>, game: &MatchHandle) {
    let won = match level.roster.best() {
        Some((name, score)) => format!("The round is over: {name} is best with {score}"),
        None => "The round is over".to_owned(),
    };
    let next_map = next.map(|map| short(map).to_owned());
    let next = next_map.as_ref().map(|map| format!(". Next map: {map}"));
    info!("{won}");
    if game.webhook.is_heard() {
        let map = level.match_info.map_name.as_str().to_owned();
        let scores = level.roster.standings().into_iter();
        let scores = scores.map(|(name, score)| Standing { name: name.to_string(), score });
        let result = Happening::Result { map, next_map, scores: scores.collect() };
        game.webhook.tell(Some(&game.name), &result);
    }
    // A line with both names could be too long, or a map's name could hold characters that cannot
    // be shown. Then the line is sent without the map.
    for line in [won.clone() + &next.unwrap_or_default(), won] {
        if let Ok(line) = ChatLine::new(&line) {
            return game.announce_in(level, MatchEvent::Announced { line });
        }
    }
}
