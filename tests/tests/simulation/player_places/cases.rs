//! Places that once held their players for ever, and similar ones.

use glam::DVec2;

use super::places::{Place, Side, around, pit};
use super::trial::Trial;

/// Height of a player's centre above the feet, and height that a jump surely reaches, in units.
const FEET: f64 = 28.0;
const JUMP: f64 = 40.0;

/// Plays places. None may hold its player, and each must let out a player who comes to rest within
/// a jump of its rim. At least `least` players must come to rest within a jump of a rim.
fn check(places: &[Place], least: usize) {
    let fared = Trial::new(places).play();
    let mut within_a_jump = 0;
    for (fared, place) in fared.iter().zip(places) {
        assert!(!fared.is_held(), "a player is held: {fared:?}, {}", place.what);
        if fared.rest.z - FEET + JUMP > place.top {
            within_a_jump += 1;
            assert!(fared.out, "near the rim, but not out: {fared:?}, {}", place.what);
        }
    }
    let count = places.len();
    assert!(
        within_a_jump >= least,
        "only {within_a_jump} of {count} players rest within a jump of the rim, not {least}"
    );
}

fn spot(index: usize) -> DVec2 {
    DVec2::new((index % 12) as f64, (index / 12) as f64) * super::places::SPACING
}

/// Symptom: a player in a pit of four slopes of 50 degrees was held for ever, with a velocity of
/// (0, 0, -6.67). Cause: between three planes a player loses all velocity, and none of these planes
/// is flat enough to jump from. Cure: surfaces that together leave no way down count as ground.
#[test]
fn pit_of_slopes() {
    let alike = |degrees, foot, height| around(4, 0.0, move |_| (foot, degrees, height));
    let mut places = Vec::new();
    for degrees in [46.0, 50.0, 60.0, 70.0] {
        for foot in [0.0, 6.0, 12.0] {
            for height in [200.0, 55.0] {
                let what = format!("four slopes of {degrees}, {foot} at the foot, {height} high");
                places.push(pit(what, spot(places.len()), &alike(degrees, foot, height)));
            }
        }
    }
    check(&places, 6);
}

/// Pits of three to eight slopes, some of them turned relative to the player's box. A jump reaches
/// their rims.
#[test]
fn pits_of_three_to_eight_slopes_let_out_who_can_jump_over_their_rim() {
    let mut places = Vec::new();
    for count in 3..=8 {
        for degrees in [46.0, 52.0, 60.0, 70.0, 80.0, 89.0_f64] {
            for turn in [0.0, 0.3] {
                // The box hangs between the slopes, so the player's feet are above the foot of the
                // slopes.
                let foot = 12.0;
                let height = 4.0 * degrees.to_radians().tan() + 30.0;
                let what =
                    format!("{count} slopes of {degrees}, turned by {turn}, {height:.1} high");
                let sides = around(count, turn, |_| (foot, degrees, height));
                places.push(pit(what, spot(places.len()), &sides));
            }
        }
    }
    check(&places, 48);
}

/// A level gully, closed at both ends: two slopes together are ground, and a jump reaches the rim.
#[test]
fn closed_gullies_let_out_who_can_jump_over_their_rim() {
    let quarter = std::f64::consts::FRAC_PI_2;
    let mut places = Vec::new();
    for degrees in [46.0, 55.0, 65.0] {
        for length in [30.0, 60.0, 150.0] {
            for ends in [60.0, 90.0] {
                let side = |index: u32| {
                    let long = index.is_multiple_of(2);
                    let (foot, degrees) = if long { (4.0, degrees) } else { (length, ends) };
                    let height = 30.0 + 14.0 * f64::tan(f64::to_radians(degrees)).min(2.2);
                    let turn = quarter * f64::from(index);
                    Side { turn, foot, degrees, height, half_angle: 1.5 }
                };
                let sides: Vec<Side> = (0..4).map(side).collect();
                let what = format!("a gully of {degrees}, {length} long, its ends of {ends}");
                places.push(pit(what, spot(places.len()), &sides));
            }
        }
    }
    check(&places, 9);
}

/// Funnels with more slopes than the search for a way down tries. The search must not give up and
/// hold the player.
#[test]
fn funnels_of_twelve_to_a_hundred_slopes_let_out_who_can_jump_over_their_rim() {
    let mut places = Vec::new();
    for count in [12, 13, 32, 128] {
        for degrees in [50.0, 70.0_f64] {
            let height = 4.0 * degrees.to_radians().tan() + 30.0;
            let what = format!("{count} slopes of {degrees}, {height:.1} high");
            let sides = around(count, 0.1, |_| (12.0, degrees, height));
            places.push(pit(what, spot(places.len()), &sides));
        }
    }
    check(&places, 8);
}
