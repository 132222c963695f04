//! An engine that plays a scene, and the measurements of its bodies in the axes of the scene.

use glam::{DMat3, DQuat, DVec3};

use super::scene::{GRAVITY, Scene};

/// The state of a body after a tick as an engine reports it, in the axes of the world.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Position of the centre of mass.
    pub position: DVec3,
    /// Rotation from the axes of the body to those of the world.
    pub orientation: DQuat,
    /// Velocity of the centre of mass, in units per second.
    pub velocity: DVec3,
    /// Whether the body sleeps, so that the engine does not move it.
    pub asleep: bool,
}

/// An engine that plays a scene.
pub trait Engine {
    /// Plays a tick.
    fn step(&mut self);
    /// The state of the scene's body with this index.
    fn told(&self, body: usize) -> Told;
    /// Sets the velocities of a body, in the axes of the world.
    fn set_velocity(&mut self, body: usize, linear: DVec3, angular: DVec3);
    /// A fault that the bodies' motion does not show, such as a refused velocity.
    fn fault(&self) -> Option<String>;
}

/// Sets an engine up.
pub type Start<'a> = &'a dyn Fn(&Scene) -> Result<Box<dyn Engine>, String>;

/// The motion of a body in a tick, in the axes of the scene.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Position of the centre of mass.
    pub position: DVec3,
    /// Rotation from the axes of the body to those of the scene.
    pub orientation: DQuat,
    /// Velocity of the centre of mass, in units per second.
    pub velocity: DVec3,
    /// Mean spin of the tick, in radians per second. It is computed from the orientations before
    /// and after the tick, because an engine's own figure may be wrong.
    pub spin: DVec3,
    /// The orientation before the tick.
    before: DQuat,
    /// Whether the body sleeps, so that the engine does not move it.
    pub asleep: bool,
}

/// A scene that an engine plays.
pub struct Run<'a> {
    start: Start<'a>,
    engine: Box<dyn Engine>,
    /// The scene that is played.
    pub scene: &'a Scene,
    motions: Vec<Motion>,
    ticks: u32,
}

impl<'a> Run<'a> {
    /// Sets a scene up in an engine.
    ///
    /// # Errors
    /// The engine's message, if it refuses the scene.
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
    /// The engine's message, if it refuses the scene.
    pub fn beside<'b>(&self, scene: &'b Scene) -> Result<Run<'b>, String>
    where
        'a: 'b,
    {
        Run::new(scene, self.start)
    }

    /// Plays a tick and measures the bodies.
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

    /// Advances for at most this many seconds, and ends earlier after a tick for which `goes_on`
    /// returns false. Returns the seconds that passed.
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

    /// The state of the scene's body with this index.
    pub fn body(&self, index: usize) -> Motion {
        self.motions[index]
    }

    /// Sets the velocities of a body, in the axes of the scene.
    pub fn set_velocity(&mut self, index: usize, linear: DVec3, angular: DVec3) {
        let rotation = self.scene.rotation();
        self.engine.set_velocity(index, rotation * linear, rotation * angular);
    }

    /// A fault that the bodies' motion does not show, such as a refused velocity.
    pub fn fault(&self) -> Option<String> {
        self.engine.fault()
    }

    /// The mass of a body of density 1.
    pub fn mass(&self, index: usize) -> f64 {
        self.scene.bodies[index].solid.volume
    }

    /// Angular momentum of a body about its centre of mass, for density 1. With this angular
    /// momentum, free rotation takes the body from its orientation before the tick to the one after
    /// it.
    pub fn own_angular_momentum(&self, index: usize) -> DVec3 {
        let motion = &self.motions[index];
        let inertia = self.scene.bodies[index].solid.inertia;
        let turn = [motion.before, motion.orientation];
        free_momentum(inertia, turn, motion.spin, self.scene.tick()) * self.mass(index)
    }

    /// The spin of a body after a tick, in radians per second, computed from its angular momentum.
    pub fn spin_after(&self, index: usize) -> DVec3 {
        let inertia = self.scene.bodies[index].solid.inertia;
        let momentum = self.own_angular_momentum(index) / self.mass(index);
        free_spin(inertia, self.motions[index].orientation, momentum)
    }

    /// Energy of the spin of a body after a tick, for density 1.
    pub fn spin_energy(&self, index: usize) -> f64 {
        0.5 * self.own_angular_momentum(index).dot(self.spin_after(index))
    }

    /// The kinetic and potential energy of a body, divided by its weight: in units of height. The
    /// energy of rotation is that of the mean spin of the tick, because something may have touched
    /// the body within the tick.
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

/// The spin of a body with this orientation and angular momentum.
fn free_spin(inertia: DMat3, orientation: DQuat, momentum: DVec3) -> DVec3 {
    let rotation = DMat3::from_quat(orientation);
    rotation * (inertia.inverse() * (rotation.transpose() * momentum))
}

/// The rotation of a body half way through a tick, given its orientation before and its mean spin.
fn middle(before: DQuat, spin: DVec3, seconds: f64) -> DMat3 {
    DMat3::from_quat((DQuat::from_scaled_axis(spin * (0.5 * seconds)) * before).normalize())
}

/// The angular momentum with which free rotation takes a body from one orientation to another in
/// `seconds`. It is found by the shooting method: a guess from the mean spin is corrected until the
/// free rotation ends at `to`.
fn free_momentum(inertia: DMat3, [from, to]: [DQuat; 2], mean: DVec3, seconds: f64) -> DVec3 {
    // The guess is good enough if the rotation ends this close to `to`, in radians, because
    // rounding is larger.
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

/// The orientation of a body after `seconds` of free rotation with this angular momentum. It is
/// integrated by the midpoint rule, whose error in a step is of the third order, and by
/// Richardson's extrapolation from two lengths of step.
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
