//! Text files in the encodings that editors on any system write.
//!
//! A byte order mark before UTF-8 is not part of the text. UTF-16 is refused with an error that
//! names it. A reader that took UTF-16 for UTF-8 could report only NULs.

use std::path::Path;
use std::{fs, io};

use thiserror::Error;

/// The mark that an editor may write before UTF-8.
const MARK: char = '\u{feff}';

/// The text is in an encoding that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the text is encoded as UTF-16 or UTF-32, recognised by {0}; save it as UTF-8")]
pub struct WideText(Sign);

/// The sign by which UTF-16 or UTF-32 was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
enum Sign {
    #[error("its byte order mark")]
    Mark,
    #[error("the NUL beside its first letter")]
    Nul,
}

/// The text without the byte order mark at its beginning.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// The bytes of a text without the byte order mark of UTF-8 at their beginning.
///
/// # Errors
/// [`WideText`] if the bytes are UTF-16 or UTF-32.
pub fn bytes_without_mark(bytes: &[u8]) -> Result<&[u8], WideText> {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 0, 0xfe, 0xff, ..] => Err(WideText(Sign::Mark)),
        &[letter, 0, ..] | &[0, letter, ..] if is_written(letter) => Err(WideText(Sign::Nul)),
        [0xef, 0xbb, 0xbf, rest @ ..] => Ok(rest),
        _ => Ok(bytes),
    }
}

/// Whether a text may begin with this byte. Files that are not text often begin with a small
/// number.
fn is_written(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

/// Reads a file of text, without its byte order mark.
///
/// # Errors
/// The system's error. If the file is not UTF-8, an error of the kind
/// [`io::ErrorKind::InvalidData`]. The text of that error has the line and column of the first
/// invalid byte.
pub fn read(path: impl AsRef<Path>) -> io::Result<String> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    let bytes = fs::read(path.as_ref())?;
    let bytes = bytes_without_mark(&bytes).map_err(|wide| invalid(wide.to_string()))?;
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let at = error.valid_up_to();
            let (line, column) = position(bytes, at);
            let byte = bytes[at];
            Err(invalid(format!(
                "line {line}, column {column}: the byte {byte:#04x} is not UTF-8; the file may \
                 be in an older encoding: save it as UTF-8"
            )))
        }
    }
}

/// The line and column, both from 1, of a byte. A line ends with LF, CR LF or CR. A column is a
/// character.
pub(crate) fn position(text: &[u8], at: usize) -> (u64, u64) {
    let before = &text[..at.min(text.len())];
    let ends = before.iter().enumerate().filter(|&(i, &byte)| ends_line(text, i, byte));
    let (mut line, mut start) = (1, 0);
    for (end, _) in ends {
        (line, start) = (line + 1, end + 1);
    }
    // In UTF-8 every byte of a character except the first begins with the bits 10.
    let column = before[start.min(before.len())..].iter().filter(|&&byte| byte & 0xc0 != 0x80);
    (line, 1 + column.count() as u64)
}

/// Whether the line ends with the byte at `at`.
pub(crate) fn ends_line(text: &[u8], at: usize, byte: u8) -> bool {
    byte == b'\n' || (byte == b'\r' && text.get(at + 1) != Some(&b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_dropped_once_and_wide_text_is_named() {
        assert_eq!(without_mark("\u{feff}\u{feff}x"), "\u{feff}x");
        assert_eq!(bytes_without_mark("\u{feff}x".as_bytes()), Ok(b"x".as_slice()));
        // The last text is the beginning of a compiled map of Quake, which an earlier version took
        // for UTF-16.
        for plain in [b"".as_slice(), b"x", b"\xef\xbb", b"\0", b"\0\0", b"\x1d\0\0\0"] {
            assert_eq!(bytes_without_mark(plain), Ok(plain));
        }
        for wide in [
            b"\xff\xfe{\0".as_slice(),
            b"\xfe\xff\0{",
            b"{\0",
            b"\0{",
            b"\0\0\xfe\xff",
            b"\xff\xfe\0\0",
        ] {
            let error = bytes_without_mark(wide).expect_err("UTF-16 is refused").to_string();
            assert!(error.contains("UTF-16") && error.contains("save it as UTF-8"), "{error}");
        }
    }

    #[test]
    fn lines_end_as_on_unix_on_windows_and_on_old_macs() {
        for (text, expected) in [
            ("ab", (1, 3)),
            ("a\nb", (2, 2)),
            ("a\r\nb", (2, 2)),
            ("a\rb", (2, 2)),
            ("a\n\r\nb", (3, 2)),
            ("a\r\rb", (3, 2)),
            ("a\nä€", (2, 3)),
        ] {
            assert_eq!(position(text.as_bytes(), text.len()), expected, "{text:?}");
        }
        assert_eq!(position(b"a\r\nb", 1), (1, 2));
        assert_eq!(position(b"a\r\nb", 2), (1, 3), "a CR before LF ends no line");
        assert_eq!(position(b"a", 9), (1, 2), "a place behind the end counts as the end");
    }

    #[test]
    fn files_are_read_with_and_without_a_mark() {
        let path = std::env::temp_dir().join(format!("obsp-text-{}", std::process::id()));
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("the test can write to its folder");
            read(&path).map_err(|error| error.to_string())
        };
        assert_eq!(read("\u{feff}v 1".as_bytes()), Ok("v 1".to_owned()));
        assert_eq!(read(b"v 1"), Ok("v 1".to_owned()));
        let error = read(b"v\0\n\0").expect_err("UTF-16 is refused");
        assert!(error.contains("UTF-16"), "{error}");
        let error = read(b"ok\n k\xe4se").expect_err("Latin-1 is refused");
        assert!(error.starts_with("line 2, column 3: the byte 0xe4"), "{error}");
        let _ = fs::remove_file(&path);
    }
}
