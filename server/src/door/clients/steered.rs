use std::sync::atomic::{AtomicU64, Ordering};

use obsp_sim::EntityId;

/// The entity that a client steers, as long as it has a seat. The tick thread writes it.
#[derive(Debug, Default)]
pub(crate) struct SteeredEntity(AtomicU64);

impl SteeredEntity {
    /// The bit that is set if there is an entity. It lies above the bits of slot and generation.
    const SOME: u64 = 1 << 32;

    /// The entity, if the client has a seat.
    pub(crate) fn get(&self) -> Option<EntityId> {
        let bits = self.0.load(Ordering::Acquire);
        let (slot, generation) = ((bits >> 16) as u16, bits as u16);
        (bits & Self::SOME != 0).then_some(EntityId { slot, generation })
    }

    pub(crate) fn set(&self, player: Option<EntityId>) {
        let bits = player.map_or(0, |EntityId { slot, generation }| {
            Self::SOME | u64::from(slot) << 16 | u64::from(generation)
        });
        self.0.store(bits, Ordering::Release);
    }
}
