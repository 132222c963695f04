//! The guides `GUIDE.md` and `CAPTURE_THE_FLAG.md` in `server/game`: the program of each of their
//! ten steps compiles, here as a module, and its game is played without faults. `build.rs`
//! assembles the programs from the pages.

use std::path::PathBuf;

use glam::{DQuat, DVec3};
use obsp_game::{AnyGame, RunningMatch};
use obsp_sim::{Buttons, Command, Config, EntityId, MovementId, PlayerKind};
use server::soak::{Report, SoakOptions, soak_game};

macro_rules! steps {
    ($all:ident: $game:ident: $($step:ident)*) => {
        $(
            #[allow(dead_code, unused_imports, reason = "a step of a tutorial, with a `main`")]
            mod $step {
                include!(concat!(env!("OUT_DIR"), "/", stringify!($step), ".rs"));

                pub(crate) fn game() -> Box<dyn obsp_game::AnyGame> {
                    Box::new($game)
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

/// In step 7 all players end in the pit. In step 8 they come back for the next round, so the
/// digests differ.
#[test]
fn the_last_step_is_a_game_that_goes_on() {
    let play = |step: usize| play(&*SUMO[step - 1](), "sumo.map", 3_600);
    assert_ne!(play(7).digest, play(8).digest);
    let report = play(10);
    assert_eq!((report.interpenetrations, report.tunnelled), (0, 0), "{:?}", report.findings);
    assert_eq!(play(10).digest, report.digest);
}

/// The bodies are two flags from step 2 on, two doors and two lifts from step 4 on, and two
/// pick-ups from step 6 on.
#[test]
fn each_step_of_capture_the_flag_is_played_clean() {
    for (index, game) in FLAGS.iter().enumerate() {
        let step = index + 1;
        let report = plays_clean(&*game(), "capture_the_flag.map", step);
        let bodies = 2 * usize::from(step >= 2) + 4 * usize::from(step >= 4);
        assert_eq!(report.objects, bodies + 2 * usize::from(step >= 6), "step {step}");
        assert_eq!(report.stuck_players, 0, "step {step}: {:?}", report.findings);
        assert_eq!(report.warnings, [""; 0], "step {step}");
    }
}

/// A match of a step of capture the flag, with a player of the red team.
struct Flags {
    game: Box<dyn RunningMatch>,
    red: EntityId,
}

impl Flags {
    fn at_step(step: usize) -> Self {
        let map = server::load_map(map("capture_the_flag.map").as_ref()).expect("it compiles");
        let mut game = FLAGS[step - 1]().new_match(map.into(), Config::default()).expect("a match");
        let red = game.join_as(PlayerKind::Box).expect("there is a place");
        game.step(&[]);
        Self { game, red }
    }

    /// Puts a player at a place, and plays this many ticks.
    fn stand(&mut self, player: EntityId, place: DVec3, ticks: usize) {
        let put = self.game.world_mut().teleport(player, place, DQuat::IDENTITY);
        put.expect("there is room");
        (0..ticks).for_each(|_| self.game.step(&[]));
    }

    fn at(&self, entity: EntityId) -> DVec3 {
        self.game.world().entity(entity).expect("it is in the world").position
    }

    /// The red player's score, and the number of flags on their back.
    fn score_and_flags(&self) -> (i16, usize) {
        let score = self.game.vitals(self.red).expect("the player has a score").score;
        (score, self.game.world().attached_to(self.red).len())
    }
}

/// Step 3 is the first in which flags are carried.
#[test]
fn a_player_who_carries_the_flag_home_scores() {
    for (step, carried, scored) in [(2, 0, 0), (3, 1, 1), (10, 1, 1)] {
        let mut flags = Flags::at_step(step);
        assert_eq!(flags.score_and_flags(), (0, 0), "step {step}");
        flags.stand(flags.red, DVec3::new(944.0, 0.0, 40.0), 1);
        assert_eq!(flags.score_and_flags(), (0, carried), "step {step}, at the blue flag");
        flags.stand(flags.red, DVec3::new(-944.0, 0.0, 40.0), 1);
        assert_eq!(flags.score_and_flags(), (scored, 0), "step {step}, at home");
    }
}

#[test]
fn a_door_opens_from_step_4_on() {
    for (step, open) in [(3, false), (4, true), (10, true)] {
        let mut flags = Flags::at_step(step);
        flags.stand(flags.red, DVec3::new(-720.0, 0.0, 40.0), 120);
        let entities = flags.game.world().state().entities;
        // The middle of a closed door is at a height of 55 units.
        let is_open = |at: DVec3| at.x < -600.0 && at.y.abs() < 1.0 && at.z > 150.0;
        assert_eq!(entities.iter().any(|entity| is_open(entity.position)), open, "step {step}");
    }
}

#[test]
fn a_lift_rises_from_step_5_on() {
    for (step, height) in [(4, 45.0), (5, 157.0), (10, 157.0)] {
        let mut flags = Flags::at_step(step);
        flags.stand(flags.red, DVec3::new(-575.0, 288.0, 50.0), 120);
        let z = flags.at(flags.red).z;
        assert!((z - height).abs() < 10.0, "step {step}: the player is at a height of {z}");
    }
}

#[test]
fn a_pick_up_gives_haste_from_step_7_on() {
    for (step, hastes) in [(6, false), (7, true), (10, true)] {
        let mut flags = Flags::at_step(step);
        // The game gives the movement in the tick after the player has taken the pick-up.
        flags.stand(flags.red, DVec3::new(0.0, 280.0, 40.0), 2);
        let movement = flags.game.world().player_movement(flags.red);
        assert_eq!(movement != Some(MovementId::USUAL), hastes, "step {step}");
    }
}

#[test]
fn guards_run_about_their_flag_from_step_8_on() {
    for (step, guards) in [(7, 0), (8, 4)] {
        let mut flags = Flags::at_step(step);
        (0..600).for_each(|_| flags.game.step(&[]));
        assert_eq!(flags.game.named_agents().len(), guards, "step {step}");
        for guard in flags.game.world().agents() {
            let at = flags.at(*guard);
            let off = (at.abs() - DVec3::X * 944.0).truncate().length();
            assert!((100.0..220.0).contains(&off), "a guard is {off} units from a flag, at {at}");
        }
    }
}

#[test]
fn clients_learn_the_team_from_step_9_on() {
    for (step, teams) in [(8, false), (9, true)] {
        let flags = Flags::at_step(step);
        let values = flags.game.values(&flags.game.world().state());
        let has_team = values.of_entities.iter().any(|(id, _)| *id == flags.red);
        assert_eq!(has_team, teams, "step {step}");
    }
}

#[test]
fn a_push_moves_an_enemy_from_step_10_on() {
    for (step, pushes) in [(9, false), (10, true)] {
        let mut flags = Flags::at_step(step);
        let blue = flags.game.join_as(PlayerKind::Box).expect("there is a place");
        flags.game.step(&[]);
        flags.stand(flags.red, DVec3::new(-300.0, 0.0, 30.0), 30);
        flags.stand(blue, DVec3::new(-250.0, 0.0, 30.0), 30);
        let before = flags.at(blue);
        let push = Command { buttons: Buttons::PRIMARY, ..Command::default() };
        (0..30).for_each(|_| flags.game.step(&[(flags.red, push)]));
        assert_eq!(flags.at(blue).x > before.x + 20.0, pushes, "step {step}: from {before}");
    }
}
