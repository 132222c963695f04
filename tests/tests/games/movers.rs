//! Doors, lifts, trains and buttons of real maps: they move by Quake's formulas, and a match on such
//! a map stays clean while everything moves. A hall full of movers, bodies and players as well.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::Map;
use obsp::geometry::Aabb;
use obsp::model::Model;
use obsp_game::arena::Arena;
use obsp_game::quake::{self, Entities, Family};
use obsp_game::{AnyGame, Game, Match, RunningMatch, WorldMut};
use obsp_sim::audit::{Audit, Passages};
use obsp_sim::{Config, EntityId, PlayerKind};
use tests::harness::{Random, Wanderer, compile, foreign_map};

use crate::mover_table::{Row, expected};

const RATE: u32 = 60;

/// The tick after which everything is set off.
const START: u64 = 5;

/// The families alone, which are all set off at once.
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

/// Every mover of the maps is where the `.map` text puts it, and reaches its other end where and when
/// the formulas say: to a unit and a tick. A train starts a tick after it is set off.
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
            assert!((-0.01..=late).contains(&off), "{name}: {row:?} takes {arrived} for {ticks}");
        }
    }
}

/// A match that is audited after every tick, and whose players visit one mover after another.
struct Visited {
    game: Match<Arena>,
    audit: Audit,
    passages: Passages,
    wanderers: Vec<Wanderer>,
    random: Random,
    /// The ticks in which each mover moved.
    moved: Vec<usize>,
    places: Vec<DVec3>,
}

impl Visited {
    fn new(map: Map, players: u16, objects: u32) -> Self {
        let map = Arc::new(map);
        let config = Config { tick_rate: RATE, seed: 3, objects, max_players: players };
        let mut game = Match::new(Arena, Arc::clone(&map), config).expect("it can be played");
        let models = AnyGame::models(&Arena, &map);
        let audit = Audit::new(&map, &models).expect("the map can be audited");
        let passages = Passages::new(&map, &models, RATE).expect("the map can be audited");
        let join = |number: u16| {
            let id = game.join_as(PlayerKind::Box).expect("there is room");
            Wanderer::new(id, Random::new(100 + u64::from(number)))
        };
        let wanderers = (0..players).map(join).collect();
        let movers = game.state().entities().movers().count();
        let (moved, places) = (vec![0; movers], vec![DVec3::ZERO; movers]);
        let random = Random::new(11);
        Self { game, audit, passages, wanderers, random, moved, places }
    }

    /// Puts a player on or beside a mover, where there is room.
    fn visit(&mut self, player: EntityId, mover: usize) {
        let body = self.game.state().entities().movers().nth(mover);
        let bounds = body.and_then(|body| self.game.world().bounds_of(body));
        let Some(Aabb { min, max }) = bounds else { return };
        let middle = min.midpoint(max);
        let above = middle.with_z(max.z + 28.5);
        let beside = [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y].map(|way| {
            let half = (max - min).dot(way.abs()) / 2.0;
            (middle + way * (half + 24.0)).with_z(min.z + 28.5)
        });
        for place in [above].into_iter().chain(beside) {
            if self.game.world_mut().teleport(player, place, DQuat::IDENTITY).is_ok() {
                return;
            }
        }
    }

    fn step(&mut self) {
        let tick = self.game.world().tick();
        if tick.is_multiple_of(40) && !self.moved.is_empty() {
            let player = self.wanderers[self.random.below(self.wanderers.len())].id();
            let mover = (tick / 40) as usize % self.moved.len();
            self.visit(player, mover);
        }
        let commands: Vec<_> = self.wanderers.iter_mut().map(Wanderer::next_command).collect();
        self.game.step(&commands);
        let tick = self.game.world().tick();
        self.passages.note_pockets(&self.game.world().pockets());
        let found = self.audit.check_match(self.game.world());
        assert!(found.is_empty(), "tick {tick}: {found:?}");
        let world = self.game.world();
        let ways = self.passages.judge(&world.state(), world.relocations());
        let is_clean = ways.tunnelled.is_empty() && ways.misplaced.is_empty();
        assert!(is_clean, "tick {tick}: {ways:?}");
        let replaced =
            |event: &obsp_game::Event| matches!(event, obsp_game::Event::Replaced { .. });
        assert!(
            !self.game.events().iter().any(replaced),
            "tick {tick}: a body had to be taken out of an overlap"
        );
        let movers = self.game.state().entities().movers();
        for (mover, body) in movers.enumerate() {
            let Some(body) = self.game.world().entity(body) else { continue };
            self.moved[mover] += usize::from(body.position != self.places[mover]);
            self.places[mover] = body.position;
        }
    }
}

