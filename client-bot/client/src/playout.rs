//! Playout decides which moment of the match is rendered.
//!
//! Call [`Playout::arrived`] for every snapshot, [`Playout::render_tick`] for every rendered
//! frame, and [`interpolate`] for every entity of that frame.

use std::time::Duration;

use obsp_proto::Tick;
use obsp_proto::Time;
use obsp_sim::{EntityState, Substance};

/// Factor by which the remembered lateness decays with each snapshot. Its half-life is about ten
/// seconds at 60 Hz. So the delay follows a connection that improves, and does not oscillate on a
/// bad one.
const LATENESS_DECAY: f64 = 0.999;

/// Number of ticks by which the remembered earliest arrival moves later with each snapshot, so that
/// playout follows a clock that drifts by a ten-thousandth.
const EARLIEST_DRIFT: f64 = 2e-4;

/// Ticks of delay on a perfect connection, beyond the interval between two snapshots. With this
/// delay the next state of an entity has arrived even if the entity is sent only in every other
/// snapshot.
const MIN_DELAY: f64 = 1.0;

/// Weight of a gap between two snapshots in the average of the gaps. The average follows a server
/// that lowers its rate within a second.
const INTERVAL_WEIGHT: f64 = 1.0 / 16.0;

/// Lateness, in ticks, above which a snapshot counts as late. The server spreads its sends over
/// part of a tick, which makes snapshots less late than this.
const LATE: f64 = 1.0;

/// Maximum lateness, in ticks, that the delay makes room for. Snapshots that are later count as
/// lost.
const MAX_LATENESS: f64 = 30.0;

/// Share by which the render tick may advance faster or slower to reach its target. The difference
/// is too small to be seen.
const MAX_SPEED_CHANGE: f64 = 0.05;

/// Error of the render tick, in ticks, beyond which the render tick jumps.
const JUMP_THRESHOLD: f64 = 15.0;

/// A snapshot that arrives this many ticks after the earliest arrival, or later, counts as
/// outdated: a quarter of a second at 60 Hz.
const OUTDATED: f64 = 15.0;

/// Number of outdated snapshots in a row after which the server has skipped time or the path has
/// become longer: an eighth of a second at 60 Hz.
const MAX_OUTDATED: u32 = 8;

/// Snapshots in a window: a second's worth at 60 Hz. At least one snapshot of a window did not wait
/// for the caller.
const RECENT: u32 = 60;

/// Maximum number of ticks by which a motion is extrapolated. The server sends a moving entity at
/// least once in this many ticks.
const MAX_EXTRAPOLATION: f64 = 8.0;

/// Chooses the render tick: as late as possible, but far enough in the past that the
/// snapshots around it have arrived. The delay adapts to the jitter of the arrivals.
///
/// ```
/// use std::time::Duration;
///
/// use obsp_client::Playout;
/// use obsp_proto::{Tick, Time};
///
/// let mut playout = Playout::new(60.0);
/// assert_eq!(playout.render_tick(Time::ZERO), None, "before the first snapshot");
/// let mut now = Time::ZERO;
/// for tick in 0..60 {
///     playout.arrived(now, Tick(tick), Duration::ZERO);
///     now = now + Duration::from_micros(16_667);
/// }
/// let render_tick = playout.render_tick(now).unwrap();
/// assert!(render_tick > 50.0 && render_tick < 59.0, "{render_tick}");
/// // On a perfect connection the delay is a little more than two ticks.
/// assert!(playout.interpolation_delay() < 2.1);
/// ```
#[derive(Clone, Debug)]
pub struct Playout {
    tick_rate: f64,
    /// Minimum number of ticks by which a snapshot arrived after its tick, by a clock with an
    /// arbitrary origin.
    earliest: Option<f64>,
    /// Ticks by which snapshots may arrive later than the earliest one.
    lateness: f64,
    /// Number of outdated snapshots that arrived in a row, and the lateness of the earliest of
    /// them.
    outdated: (u32, f64),
    /// The number of snapshots that arrived in the present window. Then, for this window and the
    /// previous one, the fewest ticks by which a snapshot arrived after its tick.
    recent: (u32, [f64; 2]),
    /// The latest tick that arrived.
    latest: Option<Tick>,
    /// Average number of ticks between two snapshots.
    interval: f64,
    /// A moment, and the render tick at that moment.
    render: Option<(Time, f64)>,
}

impl Playout {
    /// A playout before the first snapshot, at `tick_rate` ticks per second. The rate is clamped
    /// to 1 to 1,000; NaN counts as 1.
    pub fn new(tick_rate: f64) -> Self {
        Self {
            tick_rate: if tick_rate.is_nan() { 1.0 } else { tick_rate.clamp(1.0, 1000.0) },
            earliest: None,
            lateness: 0.0,
            outdated: (0, f64::INFINITY),
            recent: (0, [f64::INFINITY; 2]),
            latest: None,
            interval: 1.0,
            render: None,
        }
    }

