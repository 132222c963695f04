//! Bots find their way through doors that a button opens, and up ladders. Each bot plays in a match
//! of the arena game, in virtual time.

use std::sync::Arc;

use client_bot::behaviors::{Behavior, Fight, NavGraph, Perception, Wander};
use glam::{DQuat, DVec3};
use obsp::{CompileOptions, Map, Source, Spaces};
use obsp_game::arena::Arena;
use obsp_game::{Match, RunningMatch};
use obsp_sim::{
    Config, EntityId, EntityState, Kind, MovementParameters, PlayerKind, Posture, Traits,
};

/// A brush that is a box.
fn block([x0, y0, z0]: [i32; 3], [x1, y1, z1]: [i32; 3]) -> String {
    let sides = [
        [[x1, 0, 0], [x1, 0, 1], [x1, 1, 0]],
        [[x0, 0, 0], [x0, 1, 0], [x0, 0, 1]],
        [[0, y1, 0], [1, y1, 0], [0, y1, 1]],
        [[0, y0, 0], [0, y0, 1], [1, y0, 0]],
        [[0, 0, z1], [0, 1, z1], [1, 0, z1]],
        [[0, 0, z0], [1, 0, z0], [0, 1, z0]],
    ];
    let point = |[x, y, z]: &[i32; 3]| format!("( {x} {y} {z} ) ");
    let side = |side: &[[i32; 3]; 3]| side.iter().map(point).collect::<String>() + "t 0 0 0 1 1\n";
    format!("{{\n{}}}\n", sides.iter().map(side).collect::<String>())
}

fn entity(keys: &[(&str, &str)], brushes: &str) -> String {
    let keys = keys.iter().map(|(key, value)| format!("\"{key}\" \"{value}\"\n"));
    format!("{{\n{}{brushes}}}\n", keys.collect::<String>())
}

/// A hall from -400 to 900 along x, closed on all sides, with further brushes and entities. Players
/// begin in its west.
fn hall(brushes: &str, entities: &str) -> Arc<Map> {
    let walls = [
        ([-416, -272, -16], [916, 272, 0]),
        ([-416, -272, 400], [916, 272, 416]),
        ([-416, -272, 0], [-400, 272, 400]),
        ([900, -272, 0], [916, 272, 400]),
        ([-400, -272, 0], [900, -256, 400]),
        ([-400, 256, 0], [900, 272, 400]),
    ];
    let walls: String = walls.map(|(min, max)| block(min, max)).concat();
    let start = entity(&[("classname", "info_player_start"), ("origin", "-200 -100 25")], "");
    let world = entity(&[("classname", "worldspawn")], &(walls + brushes));
    let source = Source::from_text("hall", world + &start + entities);
    let options = CompileOptions { strict: true, ..CompileOptions::default() };
    let compiled = obsp::compile(&source, &Spaces::default(), &options, &mut |_, _, _| {});
    Arc::new(compiled.expect("the hall compiles").map)
}

/// A wall across the hall, with a door of the name `gate` that opens for ten seconds. A screen
/// behind it hides the east, because the bot knows no models and so sees through the door.
fn gated(opener: &str) -> Arc<Map> {
    let wall = [
        ([0, -256, 0], [16, -32, 400]),
        ([0, 32, 0], [16, 256, 400]),
        ([0, -32, 128], [16, 32, 400]),
        ([200, -256, 0], [216, 100, 400]),
    ];
    let wall: String = wall.map(|(min, max)| block(min, max)).concat();
    let keys =
        [("classname", "func_door"), ("targetname", "gate"), ("angle", "-1"), ("wait", "10")];
    hall(&wall, &(entity(&keys, &block([4, -32, 0], [12, 32, 128])) + opener))
}

/// A button at the western wall.
fn button(more: &[(&str, &str)]) -> String {
    let keys = [&[("classname", "func_button"), ("angle", "180")], more].concat();
    entity(&keys, &block([-400, 180, 20], [-392, 220, 60]))
}

/// A platform of 200 units in the east, and perhaps a ladder that leads up to it.
fn tower(ladder: bool) -> Arc<Map> {
    let keys = [("classname", "trigger_ladder")];
    let ladder = ladder.then(|| entity(&keys, &block([284, -32, 0], [300, 32, 240])));
    hall(&block([300, -256, 0], [900, 256, 200]), &ladder.unwrap_or_default())
}

