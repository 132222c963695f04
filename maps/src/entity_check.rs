//! Mistakes in a map's entities: classes that nobody handles, and targets that name nothing.
//!
//! A map loads whatever its entities are, because a game may handle classes of its own. So a
//! misspelt class goes unnoticed unless it is compared with the classes that somebody handles.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use thiserror::Error;

use crate::entity_class::{EntityClasses, KeyKind};
use crate::map::MapEntity;

/// The classes that the server handles by itself, as `mapc fgd` writes them for an editor.
const OWN: &str = include_str!("../trenchbroom/classes.toml");

/// The classes of the arena game, which `mapc fgd` writes beside those of the server.
const ARENA: &str = include_str!("../trenchbroom/arena.toml");

/// Classes that mark a place, to which the `target` of another entity or a camera leads.
const PLACES: [&str; 6] = [
    "info_notnull",
    "info_null",
    "info_player_intermission",
    "info_teleport_destination",
    "misc_teleporter_dest",
    "target_position",
];

/// Classes whose brushes the compiler understands, beside those in [`OWN`].
const COMPILED: [&str; 2] = ["func_detail_illusionary", "func_static"];

/// The first letters of classes that are known, though they do nothing here: lights of all kinds
/// (`light_torch_small_walltorch` …), sounds and decorations. A `func_movewall` lends its brushes
/// to a `rotate_object`, which is solid without them here.
const QUIET: [&str; 4] = ["light", "ambient_", "misc_", "func_movewall"];

/// Keys that name other entities, whatever the class.
const TARGETS: [&str; 2] = ["target", "killtarget"];

/// A suggestion may differ from a misspelt name by one typing mistake for each group of this many
/// letters.
const LETTERS_PER_MISTAKE: usize = 4;

/// The classes of entities that somebody handles.
///
/// ```
/// use obsp::entity_check::KnownClasses;
///
/// let known = KnownClasses::of_server().with(["info_flag"]);
/// assert!(known.contains("trigger_push") && known.contains("info_flag"));
/// assert!(!known.contains("func_door"));
/// ```
#[derive(Clone, Debug)]
pub struct KnownClasses {
    names: BTreeSet<String>,
    /// Keys that name other entities.
    targets: BTreeSet<String>,
}

/// The shape of [`OWN`] and [`ARENA`].
#[derive(Deserialize)]
struct OwnFile {
    classes: EntityClasses,
}

impl KnownClasses {
    /// The classes that the compiler and the server handle in every game.
    ///
    /// # Panics
    /// Never: the list is part of this library, and a test reads it.
    pub fn of_server() -> Self {
        let own: OwnFile = toml::from_str(OWN).expect("the committed list of classes is valid");
        let known = Self {
            names: PLACES.into_iter().chain(COMPILED).map(str::to_owned).collect(),
            targets: TARGETS.map(str::to_owned).into(),
        };
        known.with_classes(&own.classes)
    }

    /// The classes that are handled in the arena game.
    ///
    /// ```
    /// use obsp::entity_check::KnownClasses;
    ///
    /// assert!(KnownClasses::of_arena().contains("item_armorInv"));
    /// assert!(!KnownClasses::of_server().contains("item_armorInv"));
    /// ```
    ///
    /// # Panics
    /// Never, as [`KnownClasses::of_server`].
    pub fn of_arena() -> Self {
        let arena: OwnFile = toml::from_str(ARENA).expect("the committed list of classes is valid");
        Self::of_server().with_classes(&arena.classes)
    }

    /// Adds classes by name.
    #[must_use]
    pub fn with<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.names.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds the classes of a `game.toml`, and their keys that name other entities.
    #[must_use]
    pub fn with_classes(mut self, classes: &EntityClasses) -> Self {
        for (name, class) in classes {
            self.names.insert(name.to_string());
            let leads = class.keys.iter().filter(|(_, key)| key.kind == KeyKind::TargetDestination);
            self.targets.extend(leads.map(|(key, _)| key.to_string()));
        }
        self
    }

    /// Whether somebody handles a class.
    pub fn contains(&self, class: &str) -> bool {
        self.names.contains(class) || QUIET.iter().any(|first| class.starts_with(first))
    }
}

