//! All bodies of a match, by slot, and the grid that tells which are near each
//! other.

use glam::DVec3;
use obsp::geometry::Aabb;
use serde::{Deserialize, Serialize};

use crate::bodies::blocker::Blocker;
use crate::bodies::guard::Placement;
use crate::bodies::near_solids::NearSolids;
use crate::bodies::overload::Pace;
use crate::bodies::roles::{Drive, Hovertank, Missile, MissileMotion, PlayerBody, Role, Walker};
use crate::bodies::sleep::AwakeReason;
use crate::collision::grid::{CellRange, Grid};
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::state::EntityId;

/// Most entities of a match: the number of slots that an encoding of them has to
/// provide for.
pub const MAX_ENTITIES: usize = 4096;

/// One body. Its placement is private: it changes only by [`Entities::commit`],
/// which takes a checked [`Placement`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entity {
    pub(crate) id: EntityId,
    pub(crate) role: Role,
    /// Its shape, or in limbo the shape that it will have when it comes back.
    pub(crate) shape: ShapeId,
    pub(crate) velocity: DVec3,
    /// Radians per second, world axes.
    pub(crate) angular: DVec3,
    pub(crate) sleep: SleepState,
    /// How the current tick simulates it; between two ticks [`Pace::Full`].
    pub(crate) pace: Pace,
    /// Whether the last tick left it out because of overload.
    pub(crate) skipped: bool,
    /// Its state at the last search for contacts.
    #[serde(skip)]
    pub(crate) searched_as: Option<SearchState>,
    /// How far its surface may move, in units, without meeting anything that the
    /// last search for contacts did not find: two bodies share the sum of both.
    pub(crate) free_distance: f64,
    /// Upper bound of how far its surface has moved since that search, in units.
    pub(crate) moved: f64,
    /// The slot of the player whose shove moves it, if nothing else has moved it
    /// since. The simulation does not depend on it: it only tells which players
    /// were pushed by others.
    pub(crate) shoved_by: Option<u16>,
    /// Whether a game keeps it out of the world: it does not wait for a free place.
    pub(crate) taken_out: bool,
    /// The velocity that a kinematic body gives it by pushing or carrying it, directly or through
    /// others; zero between two ticks.
    #[serde(skip)]
    pub(crate) driven_velocity: DVec3,
    /// What the guard stopped it with in this tick, if it did. The simulation does not depend
    /// on it.
    #[serde(skip)]
    pub(crate) stopped: Option<Stopped>,
    /// The solids around it: a cache.
    #[serde(skip)]
    pub(crate) near_solids: NearSolids,
    /// Not among what is deserialised: only the guard makes a placement.
    #[serde(skip)]
    placed: Option<(Placement, CellRange)>,
}

/// What the guard stopped a body with, the last time in a tick that it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stopped {
    pub(crate) by: Blocker,
    /// Normal of the plane between the two, from the body to what stopped it.
    pub(crate) normal: DVec3,
    /// The share of the tick's motion that the body had made, 0 to 1.
    pub(crate) share: f64,
}

/// All that a search for contacts depends on, for one body that hardly moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchState {
    pub(crate) shape: ShapeId,
    pub(crate) pose: Pose,
    pub(crate) awake: bool,
}

/// Whether a prop sleeps, and how long it has rested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SleepState {
    pub(crate) asleep: bool,
    /// Ticks in a row in which it was still.
    pub(crate) still_ticks: u16,
    /// Ticks in a row in which it stayed near its anchor.
    pub(crate) jitter_ticks: u16,
    /// Whether the solver or the guard held it this tick.
    pub(crate) held: bool,
    /// Whether the solver did: its contacts cancel all other forces.
    pub(crate) held_by_solver: bool,
    /// Ticks in a row in which it was held.
    pub(crate) held_ticks: u16,
    /// Its pose when it last left an anchor.
    #[serde(skip)]
    pub(crate) anchor: Option<Pose>,
    /// Why it is awake, if it is. The simulation does not depend on it.
    pub(crate) awake_because: AwakeReason,
    /// Bodies that fell asleep together share this and wake together.
    pub(crate) island: u16,
}

