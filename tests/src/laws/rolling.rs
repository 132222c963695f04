//! Wheels and balls of many sides.

use std::f64::consts::{FRAC_PI_2, PI};

use ::oracle::Random;
use glam::{DQuat, DVec3};

use super::case::{Case, Reading};
use super::engine::Run;
use super::scene::{Body, Floor, GRAVITY, Scene};
use super::sliding::{GAP, log_between};
use super::solid::Solid;

/// Numbers of sides of wheels. A wheel with fewer sides would not roll on.
const SIDES: [usize; 10] = [16, 20, 24, 28, 31, 32, 33, 48, 64, 128];

/// Bodies that touch are no farther apart than this, in units: twice the gap at which they rest.
const TOUCH: f64 = 0.2;

/// The speed at which a wheel or ball of this radius starts to roll, and the distance over which it
/// is watched. The body is fast enough to get over its corners, and its spin stays below the
/// greatest one of 20 rad/s.
fn course(random: &mut Random, radius: f64) -> (f64, f64) {
    let natural = (GRAVITY * radius).sqrt();
    let speed = (natural * random.between(0.4, 1.8)).min(18.0 * radius);
    (speed, (2.5 * speed).min((20.0 * radius).max(1000.0)))
}

/// A wheel rolls straight ahead and stays in touch with the floor.
///
/// A wheel of n sides is a prism. Each time a side comes down, the next corner hits the floor at
/// 2v·sin(π/n), and bounces up no faster. So the wheel rises no higher than this speed lifts it
/// from its height on a corner. It is lowest when it lies on a side. Nothing turns the wheel aside.
/// It may drift sideways by 1 % of its way, because the solver is not exact.
///
/// Beyond v² = gR a wheel flies from corner to corner, and rounding decides how it lands. Then the
/// judge does not check its direction, and does not compare its way with that on one slab.
///
/// A wheel loses speed at each corner and by damping, but rolls at least as far as its radius.
/// Seams between slabs cost no further speed: the wheel gets as far as on one slab, to within 5 %.
pub fn wheel(random: &mut Random) -> Case {
    let sides = SIDES[random.below(SIDES.len())];
    let radius = log_between(random, 6.0, 500.0);
    let half = radius * random.between(0.4, 1.0);
    let solid = Solid::prism(sides, radius, half);
    let (speed, way) = course(random, radius);
    let inner = radius * (PI / sides as f64).cos();
    let start = DVec3::new(-0.5 * way - radius * random.unit(), 0.0, inner + GAP);
    // A side lies flat on the floor.
    let turn =
        DQuat::from_rotation_x(FRAC_PI_2) * DQuat::from_rotation_z(PI / sides as f64 - FRAC_PI_2);
    let heading = random.between(-0.1, 0.1);
    let turn = DQuat::from_rotation_z(heading) * turn;
    let friction = random.between(0.4, 2.0);
    let body = Body::new(solid, start).of(friction, 0.2).turned(turn);
    let size = [0.5 * way + 3.0 * radius + 32.0, 0.2 * way + 3.0 * radius + 32.0];
    let scene = Scene::new(random, size, vec![body]);
    let told = format!(
        "wheel of {sides} sides, radius {radius:.2}, half width {half:.2}, friction \
         {friction:.2}, {speed:.1} units/s, {way:.0} units"
    );
    let ahead = DVec3::new(heading.cos(), heading.sin(), 0.0);
    Case::new(told, scene, move |run| {
        let ride = ride(run, ahead, speed, radius, way);
        let corner = 2.0 * speed * (PI / sides as f64).sin();
        let hop = corner * corner / (2.0 * GRAVITY);
        let mut readings = vec![
            Reading::at_most("top, units", radius + hop, TOUCH, ride.top),
            Reading::between("bottom, units", [inner, f64::INFINITY], 0.05, ride.bottom),
            Reading::between("way, units", [radius, speed * run.time()], 0.1, ride.moved),
        ];
        if speed * speed > GRAVITY * radius {
            return readings;
        }
        readings.extend([
            Reading::at_most("aside, units", 0.0, 0.01 * way + 0.2, ride.aside),
            Reading::at_most("axis turned, radians", 0.0, 0.03, ride.turned),
        ]);
        let slab = Scene { floor: Floor::One, ..run.scene.clone() };
        if let Ok(mut slab) = run.beside(&slab) {
            let alike = self::ride(&mut slab, ahead, speed, radius, way).moved;
            let bound = 0.05 * alike + 0.5;
            readings.push(Reading::equal("way beside one slab's, units", alike, bound, ride.moved));
        }
        readings
    })
}

