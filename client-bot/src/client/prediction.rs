use std::collections::VecDeque;
use std::sync::Arc;

use proto::Tick;
use proto::client::CommandSent;
use sim::{Command, EntityState, Kind, PlayerMotion};

use super::map_store::LoadedMap;

/// Commands that may wait for the server's answer: two seconds at 60 Hz. Who
/// hears nothing for longer has other troubles than the place of their feet.
const UNANSWERED: usize = 128;

/// Errors below this many units are corrected too, but nobody could see it.
const VISIBLE: f64 = 0.1;

/// A body this near, in units beyond what it and the player may do in a tenth
/// of a second, may have touched the player.
const ARM: f64 = 4.0;

/// The time between two answers in which it may have, in seconds.
const BETWEEN: f64 = 0.1;

/// A projectile this near, in units, may burst upon the player: the reach of a
/// burst, and what a rocket flies in the meantime.
const BLAST: f64 = 230.0;

/// A prop slower than this, in units per second, moves nobody.
const SLOW: f64 = 8.0;

/// Ticks that a body is thought to go on as it was last heard to move.
const CARRIED: u32 = 12;

/// Farther than this, in units, nobody gets in the tenth of a second between two
/// answers on their own feet: the server has put the player elsewhere.
const RELOCATED: f64 = 200.0;

/// Moves the client's own player at once instead of a round trip later, with
/// the server's own movement code, and mends what turns out otherwise.
///
/// Every command sent is played here; when the server tells how the player
/// moved after some tick, that is compared with what was predicted for the
/// same tick. If the two differ in a single bit, the server is right: all
/// later commands are played again from there.
#[derive(Debug)]
pub struct Prediction {
    map: Arc<LoadedMap>,
    /// Length of a tick.
    seconds: f64,
    /// Where the oldest unanswered command is played from.
    answered: Option<(Tick, PlayerMotion)>,
    /// Commands that the server has not answered, in order of their ticks.
    unanswered: VecDeque<Played>,
    /// Props that the player shoves, after the last command.
    shoved: Vec<EntityState>,
    /// Whether anything may have pushed the player between the last two
    /// answers.
    pushed: bool,
    stats: PredictionStats,
}

/// An entity as the server told of it last, and of which tick that was.
pub type Told = (Tick, EntityState);

#[derive(Clone, Copy, Debug)]
struct Played {
    tick: Tick,
    command: Command,
    /// How the player moves after it, if that could be predicted.
    after: Option<PlayerMotion>,
    /// Whether anything may push the player meanwhile.
    pushed: bool,
}

/// How far a prediction was from the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionError {
    /// The distance in units.
    pub units: f64,
    /// Whether the player may have been pushed since the answer that this was
    /// predicted from, the one before the last: another player, or a prop that moves though they did not shove it, was
    /// near enough to touch them, or a projectile to burst upon them. What
    /// those did in between no client can know. What the player shoves
    /// themself pushes nobody.
    pub pushed: bool,
}

/// How well a player's motion was predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictionStats {
    /// Answers of the server that could be compared with a prediction.
    pub compared: u64,
    /// Answers that were not what was predicted, by however little.
    pub corrections: u64,
    /// Answers that put the player somewhere else altogether: spawned anew, or
    /// teleported by what only the server knows of. They are not compared.
    pub relocations: u64,
    /// Of the corrections, the ones that could be seen: by more than a tenth of a unit.
    pub visible_corrections: u64,
}

impl Prediction {
    /// A prediction on this map, at this length of a tick.
    pub fn new(map: Arc<LoadedMap>, seconds: f64) -> Self {
        Self {
            map,
            seconds,
            answered: None,
            unanswered: VecDeque::new(),
            shoved: Vec::new(),
            pushed: false,
            stats: PredictionStats::default(),
        }
    }

    /// How the player moves after the last command, with the tick of that.
    pub fn motion(&self) -> Option<(Tick, PlayerMotion)> {
        match self.unanswered.back() {
            Some(last) => Some((last.tick, last.after?)),
            None => self.answered,
        }
    }

    /// Plays a command that has just been sent, past `others`, each as it was
    /// last heard of.
    pub fn play(&mut self, sent: &CommandSent, others: &[Told]) {
        let mut tick = sent.first;
        while tick <= sent.tick {
            let known = self.motion();
            let pushed =
                known.is_some_and(|(_, motion)| self.may_be_pushed(&motion, before(tick), others));
            let after = known.map(|(_, motion)| self.step(motion, tick, sent.command, others));
            self.unanswered.push_back(Played { tick, command: sent.command, after, pushed });
            tick = tick.after(1);
        }
        while self.unanswered.len() > UNANSWERED {
            self.unanswered.pop_front();
        }
    }

