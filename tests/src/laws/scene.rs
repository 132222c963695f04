//! A scene that two engines can play: a floor of brushes with bodies on it, at some place in the
//! world.

use std::fmt::Write;

use ::oracle::Random;
use glam::{DQuat, DVec3};

use super::solid::Solid;

/// Downward acceleration of a match, in units per second squared.
pub const GRAVITY: f64 = 800.0;

/// Coefficient of friction of the world, which no map can change.
pub const FLOOR_FRICTION: f64 = 0.6;

/// Coefficient of restitution of the world. A contact has the greater coefficient of the two, so
/// the coefficient of a body counts only if it is above this one.
pub const FLOOR_RESTITUTION: f64 = 0.2;

/// Default rate at which the spin of a body decays, in 1/s.
pub const USUAL_DAMPING: f64 = 0.4;

/// The cause of a body's motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// Gravity and contacts move the body.
    Dynamic,
    /// Only its own velocity moves the body.
    Kinematic,
}

/// A body before the first tick, in the axes of its scene.
#[derive(Clone, Debug)]
pub struct Body {
    /// Shape of the body.
    pub solid: Solid,
    /// Coefficient of friction.
    pub friction: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Rate at which spin decays, in 1/s.
    pub damping: f64,
    /// The cause of the body's motion.
    pub drive: Drive,
    /// Position of the body's centre of mass.
    pub position: DVec3,
    /// Rotation from the body's axes to those of the scene.
    pub orientation: DQuat,
    /// Velocity of the body's centre of mass, in units per second.
    pub velocity: DVec3,
    /// Spin of the body, in radians per second.
    pub spin: DVec3,
}

impl Body {
    /// A body at rest, of the default material.
    pub fn new(solid: Solid, position: DVec3) -> Self {
        Self {
            solid,
            friction: 0.6,
            restitution: 0.2,
            damping: USUAL_DAMPING,
            drive: Drive::Dynamic,
            position,
            orientation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        }
    }

    /// The body with these coefficients of friction and restitution.
    #[must_use]
    pub fn of(self, friction: f64, restitution: f64) -> Self {
        Self { friction, restitution, ..self }
    }

    /// The body with this orientation.
    #[must_use]
    pub fn turned(self, orientation: DQuat) -> Self {
        Self { orientation, ..self }
    }

    /// The body with this velocity and spin.
    #[must_use]
    pub fn moving(self, velocity: DVec3, spin: DVec3) -> Self {
        Self { velocity, spin, ..self }
    }

    /// The body as a kinematic one, which only its own velocity moves.
    #[must_use]
    pub fn driven(self) -> Self {
        Self { drive: Drive::Kinematic, ..self }
    }

    /// The coefficient of friction with the floor: the geometric mean of the body's and the
    /// floor's.
    pub fn friction_on_floor(&self) -> f64 {
        (self.friction * FLOOR_FRICTION).sqrt()
    }
}

/// The brushes of a floor at height zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Floor {
    /// No floor.
    None,
    /// One brush.
    One,
    /// Strips across the x axis, this many units wide.
    Strips(f64),
    /// Triangles of random sizes, from this seed.
    Triangles(u64),
    /// One brush that falls along the x axis by this angle, in radians.
    Slope(f64),
}

/// Bodies on a floor, the place of the scene in the world, and the rate of ticks.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Ticks per second.
    pub rate: u32,
    /// Threads of the simulation.
    pub threads: u16,
    /// Rotation of the whole scene about the vertical, in radians.
    pub turn: f64,
    /// Displacement of the whole scene, in units.
    pub shift: DVec3,
    /// The floor of the scene.
    pub floor: Floor,
    /// Half the length and width of the floor.
    pub half: [f64; 2],
    /// The greatest height that a body reaches. The world extends to it.
    pub top: f64,
    /// The bodies, some of which may be kinematic.
    pub bodies: Vec<Body>,
}

