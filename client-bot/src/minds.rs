//! What bots want: a mind looks at what its client shows and gives the command
//! of the next tick. Minds draw lots only from their own seed, so the same
//! seed in front of the same world acts the same. Where one can get to in a
//! map all of them know from [`Ways`].

mod drive;
mod fight;
mod traveller;
mod wander;
mod ways;

use clap::ValueEnum;
use glam::DVec3;
use maps::World;
use sim::{Command, EntityState, PlayerMotion};

pub use drive::Drive;
pub use fight::Fight;
pub use wander::Wander;
pub use ways::{Waypoint, Ways};

/// What a bot sees of the match when it decides.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// How it moves, as predicted; `None` while it is in no place.
    pub own: Option<PlayerMotion>,
    /// Whatever is around.
    pub others: &'a [EntityState],
    /// The map.
    pub map: &'a World,
    /// Where one can get to in it.
    pub ways: &'a Ways,
}

/// Something that steers a player.
pub trait Mind: Send {
    /// The command of the next tick.
    fn decide(&mut self, sight: &Sight<'_>) -> Command;
}

/// Which minds the bots of a swarm have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Minds {
    /// All walk about and push things.
    Wander,
    /// All look for each other and shoot.
    Fight,
    /// Every other one fights.
    #[default]
    Mix,
    /// All stand still: what a match costs in which nothing happens.
    Idle,
}

/// Stands still.
#[derive(Clone, Copy, Debug)]
struct Idle;

impl Mind for Idle {
    fn decide(&mut self, _: &Sight<'_>) -> Command {
        Command::default()
    }
}

impl Minds {
    /// The mind of the bot of this number.
    pub fn mind(self, number: u32, seed: u64) -> Box<dyn Mind> {
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
    use sim::{EntityId, Kind, ModelId, Posture, Walker};

    use super::*;

    pub(super) fn arena() -> (Arc<World>, Ways) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../maps/arena.obsp");
        let map = Arc::new(World::load(std::path::Path::new(path)).unwrap());
        let ways = Ways::explore(&map);
        (map, ways)
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
