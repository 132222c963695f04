//! Surfaces that are ground only together cannot be climbed like a ladder: where no single surface
//! is ground, nobody gains height without end.

use glam::{DQuat, DVec2, DVec3};
use obsp_sim::{Buttons, Command, Random};

use super::places::{Place, SPACING, Side, pit};
use super::trial::{TICK_RATE, Trial};

/// Time of the attempts to climb, in seconds.
const TRIES: u32 = 40;

/// Height of a step, in units.
const STEP: f64 = 18.0;

/// Maximum height above a player's first place, in units, where the flattest way up rises by these
/// degrees. The slope turns the speeds of a run and of a jump (320 and 270 units/s) along that way.
/// Gravity (800 units/s²) slows the player down, and steering in the air (320 units/s², as in Quake
/// III) works against gravity. The top may end with a step.
fn highest(degrees: f64) -> f64 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let speed = 320.0 * cos + 270.0 * sin;
    let slowing = 800.0 * sin - 320.0 * cos;
    speed * speed / (2.0 * slowing) * sin + STEP
}

/// A place with steep sides that are 400 units high. Each side is given by its turn, foot and
/// degrees.
fn steep(index: usize, what: String, sides: &[(f64, f64, f64)]) -> Place {
    let spot = DVec2::new((index % 8) as f64, (index / 8) as f64) * SPACING;
    let side = |&(turn, foot, degrees): &(f64, f64, f64)| Side {
        turn,
        foot,
        degrees,
        height: 400.0,
        half_angle: 1.2,
    };
    let sides: Vec<Side> = sides.iter().map(side).collect();
    Place { start: (spot).extend(40.0), ..pit(what, spot, &sides) }
}

/// Slopes, corners of slopes and walls, and gullies that rise.
fn places() -> (Vec<Place>, Vec<f64>) {
    let quarter = std::f64::consts::FRAC_PI_2;
    let (mut places, mut highest) = (Vec::new(), Vec::new());
    for degrees in [50.0_f64, 60.0, 70.0, 80.0] {
        // The crease between two slopes, at this angle from both, rises by less than the slopes.
        let crease = |angle: f64| (degrees.to_radians().tan() * angle.cos()).atan().to_degrees();
        let mut add = |what: &str, sides: &[(f64, f64, f64)]| {
            let flattest = match what {
                "a corner of two slopes" => crease(0.5 * quarter),
                "a gully that rises" => crease(0.6),
                _ => degrees,
            };
            highest.push(self::highest(flattest));
            let what = format!("{what} of {degrees}");
            places.push(steep(places.len(), what, sides));
        };
        add("one slope", &[(0.0, 40.0, degrees)]);
        add("a corner of two slopes", &[(0.0, 40.0, degrees), (quarter, 40.0, degrees)]);
        add("a gully that rises", &[(-0.6, 40.0, degrees), (0.6, 40.0, degrees)]);
        let walls = [(0.0, 24.0, 90.0), (quarter, 24.0, 90.0), (0.5 * quarter, 20.0, degrees)];
        add("a corner of two walls and a slope", &walls);
        let behind = [(0.0, 24.0, 90.0), (quarter, 24.0, 90.0), (2.5 * quarter, 24.0, degrees)];
        add("a slope towards a corner of two walls", &behind);
        let shaft = [(0.0, 20.0, 90.0), (quarter, 20.0, 90.0), (2.0 * quarter, 20.0, 90.0)];
        add("a niche and a slope", &[&shaft[..], &[(3.0 * quarter, 18.0, degrees)]].concat());
    }
    (places, highest)
}

/// A climber's command: forward, mostly towards the place's steep sides, turning every 40 ticks,
/// with the jump key pressed in every other tick.
fn climb(random: &mut Random, tick: u32) -> Command {
    let yaw = match random.below(8) {
        0 => random.bits() as u16,
        _ => [0, 4096, 8192, 12_288, 16_384, 57_344][(tick / 40 % 6) as usize],
    };
    let jumps = tick.is_multiple_of(2);
    let buttons = if jumps { Buttons::JUMP } else { Buttons::default() };
    Command { forward: 127, yaw, buttons, ..Command::default() }
}

#[test]
fn nobody_climbs_where_no_surface_carries_alone() {
    let (places, bounds) = places();
    let mut trial = Trial::new(&places);
    trial.settle();
    let rests: Vec<DVec3> = trial.players.iter().map(|player| trial.at(*player)).collect();
    let mut highest = vec![[f64::MIN; 2]; places.len()];
    let far = |index: usize, at: glam::Vec3| {
        at.as_dvec3().truncate().distance(places[index].centre) > 300.0
    };
    let seed = 7;
    let mut random = Random::new(seed);
    for tick in 0..TRIES * TICK_RATE {
        let players = trial.players.iter();
        let commands: Vec<_> = players.map(|id| (*id, climb(&mut random, tick))).collect();
        trial.world.step(&commands);
        let mut back = Vec::new();
        for (index, player) in trial.players.iter().enumerate() {
            let half = usize::from(tick >= TRIES * TICK_RATE / 2);
            let gained = trial.at(*player).z - rests[index].z;
            let motion = trial.world.player_motion(*player).expect("they stay");
            let what = &places[index].what;
            assert!(!motion.walker.grounded || gained < 1.0, "seed {seed}, up {gained}: {what}");
            highest[index][half] = highest[index][half].max(gained);
            back.extend((far(index, motion.position) || gained < -20.0).then_some(index));
        }
        // A player who leaves the place starts again.
        for index in back {
            let put = trial.world.teleport(trial.players[index], rests[index], DQuat::IDENTITY);
            put.expect("the player's first place is free");
        }
    }
    for ((place, [first, second]), bound) in places.iter().zip(highest).zip(bounds) {
        println!("{first:.1} and {second:.1} of {bound:.1}: {}", place.what);
        assert!(
            first < bound && second < bound,
            "seed {seed}: {first}, {second} of {bound}: {}",
            place.what
        );
    }
}
