//! Statics: bodies that stand, and bodies that fall.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use ::oracle::Random;
use glam::{DQuat, DVec3};

use super::case::{Case, Reading};
use super::engine::Run;
use super::rolling::any_turn;
use super::scene::{Body, GRAVITY, Scene, USUAL_DAMPING};
use super::sliding::{GAP, SIDES, log_between};
use super::solid::Solid;

/// A body that sleeps on a flat floor is tilted by no more than this, in degrees.
const FLAT: f64 = 0.05;

/// Error of the gaps at which bodies rest, in units. It may tilt a small body.
const MARGIN: f64 = 1.0 / 128.0;

/// The greatest tilt of a body of this width at rest, in degrees.
fn flat(width: f64) -> f64 {
    FLAT.max((MARGIN / width).atan().to_degrees())
}

/// The angle between a body's lowest face and the floor, in degrees, and the width of that face.
fn lowest(run: &Run, index: usize) -> (f64, f64) {
    let solid = &run.scene.bodies[index].solid;
    let turn = run.body(index).orientation;
    let faces = solid.faces.iter().map(|face| {
        let corners = || face.iter().map(|&corner| solid.corners[corner]);
        let [a, b, c] = [0, 1, 2].map(|k| solid.corners[face[k]]);
        let normal = (b - a).cross(c - a).normalize();
        let down = turn * normal;
        let aslant = down.truncate().length().atan2(-down.z).to_degrees();
        let middle = corners().sum::<DVec3>() / face.len() as f64;
        let sides = corners().zip(corners().cycle().skip(1));
        let inner = sides.map(|(a, b)| (b - a).normalize().cross(middle - a).length());
        (aslant, 2.0 * inner.fold(f64::INFINITY, f64::min))
    });
    faces.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, 1.0))
}

fn tilt(run: &Run, index: usize) -> f64 {
    lowest(run, index).0
}

/// The distance of the nearest face from the centre of mass.
fn inner(solid: &Solid) -> f64 {
    let faces = solid.faces.iter().map(|face| {
        let [a, b, c] = [0, 1, 2].map(|k| solid.corners[face[k]]);
        (b - a).cross(c - a).normalize().dot(a)
    });
    faces.fold(f64::INFINITY, f64::min)
}

fn awake(run: &Run) -> f64 {
    (0..run.scene.bodies.len()).filter(|&body| !run.body(body).asleep).count() as f64
}

fn farthest(run: &Run, from: &[DVec3]) -> f64 {
    let moved = from.iter().enumerate().map(|(k, at)| (run.body(k).position - *at).length());
    moved.fold(0.0, f64::max)
}

fn positions(run: &Run) -> Vec<DVec3> {
    (0..run.scene.bodies.len()).map(|body| run.body(body).position).collect()
}

/// A stack of prisms stands, and its bodies sleep flat, whatever their numbers of sides and their
/// weights. This holds because the common centre of mass of all bodies above a prism lies over the
/// middle half of that prism. The bodies sink by the gaps at which they were put, and move aside by
/// hardly more. Each body may add to the tilt of the bodies above.
pub fn stack(random: &mut Random) -> Case {
    let size = log_between(random, 2.0, 500.0);
    let count = 2 + random.below(6);
    let mut bodies = Vec::new();
    let (mut z, mut names, mut radius) = (0.0, Vec::new(), size);
    for _ in 0..count {
        let sides = SIDES[random.below(SIDES.len())].max(4);
        let half = size * [0.05, 0.5, 1.0][random.below(3)];
        let solid = Solid::prism(sides, radius, half);
        let aside = 0.05 * radius;
        let mut off = || random.between(-aside, aside);
        let place = DVec3::new(off(), off(), z + half + GAP);
        let turn = DQuat::from_rotation_z(random.between(0.0, TAU));
        bodies.push(Body::new(solid, place).turned(turn));
        z += 2.0 * half + GAP;
        names.push(format!("{sides}x{:.2}", 2.0 * half));
        // The next prism is no wider than this one.
        radius *= random.between(0.9, 1.0);
    }
    let half = 2.0 * z + 4.0 * size + 64.0;
    let scene = Scene::new(random, [half, half], bodies);
    let told = format!("radius {size:.2}, sides and heights {}", names.join(" "));
    Case::new(told, scene, move |run| {
        let before = positions(run);
        run.seconds(6.0);
        let tilted = (0..count).map(|level| tilt(run, level) / (level + 1) as f64);
        let tilted = tilted.fold(0.0, f64::max);
        vec![
            Reading::at_most(
                "moved, units",
                0.0,
                GAP * count as f64 + 0.01 * size,
                farthest(run, &before),
            ),
            Reading::at_most("tilt a level, degrees", 0.0, flat(0.8 * size), tilted),
            Reading::at_most("awake", 0.0, 0.5, awake(run)),
        ]
    })
}

