//! Capture the flag: two teams, each with a flag in a base. A player scores by bringing the other
//! team's flag home while their own flag is there.
//!
//! Each base has a door (`func_door`), which opens for its team alone, and a window with a lift
//! (`func_plat`) to it. The map also has flags (`item_flag`) and pick-ups (`item_haste`). Players
//! of a team pass through each other. Agents guard the bases.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::model::Model;
use obsp::{Map, MapEntity};
use obsp_game::{
    Action, Audience, EventKind, EventType, Field, Game, Hint, PerEntity, Replicated, Respawn,
    Subject, Values, Vitals, WorldMut,
};
use obsp_sim::{CollisionLayers, Command, EntityId, MovementParameters, PlayerKind, World};
use serde::{Deserialize, Serialize};

const NAMES: [&str; 2] = ["Red", "Blue"];

/// Agents that guard each base, and the radius in units of the circle on which they walk.
const GUARDS: usize = 4;
const BEAT: f64 = 160.0;
/// Reach of a hand in units, the speed that a push gives a player, and seconds between two actions.
const REACH: f64 = 48.0;
const PUSH: f64 = 360.0;
const BREATH: f64 = 0.7;
/// Seconds that haste lasts, until a pick-up is there again, and until a dropped flag returns.
const HASTE: f64 = 6.0;
const PICK_UP: f64 = 15.0;
const RETURN: f64 = 20.0;
/// Speed of doors and lifts, and the distance at which a door sees its team, in units.
const SPEED: f64 = 120.0;
const SIGHT: f64 = 160.0;

/// The fields of the match and of players, with hints for clients that know nothing of this game.
const RED: Field = Field::new("red", 0, 99).with_hint(Hint::Counter);
const BLUE: Field = Field::new("blue", 0, 99).with_hint(Hint::Counter);
const TEAM: Field = Field::new("team", 0, 1).with_hint(Hint::Team);
const HASTE_LEFT: Field = Field::new("haste", 0, 10).with_hint(Hint::Timer);

#[derive(Clone, Debug)]
pub(crate) struct CaptureTheFlag;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    players: PerEntity<Player>,
    teams: [Team; 2],
    /// The things that give haste, each with the ticks until it is there again.
    pick_ups: Vec<(EntityId, u32)>,
    movers: Vec<Mover>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Player {
    team: usize,
    /// Ticks of haste that are left.
    haste: u32,
    /// Ticks until the player may push again.
    breath: u32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Team {
    score: i16,
    home: DVec3,
    flag: Option<EntityId>,
    carrier: Option<EntityId>,
    /// Ticks until a dropped flag returns; zero while the flag is at home or carried.
    lies: u32,
}

/// A door or a lift.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Mover {
    body: EntityId,
    /// Where it is drawn, and how far it rises.
    rest: DVec3,
    rise: f64,
    /// The team for which it opens; `None` for a lift.
    team: Option<usize>,
}

impl Game for CaptureTheFlag {
    type State = State;

    fn actions(&self) -> Vec<Action> {
        let push = Action::new("push", "Push").key("Mouse0").gamepad(7);
        vec![push, Action::new("drop", "Drop the flag").key("KeyG").gamepad(2)]
    }

    fn movements(&self, usual: MovementParameters) -> Vec<(&'static str, MovementParameters)> {
        vec![("haste", MovementParameters { run_speed: 2.0 * usual.run_speed, ..usual })]
    }

    fn classes(&self) -> Vec<String> {
        ["item_flag", "func_door", "func_plat", "item_haste"].map(String::from).into()
    }

    fn models(&self) -> Vec<Model> {
        // A pole with a cloth: the hull of the ends of the pole and of the corner of the cloth.
        let flag = [(-1.0, -24.0), (1.0, -24.0), (-1.0, 24.0), (24.0, 16.0)];
        let flag = flag.into_iter().flat_map(|(x, z)| [-1.0, 1.0].map(|y| DVec3::new(x, y, z)));
        let flag = Model::convex_hull("flag", &flag.collect::<Vec<_>>());
        let own = [flag, Model::ball("haste", 10.0, 0.5), Model::ball("balloon", 24.0, 0.5)];
        let own = own.into_iter().map(|model| model.expect("these numbers make a model"));
        obsp::model::shipped().into_iter().chain(own).collect()
    }

