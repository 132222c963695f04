//! The contents of one slot that were sent to one client, and those that the client acknowledged.

use crate::Tick;
use crate::quantise::{QuantisedEntity, QuantisedTraits};
use crate::snapshot::{BASELINES_KEPT, Baseline};

/// The revisions of one slot that were sent and acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotRevisions {
    /// The revision sent last.
    pub(super) sent: u32,
    /// The latest revision acknowledged.
    pub(super) acknowledged: u32,
}

/// The rest of the state of one slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotState {
    /// The tick in which the slot was sent last.
    pub(super) sent_tick: Tick,
    /// The generation that was sent last; `None` if the slot was empty.
    pub(super) sent_generation: Option<u16>,
    /// The traits that were sent last.
    pub(super) sent_traits: QuantisedTraits,
    /// Number of times that the slot was sent.
    pub(super) sends: u32,
    /// The tick of the latest acknowledged send.
    pub(super) acknowledged_tick: Tick,
    /// The number of that send.
    pub(super) acknowledged_send: u32,
    /// The content of that send.
    pub(super) acknowledged_entity: Option<QuantisedEntity>,
    /// The tick of the first send after that, if there was one; tick 0 if it is no longer known.
    pub(super) next_tick: Option<Tick>,
}

impl SlotRevisions {
    /// Whether the client may lack the content that last changed at revision `changed`. The
    /// revision is 0 for a slot that never had content.
    pub(super) fn may_lack(&self, changed: u32, arrived: u32) -> bool {
        self.sent < changed || self.is_lost(arrived)
    }

    /// Whether the last send was lost: it is not acknowledged, but a snapshot that was sent at that
    /// time or later has arrived.
    pub(super) fn is_lost(&self, arrived: u32) -> bool {
        self.acknowledged != self.sent && self.sent <= arrived
    }

    /// Whether the client has the content that last changed at revision `changed`, and cannot take
    /// an older content for it.
    pub(super) fn is_settled(&self, changed: u32, entity: Option<&QuantisedEntity>) -> bool {
        if self.sent == 0 {
            return entity.is_none();
        }
        self.sent >= changed && self.acknowledged == self.sent
    }
}

impl SlotState {
    /// The baseline for a snapshot of `tick` whose header names `acknowledged` as the latest
    /// snapshot that arrived; `None` if there is no baseline.
    pub(super) fn baseline(&self, tick: Tick, acknowledged: Tick) -> Option<Baseline<'_>> {
        let entity = self.acknowledged_entity.as_ref()?;
        let age = u32::try_from(tick.distance(self.acknowledged_tick)).ok()?;
        let kept = ((self.sends - self.acknowledged_send) as usize) < BASELINES_KEPT;
        let is_latest = self.acknowledged_tick <= acknowledged
            && self.next_tick.is_none_or(|next| next > acknowledged);
        (kept && age > 0).then_some(Baseline { age, entity, is_latest })
    }

    /// Whether the client lacks the present traits of an entity. `is_lost` says whether the last
    /// send was lost. For an entity that is new in its slot, the answer is no.
    pub(super) fn lacks_traits(&self, entity: Option<&QuantisedEntity>, is_lost: bool) -> bool {
        let (Some(entity), Some(generation)) = (entity, self.sent_generation) else { return false };
        let is_known = |known: &&QuantisedEntity| is_lost && known.generation == generation;
        let acknowledged = self.acknowledged_entity.as_ref().filter(is_known);
        let known = acknowledged.map_or(self.sent_traits, |known| known.traits);
        entity.generation == generation && entity.traits != known
    }
}

#[cfg(test)]
mod tests {
    use obsp_sim::{CollisionLayers, Posture};

    use super::*;
    use crate::quantise::QuantisedBody;
    use crate::schema::FieldValues;

    #[test]
    fn traits_are_lacked_before_they_are_sent_and_after_a_loss_but_not_on_their_way() {
        let old = QuantisedEntity {
            generation: 3,
            position: [0; 3],
            velocity: [0; 3],
            asleep: false,
            body: QuantisedBody::Player { posture: Posture::Standing, yaw: 0 },
            values: FieldValues::default(),
            traits: QuantisedTraits::DEFAULT,
        };
        let layers = CollisionLayers { layers: 2, mask: 2 };
        let traits = QuantisedTraits { layers, ..QuantisedTraits::DEFAULT };
        let new = QuantisedEntity { traits, ..old };
        let mut slot = SlotState::default();
        assert!(!slot.lacks_traits(Some(&new), false), "it was never sent");
        slot.sent_generation = Some(3);
        slot.acknowledged_entity = Some(old);
        assert!(!slot.lacks_traits(Some(&old), false), "they have not changed");
        assert!(slot.lacks_traits(Some(&new), false), "they were not sent");
        slot.sent_traits = traits;
        assert!(!slot.lacks_traits(Some(&new), false), "they are on their way");
        assert!(slot.lacks_traits(Some(&new), true), "they were lost");
        let other = QuantisedEntity { generation: 4, ..new };
        assert!(!slot.lacks_traits(Some(&other), true), "another entity is in the slot");
        assert!(!slot.lacks_traits(None, true), "the slot is empty");
    }
}
