//! A hall full of movers, in both engines. In our engine, the guard may stop a mover. In rapier,
//! movers are kinematic bodies, which nothing stops: each keeps to its course through an empty
//! hall. So movers are in the same places in both engines, except where ours are held up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use glam::{DQuat, DVec3};
use obsp::model::Model;
use obsp_game::{AnyGame, Match, RunningMatch};
use obsp_sim::audit::{Audit, Fault, Interpenetration, Obstacle};
use obsp_sim::{Command, Config, EntityId, PlayerKind, State};
use tests::harness::{Random, Wanderer};
use tests::scene::{MoverHall, mover_hall};

use super::peer::Peer;
use super::{Engine, Measured, WARM_UP};

const MOVERS: usize = 60;
const BODIES: u32 = 200;
const PLAYERS: u16 = 32;
const TICKS: u32 = 10_000;

/// Overlaps shallower than this, in units, are touches: the distance that rapier's character
/// controller keeps.
const TOUCH: f64 = 0.1;

/// Plays the hall in both engines and prints what they cost and how deep things overlap.
pub(crate) fn movers() {
    println!();
    println!(
        "{MOVERS} movers, {BODIES} bodies, {PLAYERS} players, {TICKS} ticks, each audited: \
         milliseconds a tick; deepest"
    );
    println!(
        "overlap in units; ticks of players who were more than {TOUCH} units inside a mover, summed \
         over players"
    );
    println!(
        "{:8} {:>7} {:>7} {:>7}   {:>13} {:>13} {:>13} {:>13}   {:>13}",
        "",
        "median",
        "mean",
        "p99",
        "player, mover",
        "body, mover",
        "among bodies",
        "with the map",
        "ticks inside"
    );
    let hall = Arc::new(mover_hall(MOVERS).compile());
    let models = AnyGame::models(&MoverHall, &hall);
    let config = |objects, max_players| Config { tick_rate: 60, seed: 1, objects, max_players };
    let new =
        |config| Match::new(MoverHall, Arc::clone(&hall), config).expect("the hall can be played");
    let (mut ours, mut empty) = (new(config(BODIES, PLAYERS)), new(config(0, 0)));
    ours.world_mut().set_budget(None);
    let join = |_| ours.join_as(PlayerKind::Box).expect("there is room for all players");
    let players: Vec<EntityId> = (0..PLAYERS).map(join).collect();
    let start = ours.world().state();
    let mut peer = Peer::with_models(&hall, 60, &models, &start);
    let ids: Vec<EntityId> = ours.state().movers().collect();
    let new_depths = || Depths::new(&hall, &models, &ids, &players);
    let (mut own_depths, mut peer_depths) = (new_depths(), new_depths());
    let (mut own, mut others) = (Measured::default(), Measured::default());
    let mut wanderers: Vec<Wanderer> = players
        .iter()
        .map(|player| Wanderer::new(*player, Random::new(u64::from(player.slot) + 1)))
        .collect();
    for tick in 0..WARM_UP + TICKS {
        let commands: Vec<_> = wanderers.iter_mut().map(Wanderer::next_command).collect();
        if tick == WARM_UP {
            own.ticks.clear();
            others.ticks.clear();
        }
        let begin = Instant::now();
        ours.step(&commands);
        own.ticks.push(begin.elapsed());
        empty.step(&[]);
        for (id, mover) in ids.iter().zip(empty.state().movers()) {
            let mover = empty.world().entity(mover).expect("nothing is removed");
            peer.drive(*id, mover.position, mover.orientation);
        }
        let alone: Vec<Command> = commands.iter().map(|(_, command)| *command).collect();
        others.step(&mut peer, &alone);
        own_depths.see(&ours.world().state());
        peer_depths.see(&peer.state());
    }
    let [a, b] = [own.summary(), others.summary()];
    own_depths.print("ours", a);
    peer_depths.print("rapier", b);
    println!("{:8} {:6.2}x {:6.2}x {:6.2}x", "ratio", a[0] / b[0], a[1] / b[1], a[2] / b[2]);
}

/// How deep things overlapped in one engine.
struct Depths {
    audit: Audit,
    movers: BTreeSet<EntityId>,
    players: BTreeSet<EntityId>,
    player_mover: f64,
    body_mover: f64,
    among_bodies: f64,
    with_map: f64,
    /// Ticks that players were inside a mover.
    inside: u64,
    /// Players inside movers. The audit does not judge a pair again while neither of the two moves.
    now: BTreeSet<(EntityId, EntityId)>,
    poses: BTreeMap<EntityId, (DVec3, DQuat)>,
}

impl Depths {
    fn new(hall: &obsp::Map, models: &[Model], movers: &[EntityId], players: &[EntityId]) -> Self {
        Self {
            audit: Audit::new(hall, models).expect("the hall can be audited"),
            movers: movers.iter().copied().collect(),
            players: players.iter().copied().collect(),
            player_mover: 0.0,
            body_mover: 0.0,
            among_bodies: 0.0,
            with_map: 0.0,
            inside: 0,
            now: BTreeSet::new(),
            poses: BTreeMap::new(),
        }
    }

    fn see(&mut self, state: &State) {
        let pose = |entity: &obsp_sim::EntityState| (entity.position, entity.orientation);
        let poses: BTreeMap<_, _> = state.entities.iter().map(|it| (it.id, pose(it))).collect();
        let stays = |id: &EntityId| self.poses.get(id) == poses.get(id);
        self.now.retain(|(player, mover)| stays(player) && stays(mover));
        self.poses = poses;
        for fault in self.audit.check(state) {
            let Fault::Interpenetration(Interpenetration { body, obstacle, depth }) = fault else {
                panic!("{fault}");
            };
            let Obstacle::Body(other) = obstacle else {
                self.with_map = self.with_map.max(depth);
                continue;
            };
            let pair = [body, other];
            let among = |set: &BTreeSet<EntityId>| pair.into_iter().find(|id| set.contains(id));
            let deepest = match (among(&self.players), among(&self.movers)) {
                (Some(player), Some(mover)) => {
                    if depth > TOUCH {
                        self.now.insert((player, mover));
                    }
                    &mut self.player_mover
                }
                (_, Some(_)) => &mut self.body_mover,
                (_, None) => &mut self.among_bodies,
            };
            *deepest = deepest.max(depth);
        }
        let inside: BTreeSet<EntityId> = self.now.iter().map(|(player, _)| *player).collect();
        self.inside += inside.len() as u64;
    }

    fn print(&self, name: &str, [median, mean, late]: [f64; 3]) {
        println!(
            "{name:8} {median:7.3} {mean:7.3} {late:7.3}   {:13.4} {:13.4} {:13.4} {:13.4}   {:13}",
            self.player_mover, self.body_mover, self.among_bodies, self.with_map, self.inside
        );
    }
}
