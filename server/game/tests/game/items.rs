//! Quake's items in the arena game: they are picked up, come back, decay and are dropped, in a room
//! and in Quake's own maps.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use obsp::body::Cuboid;
use obsp::entity_check::{EntityFault, KnownClasses};
use obsp::geometry::Aabb;
use obsp::{CompileOptions, Map, Source, Spaces, compile};
use obsp_game::arena::Arena;
use obsp_game::quake::items::{Ammunition, Gift, Inventory, Items, Power};
use obsp_game::{AnyGame, Event, GameFile, Match, RunningMatch};
use obsp_sim::{Buttons, Command, Config, EntityId, Kind, PlayerKind};

use crate::drawn::{brush, map};

const RATE: u32 = 60;

fn config() -> Config {
    Config { tick_rate: RATE, seed: 3, objects: 0, max_players: 8 }
}

/// A room whose floor is at 0, with these items: class, origin and spawnflags.
fn room(items: &[(&str, &str, u32)]) -> Arc<Map> {
    room_with(items, "")
}

/// A room with these items and entities.
fn room_with(items: &[(&str, &str, u32)], more: &str) -> Arc<Map> {
    let (low, high) = (DVec3::new(-512.0, -512.0, 0.0), DVec3::new(512.0, 512.0, 256.0));
    let mut brushes = String::new();
    for axis in 0..3 {
        let (mut min, mut max) = (low - 16.0, high + 16.0);
        max[axis] = low[axis];
        brushes += &brush(min, max);
        (min, max) = (low - 16.0, high + 16.0);
        min[axis] = high[axis];
        brushes += &brush(min, max);
    }
    let mut entities = String::new();
    let start = ("info_player_start", "-400 -400 25", 0);
    for (class, origin, flags) in [start].iter().chain(items) {
        entities += &format!(
            "{{\n\"classname\" \"{class}\"\n\"origin\" \"{origin}\"\n\"spawnflags\" \"{flags}\"\n}}\n"
        );
    }
    map(&Spaces::default(), &brushes, &(entities + more))
}

struct Play {
    game: Match<Arena>,
}

/// A place of a player far from all items, on the floor.
const AWAY: DVec3 = DVec3::new(400.0, 400.0, 28.5);

impl Play {
    fn new(items: &[(&str, &str, u32)]) -> Self {
        Self::by("", items)
    }

    fn by(file: &str, items: &[(&str, &str, u32)]) -> Self {
        let file = GameFile::parse(file).expect("a game file");
        let game = Match::with_file(Arena, room(items), config(), &file);
        Self { game: game.expect("the room can be played") }
    }

    fn join_at(&mut self, place: DVec3) -> EntityId {
        let player = self.game.join_as(PlayerKind::Box).expect("there is room");
        self.put(player, place);
        player
    }

    fn put(&mut self, player: EntityId, place: DVec3) {
        let world = self.game.world_mut();
        world.teleport(player, place, DQuat::IDENTITY).expect("the place is free");
    }

    fn run(&mut self, ticks: u32, commands: &[(EntityId, Command)]) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..ticks {
            self.game.step(commands);
            events.extend_from_slice(self.game.events());
        }
        events
    }

    /// Puts a player there for one tick, and then away.
    fn visit(&mut self, player: EntityId, place: DVec3) {
        self.put(player, place);
        self.run(1, &[]);
        self.put(player, AWAY);
    }

    fn items(&self) -> &Items {
        self.game.state().items().expect("the room has items")
    }

    fn own(&self, player: EntityId) -> &Inventory {
        self.items().carried(player).expect("the player is there")
    }

    fn there(&self) -> usize {
        self.items().there().count()
    }

    fn health(&self, player: EntityId) -> u16 {
        self.game.vitals(player).expect("a player").health
    }

    /// A value that only the player's own client gets, by its name.
    fn value(&self, player: EntityId, name: &str) -> Option<i32> {
        let schema = Arena.with_file(self.game.game_file()).schema(self.game.world().map());
        let schema = schema.expect("the match has a schema");
        let values = self.game.values(&self.game.world().state());
        let own = values.of_own_players.iter().find(|(id, _)| *id == player)?;
        own.1.get(schema.of_own_player(), name)
    }
}