impl SleepState {
    /// Sets the counts of ticks to zero.
    pub(crate) fn reset_timers(&mut self) {
        self.still_ticks = 0;
        self.jitter_ticks = 0;
        self.held_ticks = 0;
    }
}

impl SearchState {
    /// A point of the body, given in its own axes, where it was at the search.
    pub(crate) fn point_to_world(&self, local: DVec3) -> DVec3 {
        self.pose.position + self.pose.rotation() * local
    }
}

impl Entity {
    /// Its place in the world; `None` in limbo.
    pub(crate) fn placement(&self) -> Option<&Placement> {
        self.placed.as_ref().map(|(placement, _)| placement)
    }

    /// Its state for a search for contacts now; `None` in limbo.
    pub(crate) fn search_state(&self) -> Option<SearchState> {
        let pose = *self.placement()?.pose();
        Some(SearchState { shape: self.shape, pose, awake: self.is_awake_body() })
    }

    /// How far it has moved beyond its free distance since the last search for contacts,
    /// in units; below zero if it has not.
    pub(crate) fn excess_travel(&self) -> f64 {
        self.moved - self.free_distance
    }

    /// Whether it is awake, and was not, or was elsewhere, at the last search for contacts.
    pub(crate) fn has_woken(&self) -> bool {
        self.is_awake_body() && self.searched_as != self.search_state()
    }

    /// Whether impulses move it.
    pub(crate) fn is_rigid(&self) -> bool {
        match self.role {
            Role::Prop(_) | Role::Cargo(_) => true,
            Role::Missile(_) => self.is_ball(),
            Role::Player(body) => matches!(body, PlayerBody::Hovertank(_)),
            Role::Kinematic(_) => false,
        }
    }

    /// Whether it moves by the velocity alone that a game has given it.
    pub(crate) fn is_kinematic(&self) -> bool {
        matches!(self.role, Role::Kinematic(_))
    }

    /// Whether it is kinematic and moves.
    pub(crate) fn is_driven(&self) -> bool {
        self.is_kinematic() && self.is_awake_body()
    }

    /// Its velocities, linear and angular: of a kinematic body those with which it moves, which
    /// are less than its game has set after something stopped it.
    pub(crate) fn motion(&self) -> [DVec3; 2] {
        let share = match &self.role {
            Role::Kinematic(kinematic) => kinematic.share(),
            _ => return [self.velocity, self.angular],
        };
        [self.velocity, self.angular].map(|velocity| velocity * share)
    }

    /// Lets its rest begin anew. A kinematic body sleeps if it has no velocity, on its own.
    pub(crate) fn reset_sleep(&mut self) {
        self.sleep = SleepState::default();
        if self.is_kinematic() {
            self.sleep.asleep = self.velocity == DVec3::ZERO && self.angular == DVec3::ZERO;
            self.sleep.island = self.id.slot;
        }
    }

    /// Whether it is a bouncing missile: a ball that is moved by its own rules, and of
    /// which the solver changes only the velocity.
    pub(crate) fn is_ball(&self) -> bool {
        matches!(self.role, Role::Missile(Missile { motion: MissileMotion::Bouncing, .. }))
    }

    /// Whether it is left out of this tick: it sleeps, or skips the tick.
    pub(crate) fn stands_still(&self) -> bool {
        self.sleep.asleep || self.pace == Pace::Skips
    }

    /// Lets a body that stands still move in this tick. A kinematic one moves only if a game
    /// lets it.
    pub(crate) fn resume(&mut self) {
        if self.is_kinematic() {
            return;
        }
        if self.sleep.asleep {
            self.sleep.asleep = false;
            self.sleep.reset_timers();
            self.shoved_by = None;
        }
        if self.pace == Pace::Skips {
            self.pace = Pace::Full;
        }
    }

    /// Whether an impulse moves it this tick.
    pub(crate) fn yields(&self) -> bool {
        self.is_rigid() && !self.stands_still() && self.placed.is_some()
    }

