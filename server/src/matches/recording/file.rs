//! Distinguishes recordings from other files, and finished recordings from recordings that are
//! still being written.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek};

/// The first bytes of every recording.
pub(super) const RECORDING: [u8; 4] = *b"OBSR";

/// Whether the file begins as a recording does. It is read from its start afterwards.
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

/// The lock that a server holds on a recording while it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Nobody writes the file.
    Free,
    /// A server writes the file: this one or another.
    Held,
    /// The file system has no locks.
    Unknown,
}

impl Lock {
    /// The lock of this file.
    pub(crate) fn of(file: &File) -> Self {
        // On Windows, a lock would keep other programs from reading, so servers take none there.
        if !cfg!(unix) {
            return Self::Free;
        }
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
        if cfg!(unix) {
            let writer = fs::OpenOptions::new().write(true).open(&path).unwrap();
            writer.lock().unwrap();
            assert_eq!(Lock::of(&file), Lock::Held);
            writer.unlock().unwrap();
            // A check leaves the file unlocked, so a second check finds the same.
            assert_eq!((Lock::of(&file), Lock::of(&file)), (Lock::Free, Lock::Free));
        }
        fs::remove_file(&path).unwrap();
    }
}
