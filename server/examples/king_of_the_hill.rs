//! King of the hill: two teams, one hill. A team that holds it alone gains a point each
//! second, and wins the round with thirty.
//!
//! ```sh
//! cargo run -p server --example king_of_the_hill
//! cargo run -p server --example king_of_the_hill -- --soak 3600 --json
//! ```
//!
//! The hill is the brush entity `trigger_hill` of `king_of_the_hill.map`. Teams start at either
//! side of the room. Fields of the match tell clients which team holds the hill, and for how many
//! seconds each team has held it. A field of each player holds the team. A field that only the
//! player's own client receives says whether the player could kick now. An event says that the hill
//! changes hands. A player's score is the number of rounds that the team has won.

use std::process::ExitCode;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp_game::{
    Action, EventKind, EventType, Field, Game, Hint, PerEntity, Replicated, Respawn, Subject,
    Values, Vitals, VolumeId, WorldMut,
};
use obsp_sim::{Command, EntityId, World};
use serde::{Deserialize, Serialize};

/// Points that win a round, and seconds that a round lasts at most.
const WINNING: u32 = 30;
const ROUND: f64 = 180.0;
/// Number of barrels about the hill. They roll, and are in the way.
const BARRELS: usize = 10;
/// Reach of a kick in units, the speed that it gives to a player, and seconds between two kicks.
const REACH: f64 = 72.0;
const KICK: f64 = 380.0;
const BREATH: f64 = 0.7;

/// The name of the action.
const KICK_ACTION: &str = "kick";

const NAMES: [&str; 2] = ["Red", "Blue"];

/// The fields of the match: the team that holds the hill (0 none, 1 Red, 2 Blue), and the seconds
/// for which each team has held it.
const HOLDER: Field = Field::new("holder", 0, 2);
const RED_SECONDS: Field = Field::new("red_seconds", 0, 30).with_hint(Hint::Bar);
const BLUE_SECONDS: Field = Field::new("blue_seconds", 0, 30).with_hint(Hint::Bar);
/// The fields of a player: the team, and whether the player could kick now.
const TEAM: Field = Field::new("team", 0, 1).with_hint(Hint::Team);
const CAN_KICK: Field = Field::new("can_kick", 0, 1);

/// The event that a team has taken the hill. Its value is the name of the team, and the seconds for
/// which the team had held the hill before.
const TAKEN: &str = "hill_taken";
/// The event that a round is over. Its value is the name of the team that has won the round, or
/// "Nobody".
const ROUND_OVER: &str = "round_over";

