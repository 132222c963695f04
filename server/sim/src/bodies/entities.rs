//! All bodies of a match by slot, and which of them are near each other or active.
//!
//! An entity is *active* if a tick may change it. A tick visits the active entities alone, so a
//! body that sleeps costs nothing. Every mutable access makes an entity active, and
//! [`Entities::end_tick`] alone ends that. So no change can be overlooked.

mod dynamics;
mod entity;
mod neighbours;
mod trail;

use std::borrow::Cow;

use glam::DVec3;
use obsp::geometry::Aabb;

pub(crate) use dynamics::WEIGHTLESS;
pub(crate) use entity::{Entity, Outside, Record, SearchState, SleepState, Stopped};
pub(crate) use neighbours::CLEARANCE;
use neighbours::Neighbours;
use trail::Trail;

use crate::bodies::dynamics::Dynamics;
use crate::bodies::guard::Placement;
use crate::bodies::mobility::Mobility;
use crate::bodies::roles::{PlayerBody, Role};
use crate::bodies::slots::{MAX_ENTITIES, SlotSet};
use crate::collision::shape::ShapeId;
use crate::state::EntityId;
use crate::traits::{Attachment, CollisionLayers};

/// All bodies, by slot.
#[derive(Clone, Debug)]
pub(crate) struct Entities {
    slots: Vec<Option<Entity>>,
    generations: Vec<u16>,
    neighbours: Neighbours,
    /// Number of slots that are kept free for players.
    players: usize,
    /// Number of entities that take no place for a player.
    others: usize,
    /// The agents: the players who take no place. In ascending order of id.
    agents: Vec<EntityId>,
    /// The entities that a tick may change: all that are not idle ([`Entity::is_idle`]), and some
    /// idle ones.
    active: SlotSet,
    /// The kinematic bodies.
    kinematic: SlotSet,
    /// No slot below this one is free.
    first_free: usize,
    pub(crate) trail: Trail,
}

impl Entities {
    pub(crate) fn new(bounds: &Aabb, max_players: u16) -> Self {
        let players = usize::from(max_players);
        let (slots, generations) = (Vec::new(), Vec::new());
        Self {
            slots,
            generations,
            neighbours: Neighbours::new(bounds),
            players,
            others: 0,
            agents: Vec::new(),
            active: SlotSet::EMPTY,
            kinematic: SlotSet::EMPTY,
            first_free: 0,
            trail: Trail::default(),
        }
    }

    /// Makes one free slot for each saved generation. `agents` are in ascending order. Returns
    /// `None` if there are more generations than [`MAX_ENTITIES`].
    pub(crate) fn with_generations(
        bounds: &Aabb,
        max_players: u16,
        generations: Vec<u16>,
        agents: Vec<EntityId>,
    ) -> Option<Self> {
        if generations.len() > MAX_ENTITIES {
            return None;
        }
        let slots = generations.iter().map(|_| None).collect();
        Some(Self { slots, generations, agents, ..Self::new(bounds, max_players) })
    }

    /// Puts a saved entity into the slot of its id, in limbo. Returns `None` if the slot does not
    /// exist, is taken, or has another generation.
    pub(crate) fn restore(&mut self, entity: Entity) -> Option<()> {
        let slot = usize::from(entity.id.slot);
        let free = self.slots.get(slot)?.is_none();
        if !free || self.generations[slot] != entity.id.generation {
            return None;
        }
        self.others += usize::from(self.takes_no_place(&entity));
        self.fill(Entity { placed: None, ..entity });
        let occupied = self.slots[self.first_free..].iter().take_while(|slot| slot.is_some());
        self.first_free += occupied.count();
        Some(())
    }

    /// Puts an entity into the free slot of its id.
    fn fill(&mut self, entity: Entity) {
        let slot = entity.id.slot;
        self.active.insert(slot);
        if entity.is_kinematic() {
            self.kinematic.insert(slot);
        }
        self.slots[usize::from(slot)] = Some(entity);
    }

    /// The generation of each slot: how many entities were removed from the slot, modulo 65,536.
    pub(crate) fn generations(&self) -> &[u16] {
        &self.generations
    }

    /// Whether an entity takes none of the places for players.
    fn takes_no_place(&self, entity: &Entity) -> bool {
        entity.player().is_none() || self.is_agent(entity.id)
    }

    /// The agents, in ascending order of id.
    pub(crate) fn agents(&self) -> &[EntityId] {
        &self.agents
    }

    /// Whether an entity is an agent.
    pub(crate) fn is_agent(&self, id: EntityId) -> bool {
        self.agents.binary_search(&id).is_ok()
    }

