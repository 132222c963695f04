//! An engine that plays a scene, and what is measured of it in the axes of the scene.

use glam::{DMat3, DQuat, DVec3};

use super::scene::{GRAVITY, Scene};

/// A body after a tick as an engine tells it, in the axes of the world.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Centre of mass.
    pub position: DVec3,
    /// From the axes of the body.
    pub orientation: DQuat,
    /// Units per second.
    pub velocity: DVec3,
    /// Whether it is left out of the simulation.
    pub asleep: bool,
}

/// An engine that plays a scene.
pub trait Engine {
    /// Advances by a tick.
    fn step(&mut self);
    /// A body of the scene, by its index.
    fn told(&self, body: usize) -> Told;
    /// Sets the velocities of a body, in the axes of the world.
    fn set_velocity(&mut self, body: usize, linear: DVec3, angular: DVec3);
    /// A fault that the motions of the bodies do not show.
    fn fault(&self) -> Option<String>;
}

/// Sets an engine up.
pub type Start<'a> = &'a dyn Fn(&Scene) -> Result<Box<dyn Engine>, String>;

/// A body after a tick, in the axes of the scene.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Centre of mass.
    pub position: DVec3,
    /// From the axes of the body.
    pub orientation: DQuat,
    /// Units per second.
    pub velocity: DVec3,
    /// Mean of the tick, in radians per second: by the orientations before and after it, so that
    /// no engine is believed.
    pub spin: DVec3,
    /// The orientation before the tick.
    before: DQuat,
    /// Whether it is left out of the simulation.
    pub asleep: bool,
}

/// A scene that is played.
pub struct Run<'a> {
    start: Start<'a>,
    engine: Box<dyn Engine>,
    /// The scene that is played.
    pub scene: &'a Scene,
    motions: Vec<Motion>,
    ticks: u32,
}

impl<'a> Run<'a> {
    /// Sets a scene up.
    ///
    /// # Errors
    /// The engine's, if it refuses the scene.
    pub fn new(scene: &'a Scene, start: Start<'a>) -> Result<Self, String> {
        let engine = start(scene)?;
        let motion = |(index, _)| {
            let told = engine.told(index);
            motion(scene, &told, told.orientation)
        };
        let motions = scene.bodies.iter().enumerate().map(motion).collect();
        Ok(Self { start, engine, scene, motions, ticks: 0 })
    }

    /// Sets up another scene in the same engine.
    ///
    /// # Errors
    /// The engine's, if it refuses the scene.
    pub fn beside<'b>(&self, scene: &'b Scene) -> Result<Run<'b>, String>
    where
        'a: 'b,
    {
        Run::new(scene, self.start)
    }

    /// Advances by a tick.
    pub fn step(&mut self) {
        self.engine.step();
        self.ticks += 1;
        for (index, known) in self.motions.iter_mut().enumerate() {
            let before = self.scene.rotation() * known.orientation;
            *known = motion(self.scene, &self.engine.told(index), before);
        }
    }

    /// Advances by this many seconds, rounded up to whole ticks.
    pub fn seconds(&mut self, seconds: f64) {
        self.while_below(seconds, |_| true);
    }

    /// Advances for at most this many seconds, as long as `goes_on` says so after a tick.
    /// Returns the seconds that passed.
    pub fn while_below(&mut self, seconds: f64, mut goes_on: impl FnMut(&Self) -> bool) -> f64 {
        let ticks = (seconds / self.scene.tick() - 1e-9).ceil() as u32;
        for tick in 1..=ticks {
            self.step();
            if !goes_on(self) {
                return f64::from(tick) * self.scene.tick();
            }
        }
        f64::from(ticks) * self.scene.tick()
    }

    /// Seconds since the scene was set up.
    pub fn time(&self) -> f64 {
        f64::from(self.ticks) * self.scene.tick()
    }

    /// A body of the scene, by its index.
    pub fn body(&self, index: usize) -> Motion {
        self.motions[index]
    }

    /// Sets the velocities of a body, in the axes of the scene.
    pub fn set_velocity(&mut self, index: usize, linear: DVec3, angular: DVec3) {
        let rotation = self.scene.rotation();
        self.engine.set_velocity(index, rotation * linear, rotation * angular);
    }

    /// A fault that the motions of the bodies do not show.
    pub fn fault(&self) -> Option<String> {
        self.engine.fault()
    }

    /// The mass of a body of density 1.
    pub fn mass(&self, index: usize) -> f64 {
        self.scene.bodies[index].solid.volume
    }

    /// Angular momentum of a body about its centre of mass, for density 1: the one with which a
    /// body that nothing touches comes from the orientation before a tick to the one after it.
    pub fn own_angular_momentum(&self, index: usize) -> DVec3 {
        let motion = &self.motions[index];
        let inertia = self.scene.bodies[index].solid.inertia;
        let turn = [motion.before, motion.orientation];
        free_momentum(inertia, turn, motion.spin, self.scene.tick()) * self.mass(index)
    }

    /// The spin of a body after a tick, in radians per second, by its angular momentum.
    pub fn spin_after(&self, index: usize) -> DVec3 {
        let inertia = self.scene.bodies[index].solid.inertia;
        let momentum = self.own_angular_momentum(index) / self.mass(index);
        free_spin(inertia, self.motions[index].orientation, momentum)
    }

    /// Energy of the spin of a body, for density 1.
    pub fn spin_energy(&self, index: usize) -> f64 {
        0.5 * self.own_angular_momentum(index).dot(self.spin_after(index))
    }

    /// Energy of motion and of height above the floor of a body, over its weight: in units of
    /// height. Of the spin by its mean in the tick: something may touch the body in that.
    pub fn energy_height(&self, index: usize) -> f64 {
        let motion = &self.motions[index];
        let inertia = self.scene.bodies[index].solid.inertia;
        let middle = middle(motion.before, motion.spin, self.scene.tick());
        let turning =
            0.5 * motion.spin.dot(middle * (inertia * (middle.transpose() * motion.spin)));
        let flying = 0.5 * motion.velocity.length_squared();
        motion.position.z + (turning + flying) / GRAVITY
    }
}

