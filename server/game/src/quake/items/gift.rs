//! The gifts of the classes of items, by Quake's numbers.

use obsp::MapEntity;
use serde::{Deserialize, Serialize};

/// A kind of ammunition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ammunition {
    /// Shells of shotguns.
    Shells,
    /// Nails of nailguns.
    Nails,
    /// Rockets and grenades.
    Rockets,
    /// Cells of the lightning gun.
    Cells,
}

/// Armour, which takes a share of each damage until it is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Armor {
    /// Green armour: 100 points take 30 % of a damage.
    Green,
    /// Yellow armour: 150 points take 60 %.
    Yellow,
    /// Red armour: 200 points take 80 %.
    Red,
}

/// A box of health.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Health {
    /// 15 points, up to the usual health.
    Rotten,
    /// 25 points, up to the usual health.
    Usual,
    /// 100 points, up to 250 % of the usual health. The surplus is lost again.
    Mega,
}

/// A power that lasts half a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Power {
    /// The bearer's hits do four times their damage.
    Quad,
    /// Nothing hurts the bearer. Armour is used up nevertheless, as in Quake.
    Invulnerability,
    /// The bearer's value `powers` says so to everybody, and clients may draw a shade. No server
    /// hides a player: the body is as solid as before.
    Invisibility,
    /// Water and slime do not hurt the bearer.
    Suit,
}

/// A key, which doors ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Key {
    /// `item_key1`.
    Silver,
    /// `item_key2`.
    Gold,
}

/// A weapon that lies in a map. A player who takes it gets only the ammunition, because the game
/// decides what its players fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gun {
    /// `weapon_supershotgun`, with 5 shells.
    SuperShotgun,
    /// `weapon_nailgun`, with 30 nails.
    Nailgun,
    /// `weapon_supernailgun`, with 30 nails.
    SuperNailgun,
    /// `weapon_grenadelauncher`, with 5 rockets.
    GrenadeLauncher,
    /// `weapon_rocketlauncher`, with 5 rockets.
    RocketLauncher,
    /// `weapon_lightning`, with 15 cells.
    Lightning,
}

/// The gift of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gift {
    /// `item_health`.
    Health(Health),
    /// `item_armor1`, `item_armor2` and `item_armorInv`.
    Armor(Armor),
    /// `item_shells`, `item_spikes`, `item_rockets` and `item_cells`, with the number.
    Ammunition(Ammunition, u16),
    /// `weapon_…`.
    Gun(Gun),
    /// `item_artifact_…`.
    Power(Power),
    /// `item_key1` and `item_key2`.
    Key(Key),
}

/// The classes of items.
pub const CLASSES: [&str; 20] = [
    "item_health",
    "item_armor1",
    "item_armor2",
    "item_armorInv",
    "item_shells",
    "item_spikes",
    "item_rockets",
    "item_cells",
    "weapon_supershotgun",
    "weapon_nailgun",
    "weapon_supernailgun",
    "weapon_grenadelauncher",
    "weapon_rocketlauncher",
    "weapon_lightning",
    "item_artifact_super_damage",
    "item_artifact_invulnerability",
    "item_artifact_invisibility",
    "item_artifact_envirosuit",
    "item_key1",
    "item_key2",
];

/// Bits of the key `spawnflags`: of health, and of a box of ammunition that holds twice as much.
const ROTTEN: u32 = 1;
const MEGA: u32 = 2;
const LARGE: u32 = 1;
/// The bit of all entities that are not there in a deathmatch.
const NOT_IN_DEATHMATCH: u32 = 2048;

impl Gift {
    /// The gift of an entity of a map; `None` if it is no item, or is not there in a deathmatch.
    pub fn of(entity: &MapEntity) -> Option<Self> {
        let flags = entity.get("spawnflags").and_then(|it| it.trim().parse::<f64>().ok());
        // A cast keeps a number within the range of its type.
        let flags = flags.unwrap_or(0.0) as u32;
        Self::of_class(entity.classname(), flags).filter(|_| flags & NOT_IN_DEATHMATCH == 0)
    }

    fn of_class(class: &str, flags: u32) -> Option<Self> {
        let boxed = |kind: Ammunition| {
            let large = if flags & LARGE != 0 { 2 } else { 1 };
            Self::Ammunition(kind, kind.in_a_box() * large)
        };
        Some(match class {
            "item_health" if flags & ROTTEN != 0 => Self::Health(Health::Rotten),
            "item_health" if flags & MEGA != 0 => Self::Health(Health::Mega),
            "item_health" => Self::Health(Health::Usual),
            "item_armor1" => Self::Armor(Armor::Green),
            "item_armor2" => Self::Armor(Armor::Yellow),
            "item_armorInv" => Self::Armor(Armor::Red),
            "item_shells" => boxed(Ammunition::Shells),
            "item_spikes" => boxed(Ammunition::Nails),
            "item_rockets" => boxed(Ammunition::Rockets),
            "item_cells" => boxed(Ammunition::Cells),
            "weapon_supershotgun" => Self::Gun(Gun::SuperShotgun),
            "weapon_nailgun" => Self::Gun(Gun::Nailgun),
            "weapon_supernailgun" => Self::Gun(Gun::SuperNailgun),
            "weapon_grenadelauncher" => Self::Gun(Gun::GrenadeLauncher),
            "weapon_rocketlauncher" => Self::Gun(Gun::RocketLauncher),
            "weapon_lightning" => Self::Gun(Gun::Lightning),
            "item_artifact_super_damage" => Self::Power(Power::Quad),
            "item_artifact_invulnerability" => Self::Power(Power::Invulnerability),
            "item_artifact_invisibility" => Self::Power(Power::Invisibility),
            "item_artifact_envirosuit" => Self::Power(Power::Suit),
            "item_key1" => Self::Key(Key::Silver),
            "item_key2" => Self::Key(Key::Gold),
            _ => return None,
        })
    }

