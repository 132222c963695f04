use glam::DVec3;
use maps::geometry::Aabb;

use crate::combat::{Fighter, Projectile, Weapon};
use crate::grid::{CellRange, Grid};
use crate::guard::Placement;
use crate::movement::Walker;
use crate::shape::ShapeId;
use crate::state::{EntityId, ModelId};

/// Most entities of a match, and so the number of slots that whoever encodes
/// or stores them has to provide for.
pub const MAX_ENTITIES: usize = 4096;

/// What an entity does with itself.
#[derive(Clone, Debug)]
pub(crate) enum Role {
    /// A box agent steered by commands.
    Player(Player),
    /// A rigid polyhedron.
    Prop(ModelId),
    /// Something thrown that will burst.
    Projectile(Projectile),
}

/// A player, as a body and as a fighter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Player {
    pub(crate) walker: Walker,
    pub(crate) fighter: Fighter,
}

/// One body. Where it stands is private: it changes only by
/// [`Entities::commit`], which takes nothing but a checked [`Placement`].
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    pub(crate) id: EntityId,
    pub(crate) role: Role,
    /// The shape it has, or will have when it comes back from limbo.
    pub(crate) shape: ShapeId,
    pub(crate) velocity: DVec3,
    /// Radians per second, world axes.
    pub(crate) angular: DVec3,
    pub(crate) rest: Rest,
    placed: Option<(Placement, CellRange)>,
}

/// How close to sleep a prop is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    pub(crate) asleep: bool,
    /// Ticks in a row without motion to speak of.
    pub(crate) still: u16,
    /// Bodies that fell asleep together share this and wake together.
    pub(crate) island: u16,
}

impl Entity {
    /// Where it stands, unless it waits in limbo.
    pub(crate) fn placement(&self) -> Option<&Placement> {
        self.placed.as_ref().map(|(placement, _)| placement)
    }

    /// Whether the solver and the guard move it this tick.
    pub(crate) fn is_awake_prop(&self) -> bool {
        let rigid = match self.role {
            Role::Prop(_) => true,
            Role::Projectile(projectile) => projectile.weapon == Weapon::Grenade,
            Role::Player(_) => false,
        };
        rigid && !self.rest.asleep && self.placed.is_some()
    }

    pub(crate) fn walker(&self) -> Option<&Walker> {
        match &self.role {
            Role::Player(player) => Some(&player.walker),
            Role::Prop(_) | Role::Projectile(_) => None,
        }
    }

    pub(crate) fn fighter(&self) -> Option<&Fighter> {
        match &self.role {
            Role::Player(player) => Some(&player.fighter),
            Role::Prop(_) | Role::Projectile(_) => None,
        }
    }

    pub(crate) fn fighter_mut(&mut self) -> Option<&mut Fighter> {
        match &mut self.role {
            Role::Player(player) => Some(&mut player.fighter),
            Role::Prop(_) | Role::Projectile(_) => None,
        }
    }
}

/// All bodies, by slot, and the grid that knows who is near whom.
#[derive(Clone, Debug)]
pub(crate) struct Entities {
    slots: Vec<Option<Entity>>,
    generations: Vec<u16>,
    grid: Grid,
    /// Slots that are kept free for players.
    players: usize,
}

impl Entities {
    pub(crate) fn new(bounds: &Aabb, max_players: u16) -> Self {
        let players = usize::from(max_players);
        Self { slots: Vec::new(), generations: Vec::new(), grid: Grid::new(bounds), players }
    }

    /// How often each slot has been handed out.
    pub(crate) fn generations(&self) -> &[u16] {
        &self.generations
    }

    /// Takes the lowest free slot. The newcomer is in limbo until a placement
    /// is committed. `None` when there is no slot left: of [`MAX_ENTITIES`],
    /// as many as there may be players are kept for them, whatever is thrown.
    pub(crate) fn insert(&mut self, role: Role, shape: ShapeId) -> Option<EntityId> {
        let is_player = matches!(role, Role::Player(_));
        let others = self.iter().filter(|entity| entity.walker().is_none()).count();
        if !is_player && others + self.players >= MAX_ENTITIES {
            return None;
        }
        let free = self.slots.iter().position(Option::is_none);
        let slot = match free {
            Some(slot) => slot,
            None if self.slots.len() < MAX_ENTITIES => {
                self.slots.push(None);
                self.generations.push(0);
                self.slots.len() - 1
            }
            None => return None,
        };
        let id = EntityId { slot: slot as u16, generation: self.generations[slot] };
        self.slots[slot] = Some(Entity {
            id,
            role,
            shape,
            velocity: DVec3::ZERO,
            angular: DVec3::ZERO,
            rest: Rest::default(),
            placed: None,
        });
        Some(id)
    }

    /// Forgets an entity; an id that is no longer there is ignored.
    pub(crate) fn remove(&mut self, id: EntityId) -> Option<Entity> {
        self.find(id)?;
        self.withdraw(id.slot);
        let slot = usize::from(id.slot);
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.slots[slot].take()
    }

    /// The entity with this id, if it is still there.
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
        self.slots.get_mut(usize::from(slot))?.as_mut()
    }

    /// Everyone, in ascending order of slot.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entity> {
        self.slots.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entity> {
        self.slots.iter_mut().flatten()
    }

    /// Slots for which `choose` holds, ascending.
    pub(crate) fn slots_where(&self, choose: impl Fn(&Entity) -> bool) -> Vec<u16> {
        self.iter().filter(|entity| choose(entity)).map(|entity| entity.id.slot).collect()
    }

    /// Moves an entity to a place that the guard has found free.
    pub(crate) fn commit(&mut self, slot: u16, placement: Placement) {
        let range = self.grid.range(placement.bounds());
        let Some(entity) = self.slots.get_mut(usize::from(slot)).and_then(Option::as_mut) else {
            return;
        };
        entity.shape = placement.shape();
        let before = entity.placed.replace((placement, range)).map(|(_, range)| range);
        if before != Some(range) {
            if let Some(before) = before {
                self.grid.remove(slot, before);
            }
            self.grid.insert(slot, range);
        }
    }

    /// Takes an entity out of the world into limbo.
    pub(crate) fn withdraw(&mut self, slot: u16) {
        let placed = self.get_mut(slot).and_then(|entity| entity.placed.take());
        if let Some((_, range)) = placed {
            self.grid.remove(slot, range);
        }
    }

    /// Whether the grid may spare anyone a look; else all are near.
    pub(crate) fn use_grid(&mut self, use_it: bool) {
        self.grid.skips = use_it;
    }

    /// Slots of all placed entities whose grid cells `bounds` touches,
    /// ascending.
    pub(crate) fn near(&self, bounds: &Aabb, found: &mut Vec<u16>) {
        self.grid.near(bounds, found);
    }
}