/// Measurements of a wheel that rolls, in units and radians.
struct Ride {
    top: f64,
    bottom: f64,
    aside: f64,
    turned: f64,
    moved: f64,
}

fn ride(run: &mut Run, ahead: DVec3, speed: f64, radius: f64, way: f64) -> Ride {
    run.seconds(0.3);
    let before = run.body(0);
    let axis = before.orientation * DVec3::Z;
    run.set_velocity(0, ahead * speed, DVec3::Z.cross(ahead) * (speed / radius));
    let mut ride = Ride { top: 0.0, bottom: f64::INFINITY, aside: 0.0, turned: 0.0, moved: 0.0 };
    run.while_below(way / speed, |run| {
        let body = run.body(0);
        let moved = body.position - before.position;
        ride.top = ride.top.max(body.position.z);
        ride.bottom = ride.bottom.min(body.position.z);
        ride.aside = ride.aside.max(moved.dot(ahead.cross(DVec3::Z)).abs());
        ride.turned = ride.turned.max(axis.angle_between(body.orientation * DVec3::Z));
        ride.moved = moved.dot(ahead);
        true
    });
    ride
}

/// A ball of many faces stays in touch with the floor. Neighbouring corners are apart by an angle
/// of β at most, as seen from the middle. So a corner hits the floor at no more than v·β, and the
/// ball hops no higher than this speed allows. Its faces may turn it aside by no more than β.
pub fn ball(random: &mut Random) -> Case {
    let frequency = 3 + random.below(3);
    let radius = log_between(random, 6.0, 500.0);
    let solid = Solid::ball(frequency, radius);
    let edge = solid.faces.iter().flat_map(|face| {
        let corner = |k: usize| solid.corners[face[k % 3]];
        (0..3).map(|k| corner(k).distance(corner(k + 1))).collect::<Vec<f64>>()
    });
    let beta = edge.fold(0.0, f64::max) / radius;
    let inner = solid.faces.iter().map(|face| {
        let [a, b, c] = [0, 1, 2].map(|k| solid.corners[face[k]]);
        (b - a).cross(c - a).normalize().dot(a)
    });
    let inner = inner.fold(f64::INFINITY, f64::min);
    let (speed, way) = course(random, radius);
    let start = DVec3::new(-0.5 * way - radius * random.unit(), 0.0, radius + GAP);
    let spin = DVec3::Y * (speed / radius);
    let body = Body::new(solid, start).of(random.between(0.4, 2.0), 0.2);
    let body = body.turned(any_turn(random)).moving(DVec3::X * speed, spin);
    let size = [0.5 * way + 3.0 * radius + 32.0, 0.6 * way + 3.0 * radius + 32.0];
    let scene = Scene::new(random, size, vec![body]);
    let faces = 20 * frequency * frequency;
    let told =
        format!("ball of {faces} faces, radius {radius:.2}, {speed:.1} units/s, {way:.0} units");
    Case::new(told, scene, move |run| {
        let before = run.body(0);
        let (mut top, mut bottom) = (0f64, f64::INFINITY);
        run.while_below(way / speed, |run| {
            let z = run.body(0).position.z;
            (top, bottom) = (top.max(z), bottom.min(z));
            true
        });
        let moved = run.body(0).position - before.position;
        let hop = (speed * beta).powi(2) / (2.0 * GRAVITY);
        let aside = moved.y.atan2(moved.x).abs();
        vec![
            Reading::at_most("top, units", radius + hop, TOUCH, top),
            Reading::between("bottom, units", [inner, f64::INFINITY], 0.05, bottom),
            Reading::at_most("heading, radians", 0.0, beta, aside),
        ]
    })
}

/// A random rotation; all rotations are equally likely.
pub fn any_turn(random: &mut Random) -> DQuat {
    loop {
        let mut part = || random.between(-1.0, 1.0);
        let turn = DQuat::from_xyzw(part(), part(), part(), part());
        if (0.1..1.0).contains(&turn.length()) {
            return turn.normalize();
        }
    }
}
