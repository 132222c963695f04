//! Free flight, with and without damping.

use super::holds;

#[test]
fn angular_momentum_is_kept_without_damping() {
    holds("flight without damping", 24);
}

#[test]
fn angular_momentum_decays_by_damping_alone() {
    holds("flight", 24);
}

#[test]
fn the_middle_axis_turns_over_without_damping() {
    holds("middle axis without damping", 12);
}

#[test]
fn the_middle_axis_turns_over() {
    holds("middle axis", 12);
}

#[test]
fn a_top_goes_round_its_angular_momentum_without_damping() {
    holds("tops without damping", 24);
}

#[test]
fn a_top_goes_round_its_angular_momentum() {
    holds("tops", 24);
}
