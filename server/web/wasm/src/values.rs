//! The values that a game replicates, as a player's page shows them.

use obsp_client::View;
use obsp_proto::schema::{Field, Schema};

use crate::json;

/// The values as JSON: those of the match, and those of the page's own player.
pub(crate) fn to_json(schema: &Schema, view: View<'_>) -> String {
    let of_match = list(schema.of_match(), |name| view.match_value(name));
    let secret = list(schema.of_own_player(), |name| view.own_value(name));
    let seen = view.player().map(|id| list(schema.of_players(), |name| view.value(id, name)));
    let own = json::list(secret.into_iter().chain(seen.into_iter().flatten()));
    format!(r#"{{"match":{},"own":{own}}}"#, json::list(of_match))
}

/// The fields that have a value, each with its range.
fn list(fields: &[Field], value: impl Fn(&str) -> Option<i32>) -> Vec<String> {
    let known = fields.iter().filter_map(|field| {
        let (name, least, most) = (json::text(field.name()), field.least(), field.most());
        let value = value(field.name())?;
        Some(format!(r#"{{"name":{name},"value":{value},"least":{least},"most":{most}}}"#))
    });
    known.collect()
}
