//! Deletes finished recordings beyond the limits of `--record-keep`, the oldest first.
//!
//! A file is deleted only if it has the name of `--record`, or that name and a number, and is a
//! recording. A recording that any server is still writing is never deleted, because its writer
//! holds a lock on the file.

use std::fs::remove_file;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tracing::{info, warn};

use super::Latest;
use super::file::{Lock, is_recording};
use super::new_file::MOST_NUMBERED;
use super::options::RetentionOptions;
use crate::common::clock::{Clock, Reading, Steps};
use crate::common::regular_file::open_regular_in;
use crate::common::stop::Stop;

/// Time between two checks of the folder for recordings that have become too old.
const INTERVAL: Duration = Duration::from_secs(60);

/// Time between two checks whether a recording was finished, or the server ends.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Enforces the limits on the recordings of one match.
#[derive(Debug)]
pub(crate) struct Keeper {
    path: PathBuf,
    limits: Limits,
    latest: Arc<Latest>,
}

/// The limits. Each of them may be missing.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    count: Option<u32>,
    age: Option<Duration>,
    bytes: Option<u64>,
}

/// The limit of the recordings' age, by a clock that may be set.
///
/// The ages of files come from the wall clock. If it is set forward, recordings look older by the
/// whole step. So the limit is raised by the step, for a time as long as the limit itself.
#[derive(Debug)]
struct AgeLimit {
    most: Option<Duration>,
    steps: Steps,
    /// The elapsed time at which the clock was set forward, and by how much.
    forward: Vec<(Duration, Duration)>,
}

/// A recording that nobody writes any more.
#[derive(Debug)]
struct Finished {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
    number: u32,
}

impl Keeper {
    /// A keeper of the recordings of `path`. `None` if no limit is set.
    pub(super) fn new(
        path: &Path,
        options: &RetentionOptions,
        latest: &Arc<Latest>,
    ) -> Option<Self> {
        let limits = Limits {
            count: Some(options.record_keep).filter(|&count| count > 0),
            age: Some(options.record_keep_age).filter(|age| !age.is_zero()),
            bytes: Some(options.record_keep_bytes).filter(|&bytes| bytes > 0),
        };
        let Limits { count, age, bytes } = limits;
        let is_limited = count.is_some() || age.is_some() || bytes.is_some();
        let latest = Arc::clone(latest);
        is_limited.then(|| Self { path: path.to_owned(), limits, latest })
    }

