//! The name of this build of the server. Recordings hold this name, because only the build that
//! made a recording is sure to replay it identically.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::sync::OnceLock;

use ring::digest::{Context, SHA256};

/// Bytes of the executable that are read at a time.
const CHUNK: usize = 64 * 1024;

/// Bytes of the executable's SHA-256 that the name holds: enough to distinguish builds.
const HASH_BYTES: usize = 8;

/// The name of this build: the version, and the first digits that `sha256sum` prints for the
/// executable. Hashing it takes tens of milliseconds at the first call. If the executable cannot be
/// read, the name is the version alone.
pub(crate) fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let version = env!("CARGO_PKG_VERSION");
        match executable() {
            Ok(hash) => format!("{version} (executable {hash})"),
            Err(_) => version.to_owned(),
        }
    })
}

/// The beginning of the SHA-256 of the executable, in hexadecimal.
fn executable() -> io::Result<String> {
    let mut file = File::open(std::env::current_exe()?)?;
    let (mut hash, mut chunk) = (Context::new(&SHA256), vec![0; CHUNK]);
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            length => hash.update(&chunk[..length]),
        }
    }
    let mut digits = String::new();
    for byte in hash.finish().as_ref().iter().take(HASH_BYTES) {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    Ok(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_known_by_its_executable() {
        let hash = executable().unwrap();
        assert_eq!(hash.len(), 2 * HASH_BYTES);
        assert_eq!(name(), format!("{} (executable {hash})", env!("CARGO_PKG_VERSION")));
    }
}
