mod shoved;

use std::collections::VecDeque;
use std::sync::Arc;

use proto::Tick;
use proto::client::CommandSent;
use proto::snapshot::Answer;
use sim::{Command, EntityState, PlayerMotion, Predicted};

use super::map_store::LoadedMap;
use shoved::{News, Shoved};

/// Commands that may wait for the server's answer: two seconds at 60 Hz. Who
/// hears nothing for longer has other troubles than the place of their feet.
const UNANSWERED: usize = 128;

/// Seconds ahead of the last answer, from which on what the player shoves is not
/// foreseen any more: it would be wrong by then, and who is late for want of
/// processor time must not spend more of it the later they are.
const FORESEEN: f64 = 0.4;

/// Errors below this many units are corrected too, but nobody could see it.
const VISIBLE: f64 = 0.1;

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
    shoved: Shoved,
    stats: PredictionStats,
}

/// An entity as the server told of it last, and of which tick that was.
pub type Told = (Tick, EntityState);

#[derive(Clone, Copy, Debug, Default)]
struct Played {
    tick: Tick,
    command: Command,
    /// How the player moves after it, if that could be predicted.
    after: Option<PlayerMotion>,
    /// Whether something that moves was thought to be in the way.
    pushed: bool,
}

/// How far a prediction was from the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionError {
    /// The distance in units.
    pub units: f64,
    /// Whether the player was pushed since the answer that this was predicted
    /// from. The server says so if something that moves was in the way or
    /// carried them, a burst threw them, or they were put elsewhere; and the
    /// prediction if it took something that moves to be in the way, where that
    /// may have turned aside in the meantime. What the player shoves themself
    /// pushes nobody.
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
            shoved: Shoved::default(),
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

    /// Plays a command that has just been sent, and those of skipped ticks, past
    /// `others`, each as it was last heard of.
    pub fn play(&mut self, sent: &CommandSent, others: &[Told]) {
        let last = self.unanswered.back().map(|played| played.tick);
        let last = last.or(self.answered.map(|(tick, _)| tick));
        let mut tick = last.map_or(sent.tick, |last| last.after(1));
        tick = tick.max(sent.tick.before(UNANSWERED as u32).unwrap_or_default());
        while tick <= sent.tick {
            let command = if tick < sent.tick { sent.held } else { sent.command };
            let mut played = Played { tick, command, after: None, pushed: false };
            if let Some((_, motion)) = self.motion() {
                self.step(motion, &mut played, others);
            }
            self.unanswered.push_back(played);
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
        Answer { motion, since_pushed, touched }: Answer,
        others: &[Told],
    ) -> Option<PredictionError> {
        let last = self.answered.map(|(answered, _)| answered);
        if last.is_some_and(|last| tick <= last) {
            return None;
        }
        self.answered = Some((tick, motion));
        let mut predicted = None;
        let between = last.map_or(0, |last| tick.distance(last));
        let mut pushed = since_pushed < Answer::LONG_AGO && i64::from(since_pushed) < between;
        while let Some(played) = self.unanswered.front().filter(|played| played.tick <= tick) {
            predicted = played.after.filter(|_| played.tick == tick);
            pushed |= played.pushed;
            self.unanswered.pop_front();
        }
        // What was sent before there was a prediction: nothing but idling.
        while let Some(first) = self.unanswered.front().map(|played| played.tick)
            && first > tick.after(1)
            && self.unanswered.len() < UNANSWERED
        {
            let idle = Played { tick: before(first), ..Played::default() };
            self.unanswered.push_front(idle);
        }
        let news = News { tick, told: others, exact: &touched };
        if predicted != Some(motion) || !self.shoved.is_confirmed(&news) {
            self.replay(motion, &news);
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
        Some(PredictionError { units: error, pushed })
    }

    /// Takes in that the player is not in the world: there is nothing to
    /// predict until the server tells where they come back.
    pub fn lose(&mut self) {
        self.answered = None;
        self.unanswered.iter_mut().for_each(|played| played.after = None);
        self.shoved.clear();
    }

    /// Whether the player is shoving something.
    pub fn is_shoving(&self) -> bool {
        self.shoved.are_moving()
    }

    /// How well it went so far.
    pub fn stats(&self) -> &PredictionStats {
        &self.stats
    }

    /// The map it is played on.
    pub fn map(&self) -> &Arc<LoadedMap> {
        &self.map
    }

    fn replay(&mut self, mut motion: PlayerMotion, news: &News) {
        let code = (self.seconds, &self.map.predictor);
        if self.is_far_ahead() {
            self.shoved.clear();
        } else {
            self.shoved.begin_anew(news, &motion, code);
        }
        for index in 0..self.unanswered.len() {
            let mut played = self.unanswered[index];
            motion = self.step(motion, &mut played, news.told);
            self.unanswered[index] = played;
        }
    }

    fn is_far_ahead(&self) -> bool {
        self.unanswered.len() as f64 * self.seconds > FORESEEN
    }

    /// One tick: the player moves past the others, and what they shove gives way.
    fn step(&mut self, from: PlayerMotion, played: &mut Played, others: &[Told]) -> PlayerMotion {
        let begins = before(played.tick);
        let is_far_ahead = self.is_far_ahead();
        if is_far_ahead {
            // What is not moved on any more must not stay in the way either.
            self.shoved.clear();
        }
        let (seconds, predictor) = (self.seconds, &self.map.predictor);
        let at = |told| self.shoved.at(told, begins, seconds);
        let mut around: Vec<EntityState> = others.iter().map(at).collect();
        let own = self.shoved.ids();
        let Predicted { motion, shoved, pushed } =
            predictor.step(from, played.command, seconds, &mut around, &own);
        if !is_far_ahead {
            let code = (seconds, predictor);
            self.shoved.advance((played.tick, &motion), &shoved, &around, code);
        }
        (played.after, played.pushed) = (Some(motion), pushed);
        motion
    }
}

/// The tick that ends where `tick` begins.
fn before(tick: Tick) -> Tick {
    tick.before(1).unwrap_or(tick)
}

#[cfg(test)]
mod tests;
