//! Client-side prediction and reconciliation of a client's own player.
//!
//! Call [`Prediction::play`] for every command sent, [`Prediction::reconcile`] for every
//! authoritative motion received, [`Prediction::reconcile_vehicle`] for every state of a
//! vehicle that the player drives, and [`Prediction::reset`] when the player leaves the
//! world. [`Prediction::motion`] or [`Prediction::vehicle`] is the result at any time.

mod carriers;
mod driving;
mod shoved_props;

use std::collections::VecDeque;
use std::sync::Arc;

use glam::DVec3;
use obsp_proto::Tick;
use obsp_proto::client::{CommandSent, Observed};
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_sim::{CollisionLayers, Command, DrivenTank, EntityState, PlayerMotion, Predicted};

use crate::LoadedMap;
use carriers::Carriers;
use shoved_props::{ServerUpdate, ShovedProps};

/// Maximum number of commands that wait for the server's answer: two seconds at 60 Hz. A prediction
/// further ahead than that is of no use.
const MAX_PENDING: usize = 128;

/// Seconds of pending commands beyond which props that the player shoves are no longer predicted.
/// After that time the result would be wrong. Without the limit, the cost would also grow with the
/// lateness of a client that lacks CPU time.
const PROP_PREDICTION_LIMIT: f64 = 0.4;

/// Errors below this many units cannot be seen. Such errors are corrected as well.
const VISIBLE_ERROR: f64 = 0.1;

/// Maximum number of ticks by which another body's motion is extrapolated.
const MAX_EXTRAPOLATION: u32 = 12;

/// Error, in units, beyond which the server has put the player elsewhere. Nobody on foot moves
/// that far in the tenth of a second between two authoritative motions.
const RELOCATION_DISTANCE: f64 = 200.0;

/// Moves the client's own player at once instead of a round trip later, by the server's own
/// movement code, and corrects it when the server's report differs.
///
/// Every command sent is played here. When the server reports the player's motion after some tick,
/// the report is compared with the prediction for that tick. If a single bit differs, the server is
/// right, and all later commands are played again from its report.
///
/// ```
/// use std::sync::Arc;
///
/// use obsp_client::{LoadedMap, Prediction};
/// use obsp_proto::Tick;
/// use obsp_proto::client::CommandSent;
/// use obsp_proto::game_data::GameData;
/// use obsp_proto::schema::Schema;
/// use obsp_proto::snapshot::AuthoritativeMotion;
/// use obsp_sim::{Command, Config, World};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/arena.obsp");
/// let world = obsp::Map::load(std::path::Path::new(path))?;
/// let schema = Schema::of_models(["crate".to_owned()])?;
/// let map = Arc::new(LoadedMap::new(world, &GameData::default(), &schema)?);
///
/// // A server with one player, who stands still.
/// let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 1 };
/// let mut server = World::new(Arc::clone(&map.map), [].into(), config)?;
/// let player = server.join().unwrap();
/// let motion = server.player_motion(player).unwrap();
///
/// let mut prediction = Prediction::new(map, 1.0 / 60.0);
/// prediction.reconcile(Tick(0), AuthoritativeMotion::new(motion, Tick(0), None), &[]);
/// // The client plays a command at once; the server plays it later.
/// let command = Command { forward: 127, ..Command::default() };
/// let sent = CommandSent { tick: Tick(1), command, held: command, datagram: Vec::new() };
/// prediction.play(&sent, &[]);
/// server.step(&[(player, command)]);
/// assert_eq!(prediction.motion(), Some((Tick(1), server.player_motion(player).unwrap())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Prediction {
    map: Arc<LoadedMap>,
    /// Length of a tick, in seconds.
    seconds: f64,
    /// The player as the server last reported it, and the tick of that report. The oldest pending
    /// command is played from that motion.
    authoritative: Option<(Tick, Own)>,
    /// Commands for ticks after the tick of the report, in order.
    pending: VecDeque<PendingCommand>,
    /// Props that the player shoves, after the latest command.
    shoved: ShovedProps,
    carriers: Carriers,
    stats: PredictionStats,
    /// The layers of the player.
    layers: CollisionLayers,
    /// Whether pending commands were played with other layers.
    played_with_others: bool,
}

