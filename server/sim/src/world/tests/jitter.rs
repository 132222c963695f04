//! Bodies that jitter in a heap sleep after a time, and after six ticks at least.

use super::emergency::chamber;
use super::*;
use crate::bodies::entities::SleepState;
use crate::bodies::islands::Driven;

/// Two crates that lie on each other, in the tick in which they have come to touch.
fn stack() -> (World, [u16; 2]) {
    let mut world = World::new(chamber(1_000, 500), shipped().into(), CONFIG).expect("a match");
    let at = [16.2, 48.4].map(|height| DVec3::Z * height);
    let slots = at.map(|at| world.throw("crate", at, DVec3::ZERO, DVec3::ZERO));
    let touch = |world: &World| {
        let near =
            |slot| world.pairs.iter().any(|pair| pair.key.body == slot && sleep::touches(pair));
        // The crates' own pair is listed under the first of them.
        world.pairs.iter().filter(|pair| sleep::touches(pair)).count() == 2 && near(slots[0])
    };
    let touching = (0..60).find(|_| {
        world.step(&[]);
        touch(&world)
    });
    touching.expect("the crates touch the floor and each other");
    (world, slots)
}

/// The number of ticks at this rate after which two stacked crates sleep. The crates stay in place,
/// but are too fast to count as still. The first tick sets their anchors.
fn ticks_until_sleep(rate: f64) -> u32 {
    let (mut world, slots) = stack();
    for slot in slots {
        world.entities.get_mut(slot).expect("a crate").sleep = SleepState::default();
    }
    let ticks = (1..100).find(|_| {
        for slot in slots {
            let entity = world.entities.get_mut(slot).expect("a crate");
            (entity.velocity, entity.angular) = (DVec3::X * 3.0, DVec3::ZERO);
        }
        let World { entities, arena, pairs, .. } = &mut world;
        sleep::settle(entities, &arena.shapes, pairs, &Driven::default(), 1.0 / rate);
        let asleep = slots.map(|slot| entities.get(slot).expect("a crate").sleep.asleep);
        assert_eq!(asleep[0], asleep[1], "both sleep in one tick");
        asleep[0]
    });
    ticks.expect("the crates sleep")
}

/// Rounded up, 0.15 seconds are three ticks at 20 Hz, and five at 30 Hz. From 41 Hz on they are
/// more than six.
#[test]
fn a_body_that_jitters_in_a_heap_sleeps_after_six_ticks_at_least() {
    for (rate, ticks) in
        [(10.0, 6), (20.0, 6), (30.0, 6), (39.0, 6), (41.0, 7), (50.0, 8), (110.0, 17)]
    {
        assert_eq!(ticks_until_sleep(rate), 1 + ticks, "{rate} Hz");
    }
}
