use glam::DVec3;
use maps::geometry::Aabb;

use crate::combat::{Fighter, Projectile, Weapon};
use crate::grid::{CellRange, Grid};
use crate::guard::Placement;
use crate::hovertank::{Cargo, Drive, Hovertank};
use crate::movement::Walker;
use crate::near_solids::NearSolids;
use crate::pose::Pose;
use crate::shape::ShapeId;
use crate::state::{EntityId, ModelId};

/// Most entities of a match, and so the number of slots that whoever encodes
/// or stores them has to provide for.
pub const MAX_ENTITIES: usize = 4096;

/// What an entity does with itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Role {
    /// Whoever is steered by commands.
    Player(Player),
    /// A rigid polyhedron.
    Prop(ModelId),
    /// Something thrown that will burst.
    Projectile(Projectile),
    /// A box that will turn into a repair pad.
    Cargo(Cargo),
}

/// A player, as a body and as a fighter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Player {
    pub(crate) body: PlayerBody,
    pub(crate) fighter: Fighter,
}

/// How a player gets about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PlayerBody {
    /// On foot, as a box agent.
    Box(Walker),
    /// In a hovertank.
    Hovertank(Hovertank),
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
    /// How the last search for contacts found it.
    pub(crate) seen: Option<Seen>,
    /// The slot of the player whose shove set it going, if nothing else has
    /// since. No tick depends on it: it only tells who was pushed.
    pub(crate) shoved_by: Option<u16>,
    /// What of the world is around it; no tick depends on that either.
    pub(crate) near_solids: NearSolids,
    placed: Option<(Placement, CellRange)>,
}

/// What a search for contacts depends on, for one body that hardly moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    pose: Pose,
    awake: bool,
}

/// How close to sleep a prop is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rest {
    pub(crate) asleep: bool,
    /// Ticks in a row without motion to speak of.
    pub(crate) still: u16,
    /// For how many ticks in a row it has kept to one place, if it moves.
    pub(crate) trembling: u16,
    /// Whether nothing that it tried this tick has got it anywhere.
    pub(crate) held: bool,
    /// For how many ticks in a row.
    pub(crate) held_for: u16,
    /// Where it was when it last came away from a place.
    pub(crate) since: Option<Pose>,
    /// Bodies that fell asleep together share this and wake together.
    pub(crate) island: u16,
}

impl Rest {
    /// Counts its still time anew.
    pub(crate) fn begin_anew(&mut self) {
        self.still = 0;
        self.trembling = 0;
        self.held_for = 0;
    }
}

impl Entity {
    /// Where it stands, unless it waits in limbo.
    pub(crate) fn placement(&self) -> Option<&Placement> {
        self.placed.as_ref().map(|(placement, _)| placement)
    }

    /// What a search for contacts sees of it now, unless it is in limbo.
    pub(crate) fn seen_now(&self) -> Option<Seen> {
        let pose = *self.placement()?.pose();
        Some(Seen { pose, awake: self.is_awake_body() })
    }

    /// Whether impulses move it.
    pub(crate) fn is_rigid(&self) -> bool {
        match self.role {
            Role::Prop(_) | Role::Cargo(_) => true,
            Role::Projectile(_) => self.is_ball(),
            Role::Player(Player { body, .. }) => matches!(body, PlayerBody::Hovertank(_)),
        }
    }

    /// Whether it is a ball that was thrown: it falls and bounces by itself, and
    /// the solver only pushes it.
    pub(crate) fn is_ball(&self) -> bool {
        matches!(&self.role, Role::Projectile(projectile) if projectile.weapon == Weapon::Grenade)
    }

    /// Whether an impulse moves it this tick.
    pub(crate) fn yields(&self) -> bool {
        self.is_rigid() && !self.rest.asleep && self.placed.is_some()
    }

    /// Whether solver and guard move it this tick, together with all others.
    pub(crate) fn is_awake_body(&self) -> bool {
        self.yields() && !self.is_ball()
    }

    pub(crate) fn player(&self) -> Option<&Player> {
        match &self.role {
            Role::Player(player) => Some(player),
            Role::Prop(_) | Role::Projectile(_) | Role::Cargo(_) => None,
        }
    }

    fn player_mut(&mut self) -> Option<&mut Player> {
        match &mut self.role {
            Role::Player(player) => Some(player),
            Role::Prop(_) | Role::Projectile(_) | Role::Cargo(_) => None,
        }
    }

    /// The box agent that it is, if it is one.
    pub(crate) fn walker(&self) -> Option<&Walker> {
        match &self.player()?.body {
            PlayerBody::Box(walker) => Some(walker),
            PlayerBody::Hovertank(_) => None,
        }
    }

    pub(crate) fn walker_mut(&mut self) -> Option<&mut Walker> {
        match &mut self.player_mut()?.body {
            PlayerBody::Box(walker) => Some(walker),
            PlayerBody::Hovertank(_) => None,
        }
    }

    /// The hovertank that it is, if it is one.
    pub(crate) fn hovertank(&self) -> Option<&Hovertank> {
        match &self.player()?.body {
            PlayerBody::Box(_) => None,
            PlayerBody::Hovertank(tank) => Some(tank),
        }
    }

    pub(crate) fn hovertank_mut(&mut self) -> Option<&mut Hovertank> {
        match &mut self.player_mut()?.body {
            PlayerBody::Box(_) => None,
            PlayerBody::Hovertank(tank) => Some(tank),
        }
    }

    pub(crate) fn fighter(&self) -> Option<&Fighter> {
        self.player().map(|player| &player.fighter)
    }

    pub(crate) fn fighter_mut(&mut self) -> Option<&mut Fighter> {
        self.player_mut().map(|player| &mut player.fighter)
    }

    /// What an engine of its own gives it.
    pub(crate) fn drive(&self) -> Drive {
        self.hovertank().map_or_else(Drive::default, |tank| tank.drive)
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
        let others = self.iter().filter(|entity| entity.player().is_none()).count();
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
            seen: None,
            shoved_by: None,
            near_solids: NearSolids::none(),
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
