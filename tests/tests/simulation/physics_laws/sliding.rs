//! Friction of bodies that lie flat.

use super::holds;

#[test]
fn a_sliding_body_stops_after_its_speed_squared_over_twice_its_friction() {
    holds("sliding stops", 60);
}

#[test]
fn without_friction_nothing_stops() {
    holds("sliding without friction", 20);
}

#[test]
fn a_body_on_a_slope_stays_below_the_angle_of_friction_and_slides_above() {
    holds("slopes", 60);
}

#[test]
fn a_spinning_body_stops_in_place_in_the_time_of_its_footprint() {
    holds("spinning in place", 60);
}
