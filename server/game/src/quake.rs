//! The entities of Quake's maps, in families that any game can use, so that a map plays as its
//! author drew it. The families use only the operations of [`WorldMut`]. [`items`] has the items
//! that players pick up. The rest of this page is about movers and triggers.
//!
//! A game asks for the [families](Family) that it wants, and calls these functions from its own
//! methods: [`brush_models`] for the models, [`Entities::set_up`], [`Entities::entered`],
//! [`Entities::damaged`], and once in each tick [`Entities::tick`]. The tick returns each
//! [`Effect`] that the game has to apply itself, because health and messages are the game's. A game
//! with items calls [`Entities::tick_with_keys`] instead, so that doors ask for keys. A game that
//! [declares](declared) the event for messages shows them by [`tell`].
//!
//! Movers are kinematic bodies made of their brushes. They slide (`motion`), turn (`turning`), do
//! both (`rotate_train`) or swing (`bob`). They move by Quake's formulas and under the guard: a
//! mover pushes a body that has room to give way, and stops at one that has none. The mover's
//! family then decides whether it turns back or waits. An entity sets off others by the names in
//! its keys (`targets`). The page `maps/ENTITIES.md` has a table of the classes and of all
//! differences from Quake.
//!
//! [`Liquids`] has the effects of water, slime and lava on players.
//!
//! Everything is plain data, so it is part of a game's state, of saved matches and of recordings.

mod bob;
mod button;
mod class;
mod conveyor;
mod door;
mod gravity;
mod group;
pub mod items;
mod keys;
mod leaf;
mod left_out;
mod liquids;
mod lock;
mod motion;
mod pad;
mod plat;
mod pushable;
mod rotate_train;
mod rotation;
mod rotor;
mod secret;
mod targets;
mod teleporter;
mod told;
mod touch;
mod train;
mod trigger;
mod turning;
mod wall;
mod zone;

#[cfg(test)]
mod tests;

use glam::DVec3;
use obsp::model::Model;
use obsp::{Map, MapEntity};
use obsp_sim::{EntityId, MAX_MODELS};
use serde::{Deserialize, Serialize};

use self::class::Class;
pub use self::gravity::movements;
use self::items::Key;
use self::left_out::LeftOut;
pub use self::liquids::Liquids;
use self::rotation::Rotated;
use self::targets::{Calls, Pending, Wires};
pub use self::told::{declared, tell};
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// Quake's flag of an entity that is left out of a deathmatch.
const NOT_IN_DEATHMATCH: u32 = 2048;

/// The number of models that the families leave free for the game's own.
const OWN_MODELS: usize = 48;

/// A family of entities that a game may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// `func_door`, `func_door_rotating` and `func_door_secret`: doors, alone or as a group.
    Doors,
    /// `func_plat`: lifts that wait below.
    Plats,
    /// `func_button`: buttons that are pressed or shot.
    Buttons,
    /// `func_train` with its `path_corner`s.
    Trains,
    /// `func_rotating`, and `rotate_object` with the entities that turn it.
    Rotation,
    /// `func_togglewall` and `func_breakable`: walls that come and go, or break.
    Walls,
    /// `func_pushable`: boxes that players push about.
    Pushables,
    /// `func_conveyor`: belts that carry what stands on them.
    Conveyors,
    /// `func_bob`: bodies that swing to and fro.
    Bobs,
    /// `trigger_…`: triggers that set off other entities, hurt, heal, change gravity or are the
    /// exit, and the pads and teleporters that the simulation leaves to the game
    /// ([`is_game_trigger`](obsp_sim::is_game_trigger)).
    Triggers,
}

impl Family {
    /// All families.
    pub const ALL: &[Self] = &[
        Self::Doors,
        Self::Plats,
        Self::Buttons,
        Self::Trains,
        Self::Rotation,
        Self::Walls,
        Self::Pushables,
        Self::Conveyors,
        Self::Bobs,
        Self::Triggers,
    ];