    /// Adds an entity in the lowest free slot. The entity is in limbo until a placement is
    /// committed. Returns `None` if no slot is free. One of the [`MAX_ENTITIES`] slots is reserved
    /// for each player who may still join.
    pub(crate) fn insert(&mut self, role: Role, shape: ShapeId) -> Option<EntityId> {
        let takes_place = matches!(role, Role::Player(_));
        self.insert_at_lowest(role, shape, takes_place)
    }

    /// Adds an agent, in the same way as [`insert`](Self::insert).
    pub(crate) fn insert_agent(&mut self, body: PlayerBody, shape: ShapeId) -> Option<EntityId> {
        let id = self.insert_at_lowest(Role::Player(body), shape, false)?;
        let at = self.agents.partition_point(|agent| *agent < id);
        self.agents.insert(at, id);
        Some(id)
    }

    fn insert_at_lowest(
        &mut self,
        role: Role,
        shape: ShapeId,
        takes_place: bool,
    ) -> Option<EntityId> {
        if !takes_place && self.others + self.players >= MAX_ENTITIES {
            return None;
        }
        let free = self.slots[self.first_free..].iter().position(Option::is_none);
        let slot = match free {
            Some(offset) => self.first_free + offset,
            None if self.slots.len() < MAX_ENTITIES => {
                self.slots.push(None);
                self.generations.push(0);
                self.slots.len() - 1
            }
            None => return None,
        };
        self.first_free = slot + 1;
        self.others += usize::from(!takes_place);
        let id = EntityId { slot: slot as u16, generation: self.generations[slot] };
        let mut entity = Entity {
            id,
            role,
            layers: CollisionLayers::default(),
            shape,
            velocity: DVec3::ZERO,
            angular: DVec3::ZERO,
            dynamics: Dynamics::default(),
            sleep: SleepState::default(),
            record: Record::default(),
            visible: true,
            outside: Outside::Waits,
            placed: None,
        };
        entity.reset_sleep();
        self.fill(entity);
        Some(id)
    }

    /// Removes an entity and returns it. The returned entity still has its place, which the caller
    /// needs to wake the bodies around it. `None` if no entity has this id.
    pub(crate) fn remove(&mut self, id: EntityId) -> Option<Entity> {
        self.find(id)?;
        self.neighbours.release(id.slot);
        let slot = usize::from(id.slot);
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.first_free = self.first_free.min(slot);
        let gone = self.slots[slot].take();
        self.others -= usize::from(gone.as_ref().is_some_and(|entity| self.takes_no_place(entity)));
        self.agents.retain(|agent| *agent != id);
        self.active.remove(id.slot);
        self.kinematic.remove(id.slot);
        gone
    }

    /// The entity with this id, if it still exists.
    pub(crate) fn find(&self, id: EntityId) -> Option<&Entity> {
        self.get(id.slot).filter(|entity| entity.id == id)
    }

    pub(crate) fn find_mut(&mut self, id: EntityId) -> Option<&mut Entity> {
        self.get_mut(id.slot).filter(|entity| entity.id == id)
    }

    pub(crate) fn get(&self, slot: u16) -> Option<&Entity> {
        self.slots.get(usize::from(slot))?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: u16) -> Option<&mut Entity> {
        let entity = self.slots.get_mut(usize::from(slot))?.as_mut()?;
        self.active.insert(slot);
        Some(entity)
    }

