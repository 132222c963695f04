//! Recordings of a running match, on disks that are slow, full or in use.

use std::fs;
use std::path::PathBuf;

use obsp_game::arena::Arena;
use obsp_game::{AnyGame, RunningMatch};
use obsp_proto::control::{ChatLine, MatchEvent};
use obsp_sim::Config;

use super::*;

/// The recording, and all its ticks.
fn read(path: &std::path::Path) -> (Vec<RecordedTick>, Recording) {
    let recording = Recording::open(path).unwrap();
    let ticks = recording.ticks_after(0).unwrap().map(Result::unwrap).collect();
    (ticks, recording)
}

/// A temporary folder. It is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{test}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A match to record, and its configuration.
fn simulation() -> (Box<dyn RunningMatch>, Config) {
    let path =
        crate::matches::map_file::find("arena.obsp", &crate::matches::map_file::folders()).unwrap();
    let map = crate::matches::map_file::load(&path).unwrap();
    let config = Config { tick_rate: 60, seed: 7, objects: 0, max_players: 2 };
    (Arena.new_match(map.into(), config).unwrap(), config)
}

#[test]
fn a_file_that_exists_is_never_touched() {
    let folder = Folder::new("recording-numbers");
    let (simulation, config) = simulation();
    let path = folder.0.join("match.rec");
    fs::write(&path, "precious").unwrap();
    fs::create_dir(folder.0.join("match.rec.1")).unwrap();
    let names: Vec<_> = (0..2)
        .map(|_| {
            let (recorder, thread) = LiveRecorder::new(&path, &*simulation, config, None);
            let status = recorder.status();
            drop(recorder);
            thread.run().unwrap();
            status.path().file_name().unwrap().to_owned()
        })
        .collect();
    assert_eq!(names, ["match.rec.2", "match.rec.3"]);
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}

#[test]
fn the_header_is_in_the_file_before_the_first_tick() {
    let folder = Folder::new("recording-header");
    let (simulation, config) = simulation();
    let path = folder.0.join("match.rec");
    let (recorder, thread) = LiveRecorder::new(&path, &*simulation, config, None);
    let _thread = thread.create().unwrap();
    assert_eq!(Recording::open(&path).unwrap().header().config(), config);
    assert_eq!(recorder.status().bytes(), fs::metadata(&path).unwrap().len());
}

#[test]
fn a_file_that_cannot_be_created_is_an_error() {
    let folder = Folder::new("recording-nowhere");
    let (simulation, config) = simulation();
    let path = folder.0.join("no-such-folder/match.rec");
    let (_recorder, thread) = LiveRecorder::new(&path, &*simulation, config, None);
    let error = thread.create().err().unwrap();
    assert!(matches!(error, RecordingError::Write { .. }), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_fails_the_recording_and_not_the_match() {
    let (simulation, config) = simulation();
    let (mut recorder, thread) =
        LiveRecorder::new("/dev/full".as_ref(), &*simulation, config, None);
    let thread = thread.create().unwrap();
    let status = recorder.status();
    assert!(status.failure().unwrap().contains("No space left"), "{status:?}");
    recorder.ticked(&*simulation, &[]);
    assert!(matches!(thread.run(), Err(RecordingError::Write { .. })));
}

#[test]
fn a_disk_that_falls_behind_ends_the_recording_without_an_end_mark() {
    let folder = Folder::new("recording-behind");
    let (mut simulation, config) = simulation();
    let path = folder.0.join("match.rec");
    let (mut recorder, thread) = LiveRecorder::new(&path, &*simulation, config, None);
    let status = recorder.status();
    for _ in 0..300 {
        simulation.step(&[]);
        recorder.ticked(&*simulation, &[]);
    }
    // Only the last ticks are missing. The ticks that the queue took are written.
    assert!(status.failure().is_some_and(|why| why.contains("behind")), "{status:?}");
    drop(recorder);
    assert!(matches!(thread.run(), Err(RecordingError::Behind { tick: 256, .. })));
    assert_eq!(status.ticks(), 256);
    let (ticks, recording) = read(&path);
    assert_eq!(ticks.len(), 256);
    let error = recording.incomplete();
    assert!(matches!(error, Some(RecordingError::Truncated { tick: 256, .. })), "{error:?}");
}

/// Guards against a past fault: a later level whose file could not be created was not recorded, and
/// nothing reported it.
#[test]
fn a_level_whose_recording_cannot_begin_is_told() {
    let folder = Folder::new("recording-later");
    let (_, level) = crate::test_level(1);
    let recordings = LevelRecordings::new(Some(folder.0.join("no-such-folder/match.rec")));
    assert!(recordings.begin_first(&level).is_err());
    let recorder = recordings.begin(&level);
    drop(recorder);
    assert!(matches!(recordings.join(), Err(crate::RunError::Recording(_))));
    let failure = recordings.latest().status().unwrap().failure().unwrap().to_owned();
    assert!(failure.contains("No such file"), "{failure}");
}

/// Guards against a past fault: the file of a level was created on the network thread, which served
/// nobody meanwhile. A pipe stands for a slow disk: it cannot be opened for writing until somebody
/// reads.
#[cfg(unix)]
#[test]
fn a_disk_that_is_slow_to_create_a_file_holds_up_only_the_recording() {
    let folder = Folder::new("recording-slow");
    let path = folder.0.join("match.rec");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let (_, mut level) = crate::test_level(1);
    let recordings = LevelRecordings::new(Some(path.clone()));
    let mut recorder = recordings.begin(&level).unwrap();
    for _ in 0..100 {
        level.simulation.step(&[]);
        recorder.ticked(&*level.simulation, &[]);
    }
    assert_eq!(recordings.latest().written(), (0, 0));
    drop(recorder);
    let (ticks, recording) = read(&path);
    let error = recording.incomplete();
    assert_eq!((ticks.len(), error.is_none()), (100, true), "{error:?}");
    recordings.join().unwrap();
    assert_eq!(recordings.latest().written().0, 100);
}

/// A page can also rewind a match that is not recorded to a file, with its chat.
#[test]
fn a_level_that_is_not_recorded_keeps_what_was_said_for_the_rewind() {
    let (_, mut level) = crate::test_level(1);
    let recordings = LevelRecordings::new(None);
    assert!(recordings.begin_first(&level).unwrap().is_none());
    let event = MatchEvent::Announced { line: ChatLine::new("hello").unwrap() };
    let news = crate::matches::level::News { tick: obsp_proto::Tick(0), event, to: None };
    assert!(level.level.events.send(news).is_ok());
    for _ in 0..level.config.tick_rate {
        level.simulation.step(&[]);
        level.level.replay_buffer.ticked(&*level.simulation, &[]);
    }
    let bytes = level.level.replay_buffer.excerpt(&[]).unwrap().unwrap();
    let read = Recording::read("the excerpt".as_ref(), &bytes[..]).unwrap();
    let what = Said::Chat(None, "hello".to_owned());
    assert_eq!(read.notes(), [Note { tick: 1, what }]);
}