    /// Whether the guard moves it this tick, by its own velocity or that of the solver.
    pub(crate) fn is_awake_body(&self) -> bool {
        self.is_solved() || self.is_kinematic() && !self.stands_still() && self.placed.is_some()
    }

    /// Whether solver and guard move it this tick.
    pub(crate) fn is_solved(&self) -> bool {
        self.yields() && !self.is_ball()
    }

    /// Whether it has a velocity in this tick that contacts see.
    pub(crate) fn has_velocity(&self) -> bool {
        self.yields() || self.is_awake_body()
    }

    pub(crate) fn player(&self) -> Option<&PlayerBody> {
        match &self.role {
            Role::Player(body) => Some(body),
            _ => None,
        }
    }

    fn player_mut(&mut self) -> Option<&mut PlayerBody> {
        match &mut self.role {
            Role::Player(body) => Some(body),
            _ => None,
        }
    }

    /// How it flies, if it is a missile.
    pub(crate) fn missile(&self) -> Option<MissileMotion> {
        match &self.role {
            Role::Missile(missile) => Some(missile.motion),
            _ => None,
        }
    }

    /// The box agent that it is, if it is one.
    pub(crate) fn walker(&self) -> Option<&Walker> {
        match self.player()? {
            PlayerBody::Box(walker) => Some(walker),
            PlayerBody::Hovertank(_) => None,
        }
    }

    pub(crate) fn walker_mut(&mut self) -> Option<&mut Walker> {
        match self.player_mut()? {
            PlayerBody::Box(walker) => Some(walker),
            PlayerBody::Hovertank(_) => None,
        }
    }

    /// The hovertank that it is, if it is one.
    pub(crate) fn hovertank(&self) -> Option<&Hovertank> {
        match self.player()? {
            PlayerBody::Box(_) => None,
            PlayerBody::Hovertank(tank) => Some(tank),
        }
    }

    pub(crate) fn hovertank_mut(&mut self) -> Option<&mut Hovertank> {
        match self.player_mut()? {
            PlayerBody::Box(_) => None,
            PlayerBody::Hovertank(tank) => Some(tank),
        }
    }

    /// The acceleration by its own engine.
    pub(crate) fn drive(&self) -> Drive {
        self.hovertank().map_or_else(Drive::default, |tank| tank.drive)
    }
}

/// All bodies, by slot, and the grid.
#[derive(Clone, Debug)]
pub(crate) struct Entities {
    slots: Vec<Option<Entity>>,
    generations: Vec<u16>,
    grid: Grid,
    /// Slots that are kept free for players.
    players: usize,
    /// Entities that are no players.
    others: usize,
    /// Kinematic bodies.
    kinematic: usize,
    /// No slot before this one is free.
    first_free: usize,
}

impl Entities {
    pub(crate) fn new(bounds: &Aabb, max_players: u16) -> Self {
        let players = usize::from(max_players);
        let (slots, generations) = (Vec::new(), Vec::new());
        Self {
            slots,
            generations,
            grid: Grid::new(bounds),
            players,
            others: 0,
            kinematic: 0,
            first_free: 0,
        }
    }

    /// As many slots as were saved, all of them free; `None` if there are too many.
    pub(crate) fn with_generations(
        bounds: &Aabb,
        max_players: u16,
        generations: Vec<u16>,
    ) -> Option<Self> {
        if generations.len() > MAX_ENTITIES {
            return None;
        }
        let slots = generations.iter().map(|_| None).collect();
        Some(Self { slots, generations, ..Self::new(bounds, max_players) })
    }

    /// Puts an entity that was saved into the slot of its id, in limbo. `None` if it is not
    /// the one that this slot can have.
    pub(crate) fn restore(&mut self, entity: Entity) -> Option<()> {
        let slot = usize::from(entity.id.slot);
        let free = self.slots.get(slot)?.is_none();
        if !free || self.generations[slot] != entity.id.generation {
            return None;
        }
        self.others += usize::from(entity.player().is_none());
        self.kinematic += usize::from(entity.is_kinematic());
        self.slots[slot] = Some(Entity { placed: None, ..entity });
        let occupied = self.slots[self.first_free..].iter().take_while(|slot| slot.is_some());
        self.first_free += occupied.count();
        Some(())
    }

