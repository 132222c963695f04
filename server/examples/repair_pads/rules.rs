//! Repair pads: the arena game, in which the driver of a hovertank drops a box instead of throwing
//! grenades. The box becomes a pad where it touches the ground, and repairs its driver's tank while
//! the tank rests in the hollow of the pad (after Blow 1997, "Let's Rock").
//!
//! The arena game is unchanged: these rules call its rules and add their own.

use glam::{DQuat, DVec2, DVec3};
use obsp::Map;
use obsp::model::Model;
use obsp_game::arena::{Arena, ArenaState};
use obsp_game::{
    Action, EventKind, EventType, Game, GameFile, PerEntity, Replicated, Respawn, Subject, Values,
    Vitals, VolumeId, WorldMut,
};
use obsp_sim::{
    Buttons, CollisionLayers, Command, EntityId, EntityState, MovementParameters, PlayerKind, World,
};
use serde::{Deserialize, Serialize};

/// Seconds between two boxes of a driver.
const RELOAD: f64 = 2.0;
/// Gap between the hull and the box under it, in units.
const GAP: f64 = 1.0;
/// Minimum upward component of the ground's normal for a pad: the cosine of 60 degrees. A box that
/// touches something steeper, such as a wall, is still falling.
const GROUND: f64 = 0.5;
/// Heights above the ground, in units, at which a place for the pad is tried. A slope is higher
/// under the pad's rim than under its middle.
const LIFTS: [f64; 4] = [1.0, 8.0, 20.0, 40.0];
/// Seconds until a box that found no room for a pad tries again. After each attempt it waits twice
/// as long, because an attempt wakes the bodies beside it.
const PATIENCE: f64 = 0.5;
/// Maximum number of ticks until a box tries again.
const MAX_WAIT: u32 = 10_000;
/// A tank is in the hollow if its centre is within these distances of the pad's, in units: along
/// the ground, and upward. It rests if it is slower than `RESTS`, in units per second.
const HOLLOW: [f64; 2] = [24.0, 18.0];
const RESTS: f64 = 2.0;
/// Health that a tank in its pad gains, and seconds until it gains more.
const REPAIR: i16 = 5;
const BREATH: f64 = 0.5;

/// The arena's action that drops a box.
const DROP: (&str, Buttons) = ("grenade", Buttons::TERTIARY);
/// The event that a box has become a pad. Its value is the driver.
const DEPLOYED: &str = "deployed";
/// The layers of a box while its pad looks for a place: it meets the map alone.
const NOBODY: CollisionLayers = CollisionLayers { layers: 0, mask: 0 };

#[derive(Clone, Debug)]
pub(crate) struct RepairPads;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    arena: ArenaState,
    drivers: PerEntity<Driver>,
}

/// The game's own state of a player.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Driver {
    /// Ticks until the player may drop another box.
    reload: u32,
    cargo: Option<Cargo>,
}

/// The box that a driver has dropped, or the pad that it has become.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cargo {
    body: EntityId,
    is_pad: bool,
    /// Height of the ground that the box touches.
    ground: Option<f64>,
    /// Ticks until the box looks for room again, and ticks that it waited after its latest attempt;
    /// zero before the first.
    wait: u32,
    patience: u32,
}

impl State {
    /// The pad of a driver, once the box has become one.
    pub(crate) fn pad(&self, driver: EntityId) -> Option<EntityId> {
        let cargo = self.drivers.get(driver)?.cargo.as_ref()?;
        cargo.is_pad.then_some(cargo.body)
    }
}

impl Game for RepairPads {
    type State = State;

    fn replicated_on(&self, map: &Map, file: &GameFile) -> Replicated {
        let deployed = EventKind::new(DEPLOYED).field("player", EventType::Player);
        let mut replicated = Arena.replicated_on(map, file);
        replicated.events.push(deployed.toast("{player} has a repair pad").sound("hit"));
        replicated
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        State { arena: Arena.set_up(world), ..State::default() }
    }

    fn joined(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) {
        Arena.joined(&mut state.arena, world, player);
        state.drivers.insert(player, Driver::default());
    }

