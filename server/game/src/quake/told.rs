//! The messages of a map's entities on their way to players.

use obsp::{Map, MapEntity};
use obsp_proto::schema::{EventError, EventKind, EventType};
use obsp_sim::EntityId;

use super::Family;
use crate::replicated::Replicated;
use crate::world_mut::WorldMut;

/// The event that tells one player a message.
const TOLD: &str = "told";

/// The most bytes of a message that is told to one player.
const MOST: usize = 200;

/// The fields and events of a game with those that `families` need on a map: an event for the
/// messages of its entities.
pub fn declared(mut game: Replicated, map: &Map, families: &[Family]) -> Replicated {
    let speaks = |entity: &MapEntity| {
        let has_message = entity.get("message").is_some_and(|line| !line.is_empty());
        let family = Family::of(entity, families);
        family.is_some_and(|family| family.speaks(entity) || has_message)
    };
    if map.entities().iter().any(speaks) {
        let told = EventKind::new(TOLD).field("line", EventType::Text);
        game.events.push(told.toast("{line}").sound("land"));
    }
    game
}

/// Tells the message of an entity to the player who has set it off. Everybody is told if no player
/// did, or if the game has not [`declared`] the event.
pub fn tell(world: &mut WorldMut<'_>, player: Option<EntityId>, line: String) {
    let Some(player) = player else { return world.announce(line) };
    if let Err(EventError::UnknownKind { .. }) = world.send_to(player, TOLD, &(shortened(&line),)) {
        world.announce(line);
    }
}

/// The beginning of a line, as long as one player can be told.
fn shortened(line: &str) -> &str {
    let end = (0..=MOST.min(line.len())).rev().find(|end| line.is_char_boundary(*end));
    line.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_shortened_between_letters() {
        for (line, expected) in [
            ("a".repeat(200), 200),
            ("a".repeat(201), 200),
            ("a".to_owned() + &"ü".repeat(100), 199),
        ] {
            let told = shortened(&line);
            assert_eq!(told.len(), expected);
            assert!(line.starts_with(told));
        }
    }
}
