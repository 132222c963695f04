//! The places where a `game.toml` names models. A wrong name is found only when the file is
//! combined with a game, because the game has models of its own. With these places the error can
//! name a line and a column.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

/// Places in the text as byte offsets, each with the name at that place. There are none if the file
/// was not read from its text.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelPlaces {
    models: Vec<(String, usize)>,
    classes: Vec<(String, usize)>,
    /// The weapons. Each name is the model that the weapon throws.
    weapons: Vec<(String, usize)>,
}

/// The parts of the file that name models.
#[derive(Default, Deserialize)]
struct RawModelNames {
    #[serde(default)]
    models: BTreeMap<String, Spanned<IgnoredAny>>,
    #[serde(default)]
    classes: BTreeMap<String, User>,
    #[serde(default)]
    weapons: BTreeMap<String, Spanned<User>>,
}

/// A table that may name a model.
#[derive(Deserialize)]
struct User {
    model: Option<Spanned<String>>,
    kind: Option<String>,
}

impl ModelPlaces {
    /// The places in a text; none if it cannot be parsed.
    pub(super) fn read(text: &str) -> Self {
        let RawModelNames { models, classes, weapons } = toml::from_str(text).unwrap_or_default();
        let thrown = |(name, weapon): (String, Spanned<User>)| {
            let at = weapon.span().start;
            match weapon.into_inner() {
                User { model: Some(model), .. } => (model.get_ref().clone(), model.span().start),
                // The default model has the name of the kind, which may be the weapon's own name.
                User { kind, .. } => (kind.unwrap_or(name), at),
            }
        };
        let used = |(class, user): (String, User)| Some((class, user.model?.span().start));
        Self {
            models: models.into_iter().map(|(name, path)| (name, path.span().start)).collect(),
            classes: classes.into_iter().filter_map(used).collect(),
            weapons: weapons.into_iter().map(thrown).collect(),
        }
    }

    /// The place of the path of one of the file's models.
    pub(super) fn of_model(&self, name: &str) -> Option<usize> {
        find(&self.models, name)
    }

    /// The place where a class names its model.
    pub(super) fn of_class(&self, class: &str) -> Option<usize> {
        find(&self.classes, class)
    }

    /// The place where a weapon names the model that it throws, or the beginning of the weapon's
    /// table.
    pub(super) fn of_weapon(&self, thrown: &str) -> Option<usize> {
        find(&self.weapons, thrown)
    }
}

fn find(places: &[(String, usize)], name: &str) -> Option<usize> {
    places.iter().find(|(named, _)| named == name).map(|&(_, at)| at)
}
