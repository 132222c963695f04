use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use glam::{DQuat, DVec3};
use obsp_sim::{EntityState, Kind, ModelId, World};
use serde::Serialize;

/// Writes the poses and velocities of all entities to a file: a JSON object on a line of its own
/// for each dumped tick. Together with the models that `server models` writes and the text of the
/// map, the dump lets anybody audit the match. The text has the brushes of the models whose names
/// begin with `*`.
#[derive(Debug)]
pub struct Dump {
    file: BufWriter<File>,
}

/// A line of the dump.
#[derive(Serialize)]
struct DumpedTick<'a> {
    tick: u64,
    entities: Vec<Entry<'a>>,
}

/// An entity. Lengths are in units and velocities in units per second. The unit quaternion `x, y,
/// z, w` turns body axes into world axes.
#[derive(Serialize)]
struct Entry<'a> {
    /// Slot and generation.
    id: [u16; 2],
    kind: &'static str,
    /// Whether the entity has a body. Pictures, such as items, have none and touch nothing.
    solid: bool,
    #[serde(flatten)]
    form: Form<'a>,
    position: [f64; 3],
    quaternion: [f64; 4],
    velocity: [f64; 3],
    asleep: bool,
}

/// A shape: a model about its centre of mass, or a box of these half extents along the
/// world's axes.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Form<'a> {
    Model(&'a str),
    Box([f64; 3]),
}

impl Dump {
    /// Creates the file, in place of any that exists.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(File::create(path)?) })
    }

    /// Adds a line for the current state of the match.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, world: &World) -> io::Result<()> {
        let state = world.state();
        let entities = state.entities.iter().map(|entity| entry(world, entity)).collect();
        serde_json::to_writer(&mut self.file, &DumpedTick { tick: state.tick, entities })?;
        self.file.write_all(b"\n")
    }

    /// Makes sure that everything is in the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn entry<'a>(world: &'a World, entity: &EntityState) -> Entry<'a> {
    let names = world.model_names();
    let name = |model: ModelId| names.get(usize::from(model.0)).map_or("", String::as_str);
    let (kind, form, orientation) = match entity.kind {
        Kind::Player { posture } => {
            let half: DVec3 = world.agent_half_extents(posture);
            ("player", Form::Box(half.to_array()), DQuat::IDENTITY)
        }
        Kind::Vehicle { model } => ("vehicle", Form::Model(name(model)), entity.orientation),
        Kind::Prop { model } => ("prop", Form::Model(name(model)), entity.orientation),
    };
    Entry {
        id: [entity.id.slot, entity.id.generation],
        kind,
        solid: entity.traits.is_solid(),
        form,
        position: entity.position.to_array(),
        quaternion: orientation.to_array(),
        velocity: entity.velocity.to_array(),
        asleep: entity.asleep,
    }
}