fn firing(buttons: Buttons) -> Command {
    Command { buttons, ..Command::default() }
}

/// The place of a player on the floor, beside an item.
fn beside(x: f64, y: f64) -> DVec3 {
    DVec3::new(x, y, 28.5)
}

#[test]
fn an_item_drops_to_the_floor_and_comes_back_after_its_time() {
    let armor = ("item_armor1", "0 0 100", 0);
    let mut play = Play::new(&[armor]);
    let (gift, bounds) = play.items().there().next().expect("it is there");
    assert!(matches!(gift, Gift::Armor(_)));
    assert!((0.0..1.0).contains(&bounds.min.z), "it lies at {bounds:?}");
    let is_visible = |play: &Play| {
        let entities = play.game.world().state().entities;
        entities
            .iter()
            .any(|entity| matches!(entity.kind, Kind::Prop { .. }) && entity.traits.visible)
    };
    assert!(is_visible(&play));

    let player = play.join_at(AWAY);
    play.put(player, beside(0.0, 0.0));
    let events = play.run(1, &[]);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Private { player: of, .. } if *of == player))
    );
    assert_eq!((play.own(player).armor(), play.value(player, "armor")), (100, Some(100)));
    assert!(play.there() == 0 && !is_visible(&play));
    play.put(player, AWAY);
    play.run(20 * RATE - 1, &[]);
    assert_eq!(play.there(), 0, "too early");
    play.run(1, &[]);
    assert!(play.there() == 1 && is_visible(&play), "too late");
    // The player wears the same armour, and has no use for it.
    play.visit(player, beside(0.0, 0.0));
    assert_eq!(play.there(), 1);
}

/// A player's box has to meet the item's box, which reaches 31 units to each side of its origin.
/// The player's box reaches 16 units, so they meet within 47.
#[test]
fn an_item_is_taken_by_boxes() {
    let mut play = Play::new(&[("item_armor1", "0 0 10", 0)]);
    let player = play.join_at(AWAY);
    play.visit(player, beside(48.0, 0.0));
    play.visit(player, beside(0.0, -48.0));
    play.visit(player, DVec3::new(0.0, 0.0, 90.0));
    assert_eq!(play.own(player).armor(), 0);
    play.visit(player, beside(46.0, -46.0));
    assert_eq!(play.own(player).armor(), 100);
}

#[test]
fn weapons_need_ammunition_where_the_map_has_any() {
    let rockets = ("item_rockets", "0 0 10", 0);
    let mut play = Play::new(&[rockets]);
    let player = play.join_at(AWAY);
    let fires = |play: &mut Play, buttons| {
        let before = play.game.world().missiles().len();
        play.run(1, &[(player, firing(buttons))]);
        let fired = play.game.world().missiles().len() > before;
        play.run(RATE, &[]);
        fired
    };
    assert!(!fires(&mut play, Buttons::SECONDARY), "a player begins without rockets");
    play.visit(player, beside(16.0, 16.0));
    assert_eq!(play.value(player, "rockets"), Some(5));
    assert_eq!(play.value(player, "shells"), None, "there are none in the map");
    assert!(fires(&mut play, Buttons::SECONDARY));
    assert!(fires(&mut play, Buttons::TERTIARY));
    assert_eq!(play.own(player).ammunition(Ammunition::Rockets), 3);
    // The map has neither shells nor nails nor cells, so the ray is free.
    let events = play.run(60 * RATE, &[(player, firing(Buttons::PRIMARY))]);
    let rays = events.iter().filter(|event| matches!(event, Event::Ray { .. })).count();
    assert!(rays > 100, "{rays} rays");

    // Without the rule there are neither boxes nor values.
    let free = Play::by("[items]\nammunition = false", &[rockets]);
    assert!(free.game.state().items().is_none());
    let schema = Arena.with_file(free.game.game_file()).schema(&room(&[rockets])).unwrap();
    assert_eq!(schema.of_own_player(), []);
}