/// Players visit every mover of real maps in turn.
#[test]
fn matches_on_maps_full_of_movers_are_clean() {
    for (name, moves) in [("dm1", 3), ("dm3", 3), ("e1m1", 5)] {
        let Some(path) = foreign_map(&format!("id-gpl/{name}.map")) else { return };
        let mut visited = Visited::new(compile(&path), 8, 60);
        for _ in 0..tests::harness::setting("MOVER_TICKS", 3_000) {
            visited.step();
        }
        // In the first tick every mover seems to have moved.
        let moved = visited.moved.iter().filter(|ticks| **ticks > 10).count();
        println!("{name}: {moved} of {} movers moved: {:?}", visited.moved.len(), visited.moved);
        assert!(moved >= moves, "{name}: {:?}", visited.moved);
    }
}

/// Lifts, doors and crushers in rows, with crates on and between them.
fn torture_hall() -> Map {
    use tests::harness::MapBuilder;
    let mut hall = MapBuilder::floor();
    for row in 0..4 {
        for column in 0..5 {
            let (x, y) = (-800 + 320 * column, -700 + 320 * row);
            let speed = (60 + 45 * (row + column)).to_string();
            let wait = ["0.2", "0.5", "1"][(row + 2 * column) as usize % 3];
            let own = |z, height| ([x, y, z], [x + 128, y + 128, z + height]);
            let (class, keys, (min, max)) = match (row + column) % 4 {
                0 => ("func_plat", [("height", "120"), ("dmg", "3")], own(120, 16)),
                1 => ("func_door", [("angle", "0"), ("lip", "-100")], own(0, 96)),
                2 => ("func_door", [("angle", "-2"), ("lip", "-60")], own(100, 24)),
                _ => ("func_train", [("target", "corner"), ("dmg", "2")], own(140, 16)),
            };
            let corner = format!("corner{row}{column}");
            let mut pairs = vec![("classname", class), ("speed", &speed), ("wait", wait)];
            pairs.extend(keys);
            if class == "func_train" {
                pairs.retain(|(key, _)| *key != "target");
                pairs.push(("target", &corner));
                for (end, z) in [("", 140), ("b", 30)] {
                    let own = format!("{corner}{end}");
                    let other = format!("{corner}{}", if end.is_empty() { "b" } else { "" });
                    let origin = format!("{x} {y} {z}");
                    let keys = [
                        ("classname", "path_corner"),
                        ("targetname", own.as_str()),
                        ("target", other.as_str()),
                        ("origin", origin.as_str()),
                    ];
                    hall = hall.entity(&keys);
                }
            }
            hall = hall.volume(&pairs, min, max);
            for (crates, model) in ["crate", "barrel", "star"].iter().enumerate() {
                let z = 200.0 + 50.0 * crates as f64;
                if (row + column + crates as i32) % 6 != 0 {
                    hall = hall.prop(model, [f64::from(x) + 64.0, f64::from(y) + 60.0, z], 30.0);
                }
            }
        }
    }
    for spawn in 0..8 {
        let origin = format!("{} 880 30", -800 + 200 * spawn);
        let keys = [("classname", "info_player_deathmatch"), ("origin", origin.as_str())];
        hall = hall.entity(&keys);
    }
    hall.compile()
}

#[test]
fn a_hall_full_of_movers_bodies_and_players_is_clean() {
    let mut visited = Visited::new(torture_hall(), 8, 0);
    assert_eq!(visited.moved.len(), 20);
    let bodies = visited.game.world().bodies().len() - 20;
    assert!(bodies >= 45, "{bodies} bodies");
    for _ in 0..tests::harness::setting("MOVER_TICKS", 2_000) {
        visited.step();
    }
    println!("the movers moved in {:?} ticks", visited.moved);
    // Nobody gets onto the lift on which two bodies have fallen.
    let still = visited.moved.iter().filter(|ticks| **ticks <= 10).count();
    assert!(still <= 1, "{:?}", visited.moved);
}
