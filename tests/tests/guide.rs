//! The guide in `server/game/GUIDE.md`: the program of each of its ten steps compiles, here as a
//! module, and its game is played without faults. `build.rs` assembles the programs from the page.

use std::path::PathBuf;

use obsp_game::AnyGame;
use server::soak::{Report, SoakOptions, soak_game};

macro_rules! steps {
    ($($step:ident)*) => {
        $(
            #[allow(dead_code, unused_imports, reason = "a step of a tutorial, with a `main`")]
            mod $step {
                include!(concat!(env!("OUT_DIR"), "/", stringify!($step), ".rs"));

                pub(crate) fn game() -> Box<dyn obsp_game::AnyGame> {
                    Box::new(Sumo)
                }
            }
        )*
        const STEPS: &[fn() -> Box<dyn AnyGame>] = &[$($step::game),*];
    };
}

steps!(step_1 step_2 step_3 step_4 step_5 step_6 step_7 step_8 step_9 step_10);

fn play(game: &dyn AnyGame, ticks: u64) -> Report {
    let map = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../server/examples/sumo.map");
    let options = SoakOptions {
        players: 8,
        objects: 0,
        ticks,
        audit_every: 1,
        ..SoakOptions::new(map.to_string_lossy())
    };
    soak_game(game, &options).expect("the map can be played")
}

#[test]
fn each_step_of_the_guide_is_played_clean() {
    for (index, game) in STEPS.iter().enumerate() {
        let report = play(&*game(), 600);
        let faults = (report.interpenetrations, report.tunnelled, report.emergency_replacements);
        assert_eq!(faults, (0, 0, 0), "step {}: {:?}", index + 1, report.findings);
        // Step 3 adds the crates, as many as there is room for.
        assert_eq!(report.objects > 3, index >= 2, "step {}", index + 1);
    }
}

/// In step 7 all players end in the pit. In step 8 they come back for the next round, so the match
/// goes another way.
#[test]
fn the_last_step_is_a_game_that_goes_on() {
    assert_ne!(play(&*STEPS[6](), 3_600).digest, play(&*STEPS[7](), 3_600).digest);
    let report = play(&*STEPS[9](), 3_600);
    assert_eq!((report.interpenetrations, report.tunnelled), (0, 0), "{:?}", report.findings);
    assert_eq!(play(&*STEPS[9](), 3_600).digest, report.digest);
}
