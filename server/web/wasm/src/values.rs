//! The values that a game replicates, as a player's page shows them.

use obsp_client::View;
use obsp_proto::schema::{Field, Hint, Schema};

use crate::json;

/// The name of the field that holds a player's team in a game without hints.
const TEAM: &str = "team";

/// The values of the match, the values of the page's own player and the teams of players, as JSON.
/// A team is the player's slot and the team's number, counted from the field's least value.
pub(crate) fn to_json(schema: &Schema, view: View<'_>) -> String {
    let of_match = list(schema.of_match(), |name| view.match_value(name));
    let secret = list(schema.of_own_player(), |name| view.own_value(name));
    let seen = view.player().map(|id| list(schema.of_players(), |name| view.value(id, name)));
    let own = json::list(secret.into_iter().chain(seen.into_iter().flatten()));
    let is_team = |field: &&Field| field.hint() == Hint::Team || field.name() == TEAM;
    let field = schema.of_players().iter().find(is_team);
    let teams = view.roster().players().filter_map(|entry| {
        let team = view.value(entry.player, field?.name())? - field?.least();
        Some(format!("[{},{team}]", entry.player.slot))
    });
    format!(r#"{{"match":{},"own":{own},"teams":{}}}"#, json::list(of_match), json::list(teams))
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
