use super::*;

/// A temporary folder. It is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("state-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_new_file_is_written_and_replaced_and_nothing_is_left_beside_it() {
    let folder = Folder::new("plain");
    let path = folder.0.join("bans.toml");
    write(&path, b"one", Readers::Usual).unwrap();
    // A server that was killed has left this behind.
    fs::write(folder.0.join("bans.toml.new"), "half").unwrap();
    write(&path, b"two", Readers::Usual).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(folder.names(), ["bans.toml"]);
}

#[cfg(unix)]
#[test]
fn the_mode_is_kept_and_a_secret_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = Folder::new("mode");
    let [bans, key] = ["bans.toml", "reset.key"].map(|name| folder.0.join(name));
    fs::write(&bans, "").unwrap();
    for wanted in [0o640, 0o600, 0o664] {
        fs::set_permissions(&bans, fs::Permissions::from_mode(wanted)).unwrap();
        write(&bans, b"x", Readers::Usual).unwrap();
        assert_eq!(mode(&bans), wanted);
    }
    write(&key, b"x", Readers::Owner).unwrap();
    assert_eq!(mode(&key), 0o600);
    // An empty file that all users may read gets a secret. Only the other users lose their rights:
    // the operator may want the group to read it.
    for (before, after) in [(0o644, 0o640), (0o666, 0o660), (0o600, 0o600)] {
        fs::set_permissions(&key, fs::Permissions::from_mode(before)).unwrap();
        write(&key, b"x", Readers::Owner).unwrap();
        assert_eq!(mode(&key), after);
    }
}

