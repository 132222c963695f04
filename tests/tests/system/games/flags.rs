//! Capture the flag, the example that uses layers, pictures, attachments, models of the map,
//! movement sets and agents: it is played clean, and each of its rules does its job.

use std::path::Path;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::Map;
use obsp_game::{Match, RunningMatch};
use obsp_sim::{Command, Config, EntityId, PlayerKind};
use server::replay::{ReplayOptions, replay_game};
use server::soak::{SoakOptions, soak_game};
use tests::harness::setting;

use super::capture_the_flag::CaptureTheFlag;

fn options(players: u16, ticks: u64) -> SoakOptions {
    let map = super::map("capture_the_flag.map");
    SoakOptions { players, objects: 0, ticks, ..SoakOptions::new(map) }
}

/// A long match, whose audits are far apart so that the test takes only seconds. The next test
/// audits every tick. `FLAGS_SEEDS` is the number of matches.
#[test]
fn sixteen_players_and_eight_guards_play_clean() {
    for seed in 1..=setting("FLAGS_SEEDS", 1) as u64 {
        let options = SoakOptions { seed, audit_every: 60, audit_first: 60, ..options(16, 12_000) };
        let report = soak_game(&CaptureTheFlag, &options).unwrap();
        assert!(report.audits >= 12_000 / 60, "{} audits", report.audits);
        let faults = (report.interpenetrations, report.tunnelled, report.stuck_players);
        assert_eq!(faults, (0, 0, 0), "seed {seed}: {:?}", report.findings);
        let others = (report.unsound, report.misplaced, report.emergency_replacements);
        assert_eq!(others, (0, 0, 0), "seed {seed}: {:?}", report.findings);
        assert_eq!(report.warnings, [""; 0]);
    }
}

#[test]
fn every_tick_is_clean_and_the_seed_decides_the_match() {
    let options = SoakOptions { audit_every: 1, ..options(16, 1_200) };
    let report = soak_game(&CaptureTheFlag, &options).unwrap();
    assert_eq!(report.audits, 1_201, "every tick is audited");
    let faults = (report.interpenetrations, report.tunnelled, report.stuck_players);
    assert_eq!(faults, (0, 0, 0), "{:?}", report.findings);
    assert_eq!(soak_game(&CaptureTheFlag, &options).unwrap().digest, report.digest);
    let other = SoakOptions { seed: 2, ..options };
    assert_ne!(soak_game(&CaptureTheFlag, &other).unwrap().digest, report.digest);
}

#[test]
fn a_recorded_match_replays_to_the_same_digests() {
    let file = std::env::temp_dir().join(format!("flags-{}.obsr", std::process::id()));
    let options = SoakOptions { audit_every: 0, record: Some(file.clone()), ..options(16, 600) };
    let report = soak_game(&CaptureTheFlag, &options).unwrap();
    let replayed = ReplayOptions { map: Some(options.map), ..ReplayOptions::new(&file) };
    let outcome = replay_game(&CaptureTheFlag, &replayed).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(outcome.passed(), "{outcome}");
    assert_eq!((outcome.ticks, &outcome.digest), (600, &report.digest), "{outcome}");
    assert!(outcome.verified >= 10, "{outcome}");
}

/// A match with one player, of the red team, who is in the world.
struct Lone {
    map: Arc<Map>,
    game: Match<CaptureTheFlag>,
    player: EntityId,
}

impl Lone {
    fn new() -> Self {
        let map = server::load_map(Path::new(&super::map("capture_the_flag.map"))).unwrap();
        let map = Arc::new(map);
        let mut game = Match::new(CaptureTheFlag, Arc::clone(&map), Config::default()).unwrap();
        let player = game.join_as(PlayerKind::Box).unwrap();
        game.step(&[]);
        let lone = Self { map, game, player };
        assert!(lone.at().x < 0.0, "the player is not in the red base");
        lone
    }

    fn at(&self) -> DVec3 {
        self.game.world().entity(self.player).expect("the player is in the world").position
    }

