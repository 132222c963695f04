//! Datagrams of snapshots.

use std::sync::Arc;

use glam::{Quat, Vec3};
use obsp_proto::Tick;
use obsp_proto::quantise::{
    QuantisedBody, QuantisedEntity, QuantisedOrientation, QuantisedSubstance, QuantisedTraits,
};
use obsp_proto::schema::{Field, FieldValues, Schema};
use obsp_proto::snapshot::{
    AuthoritativeMotion, Baseline, BaselineQuery, Baselines, Digest, DigestSample, Extras, Header,
    Lead, Record, RecordToWrite, Snapshot, SnapshotCodec, TouchedArmedMove, TouchedBody,
    TouchedMove, TouchedSwing, ValueBlock,
};
use obsp_sim::{CollisionLayers, EntityId, ModelId, MovementId, PlayerMotion, Posture, Walker};

use super::{AMMUNITION, HITS, HOLDER, RATE, SECONDS, TEAM, bounds, check, printed, schema};

fn codec() -> SnapshotCodec {
    SnapshotCodec { bounds: bounds(), tick_rate: RATE, schema: Arc::default() }
}

fn player() -> QuantisedEntity {
    QuantisedEntity {
        generation: 300,
        position: [16_384, 20_000, 9_000],
        velocity: [80, -3, 0],
        asleep: false,
        body: QuantisedBody::Player { posture: Posture::Standing, yaw: 1024 },
        values: FieldValues::default(),
        traits: QuantisedTraits::DEFAULT,
    }
}

fn motion() -> AuthoritativeMotion {
    let movement = MovementId::from_index(5).unwrap();
    let walker = Walker { yaw: 16_384, grounded: true, movement, ..Walker::default() };
    let velocity = Vec3::new(320.0, -12.5, 0.0);
    let motion = PlayerMotion { position: Vec3::new(0.0, 113.0, 25.25), velocity, walker };
    let orientation = Quat::from_xyzw(0.0, 0.6, 0.0, 0.8);
    let (position, velocity) = (Vec3::new(-508.875, -505.75, -246.625), Vec3::ZERO);
    let resting = TouchedBody {
        slot: 17,
        asleep: true,
        position,
        orientation,
        velocity,
        spin: Vec3::ZERO,
        linear_move: Some(TouchedMove {
            goal: Vec3::new(-508.875, -505.75, -150.5),
            speed: 150.0,
            start: Tick(70_031),
        }),
        swing: Some(TouchedSwing {
            place: Vec3::new(0.0, 0.0, 8.0),
            way: Vec3::new(0.0, 0.0, -16.0),
            ticks: 120,
            at: 7,
        }),
        armed: Some(TouchedArmedMove {
            zone: [Vec3::new(-540.0, -540.0, -246.5), Vec3::new(-480.0, -480.0, -142.25)],
            goal: position,
            speed: 75.0,
            delay: 60,
        }),
    };
    let (velocity, spin) = (Vec3::new(12.5, 0.0, -1.0), Vec3::new(0.0, 0.25, -3.0));
    let moves = TouchedBody { velocity, spin, linear_move: None, ..resting };
    let moves = TouchedBody { swing: None, armed: None, ..moves };
    let rolling = TouchedBody { slot: 16, asleep: false, ..moves };
    AuthoritativeMotion { motion, since_pushed: 3, touched: [Some(resting), Some(rolling)] }
}

fn prop() -> QuantisedEntity {
    QuantisedEntity {
        generation: 1,
        position: [100, 200, 300],
        velocity: [0; 3],
        asleep: true,
        body: QuantisedBody::Prop {
            model: ModelId(2),
            driven: false,
            orientation: QuantisedOrientation::new(3, [0, -5, 600]).unwrap(),
        },
        values: FieldValues::default(),
        traits: QuantisedTraits::DEFAULT,
    }
}

/// The baselines of a snapshot's reader, which are those of its writer.
struct WriterBaselines<'a> {
    header: &'a Header,
    to_write: &'a [RecordToWrite<'a>],
    extras: &'a Extras,
}

impl<'a> Baselines<'a> for WriterBaselines<'a> {
    fn entity(&self, slot: u16, query: BaselineQuery) -> Option<(Tick, &'a QuantisedEntity)> {
        let acknowledged = self.header.tick.before(self.header.acknowledged.into()).unwrap();
        let baseline = self.to_write.iter().find(|record| record.slot == slot)?.baseline?;
        let of = self.header.tick.before(baseline.age)?;
        let expected = if baseline.is_latest {
            BaselineQuery::Until(acknowledged)
        } else {
            BaselineQuery::At(of)
        };
        assert_eq!(query, expected, "{slot}");
        Some((of, baseline.entity))
    }

    fn match_values(&self, tick: Tick) -> Option<FieldValues> {
        let block = self.extras.match_values?;
        assert_eq!(self.header.tick.before(block.age.into()), Some(tick));
        Some(block.baseline)
    }

    fn own_values(&self, tick: Tick) -> Option<FieldValues> {
        let block = self.extras.own_values?;
        assert_eq!(self.header.tick.before(block.age.into()), Some(tick));
        Some(block.baseline)
    }
}

