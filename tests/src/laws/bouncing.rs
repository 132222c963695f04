//! Impacts: Newton's law of restitution holds, no impact changes the momentum, and none increases
//! the energy.

use std::f64::consts::TAU;

use ::oracle::Random;
use glam::{DQuat, DVec3};

use super::case::{Case, Reading};
use super::engine::Run;
use super::rolling::any_turn;
use super::scene::{Body, FLOOR_RESTITUTION, Floor, GRAVITY, Scene, USUAL_DAMPING};
use super::sliding::{GAP, SIDES, flat_solid, log_between};
use super::solid::Solid;

/// The gap at which a body lies above its floor, in units.
const REST: f64 = 0.1;

/// If a body turns by more than this in a tick, in radians, the simulation may have limited its
/// spin.
const CUT_TURN: f64 = 0.9;

fn restitution(random: &mut Random) -> f64 {
    match random.below(3) {
        0 => 1.0,
        _ => random.between(FLOOR_RESTITUTION, 1.0),
    }
}

/// A random shape of this size across, flat or not, and its description.
fn any_solid(random: &mut Random, size: f64) -> (Solid, String) {
    let radius = 0.5 * size;
    let sides = SIDES[random.below(SIDES.len())];
    match random.below(6) {
        0 => (Solid::cuboid(DVec3::splat(radius)), format!("cube {size:.3}")),
        1 => {
            let half = radius * random.between(0.1, 1.0);
            let solid = Solid::prism(sides, radius, half);
            (solid, format!("prism of {sides} sides, radius {radius:.3}, half height {half:.3}"))
        }
        2 => {
            // A model reaches no farther than 1,024 units.
            let height = size.min(1300.0);
            let solid = Solid::cone(sides, radius, height);
            (solid, format!("cone of {sides} sides, radius {radius:.3}, height {height:.3}"))
        }
        3 => {
            let frequency = 1 + random.below(5);
            let faces = 20 * frequency * frequency;
            (Solid::ball(frequency, radius), format!("ball of {faces} faces, radius {radius:.3}"))
        }
        _ => flat_solid(random, size),
    }
}

/// A body with restitution e that falls flat from a height h rises to e²h, and stays flat.
///
/// The body meets the floor within a tick of the duration t. The speed that gravity adds in this
/// tick may be missing in the impact. So the speed v of the impact may be less by g·t, and the
/// height by e²·v·t. In flight, a body moves by its speed at the end of each tick, which costs
/// ½·g·t of height a second. The way down takes v/g seconds, and its loss counts e² times; the way
/// up takes e·v/g seconds. Together they cost ½·v·t·(e² + e) of the height that is reached.
///
/// Nothing makes the body rise higher. The bound is [`GAP`] and 0.2 % of the fall, for the gap at
/// which bodies rest and for rounding.
pub fn flat_fall(random: &mut Random) -> Case {
    let size = log_between(random, 0.5, 2000.0);
    let (solid, name) = flat_solid(random, size);
    let restitution = restitution(random);
    let fall = random.between(30.0, 200.0).max(0.2 * size);
    let start = DVec3::Z * (solid.height() + REST + fall);
    let turn = DQuat::from_rotation_z(random.between(0.0, TAU));
    let body = Body::new(solid, start).of(random.between(0.0, 2.0), restitution).turned(turn);
    let (half, radius) = (1.5 * size + 64.0, 0.5 * size);
    let scene = Scene::new(random, [half, half], vec![body]);
    let told = format!("{name}, restitution {restitution:.3}, fall {fall:.2}");
    Case::new(told, scene, move |run| {
        let speed = (2.0 * GRAVITY * fall).sqrt();
        let (mut lowest, mut rise, mut tilt) = (0f64, 0f64, 0f64);
        let mut has_met = false;
        run.while_below((1.0 + 1.1 * restitution) * speed / GRAVITY + 0.1, |run| {
            let body = run.body(0);
            let below = body.position.z - start.z;
            has_met |= body.velocity.z > -0.5 * speed && below < -0.5 * fall;
            lowest = lowest.min(below);
            if has_met {
                rise = rise.max(below + fall);
                tilt = tilt.max((body.orientation * DVec3::Z).angle_between(DVec3::Z));
            }
            // The run ends when the body comes down for the second time.
            !(has_met && body.velocity.z < 0.0 && rise > 1.0)
        });
        let law = restitution * restitution * fall;
        let late = speed * run.scene.tick();
        // Rounding of a few dozen sums in single precision may turn the body by this much a second.
        let spin = 2e-5 * speed / radius;
        let lost = late * (1.5 * restitution * restitution + 0.5 * restitution);
        vec![
            Reading::between("rise, units", [(law - lost).max(0.0), law], GAP + 0.002 * fall, rise),
            Reading::at_most("tilt, radians", 0.0, 0.01 + spin * run.time(), tilt),
        ]
    })
}

