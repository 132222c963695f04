//! Plays the arena with the gravity gun, and audits every tick.

use std::path::Path;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use gravity_gun::{GEMS, GravityGun};
use obsp_game::{Game, Match, RunningMatch};
use obsp_sim::audit::Audit;
use obsp_sim::{Buttons, Command, Config, EntityId, Kind, PlayerKind, Random};

fn start(seed: u64) -> (Match<GravityGun>, Audit) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../maps/arena.obsp");
    let map = Arc::new(obsp::Map::load(&path).unwrap());
    let game = GravityGun::default();
    let audit = Audit::new(&map, &game.models()).unwrap();
    let config = Config { tick_rate: 60, seed, objects: 60, max_players: 8 };
    (Match::new(game, map, config).unwrap(), audit)
}

fn gems(game: &Match<GravityGun>) -> Vec<(EntityId, DVec3)> {
    let kind = Kind::Prop { model: game.world().model("gem").unwrap() };
    let entities = game.world().state().entities.into_iter();
    entities.filter(|entity| entity.kind == kind).map(|gem| (gem.id, gem.position)).collect()
}

/// The command that looks from a player's eyes at a point.
fn look(from: DVec3, at: DVec3, buttons: Buttons) -> Command {
    let way = at - from;
    let steps = |angle: f64| (angle / std::f64::consts::TAU * 65_536.0) as i32;
    let pitch = steps(way.z.atan2(way.truncate().length())) as i16;
    Command { yaw: steps(way.y.atan2(way.x)) as u16, pitch, buttons, ..Command::default() }
}

#[test]
fn a_gem_is_pulled_to_the_player_and_held() {
    let (mut game, mut audit) = start(1);
    assert_eq!(gems(&game).len(), GEMS);
    let player = game.join_as(PlayerKind::Box).unwrap();
    (0..60).for_each(|_| game.step(&[]));
    let eye =
        |game: &Match<GravityGun>| game.world().entity(player).unwrap().position + DVec3::Z * 22.0;
    // The gem is put where the player sees it, 250 units away.
    let (from, gem) = (eye(&game), gems(&game)[0].0);
    let mut places = (0..64).map(|turn| {
        let angle = f64::from(turn) / 64.0 * std::f64::consts::TAU;
        from + DVec3::new(angle.cos(), angle.sin(), 0.0) * 250.0
    });
    let before = places.find(|at| {
        let sees = |game: &Match<GravityGun>| {
            game.world().cast_ray(from, *at, Some(player)).entity == Some(gem)
        };
        game.world_mut().teleport(gem, *at, DQuat::IDENTITY).is_ok() && sees(&game)
    });
    let before = before.expect("there is room for the gem around the player");
    let aim = look(from, before, Buttons::WALK);
    for _ in 0..180 {
        game.step(&[(player, aim)]);
        assert_eq!(audit.check_match(game.world()), []);
    }
    let after = game.world().entity(gem).unwrap().position;
    assert_eq!(game.state().held(player), Some(gem));
    assert!(
        after.distance(eye(&game)) < 96.0,
        "the gem is still {} units away",
        after.distance(eye(&game))
    );
    // Once released, the gem falls.
    for _ in 0..60 {
        game.step(&[(player, Command { buttons: Buttons::default(), ..aim })]);
        assert_eq!(audit.check_match(game.world()), []);
    }
    assert_eq!(game.state().held(player), None);
    assert!(
        game.world().entity(gem).unwrap().position.z < after.z - 8.0,
        "the released gem hangs in the air"
    );
}

/// Plays a match in which eight players run about, shoot, and pull bodies that they see. Returns
/// the digest and the number of pulls.
fn play(seed: u64) -> (u64, usize) {
    let (mut game, mut audit) = start(seed);
    let mut random = Random::new(seed);
    let players: Vec<_> = (0..8).map(|_| game.join_as(PlayerKind::Box).unwrap()).collect();
    let mut commands: Vec<_> = players.iter().map(|&id| (id, Command::default())).collect();
    let mut pulled = 0;
    for tick in 0..900 {
        for (_, command) in &mut commands {
            if random.below(40) == 0 {
                command.forward = [127, 127, 0][random.below(3) as usize];
                command.yaw = random.bits() as u16;
                command.buttons = match random.below(4) {
                    0 => Buttons::SECONDARY,
                    1 => Buttons::PRIMARY,
                    _ => Buttons::WALK,
                };
            }
        }
        game.step(&commands);
        assert_eq!(audit.check_match(game.world()), [], "seed {seed}, tick {tick}");
        pulled += players.iter().filter(|id| game.state().held(**id).is_some()).count();
    }
    assert_eq!(game.world().counters().emergency_replacements, 0, "seed {seed}");
    (game.digest(), pulled)
}

#[test]
fn a_match_of_many_guns_is_clean_and_always_the_same() {
    let first = play(5);
    assert!(first.1 > 100, "the players pulled only {} bodies", first.1);
    assert_eq!(play(5), first);
}
