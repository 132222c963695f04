use std::ffi::OsString;
use std::fs::{File, OpenOptions, metadata, remove_file};
use std::io;
use std::path::{Path, PathBuf};

use super::file::open_for_writing;

/// Maximum number of numbered files of one name. Each recording tries the names in order, so this
/// also bounds the time that the search for a free name takes.
pub(super) const MOST_NUMBERED: u32 = 9_999;

/// The file that a new recording goes to.
#[derive(Debug)]
pub(super) struct NewFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Whether the file was created here. False for a device or a pipe, which existed before.
    created: bool,
}

impl NewFile {
    /// Creates `path`, or the first of `path.1`, `path.2` and so on that does not exist. A file
    /// that exists is never opened, so a restart, or a second server, cannot harm an earlier
    /// recording. No file ever changes its name. A device or a pipe is opened as it is.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let special = metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if special {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Self { path: path.to_owned(), file, created: false });
        }
        for number in 0..=MOST_NUMBERED {
            let path = numbered(path, number);
            match open_for_writing(OpenOptions::new().create_new(true), &path) {
                Ok(file) => return Ok(Self { path, file, created: true }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        let full =
            format!("it and the numbered files from .1 to .{MOST_NUMBERED} exist; move them away");
        Err(io::Error::new(io::ErrorKind::AlreadyExists, full))
    }

    /// A function that removes the file again if [`NewFile::open`] created it.
    pub(super) fn removal(&self) -> impl FnOnce() + use<> {
        let created = self.created.then(|| self.path.clone());
        // If it cannot be removed, an empty file stays behind, which is harmless.
        move || drop(created.map(remove_file))
    }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}
