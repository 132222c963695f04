//! Where a `game.toml` names models. Which models there are is known only together with a game:
//! what is wrong with a name is found then, and told with its place all the same.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

/// Places in the text, as the number of bytes before; none if the file was not read from it.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct ModelPlaces {
    #[serde(default)]
    models: BTreeMap<String, Spanned<IgnoredAny>>,
    #[serde(default)]
    classes: BTreeMap<String, User>,
    #[serde(default)]
    weapons: BTreeMap<String, Spanned<User>>,
}

/// A table that may name a model.
#[derive(Clone, Debug, Deserialize)]
struct User {
    model: Option<Spanned<String>>,
    kind: Option<String>,
}

impl ModelPlaces {
    /// The places of a text that can be read; none of another.
    pub(super) fn read(text: &str) -> Self {
        toml::from_str(text).unwrap_or_default()
    }

    /// Where a model of the file has its path.
    pub(super) fn of_model(&self, name: &str) -> Option<usize> {
        Some(self.models.get(name)?.span().start)
    }

    /// Where a class names its model.
    pub(super) fn of_class(&self, class: &str) -> Option<usize> {
        Some(self.classes.get(class)?.model.as_ref()?.span().start)
    }

    /// Where a weapon names the model that it throws, or where its table begins.
    pub(super) fn of_weapon(&self, thrown: &str) -> Option<usize> {
        self.weapons.iter().find_map(|(name, weapon)| {
            let User { model, kind } = weapon.get_ref();
            let (named, at) = match model {
                Some(model) => (model.get_ref(), model.span()),
                // The usual model has the name of the kind, and that may be the weapon's own.
                None => (kind.as_ref().unwrap_or(name), weapon.span()),
            };
            (named == thrown).then_some(at.start)
        })
    }
}
