//! A pen that shakes a heap: a kinematic body with a floor and walls, which is driven back and
//! forth.

use std::f64::consts::TAU;
use std::fmt::Write;

use glam::{DQuat, DVec3};
use obsp::model::{Model, ModelError};
use obsp_sim::{EntityId, PlaceError, World};

use super::SceneError;
use super::pen::{PenSize, WALL};

/// Name of the pen's model.
const NAME: &str = "shaken_pen";

/// Thickness of the pen's floor, in units.
const FLOOR: i32 = 16;

/// How far the pen is driven to each side and up and down, in units. If the pen were driven three
/// times as far, 500 bodies would stop it in most ticks, so it would not shake them.
const AMPLITUDE: f64 = 8.0;

/// Number of times a second that the pen goes back and forth along each axis. Its vertical
/// acceleration is up to 0.23 of gravity, and its speed up to 47 units a second.
const FREQUENCIES_HZ: [f64; 3] = [0.5, 0.25, 0.75];

/// Maximum height of the pen's walls, in units. It is bounded because no corner of a model may be
/// farther from its origin than 1,024 units. Heaps are lower. A body that falls beside the pen lies
/// on the ground.
const MAX_WALL: i32 = 960;

/// Height of the underside of the pen's floor in the middle of its course, in units. The pen comes
/// near the ground, but does not touch it.
const HEIGHT: i32 = AMPLITUDE as i32 + 8;

/// How much higher bodies are dropped over a shaken pen than over one that stands on the ground, in
/// units.
pub(super) const LIFT: i32 = HEIGHT + FLOOR;

/// Maximum speed of the pen, in units per second. It catches up with its course at this speed after
/// something stopped it.
const MAX_SPEED: f64 = 300.0;

/// The pen of a match.
pub(super) struct ShakenPen {
    id: EntityId,
    /// The place of the pen's centre of mass in the middle of its course.
    middle: DVec3,
    /// The distances by which the pen was behind its course after each tick, in units, added up.
    lag: f64,
}

/// The model of a pen of this size.
///
/// # Errors
/// [`ModelError`] if the model is invalid, which would be a defect.
pub(super) fn pen_model(size: PenSize) -> Result<Model, ModelError> {
    let (half, top) = (size.half, size.top.min(MAX_WALL));
    let mut text = String::new();
    let outer = half + WALL;
    for (half, height) in [(outer, 0), (outer, FLOOR + top), (half, FLOOR + top), (half, FLOOR)] {
        for (x, y) in [(-half, -half), (half, -half), (half, half), (-half, half)] {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "v {x} {y} {height}");
        }
    }
    // Anticlockwise as seen from outside: underside, outer sides, rim, inner sides, floor.
    text += "f 4 3 2 1\n\
             f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n\
             f 5 6 10 9\nf 6 7 11 10\nf 7 8 12 11\nf 8 5 9 12\n\
             f 9 10 14 13\nf 10 11 15 14\nf 11 12 16 15\nf 12 9 13 16\n\
             f 13 14 15 16\n";
    Ok(Model::from_obj(NAME, &text)?.as_kinematic())
}

impl ShakenPen {
    /// Puts the pen of this model into a match, where its course begins.
    ///
    /// # Errors
    /// [`SceneError`] if the match has no such model or no room.
    pub(super) fn new(world: &mut World, model: &Model) -> Result<Self, SceneError> {
        let id = world.model(NAME).ok_or(PlaceError::NoSuchModel)?;
        // The position of a body is its centre of mass.
        let middle = DVec3::Z * (f64::from(HEIGHT) - model.bounds().min.z);
        let id = world.spawn_body(id, middle, DQuat::IDENTITY)?;
        Ok(Self { id, middle, lag: 0.0 })
    }

    /// Sets the velocity with which the pen keeps to its course in tick number `tick`, counted from
    /// 1, at `rate` ticks a second.
    ///
    /// # Errors
    /// [`SceneError`] if the pen is gone.
    pub(super) fn drive(
        &mut self,
        world: &mut World,
        tick: u32,
        rate: u32,
    ) -> Result<(), SceneError> {
        let velocity = (self.course(tick, rate) - self.position(world)?) * f64::from(rate);
        world.set_velocity(self.id, velocity.clamp_length_max(MAX_SPEED), DVec3::ZERO)?;
        Ok(())
    }

    /// Notes how far the pen is behind its course after a tick.
    ///
    /// # Errors
    /// [`SceneError`] if the pen is gone.
    pub(super) fn note_lag(
        &mut self,
        world: &World,
        tick: u32,
        rate: u32,
    ) -> Result<(), SceneError> {
        self.lag += self.position(world)?.distance(self.course(tick, rate));
        Ok(())
    }

    /// How far the pen was behind its course on average over this many ticks, in units.
    pub(super) fn mean_lag(&self, ticks: u32) -> f64 {
        self.lag / f64::from(ticks)
    }

    /// Whether an entity is the pen.
    pub(super) fn is(&self, id: EntityId) -> bool {
        self.id == id
    }

    fn position(&self, world: &World) -> Result<DVec3, SceneError> {
        Ok(world.entity(self.id).ok_or(PlaceError::NoSuchEntity)?.position)
    }

    /// The position on the course after this many ticks, at `rate` a second.
    fn course(&self, ticks: u32, rate: u32) -> DVec3 {
        let seconds = f64::from(ticks) / f64::from(rate);
        let offset = |frequency: f64| AMPLITUDE * (TAU * frequency * seconds).sin();
        self.middle + DVec3::from_array(FREQUENCIES_HZ.map(offset))
    }
}