    /// The ammunition that the gift holds, and how much.
    pub fn ammunition(self) -> Option<(Ammunition, u16)> {
        match self {
            Self::Ammunition(kind, count) => Some((kind, count)),
            Self::Gun(gun) => Some(gun.ammunition()),
            Self::Health(_) | Self::Armor(_) | Self::Power(_) | Self::Key(_) => None,
        }
    }

    /// Seconds until a taken item is there again; `None` for a key, which everybody may take once.
    pub(super) fn away(self) -> Option<f64> {
        match self {
            Self::Health(_) | Self::Armor(_) => Some(20.0),
            Self::Ammunition(..) | Self::Gun(_) => Some(30.0),
            Self::Power(Power::Quad | Power::Suit) => Some(60.0),
            Self::Power(Power::Invulnerability | Power::Invisibility) => Some(300.0),
            Self::Key(_) => None,
        }
    }

    /// The words for a gift that a player has found.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Health(Health::Rotten) => "15 health",
            Self::Health(Health::Usual) => "25 health",
            Self::Health(Health::Mega) => "100 health",
            Self::Armor(Armor::Green) => "green armour",
            Self::Armor(Armor::Yellow) => "yellow armour",
            Self::Armor(Armor::Red) => "red armour",
            Self::Ammunition(Ammunition::Shells, _) => "shells",
            Self::Ammunition(Ammunition::Nails, _) => "nails",
            Self::Ammunition(Ammunition::Rockets, _) => "rockets",
            Self::Ammunition(Ammunition::Cells, _) => "cells",
            Self::Gun(Gun::SuperShotgun) => "shells of a super shotgun",
            Self::Gun(Gun::Nailgun) => "nails of a nailgun",
            Self::Gun(Gun::SuperNailgun) => "nails of a super nailgun",
            Self::Gun(Gun::GrenadeLauncher) => "rockets of a grenade launcher",
            Self::Gun(Gun::RocketLauncher) => "rockets of a rocket launcher",
            Self::Gun(Gun::Lightning) => "cells of a lightning gun",
            Self::Power(Power::Quad) => "quad damage",
            Self::Power(Power::Invulnerability) => "the pentagram of protection",
            Self::Power(Power::Invisibility) => "the ring of shadows",
            Self::Power(Power::Suit) => "the biosuit",
            Self::Key(Key::Silver) => "the silver key",
            Self::Key(Key::Gold) => "the gold key",
        }
    }
}

impl Ammunition {
    /// All kinds, in the order of the values of this type.
    pub const ALL: [Self; 4] = [Self::Shells, Self::Nails, Self::Rockets, Self::Cells];

    /// The most that a player carries.
    pub fn most(self) -> u16 {
        match self {
            Self::Nails => 200,
            Self::Shells | Self::Rockets | Self::Cells => 100,
        }
    }

    fn in_a_box(self) -> u16 {
        match self {
            Self::Shells => 20,
            Self::Nails => 25,
            Self::Rockets => 5,
            Self::Cells => 6,
        }
    }
}

impl Armor {
    /// Points of a new armour.
    pub(super) fn points(self) -> u16 {
        match self {
            Self::Green => 100,
            Self::Yellow => 150,
            Self::Red => 200,
        }
    }

    /// The share of a damage that the armour takes, in per cent.
    pub(super) fn share(self) -> u16 {
        match self {
            Self::Green => 30,
            Self::Yellow => 60,
            Self::Red => 80,
        }
    }
}

impl Health {
    /// Points that the box gives.
    pub(super) fn points(self) -> i16 {
        match self {
            Self::Rotten => 15,
            Self::Usual => 25,
            Self::Mega => 100,
        }
    }
}

impl Power {
    /// All powers, in the order of the values of this type.
    pub const ALL: [Self; 4] = [Self::Quad, Self::Invulnerability, Self::Invisibility, Self::Suit];

    /// Seconds that a power lasts.
    pub const SECONDS: f64 = 30.0;
}

impl Gun {
    fn ammunition(self) -> (Ammunition, u16) {
        match self {
            Self::SuperShotgun => (Ammunition::Shells, 5),
            Self::Nailgun | Self::SuperNailgun => (Ammunition::Nails, 30),
            Self::GrenadeLauncher | Self::RocketLauncher => (Ammunition::Rockets, 5),
            Self::Lightning => (Ammunition::Cells, 15),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_gives_something_and_flags_change_it() {
        for class in CLASSES {
            assert!(Gift::of_class(class, 0).is_some(), "{class}");
        }
        assert_eq!(Gift::of_class("item_health", 1), Some(Gift::Health(Health::Rotten)));
        assert_eq!(Gift::of_class("item_health", 2), Some(Gift::Health(Health::Mega)));
        let large = Gift::Ammunition(Ammunition::Nails, 50);
        assert_eq!(Gift::of_class("item_spikes", 1), Some(large));
        assert_eq!(Gift::of_class("item_haste", 0), None);
    }
}