    /// The classes of the family.
    pub const fn classes(self) -> &'static [&'static str] {
        match self {
            Self::Doors => &["func_door", "func_door_rotating", "func_door_secret"],
            Self::Plats => &["func_plat"],
            Self::Buttons => &["func_button"],
            Self::Trains => &["func_train", "path_corner"],
            Self::Rotation => &[
                "func_rotating",
                "rotate_object",
                "func_rotate_entity",
                "func_rotate_door",
                "func_rotate_train",
                "path_rotate",
                "info_rotate",
            ],
            Self::Walls => &["func_togglewall", "func_breakable"],
            Self::Pushables => &["func_pushable"],
            Self::Conveyors => &["func_conveyor"],
            Self::Bobs => &["func_bob"],
            Self::Triggers => &[
                "trigger_multiple",
                "trigger_once",
                "trigger_secret",
                "trigger_relay",
                "trigger_counter",
                "trigger_hurt",
                "trigger_heal",
                "trigger_setgravity",
                "trigger_changelevel",
                "trigger_push",
                "trigger_teleport",
            ],
        }
    }

    /// Whether an entity of the family has lines of its own for a player: a locked door asks for
    /// its key, a counter tells its count, and a secret says that it was found.
    fn speaks(self, entity: &MapEntity) -> bool {
        match self {
            Self::Doors => lock::Lock::of(entity).is_locked(),
            Self::Triggers => {
                matches!(entity.classname(), "trigger_counter" | "trigger_secret")
            }
            Self::Plats
            | Self::Buttons
            | Self::Trains
            | Self::Rotation
            | Self::Walls
            | Self::Pushables
            | Self::Conveyors
            | Self::Bobs => false,
        }
    }

    /// Whether entities of the family are bodies, made of their brushes.
    const fn moves(self) -> bool {
        !matches!(self, Self::Triggers)
    }

    /// The family in `families` that plays an entity; `None` if none does, or if the entity is left
    /// out of a deathmatch.
    fn of(entity: &MapEntity, families: &[Self]) -> Option<Self> {
        let handles = |family: &&Self| family.classes().contains(&entity.classname());
        let plays = keys::flags(entity) & NOT_IN_DEATHMATCH == 0;
        families.iter().find(handles).copied().filter(|_| plays)
    }
}

/// The classes of some families, for [`Game::classes`](crate::Game::classes).
pub fn classes(families: &[Family]) -> Vec<String> {
    families.iter().flat_map(|family| family.classes()).map(|class| (*class).to_owned()).collect()
}

/// The models of the entities that some families move, for
/// [`Game::brush_models`](crate::Game::brush_models). If a map has more than a match has room for,
/// the models of the last entities are left out. An entity whose brushes make no model is left out,
/// too.
pub fn brush_models(map: &Map, families: &[Family]) -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    for entity in map.entities() {
        let Some(family) = Family::of(entity, families).filter(|family| family.moves()) else {
            continue;
        };
        let Ok(model) = map.model_of(entity) else { continue };
        let model = if family == Family::Pushables { model.as_dynamic() } else { model };
        // Two entities that are the same in every key and brush have one model.
        let is_new = models.iter().all(|known| known.name() != model.name());
        if is_new && models.len() < MAX_MODELS - OWN_MODELS {
            models.push(model);
        }
    }
    models
}

/// Something that the families leave to the game.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A player is hurt.
    Hurt {
        /// The player.
        player: EntityId,
        /// Points of health, above zero.
        damage: i16,
        /// The class of the entity that hurts the player, or the name of the liquid.
        means: &'static str,
    },
    /// A player is healed.
    Heal {
        /// The player.
        player: EntityId,
        /// Points of health, at least zero.
        points: i16,
        /// The health above which the player is not healed.
        most: i16,
    },
    /// A player has come to the exit of the map. A map has the effect once for each exit.
    Exit {
        /// The player.
        player: EntityId,
        /// The map to which the exit leads, as the map says; may be empty.
        map: String,
    },
    /// An entity with a `message` was set off.
    Message {
        /// The player who set it off, if one did.
        player: Option<EntityId>,
        /// The message.
        line: String,
    },
}

