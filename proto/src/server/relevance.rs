use std::num::NonZeroU16;

use crate::quantise::{QuantisedBody, QuantisedEntity, STEPS_PER_UNIT, YAW_BITS, heading};

/// Longest time, in milliseconds, between two news of an entity that moves, as
/// long as the budget holds. With a lost datagram in between, what a client
/// shows is still no older than 200 ms plus the line's own delay.
const LONGEST: f32 = 100.0;

/// Milliseconds between two news, for each unit of distance: at a hundred
/// units each tick at 60 Hz, as long as possible from 600 on. What is twice as
/// far moves half as much on the screen.
const PER_UNIT: f32 = 0.16;

/// How much longer news may take of what is behind the viewer's back.
const BEHIND: f32 = 1.6;

/// How much longer news may take of props: players are what a fight is about.
const PROP: f32 = 1.4;

/// Speed, in units a second, from which on an entity is told of as often as
/// its distance wants; what creeps can wait twice as long.
const BRISK: f32 = 160.0;

/// The interval of the client's own entity: its motion is told by itself.
const OWN: f32 = 100.0;

/// Most ticks between two news of what moves, as long as the budget holds.
pub(super) fn longest(tick_rate: NonZeroU16) -> u32 {
    ticks(LONGEST, tick_rate)
}

fn ticks(milliseconds: f32, tick_rate: NonZeroU16) -> u32 {
    (milliseconds * f32::from(tick_rate.get()) / 1000.0).clamp(1.0, f32::from(u8::MAX)) as u32
}

/// Who looks, and from where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewer {
    position: [i32; 3],
    /// Unit vector of the view, on the ground.
    view: [f32; 2],
}

impl Viewer {
    /// The eyes of a player.
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

/// How many ticks there should be between two news of an entity: the fewer,
/// the nearer, faster (in units a second) and better seen it is.
pub(super) fn interval(
    viewer: Option<&Viewer>,
    entity: &QuantisedEntity,
    speed: f32,
    own: bool,
    tick_rate: NonZeroU16,
) -> u32 {
    let milliseconds = match viewer {
        _ if own => OWN,
        Some(viewer) => wanted(viewer, entity, speed),
        // Who is nowhere sees everything equally well.
        None => LONGEST,
    };
    ticks(milliseconds, tick_rate)
}

fn wanted(viewer: &Viewer, entity: &QuantisedEntity, speed: f32) -> f32 {
    let away: [f32; 3] = std::array::from_fn(|axis| {
        (entity.position[axis] - viewer.position[axis]) as f32 / STEPS_PER_UNIT as f32
    });
    let distance = away.iter().map(|part| part * part).sum::<f32>().sqrt();
    let ahead = away[0] * viewer.view[0] + away[1] * viewer.view[1];
    let mut wanted = distance * PER_UNIT;
    if ahead < 0.0 {
        wanted *= BEHIND;
    }
    if matches!(entity.body, QuantisedBody::Prop { driven: false, .. }) {
        wanted *= PROP;
    }
    wanted *= 2.0 - (speed / BRISK).min(1.0);
    wanted.min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::Posture;

    const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

    fn player(x: i32, speed: i16) -> QuantisedEntity {
        QuantisedEntity {
            generation: 0,
            position: [x * STEPS_PER_UNIT, 0, 0],
            velocity: [speed, 0, 0],
            asleep: false,
            body: QuantisedBody::Player { posture: Posture::Standing, yaw: 0 },
        }
    }

    #[test]
    fn the_near_the_fast_and_the_seen_come_first() {
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
