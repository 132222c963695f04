use glam::Vec3;
use thiserror::Error;

/// The parameters of the motion of players on foot. The server and all clients that predict use the
/// same parameters. The defaults are Quake's.
///
/// ```
/// use obsp_sim::MovementParameters;
///
/// // With half of the gravity a jump leads twice as high.
/// let low = MovementParameters { gravity: 400.0, ..MovementParameters::default() };
/// assert!(low.check().is_ok());
/// assert_eq!(low.jump_height(), 2.0 * MovementParameters::default().jump_height());
/// let wrong = MovementParameters { friction: -1.0, ..low };
/// assert_eq!(wrong.check().unwrap_err().name, "friction");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovementParameters {
    /// Running speed, in units per second.
    pub run_speed: f64,
    /// Share of the running speed when walking or crouching.
    pub slow_share: f64,
    /// Share of the speed that friction removes per second on the ground.
    pub friction: f64,
    /// The speed in units per second below which ground friction brakes as if the player had this
    /// speed. So a slow player soon stops.
    pub stop_speed: f64,
    /// Share of the wished speed that is gained per second on the ground.
    pub ground_acceleration: f64,
    /// Share of the wished speed that is gained per second in the air: the air control.
    pub air_acceleration: f64,
    /// Upward speed of a jump, in units per second. The height of the jump is the square of this
    /// speed, divided by twice the gravity.
    pub jump_speed: f64,
    /// Downward acceleration of players, in units per second squared.
    pub gravity: f64,
    /// Highest ledge that a player walks up without jumping, in units.
    pub step_height: f64,
}

impl Default for MovementParameters {
    fn default() -> Self {
        Self {
            run_speed: 320.0,
            slow_share: 0.5,
            friction: 6.0,
            stop_speed: 100.0,
            ground_acceleration: 10.0,
            air_acceleration: 1.0,
            jump_speed: 270.0,
            gravity: 800.0,
            step_height: 18.0,
        }
    }
}

/// A movement parameter that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{name} is {value}, not between {least} and {most}")]
pub struct MovementError {
    /// Name of the parameter.
    pub name: &'static str,
    /// Value of the parameter.
    pub value: f64,
    /// The smallest value that is allowed.
    pub least: f64,
    /// The largest value that is allowed.
    pub most: f64,
}

/// Upper bound of the speed that gravity adds within a tick, in units per second.
const FASTER: f64 = 10.0;

/// Allowance in units for the gaps that players keep to obstacles, and for the moves that restore
/// these gaps.
const GAPS: f64 = 4.0;

impl MovementParameters {
    /// The distance in units, from the position at the start of a tick of `seconds`, within which a
    /// player can meet something during the tick. `velocity` is the player's velocity at the start
    /// of the tick. The distance includes a step up and down.
    pub(crate) fn reach(&self, velocity: Vec3, seconds: f64) -> f64 {
        let speed = f64::from(velocity.length()) + self.run_speed + self.jump_speed + FASTER;
        speed * seconds + 2.0 * self.step_height + GAPS
    }

    /// Height of a jump, in units; infinite without gravity.
    pub fn jump_height(&self) -> f64 {
        if self.jump_speed == 0.0 { 0.0 } else { self.jump_speed.powi(2) / (2.0 * self.gravity) }
    }

    /// The names of the parameters, with the smallest and the largest value of each, in the order
    /// of [`MovementParameters::to_array`]. The greatest speeds are half of the greatest speed that
    /// a player may have.
    pub const RANGES: [(&str, f64, f64); 9] = [
        ("run_speed", 1.0, 1000.0),
        ("slow_share", 0.0, 1.0),
        ("friction", 0.0, 100.0),
        ("stop_speed", 0.0, 1000.0),
        ("ground_acceleration", 0.0, 100.0),
        ("air_acceleration", 0.0, 100.0),
        ("jump_speed", 0.0, 1000.0),
        ("gravity", 0.0, 4000.0),
        ("step_height", 0.0, 64.0),
    ];

    /// The parameters in the order of [`MovementParameters::RANGES`].
    pub fn to_array(&self) -> [f64; 9] {
        [
            self.run_speed,
            self.slow_share,
            self.friction,
            self.stop_speed,
            self.ground_acceleration,
            self.air_acceleration,
            self.jump_speed,
            self.gravity,
            self.step_height,
        ]
    }

    /// Checks that each parameter is in its range of [`MovementParameters::RANGES`].
    ///
    /// # Errors
    /// [`MovementError`] names the first parameter that is out of its range.
    pub fn check(&self) -> Result<(), MovementError> {
        check(self.to_array())
    }

    /// The parameters with these values, in the order of [`MovementParameters::RANGES`].
    ///
    /// # Errors
    /// [`MovementError`] names the first parameter that is out of its range.
    pub fn from_array(numbers: [f64; 9]) -> Result<Self, MovementError> {
        check(numbers)?;
        let [
            run_speed,
            slow_share,
            friction,
            stop_speed,
            ground_acceleration,
            air_acceleration,
            jump_speed,
            gravity,
            step_height,
        ] = numbers;
        Ok(Self {
            run_speed,
            slow_share,
            friction,
            stop_speed,
            ground_acceleration,
            air_acceleration,
            jump_speed,
            gravity,
            step_height,
        })
    }
}

fn check(numbers: [f64; 9]) -> Result<(), MovementError> {
    for (value, (name, least, most)) in numbers.into_iter().zip(MovementParameters::RANGES) {
        // This form of the comparison also refuses NaN.
        if !(least..=most).contains(&value) {
            return Err(MovementError { name, value, least, most });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_named() {
        let default = MovementParameters::default();
        assert_eq!(MovementParameters::from_array(default.to_array()), Ok(default));
        for (index, (name, least, most)) in MovementParameters::RANGES.into_iter().enumerate() {
            for wrong in [least - 1.0, most + 1.0, f64::NAN, f64::INFINITY] {
                let mut numbers = default.to_array();
                numbers[index] = wrong;
                let error = MovementParameters::from_array(numbers).unwrap_err();
                assert_eq!(error.name, name, "{error}");
            }
        }
    }

    /// Symptom: with steps of 64 units, a client ignored bodies beyond 40 units that the player
    /// could step onto. Cause: the reach had a constant for the height of a step. Cure: the reach
    /// uses the parameter.
    #[test]
    fn the_reach_of_a_tick_has_the_step_in_it() {
        let default = MovementParameters::default();
        assert_eq!(default.reach(Vec3::ZERO, 1.0 / 16.0), 77.5);
        assert_eq!(default.reach(Vec3::X * 60.0, 1.0 / 16.0), 81.25);
        let high = MovementParameters { step_height: 64.0, ..default };
        assert_eq!(high.reach(Vec3::ZERO, 1.0 / 16.0), 77.5 + 2.0 * (64.0 - 18.0));
    }

    #[test]
    fn a_jump_leads_as_high_as_its_speed_and_gravity_have_it() {
        let height = |jump_speed, gravity| {
            MovementParameters { jump_speed, gravity, ..MovementParameters::default() }
                .jump_height()
        };
        assert_eq!(height(270.0, 800.0), 45.5625);
        assert_eq!((height(0.0, 0.0), height(270.0, 0.0)), (0.0, f64::INFINITY));
    }
}
