//! The errands of a soak's players: they take items, press and shoot movers such as buttons, ride
//! lifts, and wait while a mover near them moves.

use std::collections::BTreeMap;

use glam::DVec3;
use obsp::LiquidKind;
use obsp_sim::{Buttons, Command, EntityId, EntityState, Kind, Random, State, World};

use super::played::PlayedWatch;

/// Mean number of ticks until a player without an errand looks for one.
const LOOKS: u64 = 30;

/// The farthest goal of an errand, in units.
const FAR: f64 = 500.0;

/// Seconds after which an errand is given up, and for which its goal is then left alone.
const GIVEN_UP: f64 = 4.0;
const LEFT_ALONE: f64 = 12.0;

/// Seconds for which a player waits for a mover that moves. The player then ignores movers for as
/// long, because a train may never come to rest.
const WAITS: f64 = 4.0;

/// A player waits for a moving mover ahead that is nearer than this, in units.
const AHEAD: f64 = 24.0;

/// A goal nearer than this has been reached, in units along the ground and in height.
const REACHED: (f64, f64) = (16.0, 64.0);

/// Seconds for which a player goes on through a door that has opened.
const THROUGH: f64 = 1.0;

/// Mean number of ticks between two shots at a mover, and between two jumps on the way.
const SHOT: u64 = 25;
const JUMP: u64 = 40;

/// The height of the eyes above the middle of a player, in units.
const EYES: f64 = 20.0;

/// Steps of a command's angles in a turn.
const STEPS: f64 = 65_536.0;

/// The errands of one player. On a map without movers and items the player never has any, and
/// follows the script alone.
#[derive(Clone, Debug)]
pub(super) struct Errands {
    random: Random,
    errand: Option<Errand>,
    /// Until which tick a goal is left alone.
    alone: BTreeMap<EntityId, u64>,
    /// Ticks for which the player has waited in a row, or goes on without waiting if negative.
    waited: i64,
    yaw: u16,
}

#[derive(Clone, Copy, Debug)]
enum Errand {
    /// To reach an item or a mover until a tick, and whether the mover has moved meanwhile.
    To { goal: EntityId, until: u64, moved: bool },
    /// To run in a direction until a tick.
    Through { ahead: DVec3, until: u64 },
}

impl Errands {
    /// The errands of the `player`th player of a match with this seed.
    pub(super) fn new(seed: u64, player: u16) -> Self {
        let random = Random::new(seed ^ u64::from(player + 1) << 32);
        Self { random, errand: None, alone: BTreeMap::new(), waited: 0, yaw: 0 }
    }

    /// The command of a tick in place of `script`, if the player is on an errand or waits.
    pub(super) fn next_command(
        &mut self,
        world: &World,
        state: &State,
        watch: &PlayedWatch,
        (player, script): (EntityId, Command),
    ) -> Option<Command> {
        let own = state.entities.iter().find(|entity| entity.id == player)?;
        if !matches!(own.kind, Kind::Player { .. }) {
            return None;
        }
        let command = match self.errand {
            None => {
                self.look_about(world, state, watch, own);
                None
            }
            Some(Errand::Through { ahead, until }) => {
                if state.tick >= until {
                    self.errand = None;
                }
                Some(Command::running_towards(ahead))
            }
            Some(Errand::To { goal, until, moved }) => {
                let moved = moved || watch.moves(goal);
                self.errand = Some(Errand::To { goal, until, moved });
                self.go(world, state, watch, own)
            }
        };
        self.yaw = command.unwrap_or(script).yaw;
        if self.waits(world, watch, own, command.unwrap_or(script).ahead()) {
            return Some(Command { yaw: self.yaw, ..Command::default() });
        }
        command
    }

    /// Chooses the nearest goal in sight. Nothing in lava or slime is a goal: the first player who
    /// went there would die and drop more items, and in the end all players would crowd together.
    fn look_about(&mut self, world: &World, state: &State, watch: &PlayedWatch, own: &EntityState) {
        let is_goal = |entity: &&EntityState| {
            let is_picture = !entity.traits.is_solid() && entity.traits.visible;
            is_picture && !entity.kind.is_player() || watch.is_mover(entity)
        };
        let mut goals = state.entities.iter().filter(is_goal).peekable();
        if goals.peek().is_none() || self.random.below(LOOKS) != 0 {
            return;
        }
        self.alone.retain(|_, until| *until > state.tick);
        let eyes = own.position + DVec3::Z * EYES;
        let mut near: Vec<(f64, EntityId, DVec3)> = goals
            .filter(|goal| !self.alone.contains_key(&goal.id))
            .filter_map(|goal| {
                let middle = world.bounds_of(goal.id).map_or(goal.position, |own| own.centre());
                let far = middle.distance(own.position);
                let burns = |kind| matches!(kind, LiquidKind::Lava | LiquidKind::Slime);
                let is_safe = !world.map().liquid_at(middle).is_some_and(burns);
                (far < FAR && is_safe).then_some((far, goal.id, middle))
            })
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let seen = near.iter().find(|(_, _, middle)| world.in_sight(eyes, *middle));
        if let Some((_, goal, _)) = seen {
            let until = state.tick + u64::from(world.ticks_in(GIVEN_UP));
            self.errand = Some(Errand::To { goal: *goal, until, moved: false });
        }
    }

