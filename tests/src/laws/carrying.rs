//! Kinematic bodies and the bodies that they carry.

use std::f64::consts::TAU;

use ::oracle::Random;
use glam::{DQuat, DVec3};

use super::case::{Case, Reading};
use super::engine::Run;
use super::scene::{Body, Floor, GRAVITY, Scene};
use super::sliding::{GAP, SIDES, flat_solid, log_between};
use super::solid::Solid;

/// A scene of a kinematic carrier in the air and a rider that stands on it at the place `at`.
/// `friction` has the coefficients of the carrier and of the rider.
fn scene(
    random: &mut Random,
    carrier: Solid,
    rider: Solid,
    at: DVec3,
    friction: [f64; 2],
) -> Scene {
    let reach = carrier.radius();
    let below = DVec3::Z * (reach + 300.0);
    let top = below.z + carrier.height();
    let turn = DQuat::from_rotation_z(random.between(0.0, TAU));
    let place = at + DVec3::Z * (top + rider.height() + GAP);
    let bodies = vec![
        Body::new(carrier, below).of(friction[0], 0.0).driven(),
        Body::new(rider, place).of(friction[1], 0.0).turned(turn),
    ];
    let mut scene = Scene::new(random, [2.0 * reach + 64.0, 64.0], bodies);
    scene.floor = Floor::None;
    scene.top = top + 2000.0;
    scene
}

fn frictions(random: &mut Random) -> ([f64; 2], f64) {
    let both = [random.between(0.2, 2.0), random.between(0.2, 2.0)];
    (both, (both[0] * both[1]).sqrt())
}

/// A turntable that starts gently carries a rider along as long as friction can give the
/// acceleration ω²r; beyond that, the rider slides off. The table itself turns by its velocity
/// times the time.
///
/// At the start, the rider needs three tenths of the acceleration that friction can give, along its
/// path. If the rider is to stay, its circle needs at most six tenths, across the path. Together
/// these are less than seven tenths. A carried body keeps its heading and its place on the
/// table.
///
/// A tick of the duration t moves the rider along the tangent of its circle, which leads outward:
/// the square of its distance r grows by the share (ωt)² a tick. If the engine takes the tangent at
/// the place where the rider was half a tick before, r² grows by as much again. So in T seconds r
/// may grow by the factor e^(ω²·t·T), and by 2 % for the solver. The heading may be a tick late. A
/// scene in which r might grow by more than a sixth would test nothing, so ω is chosen smaller.
pub fn turntable(random: &mut Random) -> Case {
    let radius = log_between(random, 10.0, 1000.0);
    let sides = SIDES[random.below(SIDES.len())];
    let size = radius * random.between(0.1, 0.4);
    let (rider, name) = flat_solid(random, size);
    let table = Solid::prism(sides, radius, 0.1 * radius);
    let (both, friction) = frictions(random);
    // The rider must stand within the circle that is inscribed in the table's polygon.
    let inner = radius * (std::f64::consts::PI / sides as f64).cos();
    let arm = (inner - rider.radius()).max(0.1 * radius) * random.between(0.3, 0.9);
    let holds = random.below(3) > 0;
    let share: f64 = if holds { 0.6 } else { 1.7 };
    let most = friction * GRAVITY;
    let mut spin = (share * most / arm).sqrt().min(15.0);
    let scene = scene(random, table, rider, DVec3::X * arm, both);
    let drift = |spin: f64| spin * spin * scene.tick() * (spin * arm / (0.3 * most) + 3.0);
    while drift(spin) > 0.15 {
        spin *= 0.98;
    }
    let drift = drift(spin).exp() - 1.0;
    let share = spin * spin * arm / most;
    let holds = share < 0.7;
    let told = format!(
        "table of {sides} sides, radius {radius:.2}, {spin:.2} rad/s, {name} at {arm:.2}, \
         friction {friction:.2}, {share:.2} of it needed"
    );
    Case::new(told, scene, move |run| {
        run.seconds(0.5);
        let before = [run.body(0), run.body(1)];
        let start = 0.3 * most / arm;
        let (mut now, mut law, mut turned, mut last) = (0.0, 0.0, 0.0, before[0].orientation);
        let seconds = spin / start + 3.0;
        let ticks = (seconds / run.scene.tick()) as u32;
        for _ in 0..ticks {
            now = spin.min(now + start * run.scene.tick());
            law += now * run.scene.tick();
            run.set_velocity(0, DVec3::ZERO, DVec3::Z * now);
            run.step();
            turned += run.body(0).spin.z * run.scene.tick();
            last = run.body(0).orientation;
        }
        let centre = before[0].position;
        let arm_before = before[1].position - centre;
        let arm = arm_before.truncate().length();
        let arm_after = run.body(1).position - centre;
        let table = last * before[0].orientation.inverse();
        let mut readings = vec![Reading::equal("table turned, radians", law, 0.002 * law, turned)];
        let (place, now) = (table * arm_before.truncate().extend(0.0), arm_after.truncate());
        let farther = now.length() - arm;
        if holds {
            let heading = table * before[1].orientation;
            let turned = 2.0 * (run.body(1).orientation * heading.inverse()).xyz().length();
            let behind = place.truncate().angle_to(now).abs();
            readings.extend([
                Reading::between(
                    "farther out, units",
                    [0.0, drift * arm],
                    0.02 * arm + 0.1,
                    farther,
                ),
                Reading::at_most("behind, radians", 0.0, 0.03 + 0.1 / arm, behind),
                Reading::at_most(
                    "rider turned, radians",
                    0.0,
                    0.05 + spin * run.scene.tick(),
                    turned,
                ),
            ]);
        } else if share > 1.2 {
            let least = [0.1 * arm, f64::INFINITY];
            readings.push(Reading::between("farther out, units", least, 0.01 * arm, farther));
        }
        readings
    })
}

