//! Faults that an audit finds: two bodies that share a point, or a body with a number that no
//! body can have.

use std::fmt;

use super::overlap::{Interpenetration, Obstacle};
use crate::state::{EntityId, EntityState};

/// A fault of a state: the simulation has broken a promise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// A body and something else share a point.
    Interpenetration(Interpenetration),
    /// A body has a number that no body can have, so it cannot be tested for overlaps.
    Unsound(Unsound),
}

/// A body with a number that no body can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsound {
    /// The body.
    pub body: EntityId,
    /// The kind of the number.
    pub number: UnsoundNumber,
}

/// A number that no body can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsoundNumber {
    /// The position is not finite.
    Position,
    /// The orientation is not finite.
    Orientation,
    /// The orientation is not of length one.
    Length,
    /// The velocity is not finite.
    Velocity,
    /// The spin, the angular velocity, is not finite.
    Spin,
}

/// Maximum difference of the square of an orientation's length from 1. A quaternion is normalised
/// whenever its body turns, so rounding changes the square by a few units in the last place.
const UNIT: f64 = 1e-9;

impl Fault {
    /// The body at fault. For an overlap of two bodies this is one of the two.
    pub fn body(&self) -> EntityId {
        match self {
            Self::Interpenetration(found) => found.body,
            Self::Unsound(found) => found.body,
        }
    }

    /// Depth of the overlap, in units; `None` if the fault is not an overlap.
    pub fn depth(&self) -> Option<f64> {
        match self {
            Self::Interpenetration(found) => Some(found.depth),
            Self::Unsound(_) => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interpenetration(Interpenetration { body, obstacle, depth }) => {
                write!(f, "entity {} reaches {depth:.4} units into ", body.slot)?;
                match obstacle {
                    Obstacle::Body(other) => write!(f, "entity {}", other.slot),
                    Obstacle::Solid(index) => write!(f, "solid {index} of the map"),
                }
            }
            Self::Unsound(Unsound { body, number }) => {
                let what = match number {
                    UnsoundNumber::Position => "a position that is not finite",
                    UnsoundNumber::Orientation => "an orientation that is not finite",
                    UnsoundNumber::Length => "an orientation that is not of length one",
                    UnsoundNumber::Velocity => "a velocity that is not finite",
                    UnsoundNumber::Spin => "a spin that is not finite",
                };
                write!(f, "entity {} has {what}", body.slot)
            }
        }
    }
}

/// The first number of an entity that no body can have.
pub(super) fn unsound(entity: &EntityState) -> Option<Unsound> {
    let numbers = |numbers: &[f64]| numbers.iter().all(|number| number.abs() < f64::INFINITY);
    let turn = entity.orientation.to_array();
    let squares: f64 = turn.iter().map(|part| part * part).sum();
    let number = if !numbers(&entity.position.to_array()) {
        UnsoundNumber::Position
    } else if !numbers(&turn) {
        UnsoundNumber::Orientation
    } else if (squares - 1.0).abs() > UNIT {
        UnsoundNumber::Length
    } else if !numbers(&entity.velocity.to_array()) {
        UnsoundNumber::Velocity
    } else {
        return None;
    };
    Some(Unsound { body: entity.id, number })
}
