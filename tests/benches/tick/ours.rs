use obsp_sim::{Command, EntityId, State, World};

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
}

impl Engine for Ours {
    fn step(&mut self, commands: &[Command]) {
        let commands: Vec<(EntityId, Command)> =
            self.players.iter().copied().zip(commands.iter().copied()).collect();
        self.world.step(&commands);
    }

    fn state(&self) -> State {
        self.world.state()
    }

    fn awake(&self) -> u64 {
        self.world.counters().awake
    }
}
