//! Bodies that stand, and bodies that fall.

use super::holds;

#[test]
fn stacks_stand_and_sleep_flat() {
    holds("stacks", 24);
}

#[test]
fn a_slab_stands_on_four_legs_whatever_it_weighs() {
    holds("legs", 20);
}

#[test]
fn a_fallen_body_comes_to_lie_flat() {
    holds("lying flat", 30);
}

#[test]
fn cards_lean_on_each_other_as_steep_as_friction_allows() {
    holds("cards", 20);
}

#[test]
fn a_brick_stands_as_long_as_its_middle_is_carried() {
    holds("overhangs", 20);
}

#[test]
fn dominoes_fell_those_that_they_reach() {
    holds("dominoes", 10);
}

#[test]
fn an_arch_stands_by_its_weight_if_it_is_thick_enough() {
    holds("arches", 10);
}

#[test]
fn a_drum_on_two_stands_by_friction_alone() {
    holds("drums on drums", 10);
}
