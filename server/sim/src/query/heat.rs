//! Finds which stage of the cascade decides each pair of a state.

use std::sync::Arc;

use obsp::model::Model;

use crate::collision::cascade::{Body, deciding};
use crate::collision::grid::Grid;
use crate::collision::pose::Pose;
use crate::collision::shape::Shapes;
use crate::counters::Stage;
use crate::setup::SetupError;
use crate::state::{EntityState, Kind, State};

/// Pairs whose boxes are farther apart than this along an axis, in units, are left out. In a match
/// the grid decides these pairs, and most nearer pairs as well.
const NEAR: f64 = 64.0;

/// The work of the filter cascade, computed from a published state. The match keeps no record of
/// single pairs, because that would cost more than the cascade itself.
#[derive(Debug)]
pub struct Heat {
    map: Arc<obsp::Map>,
    shapes: Shapes,
}

/// Two bodies near each other, and the stage that decides them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// Slots of the two bodies, the lower slot first.
    pub slots: [u16; 2],
    /// The stage that decides the pair at its first meeting. In a match, last tick's dividing plane
    /// often saves the later stages.
    pub stage: Stage,
}

impl Heat {
    /// The cascade of matches on `map` with these models.
    ///
    /// # Errors
    /// [`SetupError`] if the map and the models do not allow a match.
    pub fn new(map: Arc<obsp::Map>, models: &[Model]) -> Result<Self, SetupError> {
        Ok(Self { shapes: Shapes::new(&map, models)?, map })
    }

    /// All pairs with at least one awake body whose boxes are nearer to each other than 64 units
    /// along all axes, in ascending order.
    pub fn of(&self, state: &State) -> Vec<Met> {
        let mut grid = Grid::new(&self.map.bounds());
        let bodies: Vec<_> = state.entities.iter().map(|entity| self.standing(entity)).collect();
        for (index, body) in bodies.iter().enumerate() {
            if let Some(body) = body {
                let bounds = body.speedbox();
                grid.insert(index as u16, grid.range(&bounds), &bounds);
            }
        }
        let mut met = Vec::new();
        let mut near = Vec::new();
        for (index, body) in bodies.iter().enumerate() {
            let Some(body) = body else { continue };
            let around = body.speedbox().inflated(NEAR);
            grid.near(&around, &mut near);
            for &other in near.iter().filter(|&&other| usize::from(other) > index) {
                let entities = [&state.entities[index], &state.entities[usize::from(other)]];
                let both_rest = entities.iter().all(|entity| entity.asleep);
                let [own, others] = entities.map(|entity| entity.traits.layers);
                if !own.may_meet(others) {
                    continue;
                }
                if let (false, Some(second)) = (both_rest, &bodies[usize::from(other)])
                    && second.speedbox().overlaps(&around)
                {
                    let slots = entities.map(|entity| entity.id.slot);
                    met.push(Met { slots, stage: deciding(body, second) });
                }
            }
        }
        met
    }

    /// The body of an entity that is solid.
    fn standing(&self, entity: &EntityState) -> Option<Body<'_>> {
        if !entity.traits.is_solid() {
            return None;
        }
        let (shape, orientation) = match entity.kind {
            // A player's box never turns.
            Kind::Player { posture } => (self.shapes.of_posture(posture), glam::DQuat::IDENTITY),
            Kind::Vehicle { model } | Kind::Prop { model } => {
                (self.shapes.of_model(model)?, entity.orientation)
            }
        };
        let pose = Pose::known(entity.position, orientation)?;
        Some(Body::standing(&self.shapes[shape], pose))
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;
    use crate::state::{EntityId, ModelId};
    use crate::traits::Traits;

    #[test]
    fn nearer_pairs_are_decided_by_later_stages_and_sleeping_pairs_are_left_out() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/arena.obsp");
        let map = Arc::new(obsp::Map::load(path.as_ref()).unwrap());
        let heat = Heat::new(map, &obsp::model::shipped()).unwrap();
        let prop = |slot: u16, x: f64, asleep: bool| EntityState {
            id: EntityId { slot, generation: 0 },
            kind: Kind::Prop { model: ModelId(0) },
            position: DVec3::new(x, 0.0, 0.0),
            orientation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            asleep,
            traits: Traits::default(),
        };
        let entities = vec![
            prop(1, 0.0, false),
            prop(4, 33.0, true),
            prop(9, 60.0, false),
            prop(12, 60.0, true),
        ];
        let met = heat.of(&State { tick: 1, entities });
        let stages: Vec<_> = met.iter().map(|met| (met.slots, met.stage)).collect();
        assert_eq!(stages[0], ([1, 4], Stage::Boxes));
        assert_eq!(stages[1], ([1, 9], Stage::Spheres));
        assert!(stages.contains(&([9, 12], Stage::Exact)));
        assert!(!stages.iter().any(|(slots, _)| *slots == [4, 12]), "both sleep");
    }
}
