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
    CommandSent { tick: Tick(tick), command, held: command, datagram: Vec::new() }
}

/// A player in an otherwise empty match, as the server has it.
fn alone(map: &LoadedMap) -> (World, EntityId) {
    let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 1 };
    let mut world = World::new(Arc::clone(&map.world), [].into(), config).unwrap();
    let player = world.join().unwrap();
    (world, player)
}

/// What the server says of who was not pushed.
fn answer(motion: PlayerMotion) -> Answer {
    Answer::new(motion, Tick(0), None)
}

fn wandering(tick: u32) -> Command {
    let yaw = (tick / 40 * 9_000) as u16;
    let keys = if tick % 90 < 3 { sim::Buttons::JUMP } else { sim::Buttons::default() };
    Command { forward: 127, right: (tick % 100) as i8, yaw, buttons: keys, ..Command::default() }
}

#[test]
fn alone_every_bit_is_as_predicted() {
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
            let error = PredictionError { units: 0.0, pushed: false };
            assert_eq!(prediction.reconcile(Tick(tick - 10), answer(motion), &[]), Some(error));
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
    prediction.reconcile(Tick(0), answer(start), &[]);
    for tick in 1..=6 {
        prediction.play(&sent(tick, wandering(tick)), &[]);
    }
    // A shove of a unit that the client knew nothing of.
    let predicted = prediction.unanswered[1].after.unwrap();
    let shoved = PlayerMotion { position: predicted.position + Vec3::Z, ..predicted };
    let error = prediction.reconcile(Tick(2), answer(shoved), &[]).unwrap();
    assert!((error.units - 1.0).abs() < 1e-3, "{error:?}");
    let mut expected = shoved;
    for tick in 3..=6 {
        expected = map.predictor.step(expected, wandering(tick), SECONDS, &mut [], &[]).motion;
    }
    assert_eq!(prediction.motion(), Some((Tick(6), expected)));
    assert_eq!(prediction.reconcile(Tick(1), answer(start), &[]), None, "old news");
    assert_eq!(prediction.stats().visible_corrections, 1);
}

/// What a busy client skips, the server fills with the command before; and what
/// was sent before anything could be predicted, with idling.
#[test]
fn skipped_ticks_are_predicted_as_the_server_plays_them() {
    let map = arena();
    let (mut world, player) = alone(&map);
    let mut prediction = Prediction::new(map, SECONDS);
    let (run, turn) = (wandering(1), wandering(99));
    prediction.play(&sent(4, run), &[]);
    prediction.play(&CommandSent { held: run, ..sent(8, turn) }, &[]);
    assert_eq!(prediction.motion(), None, "nothing is known yet");
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
fn being_put_elsewhere_is_no_error_of_prediction() {
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
fn what_is_never_answered_is_bounded() {
    let mut prediction = Prediction::new(arena(), SECONDS);
    for tick in 0..10_000 {
        prediction.play(&sent(tick, Command::default()), &[]);
    }
    assert_eq!((prediction.unanswered.len(), prediction.motion()), (UNANSWERED, None));
}

/// Without an answer for long, what was shoved is where the server's news have
/// it, instead of where it was when it was last moved on.
#[test]
fn far_ahead_nothing_shoved_stands_still_in_the_way() {
    let map = arena();
    let (world, player) = alone(&map);
    let start = world.player_motion(player).unwrap();
    let mut prediction = Prediction::new(map, SECONDS);
    let body = EntityState {
        id: EntityId { slot: 5, generation: 0 },
        kind: sim::Kind::Prop { model: sim::ModelId(0) },
        position: start.position.as_dvec3() + glam::DVec3::X * 60.0,
        orientation: glam::DQuat::IDENTITY,
        velocity: glam::DVec3::ZERO,
        asleep: true,
    };
    let told = [(Tick(0), body)];
    prediction.reconcile(Tick(0), answer(start), &told);
    let forward = Command { forward: 127, ..Command::default() };
    let far = (FORESEEN / SECONDS).round() as u32;
    for tick in 1..=far {
        prediction.play(&sent(tick, forward), &told);
    }
    assert!(prediction.is_shoving(), "never got there");
    assert_ne!(prediction.shoved.at(&told[0], Tick(far), SECONDS), body);
    for tick in far + 1..=far + 2 {
        prediction.play(&sent(tick, forward), &told);
    }
    assert!(!prediction.is_shoving());
    assert_eq!(prediction.shoved.at(&told[0], Tick(far + 2), SECONDS), body);
}

mod among_others;
