//! The table of addresses, in virtual time.

use std::time::Duration;

use super::options::AddressOptions;
use super::*;

const STRANGER: &str = "192.0.2.1";
const OTHER: &str = "192.0.2.2";

fn table() -> Arc<Admission> {
    Admission::new(Shares::from(&AddressOptions::default()))
}

fn ask(table: &Arc<Admission>, address: &str, now: Instant) -> Verdict {
    table.ask(address.parse().unwrap(), true, now)
}

fn admit(table: &Arc<Admission>, address: &str, now: Instant) -> Permit {
    match ask(table, address, now) {
        Verdict::Admit(permit) => permit,
        Verdict::Prove => panic!("the client has to prove its address"),
        Verdict::Refuse(limit) => panic!("refused: {limit:?}"),
    }
}

/// Whether a connection was pushed out. A second call returns false.
fn is_evicted(permit: &Permit) -> bool {
    let eviction = permit.eviction();
    let mut evicted = std::pin::pin!(eviction.notified());
    let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
    evicted.as_mut().poll(context).is_ready()
}

#[test]
fn an_address_that_occupies_places_loses_the_oldest_and_others_keep_theirs() {
    let (table, now) = (table(), Instant::now());
    let honest = admit(&table, OTHER, now);
    let idle: Vec<_> =
        (0..UNFINISHED_PER_ADDRESS + 3).map(|_| admit(&table, STRANGER, now)).collect();
    let evicted: Vec<_> = idle.iter().map(is_evicted).collect();
    assert_eq!(evicted.iter().filter(|evicted| **evicted).count(), 3);
    assert!(evicted[..3].iter().all(|evicted| *evicted), "{evicted:?}");
    assert!(!is_evicted(&honest));
    drop(idle);
    assert_eq!(table.lock().unfinished.len(), 1, "a dropped connection leaves the queue");
}

#[test]
fn a_full_queue_gives_way_at_the_address_that_has_most() {
    let (table, now) = (table(), Instant::now());
    // An exempt address has no limit of its own, but it cannot keep all of the queue.
    let swarm: Vec<_> = (0..UNFINISHED - 2).map(|_| admit(&table, "127.0.0.1", now)).collect();
    let others: Vec<_> = (0..10).map(|_| admit(&table, OTHER, now)).collect();
    assert_eq!(swarm.iter().filter(|permit| is_evicted(permit)).count(), 8);
    assert!(!others.iter().any(is_evicted));
    assert_eq!(table.lock().unfinished.len(), UNFINISHED);
}

#[test]
fn a_connection_that_was_pushed_out_gets_no_place() {
    let (table, now) = (table(), Instant::now());
    let mut first = admit(&table, STRANGER, now);
    let _later: Vec<_> =
        (0..UNFINISHED_PER_ADDRESS).map(|_| admit(&table, STRANGER, now)).collect();
    assert_eq!(first.play(now), Err(Limit::Unfinished));
}

#[test]
fn an_address_has_its_share_of_players_and_spectators_and_the_exempt_any_number() {
    let (table, now) = (table(), Instant::now());
    let shares = AddressOptions::default();
    let come = |address: &str, spectators: bool| {
        let mut permit = admit(&table, address, now);
        let taken = if spectators { permit.watch(now) } else { permit.play(now) };
        taken.map(|()| permit)
    };
    let players: Vec<_> =
        (0..shares.address_players).map(|_| come(STRANGER, false).unwrap()).collect();
    assert_eq!(come(STRANGER, false).err(), Some(Limit::Players));
    let spectators: Vec<_> =
        (0..shares.address_spectators).map(|_| come(STRANGER, true).unwrap()).collect();
    assert_eq!(come(STRANGER, true).err(), Some(Limit::Spectators));
    come(OTHER, false).unwrap();
    let _swarm: Vec<_> = (0..64).map(|_| come("::1", false).unwrap()).collect();
    drop((players, spectators));
    come(STRANGER, false).unwrap();
}