    /// Records that the snapshot of `tick` arrived at `now`. `waited` is the longest time for which
    /// the snapshot may have waited for the caller. Returns whether it was late, because of the
    /// network or of the caller.
    pub fn arrived(&mut self, now: Time, tick: Tick, waited: Duration) -> bool {
        let after = self.ticks(now) - f64::from(tick.0);
        let waited = waited.as_secs_f64() * self.tick_rate;
        self.note_interval(tick);
        let earliest =
            self.earliest.map_or(after, |earliest| (earliest + EARLIEST_DRIFT).min(after));
        let earliest = self.without_outdated(earliest, after);
        self.earliest = Some(earliest);
        // Time spent waiting for the caller does not count as lateness. But the least delayed of
        // the recent snapshots did not wait, so the lateness is at least the lateness of that
        // snapshot.
        let late = (after - waited).max(self.soonest(after)) - earliest;
        self.lateness = late.max(self.lateness * LATENESS_DECAY).min(MAX_LATENESS);
        let target = self.ticks(now) - earliest - self.interpolation_delay();
        let render_tick = match self.render {
            Some((since, tick)) => {
                let passed = now.since(since).as_secs_f64() * self.tick_rate;
                let error = target - (tick + passed);
                let limit = passed * MAX_SPEED_CHANGE;
                if error.abs() > JUMP_THRESHOLD {
                    target
                } else {
                    tick + passed + error.clamp(-limit, limit)
                }
            }
            None => target,
        };
        self.render = Some((now, render_tick));
        after - earliest > LATE
    }

    /// Updates the average number of ticks between two snapshots.
    fn note_interval(&mut self, tick: Tick) {
        let gap = self.latest.map_or(0, |latest| tick.distance(latest));
        // A longer gap is an outage, and says nothing about the server's rate.
        if (1..=MAX_OUTDATED.into()).contains(&gap) {
            self.interval += (gap as f64 - self.interval) * INTERVAL_WEIGHT;
        }
        self.latest = self.latest.max(Some(tick));
    }

    /// The smallest number of ticks by which a recent snapshot arrived after its tick. At least the
    /// latest [`RECENT`] snapshots count as recent, and at most twice as many.
    fn soonest(&mut self, after: f64) -> f64 {
        let (count, least) = self.recent;
        self.recent = if count < RECENT {
            (count + 1, [least[0].min(after), least[1]])
        } else {
            (1, [after, least[0]])
        };
        self.recent.1[0].min(self.recent.1[1])
    }

    /// Returns the earliest arrival. Measures it again after a whole run of snapshots that came
    /// much later.
    fn without_outdated(&mut self, earliest: f64, after: f64) -> f64 {
        if after - earliest < OUTDATED {
            self.outdated = (0, f64::INFINITY);
            return earliest;
        }
        let (count, least) = self.outdated;
        self.outdated = (count + 1, least.min(after));
        if self.outdated.0 < MAX_OUTDATED {
            return earliest;
        }
        self.lateness = 0.0;
        std::mem::replace(&mut self.outdated, (0, f64::INFINITY)).1
    }

    /// The tick to render at `now`, with a fraction; `None` before the first snapshot.
    pub fn render_tick(&self, now: Time) -> Option<f64> {
        let (since, tick) = self.render?;
        Some((tick + now.since(since).as_secs_f64() * self.tick_rate).max(0.0))
    }

    /// The number of ticks by which the render tick is behind the latest snapshot.
    pub fn interpolation_delay(&self) -> f64 {
        MIN_DELAY + self.interval + self.lateness
    }

    fn ticks(&self, time: Time) -> f64 {
        time.elapsed().as_secs_f64() * self.tick_rate
    }
}

