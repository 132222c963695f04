//! Kinematic bodies and the bodies that they carry.

use super::holds;

#[test]
fn a_turntable_turns_and_carries_what_friction_can_hold() {
    holds("turntables", 40);
}

#[test]
fn a_lift_carries_at_each_speed() {
    holds("lifts", 40);
}

#[test]
fn a_conveyor_takes_along_exactly_as_fast() {
    holds("conveyors", 40);
}
