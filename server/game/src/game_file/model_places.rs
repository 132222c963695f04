//! Where a `game.toml` names models. Which models there are is known only together with a game:
//! what is wrong with a name is found then, and told with its place all the same.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

/// Places in the text, as the number of bytes before, each with a name; none if the file was
/// not read from it.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelPlaces {
    models: Vec<(String, usize)>,
    classes: Vec<(String, usize)>,
    /// By the model that is thrown.
    weapons: Vec<(String, usize)>,
}

/// The parts of the file that name models.
#[derive(Default, Deserialize)]
struct Written {
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
    /// The places of a text that can be read; none of another.
    pub(super) fn read(text: &str) -> Self {
        let Written { models, classes, weapons } = toml::from_str(text).unwrap_or_default();
        let thrown = |(name, weapon): (String, Spanned<User>)| {
            let at = weapon.span().start;
            match weapon.into_inner() {
                User { model: Some(model), .. } => (model.get_ref().clone(), model.span().start),
                // The usual model has the name of the kind, and that may be the weapon's own.
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

    /// Where a model of the file has its path.
    pub(super) fn of_model(&self, name: &str) -> Option<usize> {
        find(&self.models, name)
    }

    /// Where a class names its model.
    pub(super) fn of_class(&self, class: &str) -> Option<usize> {
        find(&self.classes, class)
    }

    /// Where a weapon names the model that it throws, or where its table begins.
    pub(super) fn of_weapon(&self, thrown: &str) -> Option<usize> {
        find(&self.weapons, thrown)
    }
}

fn find(places: &[(String, usize)], name: &str) -> Option<usize> {
    places.iter().find(|(named, _)| named == name).map(|&(_, at)| at)
}