#[test]
fn a_ray_takes_shells_then_nails() {
    let mut play = Play::new(&[("item_shells", "0 0 10", 0), ("item_spikes", "100 0 10", 0)]);
    let player = play.join_at(AWAY);
    play.visit(player, beside(116.0, 16.0));
    let events = play.run(60 * RATE, &[(player, firing(Buttons::PRIMARY))]);
    let rays = events.iter().filter(|event| matches!(event, Event::Ray { .. })).count();
    assert_eq!(rays, 50, "25 shells and 25 nails");
}

#[test]
fn a_large_box_of_health_exceeds_the_usual_health_and_decays() {
    let mut play = Play::new(&[("item_health", "0 0 10", 2), ("item_health", "200 0 10", 0)]);
    let player = play.join_at(AWAY);
    play.visit(player, beside(216.0, 16.0));
    assert_eq!((play.health(player), play.there()), (100, 2), "a healthy player needs no health");
    play.visit(player, beside(16.0, 16.0));
    assert_eq!((play.health(player), play.there()), (200, 1));
    play.run(5 * RATE - 1, &[]);
    assert_eq!(play.health(player), 200);
    play.run(1, &[]);
    assert_eq!(play.health(player), 199);
    play.run(99 * RATE, &[]);
    assert_eq!((play.health(player), play.there()), (100, 1));
    // It comes back twenty seconds after the last point.
    play.run(RATE + 20 * RATE - 1, &[]);
    assert_eq!(play.there(), 1);
    play.run(1, &[]);
    assert_eq!((play.health(player), play.there()), (100, 2));
}

#[test]
fn powers_act_and_end_and_a_key_stays_for_everybody() {
    let quad = ("item_artifact_super_damage", "0 0 30", 0);
    let pentagram = ("item_artifact_invulnerability", "200 0 30", 0);
    let key = ("item_key2", "0 200 30", 0);
    let mut play = Play::new(&[quad, pentagram, key]);
    let shooter = play.join_at(AWAY);
    let victim = play.join_at(AWAY - DVec3::X * 100.0);
    play.put(shooter, beside(0.0, 0.0));
    play.run(1, &[]);
    assert_eq!(play.value(shooter, "quad"), Some(30));
    // Four times 25 points kill the victim.
    play.put(victim, beside(100.0, 0.0));
    play.run(1, &[(shooter, firing(Buttons::PRIMARY))]);
    assert_eq!(play.health(victim), 0);
    play.put(shooter, AWAY);
    play.run(30 * RATE, &[]);
    assert_eq!(play.own(shooter).power(Power::Quad), 0);

    play.put(victim, beside(200.0, 0.0));
    play.run(1, &[]);
    play.put(shooter, beside(0.0, 200.0));
    play.run(1, &[]);
    play.put(victim, beside(100.0, 200.0));
    play.run(1, &[(shooter, firing(Buttons::PRIMARY))]);
    assert_eq!(play.health(victim), 100, "the victim is invulnerable");
    assert_eq!((play.value(shooter, "keys"), play.value(victim, "keys")), (Some(2), Some(0)));
    play.put(shooter, AWAY);
    play.put(victim, beside(0.0, 200.0));
    play.run(1, &[]);
    assert_eq!(play.value(victim, "keys"), Some(2));
}

