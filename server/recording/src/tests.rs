//! Recordings, whole and damaged.

use std::fs;
use std::path::PathBuf;

use obsp_sim::{Buttons, Command, Config, EntityId, PlayerKind, Random};

use crate::format::{MAX_FRAME, encode_header, encode_tick};
use crate::*;

/// A file of its own for a test, gone at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(test: &str) -> Self {
        Self(std::env::temp_dir().join(format!("{test}-{}.obsr", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn header() -> Header {
    let map =
        obsp::World::load(concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/arena.obsp").as_ref());
    let config = Config { tick_rate: 60, seed: 7, objects: 3, max_players: 2 };
    let header = Header::new(&map.unwrap(), config, 11, "0.1.0 (executable 0123)");
    assert_eq!(header.config(), config);
    header
}

fn id(slot: u16) -> EntityId {
    EntityId { slot, generation: 1 }
}

/// The player in slot 4 drives.
fn kind(id: EntityId) -> PlayerKind {
    if id.slot == 4 { PlayerKind::Hovertank } else { PlayerKind::Box }
}

fn run(yaw: u16) -> Command {
    let buttons = Buttons::JUMP | Buttons::PROTECTED;
    Command { forward: 127, yaw, buttons, ..Command::default() }
}

fn ticks() -> Vec<Tick> {
    vec![
        Tick {
            joined: vec![(id(4), kind(id(4))), (id(2), kind(id(2)))],
            commands: vec![(id(4), run(9))],
            ..Tick::default()
        },
        Tick { digest: Some(u64::MAX), ..Tick::default() },
        Tick { left: vec![id(4)], ..Tick::default() },
    ]
}

fn write(path: &std::path::Path, ticks: &[Tick]) {
    let mut writer = Writer::create(path, &header()).unwrap();
    for tick in ticks {
        writer.tick(tick).unwrap();
    }
    writer.finish().unwrap();
}

/// All ticks, and what the reading ended with.
fn read(path: &std::path::Path) -> (Vec<Tick>, Option<RecordingError>) {
    let mut reader = match Reader::open(path) {
        Ok(reader) => reader,
        Err(error) => return (vec![], Some(error)),
    };
    let mut ticks = Vec::new();
    loop {
        match reader.next_tick() {
            Ok(Some(tick)) => ticks.push(tick),
            Ok(None) => return (ticks, None),
            Err(error) => return (ticks, Some(error)),
        }
    }
}

#[test]
fn what_is_written_is_read() {
    let file = Temporary::new("recording-round");
    write(&file.0, &ticks());
    let (read, error) = read(&file.0);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(read, ticks());
    assert_eq!(Reader::open(&file.0).unwrap().header(), &header());
}

#[test]
fn only_what_changed_is_recorded() {
    let mut recorder = Recorder::new();
    let first = recorder.tick(&[(id(4), run(9)), (id(2), Command::default())], kind, None);
    assert_eq!(first, ticks()[0]);
    let second =
        recorder.tick(&[(id(4), run(9)), (id(2), Command::default())], kind, Some(u64::MAX));
    assert_eq!(second, ticks()[1]);
    assert_eq!(recorder.tick(&[(id(2), Command::default())], kind, None), ticks()[2]);
    let again = recorder.tick(&[(id(2), run(1))], kind, None);
    assert_eq!(again.commands, [(id(2), run(1))]);
    // A player who takes a slot again stands idle at first, whatever was held before.
    recorder.tick(&[], kind, None);
    assert_eq!(recorder.tick(&[(id(2), Command::default())], kind, None).commands, []);
}

#[test]
fn a_cut_recording_says_where_it_breaks_off() {
    let file = Temporary::new("recording-cut");
    write(&file.0, &ticks());
    let whole = fs::read(&file.0).unwrap();
    for length in 0..whole.len() {
        fs::write(&file.0, &whole[..length]).unwrap();
        let (read, error) = read(&file.0);
        assert!(ticks().starts_with(&read), "cut to {length}");
        match error {
            Some(RecordingError::Truncated { tick, .. }) => assert_eq!(tick, read.len() as u64),
            Some(RecordingError::Magic { .. }) => assert!(length < 6, "cut to {length}"),
            other => panic!("cut to {length}: {other:?}"),
        }
    }
}

#[test]
fn hostile_bytes_are_refused_and_cost_nothing() {
    let file = Temporary::new("recording-hostile");
    write(&file.0, &ticks());
    let whole = fs::read(&file.0).unwrap();
    let seed = 5;
    let mut random = Random::new(seed);
    for round in 0..2_000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.bits() as u8;
        }
        fs::write(&file.0, &bytes).unwrap();
        // Any answer will do but a panic, a hang, or ticks without end.
        let (read, _) = read(&file.0);
        assert!(read.len() <= bytes.len(), "seed {seed}, round {round}");
    }
    let mut trailing = whole.clone();
    trailing.push(0);
    fs::write(&file.0, &trailing).unwrap();
    assert!(matches!(read(&file.0).1, Some(RecordingError::Damaged { tick: 3, .. })));
    // A header of the version before names no build.
    let build = header().build.len();
    let named = whole.windows(build).position(|bytes| bytes == header().build.as_bytes()).unwrap();
    let mut older = whole[..named - 1].to_vec();
    older[4] = 3;
    let length = u16::from_le_bytes([whole[6], whole[7]]) - build as u16 - 1;
    older[6..8].copy_from_slice(&length.to_le_bytes());
    fs::write(&file.0, &older).unwrap();
    let reader = Reader::open(&file.0).unwrap();
    let mut nameless = header();
    nameless.build.clear();
    assert_eq!(reader.header(), &nameless);
    let mut newer = whole;
    newer[4] = 99;
    fs::write(&file.0, &newer).unwrap();
    assert!(matches!(read(&file.0).1, Some(RecordingError::Version { version: 99, .. })));
}

#[test]
fn the_largest_match_fits_its_frames() {
    let everyone: Vec<EntityId> = (0..1024).map(|slot| EntityId { slot, generation: !0 }).collect();
    let command = Command { forward: -127, right: -127, yaw: !0, pitch: i16::MIN, ..run(0) };
    let tick = Tick {
        left: everyone.clone(),
        joined: everyone.iter().map(|&id| (id, PlayerKind::Hovertank)).collect(),
        commands: everyone.iter().map(|&id| (id, command)).collect(),
        digest: Some(!0),
    };
    assert!(encode_tick(&tick).is_some_and(|body| body.len() <= MAX_FRAME));
    let mut long = header();
    long.map_name = "m".repeat(MAX_FRAME);
    assert!(encode_header(&long).is_none());
}

#[test]
fn a_header_may_not_ask_for_more_than_a_server_would_serve() {
    let file = Temporary::new("header");
    write(&file.0, &ticks());
    let whole = fs::read(&file.0).unwrap();
    let told = encode_header(&header()).unwrap();
    let place = whole.windows(told.len()).position(|bytes| bytes == told).unwrap();
    // The varint 3 that `objects` is, between the seed, 7, and the players, 2.
    let objects = told.windows(3).position(|bytes| bytes == [7, 3, 2]).unwrap() + 1;
    let mut greedy = whole[..place - 2].to_vec();
    let mut body = told[..objects].to_vec();
    body.extend([252, 255, 255, 255, 255]);
    body.extend(&told[objects + 1..]);
    greedy.extend((body.len() as u16).to_le_bytes());
    greedy.extend(body);
    fs::write(&file.0, greedy).unwrap();
    let error = Reader::open(&file.0).unwrap_err().to_string();
    assert!(error.contains("4294967295 objects"), "{error}");
}

/// The page seeks by clones of a match that it made on the way.
#[test]
fn a_clone_goes_on_as_the_match_itself() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut reader = Reader::open(&root.join("tests/recordings/arena.obsr")).unwrap();
    let map = obsp::World::load(&root.join("maps/arena.obsp")).unwrap();
    let mut playback = Playback::new(reader.header(), map.into()).unwrap();
    let ticks: Vec<Tick> = (0..300).map(|_| reader.next_tick().unwrap().unwrap()).collect();
    ticks[..200].iter().for_each(|tick| playback.step(tick));
    let mut keyframe = playback.clone();
    ticks[200..].iter().for_each(|tick| playback.step(tick));
    ticks[200..].iter().for_each(|tick| keyframe.step(tick));
    assert_eq!(playback.difference(), None);
    assert_eq!((keyframe.tick(), keyframe.verified()), (300, 301));
    assert_eq!(keyframe.world().digest(), playback.world().digest());
}
