//! The limit on how far back a player's shots are judged: no farther than the acknowledgements and
//! the round trip explain.

use std::num::NonZeroU16;
use std::time::Duration;

use obsp_proto::Tick;

/// Parts in a tick. The age of a view is counted in these parts.
const PARTS: f64 = 16.0;

/// On a perfect line, clients show the match this many ticks late, in addition to the interval
/// between two snapshots.
const INTERPOLATION: f64 = 1.0;

/// Minimum number of snapshots per second to a client, however narrow its line is.
const SLOWEST_SNAPSHOTS: f64 = 20.0;

/// Maximum number of ticks that count between the arrival of commands and the tick that is played.
/// So a client that sends no commands for longer does not get an older view.
const MOST_AHEAD: f64 = 4.0;

/// Ticks of slack for clocks and rounding.
const SLACK: f64 = 2.0;
/// Share of the round trip by which packets may be late now and then. Clients wait that much
/// longer.
const JITTER: f64 = 0.5;

/// How far back in time a shot is judged, by what the server knows of the shooter's view. The view
/// is no older than the snapshot that the client acknowledged last, and no older than the round
/// trip, each with the delay of interpolation and a slack. A client that claims an older view, or
/// keeps acknowledgements back, gains nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ViewLimit {
    /// The last tick simulated when the commands arrived.
    tick: Tick,
    /// How far before that tick the view may be, in ticks.
    behind: f64,
}

/// The timing of a client when its commands arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientTiming {
    /// The last tick simulated.
    pub(crate) tick: Tick,
    /// The latest snapshot that the client is known to have.
    pub(crate) acknowledged: Option<Tick>,
    /// Ticks between the last two snapshots.
    pub(crate) interval: Option<u32>,
    /// The measured round trip.
    pub(crate) round_trip: Duration,
}

impl ViewLimit {
    /// The limit for commands that arrive now.
    pub(crate) fn new(tick_rate: NonZeroU16, timing: &ClientTiming) -> Self {
        let rate = f64::from(tick_rate.get());
        let interval =
            f64::from(timing.interval.unwrap_or(1)).min((rate / SLOWEST_SNAPSHOTS).ceil());
        let round_trip = timing.round_trip.as_secs_f64() * rate;
        // A snapshot waits for the next command, which acknowledges it.
        let by_round_trip = round_trip + interval;
        let unacknowledged =
            timing.acknowledged.map(|tick| timing.tick.distance(tick).max(0) as f64);
        let news = unacknowledged.map_or(by_round_trip, |ticks| ticks.min(by_round_trip));
        let behind = news + INTERPOLATION + interval + SLACK + round_trip * JITTER;
        Self { tick: timing.tick, behind }
    }

    /// Maximum age of the view that a command for `tick` may claim.
    pub(crate) fn at(&self, tick: Tick) -> u16 {
        let ahead = (tick.distance(self.tick).max(0) as f64).min(MOST_AHEAD);
        // `as` saturates.
        ((ahead + self.behind) * PARTS) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

    /// Ticks that a command for the next tick may look back, if its client has not acknowledged the
    /// last `acknowledged` ticks.
    fn ticks(acknowledged: u32, milliseconds: u64) -> f64 {
        let timing = ClientTiming {
            tick: Tick(1000),
            acknowledged: Some(Tick(1000 - acknowledged)),
            interval: Some(1),
            round_trip: Duration::from_millis(milliseconds),
        };
        f64::from(ViewLimit::new(RATE, &timing).at(Tick(1001))) / PARTS
    }

    #[test]
    fn a_view_is_as_old_as_its_line_makes_it_and_not_as_it_is_claimed() {
        // A player with a round trip of 1 ms may look back about 100 ms, of which 2 ticks are
        // slack.
        assert!((6.0..=7.2).contains(&ticks(1, 1)), "{}", ticks(1, 1));
        // An honest client with a round trip of 100 ms is shown a state that is 10 or 11 ticks old:
        // 2 ticks ahead, 6 to 7 on the path, 2 of interpolation.
        assert!((11.0..=16.0).contains(&ticks(7, 100)), "{}", ticks(7, 100));
    }

    #[test]
    fn commands_kept_back_gain_nothing() {
        let timing = ClientTiming {
            tick: Tick(1000),
            acknowledged: Some(Tick(999)),
            interval: Some(1),
            round_trip: Duration::from_millis(1),
        };
        let limit = ViewLimit::new(RATE, &timing);
        assert_eq!(limit.at(Tick(5000)), limit.at(Tick(1004)));
    }

    #[test]
    fn acknowledgements_kept_back_gain_nothing() {
        assert!(ticks(60, 1) <= ticks(1, 1) + 0.1);
        let silent = ClientTiming {
            tick: Tick(1000),
            acknowledged: None,
            interval: None,
            round_trip: Duration::from_millis(1),
        };
        let limit = f64::from(ViewLimit::new(RATE, &silent).at(Tick(1001))) / PARTS;
        assert!(limit <= ticks(1, 1) + 0.1, "{limit}");
    }

    #[test]
    fn a_long_round_trip_without_proof_of_it_gains_nothing() {
        // A client that acknowledges at once is near, even if QUIC measures a long round trip.
        assert!(ticks(1, 180) < 12.0, "{}", ticks(1, 180));
    }
}
