use glam::DQuat;
use obsp_sim::{EntityId, EntityState, Kind, Posture, State, Traits};

use super::*;
use crate::quantise::Quantiser;

fn bounds() -> WorldBounds {
    WorldBounds::new([0; 3], [18, 18, 14]).unwrap()
}

/// A state in which the player of each slot stands at its place along x.
fn state(tick: u32, places: &[(u16, f64)]) -> Quantised {
    let player = |&(slot, along): &(u16, f64)| EntityState {
        id: EntityId { slot, generation: 0 },
        kind: Kind::Player { posture: Posture::Standing },
        position: DVec3::X * along,
        orientation: DQuat::IDENTITY,
        velocity: DVec3::ZERO,
        asleep: false,
        traits: Traits::default(),
    };
    let state = State { tick: tick.into(), entities: places.iter().map(player).collect() };
    Quantiser::new(bounds()).quantise(&state).unwrap()
}

fn blast(along: f64) -> Effect {
    Effect::Blast { at: DVec3::X * along, radius: 1.0 }
}

fn hurt(player: u16, by: u16) -> Effect {
    Effect::Hurt { player, by, damage: 1 }
}

fn of(tick: u32, effects: Vec<Effect>) -> Arc<TickEffects> {
    Arc::new(TickEffects { tick: Tick(tick), effects })
}

fn schedule(own: Option<u16>) -> EffectSchedule {
    EffectSchedule::new(bounds(), own, Tick(100))
}

/// The ticks of a datagram, each with its number of effects.
fn sent(encoded: &Encoded) -> Vec<(u32, usize)> {
    let Some(bytes) = &encoded.datagram else { return vec![] };
    let ticks = EffectsDatagram::decode(bytes, &bounds(), Tick(100)).unwrap().into_ticks();
    ticks.iter().map(|of| (of.tick.0, of.effects.len())).collect()
}

#[test]
fn a_tick_is_in_three_datagrams_and_then_there_are_none() {
    let mut schedule = schedule(None);
    let recent = [of(101, vec![blast(1.0)]), of(103, vec![blast(2.0); 2])];
    let mut all = Vec::new();
    for tick in 101..108 {
        assert_eq!(schedule.take(&state(tick, &[]), &recent), 0);
        all.push(sent(&schedule.encode(1000)));
    }
    let (first, second) = ((101, 1), (103, 2));
    let expected =
        [vec![first], vec![first], vec![first, second], vec![second], vec![second], vec![], vec![]];
    assert_eq!(all, expected);
}

#[test]
fn effects_of_the_tick_of_the_hello_are_not_sent() {
    let mut schedule = schedule(None);
    let recent = [of(99, vec![blast(1.0)]), of(100, vec![blast(1.0)])];
    schedule.take(&state(101, &[]), &recent);
    assert_eq!(schedule.encode(1000), Encoded::default());
}

#[test]
fn a_player_is_sent_what_is_near_or_their_own() {
    let far = NEAR + 2.0;
    let mut own = schedule(Some(1));
    let places = [(1, 0.0), (2, far), (3, NEAR - 1.0)];
    let ray = |player, from: f64| Effect::Ray { player, from: DVec3::X * from, to: DVec3::X * far };
    let effects = vec![
        blast(NEAR),
        blast(far),
        hurt(2, 2),
        hurt(2, 1),
        hurt(1, 2),
        hurt(3, 2),
        ray(2, far + 1.0),
        ray(2, NEAR - 1.0),
        ray(1, far),
        Effect::Replaced { entity: 2 },
        Effect::Replaced { entity: 3 },
    ];
    let count = effects.len();
    let recent = [of(101, effects)];
    own.take(&state(101, &places), &recent);
    let kept = &own.waiting[0].of.effects;
    let expected = [
        blast(NEAR),
        hurt(2, 1),
        hurt(1, 2),
        hurt(3, 2),
        ray(2, NEAR - 1.0),
        ray(1, far),
        Effect::Replaced { entity: 3 },
    ];
    assert_eq!(kept[..], expected);
    let mut watching = schedule(None);
    watching.take(&state(101, &places), &recent);
    assert_eq!(watching.waiting[0].of.effects.len(), count, "spectators are sent all");
}

#[test]
fn a_dead_player_is_sent_what_is_near_the_place_of_their_death() {
    let mut own = schedule(Some(1));
    own.take(&state(101, &[(1, 0.0)]), &[]);
    own.take(&state(102, &[]), &[of(102, vec![blast(5.0), blast(NEAR * 2.0)])]);
    assert_eq!(own.waiting[0].of.effects, [blast(5.0)]);
}

#[test]
fn of_too_many_the_farthest_are_left_out_and_counted() {
    let mut own = schedule(Some(1));
    let effects: Vec<_> = (0..67).rev().map(|along| blast(f64::from(along))).collect();
    let excess = own.take(&state(101, &[(1, 0.0)]), &[of(101, effects.clone())]);
    assert_eq!(excess, 3);
    assert_eq!(own.waiting[0].of.effects, effects[3..], "in the order in which they happened");
}

#[test]
fn effects_that_were_never_sent_come_before_repetitions() {
    let mut schedule = schedule(None);
    let length = |count| EffectsDatagram::length([&*of(1, vec![blast(0.0); count])], &bounds());
    let limit = length(40);
    schedule.take(&state(101, &[]), &[of(101, vec![blast(1.0); 30])]);
    assert_eq!(sent(&schedule.encode(limit)), [(101, 30)]);
    schedule.take(&state(102, &[]), &[of(102, vec![blast(1.0); 35])]);
    let encoded = schedule.encode(limit);
    assert_eq!(sent(&encoded), [(102, 35)]);
    assert!(encoded.datagram.unwrap().len() <= limit);
    // Now the first is sent again, because nothing is new.
    assert_eq!(sent(&schedule.encode(limit)), [(101, 30)]);
}

#[test]
fn a_tick_that_no_datagram_holds_is_cut_and_counted() {
    let mut schedule = schedule(None);
    schedule.take(&state(101, &[]), &[of(101, vec![blast(1.0); 30])]);
    assert_eq!(schedule.encode(4), Encoded::default(), "there is no room for a single one");
    let limit = EffectsDatagram::length([&*of(1, vec![blast(0.0); 10])], &bounds());
    let encoded = schedule.encode(limit);
    assert_eq!((sent(&encoded), encoded.effects, encoded.excess), (vec![(101, 10)], 10, 20));
    // The tick stays as it was sent first.
    assert_eq!(sent(&schedule.encode(1000)), [(101, 10)]);
}

#[test]
fn effects_that_wait_too_long_are_dropped_and_counted() {
    let mut schedule = schedule(None);
    schedule.take(&state(101, &[]), &[of(101, vec![blast(1.0); 3])]);
    schedule.take(&state(133, &[]), &[of(133, vec![blast(1.0)])]);
    assert_eq!(sent(&schedule.encode(1000)), [(101, 3), (133, 1)], "32 ticks apart");
    let mut late = self::schedule(None);
    late.take(&state(101, &[]), &[of(101, vec![blast(1.0); 3])]);
    late.take(&state(134, &[]), &[of(134, vec![blast(1.0)])]);
    let encoded = late.encode(1000);
    assert_eq!((sent(&encoded), encoded.excess), (vec![(134, 1)], 3));
}
