//! A trial of places: do players get out of them by walking and jumping, with our movement and with
//! Quake III's?

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use obsp::model::shipped;
use obsp_sim::{Buttons, Command, Config, EntityId, ModelId, PlayerKind, Random, World};

use super::places::{self, Place, SPACING};
use super::quake3::{Quake3, Wish};

pub(crate) const TICK_RATE: u32 = 60;
const SECONDS: f64 = 1.0 / TICK_RATE as f64;

/// Ticks for a player to come to rest in a place.
const SETTLES: usize = 240;

/// A player is held if they come no farther than this, in units, within [`HELD_TICKS`] of input.
const HELD: f64 = 4.0;
const HELD_TICKS: usize = 16 * 30;

/// Ticks of random input for a player who would get out with Quake III's movement.
const LONGER: usize = 300 * TICK_RATE as usize;

/// Height below which a player has fallen off the edge of the floor, in units.
const FALLEN: f64 = -64.0;

/// The rounds of input: in each, a player pushes for this many ticks in each of sixteen directions,
/// jumping or not.
const ROUNDS: [(usize, bool); 3] = [(30, true), (60, false), (60, true)];

/// The input of a tick: a direction, in 65,536ths of a turn, and whether the jump key is down.
type Ask = (u16, bool);

/// The input of all rounds, tick by tick.
pub(crate) fn asks() -> impl Iterator<Item = Ask> {
    ROUNDS.into_iter().flat_map(|(ticks, jumps)| {
        (0..16_u16).flat_map(move |direction| {
            (0..ticks).map(move |tick| (direction * 4096, jumps && tick % 20 < 10))
        })
    })
}

pub(crate) fn command((yaw, jump): Ask) -> Command {
    let buttons = if jump { Buttons::JUMP } else { Buttons::default() };
    Command { forward: 127, yaw, buttons, ..Command::default() }
}

/// The outcome for a player.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fared {
    pub(crate) rest: DVec3,
    pub(crate) out: bool,
    /// Maximum distance from the rest position within [`HELD_TICKS`].
    pub(crate) moved: f64,
}

impl Fared {
    fn new(rest: DVec3) -> Self {
        Self { rest, out: false, moved: 0.0 }
    }

    fn see(&mut self, place: &Place, tick: usize, at: DVec3) {
        let off = at.truncate().distance(place.centre);
        self.out |= off > place.radius || at.z < FALLEN;
        if tick < HELD_TICKS {
            self.moved = self.moved.max(at.distance(self.rest));
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        !self.out && self.moved < HELD
    }
}

/// Random places in a grid, the same for the same seed.
pub(crate) fn random_places(seed: u64, count: u32) -> Vec<Place> {
    let mut random = Random::new(seed);
    let mut place = |index: u32| {
        let at = DVec2::new(f64::from(index % 16), f64::from(index / 16)) * SPACING;
        places::random_place(&mut random, at - DVec2::splat(7.0 * SPACING))
    };
    (0..count).map(&mut place).collect()
}

/// Compiles the map of places.
pub(crate) fn compile(places: &[Place]) -> Arc<obsp::Map> {
    let source = obsp::Source::from_text("places", places::map_of(places));
    let options = obsp::CompileOptions { strict: true, ..obsp::CompileOptions::default() };
    let compiled = obsp::compile(&source, &obsp::Spaces::default(), &options, &mut |_, _, _| {});
    Arc::new(compiled.unwrap_or_else(|error| panic!("{error}")).map)
}

/// A match on the map of places, with a player in each place.
pub(crate) struct Trial<'a> {
    pub(crate) map: Arc<obsp::Map>,
    pub(crate) world: World,
    places: &'a [Place],
    pub(crate) players: Vec<EntityId>,
}

