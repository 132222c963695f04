//! The table `[models]` names a file for each model, relative to the map. The tables
//! `[materials.NAME]` say what a model is made of and how its bodies move.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use obsp::model::{Material, Model};
use serde::Deserialize;
use toml::Spanned;

use super::{GameFileError, MAX_GAME_DATA};

/// Maximum number of models that a file may name.
const MAX_MODELS: usize = 64;

/// The table `[models]` as it is written: the path of each model by its name.
pub(super) type RawModels = BTreeMap<String, Spanned<String>>;

/// The tables `[materials.NAME]` as they are written, by the names of their models.
pub(super) type Materials = BTreeMap<String, Spanned<RawMaterial>>;

/// A material as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMaterial {
    friction: Option<Spanned<f64>>,
    restitution: Option<Spanned<f64>>,
    angular_damping: Option<Spanned<f64>>,
    linear_damping: Option<Spanned<f64>>,
    gravity_scale: Option<Spanned<f64>>,
    density: Option<Spanned<f64>>,
    /// Whether a game drives the bodies of the model.
    #[serde(default)]
    kinematic: bool,
    /// Whether bodies of the model fly, and players cannot shove them.
    #[serde(default)]
    missile: bool,
}

impl RawMaterial {
    fn material(&self, text: &str) -> Result<Material, GameFileError> {
        // Friction and restitution come first, because `Material::new` resets the other numbers to
        // their defaults.
        let usual = Material::USUAL;
        let set = [
            |material: Material, friction| Material::new(friction, material.restitution()),
            |material: Material, restitution| Material::new(material.friction(), restitution),
            Material::with_angular_damping,
            Material::with_linear_damping,
            Material::with_gravity_scale,
            Material::with_density,
        ];
        let written = [
            &self.friction,
            &self.restitution,
            &self.angular_damping,
            &self.linear_damping,
            &self.gravity_scale,
            &self.density,
        ];
        written.into_iter().zip(set).try_fold(usual, |material, (written, set)| {
            let Some(written) = written else { return Ok(material) };
            set(material, *written.get_ref())
                .map_err(|error| GameFileError::at(text, written.span().start, error.to_string()))
        })
    }
}

/// Reads the `raw` models of the `text` of a file, in the order of their names. `read` gives the
/// text of each, by its name and path.
pub(super) fn read(
    raw: &RawModels,
    materials: &Materials,
    text: &str,
    read: &mut dyn FnMut(&str, &str) -> Result<String, String>,
) -> Result<Vec<Model>, GameFileError> {
    if let Some((name, material)) = materials.iter().find(|(name, _)| !raw.contains_key(*name)) {
        let message = format!("materials.{name}: there is no {name} in [models]");
        return Err(GameFileError::at(text, material.span().start, message));
    }
    let mut models = Vec::new();
    let mut bytes = text.len();
    for (name, path) in raw {
        let refused = |message| GameFileError::at(text, path.span().start, message);
        if models.len() == MAX_MODELS {
            return Err(refused(format!("there are more than {MAX_MODELS} models")));
        }
        let path = path.get_ref();
        if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(refused(format!("{path} is not within the folder of the map")));
        }
        let source = read(name, path).map_err(|reason| refused(format!("{path}: {reason}")))?;
        // The length is checked first, so that too long a model costs no work.
        bytes += source.len();
        if bytes > MAX_GAME_DATA {
            return Err(refused(format!("{path}: the models so far exceed {MAX_GAME_DATA} bytes")));
        }
        let model = Model::from_obj(name, &source);
        let model = model.map_err(|error| refused(format!("{path}: {error}")))?;
        let Some(material) = materials.get(name) else {
            models.push(model);
            continue;
        };
        let raw_material = material.get_ref();
        let model = model.with_material(raw_material.material(text)?);
        models.push(match (raw_material.kinematic, raw_material.missile) {
            (false, false) => model,
            (true, false) => model.as_kinematic(),
            (false, true) => model.as_missile(),
            (true, true) => {
                let message = format!(
                    "materials.{name}: a kinematic body cannot be a missile; leave out kinematic \
                     or missile"
                );
                return Err(GameFileError::at(text, material.span().start, message));
            }
        });
    }
    Ok(models)
}
