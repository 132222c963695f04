//! The arena game: everybody against everybody, with a ray, rockets and grenades.

use std::sync::Arc;

use obsp::model::Model;
use obsp_sim::{AddPlayerError, Command, Config, EntityId, PlayerKind, SetupError, Vitals, World};

use crate::event::Event;
use crate::running::{AnyGame, RunningMatch};

/// The arena game.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arena;

/// A match of the arena game. The world fights it out by itself.
#[derive(Debug)]
struct ArenaMatch {
    world: World,
    events: Vec<Event>,
}

impl AnyGame for Arena {
    fn models(&self) -> Vec<Model> {
        obsp::model::shipped()
    }

    fn new_match(
        &self,
        map: Arc<obsp::World>,
        config: Config,
    ) -> Result<Box<dyn RunningMatch>, SetupError> {
        let world = World::new(map, self.models().into(), config)?;
        Ok(Box::new(ArenaMatch { world, events: Vec::new() }))
    }
}

impl RunningMatch for ArenaMatch {
    fn world(&self) -> &World {
        &self.world
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    fn join_as(&mut self, kind: PlayerKind) -> Result<EntityId, AddPlayerError> {
        self.world.join_as(kind)
    }

    fn leave(&mut self, player: EntityId) {
        self.world.leave(player);
    }

    fn step(&mut self, commands: &[(EntityId, Command)]) {
        self.world.step(commands);
        self.events.clear();
        self.events.extend(self.world.take_events().into_iter().map(Event::from));
    }

    fn events(&self) -> &[Event] {
        &self.events
    }

    fn vitals(&self, player: EntityId) -> Option<Vitals> {
        self.world.vitals(player)
    }

    fn digest(&self) -> u64 {
        self.world.digest()
    }
}
