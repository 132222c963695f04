//! A door that is drawn in the map. It fits its frame exactly, and slides into the wall beside it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::geometry::Aabb;
use obsp::model::{Material, Model};
use obsp::{CompileOptions, Map, Source, Spaces, compile};
use obsp_game::{AnyGame, Game, GameFile, Match, RunningMatch, WorldMut};
use obsp_proto::game_data::GameData;
use obsp_sim::audit::{Audit, Passages};
use obsp_sim::{Command, Config, EntityId, PlaceError, PlayerKind, World};
use serde::{Deserialize, Serialize};

use crate::drawn::{brush, map};

/// Width of the door, and how far it slides.
const WIDTH: f64 = 64.0;

const SPEED: f64 = 60.0;

/// The door opens in tick 90, and shuts from tick 300 on.
const OPENS: u64 = 90;
const SHUTS: u64 = 300;

/// A margin greater than the gap that bodies keep from the world, in units.
const ROOM: f64 = 1.0 / 64.0;

#[derive(Clone, Debug)]
struct Doors;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    door: EntityId,
    shut: DVec3,
}

impl Game for Doors {
    type State = State;

    fn models(&self) -> Vec<Model> {
        Vec::new()
    }

    fn brush_models(&self, map: &Map) -> Vec<Model> {
        let doors = map.entities().iter().filter(|entity| entity.classname() == "func_door");
        doors.map(|door| map.model_of(door).expect("the door is a model")).collect()
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        let map = Arc::clone(world.map());
        let door = map.entities().iter().find_map(|entity| world.model_of(entity));
        let door = door.expect("the map has a door");
        let alone = world.spawn_body(door.model, door.place, DQuat::IDENTITY);
        assert_eq!(alone, Err(PlaceError::NoRoom), "it touches its frame");
        let spawned = world.spawn_body_in(door.model, door.place, DQuat::IDENTITY, &pocket());
        State { door: spawned.expect("it has a pocket"), shut: door.place }
    }

    fn tick(&self, state: &mut State, world: &mut WorldMut<'_>) {
        let Some(door) = world.entity(state.door) else { return };
        let open = door.position.y - state.shut.y;
        let speed = match world.tick() {
            tick if tick < OPENS => 0.0,
            tick if tick < SHUTS && open < WIDTH - 0.5 => SPEED,
            tick if tick >= SHUTS && open > 0.5 => -SPEED,
            _ => 0.0,
        };
        world.set_velocity(state.door, DVec3::Y * speed, DVec3::ZERO).expect("it is there");
    }
}

/// The door where it is shut, and where it is open.
fn pocket() -> Aabb {
    let (min, max) = (DVec3::new(4.0, -32.0, 0.0), DVec3::new(12.0, 32.0 + WIDTH, 128.0));
    Aabb { min, max }.inflated(ROOM)
}

/// Two rooms with a wall between them, and a door that fills the gap in the wall.
fn rooms() -> Arc<Map> {
    let solid = |min: [f64; 3], max: [f64; 3]| brush(min.into(), max.into());
    let world = [
        solid([-256.0, -256.0, -16.0], [256.0, 256.0, 0.0]),
        solid([0.0, -256.0, 0.0], [16.0, -32.0, 128.0]),
        solid([0.0, 32.0, 0.0], [16.0, 256.0, 128.0]),
        solid([0.0, -256.0, 128.0], [16.0, 256.0, 256.0]),
    ];
    let door = solid([4.0, -32.0, 0.0], [12.0, 32.0, 128.0]);
    let start = "{\n\"classname\" \"info_player_start\"\n\"origin\" \"-100 0 40\"\n}\n";
    let entities = format!("{start}{{\n\"classname\" \"func_door\"\n{door}}}\n");
    map(&Spaces::default(), &world.concat(), &entities)
}

fn config() -> Config {
    Config { tick_rate: 60, seed: 1, objects: 0, max_players: 2 }
}

/// The overlaps and passages of a match after a tick.
fn audited(audit: &mut Audit, passages: &mut Passages, game: &Match<Doors>) {
    passages.note_pockets(&game.world().pockets());
    let found = audit.check_match(game.world());
    assert!(found.is_empty(), "tick {}: {found:?}", game.world().tick());
    let passed = passages.check(&game.world().state());
    assert!(passed.is_empty(), "tick {}: {passed:?}", game.world().tick());
}

