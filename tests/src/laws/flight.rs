//! Free flight: Euler's equations.

use ::oracle::Random;
use glam::{DMat3, DQuat, DVec3};

use super::case::{Case, Reading};
use super::engine::Run;
use super::rolling::any_turn;
use super::scene::{Body, Floor, GRAVITY, Scene};
use super::sliding::{SIDES, log_between};
use super::solid::Solid;

/// Time for which bodies fly, in seconds. Bodies are thrown up at a speed of half of this time
/// multiplied by gravity, so they are back at their first height after this time.
const SECONDS: f64 = 9.0;

/// Number of steps a second in which Euler's equations are integrated.
const STEPS: u32 = 20_000;

/// A scene with a spinning body that is thrown up, and without a floor.
fn thrown(random: &mut Random, solid: Solid, damping: f64, turn: DQuat, spin: DVec3) -> Scene {
    let start = DVec3::Z * (solid.radius() + 100.0);
    let up = DVec3::Z * (0.5 * SECONDS * GRAVITY);
    let body = Body { damping, ..Body::new(solid, start).turned(turn).moving(up, spin) };
    let mut scene = Scene::new(random, [64.0, 64.0], vec![body]);
    scene.floor = Floor::None;
    scene.top = 12_000.0;
    scene.shift.z = scene.shift.z.min(0.0);
    scene
}

/// A random rate at which a body with this spin turns by less than a fifth of a radian a tick. Then
/// the mean spin of a tick differs from the spin in its middle by less than a six-hundredth.
fn rate(random: &mut Random, spin: f64) -> u32 {
    let rates = [20, 30, 60, 120, 240];
    let enough = rates.iter().position(|&rate| spin < 0.2 * f64::from(rate)).unwrap_or(4);
    rates[enough + random.below(rates.len() - enough)]
}

/// The angular momentum of a flying body keeps its direction. Without damping it also keeps its
/// size. With damping at the rate c, the share e^(−c·t) of the size is left after t seconds.
pub fn momentum(random: &mut Random, damping: f64) -> Case {
    let size = log_between(random, 0.5, 500.0);
    let sides = SIDES[random.below(SIDES.len())];
    let (solid, name) = match random.below(4) {
        0 => {
            let half = DVec3::new(1.0, random.between(0.3, 1.0), random.between(0.05, 1.0));
            (Solid::cuboid(half * size), format!("box {:.2}", half * size))
        }
        1 => (Solid::prism(sides, size, 0.3 * size), format!("prism of {sides} sides, {size:.2}")),
        2 => (Solid::cone(sides, size, 2.0 * size), format!("cone of {sides} sides, {size:.2}")),
        _ => (Solid::angle(size / 2.0, 0.2 * size), format!("L {size:.2}")),
    };
    let spin = any_turn(random) * DVec3::X * random.between(1.0, 12.0);
    let turn = any_turn(random);
    let mut scene = thrown(random, solid, damping, turn, spin);
    scene.rate = rate(random, 1.5 * spin.length());
    let told = format!("{name}, damping {damping}, {:.2} rad/s", spin.length());
    Case::new(told, scene, move |run| {
        run.step();
        let before = run.own_angular_momentum(0);
        let inertia = run.scene.bodies[0].solid.inertia;
        let given = (turn * (inertia * (turn.inverse() * spin))).length() * run.mass(0);
        let from = run.time();
        let mut worst = 0f64;
        let (mut axis, seconds) = (0f64, SECONDS - 2.0 * run.scene.tick());
        run.while_below(seconds, |run| {
            let now = run.own_angular_momentum(0);
            let law = before.length() * (-damping * (run.time() - from)).exp();
            worst = worst.max((now.length() / law - 1.0).abs());
            axis = axis.max(now.angle_between(before));
            true
        });
        // `before` is measured in the first tick, in which damping may have acted already.
        let bound = 0.01 + damping * run.scene.tick();
        vec![
            Reading::equal(
                "size at first, share of what was given",
                1.0,
                bound,
                before.length() / given,
            ),
            Reading::at_most("size, share lost or gained", 0.0, 0.01, worst),
            Reading::at_most("direction, radians", 0.0, 0.02, axis),
        ]
    })
}

/// Integrates Euler's equations about the principal axes by one step of the fourth-order
/// Runge-Kutta method. The state is the orientation of the body, and its spin in its own axes.
fn euler(inertia: DVec3, damping: f64, [turn, spin]: [DQuat; 2], step: f64) -> [DQuat; 2] {
    let rates = |[turn, spin]: [DQuat; 2]| {
        let w = spin.xyz();
        let torque = -w.cross(inertia * w);
        let gain = torque / inertia - w * damping;
        [turn * spin * 0.5, DQuat::from_xyzw(gain.x, gain.y, gain.z, 0.0)]
    };
    let ahead = |by: [DQuat; 2], step: f64| [turn + by[0] * step, spin + by[1] * step];
    let first = rates([turn, spin]);
    let second = rates(ahead(first, 0.5 * step));
    let third = rates(ahead(second, 0.5 * step));
    let fourth = rates(ahead(third, step));
    let mean =
        [0, 1].map(|k| (first[k] + second[k] * 2.0 + third[k] * 2.0 + fourth[k]) * (1.0 / 6.0));
    let [turn, spin] = ahead(mean, step);
    [turn.normalize(), spin]
}

