//! Recordings. The reader refuses bytes that are not a recording, and reads a damaged one up to the
//! damage. A recording takes no more memory than its file has bytes, and the body of a frame is
//! safe to read even if an attacker made its hash.
//!
//! The input is read as the body of a frame. It is also read as a byte that chooses a keyframe,
//! followed by changes of four bytes each to the recording of a short match. The changes are made
//! twice: to the bytes of the recording, where the hashes have to reveal them, and to the bodies of
//! its frames, with hashes that fit.
#![no_main]

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use obsp_game::arena::Arena;
use obsp_game::{AnyGame, Event, GameFile};
use obsp_recording::{
    Beginning, Keyframe, Note, Playback, RecordedTick, Recorder, Recording, RecordingError, Said,
    Writer,
};
use obsp_sim::{Buttons, Command, Config};

/// Ticks of the recorded match, and from one keyframe of it to the next.
const TICKS: u64 = 60;
const INTERVAL: u64 = 12;

/// Maximum number of ticks that the target plays, maximum number of bodies of a match that it sets
/// up, and the largest `choice` with which it plays. With a larger `choice` it only reads, because
/// playing takes ten times as long.
const PLAYED: usize = 4;
const BODIES: u64 = 64;
const PLAYS: u8 = u8::MAX / 8;

struct Fixture {
    map: Arc<obsp::Map>,
    bytes: Vec<u8>,
    recording: Recording,
    ticks: Vec<RecordedTick>,
    keyframes: Vec<Keyframe>,
}

/// A match with a `game.toml` and players who shoot, one of whom leaves.
static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/arena.obsp");
    let map = Arc::new(obsp::Map::load(path.as_ref()).expect("a shipped map"));
    let file = GameFile::parse("[movement]\ngravity = 300\n").expect("a game file");
    let config = Config { tick_rate: 60, seed: 5, objects: 1, max_players: 3 };
    let arena = Arena.with_file(&file);
    let mut game = arena.new_match(Arc::clone(&map), config).expect("the arena can be played");
    let mut bytes = Vec::new();
    let beginning = Beginning::of(&*game, config, "the fuzz target");
    let mut writer = Writer::begin(PathBuf::new(), &mut bytes, &beginning).expect("memory");
    let mut recorder = Recorder::new();
    let mut players: Vec<_> =
        [(); 2].map(|()| game.join_as(Default::default()).expect("there is room")).to_vec();
    for tick in 1..=TICKS {
        if tick == 20 {
            game.leave(players.remove(0));
        }
        let yaw = (tick as u16).wrapping_mul(700);
        let buttons = if tick % 30 == 0 { Buttons::TERTIARY } else { Buttons::SECONDARY };
        let command = Command { forward: 127, yaw, buttons, ..Command::default() };
        let commands: Vec<_> = players.iter().map(|player| (*player, command)).collect();
        game.step(&commands);
        if tick % 25 == 1 {
            writer.note(Note { tick, what: Said::Name(0, format!("player at {tick}")) });
            writer.note(Note { tick, what: Said::Chat(Some(0), "hello".to_owned()) });
        }
        for event in game.events() {
            if let Event::Died { player, by, .. } = event {
                writer.note(Note { tick, what: Said::Died(player.slot, by.slot) });
            }
        }
        let kind = |id| game.world().player_kind(id).unwrap_or_default();
        writer.tick(recorder.tick(&commands, kind, game.digest())).expect("memory");
        // Five keyframes follow the first. The fourth of them is packed by the first alone, and the
        // fifth by the fourth.
        if tick % INTERVAL == 0 {
            writer.keyframe(&game.save()).expect("memory");
        }
    }
    writer.finish().expect("memory");
    let recording = Recording::read("the fixture".as_ref(), &bytes[..]).expect("a recording");
    assert!(recording.incomplete().is_none(), "{:?}", recording.incomplete());
    let ticks = ticks_of(&recording);
    let numbers = 0..recording.keyframes().len();
    let keyframes = numbers.map(|number| recording.keyframe(number).expect("a keyframe"));
    let keyframes: Vec<_> = keyframes.collect();
    assert_eq!((ticks.len() as u64, keyframes.len() as u64), (TICKS, TICKS / INTERVAL + 1));
    Fixture { map, bytes, recording, ticks, keyframes }
});

