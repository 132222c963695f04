//! Bowling: the fire key bowls a ball. The pins that it has knocked over count once everything lies
//! still.
//!
//! ```sh
//! cargo run -p server --example bowling
//! cargo run -p server --example bowling -- --soak 3600 --json
//! ```
//!
//! A designer made the models of the ball and the pins, `models/ball.obj` and `models/pin.obj`. The
//! program reads them when it starts. `bowling.map` says where pins stand: at its entities of class
//! `bowling_pin`.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::model::{Model, shipped};
use obsp_game::{Action, Game, PerEntity, Vitals, WorldMut};
use obsp_sim::{Command, EntityId, Kind};
use serde::{Deserialize, Serialize};

/// Speed of a ball, in units per second.
const SPEED: f64 = 1_000.0;
/// Seconds after which a throw counts, even if something still rolls.
const PATIENCE: f64 = 8.0;
/// Cosine of the tilt beyond which a pin has fallen: 45 degrees.
const UPRIGHT: f64 = 0.7;

/// The rules. They hold the models: first the shipped ones, then the models of this game.
#[derive(Clone, Debug)]
pub(crate) struct Bowling {
    models: Arc<[Model]>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// Points of each player.
    points: PerEntity<i16>,
    pins: Vec<EntityId>,
    throw: Option<Throw>,
}

/// A throw whose ball is still on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Throw {
    ball: EntityId,
    by: EntityId,
    ticks: u32,
}

impl Bowling {
    /// Reads the models of this game from a folder.
    pub(crate) fn new(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let mut models = shipped();
        for name in ["ball", "pin"] {
            let path = folder.join(name).with_extension("obj");
            let text = obsp::text::read(&path)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            models.push(Model::from_obj(name, &text)?);
        }
        Ok(Self { models: models.into() })
    }
}

impl Game for Bowling {
    type State = State;

    fn models(&self) -> Vec<Model> {
        self.models.to_vec()
    }

    fn actions(&self) -> Vec<Action> {
        vec![Action::new("bowl", "Bowl").key("Mouse0").gamepad(7)]
    }

    fn classes(&self) -> Vec<String> {
        vec!["bowling_pin".into()]
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        let mut state = State::default();
        set_pins(&mut state, world);
        state
    }

    fn joined(&self, state: &mut State, _: &mut WorldMut<'_>, player: EntityId) {
        state.points.insert(player, 0);
    }

    fn left(&self, state: &mut State, _: &mut WorldMut<'_>, player: EntityId) {
        state.points.remove(player);
    }

    /// The action bowls a ball from in front of the player's knees, one ball at a time.
    fn moved(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
        if state.throw.is_some() || !world.pressed(command, "bowl") {
            return;
        }
        let Some(model) = world.model("ball") else { return };
        let Some(centre) = world.entity(player).map(|entity| entity.position) else { return };
        let at = centre + command.ahead() * 40.0 - DVec3::Z * 13.0;
        // If a wall leaves no room for the ball, nothing happens.
        let Ok(ball) = world.spawn_body(model, at, DQuat::IDENTITY) else { return };
        // The ball is in the world: it has just been put there.
        let _ = world.set_velocity(ball, command.ahead() * SPEED, DVec3::ZERO);
        state.throw = Some(Throw { ball, by: player, ticks: 0 });
    }

    /// Counts the fallen pins once the ball and all pins sleep.
    fn tick(&self, state: &mut State, world: &mut WorldMut<'_>) {
        let Some(throw) = &mut state.throw else { return };
        throw.ticks += 1;
        let sleeps = |id: &EntityId| world.entity(*id).is_none_or(|entity| entity.asleep);
        let still = sleeps(&throw.ball) && state.pins.iter().all(sleeps);
        if !still && f64::from(throw.ticks) * world.seconds() < PATIENCE {
            return;
        }
        let (ball, by) = (throw.ball, throw.by);
        state.throw = None;
        let fallen = state.pins.iter().filter(|pin| !stands(world, **pin)).count();
        if let Some(points) = state.points.get_mut(by) {
            *points = points.saturating_add(fallen as i16);
        }
        world.announce(match fallen {
            10 => "Strike! All ten".to_owned(),
            _ => format!("{fallen} pins"),
        });
        for gone in std::mem::take(&mut state.pins).into_iter().chain([ball]) {
            // A body that is gone already needs no removal.
            let _ = world.remove(gone);
        }
        set_pins(state, world);
    }

    fn vitals(&self, state: &State, player: EntityId) -> Option<Vitals> {
        Some(Vitals { health: 100, score: *state.points.get(player)? })
    }
}

/// Puts a pin at each `bowling_pin` of the map, except where a player stands.
fn set_pins(state: &mut State, world: &mut WorldMut<'_>) {
    let Some(model) = world.model("pin") else { return };
    let map = Arc::clone(world.map());
    let drawn = map.entities().iter().filter(|entity| entity.classname() == "bowling_pin");
    for at in drawn.filter_map(|entity| entity.origin()) {
        state.pins.extend(world.spawn_body(model, at, DQuat::IDENTITY));
    }
}

/// Whether a pin is there and upright.
fn stands(world: &WorldMut<'_>, pin: EntityId) -> bool {
    world.entity(pin).is_some_and(|entity| {
        matches!(entity.kind, Kind::Prop { .. })
            && (entity.orientation * DVec3::Z).dot(DVec3::Z) > UPRIGHT
    })
}

fn main() -> ExitCode {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"));
    match Bowling::new(&examples.join("models")) {
        Ok(game) => server::run_game(game, &examples.join("bowling.map").to_string_lossy()),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
