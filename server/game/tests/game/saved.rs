//! Matches that are saved and loaded. The loaded match has the digest of the saved one at once and
//! after every later tick. The maps are the arena and, if present, dm4. The matches have sleeping
//! heaps, missiles in flight and dead players. Damaged bytes are refused, or the loaded match plays
//! on without a panic.
//!
//! `SAVED_MATCHES` is the number of matches on each map, and `SAVED_SEED` the seed of the first.

use std::path::Path;
use std::sync::Arc;

use obsp::{CompileOptions, Source, Spaces, compile};
use obsp_game::arena::Arena;
use obsp_game::{AnyGame, Event, RunningMatch};
use obsp_sim::audit::Audit;
use obsp_sim::{Buttons, Command, Config, EntityId, PlayerKind, Random};

/// Ticks for which a loaded match is compared with the saved one.
const FOLLOWED: u32 = 300;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn shipped(name: &str) -> Arc<obsp::Map> {
    obsp::Map::load(&root().join("maps").join(name)).expect("a shipped map").into()
}

/// Quake's dm4, which is not part of the repository.
fn dm4() -> Option<Arc<obsp::Map>> {
    let path = root().join("../shared/maps/id-gpl/dm4.map");
    if !path.exists() {
        assert!(std::env::var_os("ARENA_NEED_SHARED").is_none(), "there is no {}", path.display());
        eprintln!("SKIPPED: there is no {}", path.display());
        return None;
    }
    let source = Source::read(&path).expect("a map");
    let made = compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| ());
    Some(Arc::new(made.expect("dm4 compiles").map))
}

/// Players who run, turn, jump, duck and shoot at random.
#[derive(Clone)]
struct Crowd {
    random: Random,
    commands: Vec<(EntityId, Command)>,
}

impl Crowd {
    fn join(game: &mut dyn RunningMatch, count: u16, seed: u64) -> Self {
        let kind = |index| if index < 2 { PlayerKind::Hovertank } else { PlayerKind::Box };
        let commands = (0..count)
            .map(|index| (game.join_as(kind(index)).expect("there is room"), Command::default()))
            .collect();
        Self { random: Random::new(seed), commands }
    }

    fn next(&mut self) -> &[(EntityId, Command)] {
        let random = &mut self.random;
        for (_, command) in &mut self.commands {
            if random.below(20) == 0 {
                command.forward = if random.below(4) == 0 { -127 } else { 127 };
                command.right = [0, 0, 127, -127][random.below(4) as usize];
            }
            if random.below(15) == 0 {
                command.yaw = random.bits() as u16;
                command.pitch = random.between(-9_000.0, 3_000.0) as i16;
            }
            command.view_age = random.below(80) as u16;
            command.buttons = [
                Buttons::default(),
                Buttons::default(),
                Buttons::JUMP,
                Buttons::CROUCH,
                Buttons::PRIMARY,
                Buttons::SECONDARY,
                Buttons::TERTIARY,
            ][random.below(7) as usize];
        }
        &self.commands
    }
}

/// Counts of what the matches contained when they were saved. A test without missiles or sleeping
/// bodies would prove nothing about them.
#[derive(Debug, Default)]
struct Seen {
    asleep: usize,
    missiles: usize,
    waiting: usize,
    contacts: usize,
    deaths: usize,
}

impl Seen {
    fn count(&mut self, game: &dyn RunningMatch) {
        let world = game.world();
        let state = world.state();
        let names = world.model_names();
        self.asleep += state.entities.iter().filter(|entity| entity.asleep).count();
        self.missiles += state
            .entities
            .iter()
            .filter(|entity| match entity.kind {
                obsp_sim::Kind::Prop { model } => {
                    ["rocket", "grenade"].contains(&names[usize::from(model.0)].as_str())
                }
                _ => false,
            })
            .count();
        self.waiting += world.waiting().len();
        self.contacts += world.contacts().count();
    }
}

