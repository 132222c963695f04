//! The key that seals connect tokens, from its file.

use std::path::Path;

use obsp_proto::token::{JoinKey, JoinKeySyntax};

use crate::common::error::StartError;
use crate::common::regular_file;

/// Reads the key that seals connect tokens.
pub(crate) fn read_join_key(path: &Path) -> Result<JoinKey, StartError> {
    let wrong = |reason: String| StartError::JoinKey { path: path.to_owned(), reason };
    let bytes = regular_file::read(path, regular_file::LARGEST)
        .map_err(|error| wrong(regular_file::explain(path, &error)))?;
    key(&bytes).map_err(wrong)
}

/// The key in these bytes of a file, or what the file seems to be instead.
fn key(bytes: &[u8]) -> Result<JoinKey, String> {
    let text = match obsp::text::bytes_without_mark(bytes).map(std::str::from_utf8) {
        Ok(Ok(text)) => text,
        Err(wide) => return Err(wide.to_string()),
        Ok(Err(_)) if bytes.len() == 32 => {
            return Err(
                "it holds 32 bytes that are no text; they may be a key in binary form, and \
                        64 hexadecimal digits are needed"
                    .to_owned(),
            );
        }
        Ok(Err(_)) => return Err("it is not text; 64 hexadecimal digits are needed".to_owned()),
    };
    let shown = text.trim();
    text.parse().map_err(|error: JoinKeySyntax| {
        if shown.is_empty() {
            return "the file is empty; the disk may have been full when it was written".to_owned();
        }
        if shown.starts_with("-----BEGIN") {
            return format!("{error}, and the file holds PEM; it may be a key for --key");
        }
        let digits = shown.chars().filter(char::is_ascii_hexdigit).count();
        let others = shown.chars().count() - digits;
        format!("{error}, and the file has {digits} of them and {others} other characters")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_why_a_join_key_is_refused_is_told_apart() {
        let good = "ab".repeat(32);
        assert!(key(format!("\u{feff}{good}\r\n").as_bytes()).is_ok());
        for (bytes, says) in [
            (b"".to_vec(), "the file is empty"),
            (b" \n".to_vec(), "the file is empty"),
            (vec![0xAB; 32], "a key in binary form"),
            (vec![0xAB; 33], "it is not text"),
            (b"-----BEGIN PRIVATE KEY-----".to_vec(), "it may be a key for --key"),
            (good.as_bytes()[1..].to_vec(), "has 63 of them and 0 other"),
            (format!("{good}z").into_bytes(), "has 64 of them and 1 other"),
            (b"a\0b\0".to_vec(), "UTF-16"),
        ] {
            let error = key(&bytes).unwrap_err();
            assert!(error.contains(says), "{says}: {error}");
            assert!(!error.contains("abab"), "no secret is shown: {error}");
        }
        let missing = read_join_key(Path::new("/nonexistent/key")).unwrap_err().to_string();
        assert!(missing.contains("there is no such file"), "{missing}");
    }
}
