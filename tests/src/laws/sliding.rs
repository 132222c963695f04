//! Friction of bodies that lie flat: Coulomb's law.

use std::f64::consts::TAU;

use ::oracle::Random;
use glam::{DQuat, DVec3};

use super::case::{Case, Reading};
use super::engine::Run;
use super::scene::{Body, Floor, GRAVITY, Scene, USUAL_DAMPING};
use super::solid::{Solid, mean_radius};

/// Numbers of sides of prisms and cones. Many are beside powers of two and usual capacities of
/// arrays, where faults are likely.
pub const SIDES: [usize; 18] = [3, 4, 5, 6, 7, 8, 12, 16, 24, 28, 29, 30, 31, 32, 33, 48, 64, 128];

/// The gap at which a body is put above its support, in units. The body falls by no more than this.
pub const GAP: f64 = 0.15;

/// A body whose surface moves no faster than this, in units per second, may be put to sleep.
const STILL: f64 = 2.0;

/// The time of a spin ends when this share of the spin is left, or earlier, when the surface moves
/// no faster than [`STILL`].
const LEFT: f64 = 0.05;

/// A random size between these; all orders of magnitude are equally likely.
pub fn log_between(random: &mut Random, low: f64, high: f64) -> f64 {
    random.between(low.ln(), high.ln()).exp()
}

/// A random flat body of this size across, and its description. Its centre of mass is so low over
/// its footprint that friction does not tip it over.
pub fn flat_solid(random: &mut Random, size: f64) -> (Solid, String) {
    let radius = 0.5 * size;
    match random.below(8) {
        0 => {
            let half = DVec3::new(radius, radius * random.between(0.15, 0.6), 0.08 * radius);
            (Solid::cuboid(half), format!("plank {half:.3}"))
        }
        1 => {
            let half = DVec3::new(radius, radius, radius * random.between(0.2, 0.5));
            (Solid::cuboid(half), format!("box {half:.3}"))
        }
        2 => {
            let sides = SIDES[random.below(SIDES.len())];
            let solid = Solid::cone(sides, radius, 0.8 * radius);
            (solid, format!("cone of {sides} sides, radius {radius:.3}"))
        }
        3 | 4 => {
            // A model reaches no farther than 1,024 units.
            let size = size.min(1200.0);
            let (of, name): (fn(f64, f64) -> Solid, _) =
                if random.one_in(2) { (Solid::angle, "L") } else { (Solid::channel, "U") };
            (of(size / 3.0, 0.06 * size), format!("{name} {size:.3}"))
        }
        _ => {
            let sides = SIDES[random.below(SIDES.len())];
            let half = radius * random.between(0.1, if sides < 5 { 0.2 } else { 0.4 });
            let solid = Solid::prism(sides, radius, half);
            (solid, format!("prism of {sides} sides, radius {radius:.3}, half height {half:.3}"))
        }
    }
}