/// The times, in seconds, at which a body that spins about its middle axis turns this axis over.
fn flips(run: &mut Run, axis: DVec3, seconds: f64) -> Vec<f64> {
    let start = run.body(0).orientation * axis;
    let (mut flips, mut sign) = (Vec::new(), 1.0);
    run.while_below(seconds, |run| {
        let along = (run.body(0).orientation * axis).dot(start) * sign;
        if along < -0.5 {
            flips.push(run.time());
            sign = -sign;
        }
        true
    });
    flips
}

/// A body that spins about its middle axis, and a little about the other two, turns over again and
/// again at the times that Euler's equations give.
///
/// Between two flips, the little spin about the other axes grows at the rate ω·√((I₂ − I₁)(I₃ −
/// I₂)/I₁I₃). So a relative error of the spin is the same relative error of the time. For the first
/// flip, 5 % of the time and two ticks are allowed. Later flips are only counted, and there may be
/// one more or fewer.
pub fn flip(random: &mut Random, damping: f64) -> Case {
    let size = log_between(random, 1.0, 200.0);
    let half = DVec3::new(1.0, random.between(0.4, 0.6), random.between(0.1, 0.2)) * size;
    let solid = Solid::cuboid(half);
    let inertia = solid.inertia * DVec3::ONE;
    let speed = random.between(4.0, 12.0);
    // The middle axis is y.
    let spin = DVec3::new(random.between(0.02, 0.1), 1.0, random.between(0.02, 0.1)) * speed;
    let turn = any_turn(random);
    let mut scene = thrown(random, solid, damping, turn, turn * spin);
    scene.rate = rate(random, 1.5 * speed);
    let told = format!("box {half:.2}, damping {damping}, {speed:.2} rad/s");
    Case::new(told, scene, move |run| {
        run.step();
        let seconds = SECONDS - 2.0 * run.scene.tick();
        let (mut state, mut law, mut sign) =
            ([turn, DQuat::from_xyzw(spin.x, spin.y, spin.z, 0.0)], Vec::new(), 1.0);
        for step in 1..=(seconds * f64::from(STEPS)) as u32 {
            state = euler(inertia, damping, state, 1.0 / f64::from(STEPS));
            if (state[0] * DVec3::Y).dot(turn * DVec3::Y) * sign < -0.5 {
                law.push(f64::from(step) / f64::from(STEPS));
                sign = -sign;
            }
        }
        let seen = flips(run, DVec3::Y, seconds);
        let mut readings = vec![Reading::equal("flips", law.len() as f64, 1.0, seen.len() as f64)];
        if let Some(&first) = law.first() {
            let bound = 0.05 * first + 2.0 * run.scene.tick();
            let seen = seen.first().copied().unwrap_or(f64::INFINITY);
            readings.push(Reading::equal("first, seconds", first, bound, seen));
        }
        readings
    })
}

/// The axis of a symmetric top goes round its angular momentum L at the rate L/I₁, where I₁ is its
/// moment of inertia across the axis. With damping at the rate c, L falls as e^(−c·t). So in t
/// seconds the axis goes round by the angle (1 − e^(−c·t))/c times the rate at the beginning. 2 %
/// of this angle, and the angle of one tick, are allowed.
pub fn precession(random: &mut Random, damping: f64) -> Case {
    let radius = log_between(random, 1.0, 200.0);
    let sides = SIDES[random.below(SIDES.len())].max(5);
    let half = radius * random.between(0.1, 2.0);
    let solid = Solid::prism(sides, radius, half);
    let inertia: DMat3 = solid.inertia;
    let (across, along) = (inertia.x_axis.x, inertia.z_axis.z);
    let angle = random.between(0.2, 1.2);
    let speed = random.between(2.0, 8.0);
    let own = DVec3::new(angle.sin(), 0.0, angle.cos()) * speed;
    let turn = any_turn(random);
    let mut scene = thrown(random, solid, damping, turn, turn * own);
    let momentum = turn * (inertia * own);
    let rate_of_turn = momentum.length() / across;
    scene.rate = rate(random, speed.max(rate_of_turn));
    let told = format!(
        "prism of {sides} sides, radius {radius:.2}, half height {half:.2}, damping {damping}, \
         {speed:.2} rad/s, inertia {:.3} of its own across",
        along / across
    );
    Case::new(told, scene, move |run| {
        let round = momentum.normalize();
        let aside = |axis: DVec3| (axis - round * axis.dot(round)).normalize();
        let (mut before, mut turned) = (aside(turn * DVec3::Z), 0.0);
        let nutation = (turn * DVec3::Z).angle_between(round);
        let mut nodded = 0f64;
        run.while_below(SECONDS - 2.0 * run.scene.tick(), |run| {
            let axis = run.body(0).orientation * DVec3::Z;
            let now = aside(axis);
            turned += before.cross(now).dot(round).atan2(before.dot(now));
            nodded = nodded.max((axis.angle_between(round) - nutation).abs());
            before = now;
            true
        });
        let time = run.time();
        let lasts = if damping > 0.0 { (1.0 - (-damping * time).exp()) / damping } else { time };
        let law = rate_of_turn * lasts;
        let bound = 0.02 * law + rate_of_turn * run.scene.tick();
        vec![
            Reading::equal("gone round, radians", law, bound, turned),
            Reading::at_most("nodded, radians", 0.0, 0.05, nodded),
        ]
    })
}
