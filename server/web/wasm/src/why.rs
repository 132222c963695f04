//! Why a body of a replay is as it is, as JSON.

use obsp_recording::{Playback, Recording};
use obsp_sim::{EntityId, StoppedBy, Touching, Why, World};

use crate::json;

/// Stretches between keyframes that are searched for the tick in which a body last moved.
const MAX_STRETCHES: usize = 24;

/// The entity in a slot.
pub(crate) fn entity_in(world: &World, slot: u16) -> Option<EntityId> {
    world.state().entities.iter().map(|entity| entity.id).find(|id| id.slot == slot)
}

/// What there is to say of an entity after the tick of `playback`.
pub(crate) fn told(why: &Why, tick: u64, last_moved: Option<u64>) -> String {
    let number = |id: &EntityId| f64::from(id.slot);
    let slot = |id: &Option<EntityId>| id.map_or("null".to_owned(), |id| id.slot.to_string());
    let index = |solid: &Option<u32>| solid.map_or("null".to_owned(), |solid| solid.to_string());
    let stopped = why.stopped.as_ref().map(|StoppedBy { other, solid, normal, share }| {
        let (other, solid) = (slot(other), index(solid));
        let normal = json::numbers(normal.to_array());
        format!(r#"{{"other":{other},"solid":{solid},"normal":{normal},"share":{share}}}"#)
    });
    let touching = why.touching.iter().map(|touching| {
        let Touching { other, solid, at, normal, gap, impulse, stage } = touching;
        let (other, solid) = (slot(other), index(solid));
        format!(
            r#"{{"other":{other},"solid":{solid},"at":{},"normal":{},"gap":{gap},"impulse":{impulse},"stage":{}}}"#,
            json::numbers(at.to_array()),
            json::numbers(normal.to_array()),
            json::text(stage.name()),
        )
    });
    format!(
        r#"{{"tick":{tick},"slot":{},"asleep":{},"because":{},"sleeps":{},"island":{},"speed":{},"rests":{},"needed":{},"held":{},"lastMoved":{},"stopped":{},"touching":{}}}"#,
        why.id.slot,
        why.asleep,
        json::text(why.awake_because.name()),
        json::text(why.falls_asleep.name()),
        json::numbers(why.island.iter().map(number)),
        why.surface_speed,
        json::numbers(why.rests.map(f64::from)),
        why.rest_needed,
        why.held,
        last_moved.map_or("null".to_owned(), |tick| tick.to_string()),
        stopped.unwrap_or("null".to_owned()),
        json::list(touching),
    )
}

/// The last tick up to that of `shown` in which an entity moved; `None` if it has not for as
/// long as is searched. `scratch` is a match of the same recording, to run it again.
pub(crate) fn last_moved(
    recording: &Recording,
    shown: &Playback,
    scratch: &mut Playback,
    id: EntityId,
) -> Option<u64> {
    let mut end = shown.tick();
    let first = recording.keyframe_before(end.saturating_sub(1));
    for number in (0..=first).rev().take(MAX_STRETCHES) {
        let keyframe = recording.keyframe(number).ok()?;
        scratch.go_to(&keyframe).ok()?;
        let pose = |playback: &Playback| {
            let state = playback.world().entity(id)?;
            Some((state.position, state.orientation))
        };
        let (mut before, mut moved) = (pose(scratch), None);
        for tick in recording.ticks_after(number).ok()? {
            if scratch.tick() >= end {
                break;
            }
            scratch.play(&tick.ok()?);
            let now = pose(scratch);
            if now != before {
                (before, moved) = (now, Some(scratch.tick()));
            }
        }
        if moved.is_some() {
            return moved;
        }
        end = keyframe.tick;
    }
    None
}
