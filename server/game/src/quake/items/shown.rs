//! The items on the wire: values for each player's own client, the powers of all players, and
//! events.

use obsp_proto::schema::{EventKind, EventType, Field, Hint};
use obsp_sim::EntityId;

use super::gift::{Ammunition, Gift, Key, Power};
use super::inventory::Inventory;
use super::supplies::Supplies;
use crate::replicated::{Replicated, Values};
use crate::world_mut::WorldMut;

const ARMOR: Field = Field::new("armor", 0, 200).with_hint(Hint::Counter);
const AMMUNITION: [Field; 4] = [
    Field::new("shells", 0, 100).with_hint(Hint::Counter),
    Field::new("nails", 0, 200).with_hint(Hint::Counter),
    Field::new("rockets", 0, 100).with_hint(Hint::Counter),
    Field::new("cells", 0, 100).with_hint(Hint::Counter),
];
/// Seconds that each power lasts, in the order of [`Power::ALL`].
const POWERS: [Field; 4] = [
    Field::new("quad", 0, 30).with_hint(Hint::Timer),
    Field::new("pentagram", 0, 30).with_hint(Hint::Timer),
    Field::new("ring", 0, 30).with_hint(Hint::Timer),
    Field::new("suit", 0, 30).with_hint(Hint::Timer),
];
/// The keys of a player: 1 silver, 2 gold, 3 both.
const KEYS: Field = Field::new("keys", 0, 3).with_hint(Hint::Counter);
/// The powers of each player, for everybody: a bit for each power, in the order of [`Power::ALL`].
const POWERS_OF_ALL: Field = Field::new("powers", 0, 15);

/// The names of the events: a player has found an item, and a player has found a power.
const FOUND: &str = "found";
const FOUND_POWER: &str = "found_power";

pub(super) fn declare(supplies: &Supplies, replicated: &mut Replicated) {
    if !supplies.any {
        return;
    }
    let own = &mut replicated.of_own_player;
    own.extend(supplies.armor.then_some(ARMOR));
    own.extend(
        Ammunition::ALL
            .into_iter()
            .zip(AMMUNITION)
            .filter_map(|(kind, field)| supplies.has(kind).then_some(field)),
    );
    own.extend(
        Power::ALL
            .into_iter()
            .zip(POWERS)
            .filter_map(|(power, field)| supplies.has_power(power).then_some(field)),
    );
    own.extend(supplies.keys.contains(&true).then_some(KEYS));
    let found = EventKind::new(FOUND).field("item", EventType::Text);
    replicated.events.push(found.toast("You found {item}").sound("land"));
    if supplies.powers.contains(&true) {
        replicated.of_players.push(POWERS_OF_ALL);
        let power = EventKind::new(FOUND_POWER).field("player", EventType::Player);
        let power = power.field("item", EventType::Text);
        replicated.events.push(power.toast("{player} has {item}").sound("kill"));
    }
}

/// Sets the values that only the player's own client gets. A tick lasts `seconds`.
pub(super) fn own(supplies: &Supplies, own: &Inventory, seconds: f64, values: &mut Values<'_>) {
    if supplies.armor {
        values.set(&ARMOR, own.armor());
    }
    for (kind, field) in Ammunition::ALL.into_iter().zip(&AMMUNITION) {
        if supplies.has(kind) {
            values.set(field, own.ammunition(kind));
        }
    }
    for (power, field) in Power::ALL.into_iter().zip(&POWERS) {
        if supplies.has_power(power) {
            values.set(field, (f64::from(own.power(power)) * seconds).ceil() as i64);
        }
    }
    if supplies.keys.contains(&true) {
        let bit = |key: Key| u8::from(own.has_key(key)) << key as u8;
        values.set(&KEYS, bit(Key::Silver) | bit(Key::Gold));
    }
}

/// Sets the values of a player that everybody sees.
pub(super) fn of_all(supplies: &Supplies, own: &Inventory, values: &mut Values<'_>) {
    if supplies.powers.contains(&true) {
        let bit = |power: Power| u8::from(own.power(power) > 0) << power as u8;
        values.set(&POWERS_OF_ALL, Power::ALL.into_iter().map(bit).sum::<u8>());
    }
}

/// Tells a player of the item that was found. A power is told to everybody.
pub(super) fn tell(world: &mut WorldMut<'_>, player: EntityId, gift: Gift) {
    // A tick with too many events leaves some of them out.
    let _ = match gift {
        Gift::Power(_) => world.send(FOUND_POWER, &(player, gift.label())),
        _ => world.send_to(player, FOUND, &(gift.label(),)),
    };
}

/// Tells a player of the backpack that was found.
pub(super) fn tell_of_backpack(world: &mut WorldMut<'_>, player: EntityId) {
    let _ = world.send_to(player, FOUND, &("a backpack",));
}
