use std::collections::VecDeque;
use std::sync::Arc;

use proto::Tick;
use proto::client::CommandSent;
use sim::{Command, EntityState, PlayerMotion};

use super::map_store::LoadedMap;

/// Commands that may wait for the server's answer: two seconds at 60 Hz. Who
/// hears nothing for longer has other troubles than the place of their feet.
const UNANSWERED: usize = 128;

/// Errors below this many units are corrected too, but nobody could see it.
const VISIBLE: f64 = 0.1;

/// How near, in units on each axis, another body's centre is to the player's if
/// the two may have touched within a round trip: half a player, half of the
/// largest crate, and a few ticks' way of both.
const CROWDED: f64 = 96.0;

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
    stats: PredictionStats,
}

#[derive(Clone, Copy, Debug)]
struct Played {
    tick: Tick,
    command: Command,
    /// How the player moves after it, if that could be predicted.
    after: Option<PlayerMotion>,
}

/// How far a prediction was from the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionError {
    /// The distance in units.
    pub units: f64,
    /// Whether anything was so near that the player may have been pushed or held
    /// up by it: what it did in between no client can know.
    pub crowded: bool,
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

    /// Plays a command that has just been sent, past `others`.
    pub fn play(&mut self, sent: &CommandSent, others: &[EntityState]) {
        let mut tick = sent.first;
        while tick <= sent.tick {
            let before = self.motion();
            let after = before.map(|(_, motion)| self.step(motion, sent.command, others));
            self.unanswered.push_back(Played { tick, command: sent.command, after });
            tick = tick.after(1);
        }
        while self.unanswered.len() > UNANSWERED {
            self.unanswered.pop_front();
        }
    }

    /// Takes in how the server says that the player moved after `tick`, with
    /// the others as they are known to be then; gives how far that is from what
    /// was predicted, if it was.
    pub fn reconcile(
        &mut self,
        tick: Tick,
        motion: PlayerMotion,
        others: &[EntityState],
    ) -> Option<PredictionError> {
        if self.answered.is_some_and(|(answered, _)| tick <= answered) {
            return None;
        }
        self.answered = Some((tick, motion));
        let mut predicted = None;
        while let Some(played) = self.unanswered.front().filter(|played| played.tick <= tick) {
            predicted = played.after.filter(|_| played.tick == tick);
            self.unanswered.pop_front();
        }
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
        let touches = |other: &EntityState| {
            (other.position - motion.position.as_dvec3()).abs().max_element() < CROWDED
        };
        Some(PredictionError { units: error, crowded: others.iter().any(touches) })
    }

    /// How well it went so far.
    pub fn stats(&self) -> &PredictionStats {
        &self.stats
    }

    /// The map it is played on.
    pub fn map(&self) -> &Arc<LoadedMap> {
        &self.map
    }

    fn replay(&mut self, mut motion: PlayerMotion, others: &[EntityState]) {
        for index in 0..self.unanswered.len() {
            motion = self.step(motion, self.unanswered[index].command, others);
            self.unanswered[index].after = Some(motion);
        }
    }

    fn step(&self, motion: PlayerMotion, command: Command, others: &[EntityState]) -> PlayerMotion {
        self.map.predictor.step(motion, command, self.seconds, others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use sim::{Config, EntityId, World};

    const SECONDS: f64 = 1.0 / 60.0;

    fn arena() -> Arc<LoadedMap> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../maps/arena.obsp");
        let world = maps::World::load(std::path::Path::new(path)).unwrap();
        Arc::new(LoadedMap::new(world).unwrap())
    }

    fn sent(tick: u32, command: Command) -> CommandSent {
        CommandSent { tick: Tick(tick), command, first: Tick(tick), datagram: Vec::new() }
    }

    /// A player in an otherwise empty match, as the server has it.
    fn alone(map: &LoadedMap) -> (World, EntityId) {
        let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 1 };
        let mut world = World::new(Arc::clone(&map.world), [].into(), config).unwrap();
        let player = world.join().unwrap();
        (world, player)
    }

    fn wandering(tick: u32) -> Command {
        let yaw = (tick / 40 * 9_000) as u16;
        let keys = if tick % 90 < 3 { sim::Buttons::JUMP } else { sim::Buttons::default() };
        Command {
            forward: 127,
            right: (tick % 100) as i8,
            yaw,
            buttons: keys,
            ..Command::default()
        }
    }

    #[test]
    fn alone_every_bit_is_as_predicted() {
        let map = arena();
        let (mut world, player) = alone(&map);
        let mut prediction = Prediction::new(map, SECONDS);
        prediction.reconcile(Tick(0), world.player_motion(player).unwrap(), &[]);
        // The server is ten ticks behind what the client plays.
        for tick in 1..1000 {
            prediction.play(&sent(tick, wandering(tick)), &[]);
            if tick > 10 {
                world.step(&[(player, wandering(tick - 10))]);
                let motion = world.player_motion(player).unwrap();
                let error = PredictionError { units: 0.0, crowded: false };
                assert_eq!(prediction.reconcile(Tick(tick - 10), motion, &[]), Some(error));
            }
        }
        let expected = PredictionStats { compared: 989, ..PredictionStats::default() };
        assert_eq!(*prediction.stats(), expected);
    }

    #[test]
    fn what_the_server_did_otherwise_is_mended_in_all_that_follows() {
        let map = arena();
        let (world, player) = alone(&map);
        let start = world.player_motion(player).unwrap();
        let mut prediction = Prediction::new(Arc::clone(&map), SECONDS);
        prediction.reconcile(Tick(0), start, &[]);
        for tick in 1..=6 {
            prediction.play(&sent(tick, wandering(tick)), &[]);
        }
        // A shove of a unit that the client knew nothing of.
        let predicted = prediction.unanswered[1].after.unwrap();
        let shoved = PlayerMotion { position: predicted.position + Vec3::Z, ..predicted };
        let error = prediction.reconcile(Tick(2), shoved, &[]).unwrap();
        assert!((error.units - 1.0).abs() < 1e-3, "{error:?}");
        let mut expected = shoved;
        for tick in 3..=6 {
            expected = map.predictor.step(expected, wandering(tick), SECONDS, &[]);
        }
        assert_eq!(prediction.motion(), Some((Tick(6), expected)));
        assert_eq!(prediction.reconcile(Tick(1), start, &[]), None, "old news");
        assert_eq!(prediction.stats().visible_corrections, 1);
    }

    #[test]
    fn being_put_elsewhere_is_no_error_of_prediction() {
        let map = arena();
        let (world, player) = alone(&map);
        let start = world.player_motion(player).unwrap();
        let mut prediction = Prediction::new(map, SECONDS);
        prediction.reconcile(Tick(0), start, &[]);
        prediction.play(&sent(1, wandering(1)), &[]);
        let elsewhere = PlayerMotion { position: start.position + Vec3::X * 900.0, ..start };
        assert_eq!(prediction.reconcile(Tick(1), elsewhere, &[]), None);
        assert_eq!(prediction.motion(), Some((Tick(1), elsewhere)));
        let expected = PredictionStats { relocations: 1, ..PredictionStats::default() };
        assert_eq!(*prediction.stats(), expected);
    }

    #[test]
    fn what_is_never_answered_is_bounded() {
        let mut prediction = Prediction::new(arena(), SECONDS);
        for tick in 0..10_000 {
            prediction.play(&sent(tick, Command::default()), &[]);
        }
        assert_eq!((prediction.unanswered.len(), prediction.motion()), (UNANSWERED, None));
    }
}
