//! Models that are drawn in the map of a match. Clients have the map, so only what the map does not
//! say is sent: the materials, and how the bodies move.

use obsp::Map;
use obsp::model::{BodyKind, Material, Model};

use super::GameDataError;

/// The properties that a game has given a model that is drawn in the map.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DrawnModel {
    pub(super) name: String,
    pub(super) material: Material,
    pub(super) kind: BodyKind,
}

impl DrawnModel {
    /// The properties of a model; `None` if the model is not drawn in a map, or the game has not
    /// changed its properties.
    pub(super) fn of(model: &Model) -> Option<Self> {
        model.drawn()?;
        let (name, material, kind) = (model.name().to_owned(), model.material(), model.kind());
        let is_usual = material == Material::USUAL && kind == BodyKind::Kinematic;
        (!is_usual).then_some(Self { name, material, kind })
    }

    /// The model of this name that is drawn in `map`, with the properties that `known` has for it;
    /// `None` if the map has no model of this name.
    pub(super) fn find(
        known: &[Self],
        map: &Map,
        name: &str,
    ) -> Option<Result<Model, GameDataError>> {
        let model = match map.model_named(name)? {
            Ok(model) => model,
            Err(error) => return Some(Err(GameDataError::Model(error.to_string()))),
        };
        let own = known.iter().find(|drawn| drawn.name == name);
        Some(Ok(match own {
            Some(DrawnModel { material, kind, .. }) => {
                let model = model.with_material(*material);
                match kind {
                    BodyKind::Dynamic => model.as_dynamic(),
                    BodyKind::Missile => model.as_missile(),
                    BodyKind::Kinematic => model,
                }
            }
            None => model,
        }))
    }
}
