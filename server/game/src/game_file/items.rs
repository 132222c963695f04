//! The table `[items]`.

use serde::Deserialize;

/// The rules of items in the arena game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ItemRules {
    /// Whether weapons need ammunition where the map has any. If they do not, boxes of ammunition
    /// and weapons are left out of the map.
    pub ammunition: bool,
}

impl Default for ItemRules {
    fn default() -> Self {
        Self { ammunition: true }
    }
}
