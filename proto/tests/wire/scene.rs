//! A substitute for the simulation. Its props fall, bounce, tumble, come to rest, are kicked,
//! disappear and appear, beside players who run about.

use glam::{DQuat, DVec3};
use obsp_proto::quantise::WorldBounds;
use obsp_sim::{EntityId, EntityState, Kind, ModelId, Posture, State, Traits};

use crate::random::Random;

const HALF: f64 = 1500.0;
const FLOOR: f64 = 0.0;

#[derive(Clone, Debug)]
pub(crate) struct Scene {
    random: Random,
    pub(crate) state: State,
    /// Angular velocity of each slot's prop, in radians per second.
    spins: Vec<DVec3>,
    generations: Vec<u16>,
    /// Probability that a resting prop is kicked in a tick.
    pub(crate) kicks: f64,
    /// Probability that a prop disappears, or a new one appears, in a tick.
    pub(crate) turnover: f64,
    /// Whether props keep all of their speed and never rest.
    pub(crate) restless: bool,
    /// Whether ticks pass in which nothing changes.
    pub(crate) frozen: bool,
}

impl Scene {
    pub(crate) fn new(seed: u64, players: usize, props: usize) -> Self {
        let mut scene = Self {
            random: Random::new(seed),
            state: State::default(),
            spins: vec![DVec3::ZERO; players + props],
            generations: vec![0; players + props],
            kicks: 0.001,
            turnover: 0.02,
            restless: false,
            frozen: false,
        };
        for slot in 0..players + props {
            scene.appear(slot as u16, slot < players);
        }
        scene
    }

    pub(crate) fn bounds() -> WorldBounds {
        let corner = DVec3::new(HALF, HALF, 1000.0);
        WorldBounds::covering(-corner, corner).unwrap()
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Stops everything from now on.
    #[allow(dead_code, reason = "the benchmarks share this file and do not use the item")]
    pub(crate) fn come_to_rest(&mut self) {
        self.frozen = true;
        self.state.entities.iter_mut().for_each(|entity| entity.velocity = DVec3::ZERO);
    }

    /// Simulates a tick of a sixtieth of a second.
    pub(crate) fn step(&mut self) {
        const STEP: f64 = 1.0 / 60.0;
        self.state.tick += 1;
        if self.frozen {
            return;
        }
        let (restless, kicks) = (self.restless, self.kicks);
        for entity in &mut self.state.entities {
            let slot = usize::from(entity.id.slot);
            let random = &mut self.random;
            match &mut entity.kind {
                Kind::Player { posture } => {
                    if random.chance(0.03) {
                        let yaw = random.within(-3.2, 3.2);
                        entity.velocity = 320.0 * DVec3::new(yaw.cos(), yaw.sin(), 0.0);
                    }
                    if random.chance(0.01) {
                        *posture = match posture {
                            Posture::Standing => Posture::Crouching,
                            Posture::Crouching => Posture::Standing,
                        };
                    }
                    let turn = random.within(-0.1, 0.1);
                    entity.orientation = DQuat::from_rotation_z(turn) * entity.orientation;
                }
                Kind::Vehicle { .. } | Kind::Prop { .. } => {
                    if entity.asleep {
                        if !random.chance(kicks) {
                            continue;
                        }
                        entity.asleep = false;
                        let speed = || random.within(-300.0, 300.0);
                        entity.velocity = DVec3::from_array([(); 3].map({
                            let mut speed = speed;
                            move |()| speed()
                        }));
                        self.spins[slot] = entity.velocity / 100.0;
                    }
                    entity.velocity.z -= 800.0 * STEP;
                    let turn = DQuat::from_scaled_axis(self.spins[slot] * STEP);
                    entity.orientation = (turn * entity.orientation).normalize();
                }
            }
            entity.position += entity.velocity * STEP;
            if entity.position.z < FLOOR {
                entity.position.z = FLOOR;
                let kept = if restless { 1.0 } else { 0.5 };
                entity.velocity *= DVec3::new(kept, kept, -kept);
                self.spins[slot] *= kept;
                let rests = !restless && entity.velocity.length() < 30.0;
                if rests && matches!(entity.kind, Kind::Prop { .. }) {
                    entity.velocity = DVec3::ZERO;
                    entity.asleep = true;
                }
            }
            for axis in 0..2 {
                if entity.position[axis].abs() > HALF {
                    entity.position[axis] = entity.position[axis].clamp(-HALF, HALF);
                    entity.velocity[axis] *= -1.0;
                }
            }
        }
        self.replace_props();
    }

    fn replace_props(&mut self) {
        if self.random.chance(self.turnover) && self.state.entities.len() > 1 {
            let index = self.random.below(self.state.entities.len());
            if matches!(self.state.entities[index].kind, Kind::Prop { .. }) {
                self.state.entities.remove(index);
            }
        }
        if self.random.chance(self.turnover) {
            let taken = |slot| self.state.entities.iter().any(|e| usize::from(e.id.slot) == slot);
            if let Some(slot) = (0..self.spins.len()).find(|&slot| !taken(slot)) {
                self.appear(slot as u16, false);
            }
        }
    }

    fn appear(&mut self, slot: u16, player: bool) {
        let random = &mut self.random;
        let kind = if player {
            Kind::Player { posture: Posture::Standing }
        } else {
            let model = ModelId(random.below(5) as u8);
            if random.chance(0.1) { Kind::Vehicle { model } } else { Kind::Prop { model } }
        };
        let generation = &mut self.generations[usize::from(slot)];
        *generation = generation.wrapping_add(1);
        let height = if player { FLOOR } else { random.within(100.0, 500.0) };
        self.spins[usize::from(slot)] = DVec3::new(1.0, 2.0, random.within(-3.0, 3.0));
        let entity = EntityState {
            id: EntityId { slot, generation: *generation },
            kind,
            position: DVec3::new(random.within(-HALF, HALF), random.within(-HALF, HALF), height),
            orientation: DQuat::IDENTITY,
            velocity: DVec3::new(random.within(-99.0, 99.0), random.within(-99.0, 99.0), 0.0),
            asleep: false,
            traits: Traits::default(),
        };
        let place = self.state.entities.partition_point(|e| e.id.slot < slot);
        self.state.entities.insert(place, entity);
    }
}
