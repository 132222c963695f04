//! Distinguishes recordings from other files, and finished recordings from recordings that are
//! still being written.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::path::Path;

/// The first bytes of every recording.
pub(super) const RECORDING: [u8; 4] = *b"OBSR";

/// Whether the file begins as a recording does. If it does, the next read begins at its start
/// again.
///
/// # Errors
/// The system's error.
pub(crate) fn is_recording(file: &mut File) -> io::Result<bool> {
    let mut start = [0; RECORDING.len()];
    let read = match file.read_exact(&mut start) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        read => read,
    };
    read.and_then(|()| file.rewind())?;
    Ok(start == RECORDING)
}

/// Opens a recording for writing, and marks it as being written until it is closed
/// ([`Lock::Held`]). On Unix the mark is a lock. Where a file cannot be locked, keepers leave it
/// alone. On Windows a lock would keep everybody from reading the file, so the mark is that nobody
/// else may open the file for writing.
///
/// # Errors
/// The system's error.
pub(crate) fn open_for_writing(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.write(true);
    #[cfg(windows)]
    {
        const SHARE_READ: u32 = 1;
        const SHARE_DELETE: u32 = 4;
        std::os::windows::fs::OpenOptionsExt::share_mode(options, SHARE_READ | SHARE_DELETE);
    }
    let file = options.open(path)?;
    #[cfg(unix)]
    let _ = file.try_lock();
    Ok(file)
}

/// The lock that a server holds on a recording while it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Nobody writes the file.
    Free,
    /// A server writes the file: this one or another. On Windows, a reader that lets nobody write
    /// looks the same.
    Held,
    /// The file system has no locks.
    Unknown,
}

impl Lock {
    /// The lock of this file, which was opened under this path.
    #[cfg(unix)]
    pub(crate) fn of(file: &File, _: &Path) -> Self {
        use std::fs::TryLockError;

        match file.try_lock_shared() {
            Ok(()) => {
                // Closing the file releases the lock, too.
                let _ = file.unlock();
                Self::Free
            }
            Err(TryLockError::WouldBlock) => Self::Held,
            Err(TryLockError::Error(_)) => Self::Unknown,
        }
    }

    /// The lock of the file under this path: whether others may open it for writing.
    #[cfg(windows)]
    pub(crate) fn of(_: &File, path: &Path) -> Self {
        const SHARING_VIOLATION: i32 = 32;
        match OpenOptions::new().write(true).open(path) {
            Ok(_) => Self::Free,
            Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Self::Held,
            Err(_) => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_recording_is_told_by_its_start_and_a_writer_by_its_lock() {
        let path = std::env::temp_dir().join(format!("told-{}.obsr", std::process::id()));
        for (content, expected) in
            [("OBSR", true), ("OBSR and more", true), ("OBS", false), ("", false), ("OBSX", false)]
        {
            fs::write(&path, content).unwrap();
            let mut file = File::open(&path).unwrap();
            assert_eq!(is_recording(&mut file).unwrap(), expected, "{content}");
        }
        fs::write(&path, "OBSR and more").unwrap();
        let mut file = File::open(&path).unwrap();
        assert!(is_recording(&mut file).unwrap());
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "OBSR and more");
        let writer = open_for_writing(&mut OpenOptions::new(), &path).unwrap();
        assert_eq!(Lock::of(&file, &path), Lock::Held);
        drop(writer);
        // A check leaves the file unlocked, so a second check finds the same.
        assert_eq!((Lock::of(&file, &path), Lock::of(&file, &path)), (Lock::Free, Lock::Free));
        fs::remove_file(&path).unwrap();
    }
}
