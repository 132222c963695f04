//! Counts what a map's entities do in a soak. A soak may pass although nothing on the map works: no
//! lift rises, no door opens, and nobody takes an item. These figures show that.

use std::collections::BTreeMap;
use std::fmt;

use glam::{DQuat, DVec3};
use obsp::entity_check::{EntityFault, KnownClasses};
use obsp::model::{BodyKind, Model};
use obsp_game::AnyGame;
use obsp_sim::{EntityId, EntityState, Kind, State, Submersion, SweptShape, World};
use serde::Serialize;

/// The events that the items of [`obsp_game::quake`] send when a player takes one.
const TAKEN: [&str; 2] = ["found", "found_power"];

/// A mover that makes less than this share of its motion in a tick is held up.
const HELD: f64 = 0.5;

/// A mover counts as held up after this many seconds. A body that is merely pushed is out of the
/// way sooner.
const HELD_SECONDS: f64 = 0.1;

/// A ride ends after this many seconds without a moving mover below the player.
const RIDE_PAUSE: f64 = 0.5;

/// Distance below a player's feet, in units, at which a mover carries the player.
const BELOW: f64 = 1.0;

/// The counts of what the map's entities did. The fields have the names of the JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Played {
    /// Kinematic bodies that took part, such as doors, lifts, buttons and trains.
    pub movers: usize,
    /// How often a mover began to move from rest.
    pub mover_moves: u64,
    /// How often a player began to ride on a moving mover.
    pub rides: u64,
    /// How often a mover was held up for a tenth of a second.
    pub blocked_movers: u64,
    /// Items that players took.
    pub items_taken: u64,
    /// Seconds for which players swam, summed over the players.
    pub swum_seconds: f64,
    /// Classes of the map's entities that neither the server nor the game handles.
    pub unknown_classes: usize,
}

impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} movers, which moved {} times, carried {} rides and were held up {} times; \
             {} items taken; players swam for {:.1} s; {} unknown classes",
            self.movers,
            self.mover_moves,
            self.rides,
            self.blocked_movers,
            self.items_taken,
            self.swum_seconds,
            self.unknown_classes
        )
    }
}

/// Counts what the entities of the map do.
#[derive(Debug)]
pub(super) struct PlayedWatch {
    /// Whether bodies of a model are kinematic, by the number of the model.
    kinematic: Vec<bool>,
    movers: BTreeMap<EntityId, Mover>,
    /// The tick in which each player was last on a moving mover.
    riders: BTreeMap<EntityId, u64>,
    /// The ticks in which players swam, summed over the players.
    swum: u64,
    counted: Played,
}

/// A mover after the last tick.
#[derive(Clone, Copy, Debug)]
struct Mover {
    position: DVec3,
    orientation: DQuat,
    /// The linear and the angular speed that the game gave the mover, in units and in radians per
    /// second. The state shows zero while the mover is held up, so the last speeds before that are
    /// kept.
    speed: f64,
    spin: f64,
    /// Whether the mover is under way, even if it is held up. A mover at rest sleeps.
    moves: bool,
    /// The ticks in a row in which it was held up.
    held: u64,
}

impl PlayedWatch {
    /// A watch over a match of `game` with these models.
    pub(super) fn new(world: &World, game: &dyn AnyGame, models: &[Model]) -> Self {
        let known = game.add_classes(KnownClasses::of_server());
        let faults = EntityFault::find(world.map().entities(), &known);
        let unknown = |fault: &&EntityFault| matches!(fault, EntityFault::Unhandled { .. });
        let unknown_classes = faults.iter().filter(unknown).count();
        Self {
            kinematic: models.iter().map(|model| model.kind() == BodyKind::Kinematic).collect(),
            movers: BTreeMap::new(),
            riders: BTreeMap::new(),
            swum: 0,
            counted: Played { unknown_classes, ..Played::default() },
        }
    }

    /// Whether an entity is a mover.
    pub(super) fn is_mover(&self, entity: &EntityState) -> bool {
        let Kind::Prop { model } = entity.kind else { return false };
        let kinematic = self.kinematic.get(usize::from(model.0)) == Some(&true);
        kinematic && entity.traits.is_solid()
    }

    /// Whether a mover moved in the last tick, or has set out.
    pub(super) fn moves(&self, mover: EntityId) -> bool {
        self.movers.get(&mover).is_some_and(|mover| mover.moves)
    }