#[test]
fn a_file_is_tried_out_without_a_change() {
    let folder = Folder::new("tried");
    let path = folder.0.join("bans.toml");
    try_out(&path).unwrap();
    assert_eq!(folder.names(), [""; 0]);
    fs::write(&path, "old").unwrap();
    try_out(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(folder.names(), ["bans.toml"]);
    let missing = try_out(&folder.0.join("missing/bans.toml")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_its_target_gets_the_content() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("link");
    fs::create_dir(folder.0.join("real")).unwrap();
    let [link, second] = ["link", "second"].map(|name| folder.0.join(name));
    symlink("second", &link).unwrap();
    symlink("real/bans.toml", &second).unwrap();
    // At first the target does not exist. The second write replaces it.
    for content in [b"one", b"two"] {
        write(&link, content, Readers::Usual).unwrap();
        assert_eq!(fs::read(folder.0.join("real/bans.toml")).unwrap(), content);
        assert!(link.is_symlink() && second.is_symlink());
    }
    symlink("loop", folder.0.join("loop")).unwrap();
    let error = write(&folder.0.join("loop"), b"x", Readers::Usual).unwrap_err().to_string();
    assert!(error.contains("links"), "{error}");
}

#[test]
fn a_file_that_cannot_be_renamed_over_is_written_in_place() {
    let folder = Folder::new("place");
    let path = folder.0.join("bans.toml");
    fs::write(&path, "a longer old content").unwrap();
    for kind in [
        ErrorKind::ResourceBusy,
        ErrorKind::CrossesDevices,
        ErrorKind::PermissionDenied,
        ErrorKind::ReadOnlyFilesystem,
    ] {
        let refuses = |_: &Path, _: &Path| Err(io::Error::from(kind));
        write_by(&path, format!("{kind:?}").as_bytes(), Readers::Usual, refuses, sync_folder)
            .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{kind:?}"));
        assert_eq!(folder.names(), ["bans.toml"]);
    }
    // A full disk is not a reason to write in place: the old content would be lost.
    let full = |_: &Path, _: &Path| Err(io::Error::from(ErrorKind::StorageFull));
    assert!(write_by(&path, b"new", Readers::Usual, full, sync_folder).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "ReadOnlyFilesystem");
    assert_eq!(folder.names(), ["bans.toml"]);
}

/// The lines that `work` logs, which are kept in `folder` meanwhile.
#[cfg(feature = "cli")]
fn logged_by(folder: &Folder, work: impl FnOnce()) -> String {
    let path = folder.0.join("log");
    let file = std::sync::Arc::new(File::create(&path).unwrap());
    let lines = tracing_subscriber::fmt().with_writer(file).with_ansi(false).finish();
    tracing::subscriber::with_default(lines, work);
    fs::read_to_string(path).unwrap()
}

#[cfg(feature = "cli")]
#[test]
fn a_folder_that_cannot_be_synced_is_told_and_the_file_is_replaced() {
    let folder = Folder::new("unsynced");
    let path = folder.0.join("bans.toml");
    fs::write(&path, "old").unwrap();
    let rename = |from: &Path, to: &Path| fs::rename(from, to);
    let logged = logged_by(&folder, || {
        let fails = |_: &Path| Err(io::Error::other("the disk is gone"));
        write_by(&path, b"new", Readers::Usual, rename, fails).unwrap();
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(logged.lines().count(), 1, "{logged}");
    for words in ["WARN", "bans.toml", "could not be synced to disk: the disk is gone"] {
        assert!(logged.contains(words), "{words}: {logged}");
    }
    let logged = logged_by(&folder, || write(&path, b"newer", Readers::Usual).unwrap());
    assert_eq!(logged, "", "a folder that was synced is nothing to tell");
}

#[test]
fn a_folder_that_may_not_be_read_is_no_failed_sync() {
    for kind in [ErrorKind::PermissionDenied, ErrorKind::InvalidInput, ErrorKind::Unsupported] {
        assert!(without_need(Err(kind.into())).is_ok(), "{kind:?}");
    }
    assert!(without_need(Err(io::Error::other("the disk is gone"))).is_err());
}

/// Runs a script as root of a user namespace of its own. `None` if this system has none.
#[cfg(target_os = "linux")]
fn in_namespace(script: &str, folder: &Path) -> Option<std::process::Output> {
    let test = std::env::current_exe().unwrap();
    let run = |script: &str| {
        std::process::Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-euc", script])
            .current_dir(folder)
            .env("STATE_FILE_TEST", &test)
            .output()
            .ok()
    };
    run("mount -t tmpfs none /mnt").filter(|tried| tried.status.success())?;
    run(script)
}

/// The part of the tests below that runs in the namespace. It writes the file that the script of
/// [`in_namespace`] names.
#[test]
fn part_in_a_namespace() {
    let Some(path) = std::env::var_os("STATE_FILE_PATH") else { return };
    let length = std::env::var("STATE_FILE_LENGTH").unwrap().parse().unwrap();
    let written = write(Path::new(&path), &vec![b'n'; length], Readers::Usual);
    println!("written: {written:?}");
    assert!(written.is_ok());
}

#[cfg(target_os = "linux")]
const PART: &str =
    "\"$STATE_FILE_TEST\" --exact common::state_file::tests::part_in_a_namespace --nocapture";

/// Symptom: a ban was not kept where the file alone is mounted into a container.
#[cfg(target_os = "linux")]
#[test]
fn bans_file_replaced_where_the_file_alone_is_mounted() {
    let folder = Folder::new("mounted");
    fs::write(folder.0.join("host"), "old").unwrap();
    fs::write(folder.0.join("bans.toml"), "").unwrap();
    let script = format!(
        "mount --bind host bans.toml; STATE_FILE_PATH=bans.toml STATE_FILE_LENGTH=9 {PART}"
    );
    let Some(output) = in_namespace(&script, &folder.0) else {
        eprintln!("skipped: no user namespaces here");
        return;
    };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read_to_string(folder.0.join("host")).unwrap(), "nnnnnnnnn");
    assert_eq!(folder.names(), ["bans.toml", "host"]);
}

/// Makes a file of the user `owner` in a folder of the user `of_folder`. Returns false if this
/// process may not give files to other users.
#[cfg(target_os = "linux")]
fn file_of_another(folder: &Folder, owner: u32, mode: u32, of_folder: u32) -> bool {
    use std::os::unix::fs::{PermissionsExt, chown};
    let bans = folder.0.join("bans.toml");
    fs::write(&bans, "old").unwrap();
    fs::set_permissions(&bans, fs::Permissions::from_mode(mode)).unwrap();
    let given = chown(&bans, Some(owner), Some(owner));
    given.and_then(|()| chown(&folder.0, Some(of_folder), Some(of_folder))).is_ok()
}

#[cfg(target_os = "linux")]
fn owner_and_mode(path: &Path) -> (u32, u32) {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path).unwrap();
    (found.uid(), found.mode() & 0o777)
}

/// Symptom: a ban was refused if root had made the file in a folder of the server's.
#[cfg(target_os = "linux")]
#[test]
fn a_file_of_another_owner_is_written_in_place_or_becomes_the_server_s() {
    const SERVER: u32 = 65_533;
    // The test's program has to be in a place where the server's user finds it.
    let folder = Folder::new("owner");
    let program = folder.0.join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for (mode, owner) in [(0o644, SERVER), (0o666, 0)] {
        let inside = Folder::new(&format!("owner-{mode:o}"));
        if !file_of_another(&inside, 0, mode, SERVER) {
            eprintln!("skipped: only root gives files to others");
            return;
        }
        let id = SERVER.to_string();
        let output = std::process::Command::new("setpriv")
            .args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"])
            .arg(&program)
            .args(["--exact", "common::state_file::tests::part_in_a_namespace", "--nocapture"])
            .env("STATE_FILE_PATH", inside.0.join("bans.toml"))
            .env("STATE_FILE_LENGTH", "2")
            .output();
        let Ok(output) = output else {
            eprintln!("skipped: no setpriv here");
            return;
        };
        assert!(output.status.success(), "{output:?}");
        assert_eq!(fs::read(inside.0.join("bans.toml")).unwrap(), b"nn");
        assert_eq!(owner_and_mode(&inside.0.join("bans.toml")), (owner, mode));
        assert_eq!(inside.names(), ["bans.toml"]);
    }
}

/// Case: the unit has `PrivateUsers=yes`, so the owner of the file has no number in its namespace.
#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_owner_the_namespace_does_not_know_becomes_the_server_s() {
    let folder = Folder::new("unmapped");
    if !file_of_another(&folder, 65_533, 0o644, 0) {
        eprintln!("skipped: only root gives files to others");
        return;
    }
    let script = format!("STATE_FILE_PATH=bans.toml STATE_FILE_LENGTH=2 {PART}");
    let Some(output) = in_namespace(&script, &folder.0) else {
        eprintln!("skipped: no user namespaces here");
        return;
    };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read(folder.0.join("bans.toml")).unwrap(), b"nn");
    assert_eq!(owner_and_mode(&folder.0.join("bans.toml")), (0, 0o644));
    assert_eq!(folder.names(), ["bans.toml"]);
}

