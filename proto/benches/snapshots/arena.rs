//! A real match: 32 players and 500 bodies on the arena, simulated.

use std::path::Path;
use std::sync::Arc;

use obsp_game::arena::Arena;
use obsp_game::{Match, RunningMatch};
use obsp_proto::Tick;
use obsp_proto::quantise::{Quantised, Quantiser};
use obsp_proto::server::OwnPlayer;
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_sim::{Buttons, Command, Config, EntityId, PlayerKind};

use crate::random::Random;

/// A tick of a match, and the data that each client gets about its own player.
pub(crate) struct Moment {
    pub(crate) state: Arc<Quantised>,
    pub(crate) players: Vec<(EntityId, OwnPlayer)>,
}

/// Ticks before the measurement, in which scattered bodies come to rest.
const SETTLING: usize = 1200;

/// Plays this many ticks of a match in which all players either stand still or run about
/// and shoot all the time.
pub(crate) fn play(fights: bool, ticks: usize) -> Vec<Moment> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../maps/arena.obsp");
    let map = Arc::new(obsp::Map::load(Path::new(path)).unwrap());
    let config = Config { tick_rate: 60, seed: 1, objects: 500, max_players: 32 };
    let mut game = Match::new(Arena, map, config).unwrap();
    let players: Vec<EntityId> = (0..32).map(|_| game.join_as(PlayerKind::Box).unwrap()).collect();
    let mut random = Random::new(1);
    let mut turns = vec![0; players.len()];
    let mut commands: Vec<_> = players.iter().map(|&id| (id, Command::default())).collect();
    let mut quantiser = Quantiser::new(crate::bounds());
    let mut pushed: Vec<Option<Tick>> = vec![None; players.len()];
    let mut moments = Vec::with_capacity(ticks);
    for tick in 0..SETTLING + ticks {
        if fights {
            for ((_, command), turn) in commands.iter_mut().zip(&mut turns) {
                decide(&mut random, command, turn);
            }
        }
        game.step(&commands);
        let world = game.world();
        let now = Tick::from_simulation(world.state().tick).unwrap();
        for (&id, pushed) in players.iter().zip(&mut pushed) {
            if world.was_pushed(id) {
                *pushed = Some(now);
            }
        }
        if tick >= SETTLING {
            let state = Arc::new(quantiser.quantise(&world.state()).unwrap());
            let own = |(&id, &pushed)| {
                let motion = |motion| {
                    AuthoritativeMotion::new(motion, now, pushed)
                        .with_touched(now, world.touched_by(id))
                };
                let motion = world.player_motion(id).map(motion);
                (id, OwnPlayer { motion, ..OwnPlayer::default() })
            };
            let players = players.iter().zip(&pushed).map(own).collect();
            moments.push(Moment { state, players });
        }
    }
    moments
}

/// The commands of a player who runs, looks about and shoots without a pause. `turn` is the
/// change of heading, in steps a tick.
fn decide(random: &mut Random, command: &mut Command, turn: &mut i16) {
    if random.chance(0.03) {
        command.forward = [127, 127, 127, -127, 0][random.below(5)];
        command.right = [0, 0, 127, -127][random.below(4)];
    }
    if random.chance(0.08) {
        *turn = [0, 0, 0, 150, -150, 500, -500, 1200, -1800][random.below(9)];
        command.pitch = random.within(-4000.0, 2000.0) as i16;
    }
    command.yaw = command.yaw.wrapping_add_signed(*turn);
    let keys =
        [Buttons::JUMP, Buttons::CROUCH, Buttons::PRIMARY, Buttons::SECONDARY, Buttons::TERTIARY];
    let probabilities = [0.02, 0.05, 0.05, 0.005, 0.003];
    command.buttons = Buttons::default();
    for (key, probability) in keys.into_iter().zip(probabilities) {
        if random.chance(probability) {
            command.buttons = command.buttons | key;
        }
    }
}