fn motion(scene: &Scene, told: &Told, before: DQuat) -> Motion {
    let back = scene.rotation().inverse();
    let mut turn = told.orientation * before.inverse();
    if turn.w < 0.0 {
        turn = -turn;
    }
    let sine = turn.xyz().length();
    let angle = 2.0 * sine.atan2(turn.w);
    let axis = if sine > 0.0 { turn.xyz() / sine } else { DVec3::Z };
    Motion {
        position: scene.to_scene(told.position),
        orientation: (back * told.orientation).normalize(),
        velocity: back * told.velocity,
        spin: back * (axis * (angle / scene.tick())),
        before: (back * before).normalize(),
        asleep: told.asleep,
    }
}

/// The spin of a body of this orientation and angular momentum.
fn free_spin(inertia: DMat3, orientation: DQuat, momentum: DVec3) -> DVec3 {
    let rotation = DMat3::from_quat(orientation);
    rotation * (inertia.inverse() * (rotation.transpose() * momentum))
}

/// The rotation of a body half way through a tick, given its orientation before and its mean spin.
fn middle(before: DQuat, spin: DVec3, seconds: f64) -> DMat3 {
    DMat3::from_quat((DQuat::from_scaled_axis(spin * (0.5 * seconds)) * before).normalize())
}

/// The angular momentum that brings a body that nothing touches from one orientation to another
/// in so many seconds, given its mean spin: by shooting, along Euler's equations.
fn free_momentum(inertia: DMat3, [from, to]: [DQuat; 2], mean: DVec3, seconds: f64) -> DVec3 {
    // A turn this small in radians misses by less than rounding takes away.
    const MISS: f64 = 1e-10;
    let middle = middle(from, mean, seconds);
    let in_middle = |spin: DVec3| middle * (inertia * (middle.transpose() * spin));
    let mut momentum = in_middle(mean);
    for _ in 0..12 {
        let miss = (to * turned_free(inertia, from, momentum, seconds).inverse()).normalize();
        let miss = if miss.w < 0.0 { -miss } else { miss }.to_scaled_axis();
        if miss.length() < MISS {
            break;
        }
        momentum += in_middle(miss / seconds);
    }
    momentum
}

/// The orientation of a body of this angular momentum that nothing touches, so many seconds later:
/// by the rule of the middle, whose error is of the third order, and Richardson's extrapolation.
fn turned_free(inertia: DMat3, from: DQuat, momentum: DVec3, seconds: f64) -> DQuat {
    let by = |steps: u32| {
        let step = seconds / f64::from(steps);
        let mut orientation = from;
        for _ in 0..steps {
            let first = free_spin(inertia, orientation, momentum);
            let middle = DQuat::from_scaled_axis(first * (0.5 * step)) * orientation;
            let spin = free_spin(inertia, middle.normalize(), momentum);
            orientation = (DQuat::from_scaled_axis(spin * step) * orientation).normalize();
        }
        orientation
    };
    let (coarse, fine) = (by(8), by(16));
    let between = (fine * coarse.inverse()).normalize();
    let between = if between.w < 0.0 { -between } else { between }.to_scaled_axis();
    DQuat::from_scaled_axis(between / 3.0) * fine
}
