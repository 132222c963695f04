//! The data of a game that a client needs to predict it: the movement parameters in the `game.toml`
//! of the match, and the models that do not ship. A server reads the file with this code and sends
//! the result, so clients have the same numbers and shapes without a TOML parser. The server itself
//! reads the tables that only the rules of a game need.

mod bodies;
mod drawn;
mod models;
mod movement;

use std::sync::Arc;

use bincode::{Decode, Encode};
use obsp::Map;
use obsp::model::{BodyKind, Material, Model, shipped};
use obsp_sim::{MovementParameters, MovementSets};
use serde::Deserialize;
use thiserror::Error;

use crate::control::GameHash;
use crate::schema::Schema;

use drawn::DrawnModel;

pub use obsp::GameFileError;

/// Maximum length of a `game.toml`, in bytes. It is far more than all its tables take, and little
/// enough to be in every recording.
pub const MAX_GAME_FILE: usize = 64 << 10;

/// Maximum length of a game's data, in bytes. It has room for more models than any game has had.
/// The largest model that ships has five thousand bytes.
pub const MAX_GAME_DATA: usize = 1 << 20;

/// The data of a game that a client needs to predict it: how players move, and the shapes of the
/// game's models.
///
/// ```
/// use obsp_proto::game_data::GameData;
///
/// let server = GameData::parse("[movement]\ngravity = 400\n[weapons.ray]\nreach = 900")?;
/// // The bytes and their hash are what a client gets.
/// let client = GameData::from_bytes(server.bytes())?;
/// assert_eq!(client.movement().gravity, 400.0);
/// assert_eq!(client.hash(), server.hash());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GameData {
    text: Arc<str>,
    /// The usual parameters, then the sets of the file in the order of their names, then the sets
    /// of the game's own code.
    movement: MovementSets,
    body_gravity: f64,
    /// The models of the file in the order of their names, then the models of the game's own
    /// code.
    models: Arc<[Model]>,
    /// The models of the map to which the game has given another material or kind.
    drawn: Arc<[DrawnModel]>,
    /// The encoding; empty if clients need no data.
    bytes: Arc<[u8]>,
}

/// The reason why bytes, or a game's models, are not valid data of a game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GameDataError {
    /// Too many bytes.
    #[error("the game's data have {bytes} bytes; at most {MAX_GAME_DATA} are allowed")]
    TooLong {
        /// The number of bytes.
        bytes: usize,
    },
    /// The bytes cannot be decoded.
    #[error("the game's data are damaged: {reason}")]
    Damaged {
        /// The reason that the decoder gives.
        reason: String,
    },
    /// The `game.toml` in the data cannot be read.
    #[error("game.toml: {0}")]
    File(GameFileError),
    /// A set of movement parameters of the game cannot be used.
    #[error("{0}")]
    Movement(String),
    /// A model of the game cannot be read.
    #[error("{0}")]
    Model(String),
    /// The movement parameters or the models in the data contradict the `game.toml` in the data.
    #[error("the game's data contradict the game.toml that they contain")]
    OtherText,
    /// The schema names a model that is neither in the data, nor shipped, nor drawn in the map.
    #[error(
        "the model {name} is neither in the game's data, nor among those that ship, nor drawn in \
         the map; the map may differ from the server's"
    )]
    NoSuchModel {
        /// The model.
        name: String,
    },
}

impl From<GameFileError> for GameDataError {
    fn from(error: GameFileError) -> Self {
        Self::File(error)
    }
}

/// The tables of a `game.toml` that a client needs; other tables are for the rules of the game.
#[derive(Deserialize)]
struct RawGameData {
    #[serde(default)]
    models: models::RawModels,
    #[serde(default)]
    materials: models::Materials,
    #[serde(default)]
    movement: movement::RawMovement,
    #[serde(default)]
    movements: movement::RawMovements,
    #[serde(default)]
    bodies: bodies::RawBodies,
}

/// The data as they are encoded: the text of the file, the movement parameters, and the models.
/// [`Dynamics`] follow if any of their numbers is not at its default.
#[derive(Encode, Decode)]
struct Encoded {
    text: String,
    movement: [f64; MovementParameters::COUNT],
    movements: Vec<(String, [f64; MovementParameters::COUNT])>,
    models: Vec<EncodedModel>,
}