/// A slab on four legs stands and sleeps, even if it weighs a thousand times as much as a leg. It
/// sinks by the gaps at which it was put.
pub fn legs(random: &mut Random) -> Case {
    let side = log_between(random, 4.0, 100.0);
    let ratio = log_between(random, 1.0, 1000.0);
    let reach = side * random.between(3.0, 5.0);
    let half = 0.5 * ratio * side.powi(3) / (4.0 * reach * reach);
    let leg = |x: f64, y: f64| {
        let place = DVec3::new(x, y, 0.5 * side + GAP);
        Body::new(Solid::cuboid(DVec3::splat(0.5 * side)), place)
    };
    let at = reach - 0.75 * side;
    let mut bodies = vec![leg(at, at), leg(-at, at), leg(-at, -at), leg(at, -at)];
    let place = DVec3::Z * (side + half + 2.0 * GAP);
    bodies.push(Body::new(Solid::cuboid(DVec3::new(reach, reach, half)), place));
    let scene = Scene::new(random, [3.0 * reach + 64.0, 3.0 * reach + 64.0], bodies);
    let told = format!("legs of {side:.2}, slab of {ratio:.1} times a leg's mass");
    Case::new(told, scene, move |run| {
        let before = positions(run);
        run.seconds(6.0);
        let tilted = (0..5).map(|body| tilt(run, body)).fold(0.0, f64::max);
        vec![
            Reading::at_most("moved, units", 0.0, 2.0 * GAP + 0.01 * side, farthest(run, &before)),
            Reading::at_most("tilt, degrees", 0.0, flat(side), tilted),
            Reading::at_most("awake", 0.0, 0.5, awake(run)),
        ]
    })
}

