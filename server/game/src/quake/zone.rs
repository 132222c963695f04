//! Zones: volumes that do something to the players inside, and set nothing off. They hurt
//! (`trigger_hurt`), heal (`trigger_heal`), change the gravity of players (`trigger_setgravity`),
//! or are the exit of the map (`trigger_changelevel`).

use obsp::MapEntity;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::targets::{Calls, Wires};
use super::{Effect, gravity, keys};
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// Quake's number of points, and seconds between two hurts.
const DAMAGE: i16 = 5;
const HURTS: f64 = 1.0;

/// Default numbers of a zone that heals: points, the health up to which it heals, and seconds.
const HEALS: f64 = 5.0;
const MOST_HEALTH: f64 = 100.0;
const HEAL_WAIT: f64 = 1.0;

/// The flag of a zone that heals only once it has been set off.
const START_OFF: u32 = 1;

/// A zone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Zone {
    volume: VolumeId,
    kind: Kind,
    /// Whether the zone acts.
    is_on: bool,
    /// Ticks until it acts again.
    left: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Hurt {
        damage: i16,
    },
    Heal {
        points: i16,
        /// The health up to which it heals.
        most: i16,
        wait: u32,
        /// Whether it is switched when it is set off.
        switches: bool,
    },
    Gravity {
        /// The name of the movement set; `None` for the usual gravity.
        movement: Option<String>,
    },
    Exit {
        map: String,
    },
}

impl Zone {
    pub(super) fn new(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let points = |keys: [&str; 2], usual: f64| {
            let found = keys.into_iter().find_map(|key| keys::number(entity, key));
            found.unwrap_or(usual).clamp(0.0, 10_000.0) as i16
        };
        let kind = match entity.classname() {
            "trigger_hurt" => Kind::Hurt { damage: keys::damage(entity, "dmg", DAMAGE) },
            "trigger_heal" => Kind::Heal {
                points: points(["heal_amount", "healamount"], HEALS),
                most: points(["max_health", "healmax"], MOST_HEALTH),
                wait: keys::ticks_of(world, keys::positive(entity, "wait", HEAL_WAIT)),
                switches: Wires::is_targeted(entity),
            },
            "trigger_setgravity" => {
                Kind::Gravity { movement: gravity::movement_of(world.map(), entity) }
            }
            "trigger_changelevel" => {
                Kind::Exit { map: entity.get("map").unwrap_or_default().to_owned() }
            }
            _ => return None,
        };
        let starts_off = matches!(kind, Kind::Heal { .. }) && keys::flags(entity) & START_OFF != 0;
        Some(Self { volume: world.add_brush_volume(entity)?, kind, is_on: !starts_off, left: 0 })
    }

    pub(super) fn volume(&self) -> VolumeId {
        self.volume
    }

    /// Acts on the players inside. `entered` are the entities that have come into volumes since the
    /// last tick, some of which may be out again.
    pub(super) fn tick(
        &mut self,
        world: &mut WorldMut<'_>,
        entered: &[(VolumeId, EntityId)],
        calls: &mut Calls,
    ) {
        self.left = self.left.saturating_sub(1);
        if self.left > 0 || !self.is_on {
            return;
        }
        let is_player = |id: &EntityId| world.player_kind(*id).is_some();
        let inside = world.inside(self.volume).iter().copied().filter(is_player);
        match &self.kind {
            Kind::Hurt { damage: 0 } => {}
            Kind::Hurt { damage } => {
                let damage = *damage;
                let hurt = |player| Effect::Hurt { player, damage, means: "trigger_hurt" };
                let before = calls.effects.len();
                calls.effects.extend(inside.map(hurt));
                if calls.effects.len() > before {
                    self.left = keys::ticks_of(world, HURTS);
                }
            }
            Kind::Heal { points, most, wait, .. } => {
                let (points, most, wait) = (*points, *most, *wait);
                let before = calls.effects.len();
                calls.effects.extend(inside.map(|player| Effect::Heal { player, points, most }));
                if calls.effects.len() > before {
                    self.left = wait;
                }
            }
            Kind::Gravity { movement } => {
                let passed = entered.iter().filter(|(own, _)| *own == self.volume);
                let players: Vec<EntityId> =
                    inside.chain(passed.map(|(_, id)| *id).filter(is_player)).collect();
                for player in players {
                    // The call fails for drivers, who have no such gravity.
                    let _ = world.set_movement(player, movement.as_deref());
                }
            }
            Kind::Exit { map } => {
                let passed = entered.iter().filter(|(own, _)| *own == self.volume);
                let first = inside.chain(passed.map(|(_, id)| *id).filter(is_player)).next();
                if let Some(player) = first {
                    self.is_on = false;
                    calls.effects.push(Effect::Exit { player, map: map.clone() });
                }
            }
        }
    }

    /// Sets the zone off.
    pub(super) fn set_off(&mut self) {
        if let Kind::Heal { switches: true, .. } = &self.kind {
            self.is_on = !self.is_on;
        }
    }
}

#[cfg(test)]
mod tests {
    use obsp_sim::Command;

    use super::super::tests::{Hall, RATE, brush, drawn};

    /// A zone about the middle of the hall.
    fn zone(keys: &[(&str, &str)]) -> String {
        drawn(keys, &brush([-32, -32, 0], [32, 32, 64]))
    }

    #[test]
    fn a_zone_that_hurts_does_so_once_a_second() {
        let keys = [("classname", "trigger_hurt"), ("dmg", "9")];
        let mut hall = Hall::new(&zone(&keys));
        let players = [hall.player([0.0; 3]), hall.player([100.0, 0.0, 0.0])];
        hall.run(3 * RATE);
        let hurts: Vec<_> = hall.game.state().hurts.iter().map(|hurt| (hurt.1, hurt.2)).collect();
        assert_eq!(hurts, [(players[0], 9); 3]);
    }

    #[test]
    fn a_zone_that_heals_waits_and_is_switched_by_its_name() {
        let keys = [("classname", "trigger_heal"), ("wait", "0.5"), ("heal_amount", "7")];
        let mut hall = Hall::new(&zone(&[&keys[..], &[("max_health", "150")]].concat()));
        let players = [hall.player([0.0; 3]), hall.player([100.0, 0.0, 0.0])];
        hall.run(2 * RATE);
        assert_eq!(hall.game.state().heals, [(players[0], 7, 150); 4]);
        let named = [&keys[..], &[("targetname", "spring"), ("spawnflags", "1")]].concat();
        let mut hall = Hall::new(&zone(&named));
        let player = hall.player([0.0; 3]);
        hall.run(RATE);
        assert!(hall.game.state().heals.is_empty(), "it starts off");
        hall.set_off("spring");
        hall.run(RATE);
        assert_eq!(hall.game.state().heals, [(player, 7, 100); 2]);
        hall.set_off("spring");
        hall.run(RATE);
        assert_eq!(hall.game.state().heals.len(), 2);
    }

    #[test]
    fn an_exit_tells_once_who_has_come_in() {
        let keys = [("classname", "trigger_changelevel"), ("map", "e1m2")];
        let mut hall = Hall::new(&zone(&keys));
        let player = hall.player([-100.0, 0.0, 0.0]);
        hall.run(RATE);
        assert!(hall.game.state().exits.is_empty());
        let walk = Command { forward: 127, ..Command::default() };
        hall.play(2 * RATE, &[(player, walk)]);
        assert_eq!(hall.game.state().exits, [(player, "e1m2".to_owned())]);
    }
}
