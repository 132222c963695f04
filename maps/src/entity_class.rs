//! Entity classes of maps as data: the tables `[classes.NAME]` of a `game.toml`. From them a
//! game reads which model an entity of a class spawns, and an editor which keys it has.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// The name of a class or of a key: letters from A to Z of either case, digits and underscores.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct ClassName(String);

/// Longest name, in bytes.
const MAX_NAME: usize = 64;

/// Maximum coordinate of a box that an editor draws, in units.
const REACH: i32 = 1024;

/// The classes of a map's entities, by name.
///
/// ```
/// use obsp::entity_class::{EntityClasses, KeyValue};
///
/// let classes: EntityClasses = toml::from_str(
///     "[item_gem]\nmodel = 'gem'\n\
///      keys.worth = { type = 'integer', title = 'Worth', default = 5 }\n",
/// )?;
/// let gem = &classes["item_gem"];
/// assert_eq!(gem.model.as_deref(), Some("gem"));
/// assert_eq!(gem.keys["worth"].default, Some(KeyValue::Integer(5)));
/// # Ok::<(), toml::de::Error>(())
/// ```
pub type EntityClasses = BTreeMap<ClassName, EntityClass>;

/// A class of a map's entities.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "RawClass")]
pub struct EntityClass {
    /// The purpose of the class's entities, which an editor shows.
    pub description: String,
    /// Whether the class's entities are made of brushes. If not, they are at a point.
    pub brushes: bool,
    /// The box that an editor draws around the origin: its least and its greatest corner.
    pub size: Option<[[i32; 3]; 2]>,
    /// The colour of the box in an editor: red, green, blue.
    pub color: Option<[u8; 3]>,
    /// The model of the body that each entity of the class spawns; `None` if they spawn no body.
    pub model: Option<String>,
    /// The keys of the class.
    pub keys: BTreeMap<ClassName, EntityKey>,
}

/// A key of a class.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntityKey {
    /// The type of the key's value.
    #[serde(rename = "type")]
    pub kind: KeyKind,
    /// The title of the key in an editor.
    pub title: String,
    /// The value if an entity does not have the key.
    pub default: Option<KeyValue>,
    /// The purpose of the key, which an editor shows.
    #[serde(default)]
    pub description: String,
    /// The values to choose from, each with its title.
    #[serde(default)]
    pub choices: Vec<(String, String)>,
}

/// The type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// Any text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// One of the key's choices.
    Choices,
    /// The entity's own name, to which other entities refer.
    TargetSource,
    /// The name of another entity.
    TargetDestination,
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum KeyValue {
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
}

/// A class before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawClass {
    #[serde(default)]
    description: String,
    #[serde(default)]
    brushes: bool,
    size: Option<[[i32; 3]; 2]>,
    color: Option<[u8; 3]>,
    model: Option<String>,
    #[serde(default)]
    keys: BTreeMap<ClassName, EntityKey>,
}

impl TryFrom<RawClass> for EntityClass {
    type Error = String;

    fn try_from(raw: RawClass) -> Result<Self, String> {
        let RawClass { description, brushes, size, color, model, keys } = raw;
        if brushes && (size.is_some() || model.is_some()) {
            return Err("a class of brushes must have neither a size nor a model".into());
        }
        let within = |corner: i32| (-REACH..=REACH).contains(&corner);
        if let Some([least, most]) = size
            && !(0..3).all(|i| least[i] < most[i] && within(least[i]) && within(most[i]))
        {
            return Err(format!(
                "size is {least:?} to {most:?}, which is not a box within {REACH} units of the \
                 origin; write the corner with the lesser numbers first"
            ));
        }
        for (name, key) in &keys {
            if (key.kind == KeyKind::Choices) == key.choices.is_empty() {
                let message = "must list choices if its type is \"choices\", and none otherwise";
                return Err(format!("the key {name} {message}"));
            }
        }
        Ok(Self { description, brushes, size, color, model, keys })
    }
}

impl TryFrom<String> for ClassName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !(1..=MAX_NAME).contains(&name.len()) || !name.chars().all(fits) {
            return Err(format!(
                "the name {name:?} must be 1 to {MAX_NAME} characters of A-Z, a-z, 0-9 and _"
            ));
        }
        Ok(Self(name))
    }
}

impl Borrow<str> for ClassName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<EntityClasses, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| error.to_string())
    }

    #[test]
    fn a_class_is_read_with_its_keys() {
        let text = "[item_gem]\nsize = [[-8, -8, -8], [8, 8, 8]]\nmodel = 'gem'\n\
                    keys.worth = { type = 'integer', title = 'Worth', default = 5 }\n";
        let classes = read(text).unwrap();
        let gem = &classes["item_gem"];
        assert_eq!((gem.brushes, gem.model.as_deref()), (false, Some("gem")));
        assert_eq!(gem.keys["worth"].default, Some(KeyValue::Integer(5)));
    }

    #[test]
    fn classes_of_other_engines_have_capital_letters() {
        let classes = read("[Item_Gem]\nmodel = 'gem'\n").unwrap();
        assert!(classes.contains_key("Item_Gem") && !classes.contains_key("item_gem"));
    }

    #[test]
    fn a_fault_is_told_with_its_place() {
        for (text, expected) in [
            ("[a]\nsize = [[0, 0, 0], [0, 1, 1]]", "not a box within 1024"),
            ("[a]\nbrushes = true\nmodel = 'x'", "neither a size nor a model"),
            ("[gem-1]\nmodel = 'x'", "the name \"gem-1\" must be 1 to 64"),
            ("[a]\nmodle = 'x'", "unknown field `modle`"),
            ("[a.keys.k]\ntype = 'choices'\ntitle = 'K'", "the key k must list choices if"),
            ("[a.keys.k]\ntype = 'number'\ntitle = 'K'", "unknown variant `number`"),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.contains(expected) && found.contains("line "), "{found}");
        }
    }
}
