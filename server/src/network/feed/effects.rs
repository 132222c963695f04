//! Effects, which go beside the snapshots of clients that ask for them.

use obsp_proto::snapshot::MIN_SNAPSHOT;

use super::{DroppedDatagram, Feed, Path, SnapshotJob};

/// Bytes that a second datagram costs in the packet of the first, besides its own bytes: the header
/// of its frame, and the number of its session for a browser.
const FRAME: usize = 12;

/// Bytes that a snapshot has less room because of these effects.
pub(super) fn space(effects: &[u8]) -> usize {
    effects.len() + FRAME
}

impl<P: Path> Feed<'_, P> {
    /// Encodes the effects to send beside the snapshot of `update`. The two have at most `most`
    /// bytes together, so that one packet carries both, and the snapshot keeps the room that it
    /// needs at least.
    pub(super) fn encode_effects(&mut self, update: &SnapshotJob, most: usize) -> Option<Vec<u8>> {
        let limit = most.saturating_sub(MIN_SNAPSHOT + FRAME);
        let before = *self.session.stats();
        let datagram = self.session.encode_effects(&update.state, &update.effects, limit);
        let after = self.session.stats();
        let network = &self.game.telemetry.network;
        network.effects.increment(after.effects - before.effects);
        network.effects_cut.increment(after.excess_effects - before.excess_effects);
        datagram
    }

    /// Sends effects. If the path does not take them, the next datagram repeats them.
    pub(super) fn send_effects(&self, effects: Vec<u8>) {
        let network = &self.game.telemetry.network;
        let length = effects.len();
        if self.path.send(effects.into()) {
            network.effect_bytes.increment(length as u64);
        } else {
            network.dropped(DroppedDatagram::Unsent);
        }
    }
}
