//! Haste over a line with delay and loss, in virtual time: a client of capture the flag runs over
//! the pick-ups, and predicts a player with haste as well as a player without.

use std::path::Path;
use std::sync::Arc;

use glam::DVec3;
use obsp_client::PredictionStats;
use obsp_sim::{Command, Config, EntityId, Kind};

use super::capture_the_flag::CaptureTheFlag;
use super::lagged_match::{Lag, LaggedMatch};

const LAG: Lag = Lag { delay: 5, loss: 20 };

/// The ticks of a match, and the ticks at its beginning, whose errors do not count.
const TICKS: usize = 3_600;
const FIRST: usize = 120;

/// The corners of the player's way, which leads over both pick-ups.
const WAY: [[f64; 2]; 6] = [
    [-180.0, 280.0],
    [0.0, 280.0],
    [180.0, 280.0],
    [180.0, -280.0],
    [0.0, -280.0],
    [-180.0, -280.0],
];

/// The outcome of a match.
#[derive(Debug)]
struct Outcome {
    /// The prediction errors in units, ascending.
    errors: Vec<f64>,
    stats: PredictionStats,
    /// Ticks for which the player had haste.
    hasty: usize,
    /// How often the player got haste or lost it.
    changes: u64,
}

impl Outcome {
    fn p99(&self) -> f64 {
        self.errors[self.errors.len() * 99 / 100]
    }
}

/// Plays a match. `has_pick_ups` says whether the pick-ups that give haste are in it.
fn run(has_pick_ups: bool) -> Outcome {
    let map = super::map("capture_the_flag.map");
    let map = Arc::new(server::load_map(Path::new(&map)).unwrap());
    let config = Config { tick_rate: 60, seed: 5, objects: 0, max_players: 2 };
    let mut play = LaggedMatch::new(&CaptureTheFlag, (map, "capture_the_flag"), config, LAG);
    if !has_pick_ups {
        let haste = play.game.world().model("haste").expect("the game's model");
        let state = play.game.world().state();
        let is_haste = |kind| matches!(kind, Kind::Prop { model } if model == haste);
        let pick_ups = state.entities.iter().filter(|entity| is_haste(entity.kind));
        let ids: Vec<EntityId> = pick_ups.map(|entity| entity.id).collect();
        assert_eq!(ids.len(), 2);
        ids.into_iter().for_each(|id| play.game.world_mut().remove(id).unwrap());
    }
    let stats = PredictionStats::default();
    let mut outcome = Outcome { errors: Vec::new(), stats, hasty: 0, changes: 0 };
    let (mut corner, mut waited, mut was_hasty) = (0, 0, false);
    for frame in 0..TICKS {
        // The player runs to the next corner. A player who is held up skips the corner.
        let errors = play.tick(|from| {
            let goal = DVec3::new(WAY[corner][0], WAY[corner][1], 0.0);
            let way = (goal - from).with_z(0.0);
            waited += 1;
            if way.length() < 40.0 || waited > 180 {
                (corner, waited) = ((corner + 1) % WAY.len(), 0);
            }
            Command::running_towards(way)
        });
        if frame >= FIRST {
            outcome.errors.extend(errors.iter().map(|error| error.units));
        }
        let movement = play.player.and_then(|player| play.game.world().player_movement(player));
        let haste = play.game.world().movement_sets().find("haste");
        let is_hasty = movement.is_some() && movement == haste;
        outcome.hasty += usize::from(is_hasty);
        outcome.changes += u64::from(is_hasty != was_hasty);
        was_hasty = is_hasty;
    }
    outcome.stats = play.stats();
    outcome.errors.sort_by(f64::total_cmp);
    outcome
}

#[test]
fn a_player_with_haste_is_predicted_as_well_as_one_without() {
    let [without, with] = [false, true].map(run);
    for (name, outcome) in [("without", &without), ("with", &with)] {
        let Outcome { errors, stats, hasty, changes } = outcome;
        let (count, greatest) = (errors.len(), errors.last().unwrap());
        println!(
            "{name} haste: p99 {} and at most {greatest} units of {count}, {} corrections, {hasty} \
             ticks of haste, {changes} changes",
            outcome.p99(),
            stats.corrections
        );
        assert!(count > 500, "{count} comparisons");
    }
    assert_eq!(without.hasty, 0);
    assert!(with.hasty > 900 && with.changes > 5, "haste for {} ticks", with.hasty);
    assert!(with.p99() <= without.p99() + 0.01, "p99 {} > {}", with.p99(), without.p99());
    let [visible, usual] = [&with, &without].map(|outcome| outcome.stats.visible_corrections);
    assert!(visible <= usual, "{visible} visible corrections, {usual} without haste");
    // The client learns of each change from a motion that it has not predicted.
    let [corrections, usual] = [&with, &without].map(|outcome| outcome.stats.corrections);
    assert!(corrections <= usual + with.changes, "{corrections}, {usual} without haste");
}
