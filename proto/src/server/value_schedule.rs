//! Chooses the snapshots that carry the values of the match, or of the client's own player.

use std::num::NonZeroU16;

use crate::Tick;
use crate::schema::FieldValues;
use crate::snapshot::{BASELINES_KEPT, ValueBlock};

/// How many times a second values that change all the time are sent.
const RATE: u16 = 20;

/// Decides which snapshots carry one set of values, and which earlier values are their baseline.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ValueSchedule {
    /// The values sent last, with their tick.
    sent: Option<(Tick, FieldValues)>,
    /// The latest values known to have arrived, with their tick.
    arrived: Option<(Tick, FieldValues)>,
    /// Upper bound for the number of sends since the latest values that arrived.
    sends: usize,
}

impl ValueSchedule {
    /// Takes the values to be sent at `tick`, if they are due. `acknowledged` is the latest
    /// snapshot known to have arrived.
    pub(super) fn take_due(
        &mut self,
        tick: Tick,
        values: FieldValues,
        acknowledged: Option<Tick>,
        tick_rate: NonZeroU16,
    ) -> Option<ValueBlock> {
        // A client without values assumes the least value of every field.
        let last = self.sent.map_or(FieldValues::NONE, |(_, values)| values);
        let is_lost = self.sent.is_some_and(|(sent, _)| {
            acknowledged.is_some_and(|acknowledged| sent <= acknowledged)
                && self.arrived.is_none_or(|(arrived, _)| arrived < sent)
        });
        let interval = i64::from((tick_rate.get() / RATE).max(1));
        let is_soon = self.sent.is_some_and(|(sent, _)| tick.distance(sent) < interval);
        if (values == last && !is_lost) || is_soon {
            return None;
        }
        self.sent = Some((tick, values));
        self.sends += 1;
        let known = self.arrived.filter(|_| self.sends < BASELINES_KEPT);
        let known = known.and_then(|(arrived, baseline)| {
            Some((u8::try_from(tick.distance(arrived)).ok()?, baseline))
        });
        let (age, baseline) = known.unwrap_or((0, FieldValues::NONE));
        Some(ValueBlock { values, age, baseline })
    }

    /// Records that the values sent at `tick` have arrived.
    pub(super) fn on_arrival(&mut self, tick: Tick, values: FieldValues) {
        if self.arrived.is_none_or(|(arrived, _)| arrived < tick) {
            self.arrived = Some((tick, values));
            // The number of later values under way is at most `sends`, so `sends` is kept.
            self.sends =
                if self.sent.is_some_and(|(sent, _)| sent == tick) { 0 } else { self.sends };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Field;

    const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

    fn values(value: i64) -> FieldValues {
        let fields = [Field::new("a", 0, 100)];
        let mut values = FieldValues::default();
        values.set(&fields, &fields[0], value);
        values
    }

    #[test]
    fn values_are_sent_when_they_change_and_again_when_they_are_lost() {
        let mut schedule = ValueSchedule::default();
        let due = |schedule: &mut ValueSchedule, tick, value, acknowledged: Option<u32>| {
            let block = schedule.take_due(Tick(tick), values(value), acknowledged.map(Tick), RATE);
            block.map(|block| block.age)
        };
        assert_eq!(
            due(&mut schedule, 1, 0, None),
            None,
            "values that are still the least are not \
            sent"
        );
        assert_eq!(due(&mut schedule, 2, 5, None), Some(0));
        assert_eq!(due(&mut schedule, 3, 6, None), None, "too soon");
        assert_eq!(due(&mut schedule, 5, 6, None), Some(0));
        schedule.on_arrival(Tick(5), values(6));
        assert_eq!(due(&mut schedule, 20, 6, Some(19)), None, "known");
        assert_eq!(due(&mut schedule, 25, 7, Some(24)), Some(20));
        assert_eq!(due(&mut schedule, 29, 7, Some(24)), None, "under way");
        assert_eq!(due(&mut schedule, 30, 7, Some(26)), Some(25), "lost");
        assert_eq!(due(&mut schedule, 300, 8, Some(26)), Some(0), "the baseline is too old");
    }
}
