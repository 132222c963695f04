//! The weapons of the arena game, in a room with a wall across its middle.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::Spaces;
use obsp::entity_check::{EntityFault, KnownClasses};
use obsp_game::arena::Arena;
use obsp_game::{AnyGame, Event, GameFile, Match, RunningMatch, Vitals};
use obsp_sim::audit::Audit;
use obsp_sim::{Buttons, Command, Config, EntityId, Kind, PlayerKind};

use crate::drawn::{brush, map};

/// Half of the room's side length, in units. The room is as high.
const HALF: f64 = 512.0;

/// A match in the room, audited in every tick.
struct Play {
    game: Match<Arena>,
    audit: Audit,
}

impl Play {
    fn new() -> Self {
        Self::by("")
    }

    /// A match with the text of a `game.toml`.
    fn by(game_file: &str) -> Self {
        let map = room();
        let gem = || Ok(include_str!("../../../../maps/models/star.obj").to_owned());
        let file = GameFile::read(game_file, &mut |_| gem()).expect("a game file");
        let models = Arena.with_file(&file).models(&map);
        let audit = Audit::new(&map, &models).expect("the room can be audited");
        let config = Config { tick_rate: 60, seed: 3, objects: 0, max_players: 8 };
        let game = Match::with_file(Arena, map, config, &file);
        Self { game: game.expect("the room can be played"), audit }
    }

    fn join_at(&mut self, kind: PlayerKind, position: DVec3) -> EntityId {
        let id = self.game.join_as(kind).expect("there is room");
        let world = self.game.world_mut();
        world.teleport(id, position, DQuat::IDENTITY).expect("the place is free");
        id
    }

    /// Runs a number of ticks with the same commands and returns all events.
    fn run(&mut self, ticks: u32, commands: &[(EntityId, Command)]) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..ticks {
            self.game.step(commands);
            events.extend_from_slice(self.game.events());
            assert_eq!(self.audit.check_match(self.game.world()), []);
        }
        events
    }

    fn vitals(&self, player: EntityId) -> Vitals {
        self.game.vitals(player).expect("a player")
    }

    /// The position of the only body of this model.
    fn body(&self, model: &str) -> Option<DVec3> {
        let model = self.game.world().model(model).expect("a shipped model");
        let state = self.game.world().state();
        let is_it = |kind: Kind| kind == Kind::Prop { model };
        state.entities.iter().find(|entity| is_it(entity.kind)).map(|entity| entity.position)
    }

    fn put_crate(&mut self, position: DVec3) {
        let world = self.game.world_mut();
        let model = world.model("crate").expect("a shipped model");
        world.spawn_body(model, position, DQuat::IDENTITY).expect("the place is free");
    }
}

fn room() -> Arc<obsp::Map> {
    let (low, high) = (DVec3::new(-HALF, -HALF, 0.0), DVec3::splat(HALF));
    let mut brushes = String::new();
    for axis in 0..3 {
        let (mut min, mut max) = (low - 16.0, high + 16.0);
        max[axis] = low[axis];
        brushes += &brush(min, max);
        (min, max) = (low - 16.0, high + 16.0);
        min[axis] = high[axis];
        brushes += &brush(min, max);
    }
    brushes += &brush(DVec3::new(0.0, -HALF, 0.0), DVec3::new(1.0, HALF, HALF));
    let entities = "{\n\"classname\" \"info_player_start\"\n\"origin\" \"-400 -400 25\"\n}\n\
        {\n\"classname\" \"item_gem\"\n\"origin\" \"300 300 100\"\n\"angle\" \"30\"\n}\n\
        {\n\"classname\" \"item_gem\"\n\"origin\" \"nowhere\"\n}\n";
    map(&Spaces::default(), &brushes, entities)
}

fn holding(buttons: Buttons) -> Command {
    Command { buttons, ..Command::default() }
}

fn blast(events: &[Event]) -> Option<DVec3> {
    events.iter().find_map(|event| match event {
        Event::Blast { at, .. } => Some(*at),
        _ => None,
    })
}

/// An entity of a class with a model spawns a body, and a saved match contains that body.
#[test]
fn an_entity_of_a_class_spawns_its_model() {
    let text = "[models]\ngem = 'gem.obj'\n[classes.item_gem]\nmodel = 'gem'\n";
    let mut play = Play::by(text);
    assert_eq!(play.body("gem"), Some(DVec3::new(300.0, 300.0, 100.0)));
    assert_eq!(play.game.world().warnings().len(), 1, "{:?}", play.game.world().warnings());
    play.run(60, &[]);
    let fallen = play.body("gem").expect("the entity exists");
    assert!(fallen.z < 20.0, "{fallen}");
    let saved = play.game.save();
    let arena = Arena.with_file(play.game.game_file());
    let mut loaded = arena.load_match(room(), &saved).expect("a saved match can be loaded");
    loaded.step(&[]);
    play.run(1, &[]);
    assert_eq!(loaded.digest(), play.game.digest());
    assert_eq!(Play::by("").game.world().state().entities.len(), 0);
}

