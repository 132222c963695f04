//! The reasons why a body of a replay moves, stopped or rests, as JSON.

use obsp_sim::{EntityId, StoppedBy, Touching, Why, World};

use crate::json;

/// The entity in a slot.
pub(crate) fn entity_in(world: &World, slot: u16) -> Option<EntityId> {
    world.state().entities.iter().map(|entity| entity.id).find(|id| id.slot == slot)
}

/// The reasons for an entity after a tick. `moves` says whether it moved in this tick.
pub(crate) fn to_json(why: &Why, tick: u64, moves: bool) -> String {
    let number = |id: &EntityId| f64::from(id.slot);
    let slot = |id: &Option<EntityId>| id.map_or("null".to_owned(), |id| id.slot.to_string());
    let index = |solid: &Option<u32>| solid.map_or("null".to_owned(), |solid| solid.to_string());
    let stopped = why.stopped.as_ref().map(|StoppedBy { other, solid, normal, share }| {
        let (other, solid) = (slot(other), index(solid));
        let (normal, share) = (json::numbers(normal.to_array()), json::number(*share));
        format!(r#"{{"other":{other},"solid":{solid},"normal":{normal},"share":{share}}}"#)
    });
    let touching = why.touching.iter().map(|touching| {
        let Touching { other, solid, at, normal, gap, impulse, stage } = touching;
        let (other, solid) = (slot(other), index(solid));
        let [gap, impulse] = [*gap, *impulse].map(json::number);
        format!(
            r#"{{"other":{other},"solid":{solid},"at":{},"normal":{},"gap":{gap},"impulse":{impulse},"stage":{}}}"#,
            json::numbers(at.to_array()),
            json::numbers(normal.to_array()),
            json::text(stage.name()),
        )
    });
    format!(
        r#"{{"tick":{tick},"slot":{},"asleep":{},"because":{},"sleeps":{},"island":{},"speed":{},"rests":{},"needed":{},"held":{},"moves":{moves},"stopped":{},"touching":{}}}"#,
        why.id.slot,
        why.asleep,
        json::text(why.awake_because.name()),
        json::text(why.falls_asleep.name()),
        json::numbers(why.island.iter().map(number)),
        json::number(why.surface_speed),
        json::numbers(why.rests.map(f64::from)),
        why.rest_needed,
        why.held,
        stopped.unwrap_or("null".to_owned()),
        json::list(touching),
    )
}
