use std::sync::Arc;

use glam::DVec3;
use maps::geometry::Aabb;
use maps::model::Model;

use crate::agent::Around;
use crate::arena::Arena;
use crate::cascade::Body;
use crate::command::Command;
use crate::counters::Counters;
use crate::guard::{Crowd, Memory};
use crate::movement::{self, Encounters, PlayerMotion};
use crate::pose::Pose;
use crate::setup::SetupError;
use crate::shape::Shapes;
use crate::state::{EntityState, Kind};

/// The server's own movement code for a client that does not want to wait for
/// the server's answer. Everybody else stands where the client saw them last;
/// props are not shoved.
#[derive(Clone, Debug)]
pub struct Predictor {
    arena: Arena,
}

impl Predictor {
    /// A predictor for a match on `map` with bodies of `models`.
    ///
    /// # Errors
    /// [`SetupError`] if the map lacks a size that players need, or there are
    /// too many models.
    pub fn new(map: Arc<maps::World>, models: &[Model]) -> Result<Self, SetupError> {
        Ok(Self { arena: Arena::new(map, models)? })
    }

    /// Where `command` leads a player in `seconds`, past `others` (without the
    /// player), as the server would have it.
    pub fn step(
        &self,
        motion: PlayerMotion,
        command: Command,
        seconds: f64,
        others: &[EntityState],
    ) -> PlayerMotion {
        let mut counters = Counters::default();
        let mut around = Around {
            arena: &self.arena,
            crowd: Seen { shapes: &self.arena.shapes, others },
            memory: Memory::new(&mut counters),
        };
        movement::step(motion, command, seconds, &mut around, &mut Encounters::default())
    }
}

/// The bodies that a client knows of.
struct Seen<'a> {
    shapes: &'a Shapes,
    others: &'a [EntityState],
}

impl<'a> Crowd<'a> for Seen<'a> {
    fn visit(&self, bounds: &Aabb, each: &mut dyn FnMut(u16, Body<'a>)) {
        for other in self.others {
            let (shape, pose) = match other.kind {
                Kind::Player { posture } => {
                    (self.shapes.of_posture(posture), Pose::at(other.position))
                }
                Kind::Vehicle { model } | Kind::Prop { model } => {
                    let Some(shape) = self.shapes.of_model(model) else { continue };
                    (shape, Pose { position: other.position, orientation: other.orientation })
                }
            };
            let body = Body::standing(&self.shapes[shape], pose);
            if body.speedbox().overlaps(bounds) {
                each(other.id.slot, body);
            }
        }
    }

    fn velocity(&self, slot: u16) -> DVec3 {
        let stood_on = self.others.iter().find(|other| other.id.slot == slot);
        stood_on.map_or(DVec3::ZERO, |other| other.velocity)
    }
}
