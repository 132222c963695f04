//! Doors, lifts, trains and buttons of real maps: they move by Quake's formulas, and a match on
//! such a map stays clean while everything moves.

use std::sync::Arc;

use obsp::Map;
use obsp::model::Model;
use obsp_game::arena::{Arena, ArenaState};
use obsp_game::quake::{self, Entities, Family};
use obsp_game::{Game, Match, RunningMatch, WorldMut};
use obsp_sim::{Config, EntityId};
use tests::harness::{compile, foreign_map};

use crate::games::mover_table::{Row, expected};
use crate::games::visited::Visited;

const RATE: u32 = 60;

/// The tick after which everything is set off.
const START: u64 = 5;

/// A game that has only Quake's families of entities, and sets off all movers at once.
#[derive(Clone, Debug)]
struct AllAtOnce;

impl Game for AllAtOnce {
    type State = Entities;

    fn models(&self) -> Vec<Model> {
        Vec::new()
    }

    fn brush_models(&self, map: &Map) -> Vec<Model> {
        quake::brush_models(map, Family::ALL)
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> Entities {
        Entities::set_up(world, Family::ALL)
    }

    fn tick(&self, state: &mut Entities, world: &mut WorldMut<'_>) {
        state.tick(world);
        if world.tick() == START {
            for body in state.movers().collect::<Vec<_>>() {
                state.set_off_body(world, body, None);
            }
        }
    }
}

/// Every mover of the maps rests within a unit of where the `.map` text puts it, and reaches the
/// other end within a tick of the time that the formulas say. A train starts a tick after it is set
/// off.
#[test]
fn movers_of_real_maps_move_by_the_formulas() {
    for name in ["dm1", "dm3", "dm4", "e1m1", "e1m2"] {
        let Some(path) = foreign_map(&format!("id-gpl/{name}.map")) else { return };
        let text = std::fs::read_to_string(&path).expect("the map can be read");
        let expected = expected(&text);
        let config = Config { tick_rate: RATE, seed: 1, objects: 0, max_players: 1 };
        let game = Match::new(AllAtOnce, Arc::new(compile(&path)), config);
        let mut game = game.unwrap_or_else(|error| panic!("{name}: {error}"));
        let movers: Vec<EntityId> = game.state().movers().collect();
        assert_eq!(movers.len(), expected.len(), "{name}: every mover is in the world");
        let lowest = |game: &Match<AllAtOnce>, mover: usize| {
            game.world().bounds_of(movers[mover]).expect("it is in the world").min
        };
        while game.world().tick() < START {
            game.step(&[]);
        }
        let mut arrived = vec![None; movers.len()];
        for (mover, row) in expected.iter().enumerate() {
            let at = lowest(&game, mover);
            let Row { class, rest, .. } = row;
            assert!(at.distance(*rest) < 1.0, "{name}: a {class} rests at {at}, not at {rest}");
        }
        let longest = expected.iter().map(|row| row.seconds).fold(0.0, f64::max);
        for tick in 1..(longest * f64::from(RATE)) as u64 + 10 {
            game.step(&[]);
            for (mover, row) in expected.iter().enumerate() {
                if lowest(&game, mover).distance(row.end) < 1e-3 {
                    arrived[mover].get_or_insert(tick);
                }
            }
        }
        for (row, arrived) in expected.iter().zip(arrived) {
            let arrived = arrived.unwrap_or_else(|| panic!("{name}: {row:?} does not arrive"));
            let ticks = row.seconds * f64::from(RATE);
            let off = arrived as f64 - ticks;
            let late = if row.class == "func_train" { 2.0 } else { 1.0 };
            assert!((-0.01..=late).contains(&off), "{name}: {row:?}: {arrived} ticks, not {ticks}");
        }
    }
}

/// Players visit every mover of real maps in turn.
#[test]
fn matches_on_maps_full_of_movers_are_clean() {
    for (name, moves) in [("dm1", 3), ("dm3", 3), ("e1m1", 5)] {
        let Some(path) = foreign_map(&format!("id-gpl/{name}.map")) else { return };
        let text = std::fs::read_to_string(&path).expect("the map can be read");
        let movers = |state: &ArenaState| state.entities().movers().collect();
        let config = Config { tick_rate: RATE, seed: 3, objects: 60, max_players: 8 };
        let mut visited = Visited::new(Arena, movers, (compile(&path), &text), config, 40);
        visited.play(tests::harness::setting("MOVER_TICKS", 3_000));
        // The first tick counts every mover as moved.
        let moved = visited.moved().iter().filter(|ticks| **ticks > 10).count();
        println!(
            "{name}: {moved} of {} movers moved: {:?}",
            visited.moved().len(),
            visited.moved()
        );
        assert!(moved >= moves, "{name}: {:?}", visited.moved());
    }
}