/// A client's own player after a tick.
#[derive(Clone, Debug)]
enum Own {
    OnFoot(PlayerMotion),
    /// The tank, with the bodies near it.
    Driving(Box<DrivenTank>),
}

impl Own {
    fn position(&self) -> Option<DVec3> {
        match self {
            Self::OnFoot(motion) => Some(motion.position.as_dvec3()),
            Self::Driving(tank) => tank.state().map(|tank| tank.state.position),
        }
    }

    fn motion(&self) -> Option<PlayerMotion> {
        match self {
            Self::OnFoot(motion) => Some(*motion),
            Self::Driving(_) => None,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct PendingCommand {
    tick: Tick,
    command: Command,
    /// The predicted player after the command; `None` if nothing could be predicted.
    after: Option<Own>,
    /// Whether a moving body was predicted to be in the way.
    disturbed: bool,
}

/// How far a prediction was from the authoritative motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionError {
    /// The distance in units, at the tick of the authoritative motion.
    pub units: f64,
    /// The vector by which the correction moved the predicted position of the latest command, in
    /// units. [`crate::View::position`] smooths it.
    pub correction: DVec3,
    /// Whether something that the client cannot predict may have moved the player since the last
    /// authoritative motion. Either the server reports a push: a moving body was in the way or
    /// carried the player, an explosion threw the player, or the player was relocated. Or the
    /// prediction had a moving body in the way, which may have turned away meanwhile. A prop that
    /// the player shoves does not count.
    pub disturbed: bool,
}

/// Counters of a prediction.
///
/// ```
/// use obsp_client::PredictionStats;
///
/// let mut all = PredictionStats { compared: 60, corrections: 1, ..PredictionStats::default() };
/// all.add(&PredictionStats { compared: 40, ..PredictionStats::default() });
/// assert_eq!((all.compared, all.corrections), (100, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictionStats {
    /// Authoritative motions that could be compared with a prediction.
    pub compared: u64,
    /// Compared motions that differed from the prediction in at least one bit.
    pub corrections: u64,
    /// Authoritative motions that put the player elsewhere: the player spawned, or was teleported
    /// by something that only the server knows. They are not compared.
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
    /// A prediction on this map, with ticks of `seconds`: more than 0 and at most 1. In ticks of
    /// any other length nothing moves.
    pub fn new(map: Arc<LoadedMap>, seconds: f64) -> Self {
        Self {
            map,
            seconds,
            authoritative: None,
            pending: VecDeque::new(),
            shoved: ShovedProps::default(),
            carriers: Carriers::default(),
            stats: PredictionStats::default(),
            layers: CollisionLayers::default(),
            played_with_others: false,
        }
    }

    /// Sets the layers of the player, as the latest snapshot has them. If they change, the next
    /// report of the player is the start of a replay. The layers of other entities are in their
    /// states.
    pub fn set_layers(&mut self, layers: CollisionLayers) {
        self.played_with_others |= layers != self.layers;
        self.layers = layers;
    }

    /// The predicted motion after the latest command, with its tick; `None` for the driver
    /// of a vehicle.
    pub fn motion(&self) -> Option<(Tick, PlayerMotion)> {
        let (tick, own) = self.own()?;
        Some((tick, own.motion()?))
    }

    /// The predicted position of the player, or of the player's vehicle, after the latest command.
    pub fn position(&self) -> Option<DVec3> {
        self.own()?.1.position()
    }

    /// The tick of the server's latest report of the player that was reconciled.
    pub fn authoritative_tick(&self) -> Option<Tick> {
        self.authoritative.as_ref().map(|(tick, _)| *tick)
    }

    fn own(&self) -> Option<(Tick, &Own)> {
        match self.pending.back() {
            Some(last) => Some((last.tick, last.after.as_ref()?)),
            None => self.authoritative.as_ref().map(|(tick, own)| (*tick, own)),
        }
    }

    /// Plays a command that has just been sent and, before it, the held command for ticks that were
    /// skipped. `others` are the latest known states of other entities. Commands that were sent
    /// earlier for this tick or a later one are discarded, because the clock has been set back.
    pub fn play(&mut self, sent: &CommandSent, others: &[Observed]) {
        while self.pending.back().is_some_and(|played| played.tick >= sent.tick) {
            self.pending.pop_back();
            self.shoved.clear();
            self.carriers.forget_from(sent.tick);
        }
        let last = self.pending.back().map(|played| played.tick);
        let last = last.or(self.authoritative_tick());
        let mut tick = last.map_or(sent.tick, |last| last.after(1));
        tick = tick.max(sent.tick.before(MAX_PENDING as u32).unwrap_or_default());
        while tick <= sent.tick {
            let command = if tick < sent.tick { sent.held } else { sent.command };
            let mut played = PendingCommand { tick, command, after: None, disturbed: false };
            if let Some(own) = self.own().map(|(_, own)| own.clone()) {
                self.step(own, &mut played, others);
            }
            self.pending.push_back(played);
            tick = tick.after(1);
        }
        while self.pending.len() > MAX_PENDING {
            self.pending.pop_front();
        }
    }

    /// Compares the authoritative motion after `tick` with the prediction, and replays later
    /// commands from it if the two differ. `others` are the latest known states of other entities.
    ///
    /// Returns `None` if that tick had not been predicted or is no newer than the last one
    /// reconciled, if the player was relocated, or if the motion is invalid, for example not
    /// finite.
    pub fn reconcile(
        &mut self,
        tick: Tick,
        AuthoritativeMotion { motion, since_pushed, touched }: AuthoritativeMotion,
        others: &[Observed],
    ) -> Option<PredictionError> {
        let last = self.authoritative_tick();
        if last.is_some_and(|last| tick <= last) || !motion.is_sound() {
            return None;
        }
        let position_before = self.position();
        let between = last.map_or(0, |last| tick.distance(last));
        let was_pushed =
            since_pushed < AuthoritativeMotion::NOT_RECENT && i64::from(since_pushed) < between;
        let (predicted, met) = self.take_played(tick);
        self.authoritative = Some((tick, Own::OnFoot(motion)));
        let predicted = predicted.and_then(|own| own.motion());
        let update = ServerUpdate { tick, observed: others, exact: &touched };
        let mut carriers = Carriers::of(&update, &self.map.predictor);
        let foreseen = carriers.continues(&self.carriers, self.seconds);
        self.carriers = carriers;
        let was_other = std::mem::take(&mut self.played_with_others);
        let is_confirmed = foreseen && self.shoved.is_confirmed(&update);
        if predicted != Some(motion) || was_other || !is_confirmed {
            self.carriers.forget_from(tick.after(1));
            if self.is_far_ahead() {
                self.shoved.clear();
            } else {
                let by = (self.seconds, &self.map.predictor);
                self.shoved.restart(&update, (&motion, self.layers), by);
            }
            self.replay(Own::OnFoot(motion), others);
        }
        let predicted = predicted?;
        let positions = [predicted.position, motion.position].map(|at| at.as_dvec3());
        self.compared(positions, predicted != motion, position_before, met || was_pushed)
    }

    /// Counts a comparison of a prediction with the server's report. The arguments are the
    /// predicted and the reported position, whether anything differed, the position after the
    /// latest command before the replay, and whether the player may have been disturbed.
    fn compared(
        &mut self,
        [predicted, found]: [DVec3; 2],
        differs: bool,
        before: Option<DVec3>,
        disturbed: bool,
    ) -> Option<PredictionError> {
        let error = predicted.distance(found);
        if error > RELOCATION_DISTANCE {
            self.stats.relocations += 1;
            return None;
        }
        self.stats.compared += 1;
        self.stats.corrections += u64::from(differs);
        self.stats.visible_corrections += u64::from(error > VISIBLE_ERROR);
        let correction = before.zip(self.position()).map(|(before, after)| after - before);
        let correction = correction.unwrap_or_default();
        Some(PredictionError { units: error, correction, disturbed })
    }

    /// Takes the commands up to `tick` out of the pending ones. Returns the prediction for that
    /// tick, and whether a moving body was predicted to be in the way until then.
    fn take_played(&mut self, tick: Tick) -> (Option<Own>, bool) {
        let (mut predicted, mut disturbed) = (None, false);
        while self.pending.front().is_some_and(|played| played.tick <= tick)
            && let Some(played) = self.pending.pop_front()
        {
            predicted = played.after.filter(|_| played.tick == tick);
            disturbed |= played.disturbed;
        }
        // The server plays idle commands in ticks before the first command that was sent.
        while let Some(first) = self.pending.front().map(|played| played.tick)
            && first > tick.after(1)
            && self.pending.len() < MAX_PENDING
        {
            let idle = PendingCommand { tick: before(first), ..PendingCommand::default() };
            self.pending.push_front(idle);
        }
        (predicted, disturbed)
    }

    /// Forgets the player's motion because the player has left the world. Nothing is predicted
    /// until the next authoritative motion.
    pub fn reset(&mut self) {
        self.authoritative = None;
        self.pending.iter_mut().for_each(|played| played.after = None);
        self.shoved.clear();
    }

    /// Whether the player shoves a prop.
    pub fn is_shoving(&self) -> bool {
        self.shoved.are_moving()
    }

    /// The counters of this prediction.
    pub fn stats(&self) -> &PredictionStats {
        &self.stats
    }

    /// The map on which the player moves.
    pub fn map(&self) -> &Arc<LoadedMap> {
        &self.map
    }

    /// Plays all pending commands again, from `own`.
    fn replay(&mut self, mut own: Own, others: &[Observed]) {
        for index in 0..self.pending.len() {
            let mut played = std::mem::take(&mut self.pending[index]);
            own = self.step(own, &mut played, others);
            self.pending[index] = played;
        }
    }

    fn is_far_ahead(&self) -> bool {
        self.pending.len() as f64 * self.seconds > PROP_PREDICTION_LIMIT
    }

    /// Plays one tick; returns the player after it.
    fn step(&mut self, from: Own, played: &mut PendingCommand, others: &[Observed]) -> Own {
        let after = match from {
            Own::OnFoot(motion) => Own::OnFoot(self.walk(motion, played, others)),
            Own::Driving(tank) => Own::Driving(self.drive(tank, played, others)),
        };
        played.after = Some(after.clone());
        after
    }

    /// Plays one tick on foot: the player moves among the others, and shoved props give way.
    /// Returns the motion after it.
    fn walk(
        &mut self,
        from: PlayerMotion,
        played: &mut PendingCommand,
        others: &[Observed],
    ) -> PlayerMotion {
        let begins = before(played.tick);
        let is_far_ahead = self.is_far_ahead();
        if is_far_ahead {
            // A prop that is no longer predicted must not be in the way either.
            self.shoved.clear();
        }
        let (seconds, predictor) = (self.seconds, &self.map.predictor);
        let at = |observed| {
            let carrier = self.carriers.at(observed, begins, seconds);
            carrier.unwrap_or_else(|| self.shoved.at(observed, begins, seconds))
        };
        let mut around: Vec<EntityState> = others.iter().map(at).collect();
        let own = self.shoved.ids();
        let by = (seconds, &self.map.movement, self.layers);
        let Predicted { motion, shoved, pushed } =
            predictor.step(from, played.command, by, &mut around, &own, &self.carriers.spins());
        if !is_far_ahead {
            let movement = (seconds, predictor);
            let player = (&motion, self.layers);
            self.shoved.advance((played.tick, player), &shoved, &around, movement);
        }
        self.carriers.meet(&motion, played.tick, (seconds, predictor));
        played.disturbed = pushed;
        motion
    }
}

fn before(tick: Tick) -> Tick {
    tick.before(1).unwrap_or(tick)
}

#[cfg(test)]
mod tests;
