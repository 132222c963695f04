//! Tools of the families' tests: small halls, and a game that plays all families in them and notes
//! their effects. Every tick is audited.

#[path = "../../tests/game/drawn.rs"]
mod drawn;

use std::sync::Arc;

use glam::DVec3;
use obsp::model::Model;
use obsp::{Map, MapEntity, Spaces};
use obsp_sim::audit::{Audit, Passages};
use obsp_sim::{Command, Config, EntityId, MovementParameters, PlayerKind, SetupWarning};
use serde::{Deserialize, Serialize};

use super::{Effect, Entities, Family, brush_models, movements};
use crate::any_game::AnyGame;
use crate::game::Game;
use crate::game_match::Match;
use crate::running::RunningMatch;
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// Ticks a second.
pub(super) const RATE: u32 = 60;

/// A game of all families.
#[derive(Clone, Debug)]
pub(super) struct AllFamilies;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) map: Entities,
    /// Every hurt, with its tick.
    pub(super) hurts: Vec<(u64, EntityId, i16)>,
    /// Every healing: player, points, and the health up to which it heals.
    pub(super) heals: Vec<(EntityId, i16, i16)>,
    pub(super) exits: Vec<(EntityId, String)>,
    pub(super) lines: Vec<String>,
    /// The player to whom each of the `lines` was told.
    told: Vec<Option<EntityId>>,
    /// Whether the players have the silver and the gold key.
    pub(super) keys: [bool; 2],
}

impl Game for AllFamilies {
    type State = State;

    fn brush_models(&self, map: &Map) -> Vec<Model> {
        brush_models(map, Family::ALL)
    }

    fn movements_on(
        &self,
        map: &Map,
        usual: MovementParameters,
    ) -> Vec<(&'static str, MovementParameters)> {
        movements(map, Family::ALL, usual)
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        State { map: Entities::set_up(world, Family::ALL), ..State::default() }
    }

    fn entered(&self, state: &mut State, _: &mut WorldMut<'_>, volume: VolumeId, by: EntityId) {
        state.map.entered(volume, by);
    }

    fn tick(&self, state: &mut State, world: &mut WorldMut<'_>) {
        let keys = state.keys;
        for effect in state.map.tick_with_keys(world, &|_, key| keys[key as usize]) {
            match effect {
                Effect::Hurt { player, damage, .. } => {
                    state.hurts.push((world.tick(), player, damage));
                }
                Effect::Heal { player, points, most } => state.heals.push((player, points, most)),
                Effect::Exit { player, map } => state.exits.push((player, map)),
                Effect::Message { player, line } => {
                    state.lines.push(line);
                    state.told.push(player);
                }
            }
        }
    }
}

/// A match of all families, audited.
pub(super) struct Hall {
    pub(super) game: Match<AllFamilies>,
    audit: Audit,
    passages: Passages,
}

impl Hall {
    /// A hall from -512 to 512 with a floor at 0, a spawn point at -400 0, and these entities.
    pub(super) fn new(entities: &str) -> Self {
        Self::with(&brush([-512, -512, -16], [512, 512, 0]), entities)
    }

    pub(super) fn with(brushes: &str, entities: &str) -> Self {
        let map = map(brushes, entities);
        let config = Config { tick_rate: RATE, seed: 1, objects: 0, max_players: 4 };
        let game =
            Match::new(AllFamilies, Arc::clone(&map), config).expect("the map can be played");
        let models = AnyGame::models(&AllFamilies, &map);
        let audit = Audit::new(&map, &models).expect("the map can be audited");
        let passages = Passages::new(&map, &models, RATE).expect("the map can be audited");
        Self { game, audit, passages }
    }

    /// Sets off the entities of a name.
    pub(super) fn set_off(&mut self, name: &str) {
        self.game.act(|_, state, world| state.map.set_off(world, name, None));
    }

    /// A player whose feet are at a place.
    pub(super) fn player(&mut self, at: [f64; 3]) -> EntityId {
        let player = self.game.join_as(PlayerKind::Box).expect("there is room");
        let at = DVec3::from(at) + DVec3::Z * 28.1;
        let put = self.game.world.teleport(player, at, Default::default());
        put.expect("the place is free");
        player
    }

    pub(super) fn run(&mut self, ticks: u32) {
        self.play(ticks, &[]);
    }

