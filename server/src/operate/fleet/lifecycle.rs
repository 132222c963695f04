//! The state machine of a server in an Agones fleet. From the state of the match it decides which
//! report the sidecar gets next. It reads no clock.

use std::time::Duration;

use hyper::Method;
use obsp_proto::Fingerprint;
use serde_json::json;

use super::Introduction;
use super::places::{Change, Places};
use super::sidecar::Report;

/// The path of the game server's counter of taken places.
const COUNTER: &str = "/v1beta1/counters/players";

/// The annotation that holds the hash of the certificate.
const CERTIFICATE: &str = "certificate-sha256";

/// The input of the state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatchStatus {
    /// Whether most ticks finish on time.
    pub(super) on_time: bool,
    /// Whether the last tick finished a short time ago.
    pub(super) fresh: bool,
    /// Players in the match.
    pub(super) players: u32,
    /// The fingerprint of the certificate that new connections are shown. An allocator passes it on
    /// to players.
    pub(super) certificate: Fingerprint,
    /// Whether the server drains: nobody may join any more.
    pub(super) draining: bool,
    /// Whether the server has been asked to stop.
    pub(super) stopping: bool,
    pub(super) fleet: Fleet,
}

/// The content of the sidecar's last answer about this game server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fleet {
    /// How many answers the sidecar has given.
    pub(super) answers: u64,
    /// Whether an allocator has given the match to players.
    pub(super) is_allocated: bool,
    /// Places that the fleet counts as taken; `None` if the sidecar gives no count.
    pub(super) counted: Option<u32>,
}

/// A report to the sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A label of the game server.
    Label(&'static str, String),
    /// An annotation of the game server.
    Annotation(&'static str, String),
    /// The annotation with the hash of the certificate that clients pin.
    Certificate(Fingerprint),
    /// The capacity: how many players the server can hold.
    Capacity(u32),
    /// A change of the number of taken places.
    Places(Change),
    /// The server is ready for players: for the first time, or again after the players of an
    /// allocation have left.
    Ready,
    /// The match is alive.
    Health,
    /// The server ends.
    Shutdown,
}

/// The outcome of a report to the sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportOutcome {
    /// The sidecar has accepted the report.
    Accepted,
    /// The sidecar does not know such a request. The report is not sent again.
    Unknown,
    /// The sidecar refuses the request, for example to count more places than there are.
    Rejected,
    /// No usable answer came. The report is due again.
    Lost,
}

/// Decides which report is due next. The caller passes the time, as the duration since the start.
///
/// | what happens | what is reported to the fleet |
/// | --- | --- |
/// | the server starts | labels, annotations, capacity, the places that are taken |
/// | ticks are on time for the first time | *Ready* |
/// | a tick is fresh | *Health*, at regular intervals |
/// | a player joins or leaves | one place more or less, unless it was reserved |
/// | an allocation reserves places | nothing; places not taken are given back after a while |
/// | a player joins without an allocation | one place more; the state does not change |
/// | all players of an allocation have gone for a while, or none ever came | *Ready* again |
/// | the certificate is renewed | the annotation with its hash |
/// | the server drains | a capacity equal to the number of players who still play |
/// | the server ends | *Shutdown* |
pub(super) struct Lifecycle {
    /// The part of the introduction that is not reported yet. Its last entry is reported first.
    introduction: Vec<Step>,
    capacity: u32,
    health_interval: Duration,
    empty_after: Duration,
    is_ready: bool,
    places: Places,
    /// The capacity that was last reported to the sidecar.
    reported_capacity: Option<u32>,
    /// Whether the fleet counts places.
    counts: bool,
    /// How many answers of the sidecar have been read.
    answers: u64,
    /// The certificate of the last report that reached the sidecar, accepted or not.
    certificate: Option<Fingerprint>,
    next_health: Duration,
    /// The time since which an allocated match has been empty.
    empty_since: Option<Duration>,
    /// Whether the server has offered the match again, while the sidecar still says that it is
    /// allocated.
    is_offered: bool,
}

impl Lifecycle {
    pub(super) fn new(
        introduction: Introduction,
        health_interval: Duration,
        empty_after: Duration,
        reservation: Duration,
    ) -> Self {
        let Introduction { labels, annotations, capacity } = introduction;
        let annotations = annotations.into_iter().map(|(key, text)| Step::Annotation(key, text));
        let labels = labels.into_iter().map(|(key, text)| Step::Label(key, text));
        Self {
            introduction: annotations.chain(labels).collect(),
            capacity: capacity.into(),
            health_interval,
            empty_after,
            is_ready: false,
            places: Places::new(reservation),
            reported_capacity: None,
            counts: true,
            answers: 0,
            certificate: None,
            next_health: Duration::ZERO,
            empty_since: None,
            is_offered: false,
        }
    }

