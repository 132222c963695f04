//! The phases of a step, which is one tick of the world. [`World::step`] runs them one after
//! another. A game runs them itself and acts in between, by the operations of [`World`].

use std::collections::BTreeSet;

use super::World;
use crate::command::Command;
use crate::event::WorldEvent;
use crate::players::movement::PlayerMotion;
use crate::players::{hovertank, walk};
use crate::state::EntityId;

/// A step under way: one tick of the world. The players move one by one ([`World::move_player`]),
/// then the bodies ([`World::move_bodies`]) and the missiles ([`World::move_missile`]). Entities
/// that wait outside of the world are brought back ([`World::bring_back`]), and sensors are updated
/// ([`World::update_sensors`]). [`World::end_step`] completes the step. A player who is left out stands still in this step. The bodies of a phase
/// that is left out stand still as well.
///
/// ```
/// # use std::sync::Arc;
/// use obsp_sim::{Command, Config, World};
///
/// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
/// let player = world.join()?;
/// let mut step = world.begin_step();
/// world.move_player(&mut step, player, Command::default());
/// world.move_bodies(&mut step);
/// // Here a game applies its rules: damage, explosions, pickups.
/// world.end_step(step);
/// assert_eq!(world.tick(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Step {
    /// The slots of the players that were found overlapping something.
    overlapping: Vec<u16>,
    /// The motions of the players on foot after their own moves.
    moved: Vec<(EntityId, PlayerMotion)>,
    /// The missiles that have moved.
    pub(super) flown: BTreeSet<EntityId>,
}

/// Number of seconds for which touches are kept. A player who shoves a body touches it every other
/// tick.
const TOUCH_SECONDS: f64 = 0.25;

impl World {
    /// Begins the next tick's step.
    pub fn begin_step(&mut self) -> Step {
        self.tick += 1;
        self.events.clear();
        self.sensors.clear_events();
        self.relocations.begin_tick();
        self.pushed.clear();
        let remembered = (TOUCH_SECONDS / self.context.seconds) as u64;
        self.touches.retain(|touch| touch.tick + remembered >= self.tick);
        Step::default()
    }

    /// Moves a player by a command: the player walks, or steers a vehicle. Nothing happens if
    /// the id is not that of a player.
    pub fn move_player(&mut self, step: &mut Step, player: EntityId, command: Command) {
        if self.entities.find(player).is_none_or(|entity| entity.player().is_none()) {
            return;
        }
        let (arena, entities, context) = (&self.arena, &mut self.entities, &mut self.context);
        let slot = player.slot;
        hovertank::steer(arena, entities, slot, command, context.seconds);
        let outcome = walk::step(arena, entities, slot, command, context);
        if let Some(from) = outcome.teleported {
            self.events.push(WorldEvent::Teleported { player });
            self.announce(slot, Some(from.as_dvec3()));
        }
        step.overlapping.extend(outcome.overlaps.then_some(slot));
        self.pushed.extend(outcome.pushed.then_some(player));
        self.note_touches(player, &outcome.touched);
    }

    /// Moves all bodies. Then puts back the bodies that were found overlapping something or that
    /// fell out of the map, and turns cargo boxes that have landed into pads. A player who fell
    /// [waits](World::waiting) from then on.
    pub fn move_bodies(&mut self, step: &mut Step) {
        step.moved = self.motions();
        self.advance_props(std::mem::take(&mut step.overlapping));
        self.bring_riders_down(step);
        self.advance_linear_moves();
        hovertank::deploy(
            &self.arena,
            &mut self.entities,
            &self.pairs,
            &mut self.events,
            &mut self.context,
        );
        self.follow_carriers();
    }

    /// Brings the players on bodies that went down to these bodies. Clients predict this motion.
    fn bring_riders_down(&mut self, step: &mut Step) {
        for (player, own) in &mut step.moved {
            if own.walker.ground_velocity.z < 0.0 && self.player_motion(*player) == Some(*own) {
                let (arena, entities, context) =
                    (&self.arena, &mut self.entities, &mut self.context);
                walk::come_down(arena, entities, player.slot, context);
                *own = self.player_motion(*player).unwrap_or(*own);
            }
        }
    }

    /// Completes a step.
    pub fn end_step(&mut self, step: Step) {
        // Something else moved a player whose motion differs from the player's own move.
        let displaced = step.moved.iter().filter(|(id, own)| self.player_motion(*id) != Some(*own));
        let displaced: Vec<_> = displaced.map(|(id, _)| *id).collect();
        self.pushed.extend(displaced);
        self.follow_carriers();
        let entities = &self.entities;
        self.relocations.end_tick(|id| entities.find(id).is_some());
        self.history.remember(&self.entities);
        self.count();
    }
}
