//! Climbing. A player in a ladder's volume moves without gravity: along the view, up with the jump
//! key and down with the crouch key. Without a key the player stays. A player on the ground begins
//! to climb only in order to go up, so a player can walk past a ladder.

use glam::DVec3;

use super::{Motion, Surroundings};
use crate::arena::parameters::MovementParameters;
use crate::command::{Buttons, Command};
use crate::conventions::heading;

/// Share of the running speed that is the greatest speed of climbing: 200 units per second, as in
/// Quake II.
const CLIMB_SHARE: f64 = 200.0 / 320.0;

/// Whether the player climbs in this tick. The caller has already looked for ground.
pub(super) fn climbs(motion: &Motion, command: Command, surroundings: &impl Surroundings) -> bool {
    let (posture, position) = (motion.walker.posture, motion.position);
    let wants = || !motion.walker.grounded || direction(command).z > 0.0;
    surroundings.is_on_ladder(posture, position) && wants()
}

/// Accelerates a climber towards the wished velocity, as on the ground.
pub(super) fn accelerate(
    motion: &mut Motion,
    command: Command,
    (seconds, parameters): (f64, &MovementParameters),
) {
    let slow = command.buttons.contains(Buttons::WALK);
    let share = if slow { parameters.slow_share } else { 1.0 };
    let speed = CLIMB_SHARE * parameters.run_speed * share;
    let wish = direction(command) * speed;
    let Some(direction) = wish.try_normalize() else { return };
    let missing = wish.length() - motion.velocity.dot(direction);
    if missing > 0.0 {
        let gained = parameters.ground_acceleration * wish.length() * seconds;
        motion.velocity += direction * gained.min(missing);
    }
}

/// The direction in which the keys lead; its length is at most one.
fn direction(command: Command) -> DVec3 {
    let held = |key| f64::from(u8::from(command.buttons.contains(key)));
    let up = held(Buttons::JUMP) - held(Buttons::CROUCH);
    let heading = heading(command.yaw);
    let right = DVec3::new(heading.y, -heading.x, 0.0);
    let along = command.aim() * f64::from(command.forward) + right * f64::from(command.right);
    (along / 127.0 + DVec3::Z * up).clamp_length_max(1.0)
}
