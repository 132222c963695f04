//! Tells a game which entities cross its volumes, and which touch its watched entities.

use obsp_sim::EntityId;

use crate::game::Game;
use crate::game_match::Match;

impl<G: Game> Match<G> {
    /// Reports to the game which entities have entered or left its volumes, and which touches of
    /// its watched entities have begun or ended.
    pub(crate) fn tell_contacts(&mut self) {
        for crossing in self.shared.volumes.update(&self.world) {
            let (volume, entity) = (crossing.volume, crossing.entity);
            self.act(|game, state, world| match crossing.inside {
                true => game.entered(state, world, volume, entity),
                false => game.left_volume(state, world, volume, entity),
            });
        }
        let (world, waiting) = (&self.world, self.world.waiting());
        let is_there = |id: EntityId| {
            world.entity(id).is_some() || world.player_kind(id).is_some() || waiting.contains(&id)
        };
        self.shared.watched.retain(|(id, _)| is_there(*id));
        let mut changes = Vec::new();
        for (entity, before) in &mut self.shared.watched {
            let mut now = world.touching(*entity);
            let left = before.iter().copied().filter(|by| !now.contains(by));
            let (kept, ended): (Vec<EntityId>, Vec<EntityId>) =
                left.partition(|by| world.keeps_touching(*entity, *by));
            let begun = now.iter().filter(|by| !before.contains(by));
            changes.extend(ended.iter().map(|by| (*entity, *by, false)));
            changes.extend(begun.map(|by| (*entity, *by, true)));
            now.extend(kept);
            now.sort_unstable();
            *before = now;
        }
        for (entity, by, touches) in changes {
            self.act(|game, state, world| match touches {
                true => game.touched(state, world, entity, by),
                false => game.parted(state, world, entity, by),
            });
        }
    }
}