/// A bot in a match on a map, who believes that somebody is at `goal`.
struct Play {
    game: Match<Arena>,
    nav: NavGraph,
    goal: EntityState,
    bot: EntityId,
}

impl Play {
    fn new(map: &Arc<Map>, goal: DVec3) -> Self {
        let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 2 };
        let mut game = Match::new(Arena, Arc::clone(map), config).expect("a match");
        let bot = game.join_as(PlayerKind::Box).expect("there is room");
        let goal = EntityState {
            id: EntityId { slot: 1000, generation: 0 },
            kind: Kind::Player { posture: Posture::Standing },
            position: goal,
            orientation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            asleep: false,
            traits: Traits::default(),
        };
        let nav = NavGraph::explore(map, &MovementParameters::default());
        Self { game, nav, goal, bot }
    }

    /// The ticks until the bot is at a place for which `is_there` holds; `None` if that takes more
    /// than a minute.
    fn time(&mut self, bot: &mut dyn Behavior, is_there: impl Fn(DVec3) -> bool) -> Option<u64> {
        let map = Arc::clone(self.game.world().map());
        (0..3600).find(|_| {
            let own = self.game.world().player_motion(self.bot);
            let mut others = self.game.world().state().entities;
            others.retain(|other| other.id != self.bot);
            others.push(self.goal);
            let perception = Perception {
                own,
                others: &others,
                pictures: &[],
                map: &map,
                models: &[],
                nav: &self.nav,
            };
            let command = bot.decide(&perception);
            self.game.step(&[(self.bot, command)]);
            own.is_some_and(|own| is_there(own.position.as_dvec3()))
        })
    }
}

fn beyond_the_door(place: DVec3) -> bool {
    place.x > 40.0
}

#[test]
fn a_bot_presses_or_shoots_the_button_of_a_door_in_its_way() {
    let goal = DVec3::new(860.0, -200.0, 29.0);
    let relay = [("classname", "trigger_relay"), ("targetname", "wire"), ("target", "gate")];
    for (name, opener) in [
        ("pressed", button(&[("target", "gate")])),
        ("shot", button(&[("target", "gate"), ("health", "1")])),
        ("by a relay", button(&[("target", "wire")]) + &entity(&relay, "")),
    ] {
        let map = gated(&opener);
        for seed in 1..4 {
            let mut play = Play::new(&map, goal);
            let time = play.time(&mut Fight::new(seed), beyond_the_door);
            println!("{name}, seed {seed}: {time:?} ticks");
            assert!(time.is_some_and(|ticks| ticks > 60), "{name}, seed {seed}: {time:?}");
        }
    }
    // Nobody opens a door whose button sets something else off.
    let map = gated(&button(&[("target", "gates")]));
    let time = Play::new(&map, goal).time(&mut Fight::new(1), beyond_the_door);
    assert_eq!(time, None);
}

#[test]
fn a_bot_that_wanders_opens_doors_too() {
    let map = gated(&button(&[("target", "gate")]));
    let through = (1..5).filter(|&seed| {
        let mut play = Play::new(&map, DVec3::new(860.0, -200.0, 29.0));
        let time = play.time(&mut Wander::new(seed), beyond_the_door);
        println!("seed {seed}: through after {time:?} ticks");
        time.is_some()
    });
    assert!(through.count() >= 2, "in a minute each");
}

#[test]
fn a_bot_climbs_a_ladder_to_a_goal_above() {
    let goal = DVec3::new(860.0, 0.0, 229.0);
    let is_up = |place: DVec3| place.x > 330.0 && place.z > 200.0;
    let nav = NavGraph::explore(&tower(true), &MovementParameters::default());
    assert!(!nav.route(DVec3::new(-200.0, -100.0, 25.0), goal).is_empty());
    for seed in 1..4 {
        let time = Play::new(&tower(true), goal).time(&mut Fight::new(seed), is_up);
        println!("seed {seed}: up after {time:?} ticks");
        assert!(time.is_some(), "seed {seed}");
    }
    assert_eq!(Play::new(&tower(false), goal).time(&mut Fight::new(1), is_up), None);
}
