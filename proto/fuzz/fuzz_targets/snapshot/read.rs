//! Decodes bytes as a snapshot against a baseline for every slot and tick.

use std::num::NonZeroU16;

use obsp_proto::Tick;
use obsp_proto::quantise::{QuantisedBody, QuantisedEntity, QuantisedOrientation, WorldBounds};
use obsp_proto::snapshot::{BaselineQuery, Snapshot, SnapshotCodec};
use obsp_sim::{ModelId, Posture};

/// Decodes the snapshot, if the bytes are one.
///
/// # Panics
/// It contains an impossible entity.
pub(crate) fn read(bytes: &[u8]) -> Option<Snapshot> {
    let bounds = WorldBounds::new([-512, -512, -256], [15, 15, 14]).unwrap();
    let codec = SnapshotCodec { bounds, tick_rate: NonZeroU16::new(60).unwrap() };
    let entity = |body| QuantisedEntity {
        generation: 3,
        position: [16_000, 100, 9_000],
        velocity: [500, -3, 0],
        asleep: false,
        body,
    };
    let orientation = QuantisedOrientation::new(2, [1000, -1023, 5]).unwrap();
    let prop = entity(QuantisedBody::Prop { model: ModelId(2), driven: false, orientation });
    let player = entity(QuantisedBody::Player { posture: Posture::Crouching, yaw: 4095 });
    let baseline = |slot, query| {
        let (BaselineQuery::At(tick) | BaselineQuery::Until(tick)) = query;
        Some((tick, if slot % 2 == 0 { &player } else { &prop }))
    };
    let snapshot = codec.decode(bytes, Tick(100_000), baseline).ok()?;
    for record in &snapshot.records {
        if let Some(entity) = &record.entity {
            let seen = entity.dequantise(record.slot, &bounds);
            assert!(seen.position.is_finite() && seen.orientation.is_normalized());
        }
    }
    Some(snapshot)
}