    /// Checks the folder at once, each minute, and whenever a recording was finished, until the
    /// server ends.
    pub(crate) fn run(&self, stop: &Stop) {
        let clock = Clock::default();
        let mut age = AgeLimit::new(self.limits.age, clock.now());
        let mut seen = None::<(Duration, u64)>;
        while !stop.is_requested() {
            let finished = self.latest.finished();
            let now = clock.now();
            if seen.is_none_or(|(then, known)| {
                known != finished || now.elapsed.saturating_sub(then) >= INTERVAL
            }) {
                seen = Some((now.elapsed, finished));
                let limits = Limits { age: age.at(now), ..self.limits };
                self.latest.note_deleted(keep(&self.path, limits, now.wall));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl AgeLimit {
    fn new(most: Option<Duration>, now: Reading) -> Self {
        Self { most, steps: Steps::since(now), forward: Vec::new() }
    }

    /// The limit now.
    fn at(&mut self, now: Reading) -> Option<Duration> {
        let most = self.most?;
        let step = self.steps.next(now).and_then(|seconds| u64::try_from(seconds).ok());
        self.forward.extend(step.map(|seconds| (now.elapsed, Duration::from_secs(seconds))));
        self.forward.retain(|&(at, _)| now.elapsed.saturating_sub(at) <= most);
        Some(self.forward.iter().fold(most, |most, &(_, step)| most.saturating_add(step)))
    }
}

/// Deletes the recordings beyond the limits. Returns how many were deleted.
fn keep(path: &Path, limits: Limits, now: SystemTime) -> u64 {
    let finished = match finished(path) {
        Ok(finished) => finished,
        Err(error) => {
            warn!("cannot look for old recordings of {}: {error}", path.display());
            return 0;
        }
    };
    let (mut left, mut bytes) = (finished.len(), finished.iter().map(|one| one.bytes).sum::<u64>());
    let mut deleted = 0;
    for one in finished {
        let age = now.duration_since(one.written).unwrap_or_default();
        let reason = if limits.age.is_some_and(|most| age > most) {
            "it is older than --record-keep-age allows"
        } else if limits.count.is_some_and(|most| left > most as usize) {
            "there are more recordings than --record-keep allows"
        } else if limits.bytes.is_some_and(|most| bytes > most) {
            "the recordings have more bytes than --record-keep-bytes allows"
        } else {
            break;
        };
        match remove_file(&one.path) {
            Ok(()) => {
                info!(bytes = one.bytes, "deleted the recording {}: {reason}", one.path.display());
                deleted += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                // The next recording is not deleted instead of this one.
                warn!("cannot delete the recording {} ({reason}): {error}", one.path.display());
                break;
            }
        }
        left -= 1;
        bytes -= one.bytes;
    }
    deleted
}

/// The recordings that nobody writes and that have the name of `path`, with a number or without,
/// the oldest first.
fn finished(path: &Path) -> io::Result<Vec<Finished>> {
    let Some(name) = path.file_name() else { return Ok(Vec::new()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let mut found = Vec::new();
    for entry in folder.read_dir()? {
        let own = entry?.file_name();
        let number = own.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        let Some(number) = number.and_then(number_of) else { continue };
        if let Some((bytes, written)) = finished_one(folder, Path::new(&own))? {
            found.push(Finished { path: folder.join(own), bytes, written, number });
        }
    }
    found.sort_by_key(|one| (one.written, one.number));
    Ok(found)
}

/// The number that an ending of a recording's name stands for: 12 for `.12`, and 0 for no ending.
fn number_of(ending: &[u8]) -> Option<u32> {
    if ending.is_empty() {
        return Some(0);
    }
    let text = std::str::from_utf8(ending.strip_prefix(b".")?).ok()?;
    let number = text.parse().ok().filter(|number| (1..=MOST_NUMBERED).contains(number))?;
    // `+1` and `01` are numbers, too, but a server never gives such names.
    (number.to_string() == text).then_some(number)
}

/// The size of a recording and the time when it was written last. `None` if the file is not a
/// recording, or is still being written.
fn finished_one(folder: &Path, name: &Path) -> io::Result<Option<(u64, SystemTime)>> {
    // A file that the server cannot open is not a recording to delete. It may be gone already.
    let Ok(mut file) = open_regular_in(folder, name) else { return Ok(None) };
    // Without locks, nobody knows whether the file is still being written, so it stays.
    if !is_recording(&mut file).unwrap_or(false)
        || Lock::of(&file, &folder.join(name)) != Lock::Free
    {
        return Ok(None);
    }
    let about = file.metadata()?;
    Ok(Some((about.len(), about.modified()?)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::matches::recording::file::open_for_writing;

    /// A folder that is removed when this value is dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Self {
            let path = std::env::temp_dir().join(format!("{test}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        /// A recording of `bytes` bytes that was written `age` seconds before `now`.
        fn recording(&self, name: &str, bytes: usize, age: u64, now: SystemTime) {
            let mut content = crate::matches::recording::file::RECORDING.to_vec();
            content.resize(bytes, 0);
            fs::write(self.0.join(name), content).unwrap();
            let file = fs::File::options().write(true).open(self.0.join(name)).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap().flatten();
            let mut names: Vec<_> =
                entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Three recordings of 100 bytes. A recording with a lower number may be younger than one with
    /// a higher number, because a server takes the first free number.
    fn three(test: &str) -> (Folder, PathBuf, SystemTime) {
        let (folder, now) = (Folder::new(test), SystemTime::now());
        for (name, age) in [("match.obsr", 10), ("match.obsr.1", 30), ("match.obsr.2", 20)] {
            folder.recording(name, 100, age, now);
        }
        let path = folder.0.join("match.obsr");
        (folder, path, now)
    }

    #[test]
    fn recordings_beyond_the_count_are_deleted_oldest_first() {
        let (folder, path, now) = three("keeper-count");
        let limits = Limits { count: Some(3), ..Limits::default() };
        assert_eq!(keep(&path, limits, now), 0);
        let limits = Limits { count: Some(2), ..Limits::default() };
        assert_eq!(keep(&path, limits, now), 1);
        assert_eq!(folder.names(), ["match.obsr", "match.obsr.2"]);
    }

    #[test]
    fn recordings_beyond_the_age_are_deleted() {
        let (folder, path, now) = three("keeper-age");
        let limits =
            |seconds| Limits { age: Some(Duration::from_secs(seconds)), ..Limits::default() };
        // A file system may round the time.
        assert_eq!(keep(&path, limits(31), now), 0);
        assert_eq!(keep(&path, limits(29), now), 1);
        assert_eq!(folder.names(), ["match.obsr", "match.obsr.2"]);
        // A clock that was set back makes no recording too old.
        assert_eq!(keep(&path, limits(1), now - Duration::from_secs(3600)), 0);
    }

    /// A machine without a battery boots in the past, and its clock is set while a match is played.
    #[test]
    fn a_clock_that_is_set_forward_makes_no_recording_too_old() {
        let (folder, path, now) = three("keeper-step");
        let unix = now.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let clock = Clock::by_hand(unix);
        let mut age = AgeLimit::new(Some(Duration::from_secs(3600)), clock.now());
        let mut deleted = || {
            let now = clock.now();
            keep(&path, Limits { age: age.at(now), ..Limits::default() }, now.wall)
        };
        assert_eq!(deleted(), 0);
        clock.set(unix + 26 * 365 * 86_400);
        assert_eq!(deleted(), 0);
        clock.pass(Duration::from_secs(3500));
        assert_eq!(deleted(), 0);
        // By now the recordings really are older than the limit.
        clock.pass(Duration::from_secs(200));
        assert_eq!(deleted(), 3);
        assert_eq!(folder.names(), [""; 0]);
    }

    #[test]
    fn recordings_beyond_the_bytes_are_deleted_oldest_first() {
        let (folder, path, now) = three("keeper-bytes");
        let limits = |bytes| Limits { bytes: Some(bytes), ..Limits::default() };
        assert_eq!(keep(&path, limits(300), now), 0);
        assert_eq!(keep(&path, limits(299), now), 1);
        assert_eq!(folder.names(), ["match.obsr", "match.obsr.2"]);
        assert_eq!(keep(&path, limits(99), now), 2);
    }

    #[test]
    fn only_recordings_that_a_server_named_are_deleted() {
        let (folder, path, now) = three("keeper-names");
        let others = [
            "match.obsr.0",
            "match.obsr.01",
            "match.obsr.+1",
            "match.obsr.10000",
            "match.obsr.bak",
            "match.obsr.1.gz",
            "match.obsr.",
            "xmatch.obsr",
            "match.duel.obsr",
            "other.obsr.1",
        ];
        for name in others {
            folder.recording(name, 100, 50, now);
        }
        fs::write(folder.0.join("match.obsr.3"), "notes of the operator").unwrap();
        fs::create_dir(folder.0.join("match.obsr.4")).unwrap();
        let mut kept: Vec<_> = others.into_iter().chain(["match.obsr.3", "match.obsr.4"]).collect();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("other.obsr.1", folder.0.join("match.obsr.5")).unwrap();
            kept.push("match.obsr.5");
        }
        kept.sort();
        let limits = Limits { bytes: Some(1), ..Limits::default() };
        assert_eq!(keep(&path, limits, now), 3);
        assert_eq!(folder.names(), kept);
    }

    #[test]
    fn a_recording_that_is_written_is_never_deleted() {
        let (folder, path, now) = three("keeper-running");
        let written = folder.0.join("match.obsr.1");
        let writer = open_for_writing(&mut fs::OpenOptions::new(), &written).unwrap();
        let limits = Limits { bytes: Some(1), ..Limits::default() };
        assert_eq!(keep(&path, limits, now), 2);
        assert_eq!(folder.names(), ["match.obsr.1"]);
        drop(writer);
        assert_eq!(keep(&path, limits, now), 1);
    }
}
