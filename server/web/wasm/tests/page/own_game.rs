//! The module replays a game of its own, the example `capture_the_flag`, and refuses other games.

#[path = "../../../../examples/capture_the_flag/rules.rs"]
mod rules;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use glam::DVec3;
use obsp::{Map, Source, Spaces};
use obsp_game::AnyGame;
use obsp_game::arena::Arena;
use obsp_page::{Change, Page, Replay};
use obsp_recording::{Beginning, Recorder, Recording, Writer};
use obsp_sim::{Buttons, Command, Config, EntityId, Kind, PlayerKind};
use rules::CaptureTheFlag;

/// The ticks of the recording, and the ticks between two keyframes.
const TICKS: u32 = 600;
const BETWEEN: u32 = 150;

/// The players of the recording, one more each tick, and the tick in which the second leaves.
const PLAYERS: u32 = 6;
const LEAVES: u32 = 400;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

fn map() -> Arc<Map> {
    let source = Source::read(&root().join("server/examples/capture_the_flag.map")).unwrap();
    let compiled =
        obsp::compile(&source, &Spaces::default(), &Default::default(), &mut |_, _, _| ());
    Arc::new(compiled.unwrap().map)
}

/// A recorded match, its digest after each tick, and how far a door or a lift has risen in it.
struct Recorded {
    bytes: Vec<u8>,
    digests: Vec<u64>,
    risen: f64,
}

/// The map, and a match on it.
static MATCH: LazyLock<(Arc<Map>, Recorded)> = LazyLock::new(|| {
    let map = map();
    let recorded = recorded(&map);
    (map, recorded)
});

/// Plays and records the match without the module. The players run to the flag of the other team,
/// which opens their own door, and every half second they do something else.
fn recorded(map: &Arc<Map>) -> Recorded {
    let config = Config { max_players: PLAYERS as u16, ..Config::default() };
    let mut game = CaptureTheFlag.new_match(Arc::clone(map), config).unwrap();
    let schema = CaptureTheFlag.schema(map).unwrap();
    let actions = ["push", "drop"].map(|action| schema.button(action).unwrap());
    let (mut bytes, mut recorder) = (Vec::new(), Recorder::new());
    let beginning = Beginning::of(&*game, config, "");
    let mut writer = Writer::begin("flags.obsr".into(), &mut bytes, &beginning).unwrap();
    let before = game.world().state();
    let (mut digests, mut risen) = (vec![game.digest()], 0.0);
    let mut players: Vec<(u32, EntityId)> = Vec::new();
    for tick in 1..=TICKS {
        if tick == LEAVES {
            game.leave(players.remove(1).1);
        }
        if tick <= PLAYERS {
            players.push((tick, game.join_as(PlayerKind::Box).unwrap()));
        }
        let command = |&(number, id): &(u32, EntityId)| {
            let ahead = if number % 2 == 1 { DVec3::X } else { DVec3::NEG_X };
            let running = Command::running_towards(ahead);
            let command = match tick / 30 % 4 {
                0 => Command { buttons: actions[0] | Buttons::JUMP, ..running },
                1 => Command { right: 127, buttons: actions[1], ..running },
                _ => running,
            };
            (id, command)
        };
        let commands: Vec<_> = players.iter().map(command).collect();
        game.step(&commands);
        writer.tick(recorder.tick(&commands, |_| PlayerKind::Box, game.digest())).unwrap();
        digests.push(game.digest());
        if tick % BETWEEN == 0 {
            writer.keyframe(&game.save()).unwrap();
        }
        for body in before.entities.iter().filter(|body| matches!(body.kind, Kind::Prop { .. })) {
            let now = game.world().entity(body.id).map_or(body.position, |now| now.position);
            if now.truncate() == body.position.truncate() {
                risen = f64::max(risen, now.z - body.position.z);
            }
        }
    }
    writer.finish().unwrap();
    Recorded { bytes, digests, risen }
}