#[test]
fn a_drawn_door_lets_a_player_through_while_it_is_open() {
    let map = rooms();
    let mut game = Match::new(Doors, Arc::clone(&map), config()).expect("the map can be played");
    let models = AnyGame::models(&Doors, &map);
    let mut audit = Audit::new(&map, &models).expect("the map can be audited");
    let mut passages = Passages::new(&map, &models, 60).expect("the map can be audited");
    let player = game.join_as(PlayerKind::Box).expect("there is room");
    let walk = Command { forward: 127, ..Command::default() };
    let x = |game: &Match<Doors>| game.world().entity(player).expect("it is there").position.x;
    let door = |game: &Match<Doors>| {
        let entity = game.world().entity(game.state().door).expect("it is there");
        entity.position.y - game.state().shut.y
    };
    for tick in 0..SHUTS + 120 {
        // Beyond the door the player stands still.
        let ahead = if x(&game) < 120.0 { walk } else { Command::default() };
        game.step(&[(player, ahead)]);
        audited(&mut audit, &mut passages, &game);
        if tick == OPENS {
            // The player's box is 32 units wide, and the door begins at 4.
            assert!((x(&game) - (4.0 - 16.0)).abs() < 0.2, "the shut door stops the player");
        }
        if tick == OPENS + 80 {
            assert!((door(&game) - WIDTH).abs() < 0.6, "it is open: {}", door(&game));
        }
    }
    assert!(x(&game) > 100.0, "the player went through");
    assert!(door(&game).abs() < 0.6, "it is shut again: {}", door(&game));
}

/// The door does not leave its pocket: neither into the floor, nor farther into the wall.
#[test]
fn a_door_stays_out_of_the_world_beyond_its_pocket() {
    let map = rooms();
    let mut game = Match::new(Doors, Arc::clone(&map), config()).expect("the map can be played");
    let models = AnyGame::models(&Doors, &map);
    let mut audit = Audit::new(&map, &models).expect("the map can be audited");
    let mut passages = Passages::new(&map, &models, 60).expect("the map can be audited");
    let door = game.state().door;
    let mut farthest = DVec3::ZERO;
    for round in 0..120 {
        let angle = f64::from(round) * 0.37;
        // Any motion but along the wall leads out of the pocket.
        let aside = if round % 3 == 0 { 0.0 } else { 0.3 };
        let way = DVec3::new(angle.cos() * aside, angle.sin(), (angle * 1.7).sin() * aside);
        for _ in 0..10 {
            let world = game.world_mut();
            world.set_velocity(door, way * 200.0, DVec3::ZERO).expect("it is there");
            world.step(&[]);
            audited(&mut audit, &mut passages, &game);
            let at = game.world().entity(door).expect("it is there").position;
            farthest = farthest.max((at - game.state().shut).abs());
        }
    }
    assert!(farthest.y > 8.0, "it moves within its pocket: {farthest}");
    assert!(farthest.y < WIDTH + 2.0 * ROOM && farthest.z < 2.0 * ROOM, "{farthest}");
    // While the door is in the wall, its pocket cannot be removed or made shorter.
    let world = game.world_mut();
    let shut = game_place(world, door);
    assert_eq!(world.set_pocket(door, None), Err(PlaceError::NoRoom), "at {shut}");
    let short = Aabb { max: DVec3::new(12.0, 0.0, 128.0), ..pocket() };
    assert_eq!(world.set_pocket(door, Some(short)), Err(PlaceError::NoRoom));
    assert_eq!(world.pocket(door), Some(pocket()));
    let odd = Aabb { max: DVec3::NAN, ..pocket() };
    assert_eq!(world.set_pocket(door, Some(odd)), Err(PlaceError::NotFinite));
}

fn game_place(world: &World, id: EntityId) -> DVec3 {
    world.entity(id).expect("it is there").position
}

#[test]
fn a_saved_match_keeps_its_drawn_doors_and_their_pockets() {
    let map = rooms();
    let mut game = Match::new(Doors, Arc::clone(&map), config()).expect("the map can be played");
    (0..OPENS + 30).for_each(|_| game.step(&[]));
    let mut again =
        Doors.load_match(Arc::clone(&map), &game.save()).expect("the save can be loaded");
    assert_eq!(again.digest(), game.digest());
    assert_eq!(again.world().pocket(game.state().door), Some(pocket()));
    for _ in 0..200 {
        game.step(&[]);
        again.step(&[]);
        assert_eq!(again.digest(), game.digest(), "tick {}", game.world().tick());
    }
}