    /// The most urgent step that is due, if there is one.
    pub(super) fn next(&mut self, now: Duration, seen: &MatchStatus) -> Option<Step> {
        if seen.stopping {
            return Some(Step::Shutdown);
        }
        // A match whose tick is stuck reports no *Health*, so Agones notices that it is stuck.
        if seen.fresh && now >= self.next_health {
            return Some(Step::Health);
        }
        if let Some(step) = self.introduction.last() {
            return Some(step.clone());
        }
        // A server renews its self-signed certificate every 12 days. A client that was given the
        // fingerprint of the old one would refuse the new one as forged.
        if self.certificate != Some(seen.certificate) {
            return Some(Step::Certificate(seen.certificate));
        }
        self.read(now, &seen.fleet);
        if let Some(step) = self.count(now, seen) {
            return Some(step);
        }
        if seen.draining {
            return None;
        }
        if !self.is_ready {
            return (seen.fresh && seen.on_time).then_some(Step::Ready);
        }
        self.is_over(now, seen).then_some(Step::Ready)
    }

    /// Reads the sidecar's last answer, unless it was read before.
    fn read(&mut self, now: Duration, fleet: &Fleet) {
        if fleet.answers == self.answers {
            return;
        }
        self.answers = fleet.answers;
        self.is_offered &= fleet.is_allocated;
        if let Some(count) = fleet.counted {
            self.places.counted(now, count);
        }
    }

    /// The report of the capacity or of the taken places, if one is due.
    fn count(&mut self, now: Duration, seen: &MatchStatus) -> Option<Step> {
        if !self.counts {
            return None;
        }
        // A draining server reports only as much capacity as it has players, so that no place is
        // free. An allocation that found a free place would send a player whom the server refuses.
        let capacity = if seen.draining { seen.players } else { self.capacity };
        if self.reported_capacity != Some(capacity) {
            return Some(Step::Capacity(capacity));
        }
        self.places.change(now, seen.players).map(Step::Places)
    }

    /// Whether the match of an allocation is over, so that the server can be offered again: the
    /// match has been empty for a while.
    fn is_over(&mut self, now: Duration, seen: &MatchStatus) -> bool {
        let is_empty = seen.players == 0 && !self.places.is_reserved();
        if !seen.fleet.is_allocated || self.is_offered || !is_empty {
            self.empty_since = None;
            return false;
        }
        now - *self.empty_since.get_or_insert(now) >= self.empty_after
    }

    /// Notes the sidecar's answer to a step.
    pub(super) fn done(&mut self, step: &Step, answer: ReportOutcome, now: Duration) {
        let is_lost = answer == ReportOutcome::Lost;
        match step {
            // A lost *Health* is not repeated before the next one is due.
            Step::Health => self.next_health = now + self.health_interval,
            Step::Label(..) | Step::Annotation(..) if !is_lost => {
                self.introduction.pop();
            }
            Step::Certificate(certificate) if !is_lost => self.certificate = Some(*certificate),
            // If the fleet's template has no such counter, places are not counted.
            Step::Capacity(_) | Step::Places(_) if answer == ReportOutcome::Unknown => {
                self.counts = false;
            }
            Step::Capacity(capacity) if !is_lost => self.reported_capacity = Some(*capacity),
            // A rejected change is noted as made. The next answers of the sidecar correct the
            // count.
            Step::Places(change) if !is_lost => self.places.made(*change),
            Step::Ready if !is_lost => {
                self.is_offered = self.is_ready;
                self.is_ready = true;
                self.empty_since = None;
            }
            _ => {}
        }
    }
}

impl Step {
    /// The request that reports this step to the sidecar.
    pub(super) fn request(&self) -> Report {
        let post = |path| Report { method: Method::POST, path, body: json!({}) };
        let put = |path, key: &str, value: &str| Report {
            method: Method::PUT,
            path,
            body: json!({ "key": key, "value": value }),
        };
        let patch = |body| Report { method: Method::PATCH, path: COUNTER, body };
        match self {
            Self::Label(key, value) => put("/metadata/label", key, value),
            Self::Annotation(key, value) => put("/metadata/annotation", key, value),
            Self::Certificate(certificate) => {
                put("/metadata/annotation", CERTIFICATE, &certificate.to_string())
            }
            // A 64-bit number is a string, as in all of protobuf's JSON. The sidecar reads only one
            // of the keys `capacity` and `countDiff` in a request.
            Self::Capacity(capacity) => patch(json!({ "capacity": capacity.to_string() })),
            Self::Places(change) => patch(json!({ "countDiff": change.by.to_string() })),
            Self::Ready => post("/ready"),
            Self::Health => post("/health"),
            Self::Shutdown => post("/shutdown"),
        }
    }
}