    pub(super) fn play(&mut self, ticks: u32, commands: &[(EntityId, Command)]) {
        for _ in 0..ticks {
            self.game.step(commands);
            let tick = self.game.world().tick();
            self.passages.note_pockets(&self.game.world().pockets());
            let found = self.audit.check_match(self.game.world());
            assert!(found.is_empty(), "tick {tick}: {found:?}");
            let passed = self.passages.check(&self.game.world().state());
            assert!(passed.is_empty(), "tick {tick}: {passed:?}");
        }
    }

    /// The messages so far, each with the player who is told.
    pub(super) fn told(&self) -> Vec<(Option<EntityId>, String)> {
        let state = self.game.state();
        state.told.iter().copied().zip(state.lines.iter().cloned()).collect()
    }

    /// The bodies of the movers, in the order of the map.
    pub(super) fn movers(&self) -> Vec<EntityId> {
        self.game.state().map.movers().collect()
    }

    /// The lowest corner of a mover's box, to 1/1024 unit: the guard's boxes are a little larger.
    pub(super) fn lowest(&self, mover: usize) -> DVec3 {
        let bounds = self.game.world().bounds_of(self.movers()[mover]).expect("it is there");
        (bounds.min * 1024.0).round() / 1024.0
    }

    pub(super) fn at(&self, id: EntityId) -> DVec3 {
        self.game.world().entity(id).expect("it is in the world").position
    }

    /// Runs until the lowest corner of a mover is at a place, and returns the ticks that it took.
    pub(super) fn ticks_until(&mut self, mover: usize, at: [f64; 3]) -> u32 {
        for ticks in 0..RATE * 30 {
            if self.lowest(mover).distance(DVec3::from(at)) < 1e-3 {
                return ticks;
            }
            self.run(1);
        }
        panic!("the mover is at {}, and does not come to {at:?}", self.lowest(mover));
    }
}

/// The map of these brushes and entities, with a spawn point.
pub(super) fn map(brushes: &str, entities: &str) -> Arc<Map> {
    let keys = [("classname", "info_player_start"), ("origin", "-400 0 40")];
    drawn::map(&Spaces::default(), brushes, &(drawn(&keys, "") + entities))
}

/// An entity in the text of a map. Its brushes are `brushes`.
pub(super) fn drawn(pairs: &[(&str, &str)], brushes: &str) -> String {
    let pairs = pairs.iter().map(|(key, value)| format!("\"{key}\" \"{value}\"\n"));
    format!("{{\n{}{brushes}}}\n", pairs.collect::<String>())
}

/// An entity of a compiled map, without brushes.
pub(super) fn entity(pairs: &[(&str, &str)]) -> MapEntity {
    let floor = brush([-512, -512, -16], [512, 512, 0]);
    let map = map(&floor, &drawn(pairs, ""));
    map.entities().last().expect("the map has entities").clone()
}

/// A brush in the shape of a box.
pub(super) fn brush(min: [i32; 3], max: [i32; 3]) -> String {
    let [min, max] = [min, max].map(|corner| DVec3::from(corner.map(f64::from)));
    drawn::brush(min, max)
}

/// Two halves of a gate that touch each other, and a lift beside them.
#[test]
fn a_saved_match_goes_on_in_the_middle_of_every_motion() {
    let door = |y0, y1, angle| {
        drawn(&[("classname", "func_door"), ("angle", angle)], &brush([0, y0, 0], [16, y1, 128]))
    };
    let plat = drawn(&[("classname", "func_plat")], &brush([-300, -64, 0], [-200, 64, 100]));
    let mut hall = Hall::new(&[door(-64, 0, "270"), door(0, 64, "90"), plat].concat());
    hall.player([-40.0, 0.0, 0.0]);
    let passenger = hall.player([-250.0, 0.0, 10.0]);
    hall.run(30);
    assert!(hall.lowest(0).y < -64.0 && hall.at(passenger).z > 40.0, "both move");
    let map = Arc::clone(hall.game.world().map());
    let mut again = AllFamilies.load_match(map, &hall.game.save()).expect("the save can be loaded");
    for _ in 0..120 {
        hall.run(1);
        again.step(&[]);
        assert_eq!(again.digest(), hall.game.digest());
    }
}

/// A body that lies where a door is drawn is put beside it, and an entity that is left out of
/// deathmatches is not there.
#[test]
fn every_mover_is_there_unless_it_is_left_out_of_a_deathmatch() {
    let door = |pairs: &[(&str, &str)]| {
        let pairs = [&[("classname", "func_door"), ("targetname", "a")], pairs].concat();
        drawn(&pairs, &brush([0, -64, 0], [64, 64, 64]))
    };
    let prop = drawn(&[("classname", "prop"), ("model", "crate"), ("origin", "32 0 17")], "");
    let mut hall = Hall::new(&[prop, door(&[]), door(&[("spawnflags", "2048")])].concat());
    assert_eq!(hall.movers().len(), 1);
    assert_eq!(hall.game.world().bodies().len(), 2, "the crate is beside the door");
    hall.run(60);
}

