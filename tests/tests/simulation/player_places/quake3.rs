//! The movement of Quake III, after the public description of its `pmove`. It is an oracle that
//! shares no rule and no line with our movement, except that our map answers its traces. Its player
//! stands, runs and jumps, but neither crouches nor swims.

use glam::{DVec3, Vec3};
use obsp::{Map, SizeId, Trace};

/// The numbers of the original game.
const RUN_SPEED: f64 = 320.0;
const JUMP_SPEED: f64 = 270.0;
const GRAVITY: f64 = 800.0;
const STEP: f64 = 18.0;
const FRICTION: f64 = 6.0;
const STOP_SPEED: f64 = 100.0;
const ACCELERATE: f64 = 10.0;
const AIR_ACCELERATE: f64 = 1.0;
const OVERCLIP: f64 = 1.001;
const MIN_WALK_NORMAL: f64 = 0.7;
const MAX_CLIP_PLANES: usize = 5;

/// A player's input in a frame: a direction on the ground, of length 1 or 0, and whether the jump
/// key is down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) direction: DVec3,
    pub(crate) jump: bool,
}

/// A player of Quake III.
pub(crate) struct Quake3<'a> {
    map: &'a Map,
    size: SizeId,
    pub(crate) origin: DVec3,
    pub(crate) velocity: DVec3,
    /// The surface under the player, steep or not.
    ground: Option<DVec3>,
    walking: bool,
    jump_held: bool,
}

/// The answer to a trace.
struct Traced {
    end: DVec3,
    fraction: f64,
    normal: DVec3,
    all_solid: bool,
}

impl<'a> Quake3<'a> {
    pub(crate) fn new(map: &'a Map, origin: DVec3) -> Self {
        let size = map.size("standing").expect("the map has the size `standing`");
        Self {
            map,
            size,
            origin,
            velocity: DVec3::ZERO,
            ground: None,
            walking: false,
            jump_held: false,
        }
    }

    /// Moves the player for a frame of this length.
    pub(crate) fn frame(&mut self, wish: Wish, seconds: f64) {
        if !wish.jump {
            self.jump_held = false;
        }
        self.find_ground();
        if self.walking {
            self.walk(wish, seconds);
        } else {
            self.fly(wish, seconds);
        }
        self.find_ground();
    }

    fn trace(&self, from: DVec3, to: DVec3) -> Traced {
        let (start, end) = (from.as_vec3(), to.as_vec3());
        let answer = |end: Vec3, fraction: f32, normal: Vec3, all_solid| Traced {
            end: end.as_dvec3(),
            fraction: fraction.into(),
            normal: normal.as_dvec3(),
            all_solid,
        };
        match self.map.find_first_transition(self.size, start, end) {
            Trace::Clear => answer(end, 1.0, Vec3::ZERO, false),
            Trace::Hit(hit) => answer(hit.end, hit.time.min(0.999_999), hit.normal, false),
            Trace::StartSolid => answer(start, 0.0, Vec3::ZERO, true),
        }
    }

    fn find_ground(&mut self) {
        (self.ground, self.walking) = (None, false);
        let mut traced = self.trace(self.origin, self.origin - DVec3::Z * 0.25);
        if traced.all_solid {
            // As in the game, look for a free place, up to a unit away along each axis.
            let Some(free) = self.free_beside() else { return };
            self.origin = free;
            traced = self.trace(self.origin, self.origin - DVec3::Z * 0.25);
        }
        if traced.all_solid || traced.fraction == 1.0 {
            return;
        }
        if self.velocity.z > 0.0 && self.velocity.dot(traced.normal) > 10.0 {
            return;
        }
        self.ground = Some(traced.normal);
        self.walking = traced.normal.z >= MIN_WALK_NORMAL;
    }

    fn free_beside(&self) -> Option<DVec3> {
        let mut places = (0..27).map(|index| {
            let step = |digit: i32| f64::from(index / digit % 3 - 1);
            self.origin + DVec3::new(step(9), step(3), step(1))
        });
        places.find(|place| !self.trace(*place, *place).all_solid)
    }

    /// Whether the player jumps in this frame.
    fn jumps(&mut self, wish: Wish) -> bool {
        if !wish.jump || self.jump_held {
            return false;
        }
        (self.ground, self.walking, self.jump_held) = (None, false, true);
        self.velocity.z = JUMP_SPEED;
        true
    }

    fn rub(&mut self, seconds: f64) {
        let flat = if self.walking { self.velocity.with_z(0.0) } else { self.velocity };
        let speed = flat.length();
        if speed < 1.0 {
            self.velocity = DVec3::new(0.0, 0.0, self.velocity.z);
            return;
        }
        if self.walking {
            let drop = speed.max(STOP_SPEED) * FRICTION * seconds;
            self.velocity *= (speed - drop).max(0.0) / speed;
        }
    }

    fn accelerate(&mut self, direction: DVec3, rate: f64, speed: f64, seconds: f64) {
        let missing = speed - self.velocity.dot(direction);
        if missing > 0.0 {
            self.velocity += direction * (rate * seconds * speed).min(missing);
        }
    }