/// A whole match: things are picked up, a player dies and drops them, another takes them, and a
/// match that is saved in the middle goes on with the same digests.
#[test]
fn ammunition_is_dropped_at_death_and_a_saved_match_goes_on_the_same() {
    let items = [("weapon_rocketlauncher", "0 0 10", 0), ("item_armorInv", "200 0 10", 0)];
    let mut play = Play::new(&items);
    let victim = play.join_at(AWAY);
    play.visit(victim, beside(0.0, 0.0));
    let shooter = play.join_at(beside(-400.0, 0.0));
    play.put(victim, beside(-200.0, 0.0));
    let saved = play.game.save();
    let file = play.game.game_file().clone();
    let mut loaded =
        Arena.with_file(&file).load_match(room(&items), &saved).expect("the save can be loaded");
    let shoot = [(shooter, firing(Buttons::PRIMARY))];
    for _ in 0..2 * RATE {
        play.game.step(&shoot);
        loaded.step(&shoot);
        assert_eq!(loaded.digest(), play.game.digest());
    }
    assert_eq!(play.game.vitals(shooter).map(|vitals| vitals.score), Some(1));
    let backpack = *play.items().backpacks().next().expect("the victim had ammunition");
    assert!((0.0..1.0).contains(&backpack.min.z), "{backpack:?}");
    assert_eq!(play.own(victim).ammunition(Ammunition::Rockets), 0, "the victim has lost it");

    // A match with a backpack is saved as well.
    let saved = play.game.save();
    let mut loaded =
        Arena.with_file(&file).load_match(room(&items), &saved).expect("the save can be loaded");
    play.put(shooter, backpack.centre().with_z(28.5));
    loaded.world_mut().teleport(shooter, backpack.centre().with_z(28.5), DQuat::IDENTITY).unwrap();
    for _ in 0..200 * RATE {
        play.game.step(&[]);
        loaded.step(&[]);
    }
    assert_eq!(loaded.digest(), play.game.digest());
    assert_eq!(play.items().backpacks().count(), 0);
    assert_eq!(play.own(shooter).ammunition(Ammunition::Rockets), 5);
    let mut damaged = saved;
    damaged.pop();
    Arena.load_match(room(&items), &damaged).unwrap_err();
}

#[test]
fn a_backpack_that_nobody_takes_is_gone_after_two_minutes() {
    let mut play = Play::new(&[("item_shells", "0 0 10", 0)]);
    let victim = play.join_at(beside(-200.0, 0.0));
    let shooter = play.join_at(beside(-400.0, 0.0));
    while play.items().backpacks().count() == 0 {
        play.run(1, &[(shooter, firing(Buttons::PRIMARY))]);
        assert!(play.game.world().tick() < 600, "{}", play.health(victim));
    }
    play.put(shooter, AWAY);
    let bodies = |play: &Play| play.game.world().state().entities.len();
    // The tick of the death counts.
    play.run(120 * RATE - 2, &[]);
    let before = bodies(&play);
    play.run(1, &[]);
    assert_eq!((play.items().backpacks().count(), bodies(&play)), (0, before - 1));
}

/// A class of the `game.toml` that has a model is no item any more.
#[test]
fn a_game_file_may_take_a_class_over() {
    let file = "[classes.item_health]\nmodel = 'crate'";
    let play = Play::by(file, &[("item_health", "0 0 40", 0)]);
    assert!(play.game.state().items().is_none());
    assert_eq!(play.game.world().state().entities.len(), 1, "the crate of the file");
}

/// The maps of Quake, which are not part of the repository.
fn real_maps() -> Vec<Map> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/maps/id-gpl");
    let paths = ["dm1.map", "dm3.map", "e1m1.map"].map(|name| folder.join(name));
    let found: Vec<_> = paths.iter().filter(|path| path.exists()).collect();
    if found.is_empty() {
        let skipped = format!("there are no maps in {}; nothing was tested", folder.display());
        let needed = std::env::var_os("ARENA_NEED_SHARED").is_some_and(|value| value == "1");
        assert!(!needed, "{skipped}");
        // `eprintln!` would be captured, and not shown for tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
    }
    let compiled = |path: &&std::path::PathBuf| {
        let source = Source::read(path).unwrap_or_else(|error| panic!("{error}"));
        let (spaces, options) = (Spaces::default(), CompileOptions::default());
        let map = compile(&source, &spaces, &options, &mut |_, _, _| {});
        map.unwrap_or_else(|error| panic!("{error}")).map
    };
    found.iter().map(compiled).collect()
}

