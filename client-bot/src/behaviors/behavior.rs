//! The interface between a bot and its behavior.

use glam::DVec3;
use obsp::Map;
use obsp_sim::{Command, EntityState, PlayerMotion};

use super::nav_graph::NavGraph;

/// The match as a bot perceives it when its behavior decides.
#[derive(Clone, Copy, Debug)]
pub struct Perception<'a> {
    /// The bot's own predicted motion; `None` while the bot is not in the world on foot.
    pub own: Option<PlayerMotion>,
    /// The entities around the bot.
    pub others: &'a [EntityState],
    /// The map.
    pub map: &'a Map,
    /// The navigation graph of the map.
    pub nav: &'a NavGraph,
}

/// Something that steers a player.
pub trait Behavior: Send {
    /// The command of the next tick.
    fn decide(&mut self, perception: &Perception<'_>) -> Command;
}

/// The heading of a direction, in the steps of [`Command::yaw`].
pub(super) fn heading(direction: DVec3) -> u16 {
    let turns = direction.y.atan2(direction.x) / std::f64::consts::TAU;
    // The conversion goes through `i32`, so that negative turns wrap instead of saturating.
    (turns * 65_536.0).round() as i32 as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_go_counter_clockwise_from_x() {
        assert_eq!(heading(DVec3::X), 0);
        assert_eq!(heading(DVec3::Y), 1 << 14);
        assert_eq!(heading(-DVec3::X), 1 << 15);
        assert_eq!(heading(-DVec3::Y), 3 << 14);
    }
}