/// An entity at `render_tick`: interpolated between an earlier and a later state, or extrapolated
/// if no later state has arrived.
///
/// A NaN `render_tick` counts as the tick of the earlier state. The position is not extrapolated if
/// `tick_rate` is not finite and above zero, or if the result is not finite. If one of the
/// orientations is not a unit quaternion, nothing is interpolated. The result is then the later
/// state from its tick on, and the earlier state until then.
///
/// ```
/// use glam::{DQuat, DVec3};
/// use obsp_client::interpolate;
/// use obsp_proto::Tick;
/// use obsp_sim::{EntityId, EntityState, Kind, ModelId, Traits};
///
/// let before = EntityState {
///     id: EntityId { slot: 1, generation: 0 },
///     kind: Kind::Prop { model: ModelId(0) },
///     position: DVec3::ZERO,
///     orientation: DQuat::IDENTITY,
///     velocity: DVec3::X * 60.0,
///     asleep: false,
///     traits: Traits::default(),
/// };
/// let after = EntityState { position: DVec3::X * 4.0, ..before };
/// let between = interpolate(11.0, 60.0, (Tick(10), before), Some((Tick(14), after)));
/// assert_eq!(between.position, DVec3::X);
/// // The body goes on at 60 units per second, which is one unit per tick, for 8 ticks at most.
/// let ahead = interpolate(12.0, 60.0, (Tick(10), before), None);
/// assert_eq!(ahead.position, DVec3::X * 2.0);
/// ```
pub fn interpolate(
    render_tick: f64,
    tick_rate: f64,
    (before_tick, before): (Tick, EntityState),
    after: Option<(Tick, EntityState)>,
) -> EntityState {
    let before_tick = f64::from(before_tick.0);
    let render_tick = if render_tick.is_nan() { before_tick } else { render_tick };
    let Some((after_tick, after)) = after else {
        let ahead = (render_tick - before_tick).clamp(0.0, MAX_EXTRAPOLATION);
        let ahead = if before.asleep { 0.0 } else { ahead };
        let position = before.position + before.velocity * (ahead / tick_rate);
        let is_known = tick_rate > 0.0 && tick_rate.is_finite() && position.is_finite();
        return EntityState {
            position: if is_known { position } else { before.position },
            ..before
        };
    };
    let after_tick = f64::from(after_tick.0);
    // The server sends no body at rest. So a body with a later state cannot have begun to move long
    // before that state.
    let since = before_tick.max(after_tick - MAX_EXTRAPOLATION);
    let share = ((render_tick - since) / (after_tick - since)).clamp(0.0, 1.0);
    // An attached entity has no pose of its own, so there is nothing in between.
    let follows = |state: &EntityState| matches!(state.traits.substance, Substance::Attached(_));
    let jumps = follows(&before) || follows(&after);
    let is_turn = |state: &EntityState| (state.orientation.length_squared() - 1.0).abs() < 0.01;
    // If both states are of the same tick, the share is NaN.
    if share.is_nan() || jumps || !is_turn(&before) || !is_turn(&after) {
        return if after_tick <= render_tick { after } else { before };
    }
    EntityState {
        position: before.position.lerp(after.position, share),
        orientation: before.orientation.slerp(after.orientation, share),
        velocity: before.velocity.lerp(after.velocity, share),
        ..before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stall::Stall;
    use glam::{DQuat, DVec3};
    use obsp_sim::{EntityId, Kind, ModelId, Traits};

    #[test]
    fn odd_numbers_give_a_state_that_is_one() {
        let id = EntityId { slot: 1, generation: 0 };
        let kind = Kind::Prop { model: ModelId(0) };
        let before = EntityState {
            id,
            kind,
            position: DVec3::ONE,
            orientation: DQuat::IDENTITY,
            velocity: DVec3::X,
            asleep: false,
            traits: Traits::default(),
        };
        let after = EntityState { position: DVec3::splat(2.0), ..before };
        let odd = [0.0, -0.0, 5e-324, 1e-308, 1e-155, 1e30, 1e155, 1e308, f64::MAX];
        let none = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -1.0];
        for number in odd.into_iter().chain(none) {
            for (tick, rate) in [(number, 60.0), (12.5, number), (number, number)] {
                for after in [None, Some((Tick(13), after)), Some((Tick(12), after))] {
                    let state = interpolate(tick, rate, (Tick(12), before), after);
                    assert!(state.position.is_finite(), "{tick}, {rate}: {state:?}");
                    assert!(state.orientation.is_normalized(), "{tick}, {rate}: {state:?}");
                }
            }
            // A velocity that no body has, and an orientation of no length.
            let fast = EntityState { velocity: DVec3::splat(number), ..before };
            let state = interpolate(14.0, 60.0, (Tick(12), fast), None);
            assert!(state.position.is_finite(), "{number}: {state:?}");
            let turned = EntityState { orientation: DQuat::IDENTITY * number, ..after };
            let state = interpolate(12.5, 60.0, (Tick(12), before), Some((Tick(13), turned)));
            assert!(state.orientation.is_normalized() || number == 1.0, "{number}: {state:?}");
            let mut playout = Playout::new(number);
            playout.arrived(at(1.0), Tick(1), Duration::from_secs(1));
            playout.arrived(at(2.0), Tick(2), Duration::MAX);
            assert!(playout.render_tick(at(3.0)).is_some_and(f64::is_finite), "{number}");
            assert!(playout.interpolation_delay().is_finite(), "{number}");
        }
    }

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
            traits: Traits::default(),
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
                playout.arrived(arrival, Tick(tick), Duration::ZERO);
                let render_tick = playout.render_tick(arrival).unwrap();
                assert!(render_tick >= last || tick < 110, "{render_tick} after {last}");
                last = render_tick;
                if tick > 900 {
                    // At any time the latest snapshot is of this tick or a later one.
                    assert!(render_tick < f64::from(tick) - 1.0 + 0.5, "{render_tick} at {tick}");
                }
            }
            playout.interpolation_delay()
        };
        assert!(delay(0.0) < 2.1);
        assert!((3.0..4.5).contains(&delay(2.0)), "{}", delay(2.0));
    }

    /// Symptom: a page that was busy for 300 ms while it joined rendered the other players a third
    /// of a second late, and took half a minute to recover.
    #[test]
    fn snapshots_that_waited_for_the_caller_are_not_late() {
        let mut playout = Playout::new(60.0);
        for tick in 100..300 {
            let (due, end) = (f64::from(tick) + 6.0, 220.0);
            let arrival = if (200.0..end).contains(&due) { end } else { due };
            let waited = Duration::from_secs_f64((arrival - due).max(0.0) / 60.0);
            playout.arrived(at(arrival), Tick(tick), waited);
        }
        assert!(playout.interpolation_delay() < 2.1, "{}", playout.interpolation_delay());
    }

    /// The delay of a page that draws eight frames a second. Halfway through the test, the latency
    /// of its connection grows by `longer` ticks.
    fn delay_of_a_slow_page(longer: f64) -> f64 {
        let (mut playout, mut stall) = (Playout::new(60.0), Stall::default());
        let mut waiting = (0..1200_u32).peekable();
        // The page is busy for 125 ms, draws, and handles what has arrived meanwhile.
        for picture in 1..160 {
            let now = f64::from(picture) * 7.5;
            stall.ended(at(now - 7.5), at(now));
            let arrival = |tick: u32| f64::from(tick) + 6.0 + if tick < 600 { 0.0 } else { longer };
            while let Some(tick) = waiting.next_if(|&tick| arrival(tick) <= now) {
                if !playout.arrived(at(now), Tick(tick), stall.waited(None, at(now))) {
                    stall.caught_up();
                }
            }
        }
        playout.interpolation_delay()
    }

    #[test]
    fn a_slow_page_notices_that_the_line_became_longer() {
        let (usual, longer) = (delay_of_a_slow_page(0.0), delay_of_a_slow_page(10.0));
        assert!(usual < 3.0, "{usual}");
        assert!((10.0..16.0).contains(&longer), "{longer}");
        // If the increase is greater, the earliest arrival is measured again.
        let skipped = delay_of_a_slow_page(30.0);
        assert!(skipped < 12.0, "{skipped}");
    }

    /// Symptom: the server had stood still for two seconds and then skipped that time. The render
    /// tick was ahead of the arrived snapshots for minutes.
    #[test]
    fn time_that_the_server_skipped_is_skipped_by_the_render_tick() {
        let mut playout = Playout::new(60.0);
        for tick in 0..330 {
            let delay = if tick < 300 { 6.0 } else { 126.0 };
            playout.arrived(at(f64::from(tick) + delay), Tick(tick), Duration::ZERO);
        }
        let render_tick = playout.render_tick(at(329.0 + 126.0)).unwrap();
        assert!((324.0..=328.0).contains(&render_tick), "{render_tick}");
    }

    #[test]
    fn a_lower_snapshot_rate_increases_the_delay() {
        let mut playout = Playout::new(60.0);
        for tick in (0..900).step_by(3) {
            playout.arrived(at(f64::from(tick) + 6.0), Tick(tick), Duration::ZERO);
        }
        let delay = playout.interpolation_delay();
        assert!((3.9..4.2).contains(&delay), "{delay}");
    }

    #[test]
    fn a_moving_entity_is_interpolated_and_then_extrapolated() {
        let (old, new) = ((Tick(10), prop(0.0, 60.0, false)), (Tick(14), prop(4.0, 60.0, false)));
        let x = |render_tick, after| interpolate(render_tick, 60.0, old, after).position.x;
        assert_eq!(x(11.0, Some(new)), 1.0);
        assert_eq!(x(14.0, Some(new)), 4.0);
        assert_eq!(x(12.0, None), 2.0);
        assert_eq!(x(1000.0, None), MAX_EXTRAPOLATION);
    }

    #[test]
    fn an_entity_at_rest_does_not_creep() {
        let (old, new) = ((Tick(10), prop(0.0, 0.0, true)), (Tick(100), prop(4.0, 9.0, false)));
        assert_eq!(interpolate(50.0, 60.0, old, Some(new)).position.x, 0.0);
        assert_eq!(interpolate(96.0, 60.0, old, Some(new)).position.x, 2.0);
    }
}
