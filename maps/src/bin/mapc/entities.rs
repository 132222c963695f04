//! The classes of a map's entities, and the mistakes in them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use obsp::MapEntity;
use obsp::entity_check::{EntityFault, KnownClasses};
use obsp::entity_class::EntityClasses;
use serde::{Deserialize, Serialize};

/// The number of entities of each class.
pub(crate) type Classes = BTreeMap<String, usize>;

/// Counts the entities of each class.
pub(crate) fn classes(entities: &[MapEntity]) -> Classes {
    let mut classes = Classes::new();
    for entity in entities {
        *classes.entry(entity.classname().to_owned()).or_default() += 1;
    }
    classes
}

/// The part of a `game.toml` that declares its classes. The game checks the other parts.
#[derive(Deserialize)]
struct GameClasses {
    #[serde(default)]
    classes: EntityClasses,
}

/// The classes that the arena game handles, and those of the `game.toml` at `game`.
///
/// # Errors
/// The file cannot be read, or its classes are not valid.
pub(crate) fn known(game: Option<&Path>) -> Result<KnownClasses> {
    let known = KnownClasses::of_arena();
    let Some(path) = game else { return Ok(known) };
    let text = obsp::text::read(path).with_context(|| path.display().to_string())?;
    let file: GameClasses =
        toml::from_str(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    Ok(known.with_classes(&file.classes))
}

/// A mistake in the entities of a map, as JSON.
#[derive(Serialize)]
pub(crate) struct FaultEntry {
    /// The class that nobody handles, or of the first entity whose target is missing.
    class: String,
    /// The target that no entity has as its targetname.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// The number of entities with the mistake.
    count: usize,
    /// Line of the first of them; absent for a compiled map, which has no lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The name that may be meant.
    nearest: Option<String>,
    reason: String,
}

impl FaultEntry {
    /// The mistakes in `entities`, which begin at `lines` of the map.
    pub(crate) fn find(entities: &[MapEntity], lines: &[u64], known: &KnownClasses) -> Vec<Self> {
        let entry = |fault: EntityFault| {
            let (reason, line) = (fault.to_string(), lines.get(fault.first()).copied());
            let (class, target, count, nearest) = match fault {
                EntityFault::Unhandled { class, count, nearest, .. } => {
                    (class, None, count, nearest)
                }
                EntityFault::NoTarget { class, target, count, nearest, .. } => {
                    (class, Some(target), count, nearest)
                }
            };
            Self { class, target, count, line, nearest, reason }
        };
        EntityFault::find(entities, known).into_iter().map(entry).collect()
    }

    /// The mistake with its line, if it has one.
    pub(crate) fn told(&self) -> String {
        let line = self.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        format!("{line}{}", self.reason)
    }

    /// The mistake with its place in `source`, as compilers print it.
    pub(crate) fn told_in(&self, source: &Path) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {}", source.display(), self.reason)
    }
}