/// Movers that nobody sets off sleep, and so does what lies on them.
#[test]
fn movers_at_rest_sleep_and_bodies_sleep_on_them() {
    let plat = drawn(
        &[("classname", "func_plat"), ("targetname", "lift")],
        &brush([0, -64, 0], [128, 64, 64]),
    );
    let prop = drawn(&[("classname", "prop"), ("model", "crate"), ("origin", "64 0 82")], "");
    let mut hall = Hall::new(&[plat, prop].concat());
    hall.run(RATE * 3);
    let awake = hall.game.world().state().entities.iter().filter(|entity| !entity.asleep).count();
    assert_eq!(awake, 0);
}

/// Trains without a way give one warning.
#[test]
fn movers_without_a_place_are_told() {
    let door =
        |min, max| drawn(&[("classname", "func_door"), ("targetname", "a")], &brush(min, max));
    let far = ["0 0 0", "9 9 9"].map(|target| {
        drawn(&[("classname", "func_train"), ("target", target)], &brush([0, 0, 0], [64, 64, 64]))
    });
    let hall = Hall::new(&[door([0, 0, 0], [16, 16, 16]), far.concat()].concat());
    assert_eq!(hall.movers().len(), 1);
    let told: Vec<String> = hall.game.world().warnings().iter().map(ToString::to_string).collect();
    assert!(
        matches!(&told[..], [line] if line.starts_with("2 of the class func_train")),
        "{told:?}"
    );
}

/// Every kind of mover on its way, in a match that is saved.
#[test]
fn a_saved_match_goes_on_while_everything_turns_and_slides() {
    let at = |class, keys: &[(&str, &str)], x: i32| {
        let own = [("classname", class), ("targetname", "all"), ("speed", "30")];
        drawn(&[&own, keys].concat(), &brush([x, 0, 32], [x + 16, 64, 96]))
    };
    let entities = [
        at("func_door_secret", &[], -300),
        at("func_door_rotating", &[("distance", "170")], -200),
        at("func_rotating", &[], -100),
        at("func_togglewall", &[("spawnflags", "1")], 0),
        at("func_breakable", &[("health", "9")], 100),
        drawn(
            &[("classname", "rotate_object"), ("targetname", "arm")],
            &brush([200, 0, 32], [216, 64, 96]),
        ),
        drawn(
            &[
                ("classname", "func_rotate_entity"),
                ("targetname", "all"),
                ("target", "arm"),
                ("rotate", "30 0 0"),
                ("origin", "250 0 64"),
            ],
            "",
        ),
    ];
    let mut hall = Hall::new(&entities.concat());
    let player = hall.player([8.0, 30.0, 32.0]);
    let breakable = hall.movers()[4];
    hall.game.act(|_, state, _| state.map.damaged(breakable, 5, player));
    hall.run(1);
    hall.set_off("all");
    hall.run(40);
    assert_eq!(hall.movers().len(), 5, "the wall that breaks is gone");
    let map = Arc::clone(hall.game.world().map());
    let mut again = AllFamilies.load_match(map, &hall.game.save()).expect("the save can be loaded");
    for _ in 0..200 {
        hall.run(1);
        again.step(&[]);
        assert_eq!(again.digest(), hall.game.digest());
    }
}

/// Movers beyond the models of a match are left out, and a warning says so.
#[test]
fn movers_beyond_the_models_of_a_match_are_told() {
    let wall = |at: i32| {
        let (x, y) = (at % 10 * 40, at / 10 * 40);
        drawn(&[("classname", "func_togglewall")], &brush([x, y, 0], [x + 8, y + 8, 8 + at]))
    };
    for (count, left_out) in [(80, 0), (81, 1), (90, 10)] {
        let walls: String = (0..count).map(wall).collect();
        let hall = Hall::new(&walls);
        assert_eq!(hall.movers().len(), 80);
        let left: Vec<u32> = hall
            .game
            .world()
            .warnings()
            .iter()
            .filter_map(|warning| match warning {
                SetupWarning::LeftOut { class, count } if class == "func_togglewall" => {
                    Some(*count)
                }
                _ => None,
            })
            .collect();
        assert_eq!(left.iter().sum::<u32>(), left_out, "{count} walls");
    }
}
