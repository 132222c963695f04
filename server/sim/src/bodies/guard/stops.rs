//! Moving bodies stop one after the other, in order of time.
//!
//! The earliest pair that meets is decided first, because nothing stops its bodies before they
//! meet. Both bodies stop where they meet. From that time on, bodies near the two are followed past
//! them as past standing bodies. So each body stops once, and no body is stopped by another body's
//! motion that is not completed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrayvec::ArrayVec;

use super::advance::{MovingBody, MovingPair, reversed};
use crate::bodies::blocker::Blocker;
use crate::collision::cascade::{LastPlane, Reversed};
use crate::collision::time_of_impact::{Impact, TimeOfImpact};
use crate::context::StepContext;
use crate::counters::Counters;

/// Minimum number of moving bodies of a thread's share.
const MIN_BODIES: usize = 32;

/// Stops the bodies of `pairs` where they meet each other. Each [`MovingBody`] already holds its
/// earliest stop at a body that stands.
pub(super) fn stop_in_order<P: LastPlane + Sync>(
    movers: &mut [MovingBody],
    pairs: &[MovingPair<P>],
    context: &mut StepContext,
) {
    let mut queue = Queue::default();
    for (index, mover) in movers.iter().enumerate().filter(|(_, mover)| mover.stop_time < 1.0) {
        queue.add(mover.stop_time, Event::Standing(index));
    }
    for pair in pairs.iter().filter(|pair| pair.time_of_impact == TimeOfImpact::Overlapping) {
        pair.movers.into_iter().for_each(|mover| movers[mover].overlapping = true);
    }
    let mut meetings: Vec<_> =
        pairs.iter().map(|pair| Meeting::of(pair, pair.time_of_impact, 0.0, movers)).collect();
    for (index, meeting) in meetings.iter().enumerate() {
        queue.add_meeting(index, meeting.as_ref());
    }
    if queue.events.is_empty() {
        return;
    }
    let pairs_of = PairsOfMovers::new(movers.len(), pairs);
    let ahead = run_ahead(movers, pairs, &meetings, &pairs_of, context);
    let mut has_stopped = vec![false; movers.len()];
    while let Some((time, event)) = queue.next() {
        let stopping: &[usize] = match &event {
            Event::Standing(index) => std::slice::from_ref(index),
            // An event with another time is out of date: one of the two bodies has stopped since,
            // and the pair was tested again.
            Event::Pair(index) => match meetings[*index].filter(|meeting| meeting.time == time) {
                Some(meeting) => stop_both(movers, &pairs[*index].movers, meeting, &has_stopped),
                None => continue,
            },
        };
        let stopping: ArrayVec<usize, 2> =
            stopping.iter().copied().filter(|&mover| !has_stopped[mover]).collect();
        stopping.iter().for_each(|&mover| has_stopped[mover] = true);
        for (mover, &index) in
            stopping.iter().flat_map(|&mover| pairs_of.list(mover).iter().map(move |i| (mover, i)))
        {
            let pair = &pairs[index as usize];
            let other = pair.other(mover);
            let span = (time, movers[other].stop_time);
            if has_stopped[other] || span.0 >= span.1 {
                continue;
            }
            let time_of_impact = match ahead.get(index, mover, span) {
                Some(known) => {
                    context.counters.add_earlier(&known.counters);
                    known.time_of_impact
                }
                None => pair.first_impact_with_stopped(movers, mover, span, context),
            };
            let meeting = Meeting::of(pair, time_of_impact, time, movers);
            queue.add_meeting(index as usize, meeting.as_ref());
            meetings[index as usize] = meeting;
        }
    }
}

/// Stops two bodies where they meet, unless they have stopped before. Returns both.
fn stop_both<'a>(
    movers: &mut [MovingBody],
    both: &'a [usize; 2],
    meeting: Meeting,
    has_stopped: &[bool],
) -> &'a [usize] {
    let &[a, b] = both;
    for (mover, other, is_first) in [(a, b, true), (b, a, false)] {
        if !has_stopped[mover] {
            let blocker = Blocker::Entity(movers[other].slot);
            movers[mover].stop_at(blocker, meeting, is_first);
        }
    }
    both
}

/// The test of a body against a second body that will probably stop. It is run before the stop is
/// certain.
struct Ahead {
    stopped: usize,
    span: (f64, f64),
    time_of_impact: TimeOfImpact,
    counters: Counters,
}

/// All tests that were run ahead of time.
#[derive(Default)]
struct AllAhead {
    list: Vec<Ahead>,
    /// For each pair: index of its test in the list; [`NONE`] if no test was run.
    of_pair: Vec<u32>,
}

/// The entry of a pair for which no test was run.
const NONE: u32 = u32::MAX;

impl AllAhead {
    /// The test of the pair with this index within `span`, while the body `stopped` stands. `None`
    /// if it was not run ahead of time.
    fn get(&self, pair: u32, stopped: usize, span: (f64, f64)) -> Option<&Ahead> {
        let index = *self.of_pair.get(pair as usize)?;
        let known = self.list.get(index as usize)?;
        (known.stopped == stopped && known.span == span).then_some(known)
    }
}