    /// How often each slot has been given out.
    pub(crate) fn generations(&self) -> &[u16] {
        &self.generations
    }

    /// Adds an entity in the lowest free slot. It is in limbo until a placement is
    /// committed. `None` if no slot is free: of [`MAX_ENTITIES`], one is kept for
    /// every player that may join.
    pub(crate) fn insert(&mut self, role: Role, shape: ShapeId) -> Option<EntityId> {
        let is_player = matches!(role, Role::Player(_));
        if !is_player && self.others + self.players >= MAX_ENTITIES {
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
        self.others += usize::from(!is_player);
        self.kinematic += usize::from(matches!(role, Role::Kinematic(_)));
        let id = EntityId { slot: slot as u16, generation: self.generations[slot] };
        let mut entity = Entity {
            id,
            role,
            shape,
            velocity: DVec3::ZERO,
            angular: DVec3::ZERO,
            sleep: SleepState::default(),
            pace: Pace::Full,
            skipped: false,
            searched_as: None,
            free_distance: 0.0,
            moved: 0.0,
            shoved_by: None,
            taken_out: false,
            driven_velocity: DVec3::ZERO,
            stopped: None,
            near_solids: NearSolids::none(),
            placed: None,
        };
        entity.reset_sleep();
        self.slots[slot] = Some(entity);
        Some(id)
    }

    /// Removes an entity; an id that is no longer there is ignored.
    pub(crate) fn remove(&mut self, id: EntityId) -> Option<Entity> {
        self.find(id)?;
        self.withdraw(id.slot);
        let slot = usize::from(id.slot);
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.first_free = self.first_free.min(slot);
        let gone = self.slots[slot].take();
        self.others -= usize::from(gone.as_ref().is_some_and(|entity| entity.player().is_none()));
        self.kinematic -= usize::from(gone.as_ref().is_some_and(Entity::is_kinematic));
        gone
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

    /// All entities, in ascending order of slot.
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

    /// Moves an entity to a place that the guard found free.
    pub(crate) fn commit(&mut self, slot: u16, placement: Placement) {
        let range = self.grid.range(placement.bounds());
        let Some(entity) = self.slots.get_mut(usize::from(slot)).and_then(Option::as_mut) else {
            return;
        };
        entity.shape = placement.shape();
        let before = entity.placed.replace((placement, range)).map(|(_, range)| range);
        if let Some(before) = before.filter(|&before| before != range) {
            self.grid.remove(slot, before);
        }
        self.grid.insert(slot, range, placement.bounds());
    }

    /// Takes an entity out of the world into limbo.
    pub(crate) fn withdraw(&mut self, slot: u16) {
        let placed = self.get_mut(slot).and_then(|entity| entity.placed.take());
        if let Some((_, range)) = placed {
            self.grid.remove(slot, range);
        }
    }

    /// Whether any body is kinematic.
    pub(crate) fn has_kinematic(&self) -> bool {
        self.kinematic > 0
    }

    /// Switches the grid on or off; without it all bodies are near each other.
    pub(crate) fn use_grid(&mut self, use_it: bool) {
        self.grid.skips = use_it;
    }

    /// Whether the grid is on.
    pub(crate) fn uses_grid(&self) -> bool {
        self.grid.skips
    }

    /// Number of slots, used or free.
    pub(crate) fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Writes to `found` the slots of all placed entities whose boxes overlap `bounds`, or
    /// nearly so, ascending; without the grid those of all.
    pub(crate) fn near(&self, bounds: &Aabb, found: &mut Vec<u16>) {
        self.grid.near(bounds, found);
    }

    /// The same for the slots that `choose` accepts.
    pub(crate) fn near_where(
        &self,
        bounds: &Aabb,
        choose: impl Fn(u16) -> bool,
        found: &mut Vec<u16>,
    ) {
        self.grid.near_where(bounds, choose, found);
    }
}
