//! The schedule of keyframes. To show a tick, a reader plays all ticks from the keyframe before it.
//! So both the number and the cost of these ticks are bounded: a tick of a collapsing heap costs
//! several times as much as a tick of a heap at rest. The cost is estimated and never measured, so
//! a match is recorded in the same way on every machine.

use obsp_sim::{Config, World};

/// Maximum cost of the ticks between two keyframes. A player, a body that moves and two bodies that
/// touch cost the same ([`obsp_sim::Counters::bodies_cost`]), and [`INTERVALS`] intervals of
/// motions cost as much. Ticks of this cost take about 0.15 s in the WebAssembly of the page, where
/// a seek may take 0.2 s.
const MAX_COST: u64 = 37_000;

/// The number of intervals of motions, examined for a time of impact
/// ([`obsp_sim::Counters::impact_iterations`]), that together cost as much as a body. The number
/// was fitted to the times of 36,000 ticks with 32 players on arena and dm4. With it, the cost
/// predicted the time of 200 ticks to 5 %. Since that fit was made, a single plane decides most
/// motions, and counts as one interval.
const INTERVALS: u64 = 4;

/// Maximum number of seconds between two keyframes, even if the ticks cost little. There are at
/// least `MIN_SECONDS` between them. Otherwise the recording of a thousand falling bodies would
/// hold little except keyframes.
const MAX_SECONDS: u32 = 10;
const MIN_SECONDS: u32 = 2;

/// Decides after which ticks a keyframe is due.
///
/// ```
/// use std::sync::Arc;
///
/// use obsp_game::AnyGame;
/// use obsp_game::arena::Arena;
/// use obsp_recording::Schedule;
/// use obsp_sim::Config;
///
/// let config = Config { tick_rate: 10, ..Config::default() };
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut game = Arena.new_match(map, config)?;
/// let mut schedule = Schedule::new(config);
///
/// // A keyframe is due after ten seconds at the latest, which are 100 ticks here.
/// let due = (1..=100).find(|_| {
///     game.step(&[]);
///     schedule.is_due(game.world(), 0)
/// });
/// assert!(due.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Schedule {
    tick_rate: u32,
    /// The number of ticks since the last keyframe, and their cost.
    ticks: u32,
    cost: u64,
    /// The world's count of examined intervals after the last tick. `None` before the first tick.
    intervals: Option<u64>,
}

impl Schedule {
    /// The schedule of a match that has not ticked yet.
    pub fn new(config: Config) -> Self {
        Self { tick_rate: config.tick_rate, ticks: 0, cost: 0, intervals: None }
    }

    /// Whether a keyframe follows the tick by which `world` was just advanced. `players` is the
    /// number of players in that tick.
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

    /// The ticks after which keyframes are due, among `count` ticks with these costs.
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
