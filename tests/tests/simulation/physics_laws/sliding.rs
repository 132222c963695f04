//! Friction of bodies that lie flat.

use super::holds;

#[test]
fn what_slides_stops_after_the_square_of_its_speed_over_twice_its_friction() {
    holds("sliding stops", 60);
}

#[test]
fn without_friction_nothing_stops() {
    holds("sliding without friction", 20);
}

#[test]
fn what_lies_on_a_slope_stays_below_the_angle_of_friction_and_slides_above_it() {
    holds("slopes", 60);
}

#[test]
fn what_spins_in_place_stops_in_place_in_the_time_of_its_footprint() {
    holds("spinning in place", 60);
}
