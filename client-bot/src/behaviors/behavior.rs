//! The interface between a bot and its behavior.

use glam::DVec3;
use obsp::model::Model;
use obsp::{Map, PlayerSize};
use obsp_sim::{Command, EntityState, Kind, PlayerMotion, Posture};

use super::nav_graph::NavGraph;

/// The match as a bot perceives it when its behavior decides.
#[derive(Clone, Copy, Debug)]
pub struct Perception<'a> {
    /// The bot's own predicted motion; `None` while the bot is not in the world on foot.
    pub own: Option<PlayerMotion>,
    /// The solid entities around the bot.
    pub others: &'a [EntityState],
    /// The places of the entities around the bot that take no room, such as items.
    pub pictures: &'a [DVec3],
    /// The map.
    pub map: &'a Map,
    /// The models of bodies, in the order of their ids.
    pub models: &'a [Model],
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

/// Height of the eyes over the middle of a standing player, as a share of the player's height.
const EYES: f64 = 22.0 / 56.0;

/// The place of a bot's eyes.
pub(super) fn eyes(own: &PlayerMotion, map: &Map) -> DVec3 {
    let crouches = own.walker.posture == Posture::Crouching;
    let height = f64::from(PlayerSize::among(map.sizes()).unwrap_or_default().height);
    let over = EYES * height * if crouches { 0.5 } else { 1.0 };
    own.position.as_dvec3() + DVec3::Z * over
}

/// The command of a bot on foot. With its eyes in a liquid it has no air, so it swims up.
pub(crate) fn breathing(command: Command, perception: &Perception<'_>) -> Command {
    let drowns = perception.own.is_some_and(|own| {
        let map = perception.map;
        map.liquid_at(eyes(&own, map)).is_some()
    });
    if drowns { command.swimming_up() } else { command }
}

/// Farthest distance of the middle of a body that a bot waits for, in units: half of a wide door.
const AHEAD: f64 = 128.0;

/// Least speed of a body that a bot waits for, in units per second.
const MOVES: f64 = 10.0;

/// Whether a body ahead moves, such as a door that opens or a lift that comes.
pub(super) fn moves_ahead(here: DVec3, yaw: u16, others: &[EntityState]) -> bool {
    let ahead = Command { yaw, ..Command::default() }.ahead();
    others.iter().filter(|other| matches!(other.kind, Kind::Prop { .. })).any(|other| {
        let to = other.position - here;
        other.velocity.length() > MOVES && to.length() < AHEAD && to.dot(ahead) > 0.0
    })
}

#[cfg(test)]
mod tests {
    use obsp_sim::Buttons;

    use super::*;
    use crate::behaviors::NavGraph;
    use crate::behaviors::tests::{arena, own_at, prop_at};

    #[test]
    fn bots_swim_up_when_their_eyes_are_under_water_and_only_then() {
        let (map, nav) = (arena().0, NavGraph::default());
        // The lowest volume is at the bottom of the pool. Others are above it.
        let pools = map.liquids().iter().map(obsp::Liquid::bounds);
        let bottom = pools.min_by(|a, b| a.min.z.total_cmp(&b.min.z));
        let bottom = bottom.expect("the arena has a pool").centre();
        let is_wet = |up: &u32| map.liquid_at(bottom + DVec3::Z * f64::from(*up)).is_some();
        let surface = bottom + DVec3::Z * f64::from((0..).find(|up| !is_wet(up)).unwrap());
        let dives = Command { pitch: -5_000, buttons: Buttons::CROUCH, ..Command::default() };
        let of = |eyes_above: f64| {
            let own = Some(own_at(surface + DVec3::Z * (eyes_above - 22.0)));
            breathing(
                dives,
                &Perception { own, others: &[], pictures: &[], map: &map, models: &[], nav: &nav },
            )
        };
        assert_eq!(of(-2.0), Command { pitch: 0, buttons: Buttons::JUMP, ..dives });
        assert_eq!(of(1.0), dives);
    }

    #[test]
    fn what_moves_ahead_is_near_and_in_front() {
        let moving = |place: DVec3, speed: f64| {
            let door = EntityState { velocity: DVec3::Z * speed, ..prop_at(place) };
            moves_ahead(DVec3::ZERO, 0, &[door])
        };
        assert!(moving(DVec3::X * 100.0, 60.0));
        assert!(!moving(DVec3::X * 100.0, 1.0), "it rests");
        assert!(!moving(DVec3::X * -100.0, 60.0), "it is behind");
        assert!(!moving(DVec3::X * 200.0, 60.0), "it is far away");
    }

    #[test]
    fn headings_go_counter_clockwise_from_x() {
        assert_eq!(heading(DVec3::X), 0);
        assert_eq!(heading(DVec3::Y), 1 << 14);
        assert_eq!(heading(-DVec3::X), 1 << 15);
        assert_eq!(heading(-DVec3::Y), 3 << 14);
    }
}