/// The greatest energy that lasts for three ticks, in units of height. A single tick does not
/// count, because the energy measured in the tick of an impact mixes motion before and after the
/// impact. `top` is raised to the greatest height of a body.
fn lasting_energy(run: &mut Run, seconds: f64, bodies: usize, top: &mut f64) -> f64 {
    let mut last = [f64::INFINITY; 3];
    let (mut most, mut tick) = (f64::NEG_INFINITY, 0);
    run.while_below(seconds, |run| {
        let sum: f64 = (0..bodies).map(|body| run.energy_height(body)).sum();
        last[tick % 3] = sum;
        tick += 1;
        most =
            most.max(if tick > 2 { last.into_iter().fold(f64::INFINITY, f64::min) } else { sum });
        *top = (0..bodies).map(|body| run.body(body).position.z).fold(*top, f64::max);
        true
    });
    most
}

/// A body that is dropped in any pose never rises above the height from which it was dropped, and
/// never gains energy, whatever its shape and restitution. The bound allows for rounding, and for
/// the solver, which pushes a lying body up to the gap at which it rests.
pub fn tumbling(random: &mut Random) -> Case {
    let size = if random.one_in(2) {
        log_between(random, 2.0, 16.0)
    } else {
        log_between(random, 0.5, 2000.0)
    };
    let (solid, name) = any_solid(random, size);
    let restitution = restitution(random);
    let fall = random.between(10.0, 200.0).max(0.2 * size);
    let friction = random.between(0.0, 2.0);
    let start = DVec3::Z * (solid.radius() + REST + fall);
    let body = Body::new(solid, start).of(friction, restitution).turned(any_turn(random));
    let half = 6.0 * size + 800.0;
    let scene = Scene::new(random, [half, half], vec![body]);
    let told =
        format!("{name}, restitution {restitution:.3}, friction {friction:.3}, fall {fall:.2}");
    Case::new(told, scene, move |run| {
        let mut top = f64::NEG_INFINITY;
        let most = lasting_energy(run, 5.0, 1, &mut top);
        let bound = GAP + 0.002 * fall;
        vec![
            Reading::at_most("top, units", start.z, bound, top),
            Reading::at_most("energy, units of height", start.z, bound, most),
        ]
    })
}

/// Sums over two bodies of density 1.
struct Totals {
    /// Velocity of the common centre of mass.
    velocity: DVec3,
    /// Angular momentum about the common centre of mass.
    angular_momentum: DVec3,
    /// Kinetic energy relative to the common centre of mass.
    energy: f64,
}

impl Totals {
    fn of(run: &Run) -> Self {
        let masses = [run.mass(0), run.mass(1)];
        let bodies = [run.body(0), run.body(1)];
        let sum = |of: &dyn Fn(usize) -> DVec3| of(0) + of(1);
        let total = masses[0] + masses[1];
        let centre = sum(&|k| bodies[k].position * masses[k]) / total;
        let velocity = sum(&|k| bodies[k].velocity * masses[k]) / total;
        let angular_momentum = sum(&|k| {
            let arm = bodies[k].position - centre;
            let orbit = arm.cross((bodies[k].velocity - velocity) * masses[k]);
            orbit + run.own_angular_momentum(k)
        });
        let flying = |k: usize| (bodies[k].velocity - velocity).length_squared() * masses[k];
        let energy = (0..2).map(|k| run.spin_energy(k) + 0.5 * flying(k)).sum();
        Self { velocity, angular_momentum, energy }
    }
}

/// The greatest spin that a body gets from one impulse that gives its centre of mass this velocity.
/// The spin is linear in the place of the impulse, so it is greatest at a corner.
fn most_spin(solid: &Solid, orientation: DQuat, velocity: DVec3) -> f64 {
    let (impulse, inverse) = (orientation.inverse() * velocity, solid.inertia.inverse());
    let spins = solid.corners.iter().map(|corner| (inverse * corner.cross(impulse)).length());
    spins.fold(0.0, f64::max)
}

