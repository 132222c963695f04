use glam::DQuat;
use obsp_sim::{EntityState, Kind, Posture, Traits};

use super::*;

fn usual(_: EntityId) -> MovementParameters {
    MovementParameters::default()
}

const ID: EntityId = EntityId { slot: 3, generation: 0 };

fn state_at(position: DVec3) -> State {
    let entity = EntityState {
        id: ID,
        kind: Kind::Player { posture: Posture::Standing },
        position,
        orientation: DQuat::IDENTITY,
        velocity: DVec3::ZERO,
        asleep: false,
        traits: Traits::default(),
    };
    State { tick: 0, entities: vec![entity] }
}

/// How many players are found stuck in four seconds, if one player has the commands and places that
/// `of` gives for each tick.
fn stuck(tick_rate: u32, of: impl Fn(u32) -> (Command, DVec3)) -> usize {
    let mut watch = StuckWatch::new(tick_rate);
    for tick in 0..4 * tick_rate {
        let (command, position) = of(tick);
        watch.judge(&state_at(position), &[(ID, command)], usual);
    }
    assert_eq!(watch.count(), watch.now());
    watch.count()
}

/// Asks in all directions, each for an eighth of a second.
fn asks(tick: u32, tick_rate: u32, jumps: bool) -> Command {
    let direction = tick * 8 / tick_rate % 16;
    let buttons = if jumps && tick % 10 < 5 { Buttons::JUMP } else { Buttons::default() };
    Command { forward: 127, yaw: (direction * 4096) as u16, buttons, ..Command::default() }
}

#[test]
fn a_player_that_asks_everywhere_in_vain_is_stuck_at_any_tick_rate() {
    for rate in [10, 20, 60, 128] {
        assert_eq!(stuck(rate, |tick| (asks(tick, rate, true), DVec3::ZERO)), 1, "{rate} Hz");
        let hops = |tick| DVec3::Z * if tick % 20 < 10 { 45.0 } else { 0.0 };
        assert_eq!(stuck(rate, |tick| (asks(tick, rate, true), hops(tick))), 1, "{rate} Hz, hops");
    }
}

#[test]
fn a_player_that_does_not_try_everything_is_not_stuck() {
    let idle = Command::default();
    assert_eq!(stuck(60, |_| (idle, DVec3::ZERO)), 0, "idle");
    assert_eq!(stuck(60, |tick| (asks(tick, 60, false), DVec3::ZERO)), 0, "no jump");
    let wall = Command { buttons: Buttons::JUMP, forward: 127, ..idle };
    assert_eq!(stuck(60, |_| (wall, DVec3::ZERO)), 0, "one direction");
    let spins = |tick: u32| Command { yaw: (tick * 5000) as u16, ..wall };
    assert_eq!(stuck(60, |tick| (spins(tick), DVec3::ZERO)), 0, "spins");
    let fifteen = |tick: u32| asks(tick % 112, 60, true);
    assert_eq!(stuck(60, |tick| (fifteen(tick), DVec3::ZERO)), 0, "fifteen directions");
}

#[test]
fn a_player_that_moves_more_than_four_units_is_not_stuck() {
    let sways = |by: f64| {
        stuck(60, |tick| (asks(tick, 60, true), DVec3::X * if tick % 60 < 30 { by } else { 0.0 }))
    };
    assert_eq!((sways(3.99), sways(4.01)), (1, 0));
    let drifts =
        |by: f64| stuck(60, |tick| (asks(tick, 60, true), DVec3::Z * by * f64::from(tick)));
    assert_eq!((drifts(-0.1), drifts(1.0)), (0, 0));
}

/// A player is stuck until they move, and can be found stuck again.
#[test]
fn a_player_that_gets_free_is_stuck_no_more() {
    let mut watch = StuckWatch::new(60);
    let (mut found, mut places) = (Vec::new(), Vec::new());
    for tick in 0..600 {
        let place = DVec3::X * if tick < 300 { 0.0 } else { 100.0 };
        found.extend(watch.judge(&state_at(place), &[(ID, asks(tick, 60, true))], usual));
        places.push(watch.now());
    }
    assert_eq!((found.len(), watch.count()), (2, 1));
    assert_eq!((places[60], places[200], places[310], places[599]), (0, 1, 0, 1));
    watch.judge(&State::default(), &[], usual);
    assert_eq!((watch.now(), watch.count()), (0, 1), "they left");
}

/// Symptom: players whom a game froze for a while counted as stuck. Cause: the watch knew the usual
/// parameters alone. Cure: each player is judged by their own.
#[test]
fn a_player_whom_the_game_holds_is_not_stuck() {
    let stuck_by = |run_speed, ground_acceleration| {
        let own = MovementParameters { run_speed, ground_acceleration, ..usual(ID) };
        let mut watch = StuckWatch::new(60);
        for tick in 0..240 {
            watch.judge(&state_at(DVec3::ZERO), &[(ID, asks(tick, 60, true))], |_| own);
        }
        watch.count()
    };
    assert_eq!([stuck_by(1.0, 10.0), stuck_by(63.9, 10.0), stuck_by(320.0, 1.9)], [0; 3]);
    assert_eq!([stuck_by(64.0, 2.0), stuck_by(640.0, 10.0)], [1; 2]);
}

/// A player who jumps higher than others, but on the spot, has not moved.
#[test]
fn a_jump_is_as_high_as_the_players_own_parameters_have_it() {
    let own = MovementParameters { gravity: 200.0, ..usual(ID) };
    let counts = [own, usual(ID)].map(|movement| {
        let mut watch = StuckWatch::new(60);
        for tick in 0..240 {
            let hops = DVec3::Z * if tick % 20 < 10 { 180.0 } else { 0.0 };
            watch.judge(&state_at(hops), &[(ID, asks(tick, 60, true))], |_| movement);
        }
        watch.count()
    });
    assert_eq!(counts, [1, 0]);
}

/// Symptom: a player in a dead end counted as stuck after another player had blocked the way out
/// for two seconds.
#[test]
fn a_player_in_whose_way_another_stands_has_ten_seconds() {
    let found_after = |beside: DVec3| {
        let mut watch = StuckWatch::new(60);
        let found = (0..60 * 20).find(|&tick| {
            let mut state = state_at(DVec3::ZERO);
            let mut other = state.entities[0];
            other.id.slot += 1;
            other.position = beside;
            state.entities.push(other);
            !watch.judge(&state, &[(ID, asks(tick, 60, true))], usual).is_empty()
        });
        found.map(|tick| (tick + 1) / 60)
    };
    for beside in [DVec3::X * 32.0, DVec3::Y * -39.0, DVec3::Z * 56.0, DVec3::splat(39.0)] {
        assert_eq!(found_after(beside), Some(10), "{beside}");
    }
    for far in [DVec3::X * 41.0, DVec3::Z * 65.0, DVec3::new(10.0, -41.0, 0.0)] {
        assert_eq!(found_after(far), Some(2), "{far}");
    }
}
