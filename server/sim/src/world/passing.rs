//! Whether an entity passes a volume within a tick. An entity that is outside before and after the
//! tick may have been inside in between.

use glam::{DQuat, DVec3};
use obsp::geometry::{Aabb, ConvexSolid};

use super::World;
use crate::collision::cascade::Body;
use crate::collision::distances::ROUNDING;
use crate::collision::pose::Pose;
use crate::collision::separation::{Part, Proximity, separate};
use crate::state::EntityId;

/// Maximum number of places on a way that are examined. A way that grazes a corner needs the most.
/// A way that is not decided after this many places counts as outside.
const MAX_PLACES: u32 = 64;

impl World {
    /// A box around an entity on its straight way from one position to another, in its present
    /// shape and orientation; `None` if there is no such entity. The entity passes no volume
    /// outside this box.
    pub fn bounds_of_way(&self, id: EntityId, [from, to]: [DVec3; 2]) -> Option<Aabb> {
        let entity = self.entities.find(id)?;
        let (low, high) = (from.min(to), from.max(to));
        if let Some(placement) = entity.placement() {
            let (own, at) = (placement.bounds(), placement.pose().position);
            let around = Aabb { min: own.min - at + low, max: own.max - at + high };
            return Some(around.inflated(ROUNDING));
        }
        Some(
            Aabb { min: low, max: high }
                .inflated(self.arena.shapes[entity.shape].radius + ROUNDING),
        )
    }

    /// Whether an entity reaches into a solid volume somewhere on its straight way from one
    /// position to another, in its present shape and orientation. The result is false if the entity
    /// only touches the volume, or if the way leaves the extent of worlds, ±[`obsp::UNIVERSE`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::DVec3;
    /// # use obsp::geometry::{Aabb, ConvexSolid};
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let player = world.join()?;
    /// let min = DVec3::new(100.0, 0.0, 0.0);
    /// let thin = ConvexSolid::from_box(&Aabb { min, max: min + DVec3::new(1.0, 64.0, 64.0) })?;
    /// let [from, to] = [DVec3::new(0.0, 32.0, 32.0), DVec3::new(200.0, 32.0, 32.0)];
    /// assert!(world.passes_through(player, [from, to], &thin));
    /// assert!(!world.passes_through(player, [from, from], &thin));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn passes_through(
        &self,
        id: EntityId,
        [from, to]: [DVec3; 2],
        volume: &ConvexSolid,
    ) -> bool {
        // Most ways are far from the volume.
        let around = self.bounds_of_way(id, [from, to]);
        if !around.is_some_and(|around| around.overlaps(volume.bounds())) {
            return false;
        }
        let Some(entity) = self.entities.find(id) else { return false };
        let placement = entity.placement();
        let shape = placement.map_or(entity.shape, |placement| placement.shape());
        let shape = &self.arena.shapes[shape];
        let turn = placement.map_or(DQuat::IDENTITY, |placement| placement.pose().orientation);
        let [Some(start), Some(end)] = [from, to].map(|place| Pose::known(place, turn)) else {
            return false;
        };
        let body = Body::moving(shape, start, end);
        if !body.speedbox().overlaps(volume.bounds()) {
            return false;
        }
        let volume = Part::new(volume, &Pose::at(DVec3::ZERO));
        body.parts_at_start().any(|part| reaches_in(&part, to - from, &volume))
    }
}

/// Whether a convex part that is moved by `shift` reaches into another part on the way. A plane
/// that divides the two parts divides them until the moving part reaches the plane. So the way up
/// to the plane is free.
fn reaches_in(part: &Part, shift: DVec3, volume: &Part) -> bool {
    let mut time = 0.0;
    for _ in 0..MAX_PLACES {
        let moved = part.shifted(shift * time);
        let guess = volume.centre() - moved.centre();
        let Proximity::Apart(plane) = separate(&moved, volume, guess) else { return true };
        let approach = plane.axis.dot(shift);
        if approach * (1.0 - time) <= plane.gap + ROUNDING {
            return false;
        }
        // There the part touches the volume at most, so the search goes on from there. A step of
        // `ROUNDING` at least lets the search end.
        time += plane.gap.max(ROUNDING) / approach;
    }
    false
}
