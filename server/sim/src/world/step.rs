//! The phases of a step, which is one tick of the world. [`World::step`] runs them one after
//! another. A game runs them itself and acts in between, by the operations of [`World`].

use std::collections::BTreeSet;

use glam::DVec3;

use super::World;
use crate::bodies::entities::Entity;
use crate::command::Command;
use crate::event::WorldEvent;
use crate::players::movement::PlayerMotion;
use crate::players::{hovertank, walk};
use crate::state::EntityId;

/// A step under way: one tick of the world. The players move one by one ([`World::move_player`]),
/// then the bodies ([`World::move_bodies`]) and the missiles ([`World::move_missile`]). Entities
/// that wait outside of the world are brought back ([`World::bring_back`]), and sensors are updated
/// ([`World::update_sensors`]). [`World::end_step`] completes the step. A player who is not moved
/// stands still in this step, and so do the bodies of a phase that is not run.
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
    /// The bodies that have moved, each with the position from which it came.
    bodies: Vec<(EntityId, DVec3)>,
    /// The motions of the players on foot after their own moves.
    moved: Vec<(EntityId, PlayerMotion)>,
    /// The missiles that have moved.
    pub(super) flown: BTreeSet<EntityId>,
}

impl Step {
    /// The bodies that [`World::move_bodies`] has moved, in ascending order of slot, each with the
    /// position from which it came.
    pub fn moved_bodies(&self) -> &[(EntityId, DVec3)] {
        &self.bodies
    }
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
    /// fell out of the map. A player who fell [waits](World::waiting) from then on.
    pub fn move_bodies(&mut self, step: &mut Step) {
        step.moved = self.motions();
        self.entities.trail.begin();
        self.advance_props(std::mem::take(&mut step.overlapping));
        self.bring_riders_down(step);
        self.advance_linear_moves();
        self.advance_swings();
        self.begin_armed_moves();
        let trail = self.entities.trail.end();
        let is_body = |entity: &&Entity| entity.walker().is_none() && entity.missile().is_none();
        let body = |(slot, from)| Some((self.entities.get(slot).filter(is_body)?.id, from));
        step.bodies = trail.into_iter().filter_map(body).collect();
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use glam::DQuat;
    use obsp::model::shipped;

    use super::*;
    use crate::random::Random;
    use crate::setup::Config;
    use crate::test_maps::{block, compiled};

    /// Bodies fall, rest, are pushed and fall out of the map. Exactly the bodies that move are
    /// listed, with the positions that they had before.
    #[test]
    fn the_bodies_that_moved_are_listed_with_their_positions_before() {
        let map = compiled(&block([-256, -256, -16], [256, 256, 0]), [200, 200, 40], "");
        let mut world = World::new(map, shipped().into(), Config::default()).unwrap();
        let crates = world.model("crate").unwrap();
        let mut random = Random::new(11);
        let mut bodies = Vec::new();
        for number in 0..12 {
            let at = DVec3::new(f64::from(number) * 40.0 - 240.0, 0.0, 40.0);
            bodies.push(world.spawn_body(crates, at, DQuat::IDENTITY).unwrap());
        }
        let (mut moved, mut rested) = (0, 0);
        for tick in 0..400 {
            if tick > 120 && tick % 20 == 0 {
                let body = bodies[random.below(bodies.len() as u64) as usize];
                let push = DVec3::new(random.between(-900.0, 900.0), 0.0, 300.0);
                let _ = world.add_velocity(body, push);
            }
            let mut step = world.begin_step();
            let place = |world: &World, id| world.entity(id).map(|entity| entity.position);
            let before: BTreeMap<_, _> =
                bodies.iter().filter_map(|&id| Some((id, place(&world, id)?))).collect();
            world.move_bodies(&mut step);
            let listed: BTreeMap<_, _> = step.moved_bodies().iter().copied().collect();
            for (id, from) in &before {
                let goes = place(&world, *id).is_some_and(|now| now != *from);
                assert!(!goes || listed.get(id) == Some(from), "tick {tick}: {id:?}");
                (moved, rested) = (moved + u32::from(goes), rested + u32::from(!goes));
            }
            let known = |(id, from)| before.get(id) == Some(from);
            assert!(listed.iter().all(known), "tick {tick}: {listed:?}");
            world.bring_back_all();
            world.end_step(step);
        }
        assert!(moved > 200 && rested > 200, "{moved} and {rested}");
    }
}