/// Two bodies that meet in the air exchange momentum. The sum of their momentum changes by gravity
/// alone. Their angular momentum about their common centre of mass does not change, and their
/// energy relative to it does not grow.
///
/// Deviations are shares of the most that the bodies can exchange. For momentum, the most is the
/// reduced mass of the bodies times the speed at which they meet. For angular momentum, it is that
/// product times the sum of their radii. 1 % is allowed for errors of single precision and of the
/// solver. Angular momentum may also differ by as much as damping takes from the spins.
///
/// The simulation limits spins to 0.98 radians a tick (see the README of `obsp-sim`). If a meeting
/// may give more, as meetings of small bodies at high speed do, its angular momentum is not judged.
/// The spin that is measured in a tick is its mean, and a body may meet the other twice in a tick. So
/// the mean does not tell whether the spin was limited within the tick. Therefore the judge uses
/// the greatest spin that the measured change of the velocity allows.
///
/// The bodies start two ticks apart. The momentum before and after the meeting can only be measured
/// in a tick without an impact, because the spin that is measured in a tick is its mean. So the scene
/// ends with a tick in which gravity alone changes the velocities.
pub fn meeting(random: &mut Random) -> Case {
    let size = log_between(random, 4.0, 200.0);
    let ratio = random.between(0.0, 1000f64.ln()).exp().cbrt();
    let (first, name) = any_solid(random, size);
    let (second, other) = any_solid(random, size * ratio);
    let reach = first.radius() + second.radius();
    // At this speed the bodies have parted before their fall ends.
    let speed = random.between(80f64.max(0.75 * reach), 1500f64.max(1.5 * reach));
    let direction = any_turn(random) * DVec3::X;
    let aside = direction.any_orthonormal_vector() * (reach * random.between(0.0, 0.3));
    let middle = DVec3::Z * (2.0 * reach + 3000.0);
    let spin = |random: &mut Random| any_turn(random) * DVec3::X * random.between(0.0, 3.0);
    let apart = direction * (reach + 1.0) + aside;
    let restitution = restitution(random);
    let friction = random.between(0.0, 2.0);
    let bodies = vec![
        Body::new(first, middle)
            .of(friction, restitution)
            .turned(any_turn(random))
            .moving(DVec3::ZERO, spin(random)),
        Body::new(second, middle + apart)
            .of(friction, restitution)
            .turned(any_turn(random))
            .moving(-direction * speed, spin(random)),
    ];
    let far = 4.0 * reach + 64.0;
    let mut scene = Scene::new(random, [far, far], bodies);
    scene.floor = Floor::None;
    scene.top = middle.z + 2.0 * reach;
    scene.shift.z = scene.shift.z.min(0.0);
    scene.rate = scene.rate.max(60);
    let two_ticks = 2.0 * speed * scene.tick();
    scene.bodies[1].position += direction * two_ticks;
    scene.top += two_ticks;
    scene.half = scene.half.map(|half| half + two_ticks);
    let told = format!("{name} and {other}, restitution {restitution:.3}, {speed:.0} units/s");
    Case::new(told, scene, move |run| {
        run.step();
        let total = run.mass(0) + run.mass(1);
        let exchanged = run.mass(0) * run.mass(1) / total * speed;
        let before = Totals::of(run);
        let from = run.time();
        let tick = run.scene.tick();
        let (mut is_cut, mut most) = (false, 0f64);
        let mut last = [0, 1].map(|k| run.body(k));
        let parting = (1.5 * reach / speed).max(2.0 * tick) + 2.0 * tick;
        run.while_below(parting + 1.0, |run| {
            let taken = [0, 1].map(|k: usize| {
                let (free, now) = (last[k].velocity - DVec3::Z * (GRAVITY * tick), run.body(k));
                let taken = now.velocity - free;
                let turns = [last[k].orientation, now.orientation];
                let gained = turns.map(|turn| most_spin(&run.scene.bodies[k].solid, turn, taken));
                let spin = run.spin_after(k).length() + gained[0].max(gained[1]);
                is_cut |= spin * tick > CUT_TURN;
                last[k] = now;
                taken.length()
            });
            most = most.max((0..2).map(|k| run.own_angular_momentum(k).length()).sum());
            let is_free = taken.iter().all(|taken| *taken < 1e-4 * speed);
            run.time() - from < parting || !is_free
        });
        let seconds = run.time() - from;
        let after = Totals::of(run);
        let fallen = before.velocity - DVec3::Z * (GRAVITY * seconds);
        let momentum = (after.velocity - fallen).length() * total / exchanged;
        let spins = exchanged * reach;
        let damped = most * USUAL_DAMPING * seconds / spins;
        let angular = (after.angular_momentum - before.angular_momentum).length() / spins;
        let energy = (after.energy - before.energy) / (0.5 * exchanged * speed);
        let mut readings = vec![
            Reading::at_most("momentum, share", 0.0, 0.01, momentum),
            Reading::at_most("energy gained, share", 0.0, 0.01, energy),
        ];
        if !is_cut {
            readings.push(Reading::at_most("angular momentum, share", damped, 0.01, angular));
        }
        readings
    })
}
