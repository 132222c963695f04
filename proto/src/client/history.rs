//! The latest values of one slot, or of the match, that a client has received.

use crate::Tick;
use crate::quantise::QuantisedEntity;
use crate::snapshot::BASELINES_KEPT;

/// The latest values of one slot, by tick.
#[derive(Clone, Debug)]
pub(super) struct History<T = QuantisedEntity> {
    /// The values in ascending order of tick; `None` where the slot was empty. Only the last
    /// [`BASELINES_KEPT`] are used. Older ones are kept until there are enough of them to be
    /// removed together.
    values: Vec<(Tick, Option<T>)>,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

impl<T> History<T> {
    /// Adds the value of a tick that is not in the history yet. If there are too many,
    /// the oldest is dropped.
    pub(super) fn insert(&mut self, tick: Tick, value: Option<T>) {
        let place = self.values.len() - self.values().len() + self.until_index(tick);
        self.values.insert(place, (tick, value));
        if self.values.len() >= 2 * BASELINES_KEPT {
            self.values.drain(..BASELINES_KEPT);
        }
    }

    /// The number of values of `tick` or before. The search begins at the end, because queries are
    /// about recent ticks, and older values are not in the processor's cache.
    pub(super) fn until_index(&self, tick: Tick) -> usize {
        let later = self.values().iter().rev().take_while(|&&(at, _)| at > tick);
        self.values().len() - later.count()
    }

    /// The value received for exactly this tick.
    pub(super) fn at(&self, tick: Tick) -> Option<&T> {
        let (at, value) = &self.values()[self.until_index(tick).checked_sub(1)?];
        value.as_ref().filter(|_| *at == tick)
    }

    /// The latest value of `tick` or before, with its tick.
    pub(super) fn until(&self, tick: Tick) -> Option<(Tick, &T)> {
        let (at, value) = &self.values()[self.until_index(tick).checked_sub(1)?];
        Some((*at, value.as_ref()?))
    }

    /// The latest value.
    pub(super) fn latest(&self) -> Option<&T> {
        self.values.last()?.1.as_ref()
    }

    /// All values, the oldest first.
    pub(super) fn values(&self) -> &[(Tick, Option<T>)] {
        &self.values[self.values.len().saturating_sub(BASELINES_KEPT)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantise::{QuantisedBody, QuantisedTraits};
    use crate::schema::FieldValues;

    #[test]
    fn the_latest_values_stay_in_order_however_late_they_arrive() {
        let body = QuantisedBody::Player { posture: obsp_sim::Posture::Standing, yaw: 0 };
        let value = |generation| {
            let (position, velocity) = ([0; 3], [0; 3]);
            let values = FieldValues::default();
            let traits = QuantisedTraits::DEFAULT;
            let asleep = false;
            Some(QuantisedEntity { generation, position, velocity, asleep, body, values, traits })
        };
        let mut history = History::default();
        for tick in (10..42).rev() {
            history.insert(Tick(tick), value(tick as u16));
        }
        assert_eq!(history.latest(), value(41).as_ref());
        assert_eq!(history.at(Tick(10)), value(10).as_ref());
        // The history is full, and this value is older than all others, so it is dropped at once.
        history.insert(Tick(5), value(5));
        assert_eq!((history.at(Tick(5)), history.at(Tick(10))), (None, value(10).as_ref()));
        history.insert(Tick(50), None);
        assert_eq!((history.at(Tick(10)), history.latest()), (None, None));
        assert_eq!(history.values().len(), BASELINES_KEPT);
    }
}
