//! Riders: a player who stands still on a kinematic body stays in place on it, wherever the body
//! goes and whenever it starts, turns and stops.

use obsp::model::Model;

use super::kinematic::cuboid;
use super::*;

/// The farthest that a rider may get from their place, in units: the step in which positions are
/// sent.
const MOST_DRIFT: f64 = 1.0 / 32.0;

/// A ride: the platform's velocity and angular velocity at a time in seconds.
type Ride = fn(f64) -> [DVec3; 2];

/// A platform of 128 by 128 units.
fn slab() -> Model {
    let slab = Model::from_obj("slab", &cuboid([64.0, 64.0, 4.0]));
    slab.expect("a cuboid is a valid model").as_kinematic()
}

/// Goes up for two seconds, waits for one, and comes down again.
fn lift(time: f64) -> [DVec3; 2] {
    let speed = match time % 6.0 {
        0.0..2.0 => 100.0,
        3.0..5.0 => -100.0,
        _ => 0.0,
    };
    [DVec3::Z * speed, DVec3::ZERO]
}

/// Goes round a square, a second along each side, and waits at one corner.
fn train(time: f64) -> [DVec3; 2] {
    let way = match time % 5.0 {
        0.0..1.0 => DVec3::X,
        1.0..2.0 => DVec3::Y,
        2.0..3.0 => -DVec3::X,
        3.0..4.0 => -DVec3::Y,
        _ => DVec3::ZERO,
    };
    [way * 150.0, DVec3::ZERO]
}

/// Turns one way, stops, and turns the other way.
fn turntable(time: f64) -> [DVec3; 2] {
    let speed = match time % 4.0 {
        0.0..1.5 => 1.5,
        2.0..3.5 => -1.0,
        _ => 0.0,
    };
    [DVec3::ZERO, DVec3::Z * speed]
}

/// The farthest that a player who stands still for 60 s gets from their place on the platform, in
/// units: aside, and up or down.
fn drift(tick_rate: u32, ride: Ride) -> [f64; 2] {
    let config = Config { tick_rate, ..CONFIG };
    let mut world =
        World::new(room(), vec![slab()].into(), config).expect("the room can be played");
    let model = world.shipped_model("slab");
    let at = DVec3::new(200.0, -200.0, 60.0);
    let slab = world.spawn_body(model, at, DQuat::IDENTITY).expect("there is room for the slab");
    let player = world.join_at(at + DVec3::new(37.0, 21.0, 32.3));
    world.run(1.0, &[]);
    let place = |world: &World| {
        let pose = |id| world.entity(id).expect("both are in the world");
        let (slab, player) = (pose(slab), pose(player));
        slab.orientation.inverse() * (player.position - slab.position)
    };
    let rest = place(&world);
    let mut farthest = [0.0_f64; 2];
    for tick in 0..60 * tick_rate {
        let [linear, angular] = ride((f64::from(tick) + 0.5) / f64::from(tick_rate));
        world.set_velocity(slab, linear, angular).expect("the slab is in the world");
        world.step(&[]);
        assert!(world.is_clean(), "tick {tick}");
        let off = place(&world) - rest;
        let [aside, up] = farthest;
        farthest = [aside.max(off.truncate().length()), up.max(off.z.abs())];
    }
    farthest
}

#[test]
fn a_player_who_stands_still_stays_on_their_place() {
    let rides: [(&str, Ride); 3] = [("lift", lift), ("train", train), ("turntable", turntable)];
    for (name, ride) in rides {
        for tick_rate in [20, 60, 128] {
            let [aside, up] = drift(tick_rate, ride);
            println!("{name} at {tick_rate} Hz: {aside} units aside, {up} up or down");
            assert!(aside <= MOST_DRIFT && up <= MOST_DRIFT, "{name} at {tick_rate} Hz");
        }
    }
}
