//! Branches of the committed recording. A branch without a change equals the recording to the bit,
//! and a branch with a change stays sound.

use std::path::Path;
use std::sync::Arc;

use obsp_game::AnyGame;
use obsp_game::arena::Arena;
use obsp_page::{Change, Keys, Replay};
use obsp_recording::{Playback, Recording};
use obsp_sim::audit::Audit;
use obsp_sim::{EntityId, Kind};

/// The tick at which branches begin, and a tick some seconds later.
const BEGIN: u32 = 300;
const END: u32 = 600;

fn opened() -> (Replay, Arc<obsp::Map>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let recording = Recording::open(&root.join("tests/recordings/arena.obsr")).unwrap();
    let map = std::fs::read(root.join("maps/arena.obsp")).unwrap();
    let map = Arc::new(obsp::Map::from_bytes(&map).unwrap());
    (Replay::new(recording, Arc::clone(&map), &Arena).unwrap(), map)
}

fn entities(replay: &mut Replay, is: impl Fn(&Kind) -> bool) -> Vec<EntityId> {
    let state = replay.show(BEGIN).world().state();
    let found: Vec<_> = state.entities.iter().filter(|entity| is(&entity.kind)).collect();
    found.iter().map(|entity| entity.id).collect()
}

fn place(playback: &Playback, id: EntityId) -> Option<glam::DVec3> {
    playback.world().entity(id).map(|entity| entity.position)
}

#[test]
fn a_branch_with_nothing_changed_has_the_digests_of_the_record() {
    let (mut replay, _) = opened();
    let slot = entities(&mut replay, |kind| kind.is_player())[0].slot;
    replay.branch(slot, Change::Nothing, BEGIN).unwrap();
    // The ticks go forward, then back to before the kept states, and forward again.
    for tick in (BEGIN..END).chain([BEGIN, BEGIN + 7, BEGIN + 61, END - 1]) {
        let recorded = replay.show(tick).game().digest();
        let branch = replay.show_branch(tick).unwrap();
        assert_eq!(branch.tick(), u64::from(tick));
        assert_eq!(branch.game().digest(), recorded, "tick {tick}");
    }
    assert!(replay.show_branch(BEGIN - 1).is_none(), "the tick is before the branch");
    replay.end_branch();
    assert!(replay.show_branch(BEGIN).is_none());
}

#[test]
fn a_body_that_is_removed_is_gone_and_nothing_overlaps() {
    let (mut replay, map) = opened();
    let mut audit = Audit::new(&map, &Arena.models(&map)).unwrap();
    let players = entities(&mut replay, |kind| kind.is_player());
    let props = entities(&mut replay, |kind| matches!(kind, Kind::Prop { .. }));
    for id in [players[0], props[0], props[props.len() / 2], props[props.len() - 1]] {
        replay.branch(id.slot, Change::Removed, BEGIN).unwrap();
        let recorded = replay.show(BEGIN).world().state().entities.len();
        let branch = replay.show_branch(BEGIN).unwrap();
        assert_eq!(branch.world().state().entities.len(), recorded - 1, "{id:?}");
        for tick in (BEGIN..END).step_by(10) {
            let branch = replay.show_branch(tick).unwrap();
            assert!(place(branch, id).is_none(), "{id:?} is there at tick {tick}");
            let found = audit.check_match(branch.world());
            assert!(found.is_empty(), "{id:?} removed, tick {tick}: {found:?}");
        }
        // The recorded match is unchanged.
        assert!(replay.show(END).difference().is_none());
    }
}

#[test]
fn a_player_whose_keys_are_changed_goes_another_way() {
    let (mut replay, _) = opened();
    let players = entities(&mut replay, |kind| kind.is_player());
    let moved = |replay: &mut Replay, id| {
        let [from, to] = [BEGIN, BEGIN + 20].map(|tick| place(replay.show(tick), id));
        from.zip(to).is_some_and(|(from, to)| from.distance(to) > 20.0)
    };
    let walker = *players.iter().find(|&&id| moved(&mut replay, id)).unwrap();
    let change = Change::Keys(Keys::Still, 60);
    replay.branch(walker.slot, change, BEGIN).unwrap();
    let recorded = place(replay.show(BEGIN + 20), walker).unwrap();
    let still = place(replay.show_branch(BEGIN + 20).unwrap(), walker).unwrap();
    assert!(recorded.distance(still) > 5.0, "{recorded} and {still}");
    // The changes are refused: props hold no keys, and nobody is in an empty slot.
    let prop = entities(&mut replay, |kind| matches!(kind, Kind::Prop { .. }))[0];
    replay.branch(prop.slot, change, BEGIN).unwrap_err();
    replay.branch(u16::MAX, Change::Removed, BEGIN).unwrap_err();
}
