use glam::DVec3;
use thiserror::Error;

/// Why the parameters or the forces of a body were not changed.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum BodyError {
    /// The entity has left the match, or waits outside the world.
    #[error("there is no such entity in the world")]
    NoSuchEntity,
    /// The entity is a player, a missile or a kinematic body.
    #[error(
        "the entity has no parameters or forces of its own: it is a player, a missile or a \
         kinematic body; use a body of a dynamic model, or set the entity's velocity"
    )]
    NotDynamic,
    /// A number is out of its range, or not a number.
    #[error("{name} is {value:?}, not between {least} and {most}")]
    OutOfRange {
        /// The name of the number.
        name: &'static str,
        /// The value.
        value: f64,
        /// The least value that is allowed.
        least: f64,
        /// The greatest value that is allowed.
        most: f64,
    },
    /// No body has these moments of inertia.
    #[error(
        "no body has the moments of inertia {0}: each must be at most the sum of the other two"
    )]
    Inertia(DVec3),
}