/// The entities of a map as the families play them.
///
/// ```
/// use std::sync::Arc;
///
/// use obsp_game::quake::{self, Effect, Entities, Family};
/// use obsp_game::{Game, Match, RunningMatch, VolumeId, WorldMut};
/// use obsp_sim::{Config, EntityId};
///
/// /// A game with doors and their triggers, in which nothing is hurt.
/// #[derive(Clone, Debug)]
/// struct Doors;
///
/// const FAMILIES: &[Family] = &[Family::Doors, Family::Triggers];
///
/// impl Game for Doors {
///     type State = Entities;
///
///     fn classes(&self) -> Vec<String> {
///         quake::classes(FAMILIES)
///     }
///
///     fn brush_models(&self, map: &obsp::Map) -> Vec<obsp::model::Model> {
///         quake::brush_models(map, FAMILIES)
///     }
///
///     fn set_up(&self, world: &mut WorldMut<'_>) -> Entities {
///         Entities::set_up(world, FAMILIES)
///     }
///
///     fn entered(&self, state: &mut Entities, _: &mut WorldMut<'_>, volume: VolumeId, by: EntityId) {
///         state.entered(volume, by);
///     }
///
///     fn tick(&self, state: &mut Entities, world: &mut WorldMut<'_>) {
///         for effect in state.tick(world) {
///             if let Effect::Message { line, .. } = effect {
///                 world.announce(line);
///             }
///         }
///     }
/// }
///
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut game = Match::new(Doors, map, Config::default())?;
/// game.step(&[]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entities {
    list: Vec<Entity>,
    /// Targets that are set off later.
    pending: Vec<Pending>,
    /// The entities that have come into volumes since the last tick.
    entered: Vec<(VolumeId, EntityId)>,
    /// The entities that were damaged since the last tick: index, points, and by whom.
    damaged: Vec<(u32, i32, EntityId)>,
}

/// An entity that a family plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entity {
    wires: Wires,
    class: Class,
}

impl Entities {
    /// Spawns the entities of the world's map that `families` play. A body that stands where a
    /// mover is drawn is moved to the nearest free place.
    pub fn set_up(world: &mut WorldMut<'_>, families: &[Family]) -> Self {
        let map = std::sync::Arc::clone(world.map());
        let (mut all, mut left_out) = (Self::default(), LeftOut::default());
        for entity in map.entities() {
            let Some(family) = Family::of(entity, families) else { continue };
            match Class::spawn(world, &map, entity, family) {
                Some(class) => {
                    let wires = match Rotated::of(&map, entity) {
                        Some(rotated) => Wires::named(rotated.by),
                        None => Wires::of(world, entity),
                    };
                    all.list.push(Entity { wires, class });
                }
                None if family.moves() && !entity.solids().is_empty() => left_out.note(entity),
                None => {}
            }
        }
        left_out.warn(world);
        group::link(&mut all.list, world);
        all
    }

    /// Whether the map has no entity that the families play.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The bodies of all movers, in the order of the map.
    pub fn movers(&self) -> impl Iterator<Item = EntityId> {
        self.list.iter().filter_map(|entity| entity.class.body())
    }

    /// Notes that an entity has entered a volume, for
    /// [`Game::entered`](crate::Game::entered). A game's own volumes do not matter here.
    pub fn entered(&mut self, volume: VolumeId, entity: EntityId) {
        let is_own = |own: &Entity| own.class.volume() == Some(volume);
        if self.list.iter().any(is_own) {
            self.entered.push((volume, entity));
        }
    }

    /// Notes that `by` has damaged an entity: doors, buttons and triggers with `health` are set off
    /// by that.
    pub fn damaged(&mut self, entity: EntityId, points: i16, by: EntityId) {
        let is_hit = |own: &Entity| own.class.body() == Some(entity);
        if let Some(at) = self.list.iter().position(is_hit) {
            self.damaged.push((at as u32, points.into(), by));
        }
    }

