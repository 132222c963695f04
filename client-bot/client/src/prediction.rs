//! Client-side prediction and reconciliation of the own player.
//!
//! [`Prediction::play`] for every command sent, [`Prediction::reconcile`] for every
//! authoritative motion received, [`Prediction::reset`] when the player leaves the
//! world; [`Prediction::motion`] is the result at any time.

mod shoved_props;

use std::collections::VecDeque;
use std::sync::Arc;

use glam::DVec3;
use obsp_proto::Tick;
use obsp_proto::client::{CommandSent, Observed};
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_sim::{Command, EntityState, PlayerMotion, Predicted};

use crate::LoadedMap;
use shoved_props::{ServerUpdate, ShovedProps};

/// Commands that may wait for the server's answer: two seconds at 60 Hz, after which
/// the position of the own player is the least of a client's problems.
const MAX_PENDING: usize = 128;

/// Seconds of pending commands beyond which props that the player shoves are no longer
/// predicted: the result would be wrong by then, and a client that is late for lack of
/// processor time must not spend more of it the later it is.
const PROP_PREDICTION_LIMIT: f64 = 0.4;

/// Errors below this many units are corrected too, but cannot be seen.
const VISIBLE_ERROR: f64 = 0.1;

/// Most ticks by which the motion of another body is extrapolated.
const MAX_EXTRAPOLATION: u32 = 12;

/// Error, in units, beyond which the server has put the player elsewhere: more than
/// anybody moves on foot in the tenth of a second between two authoritative motions.
const RELOCATION_DISTANCE: f64 = 200.0;

/// Moves the client's own player at once instead of a round trip later, with the
/// server's own movement code, and corrects it when the server reports otherwise.
///
/// Every command sent is played here. When the server reports the player's motion
/// after some tick, it is compared with the prediction for the same tick. If a single
/// bit differs, the server is right: all later commands are played again from there.
#[derive(Debug)]
pub struct Prediction {
    map: Arc<LoadedMap>,
    /// Length of a tick, in seconds.
    seconds: f64,
    /// The server's latest motion, from which the oldest pending command is played.
    authoritative: Option<(Tick, PlayerMotion)>,
    /// Commands for ticks after that, in order of their ticks.
    pending: VecDeque<PendingCommand>,
    /// Props that the player shoves, after the latest command.
    shoved: ShovedProps,
    stats: PredictionStats,
}

#[derive(Clone, Copy, Debug, Default)]
struct PendingCommand {
    tick: Tick,
    command: Command,
    /// The predicted motion after it; `None` if nothing could be predicted.
    after: Option<PlayerMotion>,
    /// Whether a moving body was predicted to be in the way.
    disturbed: bool,
}

/// How far a prediction was from the authoritative motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionError {
    /// The distance in units, at the tick of the authoritative motion.
    pub units: f64,
    /// By how much the correction moved the predicted position of the latest command,
    /// in units: what [`crate::View::position`] smooths.
    pub correction: DVec3,
    /// Whether something that the client cannot predict may have moved the player since
    /// the authoritative motion before: the server reports a push (a moving body was in
    /// the way or carried the player, an explosion threw them, or they were relocated), or
    /// the prediction had a moving body in the way, which may have turned aside in the
    /// meantime. A prop that the player shoves does not count.
    pub disturbed: bool,
}

/// Counters of a prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictionStats {
    /// Authoritative motions that could be compared with a prediction.
    pub compared: u64,
    /// Those that differed from the prediction in at least one bit.
    pub corrections: u64,
    /// Those that put the player elsewhere: spawned, or teleported by something that
    /// only the server knows of. They are not compared.
    pub relocations: u64,
    /// Corrections of more than a tenth of a unit, which can be seen.
    pub visible_corrections: u64,
}

impl PredictionStats {
    /// Adds the counters of another connection.
    pub fn add(&mut self, other: &Self) {
        self.compared += other.compared;
        self.corrections += other.corrections;
        self.relocations += other.relocations;
        self.visible_corrections += other.visible_corrections;
    }
}

impl Prediction {
    /// A prediction on this map, with ticks of this many seconds.
    pub fn new(map: Arc<LoadedMap>, seconds: f64) -> Self {
        Self {
            map,
            seconds,
            authoritative: None,
            pending: VecDeque::new(),
            shoved: ShovedProps::default(),
            stats: PredictionStats::default(),
        }
    }

    /// The predicted motion after the latest command, with its tick.
    pub fn motion(&self) -> Option<(Tick, PlayerMotion)> {
        match self.pending.back() {
            Some(last) => Some((last.tick, last.after?)),
            None => self.authoritative,
        }
    }

    /// Plays a command that has just been sent, and the held command for ticks that
    /// were skipped, among `others`, the latest known states of other entities.
    /// Commands sent earlier for the same tick or a later one are discarded: the clock
    /// has been set back.
    pub fn play(&mut self, sent: &CommandSent, others: &[Observed]) {
        while self.pending.back().is_some_and(|played| played.tick >= sent.tick) {
            self.pending.pop_back();
            self.shoved.clear();
        }
        let last = self.pending.back().map(|played| played.tick);
        let last = last.or(self.authoritative.map(|(tick, _)| tick));
        let mut tick = last.map_or(sent.tick, |last| last.after(1));
        tick = tick.max(sent.tick.before(MAX_PENDING as u32).unwrap_or_default());
        while tick <= sent.tick {
            let command = if tick < sent.tick { sent.held } else { sent.command };
            let mut played = PendingCommand { tick, command, after: None, disturbed: false };
            if let Some((_, motion)) = self.motion() {
                self.step(motion, &mut played, others);
            }
            self.pending.push_back(played);
            tick = tick.after(1);
        }
        while self.pending.len() > MAX_PENDING {
            self.pending.pop_front();
        }
    }