    fn walk(&mut self, wish: Wish, seconds: f64) {
        if self.jumps(wish) {
            return self.fly(wish, seconds);
        }
        self.rub(seconds);
        let Some(normal) = self.ground else { return };
        let along = clip(wish.direction, normal).normalize_or_zero();
        self.accelerate(along, ACCELERATE, RUN_SPEED * wish.direction.length(), seconds);
        let speed = self.velocity.length();
        self.velocity = clip(self.velocity, normal).normalize_or_zero() * speed;
        if self.velocity.x != 0.0 || self.velocity.y != 0.0 {
            self.step_and_slide(false, seconds);
        }
    }

    fn fly(&mut self, wish: Wish, seconds: f64) {
        self.rub(seconds);
        // As in the game, the jump key takes a share of the wished speed.
        let share = if wish.jump { std::f64::consts::FRAC_1_SQRT_2 } else { 1.0 };
        let speed = RUN_SPEED * share * wish.direction.length();
        self.accelerate(wish.direction, AIR_ACCELERATE, speed, seconds);
        if let Some(normal) = self.ground {
            self.velocity = clip(self.velocity, normal);
        }
        self.step_and_slide(true, seconds);
    }

    fn step_and_slide(&mut self, falls: bool, seconds: f64) {
        let (origin, velocity) = (self.origin, self.velocity);
        if !self.slide(falls, seconds) {
            return;
        }
        let below = self.trace(origin, origin - DVec3::Z * STEP);
        let off_ground = below.fraction == 1.0 || below.normal.z < MIN_WALK_NORMAL;
        if self.velocity.z > 0.0 && off_ground {
            return;
        }
        let above = self.trace(origin, origin + DVec3::Z * STEP);
        if above.all_solid {
            return;
        }
        let risen = above.end.z - origin.z;
        (self.origin, self.velocity) = (above.end, velocity);
        self.slide(falls, seconds);
        let down = self.trace(self.origin, self.origin - DVec3::Z * risen);
        if !down.all_solid {
            self.origin = down.end;
        }
        if down.fraction < 1.0 {
            self.velocity = clip(self.velocity, down.normal);
        }
    }

    /// Moves and slides. Returns whether anything was in the way.
    fn slide(&mut self, falls: bool, seconds: f64) -> bool {
        let mut end_velocity = self.velocity;
        if falls {
            end_velocity.z -= GRAVITY * seconds;
            self.velocity.z = (self.velocity.z + end_velocity.z) * 0.5;
            if let Some(normal) = self.ground {
                self.velocity = clip(self.velocity, normal);
            }
        }
        let mut planes: Vec<DVec3> = self.ground.into_iter().collect();
        planes.push(self.velocity.normalize_or_zero());
        let mut left = seconds;
        for bump in 0..4 {
            let traced = self.trace(self.origin, self.origin + self.velocity * left);
            if traced.all_solid {
                self.velocity.z = 0.0;
                return true;
            }
            if traced.fraction > 0.0 {
                self.origin = traced.end;
            }
            if traced.fraction == 1.0 {
                if falls {
                    self.velocity = end_velocity;
                }
                return bump > 0;
            }
            left -= left * traced.fraction;
            if planes.len() >= MAX_CLIP_PLANES {
                self.velocity = DVec3::ZERO;
                return true;
            }
            if planes.iter().any(|plane| plane.dot(traced.normal) > 0.99) {
                self.velocity += traced.normal;
                continue;
            }
            planes.push(traced.normal);
            let Some(clipped) = along_planes([self.velocity, end_velocity], &planes) else {
                self.velocity = DVec3::ZERO;
                return true;
            };
            [self.velocity, end_velocity] = clipped;
        }
        if falls {
            self.velocity = end_velocity;
        }
        true
    }
}

fn clip(velocity: DVec3, normal: DVec3) -> DVec3 {
    let into = velocity.dot(normal);
    velocity - normal * if into < 0.0 { into * OVERCLIP } else { into / OVERCLIP }
}

/// Both velocities, clipped against the planes that the first one enters. `None` if three planes
/// stop the player.
fn along_planes(velocities: [DVec3; 2], planes: &[DVec3]) -> Option<[DVec3; 2]> {
    let Some(i) = planes.iter().position(|plane| velocities[0].dot(*plane) < 0.1) else {
        return Some(velocities);
    };
    let mut clipped = velocities.map(|velocity| clip(velocity, planes[i]));
    for j in (0..planes.len()).filter(|j| *j != i) {
        if clipped[0].dot(planes[j]) >= 0.1 {
            continue;
        }
        clipped = clipped.map(|velocity| clip(velocity, planes[j]));
        if clipped[0].dot(planes[i]) >= 0.0 {
            continue;
        }
        let crease = planes[i].cross(planes[j]).normalize_or_zero();
        clipped = velocities.map(|velocity| crease * crease.dot(velocity));
        let enters = |k: usize| k != i && k != j && clipped[0].dot(planes[k]) < 0.1;
        if (0..planes.len()).any(enters) {
            return None;
        }
    }
    Some(clipped)
}
