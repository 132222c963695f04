//! A tick in its phases. [`World::step`] plays them one after another; a game plays them
//! itself and acts in between, by the operations of [`World`].

use std::collections::BTreeSet;

use super::World;
use crate::command::Command;
use crate::event::Event;
use crate::players::movement::PlayerMotion;
use crate::players::{hovertank, walk};
use crate::state::EntityId;

/// A tick under way: the players move one by one ([`World::move_player`]), then the bodies
/// ([`World::move_bodies`]) and the missiles ([`World::move_missile`]); what waits outside of
/// the world is brought back ([`World::bring_back`]); [`World::end_tick`] completes it. A
/// player or phase that is left out stands still in this tick.
#[derive(Debug, Default)]
pub struct Tick {
    /// The players that were found overlapping something.
    overlapping: Vec<u16>,
    /// The motions of the players on foot after their own moves.
    moved: Vec<(EntityId, PlayerMotion)>,
    /// The missiles that have moved.
    pub(super) flown: BTreeSet<EntityId>,
}

/// Seconds for which touches are kept: a player who shoves a body touches it every
/// other tick.
const TOUCH_SECONDS: f64 = 0.25;

impl World {
    /// Begins the next tick.
    pub fn begin_tick(&mut self) -> Tick {
        self.tick += 1;
        self.events.clear();
        self.relocations.begin_tick();
        self.pushed.clear();
        let remembered = (TOUCH_SECONDS / self.context.seconds) as u64;
        self.touches.retain(|touch| touch.tick + remembered >= self.tick);
        Tick::default()
    }

    /// Moves a player by a command: walks, or steers a vehicle. An id that is not that of
    /// a player is ignored.
    pub fn move_player(&mut self, tick: &mut Tick, player: EntityId, command: Command) {
        if self.entities.find(player).is_none_or(|entity| entity.player().is_none()) {
            return;
        }
        let (arena, entities, context) = (&self.arena, &mut self.entities, &mut self.context);
        let slot = player.slot;
        hovertank::steer(arena, entities, slot, command, context.seconds);
        let outcome = walk::step(arena, entities, slot, command, context);
        if let Some(from) = outcome.teleported {
            self.events.push(Event::Teleported { player });
            self.announce(slot, Some(from.as_dvec3()));
        }
        tick.overlapping.extend(outcome.overlaps.then_some(slot));
        self.pushed.extend(outcome.pushed.then_some(player));
        self.note_touches(player, &outcome.touched);
    }

    /// Moves all bodies, puts back those that were found overlapping something or that fell
    /// out of the map, and turns cargo boxes that have landed into pads. A player who fell
    /// [waits](World::waiting) from then on.
    pub fn move_bodies(&mut self, tick: &mut Tick) {
        tick.moved = self.motions();
        self.advance_props(std::mem::take(&mut tick.overlapping));
        hovertank::deploy(
            &self.arena,
            &mut self.entities,
            &self.pairs,
            &mut self.events,
            &mut self.context,
        );
    }

    /// Completes a tick.
    pub fn end_tick(&mut self, tick: Tick) {
        // A player whose motion differs from their own move was moved by something
        // else.
        let displaced = tick.moved.iter().filter(|(id, own)| self.player_motion(*id) != Some(*own));
        let displaced: Vec<_> = displaced.map(|(id, _)| *id).collect();
        self.pushed.extend(displaced);
        let entities = &self.entities;
        self.relocations.end_tick(|id| entities.find(id).is_some());
        self.history.remember(&self.entities);
        self.count();
    }
}
