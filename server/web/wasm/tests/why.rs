//! The module explains bodies of the committed recording.

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
