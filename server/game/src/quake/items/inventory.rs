//! The inventory of a player.

use serde::{Deserialize, Serialize};

use super::gift::{Ammunition, Armor, Gift, Key, Power};

/// Shells of a player who has just spawned, as in Quake.
const SHELLS: u16 = 25;

/// The inventory of a player: armour, ammunition, powers and keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    armor: Option<Armor>,
    points: u16,
    ammunition: [u16; 4],
    /// Ticks that each power still lasts.
    powers: [u32; 4],
    keys: [bool; 2],
}

impl Default for Inventory {
    fn default() -> Self {
        let ammunition = [SHELLS, 0, 0, 0];
        Self { armor: None, points: 0, ammunition, powers: [0; 4], keys: [false; 2] }
    }
}

impl Inventory {
    /// Points of armour.
    pub fn armor(&self) -> u16 {
        self.points
    }

    /// Ammunition of a kind.
    pub fn ammunition(&self, kind: Ammunition) -> u16 {
        self.ammunition[kind as usize]
    }

    /// Ticks that a power still lasts; zero without it.
    pub fn power(&self, power: Power) -> u32 {
        self.powers[power as usize]
    }

    /// Whether the player has a key.
    pub fn has_key(&self, key: Key) -> bool {
        self.keys[key as usize]
    }

    /// Adds a gift, except health, and returns whether the player had use for it. A power lasts
    /// `ticks`.
    pub(super) fn take(&mut self, gift: Gift, ticks: u32) -> bool {
        match gift {
            Gift::Health(_) => false,
            Gift::Armor(armor) => self.wear(armor),
            Gift::Ammunition(kind, count) => self.load(kind, count),
            Gift::Gun(_) => {
                // As in Quake, a weapon is taken even if its ammunition is of no use.
                gift.ammunition().is_some_and(|(kind, count)| {
                    self.load(kind, count);
                    true
                })
            }
            Gift::Power(power) => {
                self.powers[power as usize] = ticks;
                true
            }
            Gift::Key(key) => !std::mem::replace(&mut self.keys[key as usize], true),
        }
    }

    /// Takes ammunition, and returns whether there was room for any.
    pub(super) fn load(&mut self, kind: Ammunition, count: u16) -> bool {
        let own = &mut self.ammunition[kind as usize];
        let before = *own;
        *own = before.saturating_add(count).min(kind.most());
        *own > before
    }

    /// Puts an armour on if it is better than the rest of the old one, and returns whether it is.
    fn wear(&mut self, armor: Armor) -> bool {
        // The points of a saved match may be any number.
        let worth = |armor: Armor, points: u16| u32::from(armor.share()) * u32::from(points);
        let worn = self.armor.map_or(0, |worn| worth(worn, self.points));
        let is_better = worth(armor, armor.points()) > worn;
        if is_better {
            (self.armor, self.points) = (Some(armor), armor.points());
        }
        is_better
    }

    /// Takes one piece of the first of these kinds of which the player has any, and returns whether
    /// there was one.
    pub(super) fn spend(&mut self, kinds: &[Ammunition]) -> bool {
        let loaded = kinds.iter().find(|kind| self.ammunition(**kind) > 0);
        loaded.map(|kind| self.ammunition[*kind as usize] -= 1).is_some()
    }

    /// The part of a damage that armour and powers leave, as Quake's `T_Damage`.
    pub(super) fn absorb(&mut self, damage: i16) -> i16 {
        let damage = i32::from(damage.max(0));
        let share = self.armor.map_or(0, Armor::share);
        let saved = ((damage * i32::from(share) + 99) / 100).min(self.points.into());
        self.points -= saved as u16;
        if self.points == 0 {
            self.armor = None;
        }
        if self.power(Power::Invulnerability) > 0 { 0 } else { (damage - saved) as i16 }
    }

    /// Counts a tick of the powers.
    pub(super) fn tick(&mut self) {
        for ticks in &mut self.powers {
            *ticks = ticks.saturating_sub(1);
        }
    }

    /// The ammunition, in the order of [`Ammunition::ALL`].
    pub(super) fn all_ammunition(&self) -> [u16; 4] {
        self.ammunition
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quake::items::gift::Gun;

    #[test]
    fn armour_takes_its_share_until_it_is_used_up() {
        for (armor, taken, left) in
            [(Armor::Green, 35, 85), (Armor::Yellow, 20, 120), (Armor::Red, 10, 160)]
        {
            let mut own = Inventory::default();
            assert!(own.take(Gift::Armor(armor), 0));
            assert_eq!((own.absorb(50), own.armor()), (taken, left), "{armor:?}");
        }
        let mut own = Inventory::default();
        own.take(Gift::Armor(Armor::Red), 0);
        // 80 % of 500 would be 400 points.
        assert_eq!((own.absorb(500), own.armor()), (300, 0));
        assert_eq!(own.absorb(50), 50);
    }

    #[test]
    fn worse_armour_stays_where_it_is() {
        let mut own = Inventory::default();
        assert!(own.take(Gift::Armor(Armor::Red), 0));
        assert!(!own.take(Gift::Armor(Armor::Yellow), 0));
        // 80 % of 100 points is less than 60 % of 150.
        own.absorb(125);
        assert_eq!(own.armor(), 100);
        assert!(own.take(Gift::Armor(Armor::Yellow), 0));
        assert_eq!(own.armor(), 150);
    }

    #[test]
    fn ammunition_is_capped_and_spent_in_the_order_of_the_weapon() {
        let mut own = Inventory::default();
        assert!(own.load(Ammunition::Nails, 190) && own.load(Ammunition::Nails, 25));
        assert_eq!(own.ammunition(Ammunition::Nails), 200);
        assert!(!own.take(Gift::Ammunition(Ammunition::Nails, 25), 0), "there is no room");
        assert!(own.take(Gift::Gun(Gun::Nailgun), 0), "a weapon is always taken");
        let kinds = [Ammunition::Shells, Ammunition::Nails];
        assert!((0..225).all(|_| own.spend(&kinds)));
        assert!(!own.spend(&kinds));
    }

    #[test]
    fn an_invulnerable_player_loses_armour_alone() {
        let mut own = Inventory::default();
        own.take(Gift::Armor(Armor::Green), 0);
        own.take(Gift::Power(Power::Invulnerability), 2);
        assert_eq!((own.absorb(50), own.armor()), (0, 85));
        own.tick();
        own.tick();
        assert_eq!(own.absorb(10), 7);
    }
}