/// The request for the number of taken places.
pub(super) fn count_request() -> Report {
    Report { method: Method::GET, path: COUNTER, body: serde_json::Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Fingerprint = Fingerprint([1; 32]);
    const NEW: Fingerprint = Fingerprint([2; 32]);
    const EMPTY: MatchStatus = MatchStatus {
        on_time: true,
        fresh: true,
        players: 0,
        certificate: OLD,
        draining: false,
        stopping: false,
        fleet: Fleet { answers: 0, is_allocated: false, counted: None },
    };
    const PLAYING: MatchStatus = MatchStatus { players: 1, ..EMPTY };

    fn lifecycle() -> Lifecycle {
        let introduction = Introduction {
            labels: vec![("map", "arena".into())],
            annotations: vec![("map-hash", "ab".into())],
            capacity: 8,
        };
        let seconds = Duration::from_secs;
        Lifecycle::new(introduction, seconds(2), seconds(60), seconds(30))
    }

    /// All steps that are due at `seconds`, if the sidecar accepts each. *Health* is left out, and
    /// a change of the taken places is shown as its amount.
    fn due_steps(lifecycle: &mut Lifecycle, seconds: u64, seen: MatchStatus) -> Vec<String> {
        let now = Duration::from_secs(seconds);
        let mut steps = Vec::new();
        while let Some(step) = lifecycle.next(now, &seen) {
            lifecycle.done(&step, ReportOutcome::Accepted, now);
            match &step {
                Step::Health => {}
                Step::Places(change) => steps.push(format!("{:+}", change.by)),
                Step::Capacity(capacity) => steps.push(format!("of {capacity}")),
                step => steps.push(format!("{step:?}").split('(').next().unwrap().to_owned()),
            }
            if step == Step::Shutdown {
                break;
            }
        }
        steps
    }

    /// The status `seen` with an answer of the sidecar: the match is allocated, and `counted`
    /// places are taken.
    fn allocated(answers: u64, counted: u32, seen: MatchStatus) -> MatchStatus {
        MatchStatus { fleet: Fleet { answers, is_allocated: true, counted: Some(counted) }, ..seen }
    }

    #[test]
    fn a_match_from_its_first_tick_to_its_end() {
        let mut lifecycle = lifecycle();
        let starting = MatchStatus { on_time: false, ..EMPTY };
        let introduction = ["Label", "Annotation", "Certificate", "of 8"];
        assert_eq!(due_steps(&mut lifecycle, 0, starting), introduction);
        assert_eq!(due_steps(&mut lifecycle, 1, EMPTY), ["Ready"]);
        assert_eq!(due_steps(&mut lifecycle, 3, PLAYING), ["+1"]);
        assert_eq!(due_steps(&mut lifecycle, 4, EMPTY), ["-1"]);
        let stopping = MatchStatus { stopping: true, ..EMPTY };
        assert_eq!(due_steps(&mut lifecycle, 5, stopping), ["Shutdown"]);
    }

    /// A join must not allocate the server, and a leave must not end it. Otherwise a stranger who
    /// joins and leaves repeatedly would cost the fleet one server after another.
    #[test]
    fn a_join_and_a_leave_cost_no_server() {
        let mut lifecycle = lifecycle();
        due_steps(&mut lifecycle, 0, EMPTY);
        for (second, seen) in [(1, PLAYING), (2, EMPTY), (1_000, EMPTY)] {
            let steps = due_steps(&mut lifecycle, second, seen);
            assert!(steps.iter().all(|step| step.ends_with('1')), "{steps:?}");
        }
    }

    #[test]
    fn an_allocated_match_is_offered_again_when_its_players_have_gone() {
        let mut lifecycle = lifecycle();
        due_steps(&mut lifecycle, 0, EMPTY);
        let reserved = [(1, 4), (2, 4)].map(|(answers, count)| allocated(answers, count, EMPTY));
        for (second, seen) in (1..).zip(reserved) {
            assert_eq!(due_steps(&mut lifecycle, second, seen), [""; 0]);
        }
        let four = allocated(3, 4, MatchStatus { players: 4, ..EMPTY });
        assert_eq!(
            due_steps(&mut lifecycle, 10, four),
            [""; 0],
            "reserved places were counted already"
        );
        let gone = allocated(4, 4, EMPTY);
        assert_eq!(due_steps(&mut lifecycle, 100, gone), ["-4"]);
        let gone = allocated(5, 0, EMPTY);
        assert_eq!(due_steps(&mut lifecycle, 159, gone), [""; 0]);
        assert_eq!(due_steps(&mut lifecycle, 160, gone), ["Ready"]);
        assert_eq!(due_steps(&mut lifecycle, 400, gone), [""; 0], "Ready is reported only once");
        // A second allocation, whose players never come.
        let ready = Fleet { answers: 6, is_allocated: false, counted: Some(0) };
        assert_eq!(due_steps(&mut lifecycle, 401, MatchStatus { fleet: ready, ..EMPTY }), [""; 0]);
        assert_eq!(due_steps(&mut lifecycle, 402, allocated(7, 2, EMPTY)), [""; 0]);
        assert_eq!(due_steps(&mut lifecycle, 403, allocated(8, 2, EMPTY)), [""; 0]);
        assert_eq!(due_steps(&mut lifecycle, 432, allocated(9, 2, EMPTY)), [""; 0]);
        assert_eq!(due_steps(&mut lifecycle, 433, allocated(10, 2, EMPTY)), ["-2"]);
        assert_eq!(due_steps(&mut lifecycle, 493, allocated(11, 0, EMPTY)), ["Ready"]);
    }

    #[test]
    fn nobody_is_sent_to_a_match_that_drains() {
        let mut lifecycle = lifecycle();
        due_steps(&mut lifecycle, 0, PLAYING);
        let draining = MatchStatus { draining: true, ..PLAYING };
        assert_eq!(due_steps(&mut lifecycle, 1, draining), ["of 1"]);
        assert_eq!(
            due_steps(&mut lifecycle, 2, MatchStatus { players: 0, ..draining }),
            ["of 0", "-1"]
        );
        assert_eq!(
            due_steps(&mut lifecycle, 3, allocated(1, 0, MatchStatus { players: 0, ..draining })),
            [""; 0]
        );
    }

    /// If the fingerprint were reported only once, it would be outdated after twelve days. Every
    /// client that is allocated to the server would then refuse its certificate.
    #[test]
    fn a_renewed_certificate_is_told_again_until_it_is_heard() {
        let mut lifecycle = lifecycle();
        due_steps(&mut lifecycle, 0, EMPTY);
        let renewed = MatchStatus { certificate: NEW, ..EMPTY };
        let now = Duration::from_secs(1);
        for answer in [ReportOutcome::Lost, ReportOutcome::Lost, ReportOutcome::Accepted] {
            let step = lifecycle.next(now, &renewed).unwrap();
            assert_eq!(step, Step::Certificate(NEW));
            lifecycle.done(&step, answer, now);
        }
        assert_eq!(lifecycle.next(now, &renewed), None);
    }

    #[test]
    fn a_stuck_tick_is_silent() {
        let mut lifecycle = lifecycle();
        due_steps(&mut lifecycle, 0, PLAYING);
        let stuck = MatchStatus { fresh: false, ..PLAYING };
        assert_eq!(lifecycle.next(Duration::from_secs(10), &stuck), None);
        assert_eq!(lifecycle.next(Duration::from_secs(11), &PLAYING), Some(Step::Health));
    }

    #[test]
    fn unheard_reports_are_repeated_and_health_no_oftener() {
        let mut lifecycle = lifecycle();
        let now = Duration::ZERO;
        let health = lifecycle.next(now, &EMPTY).unwrap();
        lifecycle.done(&health, ReportOutcome::Lost, now);
        let label = lifecycle.next(now, &EMPTY).unwrap();
        lifecycle.done(&label, ReportOutcome::Lost, now);
        assert_eq!(lifecycle.next(now, &EMPTY), Some(label));
    }

    #[test]
    fn a_fleet_without_the_counter_is_no_obstacle() {
        let mut lifecycle = lifecycle();
        let now = Duration::ZERO;
        let mut last = None;
        while let Some(step) = lifecycle.next(now, &EMPTY) {
            let is_unknown = matches!(step, Step::Capacity(_) | Step::Places(_));
            lifecycle.done(
                &step,
                if is_unknown { ReportOutcome::Unknown } else { ReportOutcome::Accepted },
                now,
            );
            last = Some(step);
        }
        assert_eq!(last, Some(Step::Ready));
        assert_eq!(due_steps(&mut lifecycle, 1, PLAYING), [""; 0]);
    }
}
