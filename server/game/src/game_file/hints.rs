//! The table `[hints]`: how clients show each value that a game declares. Its keys are the names of
//! the values.

use std::collections::BTreeMap;

use obsp_proto::schema::{Field, Hint};
use toml::Spanned;

use super::GameFileError;

/// Checks the table.
pub(super) fn read(
    table: BTreeMap<String, Spanned<String>>,
    text: &str,
) -> Result<BTreeMap<String, Hint>, GameFileError> {
    let checked = table.into_iter().map(|(name, hint)| {
        let found = Hint::named(hint.get_ref());
        let refused = || {
            let message = format!(
                "there is no hint {:?}; the hints are none, counter, timer, bar and team",
                hint.get_ref()
            );
            GameFileError::at(text, hint.span().start, message)
        };
        Ok((name, found.ok_or_else(refused)?))
    });
    checked.collect()
}

/// These fields with the hints of the table.
pub(crate) fn hinted(fields: Vec<Field>, hints: &BTreeMap<String, Hint>) -> Vec<Field> {
    let with_hint = |field: Field| match hints.get(field.name()) {
        Some(hint) => field.with_hint(*hint),
        None => field,
    };
    fields.into_iter().map(with_hint).collect()
}
