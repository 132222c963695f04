//! Shows any game by the hints that the game gives for its values and events
//! (`obsp_proto::schema`). The title of the window has the values and the latest toast. Players
//! have the colours of their teams. The example plays no sounds: it writes their names to the log.

use bevy::prelude::Color;
use obsp_client::View;
use obsp_proto::schema::{EventKind, EventValue, Field, GameEvent, Hint, Schema};
use obsp_sim::EntityId;

/// The hues of teams, in degrees: red, blue, green, yellow. Further teams begin again with red.
const TEAM_HUES: [f32; 4] = [0.0, 216.0, 130.0, 50.0];

/// Marks of a full bar.
const BAR: usize = 10;

/// The values of the match and of the client's own player, in one line.
pub fn values(view: View<'_>, schema: &Schema) -> String {
    let of_match = schema.of_match().iter().map(|field| (field, view.match_value(field.name())));
    let own = schema.of_own_player().iter().map(|field| (field, view.own_value(field.name())));
    let known = of_match.chain(own).filter_map(|(field, value)| Some(written(field, value?)));
    known.collect::<Vec<_>>().join("   ")
}

/// A value, written as the hint of its field says.
fn written(field: &Field, value: i32) -> String {
    let above = i64::from(value) - i64::from(field.least());
    let text = match field.hint() {
        Hint::Timer => format!("{}:{:02}", value.max(0) / 60, value.max(0) % 60),
        Hint::Bar => {
            let range = i64::from(field.most()) - i64::from(field.least());
            let full = (BAR as i64 * above / range.max(1)).clamp(0, BAR as i64) as usize;
            format!("{}{}", "#".repeat(full), ".".repeat(BAR - full))
        }
        Hint::Team => (above + 1).to_string(),
        Hint::None | Hint::Counter => value.to_string(),
    };
    format!("{} {text}", field.name().replace('_', " "))
}

/// The team of a player; `None` if the game has no teams.
pub fn team(view: View<'_>, schema: &Schema, player: EntityId) -> Option<i32> {
    let field = schema.of_players().iter().find(|field| field.hint() == Hint::Team)?;
    Some(view.value(player, field.name())?.wrapping_sub(field.least()))
}

/// The colour of a team.
pub fn team_colour(team: i32) -> Color {
    let hue = TEAM_HUES[team.rem_euclid(TEAM_HUES.len() as i32) as usize];
    Color::hsl(hue, 0.7, 0.5)
}

/// The text of an event's toast, with the values of its fields; `None` if it has no toast.
pub fn toast(kind: &EventKind, event: &GameEvent, view: View<'_>) -> Option<String> {
    let values = event.values(kind).unwrap_or_default();
    let mut parts = kind.toast_text()?.split('{');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        let index = kind.fields().iter().position(|(field, _)| field == name);
        let value = index.and_then(|index| values.get(index));
        text += &value.map_or_else(String::new, |value| told(value, view));
        text += rest;
    }
    Some(text)
}

/// The value of a field of an event, as text for people.
fn told(value: &EventValue, view: View<'_>) -> String {
    match value {
        EventValue::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        EventValue::Unsigned(value) => value.to_string(),
        EventValue::Signed(value) => value.to_string(),
        EventValue::Float(value) => format!("{value:.2}"),
        EventValue::Text(value) => value.clone(),
        EventValue::Player(id) => {
            let entry = view.roster().get(*id);
            entry.map_or_else(|| "a player".to_owned(), |entry| entry.name.to_string())
        }
    }
}
