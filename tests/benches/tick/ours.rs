use std::time::{Duration, Instant};

use obsp_sim::{Command, EntityId, Stages, State, World};

use super::{Engine, Scene};

/// The simulation under test.
pub(crate) struct Ours {
    world: World,
    players: Vec<EntityId>,
}

impl Ours {
    pub(crate) fn new(scene: &Scene) -> Self {
        let (world, players) = scene.set_up();
        Self { world, players }
    }

    /// Switches stages of the filter cascade on and off.
    pub(crate) fn set_stages(&mut self, stages: Stages) {
        self.world.set_stages(stages);
    }

    /// Sets how many threads the simulation uses.
    pub(crate) fn set_threads(&mut self, threads: u16) {
        self.world.set_threads(threads);
    }

    /// The digest of the simulation's state.
    pub(crate) fn digest(&self) -> u64 {
        self.world.digest()
    }
}

impl Engine for Ours {
    fn step(&mut self, commands: &[Command]) -> Duration {
        let commands: Vec<(EntityId, Command)> =
            self.players.iter().copied().zip(commands.iter().copied()).collect();
        let begin = Instant::now();
        self.world.step(&commands);
        begin.elapsed()
    }

    fn state(&mut self) -> State {
        self.world.state()
    }

    fn awake(&self) -> u64 {
        self.world.counters().awake
    }
}
