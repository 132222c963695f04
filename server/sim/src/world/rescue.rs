//! Putting bodies back into the world: after an overlap, after a fall out of the map,
//! and from limbo.

use glam::{DVec3, Vec3};

use super::World;
use crate::arena::spawn::{self, SpawnCandidates};
use crate::bodies::entities::Entity;
use crate::bodies::guard::{Placement, Seeker};
use crate::bodies::roles::{PlayerBody, Role};
use crate::bodies::sleep;
use crate::event::WorldEvent;
use crate::state::Posture;

impl World {
    /// Brings back all entities that found no place before.
    pub(super) fn bring_back_all(&mut self) {
        let waits = |entity: &Entity| entity.waits_for_room();
        for slot in self.entities.slots_where(waits) {
            self.return_from_limbo(slot);
        }
    }

    /// The emergency routine takes a body out of the world and puts it back at the nearest free
    /// place. If there is none, the body goes to a spawn point or to a place that can be reached
    /// from one. If all these places are taken, it goes into limbo. A player without a place nearby
    /// goes into limbo at once. A body that overlaps nothing after others were taken out is not
    /// moved.
    pub(super) fn rescue(&mut self, slot: u16) {
        let Some(entity) = self.entities.get(slot) else { return };
        let Some(placement) = entity.placement().copied() else { return };
        let seeker = Seeker::of(entity);
        self.entities.withdraw(slot);
        let Self { arena, entities, context, .. } = self;
        let space = arena.space(entities);
        let (shape, pose) = (placement.shape(), *placement.pose());
        let nearest = spawn::nearest_free(&space, (shape, seeker), pose, arena.sight, context);
        match nearest {
            Some(nearest) if nearest.pose() == placement.pose() => {
                self.entities.commit(slot, nearest);
                return;
            }
            Some(nearest) => {
                self.settle_in(slot, nearest);
                self.announce(slot, Some(pose.position));
            }
            None => {
                self.announce(slot, Some(pose.position));
                self.return_body(slot);
            }
        }
        self.context.counters.emergency_replacements += 1;
        if let Some(entity) = self.entities.get(slot) {
            self.events.push(WorldEvent::Replaced { entity: entity.id });
        }
        sleep::wake_around(&mut self.entities, placement.bounds());
    }

    /// Puts a body from limbo back at a place where there is room. Players stay in limbo until the
    /// end of the tick, because a game may choose the places where they come back.
    fn return_body(&mut self, slot: u16) {
        if self.entities.get(slot).is_some_and(|entity| entity.player().is_none()) {
            self.return_from_limbo(slot);
        }
    }

    /// Puts an entity from limbo at a free spawn point, or at a free place that can be reached from
    /// a spawn point.
    pub(super) fn return_from_limbo(&mut self, slot: u16) {
        let Self { arena, entities, context, .. } = self;
        let Some(entity) = entities.get(slot) else { return };
        let space = arena.space(entities);
        let (points, places) = (&arena.spawn_points, arena.places());
        let candidates = SpawnCandidates { points, places, attempt: self.tick };
        let seeker = Seeker::of(entity);
        let placement = match &entity.role {
            Role::Player(body) => {
                let shape = match body {
                    PlayerBody::Box(_) => arena.shapes.of_posture(Posture::Standing),
                    PlayerBody::Hovertank(_) => entity.shape,
                };
                spawn::player_place(&space, &candidates, (shape, seeker), context)
            }
            Role::Missile(_) => None,
            Role::Prop(_) | Role::Kinematic(_) => {
                let orientation = entity.dynamics.kept();
                let body = (entity.shape, seeker);
                let found = spawn::any_free(&space, &candidates, body, orientation, context);
                found.map(|placement| (placement, 0))
            }
        };
        let Some((placement, yaw)) = placement else { return };
        self.settle_player_in(slot, placement, yaw);
    }

    /// Puts an entity from limbo at a place. A player looks along `yaw`, and an event says that the
    /// player spawned.
    pub(super) fn settle_player_in(&mut self, slot: u16, placement: Placement, yaw: u16) {
        self.settle_in(slot, placement);
        self.announce(slot, None);
        let Some(entity) = self.entities.get_mut(slot) else { return };
        if let Some(walker) = entity.walker_mut() {
            walker.yaw = yaw;
        }
        if entity.player().is_some() {
            self.events.push(WorldEvent::Spawned { player: entity.id });
        }
    }

    fn settle_in(&mut self, slot: u16, placement: Placement) {
        let standing = placement.shape() == self.arena.shapes.of_posture(Posture::Standing);
        if let Some(entity) = self.entities.get_mut(slot) {
            entity.velocity = DVec3::ZERO;
            entity.angular = DVec3::ZERO;
            entity.reset_sleep();
            if let Some(walker) = entity.walker_mut() {
                walker.posture = if standing { Posture::Standing } else { Posture::Crouching };
                walker.ground_velocity = Vec3::ZERO;
            }
        }
        self.entities.commit(slot, placement);
    }

    /// Takes out the entities that have fallen out of the map, or flown far beyond it. The bodies
    /// among them are put back at once.
    pub(super) fn catch_fallen(&mut self) {
        let space = self.arena.space;
        let fallen = |entity: &Entity| {
            let place = entity.placement().map(|placement| placement.pose().position);
            place.is_some_and(|place| !space.contains(place))
        };
        for slot in self.entities.slots_where(fallen) {
            self.context.counters.fallen += 1;
            let from = self.position_in(slot);
            // Bodies that follow the entity stay where it fell.
            if let Some(id) = self.entities.get(slot).map(|entity| entity.id) {
                self.detach_all_from(id);
            }
            self.entities.withdraw(slot);
            self.announce(slot, from);
            self.return_body(slot);
        }
    }
}