    /// A driver who leaves takes the box or pad along.
    fn left(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) {
        Arena.left(&mut state.arena, world, player);
        let cargo = state.drivers.remove(player).and_then(|driver| driver.cargo);
        cargo.into_iter().for_each(|cargo| cargo.clear_away(world));
    }

    /// The arena never sees that a driver holds the action.
    fn moved(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
        let mut command = *command;
        let (action, button) = DROP;
        if world.player_kind(player) == Some(PlayerKind::Hovertank)
            && world.pressed(&command, action)
        {
            let others = command.buttons.bits() & !button.bits();
            command.buttons = Buttons::from_recorded_bits(others).unwrap_or_default();
            if let Some(driver) = state.drivers.get_mut(player) {
                driver.drop_box(world, player);
            }
        }
        Arena.moved(&mut state.arena, world, player, &command);
    }

    fn tick(&self, state: &mut State, world: &mut WorldMut<'_>) {
        Arena.tick(&mut state.arena, world);
        for (player, driver) in state.drivers.iter_mut() {
            driver.reload = driver.reload.saturating_sub(1);
            if driver.cargo.as_mut().is_some_and(|cargo| cargo.becomes_pad(world)) {
                // The event is declared, and its value is short.
                let _ = world.send(DEPLOYED, &player);
            }
        }
        if world.tick().is_multiple_of(world.ticks_in(BREATH).into()) {
            for player in state.drivers.ids() {
                let tank = world.entity(player);
                let pad = state.pad(player).and_then(|pad| world.entity(pad));
                if tank.zip(pad).is_some_and(|(tank, pad)| rests_in(&tank, &pad)) {
                    state.arena.heal(world, player, REPAIR);
                }
            }
        }
    }

    // Everything else is the arena's.

    fn actions(&self) -> Vec<Action> {
        Arena.actions()
    }

    fn classes(&self) -> Vec<String> {
        Arena.classes()
    }

    fn brush_models(&self, map: &Map) -> Vec<Model> {
        Arena.brush_models(map)
    }

    fn models_on(&self, map: &Map, file: &GameFile) -> Vec<Model> {
        Arena.models_on(map, file)
    }

    fn movements_on(
        &self,
        map: &Map,
        usual: MovementParameters,
    ) -> Vec<(&'static str, MovementParameters)> {
        Arena.movements_on(map, usual)
    }

    fn command(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &mut Command,
    ) {
        Arena.command(&mut state.arena, world, player, command);
    }

    fn missile_moved(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        missile: EntityId,
        flies: bool,
    ) {
        Arena.missile_moved(&mut state.arena, world, missile, flies);
    }

    fn entered(&self, state: &mut State, world: &mut WorldMut<'_>, volume: VolumeId, id: EntityId) {
        Arena.entered(&mut state.arena, world, volume, id);
    }

    fn values(&self, state: &State, world: &World, of: Subject, values: &mut Values<'_>) {
        Arena.values(&state.arena, world, of, values);
    }

    fn respawn(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) -> Respawn {
        Arena.respawn(&mut state.arena, world, player)
    }

    fn vitals(&self, state: &State, player: EntityId) -> Option<Vitals> {
        Arena.vitals(&state.arena, player)
    }
}

impl Driver {
    /// Drops a box from under the tank, if there is room for it. A driver has one box or pad, so
    /// the one before is cleared away.
    fn drop_box(&mut self, world: &mut WorldMut<'_>, tank: EntityId) {
        if self.reload > 0 {
            return;
        }
        self.reload = world.ticks_in(RELOAD);
        if let Some(body) = spawn_box(world, tank) {
            let cargo = Cargo { body, is_pad: false, ground: None, wait: 0, patience: 0 };
            self.cargo.replace(cargo).into_iter().for_each(|before| before.clear_away(world));
        }
    }
}