fn ticks_of(recording: &Recording) -> Vec<RecordedTick> {
    let ticks = recording.ticks_after(0).expect("the first keyframe was read");
    ticks.map(|tick| tick.expect("its hash is right")).collect()
}

/// Damages the recording by changed bytes or a cut. The reader has to refuse it, or to read the
/// recorded ticks up to the tick that the error names.
fn damage(fixture: &Fixture, choice: u8, changes: &[u8]) {
    let Fixture { bytes, recording: whole, ticks, keyframes, .. } = fixture;
    let mut damaged = bytes.clone();
    let changes = changes.chunks_exact(4);
    if let &[low, high, ..] = changes.remainder() {
        damaged.truncate(usize::from(u16::from_le_bytes([low, high])));
    }
    for change in changes {
        let place = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize;
        if let Some(last) = damaged.len().checked_sub(1) {
            damaged[place % (last + 1)] ^= change[3];
        }
    }
    let Ok(read) = Recording::read("the recording".as_ref(), &damaged[..]) else {
        return assert_ne!(&damaged, bytes, "the reader refused a whole recording");
    };
    let last = match read.incomplete() {
        None => {
            assert_eq!(&damaged, bytes, "the reader took a damaged recording for a whole one");
            whole.ticks()
        }
        Some(RecordingError::Truncated { tick, .. } | RecordingError::Damaged { tick, .. }) => {
            *tick
        }
        Some(other) => panic!("{other}"),
    };
    let read_ticks = ticks_of(&read);
    assert_eq!((read.ticks(), read_ticks.len() as u64), (last, last));
    assert_eq!(read.header(), whole.header());
    assert_eq!(read.game_file().bundle(), whole.game_file().bundle());
    assert!(ticks.starts_with(&read_ticks));
    let number = usize::from(choice) % read.keyframes().len();
    assert_eq!(&read.keyframe(number).expect("its hash is right"), &keyframes[number]);
    assert!(whole.notes().starts_with(read.notes()));
}

/// The recording with changes to the bodies of its frames. The first byte of a change chooses a
/// frame, the next two a place in it, and the last the kind of change.
fn resealed(fixture: &Fixture, changes: &[u8]) -> Vec<u8> {
    obsp_recording::with_bodies(&fixture.bytes, |number, mut body| {
        let mut copies = 1;
        for change in changes.chunks_exact(4).filter(|change| usize::from(change[0]) == number) {
            let place = usize::from(u16::from_le_bytes([change[1], change[2]]));
            match (body.len(), change[3]) {
                (_, 0) => copies = place % 6,
                (length, 1) => body.truncate(place % (length + 1)),
                (length, 2) => body.insert(place % (length + 1), change[1]),
                (0, _) => {}
                (length, added) => {
                    let byte = &mut body[place % length];
                    *byte = byte.wrapping_add(added - 2);
                }
            }
        }
        vec![body; copies]
    })
}

/// Reads and plays a recording that an attacker made.
fn play(fixture: &Fixture, choice: u8, bytes: &[u8]) {
    let Ok(recording) = Recording::read("the recording".as_ref(), bytes) else { return };
    let number = usize::from(choice) % recording.keyframes().len();
    let Ok(ticks) = recording.ticks_after(number) else { return };
    let ticks: Vec<_> = ticks.map_while(Result::ok).collect();
    assert!(ticks.len() as u64 <= recording.ticks(), "more than {} ticks", recording.ticks());
    let Ok(keyframe) = recording.keyframe(number) else { return };
    if choice > PLAYS {
        return;
    }
    let map = || Arc::clone(&fixture.map);
    let config = recording.header().config();
    let is_small = u64::from(config.objects) + u64::from(config.max_players) <= BODIES;
    if is_small && recording.header() != fixture.recording.header() {
        let _ = Playback::new(&recording, map(), &Arena);
    }
    let Ok(mut playback) = Playback::at(&recording, &keyframe, map(), &Arena) else { return };
    ticks.iter().take(PLAYED).for_each(|tick| playback.step(tick));
}

fuzz_target!(|bytes: &[u8]| {
    obsp_recording::read_as_bodies(bytes);
    let (choice, changes) = bytes.split_first().unwrap_or((&0, &[]));
    damage(&FIXTURE, *choice, changes);
    play(&FIXTURE, *choice, &resealed(&FIXTURE, changes));
});