/// The gravity of bodies, and numbers of the materials of all models. They are left out if all have
/// their defaults, so such data keep the encoding of older versions.
#[derive(Debug, PartialEq, Encode, Decode)]
struct Dynamics {
    body_gravity: f64,
    /// For each model: linear damping, gravity scale and density.
    materials: Vec<[f64; 3]>,
}

impl Dynamics {
    fn of(body_gravity: f64, materials: impl Iterator<Item = Material>) -> Self {
        let of = |material: Material| {
            [material.linear_damping(), material.gravity_scale(), material.density()]
        };
        Self { body_gravity, materials: materials.map(of).collect() }
    }

    /// The numbers of data that leave them out.
    fn usual(models: usize) -> Self {
        let usual = Material::USUAL;
        let numbers = [usual.linear_damping(), usual.gravity_scale(), usual.density()];
        Self { body_gravity: obsp_sim::BODY_GRAVITY, materials: vec![numbers; models] }
    }

    /// Checks the numbers of data that have this many models.
    fn check(&self, models: usize) -> Result<(), GameDataError> {
        if self.materials.len() != models {
            let reason = "the number of materials is not the number of models";
            return Err(GameDataError::Damaged { reason: reason.into() });
        }
        if !obsp_sim::BODY_GRAVITIES.contains(&self.body_gravity) {
            let reason = format!("the gravity of bodies, {}, is out of range", self.body_gravity);
            return Err(GameDataError::Damaged { reason });
        }
        Ok(())
    }
}

/// A model, in its encoded form.
#[derive(Encode, Decode)]
struct EncodedModel {
    name: String,
    friction: f64,
    restitution: f64,
    angular_damping: f64,
    /// The way in which its bodies move: 0 dynamic, 1 missiles, 2 kinematic.
    kind: u8,
    /// The OBJ text; empty for a model that is drawn in the map.
    text: String,
}

impl EncodedModel {
    fn new(name: &str, material: Material, kind: BodyKind, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            friction: material.friction(),
            restitution: material.restitution(),
            angular_damping: material.angular_damping(),
            kind: match kind {
                BodyKind::Dynamic => 0,
                BodyKind::Missile => 1,
                BodyKind::Kinematic => 2,
            },
            text: text.to_owned(),
        }
    }

    /// The material. The numbers that the model does not hold come from its [`Dynamics`].
    fn material(
        &self,
        [linear_damping, gravity_scale, density]: [f64; 3],
    ) -> Result<Material, GameDataError> {
        Material::new(self.friction, self.restitution)
            .and_then(|material| material.with_angular_damping(self.angular_damping))
            .and_then(|material| material.with_linear_damping(linear_damping))
            .and_then(|material| material.with_gravity_scale(gravity_scale))
            .and_then(|material| material.with_density(density))
            .map_err(|error| GameDataError::Model(format!("model {}: {error}", self.name)))
    }

    fn kind(&self) -> Result<BodyKind, GameDataError> {
        match self.kind {
            0 => Ok(BodyKind::Dynamic),
            1 => Ok(BodyKind::Missile),
            2 => Ok(BodyKind::Kinematic),
            _ => {
                let reason = format!("model {}: {} is not a kind of body", self.name, self.kind);
                Err(GameDataError::Model(reason))
            }
        }
    }

    fn is_drawn(&self) -> bool {
        self.text.is_empty()
    }

    fn model(&self, numbers: [f64; 3]) -> Result<Model, GameDataError> {
        let model = Model::from_obj(&self.name, &self.text)
            .map_err(|error| GameDataError::Model(error.to_string()))?;
        let model = model.with_material(self.material(numbers)?);
        Ok(match self.kind()? {
            BodyKind::Dynamic => model,
            BodyKind::Missile => model.as_missile(),
            BodyKind::Kinematic => model.as_kinematic(),
        })
    }

    fn drawn(&self, numbers: [f64; 3]) -> Result<DrawnModel, GameDataError> {
        let (material, kind) = (self.material(numbers)?, self.kind()?);
        Ok(DrawnModel { name: self.name.clone(), material, kind })
    }
}

impl GameData {
    /// Reads the text of a `game.toml` without models.
    ///
    /// # Errors
    /// The errors are those of [`GameData::read`].
    pub fn parse(text: &str) -> Result<Self, GameFileError> {
        Self::read(text, &mut |_, _| Err("there is no folder to read it from".into()))
    }

