//! How bots decide what to do: a [`Behavior`] receives its bot's [`Perception`] and returns the
//! command of the next tick. A behavior draws random numbers only from its own seed, so with the
//! same seed it acts the same in the same world. Routes through a map come from its [`NavGraph`].

mod actions;
mod behavior;
mod choice;
mod drive;
mod fight;
mod gates;
mod nav_graph;
mod path_follower;
mod sight;
mod wander;

pub(crate) use actions::Actions;
pub(crate) use behavior::breathing;
pub use behavior::{Behavior, Perception};
pub use choice::BehaviorChoice;
pub use drive::Drive;
pub use fight::Fight;
pub use nav_graph::{NavGraph, Waypoint};
pub use wander::Wander;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DQuat, DVec3, Vec3};
    use obsp::Map;
    use obsp_sim::{EntityId, EntityState, Kind, ModelId, PlayerMotion, Posture, Traits, Walker};

    use super::*;

    pub(super) fn arena() -> (Arc<Map>, NavGraph) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../maps/arena.obsp");
        let map = Arc::new(Map::load(std::path::Path::new(path)).unwrap());
        let nav = NavGraph::explore(&map, &obsp_sim::MovementParameters::default());
        (map, nav)
    }

    pub(super) fn own_at(position: DVec3) -> PlayerMotion {
        let position = position.as_vec3();
        PlayerMotion { position, velocity: Vec3::ZERO, walker: Walker::default() }
    }

    fn entity(kind: Kind, position: DVec3) -> EntityState {
        EntityState {
            id: EntityId { slot: 7, generation: 0 },
            kind,
            position,
            orientation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            asleep: false,
            traits: Traits::default(),
        }
    }

    pub(super) fn player_at(position: DVec3) -> EntityState {
        entity(Kind::Player { posture: Posture::Standing }, position)
    }

    pub(super) fn prop_at(position: DVec3) -> EntityState {
        entity(Kind::Prop { model: ModelId(0) }, position)
    }
}
