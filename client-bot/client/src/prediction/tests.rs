//! Tests of one client's prediction, against the server's simulation and by itself.

use super::*;
use glam::Vec3;
use obsp_proto::game_data::GameData;
use obsp_proto::schema::Schema;
use obsp_sim::{Config, EntityId, MovementSets, Traits, World};

const SECONDS: f64 = 1.0 / 60.0;

fn arena() -> Arc<LoadedMap> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/arena.obsp");
    let world = obsp::Map::load(std::path::Path::new(path)).unwrap();
    let names =
        obsp::model::shipped().iter().map(|model| model.name().to_owned()).collect::<Vec<_>>();
    let schema = Schema::of_models(names).unwrap();
    Arc::new(LoadedMap::new(world, &GameData::default(), &schema).unwrap())
}

fn sent(tick: u32, command: Command) -> CommandSent {
    CommandSent { tick: Tick(tick), command, held: command, datagram: Vec::new() }
}

/// A player in an otherwise empty match, as the server simulates it.
fn alone(map: &LoadedMap) -> (World, EntityId) {
    let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 1 };
    let mut world = World::new(Arc::clone(&map.map), [].into(), config).unwrap();
    let player = world.join().unwrap();
    (world, player)
}

/// The authoritative motion of a player who was never pushed.
fn answer(motion: PlayerMotion) -> AuthoritativeMotion {
    AuthoritativeMotion::new(motion, Tick(0), None)
}

fn wandering(tick: u32) -> Command {
    let yaw = (tick / 40 * 9_000) as u16;
    let keys = if tick % 90 < 3 { obsp_sim::Buttons::JUMP } else { obsp_sim::Buttons::default() };
    Command { forward: 127, right: (tick % 100) as i8, yaw, buttons: keys, ..Command::default() }
}

#[test]
fn a_lone_player_is_predicted_to_the_bit() {
    let map = arena();
    let (mut world, player) = alone(&map);
    let mut prediction = Prediction::new(map, SECONDS);
    prediction.reconcile(Tick(0), answer(world.player_motion(player).unwrap()), &[]);
    // The server is ten ticks behind what the client plays.
    for tick in 1..1000 {
        prediction.play(&sent(tick, wandering(tick)), &[]);
        if tick > 10 {
            world.step(&[(player, wandering(tick - 10))]);
            let motion = world.player_motion(player).unwrap();
            let error = PredictionError { units: 0.0, correction: DVec3::ZERO, disturbed: false };
            assert_eq!(prediction.reconcile(Tick(tick - 10), answer(motion), &[]), Some(error));
        }
    }
    let expected = PredictionStats { compared: 989, ..PredictionStats::default() };
    assert_eq!(*prediction.stats(), expected);
}

#[test]
fn a_correction_is_carried_through_all_later_commands() {
    let map = arena();
    let (world, player) = alone(&map);
    let start = world.player_motion(player).unwrap();
    let mut prediction = Prediction::new(Arc::clone(&map), SECONDS);
    prediction.reconcile(Tick(0), answer(start), &[]);
    for tick in 1..=6 {
        prediction.play(&sent(tick, wandering(tick)), &[]);
    }
    // The server moved the player by a unit without the client's knowledge.
    let predicted = prediction.pending[1].after.as_ref().and_then(Own::motion).unwrap();
    let (_, before) = prediction.motion().unwrap();
    let shoved = PlayerMotion { position: predicted.position + Vec3::Z, ..predicted };
    let error = prediction.reconcile(Tick(2), answer(shoved), &[]).unwrap();
    assert!((error.units - 1.0).abs() < 1e-3, "{error:?}");
    let mut expected = shoved;
    let by = (SECONDS, &MovementSets::default(), CollisionLayers::default());
    for tick in 3..=6 {
        expected = map.predictor.step(expected, wandering(tick), by, &mut [], &[], &[]).motion;
    }
    assert_eq!(prediction.motion(), Some((Tick(6), expected)));
    let correction = expected.position.as_dvec3() - before.position.as_dvec3();
    assert_eq!(error.correction, correction);
    assert_eq!(
        prediction.reconcile(Tick(1), answer(start), &[]),
        None,
        "the answer is older than \
        the motion"
    );
    assert_eq!(prediction.stats().visible_corrections, 1);
}