#[test]
fn a_player_who_may_come_back_keeps_the_place_of_the_address() {
    let (table, now) = (table(), Instant::now());
    let mut players: Vec<_> = (0..4).map(|_| admit(&table, STRANGER, now)).collect();
    players.iter_mut().for_each(|player| player.play(now).unwrap());
    let mut lost = players.pop().unwrap();
    lost.leave(now);
    let kept = lost.keep_place(now);
    drop(lost);
    assert_eq!(admit(&table, STRANGER, now).play(now), Err(Limit::Players));
    let mut back = admit(&table, STRANGER, now);
    back.resume(kept, now);
    assert_eq!(admit(&table, STRANGER, now).play(now), Err(Limit::Players));
    assert!(table.lock().unfinished.is_empty(), "a player who is back is in no queue");
    back.leave(now);
    drop(back.keep_place(now));
    admit(&table, STRANGER, now).play(now).unwrap();
}

#[test]
fn leaving_refills_nothing() {
    let (table, begin) = (table(), Instant::now());
    let at = |seconds| begin + Duration::from_secs(seconds);
    let come = |now| {
        let mut permit = admit(&table, STRANGER, now);
        let played = permit.play(now);
        let said = (0..100).take_while(|_| permit.say(100, now).is_ok()).count();
        permit.leave(now);
        permit.note_left(now);
        (played, said)
    };
    let mut said = 0;
    for _ in 0..JOINS.burst as usize {
        let (played, lines) = come(at(0));
        played.unwrap();
        said += lines;
    }
    assert_eq!(
        said as f64 * 100.0,
        CHAT.burst,
        "the address has one allowance, whatever its connections"
    );
    assert_eq!(come(at(0)).0, Err(Limit::Joins));
    come(at(60)).0.unwrap();
    let permit = admit(&table, STRANGER, at(61));
    assert_eq!(permit.rejoin_delay(at(61)), Duration::from_secs(2));
    assert_eq!(permit.rejoin_delay(at(70)), Duration::ZERO);
}

#[test]
fn nobody_is_closed_for_what_a_neighbour_says() {
    let (table, now) = (table(), Instant::now());
    let [mut loud, mut quiet] = [(); 2].map(|()| admit(&table, STRANGER, now));
    let said = (0..1000).take_while(|_| loud.charge_control(100, now).is_ok()).count();
    assert_eq!(said as f64 * 100.0, CONTROL.burst - CONTROL.burst % 100.0);
    assert_eq!(quiet.charge_control(2000, now), Ok(()));
    assert_eq!(loud.charge_control(100, now), Err(Limit::Control));
}

#[test]
fn all_addresses_together_say_no_more_than_the_match_can_bear() {
    let (table, now) = (table(), Instant::now());
    let mut said = 0.0;
    for host in 1..100 {
        let permit = admit(&table, &format!("192.0.2.{host}"), now);
        while permit.say(100, now).is_ok() {
            said += 100.0;
        }
    }
    assert_eq!(said, MATCH_CHAT.burst);
}

#[test]
fn handshakes_are_charged_to_proven_addresses_only() {
    let (table, now) = (table(), Instant::now());
    let address: IpAddr = STRANGER.parse().unwrap();
    // Permits that are dropped at once stand for handshakes that are broken off.
    let begun = (0..1000).filter(|_| matches!(table.ask(address, false, now), Verdict::Admit(_)));
    assert_eq!(begun.count() as f64, UNPROVEN_HANDSHAKES_PER_ADDRESS.burst);
    for _ in 0..HANDSHAKES.burst as usize {
        drop(admit(&table, STRANGER, now));
    }
    assert!(matches!(ask(&table, STRANGER, now), Verdict::Refuse(Limit::Handshakes)));
    assert!(matches!(table.ask(address, false, now), Verdict::Prove));
    drop(admit(&table, STRANGER, now + Duration::from_secs(1)));
    drop(admit(&table, OTHER, now));
}

