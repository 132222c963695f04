//! The state of the match that the tick thread publishes after each tick. It never changes, and
//! other threads read from it all that they need of the match.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use obsp::geometry::Aabb;
use obsp_proto::effects::Effect;
use obsp_proto::schema::MatchValues;
use obsp_proto::server::{JitterStats, OwnPlayer};
use obsp_sim::{AwakeReason, Contact, Counters, EntityId, State};
use tokio::sync::{broadcast, watch};

use crate::matches::level::Level;

/// The match after a tick.
#[derive(Clone, Debug)]
pub(crate) struct PublishedState {
    /// The level that is played.
    pub(crate) level: Arc<Level>,
    /// The state of the simulation. Its tick numbers continue from level to level.
    pub(crate) state: State,
    /// Bodies that have pockets: boxes in which the static world does not stop them.
    pub(crate) pockets: Vec<(EntityId, Aabb)>,
    /// The values of the game's own fields.
    pub(crate) values: MatchValues,
    /// The part of each player's snapshot that is for that player alone.
    pub(crate) players: Vec<PlayerUpdate>,
    /// Events of the tick; most often none.
    pub(crate) events: Box<[obsp_game::Event]>,
    /// Points at which props touch something, if a page has subscribed to them.
    pub(crate) contacts: Option<Box<[Contact]>>,
    /// The slots of the bodies that are awake, and why, if a page has subscribed to contacts
    /// or to the cascade.
    pub(crate) awake_because: Option<Box<[(u16, AwakeReason)]>>,
    /// Counters of the simulation, through all levels.
    pub(crate) counters: Counters,
    /// Players who are stuck, as
    /// [`StuckWatch`](crate::matches::tick_thread::stuck::StuckWatch) defines it.
    pub(crate) stuck_players: usize,
    /// Outcomes of the players' commands so far.
    pub(crate) commands: JitterStats,
    /// When the tick was simulated.
    pub(crate) simulated: Instant,
}

/// The part of a snapshot about the client's own player.
#[derive(Clone, Debug)]
pub(crate) struct PlayerUpdate {
    pub(crate) player: EntityId,
    pub(crate) own: OwnPlayer,
}

pub(crate) type LatestState = watch::Receiver<Arc<PublishedState>>;

/// Each state in order; a receiver that falls behind misses some.
pub(crate) type PublishedStates = broadcast::Receiver<Arc<PublishedState>>;

/// States that may wait for a receiver of [`PublishedStates`]: more than a late tick thread catches
/// up at once.
pub(crate) const STATES_WAITING: usize = 8;

/// All effects of a tick. They come together, so that no reader takes some of them and then asks
/// only for later ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EffectsOfTick {
    /// The tick in which they show.
    pub(crate) tick: u64,
    pub(crate) effects: Arc<[Effect]>,
}

/// The ticks that have effects, in order. A receiver may take them as late as it likes: the latest
/// [`EFFECTS_KEPT`] wait for it.
pub(crate) type PublishedEffects = broadcast::Receiver<EffectsOfTick>;

/// Maximum number of ticks that wait for a receiver of [`PublishedEffects`], and of effects that
/// are kept for pages: as many as happen in some seconds of a full match in which everybody shoots.
pub(crate) const EFFECTS_KEPT: usize = 2048;

impl PublishedState {
    /// The part of this tick's snapshot about the client's own `player`.
    pub(crate) fn own(&self, player: EntityId) -> OwnPlayer {
        let update = self.players.iter().find(|update| update.player == player);
        update.map(|update| update.own).unwrap_or_default()
    }
}

/// Ticks for which a subscription lasts. A page renews it long before it ends.
const SUBSCRIPTION_TICKS: u64 = 240;

/// Whether published states hold contacts. They are copied only while a page that shows
/// them renews its subscription.
#[derive(Debug, Default)]
pub(crate) struct ContactSubscription(AtomicU64);

impl ContactSubscription {
    /// Subscribes for the next [`SUBSCRIPTION_TICKS`] after `tick`.
    pub(crate) fn renew(&self, tick: u64) {
        self.0.fetch_max(tick + SUBSCRIPTION_TICKS, Ordering::Relaxed);
    }

    /// Whether a subscription covers `tick`.
    pub(crate) fn covers(&self, tick: u64) -> bool {
        tick < self.0.load(Ordering::Relaxed)
    }
}
