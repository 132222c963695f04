//! Sumo: players shove crates, and each other, off a platform. The last one on it scores.
//!
//! ```sh
//! cargo run -p server --example sumo
//! cargo run -p client-bot -- --bots 8 --duration 1m       # in another terminal
//! cargo run -p server --example sumo -- --soak 3600 --json
//! ```
//!
//! The map, `sumo.map` beside this file, is a platform over a pit; its brush entity
//! `trigger_pit` says where the pit is.

use std::process::ExitCode;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp_game::{Action, Event, Game, PerEntity, Respawn, Vitals, VolumeId, WorldMut};
use obsp_sim::{Command, EntityId};
use serde::{Deserialize, Serialize};

/// Crates that a round begins with.
const CRATES: usize = 12;
/// Reach of a shove, in units, and the speed that it gives to a body of 80 kg.
const REACH: f64 = 64.0;
const SHOVE: f64 = 420.0;
/// Seconds between two shoves of a player, and between two rounds.
const BREATH: f64 = 0.5;
const PAUSE: f64 = 3.0;

/// The name of the action.
const SHOVE_ACTION: &str = "shove";

/// The rules. Numbers that never change during a match would be fields of this type.
#[derive(Clone, Debug)]
pub(crate) struct Sumo;

/// Everything that changes during a match, as plain data: it is part of the match's digest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    wrestlers: PerEntity<Wrestler>,
    crates: Vec<EntityId>,
    pit: Option<VolumeId>,
    /// Ticks until the next round; zero while a round is played.
    pause: u32,
}

/// The game's own state of a player.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Wrestler {
    score: i16,
    out: bool,
    /// Ticks until the player may shove again.
    breath: u32,
}

impl Game for Sumo {
    type State = State;

    fn actions(&self) -> Vec<Action> {
        vec![Action::new(SHOVE_ACTION, "Shove").key("Mouse0").gamepad(7)]
    }

    fn classes(&self) -> Vec<String> {
        vec!["trigger_pit".into()]
    }

    /// Makes the pit a volume, so that `entered` is called with each entity that falls into it.
    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        let map = Arc::clone(world.map());
        let pit = map.entities().iter().find(|entity| entity.classname() == "trigger_pit");
        let pit = pit.and_then(|brushes| world.add_brush_volume(brushes));
        let mut state = State { pit, ..State::default() };
        put_crates(&mut state, world);
        state
    }

    /// A player who joins while two or more players stand watches until the next round.
    fn joined(&self, state: &mut State, _: &mut WorldMut<'_>, player: EntityId) {
        let out = standing(state).len() > 1;
        state.wrestlers.insert(player, Wrestler { out, ..Wrestler::default() });
    }

    fn left(&self, state: &mut State, _: &mut WorldMut<'_>, player: EntityId) {
        state.wrestlers.remove(player);
    }

    /// The action shoves the body in front of the player.
    fn moved(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
        let ticks = world.ticks_in(BREATH);
        let Some(wrestler) = state.wrestlers.get_mut(player) else { return };
        wrestler.breath = wrestler.breath.saturating_sub(1);
        if wrestler.breath > 0 || !world.pressed(command, SHOVE_ACTION) {
            return;
        }
        wrestler.breath = ticks;
        shove(world, player, command.ahead());
    }

    /// Players in the pit are out. Crates stay there until the next round.
    fn entered(&self, state: &mut State, world: &mut WorldMut<'_>, _: VolumeId, entity: EntityId) {
        let Some(wrestler) = state.wrestlers.get_mut(entity) else { return };
        wrestler.out = true;
        // The player waits outside of the world until `respawn` lets them in.
        if world.take_out(entity).is_ok() {
            world.emit(Event::Died { player: entity, by: entity, means: "pit" });
        }
    }

    /// Ends the round when at most one is left, and begins the next one after a pause.
    fn tick(&self, state: &mut State, world: &mut WorldMut<'_>) {
        if state.pause > 0 {
            state.pause -= 1;
            if state.pause == 0 {
                begin(state, world);
            }
            return;
        }
        let left = standing(state);
        if left.len() > 1 || state.wrestlers.len() == left.len() {
            return;
        }
        if let Some(winner) = left.first().and_then(|id| state.wrestlers.get_mut(*id)) {
            winner.score += 1;
            let score = winner.score;
            world.announce(format!("The last one standing scores, and has {score} now"));
        }
        state.pause = world.ticks_in(PAUSE);
    }

    fn respawn(&self, state: &mut State, _: &mut WorldMut<'_>, player: EntityId) -> Respawn {
        match state.wrestlers.get(player) {
            Some(wrestler) if wrestler.out => Respawn::Wait,
            _ => Respawn::SpawnPoint,
        }
    }

    /// Health and score, which all players see of each other.
    fn vitals(&self, state: &State, player: EntityId) -> Option<Vitals> {
        let wrestler = state.wrestlers.get(player)?;
        Some(Vitals { health: if wrestler.out { 0 } else { 100 }, score: wrestler.score })
    }
}

/// The players who are not out.
fn standing(state: &State) -> Vec<EntityId> {
    let standing = state.wrestlers.iter().filter(|(_, wrestler)| !wrestler.out);
    standing.map(|(id, _)| id).collect()
}

/// Begins a round: nobody is out, and there are new crates.
fn begin(state: &mut State, world: &mut WorldMut<'_>) {
    for (_, wrestler) in state.wrestlers.iter_mut() {
        wrestler.out = false;
    }
    for crate_ in std::mem::take(&mut state.crates) {
        // A crate that is gone already needs no removal.
        let _ = world.remove(crate_);
    }
    put_crates(state, world);
}

/// Puts crates about the platform. A place without room gets no crate: the error `NoRoom` is
/// expected there.
fn put_crates(state: &mut State, world: &mut WorldMut<'_>) {
    let Some(model) = world.model("crate") else { return };
    for _ in 0..CRATES {
        let (x, y) = (world.random().between(-220.0, 220.0), world.random().between(-220.0, 220.0));
        let spawned = world.spawn_body(model, DVec3::new(x, y, 17.0), DQuat::IDENTITY);
        state.crates.extend(spawned);
    }
}

/// Shoves the first thing within reach along the heading, a little upward.
fn shove(world: &mut WorldMut<'_>, player: EntityId, ahead: DVec3) {
    let Some(from) = world.entity(player).map(|entity| entity.position) else { return };
    let hit = world.cast_ray(from, from + ahead * REACH, Some(player));
    world.emit(Event::Ray { player, from, to: hit.at });
    if let Some(target) = hit.entity {
        let impulse = (ahead + DVec3::Z * 0.4) * (80.0 * SHOVE);
        // A player who is gone by now takes no impulse.
        let _ = world.apply_impulse(target, impulse, hit.at);
    }
}

fn main() -> ExitCode {
    server::run_game(Sumo, concat!(env!("CARGO_MANIFEST_DIR"), "/examples/sumo.map"))
}
