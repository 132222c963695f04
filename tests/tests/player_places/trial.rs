//! A trial of places: whether their players get out of them by walking and jumping, in ours and in
//! Quake III's movement.

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use obsp::model::shipped;
use obsp_sim::{Buttons, Command, Config, EntityId, ModelId, PlayerKind, Random, World};

use crate::places::{self, Place, SPACING};
use crate::quake3::{Quake3, Wish};

pub(crate) const TICK_RATE: u32 = 60;
const SECONDS: f64 = 1.0 / TICK_RATE as f64;

/// Ticks within which a player who was put into a place comes to rest.
const SETTLES: usize = 240;

/// One who has come no farther than this in [`HELD_TICKS`] of asking is held, in units.
const HELD: f64 = 4.0;
const HELD_TICKS: usize = 16 * 30;

/// Ticks for which a player asks at random whom Quake III's movement would let out.
const LONGER: usize = 300 * TICK_RATE as usize;

/// One who is so far below the floor has fallen off its edge.
const FALLEN: f64 = -64.0;

/// The wishes of a player in turn: for so many ticks in each of sixteen directions, jumping or not.
const ROUNDS: [(usize, bool); 3] = [(30, true), (60, false), (60, true)];

/// A tick's ask: the direction in 65,536 steps of a turn, and whether the jump key is down.
type Ask = (u16, bool);

/// All that a player asks for, tick by tick.
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

/// How a player fared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fared {
    pub(crate) rest: DVec3,
    pub(crate) out: bool,
    /// How far the player came within [`HELD_TICKS`].
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

/// Places of a seed, in a grid.
pub(crate) fn random_places(seed: u64, count: u32) -> Vec<Place> {
    let mut random = Random::new(seed);
    let mut place = |index: u32| {
        let at = DVec2::new(f64::from(index % 16), f64::from(index / 16)) * SPACING;
        places::random_place(&mut random, at - DVec2::splat(7.0 * SPACING))
    };
    (0..count).map(&mut place).collect()
}

/// A match on the map of places, with their props.
pub(crate) fn compile(places: &[Place]) -> Arc<obsp::World> {
    let source = obsp::Source::from_text("places", places::map_of(places));
    let options = obsp::Options { strict: true, ..obsp::Options::default() };
    let compiled = obsp::compile(&source, &obsp::Spaces::default(), &options, &mut |_, _, _| {});
    Arc::new(compiled.unwrap_or_else(|error| panic!("{error}")).world)
}

/// A match among places, a player in each.
pub(crate) struct Trial<'a> {
    pub(crate) map: Arc<obsp::World>,
    pub(crate) world: World,
    places: &'a [Place],
    pub(crate) players: Vec<EntityId>,
}

impl<'a> Trial<'a> {
    pub(crate) fn new(places: &'a [Place]) -> Self {
        let map = compile(places);
        let max_players = places.len() as u16;
        let config = Config { tick_rate: TICK_RATE, seed: 1, objects: 0, max_players };
        let mut world = World::new(Arc::clone(&map), shipped().into(), config).expect("a match");
        // Where there is no room for a player, there is some above.
        let player = |place: &Place| {
            let mut higher = (0..24).map(|step| place.start + DVec3::Z * (24.0 * f64::from(step)));
            let mut join = |at| world.add_player_at(PlayerKind::Box, at, 0).ok();
            higher.find_map(&mut join).unwrap_or_else(|| panic!("no room: {}", place.what))
        };
        let players = places.iter().map(player).collect();
        for (model, at) in places.iter().flat_map(|place| &place.props) {
            let known = world.model_names().iter().position(|name| name == model);
            let model = ModelId(known.expect("a shipped model") as u8);
            // A place may be too full for it.
            let _ = world.spawn_body_near(model, *at, DQuat::IDENTITY);
        }
        Self { map, world, places, players }
    }

    pub(crate) fn at(&self, player: EntityId) -> DVec3 {
        self.world.player_motion(player).expect("in the world").position.as_dvec3()
    }

    pub(crate) fn settle(&mut self) {
        (0..SETTLES).for_each(|_| self.world.step(&[]));
    }

    /// How the players fare by our movement.
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
    /// Whether those players get out who have not yet, if they ask for longer: at random, and each
    /// from where it has come to.
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
                // Long enough for a whole stair of jumps.
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

/// How a player of Quake III fares who stands where ours came to rest; props do not exist to it.
pub(crate) fn play_quake3(map: &obsp::World, place: &Place, rest: DVec3) -> Fared {
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