    /// Reads the text of a `game.toml`. `model` gives the text of each of its models, by its name
    /// and its path from the folder of the map.
    ///
    /// # Errors
    /// The text is not TOML, a key of these tables is unknown, a number is out of its range, a
    /// model cannot be read, or all of it is too long. [`GameFileError`] says where.
    pub fn read(
        text: &str,
        model: &mut dyn FnMut(&str, &str) -> Result<String, String>,
    ) -> Result<Self, GameFileError> {
        if text.len() > MAX_GAME_FILE {
            let message =
                format!("the file has {} bytes; at most {MAX_GAME_FILE} are allowed", text.len());
            return Err(GameFileError::at(text, 0, message));
        }
        let raw: RawGameData =
            toml::from_str(text).map_err(|error| GameFileError::of(text, &error))?;
        let movement = movement::sets(&raw.movement, &raw.movements, text)?;
        let models = models::read(&raw.models, &raw.materials, text, model)?;
        let data = Self {
            text: text.into(),
            movement,
            body_gravity: raw.bodies.gravity(text)?,
            models: models.into(),
            drawn: Arc::default(),
            bytes: Arc::default(),
        };
        data.encoded().map_err(|error| GameFileError::at(text, 0, error.to_string()))
    }

    /// Reads data, which may come from anyone. An empty slice stands for no data.
    ///
    /// # Errors
    /// [`GameDataError`] says what is wrong with the data.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, GameDataError> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        if bytes.len() > MAX_GAME_DATA {
            return Err(GameDataError::TooLong { bytes: bytes.len() });
        }
        let damaged = |reason: String| GameDataError::Damaged { reason };
        let limits = bincode::config::standard().with_limit::<{ 4 * MAX_GAME_DATA }>();
        let (encoded, used): (Encoded, usize) = bincode::decode_from_slice(bytes, limits)
            .map_err(|error| damaged(error.to_string()))?;
        let rest = &bytes[used..];
        let (dynamics, used) = match rest {
            [] => (Dynamics::usual(encoded.models.len()), 0),
            _ => bincode::decode_from_slice(rest, limits)
                .map_err(|error| damaged(error.to_string()))?,
        };
        if used != rest.len() {
            return Err(damaged(format!("{} bytes too many", rest.len() - used)));
        }
        if encoded.text.len() > MAX_GAME_FILE || encoded.models.len() > obsp_sim::MAX_MODELS {
            return Err(damaged("the text is too long, or there are too many models".into()));
        }
        let movement = MovementSets::from_numbers(encoded.movement, &encoded.movements);
        dynamics.check(encoded.models.len())?;
        let all = encoded.models.iter().zip(dynamics.materials);
        let (drawn, models): (Vec<_>, Vec<_>) = all.partition(|(model, _)| model.is_drawn());
        let models = models.into_iter().map(|(model, numbers)| model.model(numbers));
        let drawn = drawn.into_iter().map(|(model, numbers)| model.drawn(numbers));
        Ok(Self {
            text: encoded.text.as_str().into(),
            movement: movement.map_err(|error| damaged(error.to_string()))?,
            body_gravity: dynamics.body_gravity,
            models: models.collect::<Result<_, _>>()?,
            drawn: drawn.collect::<Result<_, _>>()?,
            bytes: bytes.into(),
        })
    }

    /// Adds the models of `all`, which the game's own code has made, except those that ship. A
    /// model replaces an earlier one of the same name. If a model is drawn in the map, only its
    /// material and kind are added, because clients have the map.
    ///
    /// # Errors
    /// All models together are too many, or too long.
    pub fn with_models(&self, all: &[Model]) -> Result<Self, GameDataError> {
        let mut models = self.models.to_vec();
        let drawn: Arc<[DrawnModel]> = all.iter().filter_map(DrawnModel::of).collect();
        let own = |model: &&Model| !model.is_shipped() && model.drawn().is_none();
        for model in all.iter().filter(own) {
            match models.iter_mut().find(|known| known.name() == model.name()) {
                Some(known) => *known = model.clone(),
                None => models.push(model.clone()),
            }
        }
        let count = models.len() + drawn.len();
        if count > obsp_sim::MAX_MODELS {
            let reason = format!("{count} models; at most {} are allowed", obsp_sim::MAX_MODELS);
            return Err(GameDataError::Damaged { reason });
        }
        Self { models: models.into(), drawn, ..self.clone() }.encoded()
    }

    /// Adds the sets of movement parameters that the game's own code declares, except those whose
    /// names the file has.
    ///
    /// # Errors
    /// All sets together are too many, a parameter is out of its range, or all data are too long.
    pub fn with_movements(
        &self,
        own: &[(&str, MovementParameters)],
    ) -> Result<Self, GameDataError> {
        let movement = movement::with_own(self.movement.clone(), own);
        let movement = movement.map_err(|error| GameDataError::Movement(error.to_string()))?;
        Self { movement, ..self.clone() }.encoded()
    }

    /// The text of the `game.toml`; empty if there is none.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The usual movement parameters of players on foot.
    pub fn movement(&self) -> &MovementParameters {
        self.movement.usual()
    }

    /// All sets of movement parameters of players on foot.
    pub fn movement_sets(&self) -> &MovementSets {
        &self.movement
    }

    /// The gravity of bodies, in units per second squared.
    pub fn body_gravity(&self) -> f64 {
        self.body_gravity
    }

    /// The models of the file in the order of their names, then the models of the game's own
    /// code.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The models of a match on `map` in the order of their ids. Each name of the schema stands for
    /// the game's own model of that name. If the game has none, the name stands for the shipped
    /// model, and if none ships, for the model that is drawn in the map ([`Map::model_named`]).
    ///
    /// # Errors
    /// The schema names a model that is neither the game's own, nor shipped, nor drawn in the map.
    pub fn models_of(&self, schema: &Schema, map: &Map) -> Result<Vec<Model>, GameDataError> {
        let shipped = shipped();
        let known = || self.models.iter().chain(&shipped);
        let model = |name: &str| {
            let found = known().find(|model| model.name() == name).cloned().map(Ok);
            let found = found.or_else(|| DrawnModel::find(&self.drawn, map, name));
            found.ok_or_else(|| GameDataError::NoSuchModel { name: name.to_owned() })?
        };
        schema.models().map(model).collect()
    }

    /// The encoding, at most [`MAX_GAME_DATA`] bytes; empty if clients need no data.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The BLAKE3 hash of the encoding; `None` if it is empty.
    pub fn hash(&self) -> Option<GameHash> {
        GameHash::of(&self.bytes)
    }

    /// Encodes the data and keeps the bytes.
    fn encoded(mut self) -> Result<Self, GameDataError> {
        let (text, movement) = ((*self.text).to_owned(), self.movement().to_array());
        let movements = self.movement.numbers_of_others();
        let own = self.models.iter().map(|model| {
            EncodedModel::new(model.name(), model.material(), model.kind(), model.source())
        });
        let drawn = self.drawn.iter();
        let drawn =
            drawn.map(|model| EncodedModel::new(&model.name, model.material, model.kind, ""));
        let models: Vec<EncodedModel> = own.chain(drawn).collect();
        let count = models.len();
        let encoded = Encoded { text, movement, movements, models };
        let is_empty = encoded.movements.is_empty() && encoded.models.is_empty();
        if is_empty && encoded.text.is_empty() {
            return Ok(self);
        }
        let damaged = |error: bincode::error::EncodeError| GameDataError::Damaged {
            reason: error.to_string(),
        };
        let bytes = bincode::encode_to_vec(&encoded, bincode::config::standard());
        let mut bytes = bytes.map_err(damaged)?;
        let materials = self.models.iter().map(Model::material);
        let materials = materials.chain(self.drawn.iter().map(|model| model.material));
        let dynamics = Dynamics::of(self.body_gravity, materials);
        if dynamics != Dynamics::usual(count) {
            let more = bincode::encode_to_vec(&dynamics, bincode::config::standard());
            bytes.extend(more.map_err(damaged)?);
        }
        if bytes.len() > MAX_GAME_DATA {
            return Err(GameDataError::TooLong { bytes: bytes.len() });
        }
        self.bytes = bytes.into();
        Ok(self)
    }
}

impl Default for GameData {
    fn default() -> Self {
        Self {
            text: Arc::default(),
            movement: MovementSets::default(),
            body_gravity: obsp_sim::BODY_GRAVITY,
            models: Arc::default(),
            drawn: Arc::default(),
            bytes: Arc::default(),
        }
    }
}

impl PartialEq for GameData {
    /// Compares the encodings, from which everything else follows.
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

#[cfg(test)]
mod tests;
