//! Acknowledgements of snapshots.

use crate::Tick;

/// Number of ticks before the latest one that an acknowledgement covers.
pub const WINDOW: u32 = u32::BITS;

/// The snapshots that a client has decoded. The client repeats the acknowledgement with every
/// command, so a snapshot stays unacknowledged only if half a second of commands is lost.
///
/// ```
/// use obsp_proto::Tick;
/// use obsp_proto::commands::Acknowledgement;
///
/// let mut acknowledgement = Acknowledgement::of(Tick(100));
/// acknowledgement.add(Tick(102));
/// assert!(acknowledgement.contains(Tick(100)) && !acknowledgement.contains(Tick(101)));
/// let ticks: Vec<Tick> = acknowledgement.ticks().collect();
/// assert_eq!(ticks, [Tick(102), Tick(100)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The latest acknowledged tick.
    pub latest: Tick,
    /// Bit `n` stands for the tick `n + 1` before the latest.
    pub before: u32,
}

impl Acknowledgement {
    /// The acknowledgement of one snapshot.
    pub fn of(tick: Tick) -> Self {
        Self { latest: tick, before: 0 }
    }

    /// Adds a snapshot, unless it is too old to be covered.
    pub fn add(&mut self, tick: Tick) {
        let newer = tick.distance(self.latest);
        if newer > 0 {
            let shifted = (u64::from(self.before) << 1 | 1).checked_shl(newer as u32 - 1);
            self.before = if newer <= i64::from(WINDOW) { shifted.unwrap_or(0) as u32 } else { 0 };
            self.latest = tick;
        } else if let Some(bit) = self.bit(tick) {
            self.before |= bit;
        }
    }

    /// Whether a snapshot is acknowledged.
    pub fn contains(&self, tick: Tick) -> bool {
        tick == self.latest || self.bit(tick).is_some_and(|bit| self.before & bit != 0)
    }

    /// Whether a snapshot is too old to be covered.
    pub fn is_beyond(&self, tick: Tick) -> bool {
        self.latest.distance(tick) > i64::from(WINDOW)
    }

    /// All acknowledged ticks, the latest first.
    pub fn ticks(&self) -> impl Iterator<Item = Tick> {
        let Self { latest, before } = *self;
        let earlier = (0..WINDOW).filter(move |n| before >> n & 1 == 1);
        std::iter::once(latest).chain(earlier.filter_map(move |n| latest.before(n + 1)))
    }

    fn bit(&self, tick: Tick) -> Option<u32> {
        let older = self.latest.distance(tick);
        (1..=i64::from(WINDOW)).contains(&older).then(|| 1 << (older - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_the_latest_and_32_before() {
        let mut acknowledgement = Acknowledgement::of(Tick(100));
        for tick in [99, 101, 105, 68, 72, 73, 104, 140, 200, 232] {
            acknowledgement.add(Tick(tick));
            assert!(acknowledgement.contains(Tick(tick)) || acknowledgement.is_beyond(Tick(tick)));
        }
        let ticks: Vec<u32> = acknowledgement.ticks().map(|tick| tick.0).collect();
        assert_eq!(ticks, [232, 200]);
        assert!(acknowledgement.is_beyond(Tick(199)));
        acknowledgement.add(Tick(201));
        acknowledgement.add(Tick(231));
        acknowledgement.add(Tick(233));
        let ticks: Vec<u32> = acknowledgement.ticks().map(|tick| tick.0).collect();
        assert_eq!(ticks, [233, 232, 231, 201]);
        assert!(!acknowledgement.contains(Tick(234)));
    }
}
