use std::time::Duration;

use hyper::Method;
use serde_json::json;

use super::Introduction;
use super::sidecar::Report;

/// The counter of the game server that says how many play.
const COUNTER: &str = "/v1beta1/counters/players";

/// What there is to see of the match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Most ticks are done when they are due.
    pub(super) on_time: bool,
    /// The last tick is not long ago.
    pub(super) fresh: bool,
    /// Players in the match.
    pub(super) players: usize,
    /// The server has been told to stop.
    pub(super) stopping: bool,
}

/// One thing to tell the sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A label of the game server.
    Label(&'static str, String),
    /// An annotation of the game server.
    Annotation(&'static str, String),
    /// How many play, of how many who could.
    Players(usize, u16),
    /// Players may come.
    Ready,
    /// The match is alive.
    Health,
    /// Players have come.
    Allocate,
    /// The match is over.
    Shutdown,
}

/// What has been told, and what is to be told next. Time is given, as what
/// passed since the beginning.
pub(super) struct Lifecycle {
    /// What is left of the introduction; the last is told first.
    introduction: Vec<Step>,
    capacity: u16,
    health_interval: Duration,
    empty_after: Duration,
    ready: bool,
    allocated: bool,
    /// Players that the sidecar knows of; none as long as it was not told, or
    /// if it does not want to know.
    told: Option<usize>,
    counts: bool,
    next_health: Duration,
    /// Since when an allocated match stands empty.
    empty_since: Option<Duration>,
}

impl Lifecycle {
    pub(super) fn new(
        introduction: Introduction,
        health_interval: Duration,
        empty_after: Duration,
    ) -> Self {
        let Introduction { labels, annotations, capacity } = introduction;
        let annotations = annotations.into_iter().map(|(key, text)| Step::Annotation(key, text));
        let labels = labels.into_iter().map(|(key, text)| Step::Label(key, text));
        Self {
            introduction: annotations.chain(labels).collect(),
            capacity,
            health_interval,
            empty_after,
            ready: false,
            allocated: false,
            told: None,
            counts: true,
            next_health: Duration::ZERO,
            empty_since: None,
        }
    }

    /// What to tell now, if anything; most urgent first.
    pub(super) fn next(&mut self, now: Duration, seen: &Seen) -> Option<Step> {
        if seen.stopping {
            return Some(Step::Shutdown);
        }
        // A stuck tick is silent: that is how Agones learns of it.
        if seen.fresh && now >= self.next_health {
            return Some(Step::Health);
        }
        if let Some(step) = self.introduction.last() {
            return Some(step.clone());
        }
        if self.counts && self.told != Some(seen.players) {
            return Some(Step::Players(seen.players, self.capacity));
        }
        if !self.ready {
            return (seen.fresh && seen.on_time).then_some(Step::Ready);
        }
        if seen.players > 0 {
            self.empty_since = None;
            return (!self.allocated).then_some(Step::Allocate);
        }
        let empty_since = *self.empty_since.get_or_insert(now);
        (self.allocated && now - empty_since >= self.empty_after).then_some(Step::Shutdown)
    }

    /// Takes note that a step was told, or was not, and whether asking again
    /// could have no other answer.
    pub(super) fn done(&mut self, step: &Step, heard: bool, refused: bool, now: Duration) {
        match step {
            // Not before the next is due, even if this one was lost.
            Step::Health => self.next_health = now + self.health_interval,
            Step::Label(..) | Step::Annotation(..) if heard || refused => {
                self.introduction.pop();
            }
            Step::Players(players, _) if heard => self.told = Some(*players),
            // Without the counter in the fleet's template there is nothing to
            // count in.
            Step::Players(..) if refused => self.counts = false,
            Step::Ready if heard => self.ready = true,
            Step::Allocate if heard => self.allocated = true,
            _ => {}
        }
    }
}

impl Step {
    /// How the sidecar is told.
    pub(super) fn request(&self) -> Report {
        let post = |path| Report { method: Method::POST, path, body: json!({}) };
        let put = |path, key: &str, value: &str| Report {
            method: Method::PUT,
            path,
            body: json!({ "key": key, "value": value }),
        };
        match self {
            Self::Label(key, value) => put("/metadata/label", key, value),
            Self::Annotation(key, value) => put("/metadata/annotation", key, value),
            // The sidecar writes 64-bit numbers as texts, as protobuf's JSON does.
            Self::Players(count, capacity) => Report {
                method: Method::PATCH,
                path: COUNTER,
                body: json!({ "count": count.to_string(), "capacity": capacity.to_string() }),
            },
            Self::Ready => post("/ready"),
            Self::Health => post("/health"),
            Self::Allocate => post("/allocate"),
            Self::Shutdown => post("/shutdown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAYING: Seen = Seen { on_time: true, fresh: true, players: 1, stopping: false };
    const EMPTY: Seen = Seen { players: 0, ..PLAYING };

    fn lifecycle() -> Lifecycle {
        let introduction = Introduction {
            labels: vec![("map", "arena".into())],
            annotations: vec![("certificate", "ab".into())],
            capacity: 8,
        };
        Lifecycle::new(introduction, Duration::from_secs(2), Duration::from_secs(60))
    }

    /// All that is told at a time, to a sidecar that takes everything.
    fn told(lifecycle: &mut Lifecycle, seconds: u64, seen: Seen) -> Vec<Step> {
        let now = Duration::from_secs(seconds);
        let mut steps = Vec::new();
        while let Some(step) = lifecycle.next(now, &seen) {
            lifecycle.done(&step, true, false, now);
            steps.push(step.clone());
            if step == Step::Shutdown {
                break;
            }
        }
        steps
    }

    #[test]
    fn a_match_from_its_first_tick_to_its_end() {
        let mut lifecycle = lifecycle();
        let starting = Seen { on_time: false, fresh: true, ..EMPTY };
        let label = Step::Label("map", "arena".into());
        let annotation = Step::Annotation("certificate", "ab".into());
        let introduction = vec![Step::Health, label, annotation, Step::Players(0, 8)];
        assert_eq!(told(&mut lifecycle, 0, starting), introduction);
        assert_eq!(told(&mut lifecycle, 1, EMPTY), [Step::Ready]);
        assert_eq!(told(&mut lifecycle, 2, EMPTY), [Step::Health]);
        assert_eq!(told(&mut lifecycle, 3, PLAYING), [Step::Players(1, 8), Step::Allocate]);
        assert_eq!(told(&mut lifecycle, 3, EMPTY), [Step::Players(0, 8)]);
        assert_eq!(told(&mut lifecycle, 62, EMPTY), [Step::Health]);
        assert_eq!(told(&mut lifecycle, 63, EMPTY), [Step::Shutdown]);
    }

    #[test]
    fn a_match_that_nobody_joined_waits_for_ever() {
        let mut lifecycle = lifecycle();
        told(&mut lifecycle, 0, EMPTY);
        assert_eq!(told(&mut lifecycle, 100_000, EMPTY), [Step::Health]);
    }

    #[test]
    fn a_stuck_tick_is_silent() {
        let mut lifecycle = lifecycle();
        told(&mut lifecycle, 0, PLAYING);
        let stuck = Seen { fresh: false, ..PLAYING };
        assert_eq!(told(&mut lifecycle, 10, stuck), []);
        assert_eq!(told(&mut lifecycle, 11, PLAYING), [Step::Health]);
    }

    #[test]
    fn what_was_not_heard_is_told_again_and_health_never_more_often() {
        let mut lifecycle = lifecycle();
        let now = Duration::ZERO;
        let health = lifecycle.next(now, &EMPTY).unwrap();
        lifecycle.done(&health, false, false, now);
        let label = lifecycle.next(now, &EMPTY).unwrap();
        lifecycle.done(&label, false, false, now);
        assert_eq!(lifecycle.next(now, &EMPTY), Some(label));
    }

    #[test]
    fn a_fleet_without_the_counter_is_no_obstacle() {
        let mut lifecycle = lifecycle();
        let now = Duration::ZERO;
        while let Some(step) = lifecycle.next(now, &EMPTY) {
            let unknown = matches!(step, Step::Players(..));
            lifecycle.done(&step, !unknown, unknown, now);
        }
        assert_eq!(told(&mut lifecycle, 1, PLAYING), [Step::Allocate]);
    }
}