/// Rates at which scenes are played, in ticks per second. One is drawn at random, and 60 Hz most
/// often.
pub const RATES: [u32; 6] = [20, 30, 60, 60, 120, 240];

impl Scene {
    /// A scene of these bodies on a floor with this half length and half width. Kind of floor,
    /// rate, threads, rotation and displacement are random.
    pub fn new(random: &mut Random, half: [f64; 2], bodies: Vec<Body>) -> Self {
        let floor = match random.below(5) {
            0 | 1 => Floor::One,
            2 => Floor::Strips(16.0),
            3 => Floor::Strips(64.0),
            _ => Floor::Triangles(random.bits() >> 32),
        };
        let turn = match random.below(4) {
            0 | 1 => 0.0,
            2 => std::f64::consts::FRAC_PI_2,
            _ => random.between(0.0, std::f64::consts::TAU),
        };
        let tops = bodies.iter().map(|body| body.position.z + body.solid.radius());
        let top = tops.fold(0.0, f64::max);
        let mut scene = Self {
            rate: RATES[random.below(RATES.len())],
            threads: 1 + random.below(2) as u16,
            turn,
            shift: DVec3::ZERO,
            floor,
            half,
            top,
            bodies,
        };
        if random.one_in(2) {
            scene.move_far(random);
        }
        scene
    }

    /// Moves the scene by up to 30,000 units along each axis, but not out of the world.
    fn move_far(&mut self, random: &mut Random) {
        let reach = 32_000.0 - self.half[0].hypot(self.half[1]) - 512.0;
        let most = reach.clamp(0.0, 30_000.0);
        let mut along = || (random.between(-most, most)).round();
        self.shift = DVec3::new(along(), along(), 0.0);
        if random.one_in(2) {
            self.shift.z = -random.between(0.0, 30_000.0).round();
        }
    }

    /// Duration of a tick in seconds.
    pub fn tick(&self) -> f64 {
        1.0 / f64::from(self.rate)
    }

    /// Rotation from the axes of the scene to those of the world.
    pub fn rotation(&self) -> DQuat {
        DQuat::from_rotation_z(self.turn)
    }

    /// The position in the world of a point of the scene.
    pub fn to_world(&self, point: DVec3) -> DVec3 {
        self.rotation() * point + self.shift
    }

    /// The position in the scene of a point of the world.
    pub fn to_scene(&self, point: DVec3) -> DVec3 {
        self.rotation().inverse() * (point - self.shift)
    }

    /// The brushes of the floor and of two platforms, as faces of three points each, in the axes of
    /// the scene. One platform is for the spawn point, the other makes the world extend to `top`.
    pub fn brushes(&self) -> Vec<Vec<[DVec3; 3]>> {
        let [x, y] = self.half;
        let depth = 64f64.max(0.1 * x);
        let mut brushes = match self.floor {
            Floor::None => Vec::new(),
            Floor::One => vec![block([-x, -y], [x, y], depth)],
            Floor::Strips(width) => {
                // The narrow strips are in the middle, where the bodies move, between two wide
                // ones.
                let count = (2.0 * x / width).min(240.0).floor();
                let edge = (0.5 * count * width).floor();
                let mut strips: Vec<_> = (0..count as usize)
                    .map(|i| {
                        let from = -edge + width * i as f64;
                        block([from, -y], [from + width, y], depth)
                    })
                    .collect();
                if edge < x {
                    strips.push(block([-x, -y], [-edge, y], depth));
                    strips.push(block([-edge + width * count, -y], [x, y], depth));
                }
                strips
            }
            Floor::Triangles(seed) => triangles(&mut Random::new(seed), [x, y], depth),
            Floor::Slope(angle) => {
                let turn = DQuat::from_rotation_y(angle);
                vec![
                    block([-x, -y], [x, y], depth)
                        .into_iter()
                        .map(|face| face.map(|point| turn * point))
                        .collect(),
                ]
            }
        };
        let mut platform = block([-x - 400.0, -64.0], [-x - 272.0, 64.0], 64.0);
        brushes.push(platform.clone());
        if self.top > 0.0 {
            let far = DVec3::new(2.0 * x + 672.0, 0.0, self.top.ceil());
            platform.iter_mut().flatten().for_each(|point| *point += far);
            brushes.push(platform);
        }
        brushes
    }