/// A body that falls in any pose comes to lie flat on a face, and sleeps. A coin may roll round on
/// its rim for long, but friction and damping end this within 20 seconds.
///
/// A coin that rolls upright loses only a third of its spin to damping, because a rolling disc of
/// radius R has a third of its energy ¾·m·R²·ω² in its spin. So damping of the rate c lets it roll
/// for 3/c·ln(ω/ω'), where ω' is the spin at which it does not get over a corner of its n sides:
/// ¾·R²·ω'² = g·R·(1 − cos π/n). At first, ¾·R²·ω² is at most the energy of the fall and the spin.
///
/// A rolling ball has two sevenths of its energy in its spin, so it rolls for 7/2c·ln(ω/ω'), until
/// its energy does not lift it from a face onto a corner.
pub fn lies_flat(random: &mut Random) -> Case {
    let size = log_between(random, 2.0, 1000.0);
    let sides = SIDES[random.below(SIDES.len())];
    let mut rolls = None;
    let (solid, name) = match random.below(4) {
        0 => {
            let half =
                DVec3::new(1.0, random.between(0.2, 1.0), random.between(0.1, 1.0)) * size * 0.5;
            (Solid::cuboid(half), format!("box {half:.2}"))
        }
        1 => {
            let frequency = 1 + random.below(2);
            let solid = Solid::ball(frequency, 0.5 * size);
            rolls = Some((3.5, GRAVITY * (0.5 * size - inner(&solid))));
            (solid, format!("ball of {} faces, {size:.2}", 20 * frequency * frequency))
        }
        _ => {
            let half = 0.5 * size * random.between(0.05, 0.4);
            let solid = Solid::prism(sides, 0.5 * size, half);
            rolls = Some((3.0, GRAVITY * 0.5 * size * (1.0 - (PI / sides as f64).cos())));
            (
                solid,
                format!("coin of {sides} sides, radius {:.2}, half height {half:.2}", 0.5 * size),
            )
        }
    };
    let spin = any_turn(random) * DVec3::X * random.between(0.0, 10.0);
    let place = DVec3::Z * (solid.radius() + random.between(1.0, 50.0));
    let energy = GRAVITY * place.z
        + 0.5 * spin.length_squared() * solid.inertia.x_axis.x.max(solid.inertia.z_axis.z);
    let rolls = rolls
        .map_or(0.0, |(share, least)| 0.5 * (energy / least).ln().max(0.0) * share / USUAL_DAMPING);
    let body = Body::new(solid, place).of(random.between(0.3, 2.0), 0.2);
    let body = body.turned(any_turn(random)).moving(DVec3::ZERO, spin);
    let half = 6.0 * size + 600.0;
    let scene = Scene::new(random, [half, half], vec![body]);
    Case::new(name, scene, move |run| {
        run.while_below(20.0 + rolls, |run| !run.body(0).asleep);
        let (aslant, width) = lowest(run, 0);
        vec![
            Reading::at_most("tilt, degrees", 0.0, flat(width), aslant),
            Reading::at_most("awake", 0.0, 0.5, awake(run)),
        ]
    })
}

/// Two cards lean on each other at an angle α from the vertical. Each presses on the floor with its
/// weight W and pushes outward with ½·W·tan α. So they stand if the coefficient of friction is at
/// least ½·tan α. The thickness of the cards, a twenty-fifth of their length, changes this limit a
/// little, so the scenes have 1.5 or 0.6 times this coefficient.
pub fn cards(random: &mut Random) -> Case {
    let length = log_between(random, 20.0, 500.0);
    let half = DVec3::new(0.02 * length, 0.4 * length, 0.5 * length);
    let angle = random.between(15f64, 40.0).to_radians();
    let limit = 0.5 * angle.tan();
    let stands = random.one_in(2);
    let coefficient: f64 = limit * if stands { 1.5 } else { 0.6 };
    let friction = coefficient * coefficient / 0.6;
    let card = |side: f64| {
        let solid = Solid::cuboid(half);
        let turn = DQuat::from_rotation_y(-side * angle);
        let corners = || solid.corners.iter().map(|&corner| turn * corner);
        let low = corners().map(|corner| corner.z).fold(f64::INFINITY, f64::min);
        let inner = corners().map(|corner| -side * corner.x).fold(f64::NEG_INFINITY, f64::max);
        let place = DVec3::new(side * (inner + 0.5 * GAP), 0.0, GAP - low);
        Body::new(solid, place).of(friction, 0.0).turned(turn)
    };
    let scene = Scene::new(random, [3.0 * length, 3.0 * length], vec![card(1.0), card(-1.0)]);
    let told = format!(
        "cards of length {length:.2}, {:.1}° from the vertical, friction {coefficient:.3}, at least {limit:.3} needed",
        angle.to_degrees()
    );
    Case::new(told, scene, move |run| {
        let before = positions(run);
        run.seconds(4.0);
        let sunk = (0..2).map(|k| before[k].z - run.body(k).position.z).fold(0.0, f64::max);
        vec![if stands {
            Reading::at_most("sunk, units", 0.0, 0.02 * length + 4.0 * GAP, sunk)
        } else {
            let least = 0.5 * length * angle.cos() - 0.2 * length;
            Reading::between("sunk, units", [least, f64::INFINITY], 0.02 * length, sunk)
        }]
    })
}