/// A game handles the server's classes and those of its file.
#[test]
fn a_class_of_the_file_is_handled() {
    let faults = |text: &str| {
        let game = Arena.with_file(&GameFile::parse(text).expect("a valid file"));
        EntityFault::find(room().entities(), &game.add_classes(KnownClasses::of_server()))
    };
    let told = faults("");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        matches!(&told[0], EntityFault::Unhandled { class, count: 2, .. } if class == "item_gem")
    );
    assert_eq!(faults("[classes.item_gem]\n"), []);
}

#[test]
fn models_and_classes_fit_the_game() {
    let config = Config { tick_rate: 60, seed: 3, objects: 0, max_players: 8 };
    for (text, expected) in [
        ("[models]\ncrate = 'crate.obj'\n", "line 2, column 9: there are two models crate"),
        (
            "[classes.prop]\nmodel = 'crate'\n",
            "line 2, column 9: the server has a class prop already",
        ),
        (
            "[classes.item_gem]\nsize = [[-8, -8, -8], [8, 8, 8]]\nmodel = 'gem'\n",
            "line 3, column 9: classes.item_gem has the model gem, which does not exist; there",
        ),
        (
            "\n[weapons.rocket]\nmodel = 'pin'\n",
            "line 3, column 9: a weapon throws the model pin, which",
        ),
        (
            "[weapons.gem]\nkind = 'grenade'\nkey = 'fire'\nmodel = 'pin'",
            "line 4, column 9: a weapon",
        ),
    ] {
        let model = include_str!("../../../../maps/models/crate.obj");
        let file = GameFile::read(text, &mut |_| Ok(model.to_owned())).expect("a game file");
        let error = Match::with_file(Arena, room(), config, &file).unwrap_err().to_string();
        assert!(error.contains(&format!("game.toml: {expected}")), "{error}");
    }
}

fn died_of(means: &'static str, player: EntityId, by: EntityId) -> Event {
    Event::Died { player, by, means }
}

/// The file sets health, damage, the respawn time and the weapon of a key.
#[test]
fn a_match_is_fought_by_the_numbers_of_its_game_file() {
    let text = "[player]\nhealth = 300\nrespawn_seconds = 0.5\n\
                [weapons.railgun]\nkind = 'ray'\ndamage = 300\nrefire_seconds = 1\n\
                [weapons.mortar]\nkind = 'grenade'\nkey = 'rocket'\nmodel = 'star'\n\
                fuse_seconds = 0.25\nblast_radius = 99\n";
    let mut play = Play::by(text);
    let shooter = play.join_at(PlayerKind::Box, DVec3::new(-400.0, 0.0, 30.0));
    let victim = play.join_at(PlayerKind::Box, DVec3::new(-200.0, 0.0, 30.0));
    assert_eq!(play.vitals(victim), Vitals { health: 300, score: 0 });
    let events = play.run(1, &[(shooter, holding(Buttons::PRIMARY))]);
    assert!(events.contains(&died_of("ray", victim, shooter)), "{events:?}");
    let spawned = Event::Spawned { player: victim };
    assert!(!play.run(28, &[]).contains(&spawned));
    assert!(play.run(4, &[]).contains(&spawned));
    assert_eq!(play.vitals(victim), Vitals { health: 300, score: 0 });
    play.run(30, &[]);
    let up = Command { pitch: 16_000, ..holding(Buttons::SECONDARY) };
    play.run(1, &[(shooter, up)]);
    assert!(play.body("star").is_some() && play.body("rocket").is_none());
    let events = play.run(15, &[]);
    let radius = events.iter().find_map(|event| match event {
        Event::Blast { radius, .. } => Some(*radius),
        _ => None,
    });
    assert_eq!((radius, play.body("star")), (Some(99.0), None));
    let known = GameFile::parse("[weapons.rocket]\nmodel = 'pin'\n").expect("a game file");
    let config = Config { tick_rate: 60, seed: 3, objects: 0, max_players: 8 };
    let error = Match::with_file(Arena, room(), config, &known).unwrap_err().to_string();
    assert!(
        error.contains("a weapon throws the model pin, which does not exist; there are crate, "),
        "{error}"
    );
}

#[test]
fn four_rays_kill_and_the_player_respawns_with_full_health() {
    let mut play = Play::new();
    let shooter = play.join_at(PlayerKind::Box, DVec3::new(-400.0, 0.0, 30.0));
    let victim = play.join_at(PlayerKind::Box, DVec3::new(-200.0, 0.0, 30.0));
    let events = play.run(120, &[(shooter, holding(Buttons::PRIMARY))]);
    let died = |event: &&Event| **event == died_of("ray", victim, shooter);
    assert_eq!(events.iter().filter(died).count(), 1, "{events:?}");
    assert_eq!(play.vitals(shooter), Vitals { health: 100, score: 1 });
    let events = play.run(120, &[]);
    assert!(events.contains(&Event::Spawned { player: victim }), "{events:?}");
    assert_eq!(play.vitals(victim), Vitals { health: 100, score: 0 });
}