/// After a stall of the server the client's clock is set back, and the client sends other commands
/// for the same ticks.
#[test]
fn commands_sent_again_replace_the_earlier_ones() {
    let map = arena();
    let (mut world, player) = alone(&map);
    let mut prediction = Prediction::new(map, SECONDS);
    prediction.reconcile(Tick(0), answer(world.player_motion(player).unwrap()), &[]);
    for tick in 1..=50 {
        prediction.play(&sent(tick, wandering(tick)), &[]);
    }
    for tick in 4..=8 {
        prediction.play(&sent(tick, wandering(tick + 500)), &[]);
    }
    for tick in 1..=8 {
        world.step(&[(player, wandering(if tick < 4 { tick } else { tick + 500 }))]);
    }
    assert_eq!(prediction.motion(), Some((Tick(8), world.player_motion(player).unwrap())));
}

/// In ticks that a busy client skipped, the server repeats the previous command. In ticks before
/// the first command, it plays idle commands.
#[test]
fn skipped_ticks_are_predicted_as_the_server_fills_them() {
    let map = arena();
    let (mut world, player) = alone(&map);
    let mut prediction = Prediction::new(map, SECONDS);
    let (run, turn) = (wandering(1), wandering(99));
    prediction.play(&sent(4, run), &[]);
    prediction.play(&CommandSent { held: run, ..sent(8, turn) }, &[]);
    assert_eq!(prediction.motion(), None, "no snapshot has arrived");
    world.step(&[]);
    prediction.reconcile(Tick(1), answer(world.player_motion(player).unwrap()), &[]);
    for tick in 2..=8 {
        let command = match tick {
            ..4 => Command::default(),
            4..8 => run,
            _ => turn,
        };
        world.step(&[(player, command)]);
    }
    let motion = world.player_motion(player).unwrap();
    assert_eq!(prediction.motion(), Some((Tick(8), motion)));
}

#[test]
fn a_relocation_is_no_prediction_error() {
    let map = arena();
    let (world, player) = alone(&map);
    let start = world.player_motion(player).unwrap();
    let mut prediction = Prediction::new(map, SECONDS);
    prediction.reconcile(Tick(0), answer(start), &[]);
    prediction.play(&sent(1, wandering(1)), &[]);
    let elsewhere = PlayerMotion { position: start.position + Vec3::X * 900.0, ..start };
    assert_eq!(prediction.reconcile(Tick(1), answer(elsewhere), &[]), None);
    assert_eq!(prediction.motion(), Some((Tick(1), elsewhere)));
    let expected = PredictionStats { relocations: 1, ..PredictionStats::default() };
    assert_eq!(*prediction.stats(), expected);
}

#[test]
fn pending_commands_are_bounded() {
    let mut prediction = Prediction::new(arena(), SECONDS);
    for tick in 0..10_000 {
        prediction.play(&sent(tick, Command::default()), &[]);
    }
    assert_eq!((prediction.pending.len(), prediction.motion()), (MAX_PENDING, None));
}

/// When the pending commands reach too far ahead, a shoved prop goes to the place that the server
/// last reported, not to where its prediction ended.
#[test]
fn far_ahead_of_the_server_no_shoved_prop_is_left_in_the_way() {
    let map = arena();
    let (world, player) = alone(&map);
    let start = world.player_motion(player).unwrap();
    let mut prediction = Prediction::new(map, SECONDS);
    let body = EntityState {
        id: EntityId { slot: 5, generation: 0 },
        kind: obsp_sim::Kind::Prop { model: obsp_sim::ModelId(0) },
        position: start.position.as_dvec3() + glam::DVec3::X * 60.0,
        orientation: glam::DQuat::IDENTITY,
        velocity: glam::DVec3::ZERO,
        asleep: true,
        traits: Traits::default(),
    };
    let observed = [(Tick(0), body)];
    prediction.reconcile(Tick(0), answer(start), &observed);
    let forward = Command { forward: 127, ..Command::default() };
    let far = (PROP_PREDICTION_LIMIT / SECONDS).round() as u32;
    for tick in 1..=far {
        prediction.play(&sent(tick, forward), &observed);
    }
    assert!(prediction.is_shoving(), "the player never reached the prop");
    assert_ne!(prediction.shoved.at(&observed[0], Tick(far), SECONDS), body);
    for tick in far + 1..=far + 2 {
        prediction.play(&sent(tick, forward), &observed);
    }
    assert!(!prediction.is_shoving());
    assert_eq!(prediction.shoved.at(&observed[0], Tick(far + 2), SECONDS), body);
}

mod among_others;
mod carried;
mod layers;
mod vehicles;