    /// Takes in how the server says that the player moved after `tick`, with
    /// the others as they were last heard of; gives how far that is from what
    /// was predicted, if it was.
    pub fn reconcile(
        &mut self,
        tick: Tick,
        motion: PlayerMotion,
        others: &[Told],
    ) -> Option<PredictionError> {
        if self.answered.is_some_and(|(answered, _)| tick <= answered) {
            return None;
        }
        self.answered = Some((tick, motion));
        let mut predicted = None;
        let mut pushed = self.may_be_pushed(&motion, tick, others);
        while let Some(played) = self.unanswered.front().filter(|played| played.tick <= tick) {
            predicted = played.after.filter(|_| played.tick == tick);
            pushed |= played.pushed;
            self.unanswered.pop_front();
        }
        // What is judged was predicted from the answer before the last.
        let pushed_before = std::mem::replace(&mut self.pushed, pushed);
        if predicted != Some(motion) {
            self.replay(motion, others);
        }
        let predicted = predicted?;
        let error = predicted.position.as_dvec3().distance(motion.position.as_dvec3());
        if error > RELOCATED {
            self.stats.relocations += 1;
            return None;
        }
        self.stats.compared += 1;
        self.stats.corrections += u64::from(predicted != motion);
        self.stats.visible_corrections += u64::from(error > VISIBLE);
        Some(PredictionError { units: error, pushed: pushed || pushed_before })
    }

    /// Takes in that the player is not in the world: there is nothing to
    /// predict until the server tells where they come back.
    pub fn lose(&mut self) {
        self.answered = None;
        self.unanswered.iter_mut().for_each(|played| played.after = None);
        self.shoved.clear();
    }

    /// How well it went so far.
    pub fn stats(&self) -> &PredictionStats {
        &self.stats
    }

    /// The map it is played on.
    pub fn map(&self) -> &Arc<LoadedMap> {
        &self.map
    }

    fn replay(&mut self, mut motion: PlayerMotion, others: &[Told]) {
        self.shoved.clear();
        for index in 0..self.unanswered.len() {
            let Played { tick, command, pushed, .. } = self.unanswered[index];
            let pushed = pushed || self.may_be_pushed(&motion, before(tick), others);
            motion = self.step(motion, tick, command, others);
            self.unanswered[index] = Played { tick, command, after: Some(motion), pushed };
        }
    }

    /// One tick: the player moves past the others, and what they shove slides.
    fn step(
        &mut self,
        motion: PlayerMotion,
        tick: Tick,
        command: Command,
        others: &[Told],
    ) -> PlayerMotion {
        let mut around: Vec<EntityState> =
            others.iter().map(|told| self.at(told, before(tick))).collect();
        let predictor = &self.map.predictor;
        let (moved, shoved) = predictor.step(motion, command, self.seconds, &mut around);
        let shoves = |state: &EntityState| self.shoved.iter().any(|own| own.id == state.id);
        let moving =
            (0..around.len()).filter(|index| shoved.contains(index) || shoves(&around[*index]));
        self.shoved = moving
            .map(|index| predictor.slide(around[index], &around, &moved, self.seconds))
            .collect();
        moved
    }

    /// Another at the end of `tick`: what the player shoves as that goes, the
    /// others as they were heard to move.
    fn at(&self, (heard, state): &Told, tick: Tick) -> EntityState {
        if let Some(own) = self.shoved.iter().find(|own| own.id == state.id) {
            return *own;
        }
        if state.asleep {
            return *state;
        }
        let ticks = tick.distance(*heard).clamp(0, CARRIED.into());
        let position = state.position + state.velocity * (ticks as f64 * self.seconds);
        EntityState { position, ..*state }
    }

    /// Whether anything may have moved the player that they did not move
    /// themself.
    fn may_be_pushed(&self, motion: &PlayerMotion, tick: Tick, others: &[Told]) -> bool {
        let predictor = &self.map.predictor;
        let own_speed = f64::from(motion.velocity.length());
        others.iter().any(|told| {
            let state = self.at(told, tick);
            let shoves = self.shoved.iter().any(|own| own.id == state.id);
            let speed = state.velocity.length();
            let reach = match state.kind {
                Kind::Prop { model } if predictor.bursts(model) => BLAST,
                Kind::Prop { .. } if shoves || state.asleep || speed < SLOW => return false,
                _ => ARM + (own_speed + speed) * BETWEEN,
            };
            predictor.is_near(motion, &state, reach)
        })
    }
}

/// The tick that ends where `tick` begins.
fn before(tick: Tick) -> Tick {
    tick.before(1).unwrap_or(tick)
}

#[cfg(test)]
mod tests;
