//! The queue of chat lines for one listener, whose budget pays for them. The oldest are dropped
//! first.

use std::collections::VecDeque;
use std::time::Instant;

use obsp_proto::Tick;
use obsp_proto::control::MatchEvent;
use obsp_sim::EntityId;

use crate::common::token_bucket::{Rate, TokenBucket};

/// At most this many lines wait for one listener. Nobody reads more than a screen.
const MOST_LINES: usize = 16;

/// Bytes of a line beside its text: the frame, the tick, the speaker.
const OVERHEAD: usize = 16;

/// Share of a listener's budget that chat may take.
const SHARE: f64 = 0.25;

/// Chat may use up its share of this many seconds at once.
const BURST: f64 = 2.0;

/// The chat lines that one listener has not been sent yet. If the listener's line or budget does
/// not carry all of them, the oldest are dropped. So chat by others never disconnects a listener,
/// and never costs the listener snapshots.
pub(crate) struct ChatQueue {
    waiting: VecDeque<(Tick, MatchEvent)>,
    rate: Rate,
    spent: TokenBucket,
}

impl ChatQueue {
    /// The queue of a listener who is sent at most `budget` bytes a second.
    pub(crate) fn new(budget: u32, now: Instant) -> Self {
        let per_second = f64::from(budget) * SHARE;
        let rate = Rate { per_second, burst: per_second * BURST };
        Self { waiting: VecDeque::new(), rate, spent: TokenBucket::full(now) }
    }

    /// Adds a line. Returns true if an older one was dropped for it.
    pub(crate) fn push(&mut self, tick: Tick, said: MatchEvent) -> bool {
        self.waiting.push_back((tick, said));
        let sheds = self.waiting.len() > MOST_LINES;
        if sheds {
            self.waiting.pop_front();
        }
        sheds
    }

    /// Removes the lines of a speaker who has left, because clients no longer know the name.
    /// Returns how many there were.
    pub(crate) fn forget(&mut self, speaker: EntityId) -> usize {
        let before = self.waiting.len();
        self.waiting.retain(
            |(_, said)| !matches!(said, MatchEvent::Said { player, .. } if *player == speaker),
        );
        before - self.waiting.len()
    }

    /// The oldest line, if the listener's budget carries it now.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Tick, MatchEvent)> {
        let (_, said) = self.waiting.front()?;
        let text = match said {
            MatchEvent::Said { line, .. } => line.as_str().len(),
            _ => 0,
        };
        // A line costs at most the burst, so that even the longest line is sent after a while with
        // any budget.
        let bytes = ((text + OVERHEAD) as f64).min(self.rate.burst);
        self.spent.take(self.rate, bytes, now).then(|| self.waiting.pop_front()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use obsp_proto::control::ChatLine;

    use super::*;

    const SPEAKER: EntityId = EntityId { slot: 3, generation: 1 };

    fn said(text: &str) -> MatchEvent {
        MatchEvent::Said { player: SPEAKER, line: ChatLine::new(text).unwrap() }
    }

    #[test]
    fn a_slow_listener_misses_the_oldest_lines_first() {
        let now = Instant::now();
        let mut queue = ChatQueue::new(16_000, now);
        let shed = (0..100).filter(|n| queue.push(Tick(*n), said("hello"))).count();
        assert_eq!(shed, 100 - MOST_LINES);
        let told: Vec<_> = std::iter::from_fn(|| queue.pop(now)).map(|(tick, _)| tick.0).collect();
        assert_eq!(told, (84..100).collect::<Vec<_>>());
    }

    #[test]
    fn speech_takes_a_quarter_of_the_budget_at_most() {
        let begin = Instant::now();
        let mut queue = ChatQueue::new(1000, begin);
        let text = "x".repeat(84);
        let mut lines = 0;
        for second in 0..60 {
            (0..MOST_LINES).for_each(|_| _ = queue.push(Tick(0), said(&text)));
            let now = begin + Duration::from_secs(second);
            lines += std::iter::from_fn(|| queue.pop(now)).count();
        }
        // The budget carries 250 bytes a second for a minute, and half a kilobyte at once.
        assert!((145..=155).contains(&lines), "{lines}");
    }

    #[test]
    fn the_longest_line_passes_the_least_budget() {
        let now = Instant::now();
        let mut queue = ChatQueue::new(1000, now);
        queue.push(Tick(0), said(&"\u{1F600}".repeat(160)));
        assert!(queue.pop(now).is_some());
    }

    #[test]
    fn a_player_who_left_is_not_quoted() {
        let mut queue = ChatQueue::new(16_000, Instant::now());
        queue.push(Tick(1), said("bye"));
        assert_eq!(queue.forget(SPEAKER), 1);
        assert!(queue.pop(Instant::now()).is_none());
    }
}