/// For each body that will probably stop, tests how far its neighbours get before they meet it. All
/// threads run these tests ahead of time, because a single thread decides which bodies stop. The
/// result is empty if there are no other threads.
fn run_ahead<P: LastPlane + Sync>(
    movers: &[MovingBody],
    pairs: &[MovingPair<P>],
    meetings: &[Option<Meeting>],
    pairs_of: &PairsOfMovers,
    context: &StepContext,
) -> AllAhead {
    if !context.threads.are_gathered() {
        return AllAhead::default();
    }
    let mut stops: Vec<f64> = movers.iter().map(|mover| mover.stop_time).collect();
    for (pair, meeting) in pairs.iter().zip(meetings) {
        for mover in pair.movers {
            let time = meeting.map_or(1.0, |meeting| meeting.time);
            stops[mover] = stops[mover].min(time);
        }
    }
    let shares = context.threads.in_shares(movers.len(), MIN_BODIES, |range| {
        let mut found = Vec::new();
        for stopped in range.filter(|&mover| stops[mover] < 1.0) {
            for &index in pairs_of.list(stopped) {
                let pair = &pairs[index as usize];
                let other = pair.other(stopped);
                let span = (stops[stopped], movers[other].stop_time);
                if stops[other] > span.0 && span.0 < span.1 {
                    let mut context = context.share();
                    let time_of_impact =
                        pair.first_impact_with_stopped(movers, stopped, span, &mut context);
                    let counters = context.counters;
                    found.push((index, Ahead { stopped, span, time_of_impact, counters }));
                }
            }
        }
        found
    });
    let mut all = AllAhead { list: Vec::new(), of_pair: vec![NONE; pairs.len()] };
    for (pair, ahead) in shares.into_iter().flatten() {
        all.of_pair[pair as usize] = all.list.len() as u32;
        all.list.push(ahead);
    }
    all
}

/// Where two moving bodies meet.
#[derive(Clone, Copy)]
struct Meeting {
    time: f64,
    /// The impact, with the axis from the first to the second. `None` if the two bodies overlap.
    /// Two bodies that were proven apart overlap only by rounding.
    impact: Option<Impact>,
}

impl Meeting {
    /// The meeting of a pair whose test from the time `from` on gave `time_of_impact`. `None` if
    /// the two do not meet.
    fn of<P>(
        pair: &MovingPair<P>,
        time_of_impact: TimeOfImpact,
        from: f64,
        movers: &[MovingBody],
    ) -> Option<Self> {
        match time_of_impact {
            TimeOfImpact::Free => None,
            TimeOfImpact::Blocked(impact) => {
                let time = (impact.time - pair.extra_margin_time(movers)).max(from);
                Some(Self { time, impact: Some(impact) })
            }
            TimeOfImpact::Overlapping => Some(Self { time: from, impact: None }),
        }
    }
}

impl MovingBody<'_> {
    /// Stops the body where it meets `blocker`. `is_first` says whether this body is the first body
    /// of the meeting.
    fn stop_at(&mut self, blocker: Blocker, meeting: Meeting, is_first: bool) {
        let Meeting { time, impact } = meeting;
        self.stop_time = time;
        self.stop = impact.map(|impact| {
            let axis = if is_first { impact.axis } else { -impact.axis };
            (blocker, Impact { axis, ..impact })
        });
    }
}

impl<P: LastPlane> MovingPair<P> {
    /// How far the other body gets within `span` before it meets `stopped`, which stands from the
    /// beginning of the span. The axis is from the first body to the second.
    fn first_impact_with_stopped(
        &self,
        movers: &[MovingBody],
        stopped: usize,
        span: (f64, f64),
        context: &mut StepContext,
    ) -> TimeOfImpact {
        let early = &movers[stopped];
        let late = &movers[self.other(stopped)];
        let standing = early.body.stopped(early.body.motion.at(span.0));
        let approach = late.since_search.approach(early.since_search, span, true);
        let (bodies, planes) = ([&late.body, &standing], self.planes);
        if stopped == self.movers[1] {
            return self.test.first_impact(bodies, span, planes, approach, context);
        }
        reversed(self.test.first_impact(bodies, span, Reversed(planes), approach, context))
    }
}

/// The pairs of each moving body, by index.
struct PairsOfMovers {
    /// Start of each body's list, and the end of the last list.
    starts: Vec<u32>,
    lists: Vec<u32>,
}

impl PairsOfMovers {
    fn new<P>(movers: usize, pairs: &[MovingPair<P>]) -> Self {
        let mut starts = vec![0; movers + 1];
        for &mover in pairs.iter().flat_map(|pair| &pair.movers) {
            starts[mover + 1] += 1;
        }
        for index in 0..movers {
            starts[index + 1] += starts[index];
        }
        let (mut next, mut lists) = (starts.clone(), vec![0; 2 * pairs.len()]);
        for (index, pair) in pairs.iter().enumerate() {
            for mover in pair.movers {
                lists[next[mover] as usize] = index as u32;
                next[mover] += 1;
            }
        }
        Self { starts, lists }
    }

    fn list(&self, mover: usize) -> &[u32] {
        &self.lists[self.starts[mover] as usize..self.starts[mover + 1] as usize]
    }
}

/// An event of the queue: a moving body stops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The mover with this index meets a body that stands.
    Standing(usize),
    /// The two movers of the pair with this index meet.
    Pair(usize),
}

/// Events, the earliest first.
#[derive(Default)]
struct Queue {
    /// Ordered by the bits of their times. This is also the order of the times, because no time is
    /// below zero.
    events: BinaryHeap<Reverse<(u64, Event)>>,
}

impl Queue {
    fn add(&mut self, time: f64, event: Event) {
        // Adding zero turns a negative zero into a positive one.
        self.events.push(Reverse(((time + 0.0).to_bits(), event)));
    }

    fn add_meeting(&mut self, pair: usize, meeting: Option<&Meeting>) {
        if let Some(meeting) = meeting {
            self.add(meeting.time, Event::Pair(pair));
        }
    }

    fn next(&mut self) -> Option<(f64, Event)> {
        let Reverse((time, event)) = self.events.pop()?;
        Some((f64::from_bits(time), event))
    }
}