#[derive(Clone, Debug)]
pub(crate) struct KingOfTheHill;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    players: PerEntity<Player>,
    hill: Option<VolumeId>,
    teams: [Team; 2],
    /// The team that held the hill in the last tick.
    holder: Option<usize>,
    /// Ticks of this round that have passed.
    clock: u32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Player {
    team: usize,
    /// Ticks until the player may kick again.
    breath: u32,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Team {
    /// Ticks for which the team has held the hill in this round.
    held: u32,
    /// Rounds that the team has won.
    won: i16,
}

impl Game for KingOfTheHill {
    type State = State;

    fn actions(&self) -> Vec<Action> {
        vec![Action::new(KICK_ACTION, "Kick").key("Mouse0").gamepad(7)]
    }

    fn replicated(&self) -> Replicated {
        let taken = EventKind::new(TAKEN)
            .field("team", EventType::Text)
            .field("before", EventType::Unsigned)
            .toast("{team} holds the hill, {before} s so far")
            .sound("hit");
        let round_over = EventKind::new(ROUND_OVER)
            .field("winner", EventType::Text)
            .toast("{winner} wins the round")
            .sound("kill");
        Replicated {
            of_match: vec![HOLDER, RED_SECONDS, BLUE_SECONDS],
            of_players: vec![TEAM],
            of_own_player: vec![CAN_KICK],
            events: vec![taken, round_over],
            ..Replicated::default()
        }
    }

    fn values(&self, state: &State, world: &World, of: Subject, values: &mut Values<'_>) {
        match of {
            Subject::Match => {
                values.set(&HOLDER, state.holder.map_or(0, |team| team as i64 + 1));
                for (field, team) in [RED_SECONDS, BLUE_SECONDS].iter().zip(&state.teams) {
                    values.set(field, seconds(world, team.held));
                }
            }
            Subject::Player(id) => {
                values.set(&TEAM, state.players.get(id).map_or(0, |player| player.team as i64));
            }
            Subject::OwnPlayer(id) => {
                values.set(&CAN_KICK, state.players.get(id).is_some_and(|own| own.breath == 0));
            }
            Subject::Body(_) => {}
        }
    }

    fn classes(&self) -> Vec<String> {
        vec!["trigger_hill".into()]
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        let map = Arc::clone(world.map());
        let hill = map.entities().iter().find(|entity| entity.classname() == "trigger_hill");
        let hill = hill.and_then(|brushes| world.add_brush_volume(brushes));
        let barrel = world.model("barrel");
        for _ in 0..BARRELS {
            let (x, y) =
                (world.random().between(-320.0, 320.0), world.random().between(-320.0, 320.0));
            if let Some(model) = barrel {
                // A barrel that finds no room near by is left out.
                let _ = world.spawn_body_near(model, DVec3::new(x, y, 96.0), DQuat::IDENTITY);
            }
        }
        State { hill, ..State::default() }
    }

    /// A player joins the smaller team.
    fn joined(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) {
        let size =
            |team: usize| state.players.iter().filter(|(_, player)| player.team == team).count();
        let team = usize::from(size(1) < size(0));
        state.players.insert(player, Player { team, breath: 0 });
        world.announce(format!("{} has one more player", NAMES[team]));
    }

    fn left(&self, state: &mut State, _: &mut WorldMut<'_>, player: EntityId) {
        state.players.remove(player);
    }

    /// The action kicks the other team, and barrels.
    fn moved(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
        let breath = world.ticks_in(BREATH);
        let Some(own) = state.players.get_mut(player) else { return };
        own.breath = own.breath.saturating_sub(1);
        if own.breath > 0 || !world.pressed(command, KICK_ACTION) {
            return;
        }
        own.breath = breath;
        let team = own.team;
        let Some(from) = world.entity(player).map(|entity| entity.position) else { return };
        let hit = world.cast_ray(from, from + command.ahead() * REACH, Some(player));
        let Some(target) = hit.entity else { return };
        if state.players.get(target).is_none_or(|other| other.team != team) {
            let impulse = (command.ahead() + DVec3::Z * 0.5) * (80.0 * KICK);
            // A target that is gone by now takes no impulse.
            let _ = world.apply_impulse(target, impulse, hit.at);
        }
    }

    /// Counts a tick for the team that is alone on the hill, and ends the round.
    fn tick(&self, state: &mut State, world: &mut WorldMut<'_>) {
        let holder = holder(state, world);
        if holder != state.holder {
            if let Some(team) = holder {
                let before = seconds(world, state.teams[team].held);
                // A tick has room for this event.
                let _ = world.send(TAKEN, &(NAMES[team], before));
            }
            state.holder = holder;
        }
        if let Some(team) = holder {
            state.teams[team].held += 1;
        }
        state.clock += 1;
        let wins = |team: &Team| team.held >= world.ticks_in(f64::from(WINNING));
        if !state.teams.iter().any(wins) && state.clock < world.ticks_in(ROUND) {
            return;
        }
        let [red, blue] = [0, 1].map(|team| state.teams[team].held);
        let winner = (red != blue).then(|| usize::from(blue > red));
        if let Some(team) = winner {
            state.teams[team].won += 1;
        }
        let _ = world.send(ROUND_OVER, &winner.map_or("Nobody", |team| NAMES[team]));
        state.clock = 0;
        state.teams.iter_mut().for_each(|team| team.held = 0);
        // Everybody starts again at their own side.
        for player in state.players.ids() {
            // A player who is outside of the world comes back anyway.
            let _ = world.take_out(player);
        }
    }

    fn respawn(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) -> Respawn {
        let Some(own) = state.players.get(player) else { return Respawn::SpawnPoint };
        let (side, yaw) = if own.team == 0 { (-480.0, 0) } else { (480.0, 32_768) };
        let y = world.random().between(-400.0, 400.0);
        Respawn::At { position: DVec3::new(side, y, 29.0), yaw }
    }

    fn vitals(&self, state: &State, player: EntityId) -> Option<Vitals> {
        let team = state.teams[state.players.get(player)?.team];
        Some(Vitals { health: 100, score: team.won })
    }
}

/// The team that is alone on the hill.
fn holder(state: &State, world: &WorldMut<'_>) -> Option<usize> {
    let on_hill = state.hill.map_or(&[][..], |hill| world.inside(hill));
    let mut present = [false; 2];
    for player in on_hill.iter().filter_map(|id| state.players.get(*id)) {
        present[player.team] = true;
    }
    match present {
        [true, false] => Some(0),
        [false, true] => Some(1),
        _ => None,
    }
}

fn seconds(world: &World, ticks: u32) -> u32 {
    (f64::from(ticks) * world.seconds()) as u32
}

fn main() -> ExitCode {
    let map = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/king_of_the_hill.map");
    server::run_game(KingOfTheHill, map)
}
