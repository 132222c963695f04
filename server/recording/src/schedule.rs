//! When a keyframe is due. To look at a tick is to play all ticks from the keyframe before it, so
//! what these may cost is bounded, and not only how many they are: a heap that falls together
//! costs several times as much as one that lies. The cost is estimated, never measured, and a
//! match is recorded alike on every machine.

use obsp_sim::{Config, World};

/// Most cost of the ticks between two keyframes: a player costs as much as a body that moves, as
/// two that touch ([`obsp_sim::Counters::bodies_cost`]), or as [`INTERVALS`] of motions. It is
/// some 0.15 s in the WebAssembly of the page, of which a seek may take 0.2 s.
const MAX_COST: u64 = 37_000;

/// Intervals of motions that are examined for a time of impact
/// ([`obsp_sim::Counters::impact_iterations`]) and cost as much as a body. By a fit to the times
/// of 36,000 ticks with 32 players on arena and dm4 what 200 ticks took was told to 5 % (before most
/// motions were decided by one plane, which is one interval).
const INTERVALS: u64 = 4;

/// Seconds between two keyframes: at most, however little ticks cost, and at least, or a match of
/// a thousand bodies that fall would be recorded as little else.
const MAX_SECONDS: u32 = 10;
const MIN_SECONDS: u32 = 2;

/// Tells after which ticks a keyframe is due.
#[derive(Clone, Debug)]
pub struct Schedule {
    tick_rate: u32,
    /// Ticks since the last keyframe, and their cost.
    ticks: u32,
    cost: u64,
    /// Intervals that had been examined after the last tick, if it is known.
    intervals: Option<u64>,
}

impl Schedule {
    /// That of a match which has not ticked yet.
    pub fn new(config: Config) -> Self {
        Self { tick_rate: config.tick_rate, ticks: 0, cost: 0, intervals: None }
    }

    /// Whether a keyframe follows the tick that `world` was just advanced by, in which so many
    /// players played.
    pub fn is_due(&mut self, world: &World, players: usize) -> bool {
        let counters = world.counters();
        let intervals = counters.impact_iterations;
        let before = self.intervals.replace(intervals).unwrap_or(intervals);
        let examined = intervals.saturating_sub(before);
        self.counts(counters.bodies_cost + players as u64 + examined / INTERVALS)
    }

    fn counts(&mut self, cost: u64) -> bool {
        self.ticks += 1;
        self.cost += cost;
        let is_long = self.ticks >= MAX_SECONDS * self.tick_rate;
        let is_dear = self.cost >= MAX_COST && self.ticks >= MIN_SECONDS * self.tick_rate;
        if is_long || is_dear {
            (self.ticks, self.cost) = (0, 0);
        }
        is_long || is_dear
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks after which keyframes are due, of `count` that cost so much.
    fn due(count: u64, cost: impl Fn(u64) -> u64) -> Vec<u64> {
        let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 8 };
        let mut schedule = Schedule::new(config);
        (1..=count).filter(|&tick| schedule.counts(cost(tick))).collect()
    }

    #[test]
    fn dear_ticks_have_more_keyframes_within_bounds() {
        assert_eq!(due(1_900, |_| 10), [600, 1200, 1800], "every ten seconds at least");
        assert_eq!(due(1_000, |_| 100), [370, 740]);
        assert_eq!(due(500, |_| 100_000), [120, 240, 360, 480], "every two seconds at most");
        let falls = |tick| if tick <= 200 { 185 } else { 10 };
        assert_eq!(due(900, falls), [200, 800]);
    }
}
