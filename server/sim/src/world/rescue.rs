//! Coming back into the world: out of an overlap, out of the depths, out of
//! limbo.

use glam::DVec3;

use super::World;
use crate::combat::Fighter;
use crate::entities::{Entity, PlayerBody, Rest, Role};
use crate::event::Event;
use crate::guard::Placement;
use crate::rest;
use crate::spawn;
use crate::state::Posture;

impl World {
    /// Brings back who waits in limbo: the dead when their time is up, and
    /// whoever found no place before.
    pub(super) fn bring_back(&mut self) {
        for slot in self.entities.slots_where(|entity| entity.placement().is_none()) {
            let fighter = self.entities.get_mut(slot).and_then(Entity::fighter_mut);
            if let Some(fighter) = fighter.filter(|fighter| fighter.dead > 0) {
                fighter.dead -= 1;
                if fighter.dead > 0 {
                    continue;
                }
                *fighter = Fighter { score: fighter.score, ..Fighter::default() };
            }
            self.return_from_limbo(slot);
        }
    }

    /// The emergency routine: out of the world, and back at the nearest free
    /// place, else at a spawn point, else into limbo. Who is free again, now
    /// that others were taken out, stays.
    pub(super) fn rescue(&mut self, slot: u16) {
        let Some(entity) = self.entities.get(slot) else { return };
        let Some(placement) = entity.placement().copied() else { return };
        self.entities.withdraw(slot);
        let mut counters = self.counters;
        let nearest = spawn::nearest_free(
            &self.space(),
            placement.shape(),
            *placement.pose(),
            self.arena.sight,
            &mut counters,
        );
        self.counters = counters;
        match nearest {
            Some(nearest) if nearest.pose() == placement.pose() => {
                self.entities.commit(slot, nearest);
                return;
            }
            Some(nearest) => self.settle_in(slot, nearest),
            None => self.return_from_limbo(slot),
        }
        self.counters.emergency_replacements += 1;
        if let Some(entity) = self.entities.get(slot) {
            self.events.push(Event::Replaced { entity: entity.id });
        }
        rest::wake_around(&mut self.entities, placement.bounds());
    }

    /// Puts an entity that is nowhere at a spawn point, if one is free.
    pub(super) fn return_from_limbo(&mut self, slot: u16) {
        let Some(entity) = self.entities.get(slot) else { return };
        let mut counters = self.counters;
        let (space, points) = (self.space(), &self.arena.spawn_points);
        let places = (self.arena.places(), self.tick);
        let placement = match &entity.role {
            Role::Player(player) => {
                let shape = match player.body {
                    PlayerBody::Box(_) => self.arena.shapes.of_posture(Posture::Standing),
                    PlayerBody::Hovertank(_) => entity.shape,
                };
                spawn::player_place(&space, points, places, shape, &mut counters)
            }
            Role::Projectile(_) => None,
            Role::Prop(_) | Role::Cargo(_) => {
                let found = spawn::any_free(&space, points, places, entity.shape, &mut counters);
                found.map(|placement| (placement, 0))
            }
        };
        self.counters = counters;
        let Some((placement, yaw)) = placement else { return };
        self.settle_in(slot, placement);
        let Some(entity) = self.entities.get_mut(slot) else { return };
        if let Some(walker) = entity.walker_mut() {
            walker.yaw = yaw;
        }
        if entity.player().is_some() {
            self.events.push(Event::Spawned { player: entity.id });
        }
    }

    fn settle_in(&mut self, slot: u16, placement: Placement) {
        let standing = placement.shape() == self.arena.shapes.of_posture(Posture::Standing);
        if let Some(entity) = self.entities.get_mut(slot) {
            entity.velocity = DVec3::ZERO;
            entity.angular = DVec3::ZERO;
            entity.rest = Rest::default();
            if let Some(walker) = entity.walker_mut() {
                walker.posture = if standing { Posture::Standing } else { Posture::Crouching };
            }
        }
        self.entities.commit(slot, placement);
    }

    pub(super) fn catch_fallen(&mut self) {
        let floor = self.arena.floor;
        let fallen = |entity: &Entity| {
            entity.placement().is_some_and(|placement| placement.pose().position.z < floor)
        };
        for slot in self.entities.slots_where(fallen) {
            self.counters.fallen += 1;
            self.entities.withdraw(slot);
            self.return_from_limbo(slot);
        }
    }
}