#[test]
fn a_tank_that_is_shot_dies_and_comes_back_as_a_tank() {
    let mut play = Play::new();
    let tank = play.join_at(PlayerKind::Hovertank, DVec3::new(-250.0, 0.0, 60.0));
    play.run(60, &[]);
    let at = play.game.world().entity(tank).expect("it floats").position;
    let shooter = play.join_at(PlayerKind::Box, at - DVec3::X * 150.0);
    let events = play.run(120, &[(shooter, holding(Buttons::PRIMARY))]);
    let died = |event: &&Event| **event == died_of("ray", tank, shooter);
    assert_eq!(events.iter().filter(died).count(), 1, "{events:?}");
    let events = play.run(150, &[]);
    assert!(events.contains(&Event::Spawned { player: tank }), "{events:?}");
    assert_eq!(play.game.world().player_kind(tank), Some(PlayerKind::Hovertank));
    assert_eq!(play.vitals(tank).health, 100);
}

#[test]
fn a_protected_player_takes_no_damage_in_any_order_of_slots() {
    let mut play = Play::new();
    // One shooter is in a slot before the victim's slot, and one is in a slot behind it.
    let first = play.join_at(PlayerKind::Box, DVec3::new(-400.0, 0.0, 30.0));
    let victim = play.join_at(PlayerKind::Box, DVec3::new(-200.0, 0.0, 30.0));
    let last = play.join_at(PlayerKind::Box, DVec3::new(-200.0, -200.0, 30.0));
    let north = Command { yaw: 16384, ..holding(Buttons::PRIMARY) };
    let shooting = [(first, holding(Buttons::PRIMARY)), (last, north)];
    let protected = [shooting[0], (victim, holding(Buttons::PROTECTED)), shooting[1]];
    let events = play.run(60, &protected);
    let hit = |event: &&Event| matches!(event, Event::Hurt { player, .. } if *player == victim);
    assert!(!events.iter().any(|event| hit(&event)), "{events:?}");
    assert_eq!(play.vitals(victim), Vitals { health: 100, score: 0 });
    let events = play.run(62, &shooting);
    for shooter in [first, last] {
        let hurts = |event: &Event| matches!(*event, Event::Hurt { player, by, .. } if (player, by) == (victim, shooter));
        assert!(events.iter().any(hurts), "{shooter:?} did not hit: {events:?}");
    }
}

#[test]
fn a_rocket_flies_straight_explodes_at_the_wall_and_throws_bodies_there() {
    let mut play = Play::new();
    let shooter = play.join_at(PlayerKind::Box, DVec3::new(-400.0, 0.0, 30.0));
    play.put_crate(DVec3::new(-60.0, 40.0, 17.0));
    play.run(120, &[]);
    let before = play.body("crate").expect("the entity exists");
    let mut events = play.run(1, &[(shooter, holding(Buttons::SECONDARY))]);
    assert!(play.body("rocket").is_some(), "no rocket was launched");
    events.extend(play.run(60, &[]));
    let at = blast(&events).expect("the rocket explodes");
    assert!((-6.0..0.0).contains(&at.x) && at.y.abs() < 1.0, "the rocket explodes at {at}");
    assert!(play.body("crate").expect("the crate exists").distance(before) > 10.0, "it stays");
    assert_eq!(play.body("rocket"), None);
}

#[test]
fn a_grenade_bounces_off_the_wall_and_explodes_when_its_fuse_ends() {
    let mut play = Play::new();
    let thrower = play.join_at(PlayerKind::Box, DVec3::new(-200.0, 0.0, 30.0));
    let mut events = play.run(1, &[(thrower, holding(Buttons::TERTIARY))]);
    events.extend(play.run(132, &[]));
    assert_eq!(blast(&events), None, "too early");
    let grenade = play.body("grenade").expect("still there");
    assert!(grenade.x < -10.0, "the grenade did not bounce: {grenade}");
    assert!(blast(&play.run(30, &[])).is_some(), "too late");
}

#[test]
fn a_player_who_blows_themself_up_loses_a_point() {
    let mut play = Play::new();
    let player = play.join_at(PlayerKind::Box, DVec3::new(-200.0, 0.0, 30.0));
    let down = Command { pitch: -8_192, ..holding(Buttons::SECONDARY) };
    let events = play.run(600, &[(player, down)]);
    assert!(events.contains(&died_of("rocket", player, player)), "{events:?}");
    assert!(play.vitals(player).score < 0, "{:?}", play.vitals(player));
}

/// A clone goes on with the same digests as the match itself.
#[test]
fn a_clone_of_a_fight_goes_on_as_the_match_itself() {
    let mut play = Play::new();
    let a = play.join_at(PlayerKind::Box, DVec3::new(-400.0, 0.0, 30.0));
    let b = play.join_at(PlayerKind::Box, DVec3::new(-200.0, 40.0, 30.0));
    let commands = [(a, holding(Buttons::TERTIARY)), (b, holding(Buttons::SECONDARY))];
    play.run(90, &commands);
    let mut clone = play.game.clone();
    assert_eq!(clone.digest(), play.game.digest());
    play.run(90, &commands);
    (0..90).for_each(|_| clone.step(&commands));
    assert_eq!(clone.digest(), play.game.digest());
}
