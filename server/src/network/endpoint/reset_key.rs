//! The key for QUIC's stateless reset, by which a restarted server ends the connections of its
//! predecessor's clients.
//!
//! A client whose server is gone receives nothing until its time-out. A restarted server that has
//! its predecessor's key answers unreadable packets with a token that only the predecessor could
//! have made. So the client knows at once that its connection is over and that it may come back.
//! The key comes from the private key of `--key`, or is kept in a file of the state directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use quinn::EndpointConfig;
use quinn_proto::HashedConnectionIdGenerator;
use ring::rand::{SecureRandom, SystemRandom};
use ring::{hkdf, hmac};
use rustls::pki_types::PrivateKeyDer;
use tracing::warn;

use crate::common::state_file::Readers;
use crate::common::{regular_file, state_file};

/// Name of the file in the state directory.
const FILE: &str = "reset.key";

/// Bytes of the secret in the file.
const SECRET_LENGTH: usize = 32;

/// Separates the keys derived here from anything else that is derived from the same secret.
const SALT: &[u8] = b"obsp stateless reset 1";

/// Shortest time between two resets: a match of 256 players notices a restart within a second, and
/// the server answers only a fraction of a flood.
const MIN_RESET_INTERVAL: Duration = Duration::from_millis(2);

/// The key that the stateless resets and the connection ids of an endpoint are made from.
pub(crate) struct ResetKey {
    reset: [u8; SECRET_LENGTH],
    /// The key of connection ids. With it, a restarted server recognises its predecessor's ids.
    ids: u64,
}

impl ResetKey {
    /// The key that is derived from a certificate's private key.
    pub(crate) fn of_private_key(key: &PrivateKeyDer<'_>) -> Self {
        Self::derive(key.secret_der())
    }

    /// The key that is kept in this directory. A new one is made if there is none. Without a
    /// directory, or if it cannot be used, the key is lost when this process ends.
    pub(crate) fn kept_in(directory: Option<&Path>) -> Self {
        let kept = directory.map(|directory| (directory, kept_secret(directory)));
        let secret = match kept {
            Some((_, Ok(secret))) => secret,
            Some((directory, Err(error))) => {
                warn!(
                    "cannot keep a key in {}: {error}; clients would notice a crash of this \
                     server only by time-out (see --state-dir)",
                    directory.display()
                );
                new_secret()
            }
            None => new_secret(),
        };
        Self::derive(&secret)
    }

    fn derive(secret: &[u8]) -> Self {
        let secret = hkdf::Salt::new(hkdf::HKDF_SHA256, SALT).extract(secret);
        let mut reset = [0; SECRET_LENGTH];
        let mut ids = [0; SECRET_LENGTH];
        for (purpose, bytes) in [("reset", &mut reset), ("ids", &mut ids)] {
            // Expanding fails only for lengths other than the algorithm's own.
            let purpose = [purpose.as_bytes()];
            if let Ok(key) = secret.expand(&purpose, hkdf::HKDF_SHA256) {
                let _ = key.fill(bytes);
            }
        }
        let [a, b, c, d, e, f, g, h, ..] = ids;
        Self { reset, ids: u64::from_le_bytes([a, b, c, d, e, f, g, h]) }
    }

    /// The configuration of an endpoint with this key.
    pub(crate) fn endpoint_config(&self) -> EndpointConfig {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.reset);
        let mut config = EndpointConfig::new(Arc::new(key));
        let ids = self.ids;
        config
            .cid_generator(move || Box::new(HashedConnectionIdGenerator::from_key(ids)))
            .min_reset_interval(MIN_RESET_INTERVAL);
        config
    }
}

/// The directory in which state is kept if the operator names none: systemd's directory for the
/// service, or the place where the system keeps such files of a user.
pub(crate) fn default_state_dir() -> Option<PathBuf> {
    state_dir_of(std::env::consts::OS, |name| std::env::var_os(name))
}

fn state_dir_of(system: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let given = |name| variable(name).filter(|value| !value.is_empty());
    if let Some(directories) = given("STATE_DIRECTORY") {
        // systemd separates several directories by colons.
        return std::env::split_paths(&directories).next();
    }
    let folder = |name| given(name).map(PathBuf::from);
    let base = match system {
        // A service has this variable, too: the folder of the account that it runs as.
        "windows" => folder("LOCALAPPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library/Application Support")),
        _ => folder("XDG_STATE_HOME")
            .or_else(|| folder("HOME").map(|home| home.join(".local/state"))),
    };
    base.map(|base| base.join("arena-server"))
}