#[test]
fn handshakes_that_are_broken_off_make_everybody_prove_their_address_and_refuse_nobody() {
    let (table, begin) = (table(), Instant::now());
    let at = |seconds| begin + Duration::from_secs(seconds);
    let address = |n: u32| IpAddr::from((0x0a00_0000 + n).to_be_bytes());
    let begun = |count: u32, now: Instant| {
        let admitted = |n: &u32| matches!(table.ask(address(*n), false, now), Verdict::Admit(_));
        (0..count).filter(admitted).count()
    };
    // An attacker can forge any number of addresses.
    assert_eq!(begun(5000, at(0)) as f64, UNPROVEN_HANDSHAKES.burst);
    assert_eq!(begun(5000, at(1)) as f64, UNPROVEN_HANDSHAKES.per_second);
    assert!(matches!(table.ask(OTHER.parse().unwrap(), false, at(1)), Verdict::Prove));
    drop(admit(&table, OTHER, at(1)));
}

#[test]
fn newcomers_prove_their_address_while_many_handshakes_are_under_way() {
    let (table, now) = (table(), Instant::now());
    let unproven = |address: &str| table.ask(address.parse().unwrap(), false, now);
    let mut guests = Vec::new();
    for _ in 0..UNPROVEN_PER_ADDRESS {
        guests.push(unproven(STRANGER));
    }
    assert!(matches!(unproven(STRANGER), Verdict::Prove));
    for _ in UNPROVEN_PER_ADDRESS..UNPROVEN {
        guests.push(unproven("127.0.0.1"));
    }
    assert!(guests.iter().all(|verdict| matches!(verdict, Verdict::Admit(_))));
    assert!(matches!(unproven(OTHER), Verdict::Prove));
}

#[test]
fn attempts_beyond_the_budget_of_answers_get_none() {
    let (table, begin) = (table(), Instant::now());
    let answered = |address: &dyn Fn(u32) -> IpAddr, count: u32, seconds: u64| {
        let now = begin + Duration::from_secs(seconds);
        (0..count).filter(|n| table.may_answer(address(*n), now)).count() as f64
    };
    let same = |_| STRANGER.parse().unwrap();
    assert_eq!(answered(&same, 1000, 0), ANSWERS_PER_ADDRESS.burst);
    assert_eq!(answered(&same, 1000, 1), ANSWERS_PER_ADDRESS.per_second);
    assert_eq!(table.lock().entries.len(), 1);
    // One address does not use up what others need. Forged addresses together get the total and no
    // more.
    let forged = |n: u32| IpAddr::from((0x0a00_0000 + n).to_be_bytes());
    assert_eq!(answered(&forged, 20_000, 60), ANSWERS.burst);
    assert_eq!(answered(&|_| "127.0.0.1".parse().unwrap(), 20_000, 120), ANSWERS.burst);
}

#[test]
fn attempts_from_forged_addresses_are_not_remembered() {
    let (table, now) = (table(), Instant::now());
    for n in 0..5000u32 {
        let address = IpAddr::from((0x0a00_0000 + n).to_be_bytes());
        drop(table.ask(address, false, now));
    }
    assert!(table.lock().entries.len() as f64 <= UNPROVEN_HANDSHAKES.burst);
}

#[test]
fn the_table_forgets_whom_it_needs_not_know_and_stays_bounded() {
    let (table, begin) = (table(), Instant::now());
    let address = |n: u32| IpAddr::from(n.to_be_bytes());
    let mut player = admit(&table, STRANGER, begin);
    player.play(begin).unwrap();
    for n in 0..2 * REMEMBERED as u32 {
        drop(table.ask(address(0x0a00_0000 + n), true, begin));
    }
    assert!(table.lock().entries.len() <= REMEMBERED);
    assert_eq!(
        table.lock().entry(AddressKey::from(STRANGER.parse::<IpAddr>().unwrap()), begin).players,
        1
    );
    table.lock().forget(begin + Duration::from_secs(600));
    assert_eq!(table.lock().entries.len(), 1);
}
