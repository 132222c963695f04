//! The guides `GUIDE.md` and `CAPTURE_THE_FLAG.md` in `server/game`: the program of each of their ten
//! steps compiles, here as a module, and its game is played without faults. `build.rs` assembles the
//! programs from the pages.

use std::path::PathBuf;
use std::sync::Arc;

use glam::DQuat;
use obsp_game::{AnyGame, Match, RunningMatch};
use obsp_sim::{Config, PlayerKind};
use server::soak::{Report, SoakOptions, soak_game};

macro_rules! steps {
    ($all:ident: $game:ident: $($step:ident)*) => {
        $(
            #[allow(dead_code, unused_imports, reason = "a step of a tutorial, with a `main`")]
            mod $step {
                include!(concat!(env!("OUT_DIR"), "/", stringify!($step), ".rs"));

                pub(crate) fn game() -> Box<dyn obsp_game::AnyGame> {
                    Box::new(new())
                }

                pub(crate) fn new() -> impl obsp_game::Game {
                    $game
                }
            }
        )*
        const $all: &[fn() -> Box<dyn AnyGame>] = &[$($step::game),*];
    };
}

steps!(SUMO: Sumo: step_1 step_2 step_3 step_4 step_5 step_6 step_7 step_8 step_9 step_10);
steps!(FLAGS: Flags: flag_1 flag_2 flag_3 flag_4 flag_5 flag_6 flag_7 flag_8 flag_9 flag_10);

fn map(name: &str) -> String {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../server/examples");
    examples.join(name).to_string_lossy().into_owned()
}

fn play(game: &dyn AnyGame, name: &str, ticks: u64) -> Report {
    let options = SoakOptions {
        players: 8,
        objects: 0,
        ticks,
        audit_every: 1,
        ..SoakOptions::new(map(name))
    };
    soak_game(game, &options).expect("the map can be played")
}

/// Plays a step with every tick audited.
fn plays_clean(game: &dyn AnyGame, name: &str, step: usize) -> Report {
    let report = play(game, name, 600);
    let faults = (report.interpenetrations, report.tunnelled, report.emergency_replacements);
    assert_eq!(faults, (0, 0, 0), "step {step} on {name}: {:?}", report.findings);
    report
}

#[test]
fn each_step_of_the_guide_is_played_clean() {
    for (index, game) in SUMO.iter().enumerate() {
        let report = plays_clean(&*game(), "sumo.map", index + 1);
        // Step 3 adds the crates, as many as there is room for.
        assert_eq!(report.objects > 3, index >= 2, "step {}", index + 1);
    }
}

/// In step 7 all players end in the pit. In step 8 they come back for the next round, so the match
/// goes another way.
#[test]
fn the_last_step_is_a_game_that_goes_on() {
    let play = |step: usize| play(&*SUMO[step - 1](), "sumo.map", 3_600);
    assert_ne!(play(7).digest, play(8).digest);
    let report = play(10);
    assert_eq!((report.interpenetrations, report.tunnelled), (0, 0), "{:?}", report.findings);
    assert_eq!(play(10).digest, report.digest);
}

/// The bodies are two flags from step 2 on, two doors and two lifts from step 4 on, and two pick-ups
/// from step 6 on. Each step that moves something makes the match go another way.
#[test]
fn each_step_of_capture_the_flag_is_played_clean() {
    let mut digests = Vec::new();
    for (index, game) in FLAGS.iter().enumerate() {
        let step = index + 1;
        let report = plays_clean(&*game(), "capture_the_flag.map", step);
        let bodies = 2 * usize::from(step >= 2) + 4 * usize::from(step >= 4);
        assert_eq!(report.objects, bodies + 2 * usize::from(step >= 6), "step {step}");
        assert_eq!(report.stuck_players, 0, "step {step}: {:?}", report.findings);
        assert_eq!(report.warnings, [""; 0], "step {step}");
        digests.push(report.digest);
    }
    digests.dedup();
    assert!(digests.len() >= 8, "steps that change nothing: {digests:?}");
}

/// Takes a player to the other team's flag and back to the own one. Returns the player's score and
/// the number of flags on their back: before the way, at the other flag, and at home.
fn capture(game: impl obsp_game::Game) -> [(i16, usize); 3] {
    let map = server::load_map(map("capture_the_flag.map").as_ref()).expect("the map compiles");
    let map = Arc::new(map);
    let place = |class: &str| {
        let flag = map.entities().iter().find(|entity| entity.classname() == class);
        flag.and_then(|flag| flag.origin()).expect("the map has the flag")
    };
    let mut flags = [place("team_CTF_redflag"), place("team_CTF_blueflag")];
    let mut game = Match::new(game, Arc::clone(&map), Config::default()).expect("it can be played");
    let player = game.join_as(PlayerKind::Box).expect("there is a place");
    game.step(&[]);
    let start = game.world().entity(player).expect("the player is in the world").position;
    // Players come in near the own flag.
    flags.sort_by(|a, b| b.distance(start).total_cmp(&a.distance(start)));
    [None, Some(flags[0]), Some(flags[1])].map(|place| {
        if let Some(place) = place {
            game.world_mut().teleport(player, place, DQuat::IDENTITY).expect("nobody is there");
        }
        game.step(&[]);
        let score = game.vitals(player).expect("the player has a score").score;
        (score, game.world().attached_to(player).len())
    })
}

/// Step 3 is the first in which flags are carried.
#[test]
fn a_player_who_carries_the_flag_home_scores() {
    assert_eq!(capture(flag_2::new()), [(0, 0); 3]);
    assert_eq!(capture(flag_3::new()), [(0, 0), (0, 1), (1, 0)]);
    assert_eq!(capture(flag_10::new()), [(0, 0), (0, 1), (1, 0)]);
}
