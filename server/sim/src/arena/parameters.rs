//! The parameters by which players on foot move, declared in one list.

use glam::Vec3;
use thiserror::Error;

/// Makes [`MovementParameters`] of one list. Each entry has the documentation, the default and the
/// range of a parameter; the order of the list is the order of all numbers in binary form.
macro_rules! movement_parameters {
    ($($(#[$doc:meta])+ $name:ident: $usual:literal in $least:literal..=$most:literal,)+) => {
        /// The parameters of the motion of players on foot. The server and all clients that predict
        /// use the same parameters. The defaults are Quake's.
        ///
        /// ```
        /// use obsp_sim::MovementParameters;
        ///
        /// // With half of the gravity a jump is twice as high.
        /// let low = MovementParameters { gravity: 400.0, ..MovementParameters::default() };
        /// assert!(low.check().is_ok());
        /// assert_eq!(low.jump_height(), 2.0 * MovementParameters::default().jump_height());
        /// let wrong = MovementParameters { friction: -1.0, ..low };
        /// assert_eq!(wrong.check().unwrap_err().name, "friction");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct MovementParameters {
            $($(#[$doc])+ pub $name: f64,)+
        }

        impl Default for MovementParameters {
            fn default() -> Self {
                Self { $($name: $usual),+ }
            }
        }

        impl MovementParameters {
            /// The number of parameters.
            pub const COUNT: usize = [$(stringify!($name)),+].len();

            /// The names of the parameters, with the smallest and the largest value of each, in the
            /// order of [`MovementParameters::to_array`]. The greatest speeds are half of the
            /// greatest speed that a player may have.
            pub const RANGES: [(&str, f64, f64); Self::COUNT] =
                [$((stringify!($name), $least, $most)),+];

            /// The parameters in the order of [`MovementParameters::RANGES`].
            pub fn to_array(&self) -> [f64; Self::COUNT] {
                [$(self.$name),+]
            }

            fn unchecked([$($name),+]: [f64; Self::COUNT]) -> Self {
                Self { $($name),+ }
            }
        }
    };
}

movement_parameters! {
    /// Running speed, in units per second.
    run_speed: 320.0 in 1.0..=1000.0,
    /// Share of the running speed when walking or crouching.
    slow_share: 0.5 in 0.0..=1.0,
    /// Share of the speed that friction removes per second on the ground.
    friction: 6.0 in 0.0..=100.0,
    /// The speed in units per second below which ground friction brakes as if the player had this
    /// speed. So a slow player soon stops.
    stop_speed: 100.0 in 0.0..=1000.0,
    /// Share of the wished speed that is gained per second on the ground.
    ground_acceleration: 10.0 in 0.0..=100.0,
    /// Share of the wished speed that is gained per second in the air: the air control.
    air_acceleration: 1.0 in 0.0..=100.0,
    /// Upward speed of a jump, in units per second. The height of the jump is the square of this
    /// speed, divided by twice the gravity. At 0.2 or less the player cannot jump.
    jump_speed: 270.0 in 0.0..=1000.0,
    /// Downward acceleration of players, in units per second squared.
    gravity: 800.0 in 0.0..=4000.0,
    /// Highest ledge that a player walks up without jumping, in units.
    step_height: 18.0 in 0.0..=64.0,
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

/// A jump speed of this or less, in units per second, counts as no jump. Clipping leaves velocities
/// of about this size along the normal of the ground.
const NO_JUMP: f64 = 0.2;

/// Upper bound of the speed that gravity adds within a tick, in units per second.
const FASTER: f64 = 10.0;

/// Allowance in units for the gaps that players keep to obstacles, and for the moves that restore
/// these gaps.
const GAPS: f64 = 4.0;

impl MovementParameters {
    /// The distance in units, from the position at the start of a tick of `seconds`, within which a
    /// player can meet something during the tick. `velocity` is the player's velocity at the start
    /// of the tick, and `flow` bounds the speed of currents. The distance includes a step up and
    /// down.
    pub(crate) fn reach(&self, velocity: Vec3, flow: f64, seconds: f64) -> f64 {
        let own = self.run_speed + self.jump_speed + FASTER;
        let speed = f64::from(velocity.length()) + flow + own;
        speed * seconds + 2.0 * self.step_height + GAPS
    }

    /// Whether a player can jump.
    pub(crate) fn jumps(&self) -> bool {
        self.jump_speed > NO_JUMP
    }

    /// Height of a jump, in units; infinite without gravity.
    pub fn jump_height(&self) -> f64 {
        if self.jumps() { self.jump_speed.powi(2) / (2.0 * self.gravity) } else { 0.0 }
    }

    /// The parameters with these values, in the order of [`MovementParameters::RANGES`].
    ///
    /// # Errors
    /// [`MovementError`] names the first parameter that is out of its range.
    pub fn from_array(numbers: [f64; Self::COUNT]) -> Result<Self, MovementError> {
        let parameters = Self::unchecked(numbers);
        parameters.check()?;
        Ok(parameters)
    }

    /// Checks that each parameter is in its range of [`MovementParameters::RANGES`].
    ///
    /// # Errors
    /// [`MovementError`] names the first parameter that is out of its range.
    pub fn check(&self) -> Result<(), MovementError> {
        for (value, (name, least, most)) in self.to_array().into_iter().zip(Self::RANGES) {
            // This form of the comparison also refuses NaN.
            if !(least..=most).contains(&value) {
                return Err(MovementError { name, value, least, most });
            }
        }
        Ok(())
    }
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
        assert_eq!(default.reach(Vec3::ZERO, 0.0, 1.0 / 16.0), 77.5);
        assert_eq!(default.reach(Vec3::X * 30.0, 30.0, 1.0 / 16.0), 81.25);
        let high = MovementParameters { step_height: 64.0, ..default };
        assert_eq!(high.reach(Vec3::ZERO, 0.0, 1.0 / 16.0), 77.5 + 2.0 * (64.0 - 18.0));
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
