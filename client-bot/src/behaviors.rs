//! How bots decide what to do: a [`Behavior`] gets what its bot perceives and returns the
//! command of the next tick. A behavior draws random numbers only from its own seed, so
//! the same seed acts the same in front of the same world. Routes through a map come
//! from its [`NavGraph`].

mod drive;
mod fight;
mod nav_graph;
mod path_follower;
mod wander;

use clap::ValueEnum;
use glam::DVec3;
use obsp::World;
use obsp_sim::{Command, EntityState, PlayerMotion};

pub use drive::Drive;
pub use fight::Fight;
pub use nav_graph::{NavGraph, Waypoint};
pub use wander::Wander;

/// What a bot perceives of the match when it decides.
#[derive(Clone, Copy, Debug)]
pub struct Perception<'a> {
    /// Its own predicted motion; `None` while it is not in the world on foot.
    pub own: Option<PlayerMotion>,
    /// The entities around it.
    pub others: &'a [EntityState],
    /// The map.
    pub map: &'a World,
    /// The navigation graph of the map.
    pub nav: &'a NavGraph,
}

/// Something that steers a player.
pub trait Behavior: Send {
    /// The command of the next tick.
    fn decide(&mut self, perception: &Perception<'_>) -> Command;
}

/// How the bots of a swarm behave: the values of `--behavior`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum BehaviorChoice {
    /// All walk about and push props.
    Wander,
    /// All look for other players and shoot at them.
    Fight,
    /// Every other bot fights, the rest wander.
    #[default]
    Mix,
    /// All stand still: the cost of a match in which nothing happens.
    Idle,
}

/// Stands still.
#[derive(Clone, Copy, Debug)]
struct Idle;

impl Behavior for Idle {
    fn decide(&mut self, _: &Perception<'_>) -> Command {
        Command::default()
    }
}

impl BehaviorChoice {
    /// The behavior of the bot with this number.
    pub fn behavior(self, number: u32, seed: u64) -> Box<dyn Behavior> {
        match self {
            Self::Mix if number % 2 == 1 => Box::new(Fight::new(seed)),
            Self::Fight => Box::new(Fight::new(seed)),
            Self::Wander | Self::Mix => Box::new(Wander::new(seed)),
            Self::Idle => Box::new(Idle),
        }
    }
}

/// The heading of a direction, as in [`Command::yaw`].
fn heading(direction: DVec3) -> u16 {
    let turns = direction.y.atan2(direction.x) / std::f64::consts::TAU;
    // Through i32, so that negative turns wrap instead of saturating.
    (turns * 65_536.0).round() as i32 as u16
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DQuat, Vec3};
    use obsp_sim::{EntityId, Kind, ModelId, Posture, Walker};

    use super::*;

    pub(super) fn arena() -> (Arc<World>, NavGraph) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../maps/arena.obsp");
        let map = Arc::new(World::load(std::path::Path::new(path)).unwrap());
        let nav = NavGraph::explore(&map);
        (map, nav)
    }

    pub(super) fn own_at(position: DVec3) -> PlayerMotion {
        let position = position.as_vec3();
        PlayerMotion { position, velocity: Vec3::ZERO, walker: Walker::default() }
    }

    fn entity(kind: Kind, position: DVec3) -> EntityState {
        EntityState {
            id: EntityId { slot: 7, generation: 0 },
            kind,
            position,
            orientation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            asleep: false,
        }
    }

    pub(super) fn player_at(position: DVec3) -> EntityState {
        entity(Kind::Player { posture: Posture::Standing }, position)
    }

    pub(super) fn prop_at(position: DVec3) -> EntityState {
        entity(Kind::Prop { model: ModelId(0) }, position)
    }

    #[test]
    fn headings_go_counter_clockwise_from_x() {
        assert_eq!(heading(DVec3::X), 0);
        assert_eq!(heading(DVec3::Y), 1 << 14);
        assert_eq!(heading(-DVec3::X), 1 << 15);
        assert_eq!(heading(-DVec3::Y), 3 << 14);
    }
}
