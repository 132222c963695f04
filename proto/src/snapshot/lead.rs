/// How long before their ticks a player's commands arrive: the least of the
/// latest ones, in quarters of a tick. Negative if they come too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lead(i8);

/// What the wire says where there is no lead.
const NONE: i8 = i8::MIN;

/// Quarters of a tick farther than which nobody needs to look: 32 ticks.
const LIMIT: f64 = 127.0;

impl Lead {
    /// The lead nearest to this many ticks; 31.75 at most, early or late.
    pub fn from_ticks(ticks: f64) -> Self {
        // `as` makes 0 of a NaN. Rounded down: better to think too late.
        Self((ticks * 4.0).floor().clamp(-LIMIT, LIMIT) as i8)
    }

    /// The lead in ticks.
    pub fn ticks(self) -> f64 {
        f64::from(self.0) / 4.0
    }

    pub(super) fn to_byte(lead: Option<Self>) -> u8 {
        lead.map_or(NONE, |lead| lead.0) as u8
    }

    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        let quarters = byte as i8;
        (quarters != NONE).then_some(Self(quarters))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_survive_a_byte() {
        for ticks in [-1000.0, -31.75, -0.25, 0.0, 1.25, 31.75, 1000.0, f64::NAN] {
            let lead = Some(Lead::from_ticks(ticks));
            assert_eq!(Lead::from_byte(Lead::to_byte(lead)), lead);
        }
        assert_eq!(Lead::from_byte(Lead::to_byte(None)), None);
        assert_eq!(Lead::from_ticks(1.3).ticks(), 1.25);
        assert_eq!(Lead::from_ticks(-0.1).ticks(), -0.25);
    }
}