/// Plays a match and saves it at random ticks. Each save is loaded, and the loaded match goes on
/// beside the original.
fn play(map: &Arc<obsp::Map>, objects: u32, players: u16, seed: u64, seen: &mut Seen) {
    let config = Config { tick_rate: 60, seed, objects, max_players: 32 };
    let mut game = Arena.new_match(Arc::clone(map), config).expect("the map can be played");
    let mut audit = Audit::new(map, &Arena.models(map)).expect("the map can be played");
    let mut crowd = Crowd::join(&mut *game, players, seed);
    let mut random = Random::new(!seed);
    for round in 0..3 {
        for _ in 0..100 + random.below(200) {
            game.step(crowd.next());
            let deaths = game.events().iter().filter(|event| matches!(event, Event::Died { .. }));
            seen.deaths += deaths.count();
        }
        seen.count(&*game);
        let saved = game.save();
        let loaded = Arena.load_match(Arc::clone(map), &saved);
        let mut loaded = loaded
            .unwrap_or_else(|error| panic!("{}, seed {seed}, round {round}: {error}", map.name()));
        assert_eq!(
            loaded.save(),
            saved,
            "seed {seed}: the loaded match is saved to the same bytes"
        );
        assert_eq!(audit.check_match(loaded.world()), [], "seed {seed}, round {round}");
        for tick in 0..FOLLOWED {
            let where_ = || format!("{}, seed {seed}, round {round}, tick {tick}", map.name());
            assert_eq!(game.digest(), loaded.digest(), "{}", where_());
            let commands = crowd.next();
            game.step(commands);
            loaded.step(commands);
            assert_eq!(game.events(), loaded.events(), "{}", where_());
        }
        // The match goes on from an earlier state of its own.
        if round == 1 {
            game.restore(&saved).expect("a match can restore its own state");
        }
    }
}

#[test]
fn a_loaded_match_goes_on_as_the_saved_one() {
    let (matches, first) = (setting("SAVED_MATCHES", 1), setting("SAVED_SEED", 1));
    let mut seen = Seen::default();
    for seed in first..first + matches {
        println!("seed {seed}");
        play(&shipped("arena.obsp"), 60, 16, seed, &mut seen);
        // A heap: many props in a small place, most of them asleep in the end.
        play(&shipped("warren.obsp"), 300, 4, seed, &mut seen);
        if let Some(map) = dm4() {
            play(&map, 100, 24, seed, &mut seen);
        }
    }
    println!("{seen:?}");
    let Seen { asleep, missiles, waiting, contacts, deaths } = seen;
    assert!(asleep > 100 && missiles > 10 && contacts > 100, "{asleep} {missiles} {contacts}");
    assert!(
        deaths > 0 && waiting > 0,
        "the matches covered too little: {deaths} deaths, and {waiting} entities in saves waited \
         for a place; both must be above 0"
    );
}

/// A match of a few ticks. It is small enough to damage it in many places.
fn small() -> (Arc<obsp::Map>, Vec<u8>) {
    let map = shipped("arena.obsp");
    let config = Config { tick_rate: 60, seed: 5, objects: 6, max_players: 8 };
    let mut game = Arena.new_match(Arc::clone(&map), config).expect("the map can be played");
    let mut crowd = Crowd::join(&mut *game, 4, 5);
    (0..90).for_each(|_| game.step(crowd.next()));
    (map, game.save())
}

#[test]
fn damaged_bytes_are_refused_or_play_on() {
    let (map, saved) = small();
    let mut game = Arena.load_match(Arc::clone(&map), &saved).expect("a saved match can be loaded");
    let mut audit = Audit::new(&map, &Arena.models(&map)).expect("the map can be played");
    let digest = game.digest();
    for length in (0..saved.len()).step_by(7) {
        assert!(game.restore(&saved[..length]).is_err(), "cut to {length}");
        assert_eq!(game.digest(), digest, "a refused state changes nothing");
    }
    let mut longer = saved.clone();
    longer.push(0);
    assert!(game.restore(&longer).is_err());
    let flips = setting("SAVED_FLIPS", 1_500);
    let mut random = Random::new(9);
    let mut accepted = 0;
    for flip in 0..flips {
        let mut bytes = saved.clone();
        let bit = random.below(8 * bytes.len() as u64);
        bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
        if game.restore(&bytes).is_err() {
            continue;
        }
        accepted += 1;
        assert_eq!(audit.check_match(game.world()), [], "flip {flip}, bit {bit}");
        for _ in 0..5 {
            game.step(&[]);
        }
        assert_eq!(audit.check_match(game.world()), [], "flip {flip}, bit {bit}: later");
    }
    println!("{accepted} of {flips} flips play on");
    assert!(accepted > 0 && accepted < flips, "{accepted} of {flips}");
    game.restore(&saved).expect("a saved match can be loaded");
    assert_eq!(game.digest(), digest);
}

#[test]
fn a_match_of_another_map_or_configuration_is_refused() {
    let (map, saved) = small();
    let other = shipped("warren.obsp");
    let error = Arena.load_match(other, &saved).unwrap_err().to_string();
    assert!(error.contains("another map"), "{error}");
    let config = Config { tick_rate: 30, seed: 5, objects: 6, max_players: 8 };
    let mut game = Arena.new_match(map, config).expect("the map can be played");
    let error = game.restore(&saved).unwrap_err().to_string();
    assert!(error.contains("another configuration"), "{error}");
}
