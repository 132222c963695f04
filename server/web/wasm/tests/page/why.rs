//! The module explains bodies of the committed recording.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use obsp_game::arena::Arena;
use obsp_page::Replay;
use obsp_recording::Recording;
use obsp_sim::Why;

/// The last tick that the tests look at.
const END: u32 = 420;

fn opened() -> Replay {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let recording = Recording::open(&root.join("tests/recordings/arena.obsr")).unwrap();
    let map = std::fs::read(root.join("maps/arena.obsp")).unwrap();
    let map = Arc::new(obsp::Map::from_bytes(&map).unwrap());
    Replay::new(recording, map, &Arena).unwrap()
}

/// Symptom: the page did not say that the guard had stopped a body, in ticks that the replay had
/// reached from a kept state. Cause: a saved match does not hold what stopped bodies in its last
/// tick. Cure: the tick that is asked about is played, from a state before it.
#[test]
fn the_obstacle_of_a_stop_is_told_after_a_restore_too() {
    let mut replay = opened();
    let mut stops = Vec::new();
    for tick in 1..=END {
        let playback = replay.show(tick);
        let (world, state) = (playback.world(), playback.world().state());
        let why = state.entities.iter().filter_map(|entity| world.why(entity.id));
        stops.extend(why.filter(|why| why.stopped.is_some()).map(|why| (tick, why)));
    }
    // The ticks whose states are kept come first.
    stops.sort_by_key(|(tick, _)| tick % 30);
    println!("{} stops, at {:?} first", stops.len(), stops.first().map(|(tick, _)| tick));
    assert!(!stops.is_empty(), "nothing was stopped in the whole recording");
    for (tick, Why { id, stopped, .. }) in stops.iter().take(3) {
        let share = stopped.as_ref().map_or(0.0, |stopped| stopped.share);
        // The tick is reached from a kept state, from the tick itself, and from the tick before.
        for from in [END, *tick, tick - 1] {
            replay.show(from);
            let told = replay.why(id.slot, *tick);
            assert!(told.contains(&format!(r#""share":{share}}}"#)), "{tick} from {from}: {told}");
        }
    }
}

/// Symptom: the page told for how many ticks a player had been still before sleep. Cause: nothing
/// counts these ticks, because players do not sleep. Cure: the page says that players do not sleep.
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

/// Symptom: the page said that a body had not moved for two minutes, although the recording began
/// 15 s before. Cause: a search that found nothing did not say how far it had searched. Cure: it
/// searches the whole recording, and says since which tick the body lies.
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
    println!("{counts:?}: bodies that had not moved, and bodies that had moved");
    assert!(counts.iter().all(|&count| count >= 8), "{counts:?}");
}