/// A body that slides at v comes to rest after v²/2µg, straight ahead and without turning. The
/// torque of friction about the vertical axis through the centre of mass is the sum of µN times the
/// distance from the line of motion, over all contacts. This sum is zero, because the moments of
/// the forces N about the line of motion are in balance.
///
/// In each step, a body moves by its velocity at the end of the step. So with the deceleration a,
/// from v = n·a·h, the way of n steps of the duration h is a·h²·n(n − 1)/2, which is less than
/// v²/2a by v·h/2. The contact solver iterates, so it leaves a share of each impulse: 2 % of the
/// way are allowed for it. If 2 % of the friction F act without balance at the farthest corner, at
/// the distance r, they turn the body by ½·(0.02·F·r/I)·t². For a mass of 1 this is the way times
/// 0.02·r/I.
pub fn stops(random: &mut Random) -> Case {
    let size = log_between(random, 0.5, 2000.0);
    let (solid, name) = flat_solid(random, size);
    let friction = random.between(0.02, 2.0);
    let way = (size * random.between(0.5, 2.0)).max(20.0);
    let angle = random.between(-0.5, 0.5);
    let half = [way + size + 64.0, 0.6 * way + size + 64.0];
    let (reach, inertia) = (solid.footprint()[1], solid.inertia.z_axis.z);
    let start = DVec3::new(-0.5 * way, 0.0, solid.height() + GAP);
    let body = Body::new(solid, start).of(friction, 0.2);
    let deceleration = body.friction_on_floor() * GRAVITY;
    let speed = (2.0 * deceleration * way).sqrt();
    let turn = random.between(0.0, TAU);
    let scene = Scene::new(random, half, vec![body.turned(DQuat::from_rotation_z(turn))]);
    let told = format!("{name}, friction {friction:.3}, {speed:.1} units/s");
    let direction = DVec3::new(angle.cos(), angle.sin(), 0.0);
    Case::new(told, scene, move |run| {
        run.seconds(0.5);
        let before = run.body(0);
        run.set_velocity(0, direction * speed, DVec3::ZERO);
        let most = 1.5 * speed / deceleration + 0.5;
        run.while_below(most, |run| run.body(0).velocity.length() > 0.01);
        let after = run.body(0);
        let moved = after.position - before.position;
        let turned = 2.0 * (after.orientation * before.orientation.inverse()).xyz().length();
        let bound = 0.5 * speed * run.scene.tick() + 0.02 * way + 0.1;
        let unbalanced = 0.02 * way * reach / inertia;
        let aside = moved.dot(direction.cross(DVec3::Z)).abs();
        vec![
            Reading::equal("way, units", way, bound, moved.dot(direction)),
            Reading::at_most("aside, units", 0.0, 0.02 * way + 0.1, aside),
            Reading::at_most("turned, radians", 0.0, unbalanced + 0.01, turned),
        ]
    })
}

/// Nothing slows a body without friction.
pub fn keeps_speed(random: &mut Random) -> Case {
    let size = log_between(random, 0.5, 500.0);
    let (solid, name) = flat_solid(random, size);
    let speed = random.between(50.0, 600.0);
    let way = speed * 2.0;
    let half = [way + size + 64.0, size + 256.0];
    let start = DVec3::new(-0.5 * way, 0.0, solid.height() + GAP);
    let scene = Scene::new(random, half, vec![Body::new(solid, start).of(0.0, 0.2)]);
    let told = format!("{name}, no friction, {speed:.1} units/s");
    Case::new(told, scene, move |run| {
        run.seconds(0.5);
        run.set_velocity(0, DVec3::X * speed, DVec3::ZERO);
        let start = run.body(0).position;
        let seconds = {
            let from = run.time();
            run.seconds(2.0);
            run.time() - from
        };
        let moved = run.body(0).position - start;
        vec![
            Reading::equal("way, units", speed * seconds, 0.002 * way, moved.x),
            Reading::at_most("height, units", 0.0, 0.15, moved.z.abs()),
        ]
    })
}

/// On a slope that is flatter than the angle of friction, a body stands still. On a steeper one, of
/// the angle α, it accelerates at g·(sin α − µ·cos α).
///
/// For a constant acceleration, speeds at the ends of ticks are exact. So only the solver's error
/// is allowed, 2 % of the downhill force; a body that stands may move half a unit. Each slope is a
/// degree or more away from the angle of friction: nearer to it, a body gains less speed than
/// `STILL` within the time after which it may sleep.
pub fn on_slope(random: &mut Random) -> Case {
    let size = log_between(random, 0.5, 2000.0);
    let (solid, name) = flat_solid(random, size);
    let friction = random.between(0.05, 2.0);
    let half = [4.0 * size + 1200.0, size + 256.0];
    let body = Body::new(solid.clone(), DVec3::ZERO).of(friction, 0.2);
    let coefficient = body.friction_on_floor();
    let off: f64 = [-10.0, -3.0, -1.0, 1.0, 3.0, 10.0][random.below(6)];
    let angle = (coefficient.atan() + off.to_radians()).max(0.01);
    // The slope descends along x.
    let tilt = DQuat::from_rotation_y(angle);
    let above = DVec3::new(-size - 400.0, 0.0, solid.height() + GAP);
    let turn = DQuat::from_rotation_z(random.between(0.0, TAU));
    let body = Body { position: tilt * above, orientation: tilt * turn, ..body };
    let mut scene = Scene::new(random, half, vec![body]);
    scene.floor = Floor::Slope(angle);
    scene.shift.z = 0.0;
    let degrees = angle.to_degrees();
    let told = format!("{name}, friction {friction:.3}, {degrees:.2}° ({off:+}°)");
    let stands = angle.tan() < coefficient;
    Case::new(told, scene, move |run| {
        let down = tilt * DVec3::X;
        run.seconds(0.5);
        let before = run.body(0);
        if stands {
            run.seconds(3.0);
            let moved = run.body(0).position - before.position;
            return vec![Reading::at_most("way, units", 0.0, 0.5, moved.length())];
        }
        let acceleration = GRAVITY * (angle.sin() - coefficient * angle.cos());
        let from = run.time();
        run.seconds(1.0);
        let law = acceleration * (run.time() - from);
        let gained = (run.body(0).velocity - before.velocity).dot(down);
        vec![Reading::equal("speed gained, units/s", law, 0.02 * GRAVITY * angle.sin(), gained)]
    })
}

