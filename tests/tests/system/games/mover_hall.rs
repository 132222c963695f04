//! A hall full of movers, bodies and players is audited after every tick.

use std::sync::Arc;

use obsp_game::{Match, RunningMatch};
use obsp_sim::{Config, EntityId, Kind, PlayerKind, State};
use tests::harness::{ExactJudge, setting};
use tests::oracle::bodies::Overlap;
use tests::scene::{HallState, MoverHall, mover_hall};

use crate::games::visited::Visited;

const RATE: u32 = 60;

/// The movers of the hall.
fn movers(state: &HallState) -> Vec<EntityId> {
    state.movers().collect()
}

/// At the full size, `MOVERS=60 MOVER_BODIES=200 MOVER_PLAYERS=32 MOVER_TICKS=10000`, nothing ever
/// overlaps and nothing passes through anything. By default, only the number of ticks is smaller.
#[test]
fn a_hall_full_of_movers_bodies_and_players_is_clean() {
    let (count, objects) = (setting("MOVERS", 60), setting("MOVER_BODIES", 200));
    let (players, ticks) = (setting("MOVER_PLAYERS", 32), setting("MOVER_TICKS", 1_200));
    let hall = mover_hall(count);
    let config =
        Config { tick_rate: RATE, seed: 3, objects: objects as u32, max_players: players as u16 };
    let mut visited = Visited::new(MoverHall, movers, (hall.compile(), &hall.text()), config, 10);
    assert_eq!(visited.moved().len(), count);
    visited.play(ticks);
    let world = visited.game().world();
    let is_prop = |kind: Kind| matches!(kind, Kind::Prop { .. });
    let bodies = world.state().entities.iter().filter(|entity| is_prop(entity.kind)).count();
    assert!(bodies - count >= objects * 9 / 10, "{} bodies", bodies - count);
    println!("{ticks} ticks, {} bodies, {players} players", bodies - count);
    println!("{:?}", world.counters());
    println!("the movers moved in {:?} ticks", visited.moved());
    // A mover that moves less than a sixtieth of the time has not taken part.
    let still = visited.moved().iter().filter(|moved| **moved <= ticks / 60).count();
    assert_eq!(still, 0, "{:?}", visited.moved());
}

/// The judge knows the movers' shapes from the map's text alone. It finds a player in the middle of
/// any mover, however the mover is turned, and a player a hundredth of a unit too low on an upright
/// mover. A player a hundredth of a unit above the lift is free.
#[test]
fn the_exact_judge_sees_a_player_in_any_mover() {
    const NEAR: f64 = 0.01;
    let hall = mover_hall(60);
    let config = Config { tick_rate: RATE, seed: 3, objects: 0, max_players: 1 };
    let mut game = Match::new(MoverHall, Arc::new(hall.compile()), config).expect("it is played");
    let player = game.join_as(PlayerKind::Box).expect("there is room");
    let mut judge = ExactJudge::new(&hall.text(), game.world().model_names());
    let mut turned = 0;
    for tick in 0..500 {
        game.step(&[]);
        if tick % 100 != 0 {
            continue;
        }
        for mover in movers(game.state()) {
            let world = game.world();
            let entity = world.entity(mover).expect("it is in the hall");
            let top = world.bounds_of(mover).expect("it is in the hall").max.z;
            let mut state: State = world.state();
            let mut meets = |place| {
                let own = state.entities.iter_mut().find(|entity| entity.id == player);
                own.expect("the player is in the hall").position = place;
                let found = judge.judge(&state);
                found.iter().any(|overlap| matches!(overlap, Overlap::Bodies(..)))
            };
            let height = |above: f64| entity.position.with_z(top + 28.0 + above);
            assert!(meets(entity.position), "{entity:?}");
            turned += usize::from(entity.orientation != glam::DQuat::IDENTITY);
            // The highest point of a tilted gate is not above its middle.
            let is_upright = (entity.orientation * glam::DVec3::Z).z > 1.0 - 1e-12;
            if is_upright {
                assert!(meets(height(-NEAR)), "{entity:?}");
            }
        }
        let world = game.world();
        let lift = world.entity(movers(game.state())[0]).expect("it is in the hall");
        let top = world.bounds_of(lift.id).expect("it is in the hall").max.z;
        let mut state = world.state();
        for entity in state.entities.iter_mut().filter(|entity| entity.id == player) {
            entity.position = lift.position.with_z(top + 28.0 + NEAR);
        }
        assert_eq!(judge.judge(&state), [], "tick {tick}");
    }
    assert!(turned > 20, "{turned} gates were turned");
}
