//! Statics: bodies that stand, and bodies that fall.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use ::oracle::Random;
use glam::{DQuat, DVec3};

use super::case::{Case, Reading};
use super::engine::Run;
use super::rolling::any_turn;
use super::scene::{Body, GRAVITY, Scene};
use super::sliding::{GAP, SIDES, log_between};
use super::solid::Solid;

/// A body that sleeps on a flat floor is aslant by no more than this, in degrees.
const FLAT: f64 = 0.05;

/// Gaps are kept to this, in units: a small body may be aslant by as much.
const MARGIN: f64 = 1.0 / 128.0;

/// The tilt of a body that is so wide, in degrees.
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

/// Prisms and boxes on each other stand, sleep, and sleep flat, whatever they have of sides and
/// weight: the centre of mass of all above each lies over its middle half. They come down by the
/// gaps at which they were put, and no farther aside than these are high. Each may add to the tilt
/// of those above.
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
        // Upper ones are no wider.
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

/// A slab on four legs stands, whatever it weighs beside them: up to a thousand times as much. It
/// comes down by the gaps at which it was put.
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
    let told = format!("legs of {side:.2}, slab of {ratio:.1} times their mass");
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

/// A body that falls anyhow comes to lie on a face, flat, and sleeps. A coin that rolls on its rim
/// goes round for long; 20 seconds are more than friction and damping leave it.
pub fn lies_flat(random: &mut Random) -> Case {
    let size = log_between(random, 2.0, 1000.0);
    let sides = SIDES[random.below(SIDES.len())];
    let (solid, name) = match random.below(4) {
        0 => {
            let half =
                DVec3::new(1.0, random.between(0.2, 1.0), random.between(0.1, 1.0)) * size * 0.5;
            (Solid::cuboid(half), format!("box {half:.2}"))
        }
        1 => {
            let frequency = 1 + random.below(2);
            (
                Solid::ball(frequency, 0.5 * size),
                format!("ball of {} faces, {size:.2}", 20 * frequency * frequency),
            )
        }
        _ => {
            let half = 0.5 * size * random.between(0.05, 0.4);
            let solid = Solid::prism(sides, 0.5 * size, half);
            (
                solid,
                format!("coin of {sides} sides, radius {:.2}, half height {half:.2}", 0.5 * size),
            )
        }
    };
    let spin = any_turn(random) * DVec3::X * random.between(0.0, 10.0);
    let place = DVec3::Z * (solid.radius() + random.between(1.0, 50.0));
    let body = Body::new(solid, place).of(random.between(0.3, 2.0), 0.2);
    let body = body.turned(any_turn(random)).moving(DVec3::ZERO, spin);
    let half = 6.0 * size + 600.0;
    let scene = Scene::new(random, [half, half], vec![body]);
    Case::new(name, scene, move |run| {
        run.while_below(20.0, |run| !run.body(0).asleep);
        let (aslant, width) = lowest(run, 0);
        vec![
            Reading::at_most("tilt, degrees", 0.0, flat(width), aslant),
            Reading::at_most("awake", 0.0, 0.5, awake(run)),
        ]
    })
}

/// Two cards that lean on each other at an angle α from the vertical push the floor apart with
/// ½·W·tan α each, while they weigh W on it: they stand if the friction there is at least ½·tan α.
/// The thickness of a card moves its forces by a twentieth of its length: a third on either side
/// of the limit is outside of that.
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
        "cards of length {length:.2}, {:.1}° from the vertical, friction {coefficient:.3} of {limit:.3}",
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

/// A brick stands on another as long as its centre of mass is above that.
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

/// Dominoes: the first is tipped with half more energy than takes it over its edge; each fells
/// the next if that is nearer than it is high, and none if it is farther than it reaches.
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
    // About the lower edge: ½·I·ω² against the rise of the centre of mass.
    let rise = half.truncate().length().hypot(half.z) - half.z;
    let inertia = 4.0 / 3.0 * (half.x * half.x + half.z * half.z);
    let spin = (1.5 * 2.0 * GRAVITY * rise / inertia).sqrt();
    Case::new(told, scene, move |run| {
        run.seconds(0.5);
        // It turns about its lower edge.
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

/// A half circle of wedges stands by its own weight if its thickness is at least 0.1075 of its
/// middle radius (Milankovitch 1907), and no thinner one does. Its joints have gaps when it is
/// built: it sinks by as much as these make it, which for 2φ = π is below half of their sum.
pub fn arch(random: &mut Random) -> Case {
    let radius = log_between(random, 150.0, 500.0);
    let count = 7 + 2 * random.below(3);
    let stands = random.below(3) > 0;
    let thickness = radius * if stands { 0.25 } else { 0.05 };
    let angle = PI / count as f64;
    // Less at each joint: half of the gap.
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
        // The middle of mass lies on the axis of the wedge: by its height there.
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

/// A drum on two that lie side by side. The upper one presses on each at 30° from the vertical: the
/// lower ones stay if friction between them is at least tan 15° = 0.268, and on the floor a third
/// of that. Drums of few sides do not roll, but slide: then the friction of the floor on three
/// halves of a drum's weight has to be less than 0.289 of that, which 0.01 is between drums.
pub fn logs(random: &mut Random) -> Case {
    let radius = log_between(random, 5.0, 400.0);
    let sides = [24, 32, 48, 64, 128][random.below(5)];
    let stands = random.one_in(2);
    // Between drums alike it is their own; on the floor the geometric mean with that.
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
            // A corner may sink to the middle of a side.
            let settles = 3.0 * (radius - inner) + 4.0 * GAP;
            Reading::at_most("sunk, units", 0.0, settles, sunk)
        } else {
            Reading::between("sunk, units", [radius, f64::INFINITY], 0.1 * radius, sunk)
        }]
    })
}
