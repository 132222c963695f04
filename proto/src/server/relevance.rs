//! The intervals at which entities are sent to a client. The nearer, faster and better visible an
//! entity is, the more often it is sent.

use std::num::NonZeroU16;

use crate::quantise::{QuantisedBody, QuantisedEntity, STEPS_PER_UNIT, YAW_BITS, heading};

/// Longest interval, in milliseconds, between two sends of a moving entity while the budget
/// suffices. Even with one datagram lost, the states that a client renders are no older than 200 ms
/// plus the network's delay.
const MAX_INTERVAL: f32 = 100.0;

/// Milliseconds of interval for each unit of distance, because an entity at twice the distance
/// moves half as much on the screen. At 60 Hz an entity a hundred units away is sent in every tick,
/// and one beyond 625 units at the longest interval.
const PER_UNIT: f32 = 0.16;

/// Factor of the interval of entities behind the viewer's back.
const BEHIND: f32 = 1.6;

/// Factor of the interval of props, because players matter most in a fight.
const PROP: f32 = 1.4;

/// An entity at least this fast, in units per second, has the shortest interval for its distance.
/// An entity that creeps has an interval almost twice as long.
const FAST: f32 = 160.0;

/// Interval, in milliseconds, of the client's own entity. It may be long, because the player's
/// motion is sent separately.
const OWN: f32 = 100.0;

/// Interval, in milliseconds, of the vehicle that the client's own player drives. The client
/// predicts from this entity.
const OWN_VEHICLE: f32 = 34.0;

/// Longest interval, in ticks, between two sends of a moving entity while the budget
/// suffices.
pub(super) fn longest(tick_rate: NonZeroU16) -> u32 {
    ticks(MAX_INTERVAL, tick_rate)
}

fn ticks(milliseconds: f32, tick_rate: NonZeroU16) -> u32 {
    (milliseconds * f32::from(tick_rate.get()) / 1000.0).clamp(1.0, f32::from(u8::MAX)) as u32
}

/// The player to whose client entities are sent: its position and its view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewer {
    position: [i32; 3],
    /// Direction of the view on the ground, a unit vector.
    view: [f32; 2],
}

impl Viewer {
    /// The viewer at a player's position, with the player's heading.
    pub(super) fn of(player: &QuantisedEntity) -> Self {
        let angle = match player.body {
            QuantisedBody::Player { yaw, .. } => {
                f64::from(yaw) / f64::from(1 << YAW_BITS) * std::f64::consts::TAU
            }
            QuantisedBody::Prop { orientation, .. } => heading(orientation.orientation()),
        };
        Self { position: player.position, view: [angle.cos() as f32, angle.sin() as f32] }
    }
}

/// The interval of an entity, in ticks; `speed` is in units per second.
pub(super) fn interval(
    viewer: Option<&Viewer>,
    entity: &QuantisedEntity,
    speed: f32,
    own: bool,
    tick_rate: NonZeroU16,
) -> u32 {
    let milliseconds = match viewer {
        _ if own && matches!(entity.body, QuantisedBody::Prop { .. }) => OWN_VEHICLE,
        _ if own => OWN,
        Some(viewer) => interval_of(viewer, entity, speed),
        // A viewer without a body in the world, such as a spectator, is near nothing. So every
        // entity has the longest interval.
        None => MAX_INTERVAL,
    };
    ticks(milliseconds, tick_rate)
}

/// The interval of an entity as this viewer sees it, in milliseconds.
fn interval_of(viewer: &Viewer, entity: &QuantisedEntity, speed: f32) -> f32 {
    let away: [f32; 3] = std::array::from_fn(|axis| {
        (entity.position[axis] - viewer.position[axis]) as f32 / STEPS_PER_UNIT as f32
    });
    let distance = away.iter().map(|part| part * part).sum::<f32>().sqrt();
    let ahead = away[0] * viewer.view[0] + away[1] * viewer.view[1];
    let mut interval = distance * PER_UNIT;
    if ahead < 0.0 {
        interval *= BEHIND;
    }
    if matches!(entity.body, QuantisedBody::Prop { driven: false, .. }) {
        interval *= PROP;
    }
    interval *= 2.0 - (speed / FAST).min(1.0);
    interval.min(MAX_INTERVAL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantise::QuantisedTraits;
    use crate::schema::FieldValues;
    use obsp_sim::Posture;

    const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

    fn player(x: i32, speed: i16) -> QuantisedEntity {
        QuantisedEntity {
            generation: 0,
            position: [x * STEPS_PER_UNIT, 0, 0],
            velocity: [speed, 0, 0],
            asleep: false,
            body: QuantisedBody::Player { posture: Posture::Standing, yaw: 0 },
            values: FieldValues::default(),
            traits: QuantisedTraits::DEFAULT,
        }
    }

    #[test]
    fn near_fast_and_visible_entities_come_first() {
        let viewer = Viewer::of(&player(0, 0));
        let of = |x, speed: i16| {
            interval(Some(&viewer), &player(x, speed), f32::from(speed) * 4.0, false, RATE)
        };
        assert_eq!(of(90, 80), 1);
        assert!(of(400, 80) < of(700, 80));
        assert!(of(400, 80) < of(400, 0));
        assert!(of(400, 80) < of(-400, 80));
        assert_eq!(of(100_000, 80), 6, "100 ms");
    }
}