fn opened(recorded: &Recorded, map: &Arc<Map>) -> Replay {
    let recording = Recording::read("flags.obsr".as_ref(), &recorded.bytes[..]).unwrap();
    Replay::new(recording, Arc::clone(map), &CaptureTheFlag).unwrap()
}

/// Gives the bytes to the page as JavaScript does.
fn opens(page: &mut Page, bytes: &[u8], game: &dyn AnyGame) -> (bool, String) {
    page.input(bytes.len()).copy_from_slice(bytes);
    let is_open = page.open_recording(game);
    (is_open, String::from_utf8_lossy(page.output()).into_owned())
}

#[test]
fn every_tick_of_a_game_of_its_own_has_the_digest_of_its_match() {
    let (map, recorded) = &*MATCH;
    println!(
        "{} bytes; a door or a lift has risen by {} units",
        recorded.bytes.len(),
        recorded.risen
    );
    assert!(recorded.risen > 32.0, "no door or lift rose by 32 units");
    let mut replay = opened(recorded, map);
    replay.verify(TICKS).unwrap();
    let progress = replay.progress();
    let expected = [
        format!(r#""verified":{},"#, TICKS + 1),
        format!(r#""audited":{},"#, TICKS / 60),
        format!(r#""digest":"{:016x}""#, recorded.digests[TICKS as usize]),
        r#""finding":null,"difference":null,"broken":null"#.to_owned(),
    ];
    assert!(expected.iter().all(|part| progress.contains(part)), "{progress}: {expected:?}");

    // Forward by one, then in leaps back and forth.
    let mut fresh = opened(recorded, map);
    let leaps = (0..50).map(|number| number * 389 % (TICKS + 1));
    for tick in (0..=TICKS).chain(leaps).chain((0..TICKS).rev().step_by(41)) {
        let shown = fresh.show(tick);
        let digest = recorded.digests[tick as usize];
        assert_eq!((shown.tick(), shown.game().digest()), (tick.into(), digest), "tick {tick}");
    }
}

#[test]
fn a_branch_of_a_game_of_its_own_plays_by_its_rules() {
    let (map, recorded) = &*MATCH;
    let mut replay = opened(recorded, map);
    let state = replay.show(300).world().state();
    let player = state.entities.iter().find(|entity| entity.kind.is_player()).unwrap();
    replay.branch(player.id.slot, Change::Nothing, 300).unwrap();
    for tick in [300, 301, 450, 310] {
        let branch = replay.show_branch(tick).unwrap();
        assert_eq!(branch.game().digest(), recorded.digests[tick as usize], "tick {tick}");
    }
}

#[test]
fn a_recording_of_another_game_is_refused_with_both_names_before_its_map_is_asked_for() {
    let (map, Recorded { bytes: flags, .. }) = &*MATCH;
    let arena = std::fs::read(root().join("tests/recordings/arena.obsr")).unwrap();
    let mut page = Page::default();
    for (bytes, game, recorded, played) in [
        (flags, &Arena as &dyn AnyGame, "CaptureTheFlag", "Arena"),
        (&arena, &CaptureTheFlag, "Arena", "CaptureTheFlag"),
    ] {
        let (is_open, said) = opens(&mut page, bytes, game);
        assert!(!is_open, "{recorded} was opened by the rules of {played}");
        let names = format!("of the game {recorded}, but this page plays {played};");
        assert!(said.contains(&names) && said.contains("--replay-module"), "{said}");
        assert!(!page.open_map(), "a refused recording stayed open");
    }
    let (is_open, said) = opens(&mut page, flags, &CaptureTheFlag);
    assert!(is_open, "{said}");
    let bytes = map.to_bytes();
    page.input(bytes.len()).copy_from_slice(&bytes);
    assert!(page.open_map(), "{}", String::from_utf8_lossy(page.output()));
    assert_eq!(page.show(LEAVES), LEAVES);
}