/// A body that spins flat on the floor stops in place. The torque of friction is µ times the weight
/// times the mean distance of the pressure from the axis. The pressure of a rigid body on a rigid
/// floor is not determined by its weight alone. If the pressure is uniform, this distance is the
/// mean over all points of the footprint. If only the corners carry, as in a manifold of points, it
/// is the distance of the corners. The law allows any time between these two. Spin also decays by
/// damping: from ω' = −α − cω the time is ln((1 + cω/α)/(1 + 0.05·cω/α))/c until 5 % of the spin
/// are left. The last 5 % take far more than 5 % of the time where damping takes most of the spin.
///
/// A body whose surface moves no faster than `STILL` may be put to sleep, so it counts as stopped.
/// The surface of a small disc of few rad/s is hardly faster. 5 % of its spin would be a rocking,
/// about which the law says nothing.
///
/// 5 % of the time are allowed for the solver, and two ticks for the length of a tick. If 5 % of the
/// friction act without balance for the whole time t, they move the body aside by ½·0.05·µg·t².
pub fn spins_down(random: &mut Random) -> Case {
    let radius = log_between(random, 0.5, 1000.0);
    let sides = SIDES[random.below(SIDES.len())];
    let half = radius * random.between(0.05, 1.0);
    let solid = Solid::prism(sides, radius, half);
    let friction = random.between(0.1, 2.0);
    let start = DVec3::new(random.between(-30.0, 30.0), 0.0, half + GAP);
    let size = 2.0 * radius + 100.0;
    let body = Body::new(solid.clone(), start).of(friction, 0.2);
    let coefficient = body.friction_on_floor();
    let scene = Scene::new(random, [size, size], vec![body]);
    let spin = random.between(2.0, 15.0).min(0.3 / scene.tick());
    let told = format!(
        "prism of {sides} sides, radius {radius:.2}, half height {half:.2}, friction \
         {friction:.3}, {spin:.2} rad/s"
    );
    let left = LEFT.max(STILL / (radius * spin)).min(1.0);
    let time = move |arm: f64| {
        let deceleration = coefficient * GRAVITY * arm / solid.inertia.z_axis.z;
        let braked = USUAL_DAMPING * spin / deceleration;
        ((1.0 + braked) / (1.0 + left * braked)).ln() / USUAL_DAMPING
    };
    let law = [time(radius), time(mean_radius(sides, radius))];
    Case::new(told, scene, move |run| {
        run.seconds(0.5);
        let before = run.body(0).position;
        run.set_velocity(0, DVec3::ZERO, DVec3::Z * spin);
        let enough = |run: &Run| run.body(0).spin.length() > left * spin;
        let seen = run.while_below(2.0 * law[1] + 1.0, enough);
        let bound = 0.05 * law[1] + 2.0 * run.scene.tick();
        let unbalanced = 0.5 * 0.05 * coefficient * GRAVITY * law[1] * law[1];
        let aside = (run.body(0).position - before).length();
        vec![
            Reading::between("time, seconds", law, bound, seen),
            Reading::at_most("aside, units", 0.0, unbalanced + 0.1, aside),
        ]
    })
}
