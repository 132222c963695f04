use proto::Tick;
use proto::Time;
use sim::EntityState;

/// Share by which a remembered lateness fades with each snapshot: half of it
/// in some ten seconds at 60 Hz, so that the delay follows a line that gets
/// better and does not tremble on one that is bad.
const FADING: f64 = 0.999;

/// By how much, in ticks a snapshot, the earliest arrival is forgotten: a clock
/// that drifts by a ten-thousandth is followed.
const FORGETTING: f64 = 2e-4;

/// Ticks that are shown late on a perfect line: the next snapshot is there
/// then, and so is news of what is told of every other tick.
const LEAST_DELAY: f64 = 2.0;

/// Most ticks that are shown late: what is later than that is lost.
const MOST_DELAY: f64 = 30.0;

/// Share by which the shown time may run faster or slower to get where it
/// should be: too little to be seen.
const MOST_TURN: f64 = 0.05;

/// Ticks off from which on the shown time jumps instead.
const JUMP: f64 = 15.0;

/// Ticks that motion is carried on without news. The server tells of what
/// moves at least that often.
const CARRIED: f64 = 8.0;

/// Decides which moment of the match is shown: so far in the past that the
/// news of it are there, and no farther. The delay adapts to how irregularly
/// snapshots arrive.
#[derive(Clone, Debug)]
pub struct Playout {
    tick_rate: f64,
    /// By how many ticks snapshots arrive after their tick at the earliest, by
    /// a clock that began anywhere.
    earliest: Option<f64>,
    /// By how many ticks more they may come later.
    lateness: f64,
    /// The tick shown at a moment.
    shown: Option<(Time, f64)>,
}

impl Playout {
    /// Nothing has arrived yet.
    pub fn new(tick_rate: f64) -> Self {
        Self { tick_rate, earliest: None, lateness: 0.0, shown: None }
    }

    /// Notes that the snapshot of `tick` arrived at `now`.
    pub fn arrived(&mut self, now: Time, tick: Tick) {
        let after = self.ticks(now) - f64::from(tick.0);
        let earliest = self.earliest.map_or(after, |earliest| (earliest + FORGETTING).min(after));
        self.earliest = Some(earliest);
        self.lateness = (after - earliest).max(self.lateness * FADING).min(MOST_DELAY);
        let wanted = self.wanted(now, earliest);
        let shown = match self.shown {
            Some((since, shown)) => {
                let passed = now.since(since).as_secs_f64() * self.tick_rate;
                let error = wanted - (shown + passed);
                let most = passed * MOST_TURN;
                if error.abs() > JUMP { wanted } else { shown + passed + error.clamp(-most, most) }
            }
            None => wanted,
        };
        self.shown = Some((now, shown));
    }

    /// The moment to be shown at `now`, in ticks.
    pub fn shown(&self, now: Time) -> Option<f64> {
        let (since, shown) = self.shown?;
        Some((shown + now.since(since).as_secs_f64() * self.tick_rate).max(0.0))
    }

    /// By how many ticks the shown moment is behind the freshest news.
    pub fn delay(&self) -> f64 {
        LEAST_DELAY + self.lateness
    }

    fn wanted(&self, now: Time, earliest: f64) -> f64 {
        self.ticks(now) - earliest - self.delay()
    }

    fn ticks(&self, time: Time) -> f64 {
        time.elapsed().as_secs_f64() * self.tick_rate
    }
}

/// An entity at the moment `shown`, between what was told of it before and,
/// if anything was yet, after.
pub fn interpolate(
    shown: f64,
    tick_rate: f64,
    (before_tick, before): (Tick, EntityState),
    after: Option<(Tick, EntityState)>,
) -> EntityState {
    let before_tick = f64::from(before_tick.0);
    let Some((after_tick, after)) = after else {
        let carried = if before.asleep { 0.0 } else { (shown - before_tick).clamp(0.0, CARRIED) };
        let position = before.position + before.velocity * (carried / tick_rate);
        return EntityState { position, ..before };
    };
    let after_tick = f64::from(after_tick.0);
    // Of what rested nothing was told; it cannot have begun long ago.
    let since = before_tick.max(after_tick - CARRIED);
    let share = ((shown - since) / (after_tick - since)).clamp(0.0, 1.0);
    EntityState {
        position: before.position.lerp(after.position, share),
        orientation: before.orientation.slerp(after.orientation, share),
        velocity: before.velocity.lerp(after.velocity, share),
        ..before
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use glam::{DQuat, DVec3};
    use sim::{EntityId, Kind, ModelId};

    fn at(ticks: f64) -> Time {
        Time::since_start(Duration::from_secs_f64(ticks / 60.0))
    }

    fn prop(x: f64, speed: f64, asleep: bool) -> EntityState {
        EntityState {
            id: EntityId { slot: 0, generation: 0 },
            kind: Kind::Prop { model: ModelId(0) },
            position: DVec3::new(x, 0.0, 0.0),
            orientation: DQuat::IDENTITY,
            velocity: DVec3::new(speed, 0.0, 0.0),
            asleep,
        }
    }

    #[test]
    fn the_delay_grows_with_the_jitter_and_time_never_runs_backwards() {
        let delay = |jitter: f64| {
            let mut playout = Playout::new(60.0);
            let mut last = 0.0;
            let late = |tick: u32| jitter * f64::from(tick * 7919 % 100) / 100.0;
            let mut arrivals: Vec<(Time, u32)> =
                (100..1000).map(|tick| (at(f64::from(tick) + 6.0 + late(tick)), tick)).collect();
            arrivals.sort();
            for (arrival, tick) in arrivals {
                playout.arrived(arrival, Tick(tick));
                let shown = playout.shown(arrival).unwrap();
                assert!(shown >= last || tick < 110, "{shown} after {last}");
                last = shown;
                if tick > 900 {
                    // The freshest news at any time are of this tick or later.
                    assert!(shown < f64::from(tick) - 1.0 + 0.5, "{shown} at {tick}");
                }
            }
            playout.delay()
        };
        assert!(delay(0.0) < 2.1);
        assert!((3.0..4.5).contains(&delay(2.0)), "{}", delay(2.0));
    }

    #[test]
    fn what_moves_is_shown_between_its_news_and_carried_on_after() {
        let (old, new) = ((Tick(10), prop(0.0, 60.0, false)), (Tick(14), prop(4.0, 60.0, false)));
        let x = |shown, after| interpolate(shown, 60.0, old, after).position.x;
        assert_eq!(x(11.0, Some(new)), 1.0);
        assert_eq!(x(14.0, Some(new)), 4.0);
        assert_eq!(x(12.0, None), 2.0);
        assert_eq!(x(1000.0, None), CARRIED);
    }

    #[test]
    fn what_rested_does_not_creep() {
        let (old, new) = ((Tick(10), prop(0.0, 0.0, true)), (Tick(100), prop(4.0, 9.0, false)));
        assert_eq!(interpolate(50.0, 60.0, old, Some(new)).position.x, 0.0);
        assert_eq!(interpolate(96.0, 60.0, old, Some(new)).position.x, 2.0);
    }
}
