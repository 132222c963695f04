use glam::{DQuat, DVec2, DVec3};
use obsp_sim::{Buttons, Command, EntityState};

/// A pilot that is nearer than this to its goal, in units, brakes to a stop.
const THERE: f64 = 3.0;

/// A pilot flies at this many units per second for each unit of distance that is left: slow enough
/// for the engine to brake in time.
const EAGERNESS: f64 = 1.2;

/// A tank's fastest flight, in units per second. Commands are shares of it.
const FASTEST: f64 = 400.0;

/// A tank that is lower than its wished height by more than this, in units, climbs.
const LEVEL: f64 = 6.0;

/// A pilot that flies a hovertank to a goal. It knows only the state that every client sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pilot {
    /// Heading that the hull is to have, in radians.
    pub(super) heading: f64,
}

impl Pilot {
    /// The command that leads `tank` over the point `to`. If `climbs`, the tank also flies at the
    /// height of `to`, otherwise as high as its cushions carry it.
    pub(super) fn fly(&self, tank: &EntityState, to: DVec3, climbs: bool) -> Command {
        self.steer(tank, Self::wish(tank, to), climbs.then_some(to.z))
    }

    /// The horizontal velocity that leads `tank` over the point `to`.
    pub(super) fn wish(tank: &EntityState, to: DVec3) -> DVec2 {
        let missing = (to - tank.position).truncate();
        let speed = (missing.length() * EAGERNESS).min(FASTEST);
        if missing.length() < THERE {
            missing * EAGERNESS
        } else {
            missing.normalize_or_zero() * speed
        }
    }

    /// The command that lets `tank` fly with the horizontal velocity `wish`, and climb to `height`
    /// if there is one.
    pub(super) fn steer(&self, tank: &EntityState, wish: DVec2, height: Option<f64>) -> Command {
        let climbs = height.is_some_and(|height| height - tank.position.z > LEVEL);
        self.command(wish, if climbs { Buttons::JUMP } else { Buttons::default() })
    }

    /// The command that lets a tank down over the point `over`.
    pub(super) fn land(&self, tank: &EntityState, over: DVec3) -> Command {
        let missing = (over - tank.position).truncate();
        self.command(missing * EAGERNESS, Buttons::CROUCH)
    }

    /// Adds the action that drops a box to a command.
    pub(super) fn drop_box(command: Command) -> Command {
        Command { buttons: command.buttons | Buttons::TERTIARY, ..command }
    }

    fn command(&self, wish: DVec2, buttons: Buttons) -> Command {
        let local = DVec2::from_angle(-self.heading).rotate(wish) / FASTEST * 127.0;
        let key = |share: f64| share.clamp(-127.0, 127.0) as i8;
        Command {
            forward: key(local.x),
            right: key(-local.y),
            yaw: (self.heading / std::f64::consts::TAU * 65_536.0).round() as i64 as u16,
            buttons,
            ..Command::default()
        }
    }
}

/// Whether the hull's heading is within a few degrees of `heading`.
pub(super) fn points(orientation: DQuat, heading: f64) -> bool {
    (orientation * DVec3::X).truncate().dot(DVec2::from_angle(heading)) > 0.995
}