/// A server that is killed while it writes in place leaves a file whose first byte says so.
#[test]
fn a_file_that_is_cut_while_it_is_written_in_place_begins_with_the_mark() {
    let folder = Folder::new("cut");
    let path = folder.0.join("bans.toml");
    fs::write(&path, "[[ban]]").unwrap();
    let mut file = open_to_write(&path).unwrap();
    // All steps but the last one, as `overwrite` takes them.
    begin_overwrite(&mut file, b"# none").unwrap();
    assert!(is_cut(&fs::read(&path).unwrap()));
    overwrite(&mut file, b"# none").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"# none");
    overwrite(&mut file, b"").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"");
}

/// Case: the disk becomes full while the file is written in place.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_content_in_a_file_that_is_mounted_alone() {
    let folder = Folder::new("full");
    fs::write(folder.0.join("bans.toml"), "").unwrap();
    let script = format!(
        "mkdir disk; mount -t tmpfs -o size=8k none disk; printf old > disk/host; \
         mount --bind disk/host bans.toml; mount -o remount,bind,ro . 2>/dev/null || true; \
         if STATE_FILE_PATH=bans.toml STATE_FILE_LENGTH=100000 {PART}; then exit 3; fi; \
         test \"$(cat bans.toml)\" = old"
    );
    let Some(output) = in_namespace(&script, &folder.0) else {
        eprintln!("skipped: no user namespaces here");
        return;
    };
    assert!(output.status.success(), "{output:?}");
}