/// A lift that starts with half of gravity, upward or downward, keeps its rider in touch at any
/// speed. The lift itself moves by its velocity times the time.
pub fn lift(random: &mut Random) -> Case {
    let radius = log_between(random, 10.0, 1000.0);
    let sides = SIDES[random.below(SIDES.len())];
    let size = radius * random.between(0.1, 1.0);
    let (rider, name) = flat_solid(random, size);
    let plate = Solid::prism(sides, radius, 0.1 * radius);
    let (both, _) = frictions(random);
    let speed = log_between(random, 10.0, 1200.0) * if random.one_in(2) { 1.0 } else { -1.0 };
    let mut scene = scene(random, plate, rider, DVec3::ZERO, both);
    let way = speed.abs() * (speed.abs() / (0.5 * GRAVITY) + 1.0) + 100.0;
    if speed < 0.0 {
        scene.bodies.iter_mut().for_each(|body| body.position.z += way);
    }
    scene.top += way;
    scene.shift.z = scene.shift.z.min(0.0);
    let told = format!("plate of {sides} sides, radius {radius:.2}, {speed:.1} units/s, {name}");
    Case::new(told, scene, move |run| {
        run.seconds(0.5);
        let before = [run.body(0), run.body(1)];
        let gap = before[1].position - before[0].position;
        let (mut now, mut law) = (0f64, 0.0);
        let (mut most, mut aside) = (0f64, 0f64);
        let start = 0.5 * GRAVITY * run.scene.tick();
        let seconds = speed.abs() / (0.5 * GRAVITY) + 1.0;
        for _ in 0..(seconds / run.scene.tick()) as u32 {
            now = (now.abs() + start).min(speed.abs()).copysign(speed);
            law += now * run.scene.tick();
            run.set_velocity(0, DVec3::Z * now, DVec3::ZERO);
            run.step();
            let off = run.body(1).position - run.body(0).position - gap;
            most = most.max(off.z.abs());
            aside = aside.max(off.truncate().length());
        }
        let way = run.body(0).position.z - before[0].position.z;
        vec![
            Reading::equal("way, units", law, 0.001 * law.abs() + 0.01, way),
            Reading::at_most("off its floor, units", 0.0, 0.1, most),
            Reading::at_most("aside, units", 0.0, 0.1, aside),
        ]
    })
}

/// A conveyor that moves at full speed v at once slips by v²/2µg under its rider, and then carries
/// the rider at exactly its own speed. Seen from the conveyor, the rider slides to rest, so the
/// bounds are those of [`super::sliding::stops`].
pub fn conveyor(random: &mut Random) -> Case {
    let radius = log_between(random, 2.0, 100.0);
    let (rider, name) = flat_solid(random, 2.0 * radius);
    let (both, friction) = frictions(random);
    let slip = random.between(10.0, 400.0);
    let speed = (2.0 * friction * GRAVITY * slip).sqrt();
    let belt = Solid::cuboid(DVec3::new(900.0, 2.0 * radius + 20.0, 10.0));
    let mut scene = scene(random, belt, rider, DVec3::X * 500.0, both);
    let stop = speed / (friction * GRAVITY);
    let way = speed * (2.0 * stop + 3.0);
    scene.half[0] += way;
    scene.bodies.iter_mut().for_each(|body| body.position.x -= 0.5 * way);
    // The scene is moved only so far that the whole way of the conveyor is within the world.
    let reach = 32_000.0 - scene.half[0] - 1024.0;
    scene.shift = scene.shift.clamp(DVec3::splat(-reach.max(0.0)), DVec3::splat(reach.max(0.0)));
    let told = format!("{name}, friction {friction:.2}, {speed:.1} units/s");
    Case::new(told, scene, move |run| {
        run.seconds(0.5);
        let off = |run: &Run| run.body(1).position - run.body(0).position;
        let before = off(run);
        run.set_velocity(0, DVec3::X * speed, DVec3::ZERO);
        run.seconds(1.5 * stop + 0.3);
        let carried = off(run);
        let from = run.body(1).position.x;
        let time = run.time();
        run.seconds(1.0);
        let slipped = carried - before;
        let bound = 0.5 * speed * run.scene.tick() + 0.02 * slip + 0.1;
        let law = speed * (run.time() - time);
        vec![
            Reading::equal("slip, units", -slip, bound, slipped.x),
            Reading::at_most("aside, units", 0.0, 0.02 * slip + 0.1, slipped.y.abs()),
            Reading::equal(
                "way of a second, units",
                law,
                0.001 * law + 0.01,
                run.body(1).position.x - from,
            ),
        ]
    })
}
