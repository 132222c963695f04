//! Decodes bytes as a snapshot against a baseline for every slot and tick.

use std::num::NonZeroU16;
use std::sync::Arc;

use obsp_proto::Tick;
use obsp_proto::quantise::{
    QuantisedBody, QuantisedEntity, QuantisedOrientation, QuantisedTraits, WorldBounds,
};
use obsp_proto::schema::{Field, FieldValues, Schema, SchemaParts};
use obsp_proto::snapshot::{BaselineQuery, Snapshot, SnapshotCodec};
use obsp_sim::{Attachment, ModelId, Posture, Substance};

/// Decodes the bytes as a snapshot of a game with all kinds of values, then as one of a game
/// without values. Returns the result of the second decoding, if there is one.
///
/// # Panics
/// The snapshot contains an impossible entity, or a value out of range.
pub(crate) fn read(bytes: &[u8]) -> Option<Snapshot> {
    let (a, b) = (Field::new("a", -1, 30), Field::new("b", 0, 65_535));
    let fields = vec![a.clone(), b.clone()];
    let parts = SchemaParts {
        of_match: fields.clone(),
        of_own_player: vec![b],
        of_players: fields,
        models: (0..5).map(|index| (format!("m{index}"), vec![a.clone()])).collect(),
        ..SchemaParts::default()
    };
    read_by(bytes, Schema::new(parts).unwrap());
    read_by(bytes, Schema::default())
}

fn read_by(bytes: &[u8], schema: Schema) -> Option<Snapshot> {
    let bounds = WorldBounds::new([-512, -512, -256], [15, 15, 14]).unwrap();
    let tick_rate = NonZeroU16::new(60).unwrap();
    let codec = SnapshotCodec { bounds, tick_rate, schema: Arc::new(schema) };
    let entity = |body| QuantisedEntity {
        values: FieldValues::default(),
        generation: 3,
        position: [16_000, 100, 9_000],
        velocity: [500, -3, 0],
        asleep: false,
        body,
        traits: QuantisedTraits::DEFAULT,
    };
    let orientation = QuantisedOrientation::new(2, [1000, -1023, 5]).unwrap();
    let prop = entity(QuantisedBody::Prop { model: ModelId(2), driven: false, orientation });
    let player = entity(QuantisedBody::Player { posture: Posture::Crouching, yaw: 4095 });
    let baseline = |slot: u16, query: BaselineQuery| {
        let (BaselineQuery::At(tick) | BaselineQuery::Until(tick)) = query;
        Some((tick, if slot.is_multiple_of(2) { &player } else { &prop }))
    };
    let snapshot = codec.decode(bytes, Tick(100_000), baseline).ok()?;
    for record in &snapshot.records {
        if let Some(entity) = &record.entity {
            let seen = entity.dequantise(record.slot, &bounds);
            assert!(seen.position.is_finite() && seen.orientation.is_normalized());
            if let Substance::Attached(attachment) = seen.traits.substance {
                assert!(attachment.offset.abs().max_element() <= Attachment::MAX_OFFSET);
                assert!(attachment.rotation.is_normalized());
            }
            let of = codec.schema.of_kind(seen.kind);
            let in_range =
                |(field, value): (&Field, i32)| (field.least()..=field.most()).contains(&value);
            assert!(entity.values.iter(of).all(in_range));
        }
    }
    Some(snapshot)
}
