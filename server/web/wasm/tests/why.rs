//! The module explains bodies of the committed recording.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use obsp_page::Replay;
use obsp_recording::Recording;
use obsp_sim::Why;

/// The last tick that is looked at.
const END: u32 = 420;

fn opened() -> Replay {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let recording = Recording::open(&root.join("tests/recordings/arena.obsr")).unwrap();
    let map = std::fs::read(root.join("maps/arena.obsp")).unwrap();
    Replay::new(recording, Arc::new(obsp::World::from_bytes(&map).unwrap())).unwrap()
}

/// Symptom: of a body that the guard had stopped nothing was told in ticks to which the replay
/// had come by a state that it kept. Cause: a saved match does not have what stopped bodies in
/// its last tick. Cure: the tick that is asked about is played, from a state before it.
#[test]
fn what_stopped_a_body_is_told_however_the_tick_was_come_to() {
    let mut replay = opened();
    let mut stops = Vec::new();
    for tick in 1..=END {
        let playback = replay.show(tick);
        let (world, state) = (playback.world(), playback.world().state());
        let why = state.entities.iter().filter_map(|entity| world.why(entity.id));
        stops.extend(why.filter(|why| why.stopped.is_some()).map(|why| (tick, why)));
    }
    // Those of ticks whose states are kept first.
    stops.sort_by_key(|(tick, _)| tick % 30);
    println!("{} stops, at {:?} first", stops.len(), stops.first().map(|(tick, _)| tick));
    assert!(!stops.is_empty(), "nothing was stopped in the whole recording");
    for (tick, Why { id, stopped, .. }) in stops.iter().take(3) {
        let share = stopped.as_ref().map_or(0.0, |stopped| stopped.share);
        // By the state that is kept, from the tick itself, and from the one before.
        for from in [END, *tick, tick - 1] {
            replay.show(from);
            let told = replay.why(id.slot, *tick);
            assert!(told.contains(&format!(r#""share":{share}}}"#)), "{tick} from {from}: {told}");
        }
    }
}

/// Symptom: of a player it was told for how many ticks of those that it takes to fall asleep it
/// had been still, which nobody counts. Cause: players do not sleep. Cure: that is told.
#[test]
fn of_players_it_is_told_that_they_do_not_sleep() {
    let mut replay = opened();
    let entities = replay.show(300).world().state().entities.clone();
    let of = |is_player| entities.iter().filter(move |one| one.kind.is_player() == is_player);
    for (is_player, sleeps) in [(true, "never_player"), (false, "at_rest")] {
        let asked: Vec<u16> = of(is_player).map(|entity| entity.id.slot).take(4).collect();
        assert_eq!(asked.len(), 4);
        for slot in asked {
            let told = replay.why(slot, 300);
            assert!(told.contains(&format!(r#""sleeps":"{sleeps}""#)), "{told}");
        }
    }
}

/// Symptom: of a body that lay since the recording began, 15 s before, it was told that it had
/// not moved for two minutes. Cause: a search that found nothing did not tell how far it had
/// looked. Cure: it looks as far as the recording goes, and tells since when the body lies.
#[test]
fn when_a_body_last_moved_is_what_all_ticks_say() {
    let mut replay = opened();
    let asked = [1, END];
    let (mut before, mut moved, mut expected) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for tick in 0..=END {
        let entities = replay.show(tick).world().state().entities.clone();
        for entity in &entities {
            let pose = (entity.position.to_array(), entity.orientation.to_array());
            let there = before.insert(entity.id, pose);
            if tick > 0 && there != Some(pose) {
                moved.insert(entity.id, tick);
            }
        }
        if asked.contains(&tick) {
            expected.push((tick, entities, moved.clone()));
        }
    }
    let mut counts = [0; 2];
    for (tick, entities, moved) in expected {
        let mut so_far = [0; 2];
        for id in entities.iter().map(|entity| entity.id) {
            let count = &mut so_far[usize::from(moved.contains_key(&id))];
            *count += 1;
            if *count > 8 {
                continue;
            }
            let told = (0..100).find_map(|_| replay.last_moved(id.slot, tick));
            let (since, at) = match moved.get(&id) {
                Some(at) => (*at, at.to_string()),
                None => (0, "null".to_owned()),
            };
            let expected = format!(r#"{{"moved":{at},"since":{since}}}"#);
            assert_eq!(told, Some(expected), "{id:?} at tick {tick}");
            let moves = format!(r#""moves":{}"#, moved.get(&id) == Some(&tick));
            let told = replay.why(id.slot, tick);
            assert!(told.contains(&moves), "{id:?} at tick {tick}: {told}");
            counts[usize::from(moved.contains_key(&id))] += 1;
        }
    }
    println!("{counts:?} bodies that had not moved, and that had");
    assert!(counts.iter().all(|&count| count >= 8), "{counts:?}");
}