    /// The places of the entities of a class, in the order of the map.
    fn places(&self, class: &str) -> Vec<DVec3> {
        let all = self.map.entities().iter();
        all.filter(|entity| entity.classname() == class)
            .filter_map(|entity| entity.origin())
            .collect()
    }

    /// Where the red and the blue flag stand.
    fn flags(&self) -> [DVec3; 2] {
        self.places("item_flag").try_into().expect("two flags")
    }

    /// Puts the player at a place, and plays one tick.
    fn visit(&mut self, place: DVec3) {
        self.game.world_mut().teleport(self.player, place, DQuat::IDENTITY).unwrap();
        self.game.step(&[]);
    }

    /// The bodies on the player's back.
    fn carried(&self) -> Vec<EntityId> {
        self.game.world().attached_to(self.player)
    }

    fn score(&self) -> i16 {
        self.game.vitals(self.player).unwrap().score
    }
}

#[test]
fn a_flag_that_is_carried_home_scores_and_goes_back() {
    let mut lone = Lone::new();
    let [red, blue] = lone.flags();
    lone.visit(red);
    assert_eq!((lone.carried().len(), lone.score()), (0, 0), "the own flag stays at home");
    lone.visit(blue);
    let carried = lone.carried();
    assert_eq!((carried.len(), lone.score()), (1, 0));
    lone.visit(red);
    assert_eq!((lone.carried().len(), lone.score()), (0, 1));
    let flag = lone.game.world().entity(carried[0]).unwrap();
    assert_eq!(flag.position, blue, "the flag is at home again");
}

#[test]
fn the_carried_flag_is_attached_until_its_carrier_leaves() {
    let mut lone = Lone::new();
    let [_, blue] = lone.flags();
    lone.visit(blue);
    let flag = lone.carried()[0];
    let start = lone.at();
    let away = Command { forward: 127, yaw: 32_768, ..Command::default() };
    for tick in 0..120 {
        lone.game.step(&[(lone.player, away)]);
        let flag = lone.game.world().entity(flag).unwrap();
        let off = flag.position.distance(lone.at());
        // The flag is attached 18 units behind the carrier and 12 above the carrier's middle.
        assert!((off - 18.0_f64.hypot(12.0)).abs() < 1e-6, "{off} units in tick {tick}");
    }
    let end = lone.at();
    assert!(start.distance(end) > 100.0, "the carrier went from {start} to {end} only");
    lone.game.leave(lone.player);
    lone.game.step(&[]);
    let flag = lone.game.world().entity(flag).unwrap();
    assert!(flag.position.distance(end) < 48.0, "the flag lies at {}", flag.position);
}

#[test]
fn a_pick_up_sets_the_movement_for_six_seconds() {
    let mut lone = Lone::new();
    let movement = |lone: &Lone| lone.game.world().player_movement(lone.player).unwrap();
    let haste = lone.game.world().movement_sets().find("haste").expect("the game declares haste");
    let usual = movement(&lone);
    assert_ne!(usual, haste);
    // The place is high enough for a player to stand there.
    let pick_up = lone.places("item_haste")[0].with_z(40.0);
    lone.visit(pick_up);
    assert_eq!(movement(&lone), haste);
    // The player runs out of reach, and twice as fast as usual.
    let away = Command { forward: 127, ..Command::default() };
    let mut ticks = 0;
    let mut fastest = 0.0_f64;
    while movement(&lone) == haste {
        let from = lone.at();
        lone.game.step(&[(lone.player, away)]);
        fastest = fastest.max(lone.at().distance(from) / lone.game.world().seconds());
        ticks += 1;
        assert!(ticks < 1_000, "the haste does not end");
    }
    assert_eq!(ticks, 6 * 60, "ticks of haste");
    let usual = lone.game.world().movement().run_speed;
    assert!(fastest > 1.5 * usual, "{fastest} units a second, usually {usual}");
    // The pick-up has not come back yet.
    lone.visit(pick_up);
    assert_ne!(movement(&lone), haste);
}
