//! The effects of the latest ticks, for clients that are not sent a snapshot of each tick.

use std::sync::Arc;

use obsp_game::Event;
use obsp_proto::Tick;
use obsp_proto::effects::{MAX_SPAN, TickEffects};

use crate::matches::tick_thread::published::PublishedState;

/// The effects of some ticks, in ascending order.
pub(crate) type TicksEffects = Arc<[Arc<TickEffects>]>;

/// The effects of the latest ticks of a level.
#[derive(Debug, Default)]
pub(crate) struct RecentEffects {
    /// The number of the level.
    level: u64,
    ticks: TicksEffects,
}

impl RecentEffects {
    /// Adds the effects of a tick, and forgets the effects of ticks so old that no datagram could
    /// hold both.
    pub(crate) fn note(&mut self, published: &PublishedState) {
        let Some(tick) = Tick::from_simulation(published.state.tick) else { return };
        let is_kept = |of: &&Arc<TickEffects>| {
            published.level.number == self.level && tick.distance(of.tick) <= MAX_SPAN.into()
        };
        let effects: Vec<_> = published.events.iter().filter_map(Event::effect).collect();
        let kept = self.ticks.iter().filter(is_kept);
        if !effects.is_empty() || kept.clone().count() < self.ticks.len() {
            let new = (!effects.is_empty()).then(|| Arc::new(TickEffects { tick, effects }));
            self.ticks = kept.cloned().chain(new).collect();
        }
        self.level = published.level.number;
    }

    /// The effects, for all clients.
    pub(crate) fn ticks(&self) -> TicksEffects {
        Arc::clone(&self.ticks)
    }
}
