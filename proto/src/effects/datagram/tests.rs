use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn bounds() -> WorldBounds {
    WorldBounds::new([-512, -512, -256], [15, 15, 14]).unwrap()
}

const HURT: Effect = Effect::Hurt { player: 3, by: 4, damage: 20 };

fn of(tick: u32, count: usize) -> TickEffects {
    TickEffects { tick: Tick(tick), effects: vec![HURT; count] }
}

fn decode(bytes: &[u8]) -> Result<EffectsDatagram, DatagramError> {
    EffectsDatagram::decode(bytes, &bounds(), Tick(100_000))
}

/// Writes a datagram of hits that claims to have `claimed` records. `steps` has the number of ticks
/// before each hit except the first.
fn written(claimed: u32, steps: &[u32]) -> Vec<u8> {
    let mut writer = BitWriter::new();
    writer.write(DatagramKind::Effects as u32, 8);
    writer.write(Tick(100_000).low_bits().into(), 16);
    writer.write(claimed - 1, 8);
    write(&mut writer, &HURT, &bounds());
    for &step in steps {
        writer.write_bit(step > 0);
        if step > 0 {
            writer.write(step - 1, LATER_BITS);
        }
        write(&mut writer, &HURT, &bounds());
    }
    writer.finish()
}

#[test]
fn places_and_amounts_beyond_their_range_are_clamped() {
    let far = DVec3::new(f64::INFINITY, f64::NAN, -1e300);
    let effects = vec![
        Effect::Blast { at: far, radius: f64::INFINITY },
        Effect::Blast { at: DVec3::ZERO, radius: f64::NAN },
        Effect::Blast { at: DVec3::ZERO, radius: -3.0 },
        Effect::Ray { player: 4095, from: far, to: far },
        Effect::Hurt { player: 0, by: 4095, damage: u16::MAX },
        Effect::Replaced { entity: 4095 },
    ];
    let count = effects.len();
    let sent = EffectsDatagram::new(vec![TickEffects { tick: Tick(100_001), effects }]).unwrap();
    let received = decode(&sent.encode(&bounds())).unwrap().into_ticks();
    assert_eq!(received[0].effects.len(), count);
    let corner = DVec3::new(511.96875, -512.0, -256.0);
    let largest = f64::from(MAX_AMOUNT);
    assert_eq!(received[0].effects[0], Effect::Blast { at: corner, radius: largest });
    for still in &received[0].effects[1..3] {
        assert_eq!(*still, Effect::Blast { at: DVec3::ZERO, radius: 0.0 });
    }
    let hurt = Effect::Hurt { player: 0, by: 4095, damage: MAX_AMOUNT };
    assert_eq!(received[0].effects[4..], [hurt, Effect::Replaced { entity: 4095 }]);
}

#[test]
fn what_a_datagram_cannot_hold_makes_none() {
    assert!(EffectsDatagram::new(vec![]).is_none());
    assert!(EffectsDatagram::new(vec![of(1, 0)]).is_none());
    assert!(EffectsDatagram::new(vec![of(1, 64)]).is_some());
    assert!(EffectsDatagram::new(vec![of(1, 65)]).is_none());
    assert!(EffectsDatagram::new(vec![of(2, 1), of(1, 1)]).is_none());
    assert!(EffectsDatagram::new(vec![of(2, 1), of(2, 1)]).is_none());
    assert!(EffectsDatagram::new(vec![of(1, 1), of(33, 1)]).is_some());
    assert!(EffectsDatagram::new(vec![of(1, 1), of(34, 1)]).is_none());
    let full: Vec<_> = (0..4).map(|tick| of(tick, 64)).collect();
    assert!(EffectsDatagram::new(full.clone()).is_some());
    assert!(EffectsDatagram::new([full, vec![of(4, 1)]].concat()).is_none());
}

