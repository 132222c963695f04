//! A match that is audited after every tick, and whose players visit one mover after another.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::Map;
use obsp::geometry::Aabb;
use obsp_game::{AnyGame, Event, Game, Match, RunningMatch};
use obsp_sim::audit::{Audit, Passages};
use obsp_sim::{Config, EntityId, PlayerKind};
use tests::harness::{ExactJudge, Random, Wanderer};

/// Returns the movers of a match, from the state of its game.
type Movers<G> = fn(&<G as Game>::State) -> Vec<EntityId>;

/// The match, and its judges: the simulation's own audit, and the judge by exact triangles.
pub(crate) struct Visited<G: Game> {
    game: Match<G>,
    movers: Movers<G>,
    audit: Audit,
    passages: Passages,
    judge: ExactJudge,
    wanderers: Vec<Wanderer>,
    random: Random,
    /// Ticks from one visit to the next.
    visits: u64,
    /// The ticks in which each mover moved.
    moved: Vec<usize>,
    poses: BTreeMap<EntityId, (DVec3, DQuat)>,
}

impl<G: Game> Visited<G> {
    /// A match on a map and its text. A player visits a mover every `visits` ticks.
    pub(crate) fn new(
        game: G,
        movers: Movers<G>,
        (map, text): (Map, &str),
        config: Config,
        visits: u64,
    ) -> Self {
        let map = Arc::new(map);
        let models = AnyGame::models(&game, &map);
        let mut game = Match::new(game, Arc::clone(&map), config).expect("the map can be played");
        let audit = Audit::new(&map, &models).expect("the map can be audited");
        let passages = Passages::new(&map, &models, config.tick_rate);
        let passages = passages.expect("the map can be audited");
        let judge = ExactJudge::new(text, game.world().model_names());
        let join = |number: u16| {
            let id = game.join_as(PlayerKind::Box).expect("there is room");
            Wanderer::new(id, Random::new(100 + u64::from(number)))
        };
        let wanderers = (0..config.max_players).map(join).collect();
        let moved = vec![0; movers(game.state()).len()];
        let (random, poses) = (Random::new(11), BTreeMap::new());
        Self { game, movers, audit, passages, judge, wanderers, random, visits, moved, poses }
    }

    /// The ticks in which each mover has moved.
    pub(crate) fn moved(&self) -> &[usize] {
        &self.moved
    }

    pub(crate) fn game(&self) -> &Match<G> {
        &self.game
    }

    /// Plays this many ticks.
    pub(crate) fn play(&mut self, ticks: usize) {
        for _ in 0..ticks {
            self.step();
        }
    }

    /// Puts a player on or beside a mover, where there is room.
    fn visit(&mut self, player: EntityId, mover: EntityId) {
        let Some(Aabb { min, max }) = self.game.world().bounds_of(mover) else { return };
        let middle = min.midpoint(max);
        let above = middle.with_z(max.z + 28.5);
        let beside = [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y].map(|way| {
            let half = (max - min).dot(way.abs()) / 2.0;
            (middle + way * (half + 24.0)).with_z(min.z + 28.5)
        });
        for place in [above].into_iter().chain(beside) {
            if self.game.world_mut().teleport(player, place, DQuat::IDENTITY).is_ok() {
                return;
            }
        }
    }

    fn step(&mut self) {
        let tick = self.game.world().tick();
        let movers = (self.movers)(self.game.state());
        if tick.is_multiple_of(self.visits) && !movers.is_empty() {
            let player = self.wanderers[self.random.below(self.wanderers.len())].id();
            self.visit(player, movers[(tick / self.visits) as usize % movers.len()]);
        }
        let commands: Vec<_> = self.wanderers.iter_mut().map(Wanderer::next_command).collect();
        self.game.step(&commands);
        let world = self.game.world();
        let (tick, state) = (world.tick(), world.state());
        self.passages.note_pockets(&world.pockets());
        let found = self.audit.check_match(world);
        assert!(found.is_empty(), "tick {tick}: {found:?}");
        let ways = self.passages.judge(&state, world.relocations());
        let is_clean = ways.tunnelled.is_empty() && ways.misplaced.is_empty();
        assert!(is_clean, "tick {tick}: {ways:?}");
        let overlaps = self.judge.judge_match(world);
        assert!(overlaps.is_empty(), "tick {tick}: {overlaps:?}");
        let replaced = |event: &Event| matches!(event, Event::Replaced { .. });
        assert!(
            !self.game.events().iter().any(replaced),
            "tick {tick}: a body had to be taken out of an overlap"
        );
        for (body, moved) in movers.iter().zip(&mut self.moved) {
            let Some(state) = world.entity(*body) else { continue };
            let pose = (state.position, state.orientation);
            *moved += usize::from(self.poses.insert(*body, pose) != Some(pose));
        }
    }
}