impl<'a> Trial<'a> {
    pub(crate) fn new(places: &'a [Place]) -> Self {
        let map = compile(places);
        let max_players = places.len() as u16;
        let config = Config { tick_rate: TICK_RATE, seed: 1, objects: 0, max_players };
        let mut world =
            World::new(Arc::clone(&map), shipped().into(), config).expect("a match can be set up");
        // A player without room is put higher.
        let player = |place: &Place| {
            let mut higher = (0..24).map(|step| place.start + DVec3::Z * (24.0 * f64::from(step)));
            let mut join = |at| world.add_player_at(PlayerKind::Box, at, 0).ok();
            higher
                .find_map(&mut join)
                .unwrap_or_else(|| panic!("no room for a player in {}", place.what))
        };
        let players = places.iter().map(player).collect();
        for (model, at) in places.iter().flat_map(|place| &place.props) {
            let known = world.model_names().iter().position(|name| name == model);
            let model = ModelId(known.expect("the model ships") as u8);
            // If a place has no room for a prop, the prop is left out.
            let _ = world.spawn_body_near(model, *at, DQuat::IDENTITY);
        }
        Self { map, world, places, players }
    }

    pub(crate) fn at(&self, player: EntityId) -> DVec3 {
        self.world.player_motion(player).expect("the player is in the world").position.as_dvec3()
    }

    pub(crate) fn settle(&mut self) {
        (0..SETTLES).for_each(|_| self.world.step(&[]));
    }

    /// Plays all rounds of input with our movement.
    pub(crate) fn play(&mut self) -> Vec<Fared> {
        self.settle();
        let rests = self.players.iter().map(|player| Fared::new(self.at(*player)));
        let mut fared: Vec<Fared> = rests.collect();
        for (tick, ask) in asks().enumerate() {
            let inside = self.players.iter().zip(&fared).filter(|(_, fared)| !fared.out);
            let commands: Vec<_> = inside.map(|(player, _)| (*player, command(ask))).collect();
            if commands.is_empty() {
                break;
            }
            self.world.step(&commands);
            for (index, place) in self.places.iter().enumerate() {
                if !fared[index].out {
                    let at = self.at(self.players[index]);
                    fared[index].see(place, tick, at);
                }
            }
        }
        fared
    }
}

impl Trial<'_> {
    /// Gives random input to these players for longer, each from their latest position. Returns
    /// which of them get out.
    pub(crate) fn play_on(&mut self, players: &[usize], seed: u64) -> Vec<bool> {
        let mut random = Random::new(seed);
        let mut fared: Vec<Fared> =
            players.iter().map(|&index| Fared::new(self.at(self.players[index]))).collect();
        let (mut yaw, mut until, mut jumps) = (0, 0, true);
        for tick in 0..LONGER {
            if fared.iter().all(|fared| fared.out) {
                break;
            }
            if tick >= until {
                // A direction lasts long enough for several jumps up a stair.
                yaw = random.bits() as u16;
                until = tick + 8 + random.below(300) as usize;
                jumps = random.below(4) > 0;
            }
            let ask = command((yaw, jumps && tick % 20 < 10));
            let inside = players.iter().zip(&fared).filter(|(_, fared)| !fared.out);
            let commands: Vec<_> = inside.map(|(&index, _)| (self.players[index], ask)).collect();
            self.world.step(&commands);
            for (fared, &index) in fared.iter_mut().zip(players) {
                fared.see(&self.places[index], tick, self.at(self.players[index]));
            }
        }
        fared.iter().map(|fared| fared.out).collect()
    }
}

/// Plays all rounds of input with Quake III's movement, from the position at which our player came
/// to rest. Props do not exist for that movement.
pub(crate) fn play_quake3(map: &obsp::Map, place: &Place, rest: DVec3) -> Fared {
    let mut player = Quake3::new(map, rest);
    let mut fared = Fared::new(rest);
    for (tick, (yaw, jump)) in asks().enumerate() {
        let direction = places::towards(f64::from(yaw) / 65_536.0 * std::f64::consts::TAU);
        player.frame(Wish { direction, jump }, SECONDS);
        fared.see(place, tick, player.origin);
        if fared.out {
            break;
        }
    }
    fared
}
