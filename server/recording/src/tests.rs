//! Recordings, whole and damaged.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use obsp_game::arena::Arena;
use obsp_game::{AnyGame, Event, GameFile, PlayerInfo};
use obsp_sim::{Buttons, Command, Config, EntityId, PlayerKind, Random};

use crate::format::VERSION;
use crate::*;

/// Number of ticks of the recorded match.
const TICKS: u64 = 300;
const INTERVAL: u64 = 60;

/// The tick before which a player leaves.
const LEFT: u64 = 120;

/// The ticks before which the first player talks.
const SPEAKS: [u64; 7] = [4, 60, 61, LEFT, 128, 129, TICKS - 1];

/// A file for one test, removed at its end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(test: &str) -> Self {
        Self(std::env::temp_dir().join(format!("{test}-{}.obsr", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn map() -> Arc<obsp::Map> {
    static MAP: OnceLock<Arc<obsp::Map>> = OnceLock::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../maps/arena.obsp");
    Arc::clone(MAP.get_or_init(|| obsp::Map::load(&path).expect("a shipped map").into()))
}

/// A recorded match: its bytes, its ticks, its notes, and its states at the keyframes.
struct Recorded {
    bytes: Vec<u8>,
    ticks: Vec<RecordedTick>,
    notes: Vec<Note>,
    keyframes: Vec<Keyframe>,
}

/// A match of six players. One of them leaves.
fn recorded() -> &'static Recorded {
    static RECORDED: OnceLock<Recorded> = OnceLock::new();
    RECORDED.get_or_init(|| {
        let file = Temporary::new("recording-whole");
        let config = Config { tick_rate: 60, seed: 7, objects: 12, max_players: 8 };
        let mut game = Arena.new_match(map(), config).expect("the arena can be played");
        let beginning = Beginning::of(&*game, config, "0.1.0 (executable 0123)");
        assert_eq!(beginning.header.config(), config);
        let mut writer = Writer::create(&file.0, &beginning).expect("a file");
        let (mut recorder, mut random) = (Recorder::new(), Random::new(3));
        let mut commands: Vec<(EntityId, Command)> = Vec::new();
        let kind = |id: EntityId| match id.slot.is_multiple_of(5) {
            true => PlayerKind::Hovertank,
            false => PlayerKind::Box,
        };
        let name = Note { tick: 1, what: Said::Name(3, "Ada".into()) };
        writer.note(name.clone());
        let (mut ticks, mut notes, mut keyframes) = (Vec::new(), vec![name], Vec::new());
        let commands_of = |commands: &[(EntityId, Command)]| {
            let mut sorted = commands.to_vec();
            sorted.sort_unstable_by_key(|(id, _)| *id);
            sorted
        };
        keyframes.push(Keyframe { tick: 0, commands: vec![], saved: game.save() });
        for number in 1..=TICKS {
            // The first player talks, also at the edges of chunks and when another leaves.
            if let Some((speaker, _)) = commands.first().filter(|_| SPEAKS.contains(&number)) {
                game.say(*speaker, "hello");
                game.say(*speaker, &format!("this is tick {number}"));
            }
            if number <= 6 {
                let next = game.world().state().entities.len() as u16;
                let kind = kind(EntityId { slot: next, generation: 0 });
                // One player has no token, and nothing is known of another.
                let player_id = (number != 2).then_some(u64::MAX - number);
                let info = PlayerInfo { name: format!("Ada {number}"), player_id };
                let id = match number {
                    5 => game.join_as(kind),
                    _ => game.join(kind, info),
                };
                commands.push((id.expect("there is room"), Command::default()));
            }
            if number == LEFT {
                let (left, _) = commands.remove(2);
                game.leave(left);
            }
            for (_, command) in &mut commands {
                if random.below(3) > 0 {
                    command.forward = 127;
                    command.yaw = command.yaw.wrapping_add(random.below(900) as u16);
                    command.pitch = command.pitch.wrapping_sub(random.below(5) as i16);
                    command.view_age = 30 + random.below(4) as u16;
                    command.buttons = match random.below(20) {
                        0 => Buttons::PRIMARY,
                        1 => Buttons::SECONDARY | Buttons::JUMP,
                        2 => Buttons::PROTECTED,
                        _ => Buttons::default(),
                    };
                }
            }
            game.step(&commands);
            for event in game.events() {
                if let Event::Died { player, by, means } = event {
                    let note = Note { tick: number, what: Said::died(*player, *by, means) };
                    writer.note(note.clone());
                    notes.push(note);
                }
            }
            let joined_as = |id| game.world().player_kind(id).expect("it plays");
            let tick = recorder.tick(&commands, joined_as, game.digest()).with_words(&*game);
            writer.tick(tick.clone()).expect("a file");
            ticks.push(tick);
            // A server flushes every second. Here a flush also happens in the middle of a chunk.
            if number.is_multiple_of(70) {
                writer.flush().expect("a file");
            }
            if number.is_multiple_of(INTERVAL) {
                writer.keyframe(&game.save()).expect("a file");
                let commands = commands_of(&commands);
                keyframes.push(Keyframe { tick: number, commands, saved: game.save() });
            }
        }
        let told = writer.bytes();
        writer.finish().expect("a file");
        let bytes = std::fs::read(&file.0).expect("the file was written");
        assert!(told < bytes.len() as u64 && bytes.len() as u64 <= told + 4_000, "{told}");
        Recorded { bytes, ticks, notes, keyframes }
    })
}

fn read(bytes: &[u8]) -> Result<Recording, RecordingError> {
    Recording::read("the recording".as_ref(), bytes)
}

fn ticks_of(recording: &Recording) -> Vec<RecordedTick> {
    let ticks = recording.ticks_after(0).expect("a keyframe");
    ticks.map(|tick| tick.expect("a whole chunk")).collect()
}

#[test]
fn a_written_file_is_read_back() {
    let Recorded { bytes, ticks, notes, keyframes } = recorded();
    let recording = read(bytes).expect("a recording");
    assert!(recording.incomplete().is_none(), "{:?}", recording.incomplete());
    assert_eq!(recording.ticks(), TICKS);
    assert_eq!(&ticks_of(&recording), ticks);
    assert_eq!(recording.notes(), notes);
    assert_eq!(recording.keyframes().collect::<Vec<_>>(), [0, 60, 120, 180, 240, 300]);
    for (number, keyframe) in keyframes.iter().enumerate() {
        assert_eq!(&recording.keyframe(number).expect("a keyframe"), keyframe);
        let after = recording.ticks_after(number).expect("a keyframe");
        let after: Vec<RecordedTick> = after.map(Result::unwrap).collect();
        assert_eq!(after, ticks[number * INTERVAL as usize..], "after keyframe {number}");
    }
    for (tick, number) in [(0, 0), (59, 0), (60, 1), (299, 4), (300, 5), (9_999, 5)] {
        assert_eq!(recording.keyframe_before(tick), number, "tick {tick}");
    }
    // A player left, and only changed commands are recorded.
    assert_eq!(ticks[LEFT as usize - 1].left.len(), 1);
    let said: usize = ticks.iter().map(|tick| tick.said.len()).sum();
    assert_eq!(said, 2 * SPEAKS.len());
    let introduced: Vec<u64> =
        (1..=TICKS).filter(|number| !ticks[*number as usize - 1].introduced.is_empty()).collect();
    assert_eq!(introduced, [1, 2, 3, 4, 6]);
    let changes: usize = ticks.iter().map(|tick| tick.commands.len()).sum();
    assert!((600..1_500).contains(&changes), "{changes} changes");
}

#[test]
fn words_of_a_tick_that_their_chunk_does_not_have_are_damage() {
    let ticks = &recorded().ticks[..2];
    let said = [(EntityId { slot: 1, generation: 2 }, "hello".to_owned())].to_vec();
    let talking = RecordedTick { said, ..RecordedTick::default() };
    let all = [ticks, std::slice::from_ref(&talking)].concat();
    let body = crate::words::body_of(&all).expect("few words");
    let mut read: Vec<RecordedTick> = vec![RecordedTick::default(); 3];
    crate::words::add(&body, &mut read).expect("the words of three ticks");
    assert_eq!(read[2], talking);
    assert_eq!(read[0].introduced, ticks[0].introduced);
    let error = crate::words::add(&body, &mut read[..2]).unwrap_err();
    assert!(error.contains("a tick that their chunk does not have"), "{error}");
}

/// A match is verified from every keyframe, and a keyframe made on the way equals the recorded one.
#[test]
fn a_match_is_played_again_from_every_keyframe() {
    let Recorded { bytes, ticks, keyframes, .. } = recorded();
    let recording = read(bytes).expect("a recording");
    let mut whole = Playback::new(&recording, map(), &Arena).expect("a match");
    for tick in ticks {
        whole.step(tick);
        let number = (whole.tick() / INTERVAL) as usize;
        if whole.tick().is_multiple_of(INTERVAL) {
            assert_eq!(whole.keyframe(), keyframes[number]);
        }
    }
    assert_eq!((whole.difference(), whole.verified()), (None, TICKS));
    for (number, keyframe) in keyframes.iter().enumerate() {
        let mut part = Playback::at(&recording, keyframe, map(), &Arena).expect("a keyframe");
        ticks[number * INTERVAL as usize..].iter().for_each(|tick| part.step(tick));
        assert_eq!((part.difference(), part.tick()), (None, TICKS), "keyframe {number}");
        assert_eq!(part.game().digest(), whole.game().digest());
        whole.go_to(keyframe).expect("a keyframe");
        assert_eq!(whole.tick(), keyframe.tick);
        ticks[number * INTERVAL as usize..].iter().for_each(|tick| whole.step(tick));
        assert_eq!(whole.difference(), None);
    }
}

/// The bytes of a recording: a short match of one player who jumps, with a `game.toml`. Each test
/// has a file of its own.
fn recorded_by(test: &str, game_file: &GameFile) -> Vec<u8> {
    let file = Temporary::new(test);
    let config = Config { tick_rate: 60, seed: 7, objects: 3, max_players: 2 };
    let arena = Arena.with_file(game_file);
    let mut game = arena.new_match(map(), config).expect("the arena can be played");
    let mut writer = Writer::create(&file.0, &Beginning::of(&*game, config, "")).expect("a file");
    let mut recorder = Recorder::new();
    let jumper = game.join_as(PlayerKind::Box).expect("there is room");
    let jump = Command { forward: 127, buttons: Buttons::JUMP, ..Command::default() };
    for number in 1..=120_u64 {
        let commands = [(jumper, if number % 40 < 20 { jump } else { Command::default() })];
        game.step(&commands);
        let tick = recorder.tick(&commands, |_| PlayerKind::Box, game.digest());
        writer.tick(tick).expect("a file");
        if number == 60 {
            writer.keyframe(&game.save()).expect("a file");
        }
    }
    writer.finish().expect("a file");
    std::fs::read(&file.0).expect("the file was written")
}

/// The recording contains the numbers that the match was played by. So it replays to equal digests
/// without the file beside the map, from its beginning and from a keyframe.
#[test]
fn a_match_by_a_game_file_is_played_again_by_it() {
    let text = "[movement]\ngravity = 300\njump_speed = 500\n[models]\nblock = 'block.obj'\n";
    let model = include_str!("../../../maps/models/l_block.obj");
    let file = GameFile::read(text, &mut |_| Ok(model.to_owned())).expect("a game file");
    let recording = read(&recorded_by("recording-by-file", &file)).expect("a recording");
    assert!(recording.incomplete().is_none(), "{:?}", recording.incomplete());
    assert_eq!(recording.game_file().text(), text);
    assert_eq!(recording.header().game_hash, *blake3::hash(file.bundle()).as_bytes());
    assert_eq!(recording.game_file().models()[0].name(), "block");
    let second = recording.keyframe(1).expect("a keyframe");
    for (mut playback, from) in [
        (Playback::new(&recording, map(), &Arena).expect("a match"), 0),
        (Playback::at(&recording, &second, map(), &Arena).expect("a match"), 1),
    ] {
        let ticks = recording.ticks_after(from).expect("a keyframe");
        ticks.for_each(|tick| playback.step(&tick.expect("a whole chunk")));
        assert_eq!((playback.tick(), playback.difference()), (120, None));
    }
    // Without the file, the same commands lead to another match.
    let usual = read(&recorded_by("recording-by-file", &GameFile::default())).expect("a recording");
    assert_eq!((usual.header().game_hash, usual.game_file().text()), ([0; 32], ""));
    assert_ne!(ticks_of(&usual).last(), ticks_of(&recording).last());
    let error = Playback::at(&usual, &second, map(), &Arena).unwrap_err().to_string();
    assert!(error.contains("another list of models"), "{error}");
    let lighter = GameFile::parse("[movement]\ngravity = 300\n").expect("a game file");
    let second =
        read(&recorded_by("recording-by-file", &lighter)).and_then(|lighter| lighter.keyframe(1));
    let other = Playback::at(&usual, &second.expect("a keyframe"), map(), &Arena);
    let error = other.unwrap_err().to_string();
    assert!(error.contains("another game.toml"), "{error}");
}

/// An attacker can make all hashes of a recording match, so the `game.toml` in it is checked
/// separately.
#[test]
fn another_game_file_than_the_header_names_is_refused() {
    use crate::frame::{Chain, Found, Kind};
    let file = GameFile::parse("[movement]\ngravity = 300\n").expect("a game file");
    let bytes = recorded_by("recording-other-file", &file);
    let lighter = GameFile::parse("[movement]\ngravity = 301\n").expect("a game file");
    let of = |bundle: &[u8], numbers: &GameFile| {
        crate::format::encode(&(bundle, numbers.to_binary())).expect("a short frame")
    };
    let saying = |gravity: &[u8]| {
        let mut bundle = file.bundle().to_vec();
        let at = bundle.windows(3).position(|bytes| bytes == b"300").expect("its text");
        bundle[at..at + 3].copy_from_slice(gravity);
        bundle
    };
    let frail = GameFile::parse("[player]\nhealth = 1\n").expect("a game file");
    for (frame, expected) in [
        (of(lighter.bundle(), &lighter), "not the one that its header names"),
        (of(file.bundle(), &frail), "are not the numbers that its match is played by"),
        (of(&saying(b"301"), &file), "contradict the game.toml"),
        (of(&saying(b"9e9"), &file), "line 2, column 11: gravity is 9000000000"),
        (of(&[], &GameFile::default()), "not the one"),
    ] {
        let (mut chain, mut again, mut file) = (Chain::new(), Chain::new(), &bytes[6..]);
        let mut out = bytes[..6].to_vec();
        while let Ok(Found::Frame(kind, body)) = frame::read(&mut file, &mut chain) {
            let body = if kind == Kind::GameFile { frame.clone() } else { body };
            frame::write(&mut out, &mut again, kind, &body).expect("memory");
        }
        let error = read(&out).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_cut_recording_plays_up_to_where_it_ends() {
    let Recorded { bytes, ticks, .. } = recorded();
    let mut lengths = std::collections::BTreeSet::new();
    for length in (0..bytes.len()).step_by(97).chain(bytes.len() - 60..bytes.len()) {
        match read(&bytes[..length]) {
            Ok(recording) => {
                let read = ticks_of(&recording);
                assert!(ticks.starts_with(&read), "cut to {length}");
                lengths.insert(read.len());
                match recording.incomplete() {
                    Some(RecordingError::Truncated { tick, .. }) => {
                        assert_eq!(*tick, read.len() as u64);
                    }
                    other => panic!("cut to {length}: {other:?}"),
                }
            }
            Err(RecordingError::Magic { .. }) => assert!(length < 6, "cut to {length}"),
            Err(RecordingError::Truncated { tick: 0, .. }) => {}
            Err(other) => panic!("cut to {length}: {other:?}"),
        }
    }
    assert!(lengths.len() > 5, "{lengths:?}");
}

/// A recording with one flipped bit is refused, or the error names the tick of the bit. Everything
/// before that tick is unchanged, and nothing after it is trusted.
#[test]
fn one_flipped_bit_is_refused_or_named_at_its_tick() {
    let Recorded { bytes, ticks, .. } = recorded();
    let flips = std::env::var("RECORDING_FLIPS").map_or(2_000, |n| n.parse().expect("a number"));
    let seed = 5;
    let mut random = Random::new(seed);
    let mut named = 0;
    for flip in 0..flips {
        let mut damaged = bytes.clone();
        let bit = random.below(8 * bytes.len() as u64);
        damaged[(bit / 8) as usize] ^= 1 << (bit % 8);
        let Ok(recording) = read(&damaged) else { continue };
        let error = recording.incomplete();
        let where_ = format!("seed {seed}, flip {flip}, bit {bit}: {error:?}");
        let (Some(RecordingError::Damaged { tick, .. })
        | Some(RecordingError::Truncated { tick, .. })) = error
        else {
            panic!("{where_}")
        };
        let read = ticks_of(&recording);
        assert_eq!(read.len() as u64, *tick, "{where_}");
        assert!(ticks.starts_with(&read), "{where_}");
        named += 1;
    }
    assert!(named > flips / 10, "only {named} of {flips} flips are named in an error");
}

/// The hashes of these hostile frames match, because an attacker would compute them.
#[test]
fn hostile_frames_are_refused_and_cost_nothing() {
    use crate::frame::{Chain, Found, Kind};
    let Recorded { bytes, .. } = recorded();
    let mut random = Random::new(11);
    let mut played = 0;
    for _ in 0..300 {
        let mut chain = Chain::new();
        let mut file = &bytes[6..];
        let (mut out, mut again) = (bytes[..6].to_vec(), Chain::new());
        while let Ok(Found::Frame(kind, mut body)) = frame::read(&mut file, &mut chain) {
            if kind != Kind::Header && random.below(4) == 0 {
                let at = random.below(body.len() as u64) as usize;
                body[at] = random.bits() as u8;
            }
            frame::write(&mut out, &mut again, kind, &body).expect("memory");
        }
        let Ok(recording) = read(&out) else { continue };
        for number in 0..recording.keyframes().len() {
            let _ = recording.keyframe(number);
            let Ok(ticks) = recording.ticks_after(number) else { continue };
            // Any result is right except a panic, a hang, or ticks without end.
            let ticks: Vec<_> = ticks.collect();
            assert!(ticks.len() <= 2 * TICKS as usize);
            played += ticks.iter().filter(|tick| tick.is_ok()).count();
        }
    }
    assert!(played > 0);
}

/// To read a packed keyframe, the keyframes that it is packed by are read as well. Their number is
/// bounded, even in a hostile file.
#[test]
fn keyframes_that_are_packed_by_too_many_others_are_refused() {
    use crate::frame::{Chain, Found, Kind};
    let Recorded { bytes, .. } = recorded();
    let (mut chain, mut again, mut file) = (Chain::new(), Chain::new(), &bytes[6..]);
    let (mut out, mut kinds) = (bytes[..6].to_vec(), Vec::new());
    while let Ok(Found::Frame(kind, body)) = frame::read(&mut file, &mut chain) {
        kinds.extend(kind.is_keyframe().then_some(kind));
        let is_first = kinds.len() <= 1;
        let kind = if kind == Kind::Keyframe && !is_first { Kind::Delta } else { kind };
        frame::write(&mut out, &mut again, kind, &body).expect("memory");
    }
    let [whole, delta] = [Kind::Keyframe, Kind::Delta];
    assert_eq!(kinds, [whole, delta, delta, delta, whole, delta]);
    let recording = read(&out).expect("the beginning of the recording can be read");
    let error = recording.incomplete().expect("the recording is incomplete").to_string();
    assert!(error.contains("tick 240") && error.contains("packed by"), "{error}");
    assert_eq!(recording.keyframes().len(), 4);
}

#[test]
fn other_versions_and_greedy_headers_are_refused() {
    for other in [VERSION - 1, VERSION + 1] {
        let mut bytes = recorded().bytes.clone();
        bytes[4..6].copy_from_slice(&other.to_le_bytes());
        let read = read(&bytes);
        assert!(matches!(read, Err(RecordingError::Version { version, .. }) if version == other));
        assert_eq!(summary(&bytes), None);
    }
    assert!(matches!(read(b"OBSQ\x05\0"), Err(RecordingError::Magic { .. })));
    let file = Temporary::new("recording-greedy");
    let config = Config { tick_rate: 60, seed: 7, objects: 0, max_players: 2 };
    let game = Arena.new_match(map(), config).expect("the arena can be played");
    let greedy = Config { objects: u32::MAX, ..config };
    let beginning = Beginning::of(&*game, greedy, "");
    Writer::create(&file.0, &beginning).and_then(Writer::finish).expect("a file");
    let error = Recording::open(&file.0).unwrap_err().to_string();
    assert!(error.contains("4294967295 objects"), "{error}");
}

#[test]
fn a_recorder_notes_only_what_changed() {
    let run = |yaw| Command { forward: 127, yaw, ..Command::default() };
    let id = |slot| EntityId { slot, generation: 1 };
    let kind = |_| PlayerKind::Box;
    let mut recorder = Recorder::new();
    let both = [(id(4), run(9)), (id(2), Command::default())];
    let first = recorder.tick(&both, kind, 1);
    assert_eq!(first.joined, [(id(4), PlayerKind::Box), (id(2), PlayerKind::Box)]);
    assert_eq!(first.commands, [(id(4), run(9))]);
    assert_eq!(
        recorder.tick(&both, kind, 2),
        RecordedTick { digest: 2, ..RecordedTick::default() }
    );
    assert_eq!(recorder.tick(&both[1..], kind, 3).left, [id(4)]);
    assert_eq!(recorder.tick(&[(id(2), run(1))], kind, 4).commands, [(id(2), run(1))]);
    // A player who takes a slot again stands idle at first, even if keys were held in it before.
    recorder.tick(&[], kind, 5);
    assert_eq!(recorder.tick(&both[1..], kind, 6).commands, []);
}

/// The summary of the recording in `bytes`.
fn summary(bytes: &[u8]) -> Option<Summary> {
    Summary::read(&mut std::io::Cursor::new(bytes)).expect("memory can be read")
}

#[test]
fn a_summary_is_read_from_both_ends_of_a_recording() {
    let whole = &recorded().bytes;
    let told = summary(whole).expect("a recording");
    assert_eq!((&told.map_name[..], told.tick_rate, told.first_tick), ("arena", 60, 0));
    assert_eq!((told.last_tick, told.seconds()), (Some(TICKS), Some(TICKS / 60)));
    // A recording that was cut off has a beginning, but no length.
    for cut in [1, 2, 24, 1000] {
        let told = summary(&whole[..whole.len() - cut]).expect("the beginning of a recording");
        assert_eq!((told.last_tick, told.seconds()), (None, None), "{cut} bytes less");
    }
    // Bytes after the end mark hide it.
    let longer = [&whole[..], &[0]].concat();
    assert_eq!(summary(&longer).expect("a recording").last_tick, None);
}

#[test]
fn a_summary_is_refused_where_the_beginning_is_not_whole() {
    let whole = &recorded().bytes;
    let header = 11 + usize::from(whole[7]);
    for length in (0..header + 16).chain([header + 16 + 4]) {
        assert_eq!(summary(&whole[..length]), None, "{length} bytes");
    }
    // Another version, a header with changed bytes, and one that is longer than any header.
    for (at, byte) in [(4, 6), (20, whole[20] ^ 1), (9, 255)] {
        let mut changed = whole.clone();
        changed[at] = byte;
        assert_eq!(summary(&changed), None, "byte {at}");
    }
}