#[test]
fn every_item_of_real_maps_lies_on_a_floor_and_in_no_solid() {
    for map in real_maps() {
        let (name, map) = (map.name().to_owned(), Arc::new(map));
        let faults =
            EntityFault::find(map.entities(), &Arena.add_classes(KnownClasses::of_server()));
        for fault in faults {
            if let EntityFault::Unhandled { class, .. } = fault {
                assert!(!class.starts_with("item_") && !class.starts_with("weapon_"), "{class}");
            }
        }
        let drawn = map.entities().iter().filter(|entity| Gift::of(entity).is_some()).count();
        let models = AnyGame::models(&Arena, &map);
        let game = Match::new(Arena, Arc::clone(&map), config()).expect("a match");
        let items = game.state().items().expect("the map has items");
        assert!(drawn > 20, "{name} has {drawn} items");
        assert_eq!(items.there().count(), drawn, "{name}");
        for (gift, bounds) in items.there() {
            let within = |bounds: &Aabb| {
                let half = (bounds.half_extents() - 0.05).as_vec3();
                let shape = Cuboid::new(half).expect("a small box");
                map.overlaps(&shape, bounds.centre().as_vec3())
            };
            assert!(!within(bounds), "{name}: {gift:?} at {bounds:?}");
            let below = Vec3::new(0.0, 0.0, -1.0);
            let half = bounds.half_extents().as_vec3() - 0.05;
            let shape = Cuboid::new(half).expect("a small box");
            let floor = map.overlaps(&shape, bounds.centre().as_vec3() + below);
            assert!(floor, "{name}: {gift:?} hangs at {bounds:?}");
        }
        for entity in game.world().state().entities {
            let Kind::Prop { model } = entity.kind else { continue };
            let model = &models[usize::from(model.0)];
            // Doors and lifts have pockets in the walls.
            if model.name().starts_with('*') {
                continue;
            }
            let bounds = model.bounds();
            let centre = (entity.position + bounds.centre()).as_vec3();
            let shape = Cuboid::new((bounds.half_extents() - 0.05).as_vec3()).expect("a box");
            assert!(!map.overlaps(&shape, centre), "{name}: a picture at {}", entity.position);
        }
    }
}

/// A door with the flag 16 asks for the silver key, and tells only the player who lacks it. On a
/// map without that key it opens.
#[test]
fn a_locked_door_opens_for_a_player_who_has_its_key() {
    let brushes = brush(DVec3::new(0.0, -64.0, 0.0), DVec3::new(16.0, 64.0, 128.0));
    let door = format!(
        "{{\n\"classname\" \"func_door\"\n\"angle\" \"90\"\n\"spawnflags\" \"16\"\n{brushes}}}\n"
    );
    let (front, on_key) = (DVec3::new(-40.0, 0.0, 28.5), DVec3::new(-300.0, 300.0, 28.5));
    for has_key in [true, false] {
        let class = if has_key { "item_key1" } else { "item_key2" };
        let game = Match::new(Arena, room_with(&[(class, "-300 300 25", 0)], &door), config());
        let mut play = Play { game: game.expect("the room can be played") };
        let player = play.join_at(front);
        let other = play.join_at(AWAY);
        let walk = Command { forward: 127, ..Command::default() };
        let bodies = play.game.state().entities().movers().collect::<Vec<_>>();
        let y = |play: &Play| play.game.world().entity(bodies[0]).expect("it is there").position.y;
        let told = play.run(RATE, &[(player, walk)]);
        let told_to = |of: EntityId| {
            told.iter()
                .filter(|it| matches!(it, Event::Private { player, .. } if *player == of))
                .count()
        };
        assert_eq!((told_to(player), told_to(other)), (usize::from(has_key), 0));
        if has_key {
            assert_eq!(y(&play), 0.0);
            play.put(player, on_key);
            play.run(2, &[]);
            play.put(player, front);
            // A touch counts again two seconds after the last one.
            play.run(2 * RATE, &[(player, walk)]);
        }
        assert!(y(&play) > 10.0, "it opens: {}", y(&play));
    }
}
