//! Armed moves: a kinematic body at rest waits for a player in a zone, and then begins a linear
//! move by itself. A client that knows the armed move lets it begin in the same tick as the server
//! does.

use obsp::geometry::Aabb;
use serde::{Deserialize, Serialize};

use super::linear_move::LinearMove;
use crate::collision::cascade::box_at;
use crate::collision::pose::Pose;
use crate::collision::shape::Shape;

/// A move that a kinematic body begins when a player is in a zone.
///
/// [`World::arm_linear_move`](crate::World::arm_linear_move) arms a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmedMove {
    /// The zone, a box of the world. A player is in the zone if the player's box overlaps it.
    pub zone: Aabb,
    /// The move. Its delay counts from the end of the tick in which a player is in the zone.
    pub by: LinearMove,
}

impl ArmedMove {
    /// Whether a player of this shape is in the zone. For a hovertank, the box around it counts.
    pub(crate) fn is_met_by(&self, shape: &Shape, pose: &Pose) -> bool {
        self.zone.overlaps(&box_at(&shape.bounds, pose))
    }
}