/// Checks that these records are encoded as printed, and decoded.
#[track_caller]
fn check_snapshot(
    name: &str,
    codec: &SnapshotCodec,
    header: &Header,
    extras: &Extras,
    to_write: &[RecordToWrite<'_>],
) {
    let encoded = codec.encode(header, extras, to_write.iter().copied(), 1200).unwrap();
    check(name, &encoded);
    let records = to_write
        .iter()
        .map(|record| Record { slot: record.slot, entity: record.entity.copied() })
        .collect();
    let snapshot = Snapshot {
        tick: header.tick,
        lead: header.lead,
        since: header.since,
        own_motion: extras.motion,
        match_values: extras.match_values.map(|block| block.values),
        own_values: extras.own_values.map(|block| block.values),
        records,
        digest: extras.digest,
    };
    let baselines = WriterBaselines { header, to_write, extras };
    assert_eq!(codec.decode(&printed(name), Tick(70_000), baselines), Ok(snapshot));
}

#[test]
fn whole_snapshot() {
    let header = Header {
        tick: Tick(70_001),
        has_digest: false,
        has_motion: true,
        has_match_values: false,
        has_own_values: false,
        has_traits: false,
        lead: Some(Lead::from_ticks(1.5)),
        acknowledged: 0,
        since: 0,
        records: 3,
    };
    let (player, prop) = (player(), prop());
    let record = |slot, entity| RecordToWrite { slot, entity, baseline: None };
    let records = [record(3, Some(&player)), record(17, Some(&prop)), record(20, None)];
    let extras = Extras { motion: Some(motion()), ..Extras::default() };
    check_snapshot("whole-snapshot", &codec(), &header, &extras, &records);
}

fn change<'a>(
    slot: u16,
    entity: &'a QuantisedEntity,
    old: &'a QuantisedEntity,
    age: u32,
    is_latest: bool,
) -> RecordToWrite<'a> {
    let baseline = Some(Baseline { age, entity: old, is_latest });
    RecordToWrite { slot, entity: Some(entity), baseline }
}

#[test]
fn changes_with_a_digest() {
    let header = Header {
        tick: Tick(70_004),
        has_digest: true,
        has_motion: false,
        has_match_values: false,
        has_own_values: false,
        has_traits: false,
        lead: None,
        acknowledged: 3,
        since: 3,
        records: 2,
    };
    // The player has run on, a little beside the predicted position. The prop was hit, and its
    // baseline is of tick 69,904.
    let ran = QuantisedEntity {
        position: [16_384 + 512, 20_000 - 19, 9_000],
        velocity: [80, 0, 0],
        body: QuantisedBody::Player { posture: Posture::Crouching, yaw: 1000 },
        ..player()
    };
    let hit = QuantisedEntity {
        position: [101, 190, 340],
        velocity: [10, -40, 75],
        asleep: false,
        body: QuantisedBody::Prop {
            model: ModelId(2),
            driven: false,
            orientation: QuantisedOrientation::new(3, [20, -40, 590]).unwrap(),
        },
        ..prop()
    };
    let (old_player, old_prop) = (player(), prop());
    // Slot 5 holds the prop as it was before; slot 20 is empty.
    let mut digest = Digest::new(header.tick);
    let schema = Schema::default();
    digest.add(3, Some(&ran), &schema);
    digest.add(17, Some(&hit), &schema);
    digest.add(5, Some(&old_prop), &schema);
    digest.add(20, None, &schema);
    let sample = DigestSample { first: 4, slots: 1 << 1 | 1 << 16, digest: digest.finish() };
    let records = [change(3, &ran, &old_player, 3, true), change(17, &hit, &old_prop, 100, false)];
    let extras = Extras { digest: Some(sample), ..Extras::default() };
    check_snapshot("changes", &codec(), &header, &extras, &records);
}

#[test]
fn falls_and_leaps() {
    let header = Header {
        tick: Tick(70_010),
        has_digest: false,
        has_motion: false,
        has_match_values: false,
        has_own_values: false,
        has_traits: false,
        lead: Some(Lead::from_ticks(-2.0)),
        acknowledged: 4,
        since: 1,
        records: 3,
    };
    let body = |largest, components| QuantisedBody::Prop {
        model: ModelId(2),
        driven: false,
        orientation: QuantisedOrientation::new(largest, components).unwrap(),
    };
    // Slot 0 falls: it has 4 ticks of gravity, and the position that follows from it. Another
    // component of its orientation becomes the largest.
    let above = QuantisedEntity {
        position: [5_000, 6_000, 9_000],
        velocity: [-7, 30, -20],
        asleep: false,
        body: body(3, [700, -5, 690]),
        ..prop()
    };
    let below = QuantisedEntity {
        position: [4_937, 6_255, 8_770],
        velocity: [-7, 30, -33],
        body: body(0, [12, 720, 710]),
        ..above
    };
    // Slot 1 comes to rest six ticks after its baseline; slot 9 is relocated.
    let slow = QuantisedEntity { velocity: [1, -2, 0], body: body(3, [0; 3]), ..above };
    let resting = QuantisedEntity {
        position: [5_005, 5_988, 9_001],
        velocity: [0; 3],
        asleep: true,
        body: body(3, [1, 0, -3]),
        ..slow
    };
    let there = QuantisedEntity { position: [1, 32_767, 12_345], ..player() };
    let old_player = player();
    let records = [
        change(0, &below, &above, 4, true),
        change(1, &resting, &slow, 6, true),
        change(9, &there, &old_player, 4, true),
    ];
    check_snapshot("falls-and-leaps", &codec(), &header, &Extras::default(), &records);
}