    /// Looks at the state after a tick.
    pub(super) fn see(&mut self, world: &World, state: &State) {
        let patience = u64::from(world.ticks_in(HELD_SECONDS).max(1));
        for entity in &state.entities {
            if !self.is_mover(entity) {
                continue;
            }
            let spin = world.spin(entity.id).unwrap_or_default();
            let Some(before) = self.movers.get(&entity.id).copied() else {
                self.counted.movers += 1;
                self.movers.insert(entity.id, Mover::new(entity, spin));
                continue;
            };
            let mut now = Mover::new(entity, spin);
            now.moves |= before.place() != now.place();
            if now.moves && (now.speed, now.spin) == (0.0, 0.0) {
                (now.speed, now.spin) = (before.speed, before.spin);
            }
            self.counted.mover_moves += u64::from(now.moves && !before.moves);
            if before.is_held(&now, world.seconds()) {
                now.held = before.held + 1;
                self.counted.blocked_movers += u64::from(now.held == patience);
            }
            self.movers.insert(entity.id, now);
        }
        let pause = u64::from(world.ticks_in(RIDE_PAUSE));
        for player in state.entities.iter().filter(|entity| entity.kind.is_player()) {
            let swims = world.submersion(player.id).is_some_and(Submersion::swims);
            // The state before the first tick took no time.
            self.swum += u64::from(swims && state.tick > 0);
            if !self.carrier(world, player).is_some_and(|mover| self.moves(mover)) {
                continue;
            }
            let last = self.riders.insert(player.id, state.tick);
            self.counted.rides += u64::from(last.is_none_or(|last| state.tick - last > pause));
        }
    }

    /// The mover that a player stands on.
    pub(super) fn carrier(&self, world: &World, player: &EntityState) -> Option<EntityId> {
        let Kind::Player { posture } = player.kind else { return None };
        let bounds = world.bounds_of(player.id)?;
        let is_near = |mover: &EntityId| {
            world.bounds_of(*mover).is_some_and(|own| own.inflated(BELOW).overlaps(&bounds))
        };
        if !self.movers.keys().any(is_near) {
            return None;
        }
        let way = [player.position, player.position - DVec3::Z * BELOW];
        let shape = SweptShape::Player(posture);
        let hit = world.sweep(shape, DQuat::IDENTITY, way, Some(player.id));
        hit.entity.filter(|below| self.movers.contains_key(below))
    }

    /// Whether a moving mover is nearer to a player than `reach` in the direction `ahead`.
    pub(super) fn comes(
        &self,
        world: &World,
        player: &EntityState,
        ahead: DVec3,
        reach: f64,
    ) -> bool {
        let Some(bounds) = world.bounds_of(player.id) else { return false };
        let front = bounds.swept(ahead * reach);
        self.movers.iter().any(|(mover, state)| {
            let bounds = world.bounds_of(*mover).filter(|_| state.moves);
            bounds.is_some_and(|own| own.overlaps(&front))
        })
    }

    /// The counts of a world of `tick_rate` ticks a second. `events` are the events of the game
    /// by their names.
    pub(super) fn conclude(&self, events: &BTreeMap<String, u64>, tick_rate: u32) -> Played {
        let taken = TAKEN.iter().filter_map(|name| events.get(*name));
        let swum_seconds = self.swum as f64 / f64::from(tick_rate);
        Played { items_taken: taken.sum(), swum_seconds, ..self.counted }
    }
}

impl Mover {
    fn new(entity: &EntityState, spin: DVec3) -> Self {
        let EntityState { position, orientation, velocity, .. } = *entity;
        let (speed, spin) = (velocity.length(), spin.length());
        Self { position, orientation, speed, spin, moves: !entity.asleep, held: 0 }
    }

    fn place(&self) -> (DVec3, DQuat) {
        (self.position, self.orientation)
    }

    /// Whether the mover was under way, but moved too little between this state and `now`.
    fn is_held(&self, now: &Self, seconds: f64) -> bool {
        let falls_short = |asked: f64, made: f64| asked > 0.0 && made < HELD * asked * seconds;
        // `angle_between` is the angle of the rotation from one to the other, up to half a turn.
        let [made, turned] =
            [self.position.distance(now.position), self.orientation.angle_between(now.orientation)];
        self.moves && now.moves && (falls_short(self.speed, made) || falls_short(self.spin, turned))
    }
}