    /// The command that leads to the goal; `None` if the errand is over.
    fn go(
        &mut self,
        world: &World,
        state: &State,
        watch: &PlayedWatch,
        own: &EntityState,
    ) -> Option<Command> {
        let Some(Errand::To { goal, until, moved }) = self.errand else { return None };
        let there = state.entities.iter().find(|entity| entity.id == goal);
        let there = there.filter(|there| there.traits.visible);
        let Some(there) = there else {
            // Somebody has taken the item.
            self.errand = None;
            return None;
        };
        let middle = world.bounds_of(goal).map_or(there.position, |own| own.centre());
        let way = middle - own.position;
        let is_mover = watch.is_mover(there);
        let reached = way.truncate().length() < REACHED.0 && way.z.abs() < REACHED.1 && !is_mover;
        let has_come = is_mover && moved && !watch.moves(goal);
        if reached || has_come || state.tick >= until {
            let alone = state.tick + u64::from(world.ticks_in(LEFT_ALONE));
            self.alone.insert(goal, alone);
            let until = state.tick + u64::from(world.ticks_in(THROUGH));
            self.errand = has_come.then_some(Errand::Through { ahead: way, until });
            return None;
        }
        let mut command = Command::running_towards(way);
        let aim = middle - (own.position + DVec3::Z * EYES);
        let turns = libm::atan2(aim.z, aim.truncate().length()) / std::f64::consts::TAU;
        command.pitch = (turns * STEPS).clamp(-STEPS / 4.0, STEPS / 4.0) as i16;
        if is_mover && self.random.below(SHOT) == 0 {
            command.buttons = command.buttons | Buttons::PRIMARY;
        }
        if self.random.below(JUMP) == 0 {
            command.buttons = command.buttons | Buttons::JUMP;
        }
        Some(command)
    }

    /// Whether the player waits for a moving mover below or `ahead`.
    fn waits(
        &mut self,
        world: &World,
        watch: &PlayedWatch,
        own: &EntityState,
        ahead: DVec3,
    ) -> bool {
        let longest = i64::from(world.ticks_in(WAITS));
        let moves = self.waited < 0 || {
            let below = watch.carrier(world, own);
            below.is_some_and(|mover| watch.moves(mover)) || watch.comes(world, own, ahead, AHEAD)
        };
        self.waited = match self.waited {
            waited if waited < 0 => waited + 1,
            waited if !moves => waited.min(0),
            waited if waited >= longest => -longest,
            waited => waited + 1,
        };
        self.waited > 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use obsp::{CompileOptions, Source, Spaces};
    use obsp_game::arena::Arena;
    use obsp_game::{AnyGame, Match, RunningMatch};
    use obsp_sim::{Config, PlayerKind};

    use super::*;

    /// The text of a brush: a box with one texture.
    fn brush([[x, y, z], [to_x, to_y, to_z]]: [[i32; 3]; 2], texture: &str) -> String {
        let sides = [
            format!("( {to_x} 0 0 ) ( {to_x} 0 1 ) ( {to_x} 1 0 )"),
            format!("( {x} 0 0 ) ( {x} 1 0 ) ( {x} 0 1 )"),
            format!("( 0 {to_y} 0 ) ( 1 {to_y} 0 ) ( 0 {to_y} 1 )"),
            format!("( 0 {y} 0 ) ( 0 {y} 1 ) ( 1 {y} 0 )"),
            format!("( 0 0 {to_z} ) ( 0 1 {to_z} ) ( 1 0 {to_z} )"),
            format!("( 0 0 {z} ) ( 1 0 {z} ) ( 0 1 {z} )"),
        ];
        let side = |side: String| format!("{side} {texture} 0 0 0 1 1\n");
        format!("{{\n{}}}\n", sides.map(side).concat())
    }

    /// Whether a player finds an errand to an item at the bottom of a pool of this texture.
    fn goes_into(texture: &str) -> bool {
        let floor = brush([[-256, -256, -16], [256, 256, 0]], "stone");
        let pool = brush([[32, -64, 0], [160, 64, 64]], texture);
        let things = "{\n\"classname\" \"info_player_start\"\n\"origin\" \"-96 0 32\"\n}\n\
                      {\n\"classname\" \"item_health\"\n\"origin\" \"96 0 16\"\n}\n";
        let text = format!("{{\n\"classname\" \"worldspawn\"\n{floor}{pool}}}\n{things}");
        let source = Source::from_text("pool", text);
        let options = CompileOptions::default();
        let map = obsp::compile(&source, &Spaces::default(), &options, &mut |_, _, _| {});
        let map = Arc::new(map.unwrap().map);
        let models = Arena.models(&map);
        let config = Config { objects: 0, ..Config::default() };
        let mut game = Match::new(Arena, map, config).unwrap();
        let player = game.join_as(PlayerKind::Box).unwrap();
        let watch = PlayedWatch::new(game.world(), &Arena, &models);
        let mut errands = Errands::new(1, 0);
        for _ in 0..20 * LOOKS {
            game.step(&[]);
            let state = game.world().state();
            errands.next_command(game.world(), &state, &watch, (player, Command::default()));
            if errands.errand.is_some() {
                return true;
            }
        }
        false
    }

    /// Symptom: half of the players of a soak stood on each other in a corner of a lava pool,
    /// stuck. Each player who died there dropped a pack, and all went to the packs.
    #[test]
    fn players_go_for_items_in_water_but_not_in_lava_or_slime() {
        let goes = ["*water1", "*slime1", "*lava1"].map(goes_into);
        assert_eq!(goes, [true, false, false]);
    }
}