/// Reads the secret from the file. Makes the file if there is none, or if it is empty.
fn kept_secret(directory: &Path) -> io::Result<[u8; SECRET_LENGTH]> {
    let path = directory.join(FILE);
    let name = path.display();
    match regular_file::read(&path, regular_file::LARGEST) {
        Ok(bytes) if bytes.is_empty() => {
            warn!(
                "{name} is empty: the disk may have been full, or the machine crashed, when it was \
                 written; a new key is made, and clients of an earlier run notice its end by \
                 time-out only"
            );
            made_secret(&path)
        }
        Ok(bytes) => <[u8; SECRET_LENGTH]>::try_from(bytes.as_slice()).map_err(|_| {
            io::Error::other(format!(
                "{name} holds {} bytes instead of {SECRET_LENGTH}, so it may be another file: \
                 remove it, or name another directory",
                bytes.len()
            ))
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(directory)?;
            made_secret(&path)
        }
        Err(error) => Err(error),
    }
}

/// Writes a new secret to the file.
fn made_secret(path: &Path) -> io::Result<[u8; SECRET_LENGTH]> {
    let secret = new_secret();
    state_file::write(path, &secret, Readers::Owner)?;
    Ok(secret)
}

fn new_secret() -> [u8; SECRET_LENGTH] {
    let mut secret = [0; SECRET_LENGTH];
    if SystemRandom::new().fill(&mut secret).is_err() {
        // Without random numbers, TLS does not work either.
        warn!("cannot get random numbers from the system");
    }
    secret
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary directory. It is removed when dropped.
    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("arena-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn parts(key: &ResetKey) -> ([u8; SECRET_LENGTH], u64) {
        (key.reset, key.ids)
    }

    #[test]
    fn a_kept_key_is_the_same_again_and_nobody_else_s() {
        let directory = Directory::new("kept-key");
        let first = ResetKey::kept_in(Some(&directory.0));
        let second = ResetKey::kept_in(Some(&directory.0));
        assert_eq!(parts(&first), parts(&second));
        assert_ne!(parts(&first), parts(&ResetKey::kept_in(None)));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(directory.0.join(FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_directory_of_no_use_costs_no_start() {
        let directory = Directory::new("broken-key");
        fs::create_dir_all(&directory.0).unwrap();
        fs::write(directory.0.join(FILE), b"too short").unwrap();
        ResetKey::kept_in(Some(&directory.0));
        assert_eq!(
            fs::read(directory.0.join(FILE)).unwrap(),
            b"too short",
            "the file is left alone"
        );
        ResetKey::kept_in(Some(Path::new("/dev/null/nowhere")));
    }

    /// Guards against a past fault: a disk that was full at the first start left an empty file for
    /// ever.
    #[test]
    fn an_empty_key_is_made_anew_and_kept_from_then_on() {
        let directory = Directory::new("empty-key");
        fs::create_dir_all(&directory.0).unwrap();
        fs::write(directory.0.join(FILE), b"").unwrap();
        let first = ResetKey::kept_in(Some(&directory.0));
        assert_eq!(fs::read(directory.0.join(FILE)).unwrap().len(), SECRET_LENGTH);
        assert_eq!(parts(&first), parts(&ResetKey::kept_in(Some(&directory.0))));
        // A file with one byte more is not a key, and is not overwritten.
        fs::write(directory.0.join(FILE), [7; SECRET_LENGTH + 1]).unwrap();
        ResetKey::kept_in(Some(&directory.0));
        assert_eq!(fs::read(directory.0.join(FILE)).unwrap(), [7; SECRET_LENGTH + 1]);
    }

    #[test]
    fn the_state_directory_is_where_systems_have_it() {
        let directory_on = |system, set: &[(&str, &str)]| {
            state_dir_of(system, |name| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        let directory = |set: &[(&str, &str)]| directory_on("linux", set);
        let home = ("HOME", "/home/me");
        assert_eq!(directory(&[]), None);
        assert_eq!(directory(&[home]), Some("/home/me/.local/state/arena-server".into()));
        let xdg = ("XDG_STATE_HOME", "/state");
        assert_eq!(directory(&[home, xdg]), Some("/state/arena-server".into()));
        let systemd = ("STATE_DIRECTORY", "/var/lib/arena");
        assert_eq!(directory(&[home, xdg, systemd]), Some("/var/lib/arena".into()));
        if cfg!(unix) {
            let two = ("STATE_DIRECTORY", "/var/lib/arena:/other");
            assert_eq!(directory(&[home, xdg, two]), Some("/var/lib/arena".into()));
        }
        let expected = "/home/me/Library/Application Support/arena-server";
        assert_eq!(directory_on("macos", &[home, xdg]), Some(expected.into()));
        let local = ("LOCALAPPDATA", "/users/me/local");
        assert_eq!(
            directory_on("windows", &[home, local]),
            Some("/users/me/local/arena-server".into())
        );
        assert_eq!(directory_on("windows", &[home]), None);
    }
}