    /// The text of the map.
    pub fn map_text(&self) -> String {
        let mut text = String::from("{\n\"classname\" \"worldspawn\"\n");
        for brush in self.brushes() {
            text += "{\n";
            for [a, b, c] in brush {
                // In the text of a map, a plane's points run clockwise as seen from outside.
                for point in [a, c, b].map(|point| self.to_world(point)) {
                    let _ = write!(text, "( {:.9} {:.9} {:.9} ) ", point.x, point.y, point.z);
                }
                text += "plain 0 0 0 1 1\n";
            }
            text += "}\n";
        }
        let spawn = self.to_world(DVec3::new(-self.half[0] - 336.0, 0.0, 24.0));
        let _ = write!(
            text,
            "}}\n{{\n\"classname\" \"info_player_start\"\n\"origin\" \"{} {} {}\"\n}}\n",
            spawn.x, spawn.y, spawn.z
        );
        text
    }
}

/// The faces of a block below height zero, three points each, counter-clockwise as seen from
/// outside.
fn block(min: [f64; 2], max: [f64; 2], depth: f64) -> Vec<[DVec3; 3]> {
    let ring = [[min[0], min[1]], [max[0], min[1]], [max[0], max[1]], [min[0], max[1]]];
    pillar(&ring, depth)
}

/// The faces of a prism below height zero. Its upper side is the convex polygon `ring`, whose
/// points run counter-clockwise.
fn pillar(ring: &[[f64; 2]], depth: f64) -> Vec<[DVec3; 3]> {
    let at = |i: usize, z: f64| DVec3::new(ring[i % ring.len()][0], ring[i % ring.len()][1], z);
    let mut faces =
        vec![[at(0, 0.0), at(1, 0.0), at(2, 0.0)], [at(2, -depth), at(1, -depth), at(0, -depth)]];
    faces.extend((0..ring.len()).map(|i| [at(i, 0.0), at(i, -depth), at(i + 1, -depth)]));
    faces
}

/// Brushes over a grid whose inner corners are moved at random, and each of whose cells is cut
/// along a diagonal.
fn triangles(random: &mut Random, half: [f64; 2], depth: f64) -> Vec<Vec<[DVec3; 3]>> {
    let counts = half.map(|half| ((2.0 * half / 48.0) as usize).clamp(2, 14));
    let step = [0, 1].map(|k| 2.0 * half[k] / counts[k] as f64);
    let mut points = vec![vec![[0.0; 2]; counts[1] + 1]; counts[0] + 1];
    for (i, column) in points.iter_mut().enumerate() {
        for (j, point) in column.iter_mut().enumerate() {
            for (k, at) in [i, j].into_iter().enumerate() {
                let is_inner = at > 0 && at < counts[k];
                let aside = if is_inner { random.between(-0.3, 0.3) } else { 0.0 };
                // Eighths of a unit are exact in the map.
                point[k] = ((-half[k] + step[k] * (at as f64 + aside)) * 8.0).round() / 8.0;
            }
        }
    }
    let mut brushes = Vec::new();
    for i in 0..counts[0] {
        for j in 0..counts[1] {
            let [a, b] = [points[i][j], points[i + 1][j]];
            let [c, d] = [points[i + 1][j + 1], points[i][j + 1]];
            let cuts =
                if random.one_in(2) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
            brushes.extend(cuts.map(|cut| pillar(&cut, depth)));
        }
    }
    brushes
}
