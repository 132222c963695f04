//! Reads files that other users may have replaced: bans, keys, tokens, lists, recordings.
//!
//! A FIFO instead of a file would block the thread that opens it, and an endless file would fill
//! the memory. So a file is opened without blocking, must be a regular file, and is read up to a
//! limit.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Component, Path};

/// Bytes of the largest file of a key, a certificate chain or a list that the server reads: tens of
/// thousands of lines.
pub(crate) const LARGEST: u64 = 1 << 20;

/// Opens a file for reading. Links are followed: the operator named the path.
///
/// # Errors
/// The system's error. If the file is not a regular one, the error says what is there.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true), NO_BLOCKING)
}

/// Opens the file `name` in `folder`, and never one outside of it: the name must be a single part
/// of a path, and a link of that name is refused.
///
/// # Errors
/// The system's error. If the file is not a regular one, the error says what is there.
pub(crate) fn open_regular_in(folder: &Path, name: &Path) -> io::Result<File> {
    let mut parts = name.components();
    let is_plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    if !is_plain {
        let shown = name.display();
        return Err(invalid(format!("{shown} is not a file name alone; it must not name folders")));
    }
    let path = folder.join(name);
    // The flag below refuses links. This check exists only for its message, because systems report
    // a refused link in different ways.
    if path.symlink_metadata()?.is_symlink() {
        return Err(invalid("it is a link; links are not followed here".to_owned()));
    }
    open(&path, OpenOptions::new().read(true), NO_BLOCKING | NO_LINKS)
}

/// Opens an existing file for writing and reading, without truncating it. Links are followed.
///
/// # Errors
/// The system's error. If the file is not a regular one, the error says what is there.
pub(crate) fn open_to_write(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true).write(true), NO_BLOCKING)
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// The errors of [`open_regular`]; or the file is larger.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The file may have grown since its size was read, so one byte more than allowed is read.
    open_regular(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(invalid(format!(
            "the file is larger than {most} bytes, the most that is read"
        )));
    }
    Ok(bytes)
}

/// Reads a text of at most `most` bytes, without the byte order mark that editors may write.
///
/// # Errors
/// The errors of [`read`]; or the text is not UTF-8.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = read(path, most)?;
    let bytes = obsp::text::bytes_without_mark(&bytes).map_err(|wide| invalid(wide.to_string()))?;
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let byte = bytes[before.len()];
        invalid(format!("line {line}: the byte {byte:#04x} is not UTF-8; save the file as UTF-8"))
    })?;
    Ok(text.to_owned())
}

/// The reason why a file cannot be read, and what to do. It does not contain the path.
pub(crate) fn explain(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => match path.read_link() {
            Ok(target) => format!("it is a link to {}, which is not there", target.display()),
            Err(_) => "there is no such file".to_owned(),
        },
        io::ErrorKind::PermissionDenied => format!(
            "{error}: the user that this server runs as may not read the file, or enter a folder \
             on the way to it; systemd hands such files over with LoadCredential="
        ),
        _ => error.to_string(),
    }
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(unix)]
const NO_BLOCKING: i32 = libc::O_NONBLOCK | libc::O_NOCTTY;
#[cfg(unix)]
const NO_LINKS: i32 = libc::O_NOFOLLOW;
#[cfg(windows)]
const NO_BLOCKING: u32 = 0;
/// `FILE_FLAG_OPEN_REPARSE_POINT`: the link itself is opened, which is not a regular file.
#[cfg(windows)]
const NO_LINKS: u32 = 0x0020_0000;
#[cfg(windows)]
type Flags = u32;
#[cfg(unix)]
type Flags = i32;

fn open(path: &Path, options: &mut OpenOptions, flags: Flags) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::custom_flags(options, flags);
    let file = options.open(path)?;
    let found = file.metadata()?;
    if found.is_file() {
        return Ok(file);
    }
    Err(invalid(format!("it is {}, and a regular file is needed", kind(&found))))
}

/// The kind of a file that is not regular, as a noun with its article.
#[cfg(unix)]
fn kind(found: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let file_type = found.file_type();
    if file_type.is_dir() {
        "a folder"
    } else if file_type.is_fifo() {
        "a pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind(found: &Metadata) -> &'static str {
    if found.is_dir() { "a folder" } else { "a link or a device" }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// A temporary folder. It is removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("regular-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_read_up_to_its_bound_and_not_one_byte_more() {
        let folder = Folder::new("bound");
        let path = folder.0.join("list");
        fs::write(&path, "\u{feff}12345").unwrap();
        assert_eq!(read(&path, 8).unwrap().len(), 8);
        assert_eq!(read_text(&path, 8).unwrap(), "12345");
        let error = read(&path, 7).unwrap_err().to_string();
        assert!(error.contains("larger than 7 bytes"), "{error}");
        fs::write(&path, b"a\nb\xe4").unwrap();
        let error = read_text(&path, 8).unwrap_err().to_string();
        assert!(error.starts_with("line 2: the byte 0xe4 is not UTF-8"), "{error}");
        let missing = read(&folder.0.join("none"), 8).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    /// If opening blocked, this test would not end.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_a_folder_a_socket_and_a_device_are_named_and_block_nobody() {
        let folder = Folder::new("kinds");
        let pipe = folder.0.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for (path, kind) in [
            (pipe.as_path(), "it is a pipe"),
            (&folder.0, "it is a folder"),
            (Path::new("/dev/zero"), "it is a device"),
        ] {
            let error = read(path, 8).unwrap_err().to_string();
            assert!(error.contains(kind), "{error}");
        }
        assert!(open_to_write(&pipe).unwrap_err().to_string().contains("it is a pipe"));
        let error = open_regular_in(&folder.0, Path::new("pipe")).unwrap_err().to_string();
        assert!(error.contains("it is a pipe"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn no_name_leads_out_of_the_folder() {
        let folder = Folder::new("beneath");
        let inside = folder.0.join("inside");
        fs::create_dir(&inside).unwrap();
        fs::write(folder.0.join("secret"), "not for everybody").unwrap();
        fs::write(inside.join("own"), "for everybody").unwrap();
        std::os::unix::fs::symlink("../secret", inside.join("link")).unwrap();
        assert!(open_regular_in(&inside, Path::new("own")).is_ok());
        let absolute = folder.0.join("secret");
        for name in ["../secret", "..", ".", "", "own/..", absolute.to_str().unwrap(), "link"] {
            assert!(open_regular_in(&inside, Path::new(name)).is_err(), "{name:?}");
        }
        // A link that the operator names is followed.
        assert!(open_regular(&inside.join("link")).is_ok());
    }
}
