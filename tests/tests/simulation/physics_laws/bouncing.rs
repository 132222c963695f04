//! Impacts.

use super::holds;

#[test]
fn what_falls_flat_rises_by_the_square_of_its_restitution() {
    holds("flat falls", 40);
}

#[test]
fn what_tumbles_never_comes_above_where_it_was_dropped_nor_gains_energy() {
    holds("tumbling", 24);
}

#[test]
fn what_meets_in_the_air_keeps_momentum_and_angular_momentum_and_gains_no_energy() {
    holds("meeting", 40);
}
