//! A floor that shakes a heap: a kinematic plate in the pen that is driven to and fro along all
//! axes.

use std::f64::consts::TAU;
use std::fmt::Write;

use glam::{DQuat, DVec3};
use obsp::model::{Model, ModelError};
use obsp_sim::{EntityId, PlaceError, World};

use super::SceneError;

/// Name of the floor's model.
const NAME: &str = "shaken_floor";

/// Half the thickness of the plate, in units.
const HALF_THICKNESS: f64 = 8.0;

/// How far the plate is driven to each side and up and down, in units.
const AMPLITUDE: f64 = 6.0;

/// Strokes a second along each axis. Upright the plate falls faster than bodies do, which leave
/// it and land on it again.
const STROKES: [f64; 3] = [2.0, 1.0, 3.0];

/// Distance between the plate in the middle and the walls, in units: more than the amplitude, so
/// that nothing but a body between them can stop the plate.
const GAP: f64 = 10.0;

/// Height of the plate's middle above the pen's floor, in units: the same below it.
const HEIGHT: f64 = HALF_THICKNESS + GAP;

/// How far bodies over a shaken floor are dropped from higher up, in units.
pub(super) const LIFT: i32 = 64;

/// Most speed of the plate along its course, in units per second; after it was stopped it follows
/// its course with that.
const MAX_SPEED: f64 = 300.0;

/// The floor of a match.
pub(super) struct ShakenFloor {
    id: EntityId,
    /// Farthest that it was behind its course, in units.
    lag: f64,
}

/// The model of a floor for a pen with such half a side, in units.
///
/// # Errors
/// [`ModelError`] if it is no model, which would be a defect.
pub(super) fn floor_model(half_side: f64) -> Result<Model, ModelError> {
    let half = DVec3::new(half_side - GAP, half_side - GAP, HALF_THICKNESS);
    let mut text = String::new();
    for corner in 0..8 {
        let side = |axis: usize| if corner >> axis & 1 == 0 { -half[axis] } else { half[axis] };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "v {} {} {}", side(0), side(1), side(2));
    }
    // Anticlockwise as seen from outside.
    text += "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    Ok(Model::from_obj(NAME, &text)?.as_kinematic())
}

impl ShakenFloor {
    /// Puts the floor into a pen, where its course begins.
    ///
    /// # Errors
    /// [`SceneError`] if there is no such model or no room.
    pub(super) fn new(world: &mut World) -> Result<Self, SceneError> {
        let model = world.model(NAME).ok_or(PlaceError::NoSuchModel)?;
        let id = world.spawn_body(model, place(0.0), DQuat::IDENTITY)?;
        Ok(Self { id, lag: 0.0 })
    }

    /// Sets the velocity with which the floor keeps to its course in the tick with a number, from
    /// one, at `rate` ticks a second.
    ///
    /// # Errors
    /// [`SceneError`] if it is gone.
    pub(super) fn drive(
        &mut self,
        world: &mut World,
        tick: u32,
        rate: u32,
    ) -> Result<(), SceneError> {
        let after = |ticks: u32| place(f64::from(ticks) / f64::from(rate));
        let position = world.entity(self.id).ok_or(PlaceError::NoSuchEntity)?.position;
        self.lag = self.lag.max(position.distance(after(tick - 1)));
        let velocity = (after(tick) - position) * f64::from(rate);
        world.set_velocity(self.id, velocity.clamp_length_max(MAX_SPEED), DVec3::ZERO)?;
        Ok(())
    }

    /// Whether an entity is the floor.
    pub(super) fn is(&self, id: EntityId) -> bool {
        self.id == id
    }

    /// Farthest that it was behind its course, in units.
    pub(super) fn lag(&self) -> f64 {
        self.lag
    }
}

/// The place on the floor's course after so many seconds.
fn place(seconds: f64) -> DVec3 {
    let stroke = |rate: f64| AMPLITUDE * (TAU * rate * seconds).sin();
    DVec3::from_array(STROKES.map(stroke)) + DVec3::Z * HEIGHT
}