fn valued(fields: &[(&Field, i64)]) -> FieldValues {
    let of: Vec<Field> = fields.iter().map(|(field, _)| (*field).clone()).collect();
    let mut values = FieldValues::default();
    assert!(fields.iter().all(|(field, value)| values.set(&of, field, *value)));
    values
}

#[test]
fn values_of_a_game() {
    let header = Header {
        tick: Tick(70_008),
        has_digest: true,
        has_motion: false,
        has_match_values: true,
        has_own_values: true,
        has_traits: false,
        lead: None,
        acknowledged: 4,
        since: 2,
        records: 3,
    };
    let pin = QuantisedBody::Prop {
        model: ModelId(1),
        driven: false,
        orientation: QuantisedOrientation::new(3, [0, -5, 600]).unwrap(),
    };
    let player = QuantisedEntity { values: valued(&[(&TEAM, 1)]), ..player() };
    let old = QuantisedEntity { body: pin, values: valued(&[(&HITS, 7)]), ..prop() };
    let hit = QuantisedEntity { values: valued(&[(&HITS, 9)]), ..old };
    let broken = QuantisedEntity { values: valued(&[(&HITS, 1000)]), ..old };
    let records = [
        RecordToWrite { slot: 3, entity: Some(&player), baseline: None },
        change(17, &hit, &old, 4, true),
        change(18, &broken, &old, 4, true),
    ];
    let mut digest = Digest::new(header.tick);
    for record in &records {
        digest.add(record.slot, record.entity, &schema());
    }
    let extras = Extras {
        motion: None,
        match_values: Some(ValueBlock {
            values: valued(&[(&SECONDS, 12), (&HOLDER, 2)]),
            age: 8,
            baseline: valued(&[(&SECONDS, 11), (&HOLDER, 2)]),
        }),
        own_values: Some(ValueBlock {
            values: valued(&[(&AMMUNITION, 50)]),
            age: 0,
            baseline: FieldValues::default(),
        }),
        digest: Some(DigestSample { first: 0, slots: 0, digest: digest.finish() }),
    };
    let codec = SnapshotCodec { schema: schema(), ..codec() };
    check_snapshot("game-values", &codec, &header, &extras, &records);
}

#[test]
fn traits_of_entities() {
    let header = Header {
        tick: Tick(70_012),
        has_digest: true,
        has_motion: false,
        has_match_values: false,
        has_own_values: false,
        has_traits: true,
        lead: None,
        acknowledged: 4,
        since: 1,
        records: 4,
    };
    let layers = CollisionLayers { layers: 1 << 31 | 2, mask: !2 };
    let hidden = QuantisedTraits { layers, visible: false, ..QuantisedTraits::DEFAULT };
    let red = QuantisedEntity { traits: hidden, ..player() };
    let picture =
        QuantisedTraits { substance: QuantisedSubstance::Intangible, ..QuantisedTraits::DEFAULT };
    let picture = QuantisedEntity { traits: picture, ..prop() };
    let substance = QuantisedSubstance::Attached {
        to: EntityId { slot: 3, generation: 300 },
        offset: [32_768 - 640, 32_768, 32_768 + 320],
        rotation: QuantisedOrientation::new(3, [0, -5, 600]).unwrap(),
    };
    let flag = QuantisedEntity {
        position: [0; 3],
        body: QuantisedBody::Prop {
            model: ModelId(2),
            driven: false,
            orientation: QuantisedOrientation::new(3, [0; 3]).unwrap(),
        },
        traits: QuantisedTraits { substance, ..QuantisedTraits::DEFAULT },
        ..prop()
    };
    let usual = prop();
    let records = [
        RecordToWrite { slot: 3, entity: Some(&red), baseline: None },
        change(17, &flag, &usual, 4, true),
        change(19, &usual, &picture, 4, true),
        change(21, &picture, &picture, 4, true),
    ];
    assert!(records[..3].iter().all(RecordToWrite::needs_traits) && !records[3].needs_traits());
    let mut digest = Digest::new(header.tick);
    for record in &records {
        digest.add(record.slot, record.entity, &Schema::default());
    }
    let sample = DigestSample { first: 0, slots: 0, digest: digest.finish() };
    let extras = Extras { digest: Some(sample), ..Extras::default() };
    check_snapshot("traits", &codec(), &header, &extras, &records);
}