/// A brick stands on another one as long as its centre of mass is above the lower brick.
pub fn overhang(random: &mut Random) -> Case {
    let length = log_between(random, 10.0, 1000.0);
    let half = DVec3::new(0.5 * length, 0.3 * length, 0.1 * length);
    let stands = random.one_in(2);
    let out = 0.5 * length * if stands { 0.9 } else { 1.1 };
    let below =
        Body::new(Solid::cuboid(half * DVec3::new(1.0, 1.0, 3.0)), DVec3::Z * (0.3 * length + GAP));
    let above = DVec3::new(out, 0.0, 0.7 * length + 2.0 * GAP);
    let scene = Scene::new(
        random,
        [4.0 * length, 4.0 * length],
        vec![below, Body::new(Solid::cuboid(half), above)],
    );
    let told = format!("length {length:.2}, {:.2} of it outside", out / length);
    Case::new(told, scene, move |run| {
        run.seconds(4.0);
        let sunk = above.z - run.body(1).position.z;
        vec![if stands {
            Reading::at_most("sunk, units", 0.0, 2.0 * GAP, sunk)
        } else {
            Reading::between("sunk, units", [0.1 * length, f64::INFINITY], 2.0 * GAP, sunk)
        }]
    })
}

/// A row of dominoes, the first of which is tipped with one and a half times the energy that takes
/// it over its edge. A falling domino fells the next one if their distance is less than its height.
/// If the distance is greater than its reach, only the first one falls.
pub fn dominoes(random: &mut Random) -> Case {
    let height = log_between(random, 5.0, 200.0);
    let half = DVec3::new(0.06, 0.25, 0.5) * height;
    let near = random.below(3) > 0;
    let pitch = height * if near { random.between(0.35, 0.65) } else { 1.6 };
    let count = 5 + random.below(10);
    let domino = |k: usize| {
        let x = pitch * (k as f64 - 0.5 * count as f64);
        Body::new(Solid::cuboid(half), DVec3::new(x, 0.0, half.z + GAP)).of(0.6, 0.0)
    };
    let bodies: Vec<Body> = (0..count).map(domino).collect();
    let reach = pitch * count as f64 + 3.0 * height;
    let scene = Scene::new(random, [reach, 2.0 * height], bodies);
    let told = format!("{count} of height {height:.2}, {:.2} of it apart", pitch / height);
    // The spin about the lower edge has the energy ½·I·ω². It is compared with the energy that
    // raises the centre of mass over the edge.
    let rise = half.truncate().length().hypot(half.z) - half.z;
    let inertia = 4.0 / 3.0 * (half.x * half.x + half.z * half.z);
    let spin = (1.5 * 2.0 * GRAVITY * rise / inertia).sqrt();
    Case::new(told, scene, move |run| {
        run.seconds(0.5);
        // The first domino turns about its lower edge.
        let arm = DVec3::new(-half.x, 0.0, half.z);
        let angular = DVec3::Y * spin;
        run.set_velocity(0, angular.cross(arm), angular);
        let time = (height / GRAVITY).sqrt();
        run.seconds(time * (6.0 + 2.0 * count as f64) + 1.0);
        let fallen = |&k: &usize| (run.body(k).orientation * DVec3::Z).z < 0.9;
        let fallen = (0..count).filter(fallen).count() as f64;
        let law = if near { count as f64 } else { 1.0 };
        vec![Reading::equal("fallen", law, 0.5, fallen)]
    })
}

