//! Many clients predict at once in a match with things to shove, as far ahead
//! and with as rounded news as on a perfect line.

use proto::quantise::{Quantiser, WorldBounds};
use sim::{Buttons, Random};

use super::*;

/// Ticks from a command to the news of what it led to.
const LAG: u32 = 4;

/// Ticks between two answers of the server.
const ANSWERS: u32 = 6;

/// The same while the player touches something.
const ANSWERS_TOUCHING: u32 = 2;

const PLAYERS: u64 = 16;

/// Runs, turns, jumps and shoots as a seed has it.
struct Script {
    random: Random,
    command: Command,
    fires: bool,
}

impl Script {
    fn next(&mut self) -> Command {
        if self.random.below(25) == 0 {
            let turn = self.random.between(-12_000.0, 12_000.0) as i16;
            self.command.yaw = self.command.yaw.wrapping_add_signed(turn);
        }
        self.command.buttons = match self.random.below(60) {
            0 => Buttons::JUMP,
            1 if self.fires => Buttons::ROCKET,
            2 if self.fires => Buttons::FIRE,
            _ => Buttons::default(),
        };
        self.command
    }
}

/// Errors of all who were not pushed, and how many others there were.
fn play(objects: u32, players: u64, ticks: u32, fires: bool) -> (Vec<f64>, usize) {
    let map = arena();
    let config = Config { tick_rate: 60, seed: 5, objects, max_players: 64 };
    let models = maps::model::shipped();
    let mut world = World::new(Arc::clone(&map.world), models.into(), config).unwrap();
    let bounds = WorldBounds::covering(map.world.bounds().min, map.world.bounds().max).unwrap();
    let mut quantiser = Quantiser::new(bounds);
    let mut clients: Vec<(EntityId, Script, Prediction, Option<Tick>)> = (0..players)
        .map(|number| {
            let mut random = Random::new(number + 1);
            let yaw = random.bits() as u16;
            let command = Command { forward: 127, yaw, ..Command::default() };
            let script = Script { random, command, fires };
            (world.join().unwrap(), script, Prediction::new(Arc::clone(&map), SECONDS), None)
        })
        .collect();
    let mut told: Vec<Told> = Vec::new();
    let mut waiting: VecDeque<Vec<(EntityId, Command)>> = VecDeque::new();
    let (mut free, mut pushed) = (Vec::new(), 0);
    for tick in 1..=ticks {
        let mut commands = Vec::new();
        for (id, script, prediction, _) in &mut clients {
            let command = script.next();
            commands.push((*id, command));
            let others = near(&told, *id, prediction.motion());
            prediction.play(&sent(tick, command), &others);
        }
        waiting.push_back(commands);
        if tick <= LAG {
            continue;
        }
        world.step(&waiting.pop_front().unwrap());
        let now = tick - LAG;
        let state = quantiser.quantise(&world.state()).unwrap();
        told = (0..state.slots())
            .filter_map(|slot| {
                Some((Tick(now), state.entity(slot)?.dequantise(slot as u16, &bounds)))
            })
            .collect();
        for (id, _, prediction, pushed_at) in &mut clients {
            if world.was_pushed(*id) {
                *pushed_at = Some(Tick(now));
            }
            let Some(motion) = world.player_motion(*id) else {
                prediction.lose();
                continue;
            };
            let touches = world.touched_by(*id).next().is_some();
            let interval = if touches { ANSWERS_TOUCHING } else { ANSWERS };
            if (now + u32::from(id.slot)).is_multiple_of(interval) {
                let others = near(&told, *id, Some((Tick(now), motion)));
                let answer = Answer::new(motion, Tick(now), *pushed_at);
                let answer = answer.with_touched(world.touched_by(*id));
                match prediction.reconcile(Tick(now), answer, &others) {
                    Some(error) if error.pushed => pushed += 1,
                    Some(error) => free.push(error.units),
                    None => {}
                }
            }
        }
    }
    free.sort_by(f64::total_cmp);
    (free, pushed)
}

fn near(told: &[Told], own: EntityId, motion: Option<(Tick, PlayerMotion)>) -> Vec<Told> {
    let Some((_, motion)) = motion else { return Vec::new() };
    let here = motion.position.as_dvec3();
    let near =
        |told: &&Told| told.1.id != own && (told.1.position - here).abs().max_element() < 256.0;
    told.iter().filter(near).copied().collect()
}

/// Everybody runs on and on into whatever is there, twice as bad as bots. What
/// errs is the pose of what they run into for the first time, known to a
/// sixty-fourth of a unit and a few thousandths of a radian.
#[test]
fn who_is_not_pushed_is_where_they_were_predicted_to_be() {
    for (objects, players, share) in [(60, PLAYERS, 0.99), (400, 2 * PLAYERS, 0.98)] {
        let (free, pushed) = play(objects, players, 1_500, true);
        let at = |share: f64| free[((free.len() - 1) as f64 * share) as usize];
        let told = [0.5, 0.95, 0.98, 0.99, 1.0].map(at);
        println!("{objects} objects: {} not pushed, {pushed} pushed: {told:?}", free.len());
        assert!(pushed < free.len() / 5, "many count as pushed: little is tested");
        assert!(at(0.5) < 1e-3 && at(share) < 0.1, "{told:?}");
    }
}

#[test]
fn alone_with_what_they_shove_players_are_where_they_were_predicted_to_be() {
    let (free, pushed) = play(60, 1, 3_000, false);
    let at = |share: f64| free[((free.len() - 1) as f64 * share) as usize];
    println!("{} not pushed, {pushed} pushed: {:?}", free.len(), [0.5, 0.95, 0.99].map(at));
    // What leans on another body while it is shoved counts as pushing.
    assert!(pushed < free.len() / 20 && at(0.99) < 0.1, "{pushed} pushed, {}", at(0.99));
}
