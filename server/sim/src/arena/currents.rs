//! The currents of a map: `trigger_current`, whose keys are those of a jump pad. The compiler also
//! writes such entities for liquids that flow by the flags of Quake II or the names of Half-Life.

use obsp::MapEntity;

use crate::arena::direction::direction_of;
use crate::collision::currents::{Currents, MAX_SPEED};

const CLASS: &str = "trigger_current";

/// The speed of a current without the key `speed`, in units per second.
const SPEED: f64 = 200.0;

/// The currents of `map`.
pub(crate) fn currents(map: &obsp::Map) -> Currents {
    let currents = map.entities().iter().filter(|entity| entity.classname() == CLASS);
    let volumes = currents.flat_map(|entity| {
        let velocity = direction_of(entity) * speed(entity);
        entity.solids().iter().map(move |solid| (solid.clone(), velocity))
    });
    Currents::new(volumes.collect())
}

/// The speed of a current, in units per second. A missing value, or one that is not a finite
/// number, counts as [`SPEED`].
fn speed(entity: &MapEntity) -> f64 {
    let speed = entity.get("speed").and_then(|speed| speed.trim().parse::<f64>().ok());
    speed.filter(|speed| speed.is_finite()).unwrap_or(SPEED).clamp(-MAX_SPEED, MAX_SPEED)
}