    /// Notes that `by` has fired a ray from one point to another, which sets off the triggers with
    /// `health` on its way.
    pub fn ray(&mut self, [from, to]: [DVec3; 2], points: i16, by: EntityId) {
        for (at, entity) in (0..).zip(&self.list) {
            if matches!(&entity.class, Class::Trigger(own) if own.is_met_by(from, to)) {
                self.damaged.push((at, points.into(), by));
            }
        }
    }

    /// Notes an explosion. It damages each entity by a share of `points` that falls to zero at
    /// `radius`.
    pub fn blast(
        &mut self,
        world: &WorldMut<'_>,
        at: DVec3,
        radius: f64,
        points: f64,
        by: EntityId,
    ) {
        for (index, entity) in (0..).zip(&self.list) {
            let Some(bounds) = entity.class.bounds(world) else { continue };
            let nearest = at.clamp(bounds.min, bounds.max);
            let share = 1.0 - at.distance(nearest) / radius;
            let is_seen = || [bounds.centre(), nearest].iter().any(|to| world.in_sight(at, *to));
            if share > 0.0 && is_seen() {
                self.damaged.push((index, (points * share) as i32, by));
            }
        }
    }

    /// Sets off all entities of this name, as if a player had used something that targets them.
    pub fn set_off(
        &mut self,
        world: &mut WorldMut<'_>,
        name: &str,
        by: Option<EntityId>,
    ) -> Vec<Effect> {
        let mut calls = Calls::default();
        targets::use_all(&mut self.list, name, by, world, &mut calls);
        self.follow(world, &mut calls);
        calls.effects
    }

    /// Sets off the entity of a mover's body, as if something that targets it had been used: a door
    /// opens, a button goes in, a lift goes to its other end, and a train starts.
    pub fn set_off_body(
        &mut self,
        world: &mut WorldMut<'_>,
        body: EntityId,
        by: Option<EntityId>,
    ) -> Vec<Effect> {
        let is_it = |own: &Entity| own.class.body() == Some(body);
        let mut calls = Calls::default();
        let Some(at) = self.list.iter().position(is_it) else { return calls.effects };
        targets::use_one(&mut self.list, at, by, world, &mut calls);
        self.follow(world, &mut calls);
        calls.effects
    }

    /// Plays a tick, after all bodies have moved. Doors with a lock open for everybody.
    pub fn tick(&mut self, world: &mut WorldMut<'_>) -> Vec<Effect> {
        self.tick_with_keys(world, &|_, _| true)
    }

    /// Plays a tick, after all bodies have moved. Doors with a lock open for the players who have
    /// the key, as `has_key` says.
    pub fn tick_with_keys(
        &mut self,
        world: &mut WorldMut<'_>,
        has_key: &dyn Fn(EntityId, Key) -> bool,
    ) -> Vec<Effect> {
        let mut calls = Calls::default();
        for at in 0..self.list.len() {
            let used = self.list[at].class.tick(at, world, &self.entered, &mut calls);
            let used = used.or_else(|| lock::tick(&mut self.list, at, world, &mut calls, has_key));
            if let Some(by) = used {
                targets::use_one(&mut self.list, at, by, world, &mut calls);
            }
        }
        self.entered.clear();
        for (at, points, by) in std::mem::take(&mut self.damaged) {
            let at = at as usize;
            let broken = class::damage(&mut self.list, at, points);
            if broken {
                targets::use_one(&mut self.list, at, Some(by), world, &mut calls);
            }
        }
        for pending in targets::due(&mut self.pending) {
            targets::call(&mut self.list, &pending, world, &mut calls);
        }
        self.follow(world, &mut calls);
        calls.effects
    }

    /// Fires the targets of all entities that were set off, then the targets of those targets, and
    /// so on.
    fn follow(&mut self, world: &mut WorldMut<'_>, calls: &mut Calls) {
        targets::follow(&mut self.list, &mut self.pending, world, calls);
    }
}