/// Puts a box under a tank, with the tank's velocity.
fn spawn_box(world: &mut WorldMut<'_>, tank: EntityId) -> Option<EntityId> {
    let (hull, tank) = (world.bounds_of(tank)?, world.entity(tank)?);
    let (model, upright) = (world.model("cargo_box")?, heading(tank.orientation));
    let top = world.model_bounds(model, DVec3::ZERO, upright)?.max.z;
    let place = tank.position.with_z(hull.min.z - GAP - top);
    let body = world.spawn_body(model, place, upright).ok()?;
    // The body is in the world, and the tank's velocity is finite.
    let _ = world.set_velocity(body, tank.velocity, DVec3::ZERO);
    Some(body)
}

impl Cargo {
    fn clear_away(&self, world: &mut WorldMut<'_>) {
        // A body that is gone already needs no removal.
        let _ = world.remove(self.body);
    }

    /// Turns a box that touches the ground into a pad. A box without room for a pad remains a box,
    /// and tries again later. Returns whether the box became a pad in this call.
    fn becomes_pad(&mut self, world: &mut WorldMut<'_>) -> bool {
        let Some(body) = world.entity(self.body).filter(|_| !self.is_pad) else { return false };
        // A box that sleeps has no contacts, but still lies where it lay.
        if !body.asleep {
            self.ground = ground_under(world, self.body);
        }
        self.wait = self.wait.saturating_sub(1);
        let (Some(ground), 0) = (self.ground, self.wait) else { return false };
        match spawn_pad(world, &body, ground) {
            Some(pad) => (self.body, self.is_pad) = (pad, true),
            None => {
                self.patience = (2 * self.patience).max(world.ticks_in(PATIENCE)).min(MAX_WAIT);
                self.wait = self.patience;
            }
        }
        self.is_pad
    }
}

/// Height of the ground that a body touches, if it touches any.
fn ground_under(world: &WorldMut<'_>, body: EntityId) -> Option<f64> {
    let contacts = world.contacts_of(body).filter(|contact| contact.impulse > 0.0);
    let of_map = contacts.filter(|contact| contact.other.is_none() && contact.normal.z < -GROUND);
    of_map.map(|contact| contact.at.z).reduce(f64::max)
}

/// Replaces a box by a pad: on the ground, a little higher, or at the nearest place in sight.
fn spawn_pad(world: &mut WorldMut<'_>, before: &EntityState, ground: f64) -> Option<EntityId> {
    let (model, upright) = (world.model("repair_pad")?, heading(before.orientation));
    let below = world.model_bounds(model, DVec3::ZERO, upright)?.min.z;
    let at = |lift: f64| before.position.with_z(ground - below + lift);
    // The pad may be where the box is.
    let layers = world.layers(before.id)?;
    world.set_layers(before.id, NOBODY).ok()?;
    let on_ground = LIFTS.iter().find_map(|&lift| world.spawn_body(model, at(lift), upright).ok());
    let pad = on_ground.or_else(|| world.spawn_body_near(model, at(LIFTS[1]), upright).ok());
    // The calls cannot fail: both bodies are in the world, and nothing else has come there.
    if let Some(pad) = pad {
        let _ = world.remove(before.id);
        let _ = world.set_velocity(pad, before.velocity, DVec3::ZERO);
    } else {
        let _ = world.set_layers(before.id, layers);
    }
    pad
}

/// Whether a tank rests in the hollow of a pad.
fn rests_in(tank: &EntityState, pad: &EntityState) -> bool {
    let [aside, above] = HOLLOW;
    let between = pad.orientation.inverse() * (tank.position - pad.position);
    let is_in = between.truncate().length() < aside && between.z.abs() < above;
    is_in && tank.velocity.length() < RESTS
}

/// The orientation with the same heading and no tilt.
fn heading(orientation: DQuat) -> DQuat {
    let ahead = (orientation * DVec3::X).truncate().normalize_or(DVec2::X);
    // A quaternion holds half of the turn. The middle between the x axis and `ahead` is that half.
    let half = (ahead + DVec2::X).normalize_or(DVec2::Y);
    DQuat::from_xyzw(0.0, 0.0, half.y, half.x)
}
