//! `mapc fgd`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use obsp::entity_class::{ClassName, EntityClass, EntityClasses, EntityKey, KeyKind, KeyValue};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The classes that the server understands by itself.
const OWN: &str = include_str!("../../../trenchbroom/classes.toml");

/// The classes of the arena game.
const ARENA: &str = include_str!("../../../trenchbroom/arena.toml");

/// The class whose key `model` has every model as a choice.
const PROP: &str = "prop";

/// Prints the definitions of all entity classes for TrenchBroom
///
/// Without a `game.toml` these are the classes that the server understands by itself, and those of
/// the arena game. A `game.toml` adds its own `[classes]`, and its `[models]` as choices of props.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The game.toml of a game
    game: Option<PathBuf>,
}

/// The part of a `game.toml` that an editor needs. The game checks the other parts.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GameFile {
    #[serde(default)]
    classes: EntityClasses,
    /// Paths of models, by name.
    #[serde(default)]
    models: BTreeMap<String, String>,
    #[serde(rename = "actions")]
    _actions: Option<IgnoredAny>,
    #[serde(rename = "bodies")]
    _bodies: Option<IgnoredAny>,
    #[serde(rename = "hints")]
    _hints: Option<IgnoredAny>,
    #[serde(rename = "items")]
    _items: Option<IgnoredAny>,
    #[serde(rename = "materials")]
    _materials: Option<IgnoredAny>,
    #[serde(rename = "movement")]
    _movement: Option<IgnoredAny>,
    #[serde(rename = "movements")]
    _movements: Option<IgnoredAny>,
    #[serde(rename = "player")]
    _player: Option<IgnoredAny>,
    #[serde(rename = "weapons")]
    _weapons: Option<IgnoredAny>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let own: GameFile = toml::from_str(OWN).context("trenchbroom/classes.toml")?;
    let mut classes = own.classes;
    let mut models = BTreeMap::new();
    if let Some(path) = &arguments.game {
        let text = obsp::text::read(path).with_context(|| path.display().to_string())?;
        let file: GameFile =
            toml::from_str(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        if let Some(name) = file.classes.keys().find(|name| classes.contains_key(*name)) {
            return Err(anyhow!(
                "{}: the server has a class {name} already; choose another name",
                path.display()
            ));
        }
        let chosen = classes.get_mut(PROP).and_then(|prop| prop.keys.get_mut("model"));
        if let Some(chosen) = chosen {
            let own = |(name, file): (&String, &String)| (name.clone(), format!("{name}, {file}"));
            chosen.choices.extend(file.models.iter().map(own));
        }
        classes.extend(file.classes);
        models = file.models;
    }
    // A game may take the name of a class of the arena game for its own.
    let arena: GameFile = toml::from_str(ARENA).context("trenchbroom/arena.toml")?;
    for (name, class) in arena.classes {
        classes.entry(name).or_insert(class);
    }
    io::stdout().write_all(definitions(&classes, &models).as_bytes())?;
    Ok(())
}

fn definitions(classes: &EntityClasses, models: &BTreeMap<String, String>) -> String {
    let mut text = "// Entity definitions for TrenchBroom, written by `mapc fgd`.\n".to_owned();
    for (name, class) in classes {
        text += "\n";
        text += &definition(name, class, models);
    }
    text
}

fn definition(name: &ClassName, class: &EntityClass, models: &BTreeMap<String, String>) -> String {
    let mut text = if class.brushes { "@SolidClass" } else { "@PointClass" }.to_owned();
    // Writing to a string cannot fail.
    if let Some([[a, b, c], [d, e, f]]) = class.size {
        let _ = write!(text, " size({a} {b} {c}, {d} {e} {f})");
    }
    if let Some([red, green, blue]) = class.color {
        let _ = write!(text, " color({red} {green} {blue})");
    }
    if let Some(path) = class.model.as_ref().and_then(|model| models.get(model)) {
        let _ = write!(text, " model({{ \"path\" : {} }})", quoted(path));
    }
    let _ = writeln!(text, " = {name} :\n    {}", quoted(&class.description));
    text += "[\n";
    for (name, key) in &class.keys {
        text += &key_definition(name, key);
    }
    text + "]\n"
}

fn key_definition(name: &ClassName, key: &EntityKey) -> String {
    let kind = match key.kind {
        KeyKind::String => "string",
        KeyKind::Integer => "integer",
        KeyKind::Float => "float",
        KeyKind::Choices => "choices",
        KeyKind::TargetSource => "target_source",
        KeyKind::TargetDestination => "target_destination",
    };
    let default = match &key.default {
        None => String::new(),
        Some(KeyValue::Integer(number)) => format!("{number} "),
        // The editor reads a number with a fraction only in quotation marks.
        Some(KeyValue::Float(number)) => format!("\"{number}\" "),
        Some(KeyValue::Text(text)) => quoted(text) + " ",
    };
    let (title, description) = (quoted(&key.title), quoted(&key.description));
    let mut text = format!("    {name}({kind}) : {title} : {default}: {description}");
    if !key.choices.is_empty() {
        text += " =\n    [\n";
        for (value, title) in &key.choices {
            let _ = writeln!(text, "        {} : {}", quoted(value), quoted(title));
        }
        text += "    ]";
    }
    text + "\n"
}

/// The text in quotation marks. Quotation marks and control characters inside it are replaced,
/// because the editor cannot read them in a string.
fn quoted(text: &str) -> String {
    let plain = |c: char| match c {
        '"' => '\'',
        c if c.is_control() => ' ',
        c => c,
    };
    format!("\"{}\"", text.chars().map(plain).collect::<String>())
}
