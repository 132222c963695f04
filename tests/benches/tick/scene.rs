use std::sync::Arc;

use obsp::model::shipped;
use obsp_sim::audit::Audit;
use obsp_sim::{Config, EntityId, PlayerKind, World};
use tests::harness::{MapBuilder, Random, Wanderer, own_map};
use tests::scene::{HeapModels, pen, yard};

/// A scene for both engines: a map, props scattered over it, and players.
pub(crate) struct Scene {
    name: String,
    map: Arc<obsp::Map>,
    pub(crate) config: Config,
    /// Whether the props come to rest before the first tick.
    settled: bool,
    /// The kind of player that joins.
    kind: PlayerKind,
}

/// Side of the square of floor for each scattered object, in units.
const ROOM: f64 = 160.0;

/// Distance between two spawn points of a hall, in units.
const SPACING: i32 = 320;

impl Scene {
    /// The scene that the bar of the tick is about: the arena with 32 players and 500 props.
    pub(crate) fn arena() -> Self {
        let map = obsp::Map::load(&own_map("arena.obsp")).expect("the arena is compiled");
        Self::new("arena", map, 500)
    }

    /// A hall with pillars, large enough for this number of objects.
    pub(crate) fn hall(objects: u32) -> Self {
        let half = (f64::from(objects).sqrt() * ROOM * 0.5) as i32;
        let wall = half + 16;
        let mut drawing = MapBuilder::default()
            .block([-wall, -wall, -16], [wall, wall, 0])
            .block([-wall, -wall, 0], [-half, wall, 256])
            .block([half, -wall, 0], [wall, wall, 256])
            .block([-half, -wall, 0], [half, -half, 256])
            .block([-half, half, 0], [half, wall, 256]);
        let steps = || (-half + SPACING / 2..half - 32).step_by(SPACING as usize);
        for (x, y) in steps().flat_map(|x| steps().map(move |y| (x, y))) {
            drawing = drawing.spawn([x, y, 0]);
            if x + 192 < half && y + 192 < half {
                drawing = drawing.block([x + 128, y + 128, 0], [x + 192, y + 192, 128]);
            }
        }
        Self::new("hall", drawing.compile(), objects)
    }

    /// Bodies in the air over a pen, and no players.
    pub(crate) fn heap(objects: u32, models: HeapModels) -> Self {
        let map = pen(objects, models, 1).expect("the pen compiles").into();
        let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 0 };
        let kind = PlayerKind::Box;
        Self { name: format!("{objects} {models:?}"), map, config, settled: false, kind }
    }

    /// A yard with a pad for each of the hovertanks.
    pub(crate) fn landing(landers: u16, seed: u64) -> Self {
        let map = yard(landers, seed).expect("the yard compiles").into();
        let config = Config { tick_rate: 60, seed, objects: 0, max_players: landers };
        let kind = PlayerKind::Hovertank;
        Self { name: format!("{landers} landers"), map, config, settled: true, kind }
    }

    fn new(name: &str, map: obsp::Map, objects: u32) -> Self {
        let config = Config { tick_rate: 60, seed: 1, objects, max_players: 32 };
        let (name, kind) = (format!("{name}, {objects} objects"), PlayerKind::Box);
        Self { name, map: map.into(), config, settled: true, kind }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn map(&self) -> &obsp::Map {
        &self.map
    }

    /// The scene in our engine, with its players joined.
    pub(crate) fn set_up(&self) -> (World, Vec<EntityId>) {
        let set_up = if self.settled { World::new } else { World::unsettled };
        let world = set_up(Arc::clone(&self.map), shipped().into(), self.config);
        let mut world = world.expect("the scene can be played");
        // Without a budget each tick is simulated in full, as in the other engine.
        world.set_budget(None);
        let join = |_| world.join_as(self.kind).expect("there is room for all players");
        let players = (0..self.config.max_players).map(join).collect();
        (world, players)
    }

    /// The sources of the players' commands, which are the same at each call.
    pub(crate) fn players(&self) -> Vec<Wanderer> {
        let nobody = EntityId { slot: 0, generation: 0 };
        let player = |seed| Wanderer::new(nobody, Random::new(u64::from(seed) + 1));
        (0..self.config.max_players).map(player).collect()
    }

    pub(crate) fn audit(&self) -> Audit {
        Audit::new(&self.map, &shipped()).expect("the scene can be audited")
    }
}
