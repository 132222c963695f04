use crate::Tick;
use crate::quantise::QuantisedEntity;
use crate::snapshot::BASELINES_KEPT;

/// What a client has been told of one slot: the latest values, by tick.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Ascending; `None` where the slot was empty. The last of them count; those
    /// before wait until it is worth the while to move all the others.
    values: Vec<(Tick, Option<QuantisedEntity>)>,
}

impl History {
    /// Adds what the slot held at a tick not told of before. If there are too
    /// many, the oldest goes.
    pub(super) fn insert(&mut self, tick: Tick, value: Option<QuantisedEntity>) {
        let place = self.values.len() - self.values().len() + self.until_index(tick);
        self.values.insert(place, (tick, value));
        if self.values.len() >= 2 * BASELINES_KEPT {
            self.values.drain(..BASELINES_KEPT);
        }
    }

    /// How many of the values are of `tick` or before. What is asked for is
    /// among the latest, and the rest is not in the processor's cache.
    pub(super) fn until_index(&self, tick: Tick) -> usize {
        let later = self.values().iter().rev().take_while(|&&(at, _)| at > tick);
        self.values().len() - later.count()
    }

    /// What the slot was told to hold at exactly this tick.
    pub(super) fn at(&self, tick: Tick) -> Option<&QuantisedEntity> {
        let (at, value) = &self.values()[self.until_index(tick).checked_sub(1)?];
        value.as_ref().filter(|_| *at == tick)
    }

    /// What the slot was last told to hold until this tick, and when.
    pub(super) fn until(&self, tick: Tick) -> Option<(Tick, &QuantisedEntity)> {
        let (at, value) = &self.values()[self.until_index(tick).checked_sub(1)?];
        Some((*at, value.as_ref()?))
    }

    /// What the slot holds as far as is known.
    pub(super) fn latest(&self) -> Option<&QuantisedEntity> {
        self.values.last()?.1.as_ref()
    }

    /// All values, the oldest first.
    pub(super) fn values(&self) -> &[(Tick, Option<QuantisedEntity>)] {
        &self.values[self.values.len().saturating_sub(BASELINES_KEPT)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantise::QuantisedBody;

    #[test]
    fn the_latest_values_stay_in_order_whatever_comes_late() {
        let body = QuantisedBody::Player { posture: sim::Posture::Standing, yaw: 0 };
        let value = |generation| {
            let (position, velocity) = ([0; 3], [0; 3]);
            Some(QuantisedEntity { generation, position, velocity, asleep: false, body })
        };
        let mut history = History::default();
        for tick in (10..42).rev() {
            history.insert(Tick(tick), value(tick as u16));
        }
        assert_eq!(history.latest(), value(41).as_ref());
        assert_eq!(history.at(Tick(10)), value(10).as_ref());
        // Full, and older than all: it goes at once.
        history.insert(Tick(5), value(5));
        assert_eq!((history.at(Tick(5)), history.at(Tick(10))), (None, value(10).as_ref()));
        history.insert(Tick(50), None);
        assert_eq!((history.at(Tick(10)), history.latest()), (None, None));
        assert_eq!(history.values().len(), BASELINES_KEPT);
    }
}