/// Clients have the map, so a hello with the name of the model is enough. A material is sent alone.
#[test]
fn clients_make_drawn_models_from_their_map() {
    let map = rooms();
    let schema = Doors.schema(&map).expect("it can be sent");
    assert_eq!(schema.models().collect::<Vec<_>>(), ["*1"]);
    let data = Doors.client_data(&map).expect("it can be sent");
    assert_eq!(data.bytes().len(), 0);
    let known = data.models_of(&schema, &map).expect("the map has it");
    assert!(known[0].is_same(&AnyGame::models(&Doors, &map)[0]));

    let icy = Material::new(0.05, 0.5).unwrap().with_density(0.01).unwrap();
    let icy = known[0].clone().with_material(icy);
    let sent = GameData::default().with_models(std::slice::from_ref(&icy)).unwrap();
    assert!((1..200).contains(&sent.bytes().len()), "{}", sent.bytes().len());
    let received = GameData::from_bytes(sent.bytes()).unwrap();
    assert!(received.models_of(&schema, &map).unwrap()[0].is_same(&icy));
    assert!(received.models().is_empty());

    let arena = Map::load("../../maps/arena.obsp".as_ref()).unwrap();
    let arena_has = arena.entities().iter().filter(|entity| !entity.solids().is_empty()).count();
    let name = format!("*{}", arena_has + 1);
    let schema = obsp_game::Schema::of_models([name]).unwrap();
    let missing = data.models_of(&schema, &arena).unwrap_err().to_string();
    assert!(missing.contains("nor drawn in the map"), "{missing}");
    // With a file as well.
    let with_file = Doors.with_file(&GameFile::default());
    assert_eq!(with_file.models(&map).len(), 1);
}

/// The maps of Quake, which are not part of the repository. Without them, the function says so.
fn real_maps() -> Vec<Map> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/maps/id-gpl");
    let paths = ["dm1.map", "dm3.map", "e1m1.map"].map(|name| folder.join(name));
    let found: Vec<PathBuf> = paths.into_iter().filter(|path| path.exists()).collect();
    if found.is_empty() {
        let skipped = format!("there are no maps in {}; nothing was tested", folder.display());
        let needed = std::env::var_os("ARENA_NEED_SHARED").is_some_and(|value| value == "1");
        assert!(!needed, "{skipped}");
        // `eprintln!` would be captured, and not shown for tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
    }
    let compiled = |path: &PathBuf| {
        let source = Source::read(path).unwrap_or_else(|error| panic!("{error}"));
        let (spaces, options) = (Spaces::default(), CompileOptions::default());
        let map = compile(&source, &spaces, &options, &mut |_, _, _| {});
        map.unwrap_or_else(|error| panic!("{error}")).map
    };
    found.iter().map(compiled).collect()
}

/// Each mover of a real map is a body where it is drawn, in a pocket as large as itself. A mover
/// may be refused only because it touches another one, such as the other wing of a double door.
#[test]
fn the_movers_of_real_maps_are_placed_where_they_are_drawn() {
    for map in real_maps() {
        let map = Arc::new(map);
        let moves = |entity: &&obsp::MapEntity| entity.classname().starts_with("func_");
        let movers: Vec<_> = map.entities().iter().filter(moves).collect();
        let models: Vec<Model> =
            movers.iter().filter_map(|mover| map.model_of(mover).ok()).collect();
        assert!(!models.is_empty(), "{}", map.name());
        let mut audit = Audit::new(&map, &models).expect("the map can be audited");
        let mut world =
            World::new(Arc::clone(&map), models.clone().into(), config()).expect("a match");
        let (mut placed, mut refused): (Vec<Aabb>, usize) = (Vec::new(), 0);
        for mover in movers {
            let Some(drawn) = world.model_of(mover) else { continue };
            let bounds = models[usize::from(drawn.model.0)].bounds();
            let around = Aabb { min: bounds.min + drawn.place, max: bounds.max + drawn.place };
            let pocket = around.inflated(ROOM);
            match world.spawn_body_in(drawn.model, drawn.place, DQuat::IDENTITY, &pocket) {
                Ok(_) => placed.push(around),
                Err(error) => {
                    let touched = placed.iter().any(|other| other.overlaps(&pocket));
                    assert!(touched, "{}: {error} at {}", map.name(), drawn.place);
                    refused += 1;
                }
            }
        }
        assert_eq!(placed.len() + refused, models.len(), "{}", map.name());
        assert!(placed.len() * 3 >= models.len() * 2, "{}: {refused} have no room", map.name());
        for _ in 0..5 {
            world.step(&[]);
            assert_eq!(audit.check_match(&world), [], "{}", map.name());
        }
    }
}
