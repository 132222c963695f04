//! Right of way: how a pilot keeps clear of the other tanks, as far as a client sees them.

use glam::DVec2;
use obsp_sim::EntityState;

/// Distance that is kept between two tanks' centres, in units. Hulls of 96 by 64 units pass each
/// other at 116, however they are turned.
const CLEAR: f64 = 130.0;

/// Difference in height at which two tanks pass each other, in units. A hull is 32 units high, and
/// a pilot keeps a height to within about 10.
const CLEAR_HEIGHT: f64 = 64.0;

/// How far ahead the heights of tanks that climb or sink are predicted, in seconds.
const AHEAD: f64 = 0.6;

/// A pilot nears another tank at this many units per second for each unit of distance beyond
/// [`CLEAR`]: slow enough for the engine to brake in time.
const CLOSING: f64 = 1.0;

/// A pilot flies to the right with this share of the speed that it gives up.
const ASIDE: f64 = 0.9;

/// The velocity, in units per second, with which `tank` flies instead of `wish`, so that it does
/// not run into `others`: slower towards tanks ahead, and to the right around them.
pub(super) fn give_way<'a>(
    tank: &EntityState,
    wish: DVec2,
    others: impl Iterator<Item = &'a EntityState>,
) -> DVec2 {
    let speed = wish.length();
    let mut given = wish;
    for other in others.filter(|other| other.id != tank.id && is_level(tank, other)) {
        let between = (other.position - tank.position).truncate();
        let closing = given - other.velocity.truncate();
        if misses(between, closing) {
            continue;
        }
        let towards = between.normalize_or(DVec2::X);
        let allowed = ((between.length() - CLEAR) * CLOSING).max(0.0);
        let excess = (closing.dot(towards) - allowed).min(given.dot(towards));
        if excess > 0.0 {
            given -= (towards + towards.perp() * ASIDE) * excess;
        }
    }
    given.clamp_length_max(speed)
}

/// Whether no other tank is, or is about to be, within the upright column around `tank` between the
/// heights `low` and `high`.
pub(super) fn is_column_clear<'a>(
    tank: &EntityState,
    (low, high): (f64, f64),
    mut others: impl Iterator<Item = &'a EntityState>,
) -> bool {
    others.all(|other| {
        let between = (other.position - tank.position).truncate();
        let soon = between + (other.velocity - tank.velocity).truncate() * AHEAD;
        let (lowest, highest) = heights(other);
        other.id == tank.id
            || highest < low
            || lowest > high
            || between.length().min(soon.length()) > CLEAR
    })
}

/// Whether two tanks that are `between` apart keep clear of each other if they go on with the
/// relative velocity `closing`.
fn misses(between: DVec2, closing: DVec2) -> bool {
    let time = between.dot(closing) / closing.length_squared().max(1.0);
    (between - closing * time.max(0.0)).length() > CLEAR
}

/// Whether two tanks are, or will soon be, at one height.
fn is_level(tank: &EntityState, other: &EntityState) -> bool {
    let ((low, high), (lowest, highest)) = (heights(tank), heights(other));
    lowest - high < CLEAR_HEIGHT && low - highest < CLEAR_HEIGHT
}

/// The smallest and the largest height of a tank within the next [`AHEAD`] seconds.
fn heights(tank: &EntityState) -> (f64, f64) {
    let (now, soon) = (tank.position.z, tank.position.z + tank.velocity.z * AHEAD);
    (now.min(soon), now.max(soon))
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};
    use obsp_sim::{EntityId, Kind, ModelId, Traits};

    use super::*;

    fn tank(slot: u16, position: [f64; 3], velocity: [f64; 3]) -> EntityState {
        EntityState {
            id: EntityId { slot, generation: 0 },
            kind: Kind::Vehicle { model: ModelId(0) },
            position: position.into(),
            orientation: DQuat::IDENTITY,
            velocity: DVec3::from(velocity),
            asleep: false,
            traits: Traits::default(),
        }
    }

    fn given(others: &[EntityState]) -> DVec2 {
        let tank = tank(0, [0.0, 0.0, 100.0], [400.0, 0.0, 0.0]);
        give_way(&tank, DVec2::new(400.0, 0.0), others.iter())
    }

    #[test]
    fn a_pilot_slows_down_and_turns_right_before_a_tank_ahead() {
        let given = given(&[tank(1, [200.0, 10.0, 100.0], [0.0; 3])]);
        assert!(given.x < 120.0 && given.y < -100.0, "{given}");
    }

    #[test]
    fn tanks_behind_beside_below_and_going_on_ahead_change_nothing() {
        let behind = tank(1, [-200.0, 0.0, 100.0], [0.0; 3]);
        let beside = tank(2, [100.0, 140.0, 100.0], [0.0; 3]);
        let below = tank(3, [200.0, 0.0, 20.0], [0.0; 3]);
        let ahead = tank(4, [200.0, 0.0, 100.0], [400.0, 0.0, 0.0]);
        assert_eq!(given(&[behind, beside, below, ahead]), DVec2::new(400.0, 0.0));
    }

    #[test]
    fn a_tank_that_rises_ahead_is_given_way_before_it_is_level() {
        let rising = tank(1, [200.0, 0.0, 20.0], [0.0, 0.0, 200.0]);
        assert!(given(&[rising]).x < 200.0);
    }

    #[test]
    fn a_column_is_clear_unless_a_tank_is_in_it_or_flies_into_it() {
        let own = tank(0, [0.0, 0.0, 20.0], [0.0; 3]);
        let clear = |other| is_column_clear(&own, (20.0, 200.0), [own, other].iter());
        assert!(clear(tank(1, [200.0, 0.0, 200.0], [0.0; 3])));
        assert!(clear(tank(1, [0.0, 0.0, 300.0], [0.0; 3])));
        assert!(!clear(tank(1, [50.0, 0.0, 150.0], [0.0; 3])));
        assert!(!clear(tank(1, [200.0, 0.0, 200.0], [-300.0, 0.0, 0.0])));
    }
}
