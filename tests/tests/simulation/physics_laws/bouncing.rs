//! Impacts.

use super::holds;

#[test]
fn a_flat_fall_rises_by_the_square_of_its_restitution() {
    holds("flat falls", 40);
}

#[test]
fn a_tumbling_body_never_rises_above_its_drop_nor_gains_energy() {
    holds("tumbling", 24);
}

#[test]
fn bodies_that_meet_in_the_air_keep_both_momenta_and_gain_no_energy() {
    holds("meeting", 40);
}
