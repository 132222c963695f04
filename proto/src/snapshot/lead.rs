//! How early commands arrive.

/// The time from the arrival of a player's commands to their ticks: the smallest lead of the latest
/// commands, in quarters of a tick. It is negative if a command arrives too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lead(i8);

/// Maximum magnitude of a lead, in quarters of a tick. It also stands for every greater lead.
const LIMIT: f64 = 127.0;

impl Lead {
    /// The lead nearest to this many ticks, clamped to ±31.75.
    pub fn from_ticks(ticks: f64) -> Self {
        // `as` turns NaN into 0. The lead is rounded down, because too late is the safer
        // assumption.
        Self((ticks * 4.0).floor().clamp(-LIMIT, LIMIT) as i8)
    }

    /// The lead in ticks.
    pub fn ticks(self) -> f64 {
        f64::from(self.0) / 4.0
    }

    /// The lead in quarters of a tick, within ±127.
    pub(super) fn quarters(self) -> i8 {
        self.0
    }

    /// Whether this value stands for all leads of at least this magnitude.
    pub fn is_at_limit(self) -> bool {
        f64::from(self.0).abs() >= LIMIT
    }

    /// The lead of this many quarters of a tick; `None` if it is out of range.
    pub(super) fn from_quarters(quarters: i32) -> Option<Self> {
        i8::try_from(quarters).ok().filter(|&quarters| quarters != i8::MIN).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_survive_encoding() {
        for ticks in [-1000.0, -31.75, -0.25, 0.0, 1.25, 31.75, 1000.0, f64::NAN] {
            let lead = Lead::from_ticks(ticks);
            assert_eq!(Lead::from_quarters(lead.quarters().into()), Some(lead));
        }
        assert_eq!((Lead::from_quarters(-128), Lead::from_quarters(128)), (None, None));
        assert_eq!(Lead::from_ticks(1.3).ticks(), 1.25);
        assert_eq!(Lead::from_ticks(-0.1).ticks(), -0.25);
    }
}
