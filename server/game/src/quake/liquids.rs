//! Damage by liquids. Players drown after twelve seconds without air, and slime and lava burn
//! them. The numbers are those of Quake (`WaterMove` of its game code).

use obsp::LiquidKind;
use obsp_sim::{Depth, EntityId, Submersion};
use serde::{Deserialize, Serialize};

use super::Effect;
use crate::per_entity::PerEntity;
use crate::world_mut::WorldMut;

/// Seconds for which a player has air.
const AIR: f64 = 12.0;
/// Seconds between two damages: by lack of air, by lava, and by slime.
const DROWN_EVERY: f64 = 1.0;
const LAVA_EVERY: f64 = 0.2;
const SLIME_EVERY: f64 = 1.0;
/// Seconds between two damages of lava to a player with a biosuit.
const LAVA_EVERY_IN_SUIT: f64 = 1.0;
/// Each damage by lack of air is greater than the one before by this much.
const DROWN_STEP: i16 = 2;
/// The first damage by lack of air is a step above this.
const DROWN_START: i16 = 2;
/// The maximum damage by lack of air, and the damage in place of a greater one.
const DROWN_MOST: i16 = 15;
const DROWN_AGAIN: i16 = 10;
/// Damage for each level of depth.
const LAVA_DAMAGE: i16 = 10;
const SLIME_DAMAGE: i16 = 4;

/// The players in liquids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Liquids {
    divers: PerEntity<Diver>,
}

/// A player in a liquid. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Diver {
    /// Time under the surface.
    below: f64,
    /// The latest damage by lack of air.
    drowned: i16,
    /// Time until lack of air hurts again.
    until_drowned: f64,
    /// Time until slime or lava burns again.
    until_burnt: f64,
}

impl Default for Diver {
    fn default() -> Self {
        Self { below: 0.0, drowned: DROWN_START, until_drowned: 0.0, until_burnt: 0.0 }
    }
}

/// Tolerance for the rounding of sums of seconds.
const ROUNDING: f64 = 1e-6;

impl Diver {
    /// The damages of a tick of `seconds`, each with the name of the liquid.
    fn tick(
        &mut self,
        submersion: Submersion,
        has_suit: bool,
        seconds: f64,
    ) -> [Option<(i16, &'static str)>; 2] {
        let Submersion { kind, depth } = submersion;
        self.until_drowned = (self.until_drowned - seconds).max(0.0);
        self.until_burnt = (self.until_burnt - seconds).max(0.0);
        [self.drown(depth, has_suit, seconds), self.burn(kind, depth, has_suit)]
            .map(|damage| damage.filter(|(points, _)| *points > 0))
    }

    fn drown(&mut self, depth: Depth, has_suit: bool, seconds: f64) -> Option<(i16, &'static str)> {
        if depth < Depth::Eyes || has_suit {
            (self.below, self.drowned) = (0.0, DROWN_START);
            return None;
        }
        // More than `AIR` makes no difference, so the number is kept small.
        self.below = (self.below + seconds).min(AIR + 1.0);
        if self.below <= AIR + ROUNDING || self.until_drowned > ROUNDING {
            return None;
        }
        self.drowned += DROWN_STEP;
        if self.drowned > DROWN_MOST {
            self.drowned = DROWN_AGAIN;
        }
        self.until_drowned = DROWN_EVERY;
        Some((self.drowned, LiquidKind::Water.name()))
    }

    fn burn(
        &mut self,
        kind: LiquidKind,
        depth: Depth,
        has_suit: bool,
    ) -> Option<(i16, &'static str)> {
        let (points, every) = match kind {
            LiquidKind::Water => return None,
            LiquidKind::Slime if has_suit => return None,
            LiquidKind::Slime => (SLIME_DAMAGE, SLIME_EVERY),
            LiquidKind::Lava if has_suit => (LAVA_DAMAGE, LAVA_EVERY_IN_SUIT),
            LiquidKind::Lava => (LAVA_DAMAGE, LAVA_EVERY),
        };
        if self.until_burnt > ROUNDING {
            return None;
        }
        self.until_burnt = every;
        Some((points * depth as i16, kind.name()))
    }
}

impl Liquids {
    /// Plays a tick of these `players`. `has_suit` says who wears a biosuit. The `means` of a
    /// damage is the name of the liquid: `water`, `slime` or `lava`. A map without liquids costs
    /// nothing.
    pub fn tick(
        &mut self,
        world: &WorldMut<'_>,
        players: impl IntoIterator<Item = EntityId>,
        has_suit: impl Fn(EntityId) -> bool,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        if world.map().liquids().is_empty() {
            return effects;
        }
        let mut divers = PerEntity::default();
        for player in players {
            let Some(submersion) = world.submersion(player) else { continue };
            let mut diver = self.divers.remove(player).unwrap_or_default();
            let damages = diver.tick(submersion, has_suit(player), world.seconds());
            let hurt = |(damage, means)| Effect::Hurt { player, damage, means };
            effects.extend(damages.into_iter().flatten().map(hurt));
            divers.insert(player, diver);
        }
        self.divers = divers;
        effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The damages within `seconds`, each with the tick at which it comes.
    fn damages(kind: LiquidKind, depth: Depth, suit: bool, seconds: u32) -> Vec<(u32, i16)> {
        let mut diver = Diver::default();
        let ticks = 1..=seconds * 60;
        let all = ticks.flat_map(|tick| {
            let found = diver.tick(Submersion { kind, depth }, suit, 1.0 / 60.0);
            found.into_iter().flatten().map(move |(points, _)| (tick, points))
        });
        all.collect()
    }

    #[test]
    fn lack_of_air_hurts_after_twelve_seconds_and_more_each_second() {
        let found = damages(LiquidKind::Water, Depth::Eyes, false, 22);
        let points: Vec<i16> = found.iter().map(|damage| damage.1).collect();
        assert_eq!(points, [4, 6, 8, 10, 12, 14, 10, 12, 14, 10]);
        let first = 12 * 60 + 1;
        assert!(found.iter().zip(0..).all(|(damage, i)| damage.0 == first + 60 * i), "{found:?}");
        assert_eq!(damages(LiquidKind::Water, Depth::Waist, false, 60), []);
        assert_eq!(damages(LiquidKind::Water, Depth::Eyes, true, 60), []);
    }

    #[test]
    fn a_breath_gives_all_air_back() {
        let mut diver = Diver::default();
        let mut tick = |depth| {
            let submersion = Submersion { kind: LiquidKind::Water, depth };
            diver.tick(submersion, false, 1.0 / 60.0)[0].is_some()
        };
        assert!(!(0..719).any(|_| tick(Depth::Eyes)));
        assert!(!tick(Depth::Waist));
        assert!(!(0..720).any(|_| tick(Depth::Eyes)));
        assert!(tick(Depth::Eyes));
    }

    #[test]
    fn slime_and_lava_burn_by_depth_and_a_suit_protects() {
        let burns = |kind, depth, suit| {
            let found = damages(kind, depth, suit, 2);
            (found.len(), found.first().map_or(0, |damage| damage.1))
        };
        for (depth, level) in [(Depth::Feet, 1), (Depth::Waist, 2), (Depth::Eyes, 3)] {
            assert_eq!(burns(LiquidKind::Slime, depth, false), (2, 4 * level));
            assert_eq!(burns(LiquidKind::Slime, depth, true), (0, 0));
            assert_eq!(burns(LiquidKind::Lava, depth, false), (10, 10 * level));
            assert_eq!(burns(LiquidKind::Lava, depth, true), (2, 10 * level));
        }
    }
}