    fn brush_models(&self, map: &Map) -> Vec<Model> {
        map.entities().iter().filter_map(|entity| map.model_of(entity).ok()).collect()
    }

    fn replicated(&self) -> Replicated {
        let event = |name: &str, toast: &str, sound: &str| {
            let event = EventKind::new(name).field("player", EventType::Player);
            event.field("team", EventType::Text).toast(toast).sound(sound)
        };
        let taken = event("taken", "{player} has the flag of {team}", "hit");
        Replicated {
            of_match: vec![RED, BLUE],
            of_players: vec![TEAM],
            of_own_player: vec![HASTE_LEFT],
            events: vec![taken, event("captured", "{player} scores for {team}", "kill")],
            ..Replicated::default()
        }
    }

    fn values(&self, state: &State, world: &World, of: Subject, values: &mut Values<'_>) {
        match of {
            Subject::Match => {
                values.set(&RED, state.teams[0].score);
                values.set(&BLUE, state.teams[1].score);
            }
            Subject::Player(id) => {
                values.set(&TEAM, state.team_of(id).unwrap_or_default() as i64);
            }
            Subject::OwnPlayer(id) => {
                let ticks = state.players.get(id).map_or(0.0, |own| f64::from(own.haste));
                values.set(&HASTE_LEFT, (ticks * world.seconds()).ceil() as i64);
            }
            Subject::Body(_) => {}
        }
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> State {
        let mut state = State::default();
        let map = Arc::clone(world.map());
        for entity in map.entities() {
            let home = entity.origin().unwrap_or_default();
            match entity.classname() {
                "item_flag" => {
                    let flag = picture(world, "flag", home);
                    let team = usize::from(entity.get("team") == Some("blue"));
                    state.teams[team] = Team { home, flag, ..Team::default() };
                }
                "item_haste" => {
                    state.pick_ups.extend(picture(world, "haste", home).map(|body| (body, 0)));
                }
                "func_door" | "func_plat" => state.movers.extend(mover(world, entity)),
                _ => {}
            }
        }
        // A balloon hangs in the middle. A push sets it adrift.
        if let Some(model) = world.model("balloon")
            && let Ok(balloon) = world.spawn_body_near(model, DVec3::Z * 96.0, DQuat::IDENTITY)
            && let Some(mut parameters) = world.body_parameters(balloon)
        {
            parameters.mass = obsp_sim::BodyMass::Mass(4.0);
            (parameters.gravity_scale, parameters.linear_damping) = (0.0, 0.5);
            world.set_body_parameters(balloon, parameters).expect("the numbers are in range");
        }
        for number in 0..2 * GUARDS {
            let Ok(guard) = world.spawn_agent(PlayerKind::Box) else { break };
            let team = enlist(&mut state, world, guard);
            let _ = world.name_agent(guard, &format!("{} guard {}", NAMES[team], number / 2 + 1));
        }
        state
    }

    fn joined(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) {
        enlist(state, world, player);
    }

    fn left(&self, state: &mut State, _: &mut WorldMut<'_>, player: EntityId) {
        state.players.remove(player);
    }

    /// A line that begins with `!` is for the speaker's team.
    fn said(
        &self,
        state: &mut State,
        _: &mut WorldMut<'_>,
        player: EntityId,
        line: &mut String,
    ) -> Audience {
        let Some(rest) = line.strip_prefix('!') else { return Audience::Everyone };
        *line = rest.trim().to_owned();
        let team = state.team_of(player);
        Audience::Players(
            state.players.ids().into_iter().filter(|id| state.team_of(*id) == team).collect(),
        )
    }

    /// The guards walk in a circle about the flag of their base.
    fn command(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &mut Command,
    ) {
        if world.is_agent(player)
            && let (Some(team), Some(entity)) = (state.team_of(player), world.entity(player))
        {
            let from_flag = (entity.position - state.teams[team].home).with_z(0.0);
            let outward = from_flag.normalize_or(DVec3::X);
            let round = DVec3::Z.cross(outward) * BEAT;
            *command = Command::running_towards(round + outward * BEAT - from_flag);
        }
    }

    fn moved(
        &self,
        state: &mut State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
        let Some(own) = state.players.get_mut(player) else { return };
        own.breath = own.breath.saturating_sub(1);
        own.haste = own.haste.saturating_sub(1);
        if own.haste == 0 {
            // The call cannot fail: the player is on foot, and the usual movement always exists.
            let _ = world.set_movement(player, None);
        }
        let [drops, pushes] = ["drop", "push"].map(|action| world.pressed(command, action));
        if own.breath == 0 && (drops || pushes) {
            own.breath = world.ticks_in(BREATH);
            match drops {
                true => drop_flag(state, world, player),
                false => push(state, world, player, command.ahead()),
            }
        }
    }

    fn tick(&self, state: &mut State, world: &mut WorldMut<'_>) {
        state.movers.iter().for_each(|mover| drive(mover, state, world));
        for team in &mut state.teams {
            team.lies = team.lies.saturating_sub(1);
            if team.lies == 0 && team.carrier.is_none() {
                bring_home(team, world);
            }
        }
        for player in state.players.ids() {
            if !world.is_agent(player) {
                take_what_is_near(state, world, player);
            }
        }
        for (pick_up, away) in &mut state.pick_ups {
            *away = away.saturating_sub(1);
            let _ = world.set_visible(*pick_up, *away == 0);
        }
    }

    /// A flag whose carrier has left the world stays where it is for a while.
    fn detached(&self, state: &mut State, world: &mut WorldMut<'_>, body: EntityId, _: EntityId) {
        if let Some(team) = state.teams.iter_mut().find(|team| team.flag == Some(body)) {
            (team.carrier, team.lies) = (None, world.ticks_in(RETURN));
        }
    }

    fn respawn(&self, state: &mut State, world: &mut WorldMut<'_>, player: EntityId) -> Respawn {
        let Some(team) = state.team_of(player) else { return Respawn::SpawnPoint };
        let home = state.teams[team].home;
        let y = world.random().between(-BEAT, BEAT);
        let yaw = if home.x < 0.0 { 0 } else { 32_768 };
        Respawn::At { position: DVec3::new(home.x + BEAT.copysign(-home.x), y, 29.0), yaw }
    }

    fn vitals(&self, state: &State, player: EntityId) -> Option<Vitals> {
        Some(Vitals { health: 100, score: state.teams[state.team_of(player)?].score })
    }
}

impl State {
    fn team_of(&self, player: EntityId) -> Option<usize> {
        self.players.get(player).map(|player| player.team)
    }
}

/// A thing that players see and walk through.
fn picture(world: &mut WorldMut<'_>, model: &str, place: DVec3) -> Option<EntityId> {
    world.spawn_intangible(world.model(model)?, place, DQuat::IDENTITY).ok()
}

/// Spawns a door or a lift where the map has it. It may slide into the wall above it.
fn mover(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Mover> {
    let team = entity.get("team").map(|team| usize::from(team == "blue"));
    let rise = entity.get("height")?.parse().ok()?;
    let drawn = world.model_of(entity)?;
    let shut = world.model_bounds(drawn.model, drawn.place, DQuat::IDENTITY)?;
    let pocket = shut.swept(DVec3::Z * rise).inflated(0.5);
    let body = world.spawn_body_in(drawn.model, drawn.place, DQuat::IDENTITY, &pocket).ok()?;
    Some(Mover { body, rest: drawn.place, rise, team })
}

/// Adds a player to the smaller team. Players of one team pass through each other.
fn enlist(state: &mut State, world: &mut WorldMut<'_>, player: EntityId) -> usize {
    let size = |team| state.players.iter().filter(|(_, own)| own.team == team).count();
    let team = usize::from(size(1) < size(0));
    let own = 2 << team;
    // The player waits outside of the world, where nothing is in its way.
    let _ = world.set_layers(player, CollisionLayers { layers: own, mask: !own });
    state.players.insert(player, Player { team, ..Player::default() });
    team
}

/// Moves a door up while its team is near, and a lift while somebody stands on it.
fn drive(mover: &Mover, state: &State, world: &mut WorldMut<'_>) {
    let Some(at) = world.entity(mover.body).map(|body| body.position) else { return };
    let wanted = state.players.iter().any(|(id, player)| {
        let off = world.entity(id).map_or(DVec3::INFINITY, |entity| entity.position - at);
        match mover.team {
            Some(team) => player.team == team && off.truncate().length() < SIGHT,
            None => off.truncate().abs().max_element() < 64.0 && off.z > 0.0,
        }
    });
    let target = mover.rest.z + if wanted { mover.rise } else { 0.0 };
    let speed = ((target - at.z) / world.seconds()).clamp(-SPEED, SPEED);
    // The simulation stops a mover in front of a body in its way.
    let _ = world.set_velocity(mover.body, DVec3::Z * speed, DVec3::ZERO);
}

/// Shoves the first enemy or body within reach. The ray goes through the player and the player's
/// team.
fn push(state: &State, world: &mut WorldMut<'_>, player: EntityId, ahead: DVec3) {
    let Some(from) = world.entity(player).map(|entity| entity.position) else { return };
    let is_other = |id| state.team_of(id) != state.team_of(player);
    let hit = world.cast_ray_where(from, from + ahead * REACH * 1.5, is_other);
    if let Some(target) = hit.entity {
        // A target that is gone by now takes no impulse.
        let _ = world.apply_impulse(target, (ahead + DVec3::Z * 0.4) * (80.0 * PUSH), hit.at);
    }
}

/// Drops the flag that a player carries. It stays there for a while.
fn drop_flag(state: &mut State, world: &mut WorldMut<'_>, player: EntityId) {
    if let Some(team) = state.teams.iter_mut().find(|team| team.carrier == Some(player)) {
        let _ = team.flag.map(|flag| world.detach(flag));
        (team.carrier, team.lies) = (None, world.ticks_in(RETURN));
    }
}

fn bring_home(team: &mut Team, world: &mut WorldMut<'_>) {
    (team.carrier, team.lies) = (None, 0);
    let _ = team.flag.map(|flag| world.set_pose(flag, team.home, DQuat::IDENTITY));
}

/// A player takes flags and pick-ups by coming near.
fn take_what_is_near(state: &mut State, world: &mut WorldMut<'_>, player: EntityId) {
    let State { players, teams, pick_ups, .. } = state;
    let (Some(own), Some(entity)) = (players.get_mut(player), world.entity(player)) else { return };
    let is_near = |world: &WorldMut<'_>, id: Option<EntityId>| {
        let thing = id.and_then(|id| world.entity(id));
        thing.is_some_and(|thing| thing.position.distance(entity.position) < REACH)
    };
    for (pick_up, away) in pick_ups {
        if *away == 0 && is_near(world, Some(*pick_up)) {
            (*away, own.haste) = (world.ticks_in(PICK_UP), world.ticks_in(HASTE));
            let _ = world.set_movement(player, Some("haste"));
        }
    }
    let [mine, theirs] = [own.team, 1 - own.team];
    if let Some(flag) = teams[theirs].flag
        && (teams[theirs].carrier.is_none() && own.breath == 0 && is_near(world, Some(flag)))
        && world.attach(flag, player, DVec3::new(-18.0, 0.0, 12.0), DQuat::IDENTITY).is_ok()
    {
        (teams[theirs].carrier, teams[theirs].lies) = (Some(player), 0);
        let _ = world.send("taken", &(player, NAMES[theirs]));
    }
    let mine_is_near = teams[mine].carrier.is_none() && is_near(world, teams[mine].flag);
    if mine_is_near && teams[mine].lies > 0 {
        bring_home(&mut teams[mine], world);
    } else if mine_is_near && teams[theirs].carrier == Some(player) {
        teams[mine].score += 1;
        bring_home(&mut teams[theirs], world);
        let _ = world.send("captured", &(player, NAMES[mine]));
    }
}
