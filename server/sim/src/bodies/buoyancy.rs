//! Buoyancy: finds how much of the map's liquids each awake prop displaces. The solver applies the
//! effect like that of any force. Missiles, vehicles and kinematic bodies go through liquids as
//! through air.

use obsp::Map;

use crate::bodies::dynamics::{Buoyancy, Displaced, Floating, density};
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::mobility::Mobility;
use crate::bodies::sleep;
use crate::collision::currents::Currents;
use crate::collision::shape::{Shape, Shapes};
use crate::collision::submersion::Submersion;

/// The lift is computed at the middle of the way that a body would go within the tick without
/// forces. If its surface would go farther than this share of its radius, or of its thickness, the
/// way is divided, so that a fast body does not dive before the liquid stops it.
const WAY_SHARE: f64 = 0.25;

/// Maximum number of places at which the lift of a tick is computed.
const MAX_PLACES: u32 = 8;

/// Sets the buoyancy of all bodies for a tick of `seconds`.
pub(crate) fn set(
    (map, currents): (&Map, &Currents),
    shapes: &Shapes,
    entities: &mut Entities,
    seconds: f64,
) {
    if map.liquids().is_empty() {
        return;
    }
    for entity in entities.active_mut() {
        let floats = entity.mobility() == Mobility::Dynamic && entity.has_dynamics();
        let speed = floats.then(|| sleep::surface_speed(entity, shapes));
        entity.record.buoyancy = speed
            .and_then(|speed| of((map, currents), &shapes[entity.shape], entity, speed, seconds));
    }
}

/// The buoyancy of a body whose surface moves at `speed`; `None` for a body in no liquid.
fn of(
    (map, currents): (&Map, &Currents),
    shape: &Shape,
    entity: &Entity,
    speed: f64,
    seconds: f64,
) -> Option<Buoyancy> {
    let seconds = seconds * f64::from(entity.record.pace.ticks());
    let placement = entity.placement()?;
    let way = speed * seconds;
    let mut near = Vec::new();
    map.liquids_touching(&placement.bounds().inflated(way), |index| near.push(index));
    if near.is_empty() {
        return None;
    }
    let size = shape.radius.min(2.0 * shape.bounds.half_extents().min_element());
    let places = (way / (WAY_SHARE * size)).ceil().clamp(1.0, MAX_PLACES.into()) as u32;
    let mut displaced = Displaced::default();
    for place in 0..places {
        let share = (f64::from(place) + 0.5) / f64::from(places);
        let pose = placement.pose().advanced(entity.velocity, entity.angular, seconds * share);
        for &index in &near {
            let liquid = &map.liquids()[index as usize];
            let density = density(liquid.kind()) / f64::from(places);
            let submersion = Submersion::new(shape, &pose, liquid.solid());
            displaced.mass += submersion.volume * density;
            displaced.moment += submersion.moment * density;
            displaced.growth += submersion.growth * density;
        }
    }
    if displaced.mass <= 0.0 {
        return None;
    }
    // The flow is taken at the centroid of the displaced liquid.
    let flow = currents.at(placement.pose().position + displaced.moment / displaced.mass);
    let rotation = placement.pose().rotation();
    let body = Floating {
        gravity: shape.gravity,
        pull: entity.drive().linear.z - entity.gravity(shape),
        inverse_mass: entity.mass(shape).inverse_mass,
        inverse_inertia: entity.inverse_inertia(shape, rotation),
        radius: shape.radius,
        velocity: entity.velocity,
        flow,
        angular: entity.angular,
        seconds,
    };
    Some(Buoyancy::new(&displaced, &body))
}
