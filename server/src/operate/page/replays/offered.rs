//! The recordings of `--replay-dir` that are offered to a viewer.
//!
//! Other programs may write anything into the folder. So files are opened without blocking and must
//! be regular files and recordings. Links are refused.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::common::regular_file;
use crate::matches::match_handle::who_may_see::Viewer;
use crate::matches::recording::{Lock, Summary, is_recording};
use crate::operate::page::{All, Pages};

/// Maximum number of recordings in the list. The newest come first.
const LISTED: usize = 200;

/// Bytes of the largest recording or map that is served. A recording of ten minutes with 32 players
/// has some 6 MB.
pub(crate) const LARGEST: u64 = 64 << 20;

/// Maximum number of files in the folders that one search checks.
pub(crate) const LOOKED_AT: usize = 4096;

/// A recording in the list.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    name: String,
    bytes: u64,
    /// The time of the last change of the file, in seconds since 1970: when the recording ended.
    changed: Option<u64>,
    /// The name of the map; `None` if this build cannot read the recording's beginning.
    map: Option<String>,
    /// The seconds that the recording lasts; `None` if it has no end mark.
    seconds: Option<u64>,
}

impl Listed {
    /// A recording with its name, its size and the time of its last change. Nothing else is known
    /// yet.
    fn plain(name: String, bytes: u64, modified: Option<SystemTime>) -> Self {
        let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let changed = since.map(|since| since.as_secs());
        Self { name, bytes, changed, map: None, seconds: None }
    }

    /// Adds the facts that the file's beginning and end state.
    fn with_summary(mut self, file: &mut File) -> Self {
        if let Ok(Some(summary)) = Summary::read(file) {
            self.seconds = summary.seconds();
            self.map = Some(summary.map_name);
        }
        self
    }
}

/// A folder of recordings, as one viewer sees it.
#[derive(Debug)]
pub(crate) struct Offered {
    folder: PathBuf,
    /// Whether recordings that are still being written are offered.
    running: bool,
    /// The files that this server is recording its matches to.
    written: Vec<PathBuf>,
}

impl Offered {
    /// The recordings that `viewer` is offered; `None` without `--replay-dir`.
    ///
    /// A recording that is still being written shows a running match. So strangers are offered it
    /// only if the operator allows it (`--replay-running`) and they may see the match.
    pub(crate) fn to(viewer: Viewer, pages: &Pages, all: &All) -> Option<Self> {
        let pages = &pages.0;
        let may_see = all.iter().all(|each| each.game.may_be_seen_by(viewer));
        let running = viewer == Viewer::Operator || (pages.replay_running && may_see);
        let status = all.iter().filter_map(|each| each.recording.status());
        let written = status.filter_map(|status| status.path().canonicalize().ok()).collect();
        Some(Self { folder: pages.replay_dir.clone()?, running, written })
    }

