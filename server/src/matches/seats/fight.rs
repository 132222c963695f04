//! Whether a player is in a fight: another player, who is still in the match, has hurt the player a
//! short time ago. If a player leaves in a fight, the body stays behind, unprotected, until the
//! fight is over.
//!
//! The tick thread knows which player hurt which. A player's connection knows whether the player
//! has gone. Both share this knowledge in a [`Footing`].

use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use obsp_proto::Tick;
use obsp_sim::EntityId;

/// The state of a player that the tick thread and the connection share: fight, protection and
/// presence.
#[derive(Debug, Default)]
pub(super) struct Footing {
    /// The tick until which the player is in a fight; 0 if the player is in none. The tick thread
    /// writes it.
    fights_until: AtomicU32,
    /// The tick from which on nothing harms the player; 0 if there is none. The connection writes
    /// it.
    protected_from: AtomicU32,
    /// Whether the player's connection has ended. The connection writes it.
    is_left: AtomicBool,
}

impl Footing {
    /// Notes that the player's connection has ended. From `protected_from` on, nothing harms the
    /// body, unless the player is in a fight.
    pub(super) fn leave(&self, protected_from: Option<Tick>) {
        // A match with players is past tick 0, so 0 can stand for no protection.
        let from = protected_from.map_or(0, |tick| tick.0.max(1));
        self.protected_from.store(from, Ordering::Relaxed);
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Notes that the player is back.
    pub(super) fn come_back(&self) {
        self.protected_from.store(0, Ordering::Relaxed);
        self.is_left.store(false, Ordering::Relaxed);
    }

    /// Whether the player's connection has ended.
    pub(super) fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Relaxed)
    }

    /// Whether nothing harms the player in `tick`.
    pub(super) fn is_protected(&self, tick: Tick) -> bool {
        let from = self.protected_from.load(Ordering::Relaxed);
        from > 0 && tick.0 >= from && self.fight_left(tick) == 0
    }

    /// Ticks until the fight is over, if nobody hurts the player again; 0 if there is none.
    pub(super) fn fight_left(&self, tick: Tick) -> u32 {
        self.fights_until.load(Ordering::Relaxed).saturating_sub(tick.0)
    }

    pub(super) fn fights_until(&self, until: Option<Tick>) {
        self.fights_until.store(until.map_or(0, |tick| tick.0), Ordering::Relaxed);
    }
}

/// The last time that another player hurt a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// The other player.
    pub(super) by: EntityId,
    /// The tick in which the fight is over.
    pub(super) until: Tick,
}

/// The smallest number of ticks that lasts at least `time`.
pub(crate) fn ticks(time: Duration, tick_rate: NonZeroU16) -> u32 {
    // `as` saturates.
    (time.as_secs_f64() * f64::from(tick_rate.get())).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fight_comes_before_protection() {
        let footing = Footing::default();
        assert!(!footing.is_protected(Tick(u32::MAX)), "the player is there");
        footing.fights_until(Some(Tick(600)));
        footing.leave(Some(Tick(100)));
        assert!(footing.is_left() && !footing.is_protected(Tick(599)));
        assert_eq!((footing.fight_left(Tick(599)), footing.fight_left(Tick(600))), (1, 0));
        assert!(footing.is_protected(Tick(600)));
        footing.fights_until(None);
        assert!(!footing.is_protected(Tick(99)) && footing.is_protected(Tick(100)));
        footing.come_back();
        assert!(!footing.is_left() && !footing.is_protected(Tick(600)));
        footing.leave(None);
        assert!(!footing.is_protected(Tick(u32::MAX)), "nobody asked for protection");
    }

    #[test]
    fn a_time_is_rounded_up_to_whole_ticks() {
        let rate = NonZeroU16::new(60).unwrap();
        for (milliseconds, expected) in [(0, 0), (1, 1), (1000, 60), (1001, 61)] {
            assert_eq!(ticks(Duration::from_millis(milliseconds), rate), expected);
        }
    }
}