    /// All entities, in ascending order of slot.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entity> {
        self.slots.iter().flatten()
    }

    /// The entities that a tick may change, in ascending order of slot. All players and
    /// missiles are among them, and all entities that are awake, follow a carrier or wait for room.
    pub(crate) fn active(&self) -> impl Iterator<Item = &Entity> {
        self.active.iter().filter_map(|slot| self.get(slot))
    }

    /// The set of the [`active`](Self::active) entities.
    pub(crate) fn active_slots(&self) -> &SlotSet {
        &self.active
    }

    pub(crate) fn active_mut(&mut self) -> impl Iterator<Item = &mut Entity> {
        let (mut slots, mut next) = (self.slots.iter_mut(), 0);
        self.active.iter().filter_map(move |slot| {
            let entity = slots.nth(usize::from(slot - next))?;
            next = slot + 1;
            entity.as_mut()
        })
    }

    /// Slots of the active entities for which `choose` holds, ascending.
    pub(crate) fn slots_where(&self, choose: impl Fn(&Entity) -> bool) -> Vec<u16> {
        self.active().filter(|entity| choose(entity)).map(|entity| entity.id.slot).collect()
    }

    /// Ends a tick: the entities that the next tick leaves as they are become inactive.
    pub(crate) fn end_tick(&mut self) {
        for slot in self.slots_where(Entity::is_idle) {
            self.active.remove(slot);
        }
    }

    /// The mobility of the entity in a slot; [`Mobility::Absent`] if there is none.
    pub(crate) fn mobility(&self, slot: u16) -> Mobility {
        self.get(slot).map_or(Mobility::Absent, Entity::mobility)
    }

    /// The carriers of an entity, the nearest first: at most one more than
    /// [`Attachment::MAX_CHAIN`].
    pub(crate) fn carriers(&self, id: EntityId) -> Vec<EntityId> {
        let carrier = |id: &EntityId| Some(self.find(*id)?.attachment()?.to);
        std::iter::successors(carrier(&id), carrier).take(Attachment::MAX_CHAIN + 1).collect()
    }

    /// Moves an entity to a place that the guard found free.
    pub(crate) fn commit(&mut self, slot: u16, placement: Placement) {
        let Some(entity) = self.get_mut(slot) else { return };
        entity.shape = placement.shape();
        entity.outside = Outside::Waits;
        let to = placement.pose().position;
        let from = entity.placed.replace(placement).map(|before| before.pose().position);
        self.trail.note(slot, from);
        let way = from.map_or(DVec3::ZERO, |from| to - from);
        self.neighbours.hold(slot, placement.bounds(), way);
    }

    /// Takes an entity out of the world into limbo.
    pub(crate) fn withdraw(&mut self, slot: u16) {
        let Some(entity) = self.get_mut(slot) else { return };
        if let Some(placement) = entity.placed.take() {
            entity.dynamics.keep(placement.pose().orientation);
            // If the body comes back to the same pose, a new search must find its contacts.
            entity.record.searched_as = None;
            self.neighbours.release(slot);
        }
    }

    /// Whether any body is kinematic.
    pub(crate) fn has_kinematic(&self) -> bool {
        !self.kinematic.is_empty()
    }

    /// The active kinematic bodies, in ascending order of slot. They include all kinematic bodies
    /// that move or are about to move.
    pub(crate) fn active_kinematic(&self) -> impl Iterator<Item = &Entity> {
        self.kinematic.common(&self.active).filter_map(|slot| self.get(slot))
    }

    /// The kinematic bodies that move, in ascending order of slot.
    pub(crate) fn moving_kinematic(&self) -> impl Iterator<Item = &Entity> {
        self.active_kinematic().filter(|entity| entity.mobility() == Mobility::Kinematic)
    }

    /// Switches the grid on or off. Without it, all bodies count as near each other.
    pub(crate) fn use_grid(&mut self, use_it: bool) {
        self.neighbours.use_grid = use_it;
    }

    /// Whether the grid is on.
    pub(crate) fn uses_grid(&self) -> bool {
        self.neighbours.use_grid
    }

    /// Number of placed entities.
    pub(crate) fn placed_count(&self) -> usize {
        self.neighbours.count()
    }

    /// Makes sure that [`neighbours`](Self::neighbours) knows all bodies that may come near the
    /// entity in `slot` while it is in `bounds`. `way` is how far the entity goes in a tick,
    /// roughly.
    pub(crate) fn hold(&mut self, slot: u16, bounds: &Aabb, way: DVec3) {
        self.neighbours.hold(slot, bounds, way);
    }

    /// Like [`hold`](Self::hold), and forgets neighbours from which the entity is now far away.
    /// Calling this once a tick is enough.
    pub(crate) fn hold_closely(&mut self, slot: u16, bounds: &Aabb, way: DVec3) {
        self.neighbours.hold_closely(slot, bounds, way);
    }

    /// Whether [`neighbours`](Self::neighbours) knows these bodies already.
    pub(crate) fn holds(&self, slot: u16, bounds: &Aabb) -> bool {
        self.neighbours.holds(slot, bounds)
    }

    /// The slots of the placed entities that may come near the entity in `slot`, ascending. Two
    /// entities whose held bounds are no farther apart than twice [`CLEARANCE`] know each other.
    pub(crate) fn neighbours(&self, slot: u16) -> Cow<'_, [u16]> {
        self.neighbours.of(slot)
    }

    /// Number of slots, used or free.
    pub(crate) fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Writes to `found`, ascending, the slots of all placed entities whose boxes overlap `bounds`,
    /// and of some that are only near `bounds`. Without the grid, all placed entities are found.
    pub(crate) fn near(&self, bounds: &Aabb, found: &mut Vec<u16>) {
        self.neighbours.near(bounds, found);
    }
}