#[test]
fn one_step_beyond_each_limit_is_refused() {
    assert!(decode(&written(1, &[])).is_ok());
    assert_eq!(decode(&written(2, &[])), Err(DatagramError::Truncated));
    assert_eq!(decode(&written(1, &[1])), Err(DatagramError::Trailing));
    // The effects of a tick.
    assert!(decode(&written(64, &[0; 63])).is_ok());
    let of_tick = Err(DatagramError::OutOfRange { field: "effects of a tick" });
    assert_eq!(decode(&written(65, &[0; 64])), of_tick);
    // The ticks from the first record to the last.
    assert!(decode(&written(3, &[20, 12])).is_ok());
    let tick = Err(DatagramError::OutOfRange { field: "tick" });
    assert_eq!(decode(&written(3, &[20, 13])), tick);
    // The last tick of all.
    let near = Tick(u32::MAX);
    let mut last = written(2, &[1]);
    last[1..3].copy_from_slice(&near.low_bits().to_le_bytes());
    assert_eq!(EffectsDatagram::decode(&last, &bounds(), near), tick);
    // The reserved bits.
    let mut reserved = written(1, &[]);
    reserved[0] |= 1 << 2;
    let field = "reserved bits";
    assert_eq!(decode(&reserved), Err(DatagramError::OutOfRange { field }));
    reserved[0] = 3;
    assert_eq!(decode(&reserved), Err(DatagramError::UnknownKind { kind: 3 }));
    assert_eq!(decode(&[]), Err(DatagramError::Truncated));
}

#[test]
fn the_length_is_that_of_the_datagram_but_for_the_bits_of_ticks() {
    for ticks in [vec![of(1, 1)], vec![of(1, 3), of(2, 5), of(9, 64)]] {
        let most = EffectsDatagram::length(&ticks, &bounds());
        let slack = ticks.len();
        let length = EffectsDatagram::new(ticks).unwrap().encode(&bounds()).len();
        assert!(length <= most && length + slack >= most, "{length} of {most}");
    }
}

proptest! {
    #[test]
    fn bytes_of_any_kind_are_refused_or_encoded_again_to_equal_bytes(
        bytes in vec(any::<u8>(), 0..400), kind in any::<bool>(),
    ) {
        let mut bytes = bytes;
        if let (true, Some(first)) = (kind, bytes.first_mut()) {
            *first = DatagramKind::Effects as u8;
        }
        if let Ok(datagram) = decode(&bytes) {
            prop_assert!(datagram.0.len() <= bytes.len());
            prop_assert_eq!(datagram.encode(&bounds()), bytes);
        }
    }

    #[test]
    fn real_datagrams_arrive_as_they_were_sent_and_damage_never_panics(
        steps in vec(0_u32..4, 1..60), flips in vec(any::<u16>(), 0..5), keep in any::<u16>(),
    ) {
        let mut tick = 100_000;
        let mut ticks: Vec<TickEffects> = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let place = DVec3::new(f64::from(index as u32), -3.5, 0.03125);
            let effect = match index % 4 {
                0 => Effect::Ray { player: 7, from: place, to: -place },
                1 => Effect::Blast { at: place, radius: index as f64 },
                2 => HURT,
                _ => Effect::Replaced { entity: index as u16 },
            };
            tick += step;
            let span = tick - ticks.first().map_or(tick, |of| of.tick.0);
            match ticks.last_mut() {
                Some(last) if last.tick == Tick(tick) => last.effects.push(effect),
                _ if span <= MAX_SPAN => {
                    ticks.push(TickEffects { tick: Tick(tick), effects: vec![effect] });
                }
                _ => break,
            }
        }
        let datagram = EffectsDatagram::new(ticks).unwrap();
        let mut bytes = datagram.encode(&bounds());
        prop_assert_eq!(decode(&bytes), Ok(datagram));
        let bits = bytes.len() * 8;
        for flip in flips {
            let bit = usize::from(flip) % bits;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        bytes.truncate(usize::from(keep) % 800);
        if let Ok(read) = decode(&bytes) {
            prop_assert_eq!(read.encode(&bounds()), bytes);
        }
    }
}
