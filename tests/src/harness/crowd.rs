use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::model::Model;
use obsp_sim::{Buttons, Command, EntityId, EntityState, Kind, Posture};

use super::exact_judge::number_of;
use super::{Random, own_map};
use crate::oracle::bodies::{Placed, Shape};

/// Half extents of a player's box in both postures, as in `spaces.toml`.
const STANDING: DVec3 = DVec3::new(16.0, 16.0, 28.0);
const CROUCHING: DVec3 = DVec3::new(16.0, 16.0, 18.0);

/// Index of a standing player's shape in [`crowd_shapes`].
pub(super) const STANDING_SHAPE: usize = 0;
const CROUCHING_SHAPE: usize = 1;
/// Index of the first model in [`crowd_shapes`].
pub(super) const FIRST_MODEL_SHAPE: usize = 2;

/// A scripted player that runs, turns, jumps and crouches at random, into whatever is in its way.
#[derive(Clone, Debug)]
pub struct Wanderer {
    id: EntityId,
    random: Random,
    command: Command,
}

impl Wanderer {
    /// A wanderer that controls the player `id`.
    pub fn new(id: EntityId, random: Random) -> Self {
        Self { id, random, command: Command::default() }
    }

    /// The player that the wanderer controls.
    pub fn id(&self) -> EntityId {
        self.id
    }

    /// The player's command for the next tick.
    pub fn next_command(&mut self) -> (EntityId, Command) {
        let random = &mut self.random;
        if random.one_in(30) {
            self.command.forward = [127, 127, 127, 60, -127, 0][random.below(6)];
            self.command.right = [0, 0, 127, -127][random.below(4)];
        }
        if random.one_in(20) {
            let turn = random.between(-12_000.0, 12_000.0) as i32;
            self.command.yaw = self.command.yaw.wrapping_add_signed(turn as i16);
        }
        let mut buttons = Buttons::default();
        if random.one_in(25) {
            buttons = buttons | Buttons::JUMP;
        }
        let ducks = self.command.buttons.contains(Buttons::CROUCH);
        if ducks != random.one_in(if ducks { 20 } else { 120 }) {
            buttons = buttons | Buttons::CROUCH;
        }
        self.command.buttons = buttons;
        (self.id, self.command)
    }
}

/// The shapes for an audit of a match: a player's box in both postures, then the models in their
/// order, each read from its source file.
///
/// # Panics
/// If a model's source file cannot be read.
pub fn crowd_shapes(models: &[Model]) -> Vec<Arc<Shape>> {
    crowd_boxes().into_iter().chain(models.iter().map(|model| model_shape(model.name()))).collect()
}

/// A player's box in both postures.
pub(super) fn crowd_boxes() -> Vec<Arc<Shape>> {
    [STANDING, CROUCHING].map(|half| Shape::cuboid(-half, half)).into()
}

/// The shape of a model, read from its source file.
pub(super) fn model_shape(name: &str) -> Arc<Shape> {
    let path = own_map(&format!("models/{name}.obj"));
    Shape::model(&std::fs::read_to_string(path).expect("the model's source"))
}

/// An entity of a match, for an audit with [`crowd_shapes`].
pub fn placed(entity: &EntityState) -> Placed {
    let (shape, orientation) = match entity.kind {
        Kind::Player { posture: Posture::Standing } => (STANDING_SHAPE, DQuat::IDENTITY),
        Kind::Player { posture: Posture::Crouching } => (CROUCHING_SHAPE, DQuat::IDENTITY),
        Kind::Vehicle { model } | Kind::Prop { model } => {
            (FIRST_MODEL_SHAPE + usize::from(model.0), entity.orientation)
        }
    };
    Placed { id: number_of(entity.id), shape, orientation, position: entity.position }
}