    /// Compares the authoritative motion after `tick` with the prediction for it, and
    /// replays later commands from it if they differ. `others` are the latest known
    /// states of other entities. `None` if that tick had not been predicted, is older
    /// than the latest, or the player was relocated.
    pub fn reconcile(
        &mut self,
        tick: Tick,
        AuthoritativeMotion { motion, since_pushed, touched }: AuthoritativeMotion,
        others: &[Observed],
    ) -> Option<PredictionError> {
        let last = self.authoritative.map(|(tick, _)| tick);
        if last.is_some_and(|last| tick <= last) {
            return None;
        }
        let position = |motion: Option<(Tick, PlayerMotion)>| Some(motion?.1.position.as_dvec3());
        let position_before = position(self.motion());
        self.authoritative = Some((tick, motion));
        let mut predicted = None;
        let between = last.map_or(0, |last| tick.distance(last));
        let mut disturbed =
            since_pushed < AuthoritativeMotion::NOT_RECENT && i64::from(since_pushed) < between;
        while let Some(played) = self.pending.front().filter(|played| played.tick <= tick) {
            predicted = played.after.filter(|_| played.tick == tick);
            disturbed |= played.disturbed;
            self.pending.pop_front();
        }
        // Commands sent before the prediction began: the server played idle ones.
        while let Some(first) = self.pending.front().map(|played| played.tick)
            && first > tick.after(1)
            && self.pending.len() < MAX_PENDING
        {
            let idle = PendingCommand { tick: before(first), ..PendingCommand::default() };
            self.pending.push_front(idle);
        }
        let update = ServerUpdate { tick, observed: others, exact: &touched };
        if predicted != Some(motion) || !self.shoved.is_confirmed(&update) {
            self.replay(motion, &update);
        }
        let predicted = predicted?;
        let error = predicted.position.as_dvec3().distance(motion.position.as_dvec3());
        if error > RELOCATION_DISTANCE {
            self.stats.relocations += 1;
            return None;
        }
        self.stats.compared += 1;
        self.stats.corrections += u64::from(predicted != motion);
        self.stats.visible_corrections += u64::from(error > VISIBLE_ERROR);
        let correction =
            position_before.zip(position(self.motion())).map(|(before, after)| after - before);
        let correction = correction.unwrap_or_default();
        Some(PredictionError { units: error, correction, disturbed })
    }

    /// Forgets the player's motion when the player has left the world: nothing is
    /// predicted until the next authoritative motion.
    pub fn reset(&mut self) {
        self.authoritative = None;
        self.pending.iter_mut().for_each(|played| played.after = None);
        self.shoved.clear();
    }

    /// Whether the player shoves a prop.
    pub fn is_shoving(&self) -> bool {
        self.shoved.are_moving()
    }

    /// What has been counted.
    pub fn stats(&self) -> &PredictionStats {
        &self.stats
    }

    /// The map on which the player moves.
    pub fn map(&self) -> &Arc<LoadedMap> {
        &self.map
    }

    fn replay(&mut self, mut motion: PlayerMotion, update: &ServerUpdate) {
        let movement = (self.seconds, &self.map.predictor);
        if self.is_far_ahead() {
            self.shoved.clear();
        } else {
            self.shoved.restart(update, &motion, movement);
        }
        for index in 0..self.pending.len() {
            let mut played = self.pending[index];
            motion = self.step(motion, &mut played, update.observed);
            self.pending[index] = played;
        }
    }

    fn is_far_ahead(&self) -> bool {
        self.pending.len() as f64 * self.seconds > PROP_PREDICTION_LIMIT
    }

    /// Plays one tick: the player moves among the others, and props that they shove
    /// give way. Returns the motion after it.
    fn step(
        &mut self,
        from: PlayerMotion,
        played: &mut PendingCommand,
        others: &[Observed],
    ) -> PlayerMotion {
        let begins = before(played.tick);
        let is_far_ahead = self.is_far_ahead();
        if is_far_ahead {
            // A prop that is no longer predicted must not stay in the way either.
            self.shoved.clear();
        }
        let (seconds, predictor) = (self.seconds, &self.map.predictor);
        let at = |observed| self.shoved.at(observed, begins, seconds);
        let mut around: Vec<EntityState> = others.iter().map(at).collect();
        let own = self.shoved.ids();
        let Predicted { motion, shoved, pushed } =
            predictor.step(from, played.command, (seconds, &self.map.movement), &mut around, &own);
        if !is_far_ahead {
            let movement = (seconds, predictor);
            self.shoved.advance((played.tick, &motion), &shoved, &around, movement);
        }
        (played.after, played.disturbed) = (Some(motion), pushed);
        motion
    }
}

/// The tick before `tick`.
fn before(tick: Tick) -> Tick {
    tick.before(1).unwrap_or(tick)
}

#[cfg(test)]
mod tests;
