//! Kinematic bodies and the bodies that they carry.

use super::{holds, holds_with};

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

/// Symptom: a rider moved aside by half a unit on a lift that changed its speed. Cause: the rider
/// landed anew in each tick, the order of its corners turned it, and friction acted on that turn.
/// Cure: normal impulses are solved until the corners agree.
#[test]
fn a_lift_that_changes_its_speed_moves_no_rider_aside() {
    holds_with("lifts", &[80, 88, 99]);
}
