//! The datagrams of a state: its snapshot, and its effects.

use std::sync::Arc;

use super::{Phase, Session};
use crate::effects::TickEffects;
use crate::quantise::Quantised;
use crate::server::OwnPlayer;

impl Session {
    /// Computes the entities of the snapshot of `state`. This is the first half of
    /// [`Session::encode_snapshot`]. Only callers that measure the two halves need to call it.
    pub fn prioritize(&mut self, state: &Quantised) {
        if let Phase::Joined { baselines, .. } = &mut self.phase {
            baselines.prioritize(state);
        }
    }

    /// Encodes the snapshot of `state` for this client, in at most `limit` bytes. The limit is the
    /// size that the path carries now, or less to save bandwidth. `None` if the client has not
    /// joined, the state is no later than the last one encoded, or the limit is below
    /// [`crate::snapshot::MIN_SNAPSHOT`].
    ///
    /// An encoded snapshot may be dropped instead of sent. The session then counts it as lost.
    pub fn encode_snapshot(
        &mut self,
        state: &Arc<Quantised>,
        own: &OwnPlayer,
        limit: usize,
    ) -> Option<Vec<u8>> {
        let Phase::Joined { baselines, .. } = &mut self.phase else { return None };
        let encoded = baselines.encode(state, own, limit)?;
        self.stats.snapshots += 1;
        self.stats.snapshot_bytes += encoded.datagram.len() as u64;
        self.stats.records += encoded.records as u64;
        self.stats.postponed += encoded.postponed as u64;
        Some(encoded.datagram)
    }

    /// Encodes the effects that the client is to be sent beside the snapshot of `state`, in at most
    /// `limit` bytes. `recent` has the effects of the latest ticks, in ascending order. It may
    /// repeat ticks that earlier calls had. `None` if there is nothing to send, or if the client
    /// has not asked for effects.
    ///
    /// A player is sent the effects that are near the player or concern the player. A spectator is
    /// sent all effects. Neither is sent more than
    /// [`MAX_EFFECTS_OF_TICK`](crate::effects::MAX_EFFECTS_OF_TICK) effects of a tick.
    pub fn encode_effects(
        &mut self,
        state: &Quantised,
        recent: &[Arc<TickEffects>],
        limit: usize,
    ) -> Option<Vec<u8>> {
        let Phase::Joined { effects: Some(effects), .. } = &mut self.phase else { return None };
        self.stats.excess_effects += effects.take(state, recent);
        let encoded = effects.encode(limit);
        self.stats.excess_effects += encoded.excess;
        self.stats.effects += encoded.effects;
        self.stats.effect_datagrams += u64::from(encoded.datagram.is_some());
        encoded.datagram
    }
}