    /// The recordings in the folder, the newest first.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let entries = self.folder.read_dir().into_iter().flatten().flatten().take(LOOKED_AT);
        let mut found: Vec<_> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let (file, bytes) = self.find(Path::new(&name))?;
                let modified = file.metadata().ok()?.modified().ok();
                Some((modified, Listed::plain(name, bytes, modified)))
            })
            .collect();
        found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.name.cmp(&other.name)));
        let newest = found.into_iter().map(|(_, listed)| listed).take(LISTED);
        // A folder may have thousands of files. They are not all kept open, so the newest are
        // opened again.
        newest.filter_map(|listed| self.summarised(listed)).collect()
    }

    /// Adds the summary of a recording; `None` if the recording is not offered any more.
    fn summarised(&self, listed: Listed) -> Option<Listed> {
        let (mut file, _) = self.find(Path::new(&listed.name))?;
        Some(listed.with_summary(&mut file))
    }

    /// The recording of this name, and its size.
    pub(crate) fn find(&self, name: &Path) -> Option<(File, u64)> {
        let mut file = regular_file::open_regular_in(&self.folder, name).ok()?;
        let bytes = file.metadata().ok()?.len();
        let fits = bytes <= LARGEST && is_recording(&mut file).ok()?;
        (fits && (self.running || !self.is_written(name, &file))).then_some((file, bytes))
    }

    /// Whether this server or another one still writes the recording.
    fn is_written(&self, name: &Path, file: &File) -> bool {
        let path = self.folder.join(name);
        path.canonicalize().is_ok_and(|own| self.written.contains(&own))
            || Lock::of(file, &path) == Lock::Held
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::matches::recording::open_for_writing;

    /// A folder, which is removed when it is dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(folder.join("folder")).unwrap();
            fs::write(folder.join("match.rec"), b"OBSR and more").unwrap();
            Self(folder)
        }

        fn offered(&self, running: bool, written: Vec<PathBuf>) -> Offered {
            Offered { folder: self.0.clone(), running, written }
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn names(offered: &Offered) -> Vec<String> {
        offered.list().into_iter().map(|listed| listed.name).collect()
    }

    fn finds(offered: &Offered, name: &str) -> bool {
        offered.find(Path::new(name)).is_some()
    }

    #[test]
    fn only_recordings_are_listed() {
        let folder = Folder::new("replays");
        fs::write(folder.0.join("secret"), b"not for everybody").unwrap();
        fs::write(folder.0.join("short"), b"OB").unwrap();
        let offered = folder.offered(false, Vec::new());
        assert_eq!(names(&offered), ["match.rec"]);
        // The recording is found by its plain name. No other file is found, whatever the name.
        assert_eq!(offered.find(Path::new("match.rec")).map(|(_, bytes)| bytes), Some(13));
        let elsewhere = folder.0.join("match.rec");
        for name in ["secret", "short", "folder", "../match.rec", "folder/../match.rec", "."]
            .into_iter()
            .chain(elsewhere.to_str())
        {
            assert!(!finds(&offered, name), "{name}");
        }
    }

    #[test]
    fn a_recording_is_listed_with_its_map_its_length_and_its_date() {
        let folder = Folder::new("replays-summary");
        let whole =
            fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/recordings/arena.obsr"));
        let whole = whole.unwrap();
        fs::write(folder.0.join("whole.obsr"), &whole).unwrap();
        fs::write(folder.0.join("cut.obsr"), &whole[..whole.len() - 1]).unwrap();
        let offered = folder.offered(true, Vec::new());
        let listed = |name| offered.list().into_iter().find(|one| one.name == name).unwrap();
        let [whole, cut, other] = ["whole.obsr", "cut.obsr", "match.rec"].map(listed);
        assert_eq!((whole.map.as_deref(), whole.seconds), (Some("arena"), Some(15)));
        assert_eq!((cut.map.as_deref(), cut.seconds), (Some("arena"), None));
        assert_eq!((other.map, other.seconds), (None, None));
        let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        assert!(
            [whole.changed, other.changed].iter().all(|at| at.is_some_and(|at| age - at < 600))
        );
    }

    /// Symptom: 510 requests for a pipe blocked every worker, and links were served.
    #[cfg(target_os = "linux")]
    #[test]
    fn pipes_block_nobody_and_links_lead_nowhere() {
        let (folder, elsewhere) = (Folder::new("replays-pipe"), Folder::new("replays-elsewhere"));
        let pipe = folder.0.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        let secret = elsewhere.0.join("match.rec");
        std::os::unix::fs::symlink(secret, folder.0.join("link")).unwrap();
        let offered = folder.offered(true, Vec::new());
        // If opening the pipe blocked, this test would not end.
        for _ in 0..600 {
            assert!(!finds(&offered, "pipe"));
        }
        assert!(!finds(&offered, "link"));
        assert_eq!(names(&offered), ["match.rec"]);
    }

    /// Symptom: `--record` into `--replay-dir` showed everybody the match that was played.
    #[test]
    fn a_recording_that_is_still_written_is_for_those_who_may_see_the_match() {
        let folder = Folder::new("replays-running");
        let path = folder.0.join("match.rec").canonicalize().unwrap();
        let hidden = folder.offered(false, vec![path.clone()]);
        assert!(names(&hidden).is_empty() && !finds(&hidden, "match.rec"));
        let shown = folder.offered(true, vec![path.clone()]);
        assert!(names(&shown) == ["match.rec"] && finds(&shown, "match.rec"));
        // Another server may be writing the recording.
        let writer = open_for_writing(&mut File::options(), &path).unwrap();
        let hidden = folder.offered(false, Vec::new());
        assert!(names(&hidden).is_empty() && !finds(&hidden, "match.rec"));
        drop(writer);
        assert_eq!(names(&hidden), ["match.rec"]);
    }
}