/// A mistake in a map's entities.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EntityFault {
    /// Nobody handles a class.
    #[error("{}", unhandled(.class, *.count, *.brushes, .nearest))]
    Unhandled {
        /// The class.
        class: String,
        /// The number of entities of the class.
        count: usize,
        /// The index of the first of them in [`Map::entities`](crate::Map::entities).
        first: usize,
        /// Whether an entity of the class has brushes.
        brushes: bool,
        /// The known class whose name is most like this one; `None` if no name is near.
        nearest: Option<String>,
    },
    /// A key of an entity names no entity.
    #[error(
        "the key {key} of {} is {target:?}, but no entity has that targetname; {}",
        if *.count == 1 { format!("a {class}") } else { format!("{} entities", .count) },
        meant(.nearest, "correct the name, or give it to the entity that is meant")
    )]
    NoTarget {
        /// The key.
        key: String,
        /// The value of the key.
        target: String,
        /// The class of the first entity with that value.
        class: String,
        /// The number of entities with that value.
        count: usize,
        /// The index of the first of them in [`Map::entities`](crate::Map::entities).
        first: usize,
        /// The targetname that is most like this one; `None` if none is near.
        nearest: Option<String>,
    },
}

fn unhandled(class: &str, count: usize, brushes: bool, nearest: &Option<String>) -> String {
    let does = if count == 1 { "entity does" } else { "entities do" };
    let brushes = if brushes { ", and the brushes stop nothing" } else { "" };
    if class.is_empty() {
        return format!("{count} {does} nothing for lack of a classname{brushes}; add the key");
    }
    let game = "a game that handles it names it in Game::classes or in [classes] of its game.toml";
    let way_out = meant(nearest, game);
    format!("nobody handles the class {class}, so {count} {does} nothing{brushes}; {way_out}")
}

fn meant(nearest: &Option<String>, otherwise: &str) -> String {
    nearest.as_ref().map_or(otherwise.to_owned(), |name| format!("did you mean {name}?"))
}

impl EntityFault {
    /// The mistakes in a map's entities: first the classes, then the targets, each in the order of
    /// the map and told once.
    ///
    /// ```
    /// use obsp::entity_check::{EntityFault, KnownClasses};
    ///
    /// let map = obsp::Map::load("arena.obsp".as_ref())?;
    /// assert_eq!(EntityFault::find(map.entities(), &KnownClasses::of_arena()), []);
    /// # Ok::<(), obsp::LoadMapError>(())
    /// ```
    pub fn find(entities: &[MapEntity], known: &KnownClasses) -> Vec<Self> {
        let mut faults = Self::unhandled(entities, known);
        faults.extend(Self::missing_targets(entities, known));
        faults
    }

    /// The index of the first entity that has the mistake.
    pub fn first(&self) -> usize {
        match self {
            Self::Unhandled { first, .. } | Self::NoTarget { first, .. } => *first,
        }
    }

    fn unhandled(entities: &[MapEntity], known: &KnownClasses) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, entity) in entities.iter().enumerate() {
            let (name, solid) = (entity.classname(), !entity.solids().is_empty());
            if known.contains(name) {
                continue;
            }
            let place = *places.entry(name).or_insert_with(|| {
                let (class, nearest) = (name.to_owned(), nearest(name, &known.names));
                let new =
                    Self::Unhandled { class, count: 0, first: index, brushes: false, nearest };
                found.push(new);
                found.len() - 1
            });
            if let Some(Self::Unhandled { count, brushes, .. }) = found.get_mut(place) {
                *count += 1;
                *brushes |= solid;
            }
        }
        found
    }

    fn missing_targets(entities: &[MapEntity], known: &KnownClasses) -> Vec<Self> {
        let names: BTreeSet<&str> = entities.iter().filter_map(|e| e.get("targetname")).collect();
        let mut found: Vec<Self> = Vec::new();
        let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (index, entity) in entities.iter().enumerate() {
            for key in &known.targets {
                let Some(target) = entity.get(key).filter(|value| !value.is_empty()) else {
                    continue;
                };
                if names.contains(target) {
                    continue;
                }
                let place = *places.entry((key, target)).or_insert_with(|| {
                    found.push(Self::NoTarget {
                        key: key.clone(),
                        target: target.to_owned(),
                        class: entity.classname().to_owned(),
                        count: 0,
                        first: index,
                        nearest: nearest(target, &names),
                    });
                    found.len() - 1
                });
                if let Some(Self::NoTarget { count, .. }) = found.get_mut(place) {
                    *count += 1;
                }
            }
        }
        found
    }
}

