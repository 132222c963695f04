//! Wheels and balls.

use super::holds;

#[test]
fn a_wheel_keeps_its_heading_and_its_contact_over_seams_as_over_one_slab() {
    holds("wheels", 24);
}

#[test]
fn a_ball_keeps_its_contact() {
    holds("balls", 12);
}