/// A semicircular arch of wedges stands by its own weight if its thickness is at least 0.1075 of
/// its middle radius, and no thinner one does (Milankovitch 1907). Its joints have gaps when it is
/// built. The arch sinks until they are closed, by less than half of their sum.
pub fn arch(random: &mut Random) -> Case {
    let radius = log_between(random, 150.0, 500.0);
    let count = 7 + 2 * random.below(3);
    let stands = random.below(3) > 0;
    let thickness = radius * if stands { 0.25 } else { 0.05 };
    let angle = PI / count as f64;
    // Each wedge is shortened by this at either end: half of the gap of a joint.
    let gap = 0.05;
    let wedge = |k: usize| {
        let middle = angle * (k as f64 + 0.5);
        let corner = |r: f64, side: f64| {
            let (sine, cosine) = (side * 0.5 * angle).sin_cos();
            [r * sine - side * gap, r * cosine]
        };
        let [inner, outer] = [radius - 0.5 * thickness, radius + 0.5 * thickness];
        let ring =
            [corner(inner, 1.0), corner(outer, 1.0), corner(outer, -1.0), corner(inner, -1.0)];
        let solid = Solid::extruded(&ring, &[&[0, 1, 2, 3]], 0.5 * thickness.max(0.1 * radius));
        // The centre of mass lies on the wedge's middle line, at this distance from the centre of
        // the arch.
        let low = ring[0][1] - solid.corners.iter().map(|c| c.y).fold(f64::INFINITY, f64::min);
        let upright = DQuat::from_rotation_x(FRAC_PI_2);
        let turn = DQuat::from_rotation_y(middle - FRAC_PI_2);
        let place = turn * (DVec3::Z * low) + DVec3::Z * (gap + 0.1);
        Body::new(solid, place).of(2.0, 0.0).turned(turn * upright)
    };
    let bodies: Vec<Body> = (0..count).map(wedge).collect();
    let scene = Scene::new(random, [3.0 * radius, 2.0 * radius], bodies);
    let told =
        format!("{count} stones, radius {radius:.1}, thickness {:.2} of it", thickness / radius);
    Case::new(told, scene, move |run| {
        let top = count / 2;
        let before = run.body(top).position.z;
        run.seconds(5.0);
        let sunk = before - run.body(top).position.z;
        vec![if stands {
            Reading::at_most("sunk, units", 0.0, 0.15 * count as f64, sunk)
        } else {
            Reading::between("sunk, units", [0.3 * radius, f64::INFINITY], 0.05 * radius, sunk)
        }]
    })
}

/// A drum lies on two others that lie side by side, and presses on each at 30° from the vertical.
/// The lower ones stay if the coefficient of friction between drums is at least tan 15° = 0.268,
/// and that on the floor at least a third of this. Drums of few sides slide instead of rolling.
/// They do so if the friction of the floor under one and a half times a drum's weight is less than
/// 0.289 times a drum's weight, as it is with a coefficient of 0.01 or less between drums.
pub fn logs(random: &mut Random) -> Case {
    let radius = log_between(random, 5.0, 400.0);
    let sides = [24, 32, 48, 64, 128][random.below(5)];
    let stands = random.one_in(2);
    // This is the coefficient between two drums. On the floor, the coefficient is the geometric
    // mean of this one and the floor's.
    let friction: f64 = if stands { random.between(0.4, 2.0) } else { random.between(0.0, 0.01) };
    let inner = radius * (PI / sides as f64).cos();
    let turn =
        DQuat::from_rotation_x(FRAC_PI_2) * DQuat::from_rotation_z(PI / sides as f64 - FRAC_PI_2);
    let solid = Solid::prism(sides, radius, 1.5 * radius);
    let out = radius + 0.5 * GAP;
    let drum = |x: f64, z: f64| {
        Body::new(solid.clone(), DVec3::new(x, 0.0, z)).of(friction, 0.0).turned(turn)
    };
    let low = inner + GAP;
    let high = low + ((2.0 * radius + GAP).powi(2) - out * out).sqrt();
    let bodies = vec![drum(-out, low), drum(out, low), drum(0.0, high)];
    let scene = Scene::new(random, [20.0 * radius, 6.0 * radius], bodies);
    let told = format!("{sides} sides, radius {radius:.2}, friction {friction:.3}");
    Case::new(told, scene, move |run| {
        run.seconds(5.0);
        let sunk = high - run.body(2).position.z;
        vec![if stands {
            // A drum may sink from standing on a corner to lying on a side.
            let settles = 3.0 * (radius - inner) + 4.0 * GAP;
            Reading::at_most("sunk, units", 0.0, settles, sunk)
        } else {
            Reading::between("sunk, units", [radius, f64::INFINITY], 0.1 * radius, sunk)
        }]
    })
}