/// The name that is most like a misspelt one, if it is near enough to be meant.
fn nearest<S: Borrow<str> + Ord>(misspelt: &str, names: &BTreeSet<S>) -> Option<String> {
    let lower = misspelt.to_ascii_lowercase();
    let allowed = (lower.chars().count() / LETTERS_PER_MISTAKE).max(1);
    let distance = |name: &str| strsim::osa_distance(&lower, &name.to_ascii_lowercase());
    let near = names.iter().map(|name| (distance(name.borrow()), name));
    let (_, name) = near.filter(|&(distance, _)| distance <= allowed).min_by_key(|near| near.0)?;
    Some(name.borrow().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(pairs: &[(&str, &str)]) -> MapEntity {
        let pairs = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
        MapEntity { pairs: pairs.collect(), solids: Vec::new() }
    }

    fn found(entities: &[MapEntity]) -> Vec<String> {
        let faults = EntityFault::find(entities, &KnownClasses::of_server());
        faults.iter().map(|fault| format!("{}: {fault}", fault.first())).collect()
    }

    #[test]
    fn an_unhandled_class_is_told_once_with_its_count() {
        let quiet =
            ["light_torch", "ambient_drip", "misc_explobox", "func_movewall", "info_intermission"];
        let classes =
            [&["worldspawn", "func_door"], &quiet[..], &["func_door", "func_plat"]].concat();
        let entities: Vec<MapEntity> =
            classes.into_iter().map(|class| entity(&[("classname", class)])).collect();
        let game = "a game that handles it names it in Game::classes or in [classes] of its \
                    game.toml";
        assert_eq!(
            found(&entities),
            [
                format!("1: nobody handles the class func_door, so 2 entities do nothing; {game}"),
                format!("8: nobody handles the class func_plat, so 1 entity does nothing; {game}"),
            ]
        );
    }

    #[test]
    fn a_misspelt_class_has_a_suggestion() {
        for (misspelt, meant) in [
            ("trigger_teleprot", "trigger_teleport"),
            ("info_player_strat", "info_player_start"),
            ("Info_Player_Deathmatch", "info_player_deathmatch"),
            ("prpo", "prop"),
        ] {
            let told = found(&[entity(&[("classname", misspelt)])]).join("\n");
            assert!(told.ends_with(&format!("did you mean {meant}?")), "{told}");
        }
        // One mistake in four letters is near; two are not.
        let told = found(&[entity(&[("classname", "pxxp")])]).join("\n");
        assert!(!told.contains("did you mean"), "{told}");
    }

    #[test]
    fn a_class_that_a_game_names_is_handled() {
        let entities = [entity(&[("classname", "info_flag"), ("twin", "b")])];
        let known = KnownClasses::of_server().with(["info_flag"]);
        assert_eq!(EntityFault::find(&entities, &known), []);
        let text = "[info_flag.keys.twin]\ntype = 'target_destination'\ntitle = 'Twin'";
        let known = KnownClasses::of_server().with_classes(&toml::from_str(text).unwrap());
        let faults = EntityFault::find(&entities, &known);
        assert!(matches!(&faults[..], [EntityFault::NoTarget { key, .. }] if key == "twin"));
    }

    #[test]
    fn a_target_without_a_targetname_is_told_once() {
        let entities = [
            entity(&[("classname", "trigger_teleport"), ("target", "hall2")]),
            entity(&[("classname", "trigger_push"), ("target", "hall2")]),
            entity(&[("classname", "trigger_push"), ("target", "hall1")]),
            entity(&[("classname", "trigger_push"), ("target", "")]),
            entity(&[("classname", "target_position"), ("targetname", "hall1")]),
        ];
        assert_eq!(
            found(&entities),
            ["0: the key target of 2 entities is \"hall2\", but no entity has that targetname; \
              did you mean hall1?"]
        );
    }

    #[test]
    fn an_entity_without_a_class_is_told() {
        let told = found(&[entity(&[("origin", "0 0 0")])]).join("\n");
        assert_eq!(told, "0: 1 entity does nothing for lack of a classname; add the key");
    }
}
