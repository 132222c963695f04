//! Access to the admin interface: bearer tokens from a file, and a limit on wrong ones.

use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Instant;

use ring::hmac;
use ring::rand::SystemRandom;

use crate::common::regular_file;
use crate::common::token_bucket::{Rate, TokenBucket};

/// Characters of the shortest token that is accepted. As hexadecimal digits they hold 96 bits.
const SHORTEST: usize = 24;

/// The rate of wrong tokens that is allowed. Beyond it, the answer to a wrong token asks the client
/// to wait. A valid token is accepted even then. That does not help an attacker, because 96 bits
/// are too many to guess.
const FAILURES: Rate = Rate { per_second: 1.0, burst: 10.0 };

/// The administrators, who may use the admin interface.
pub(crate) struct Access {
    /// Tokens are compared by their HMACs under this key, so that the time of a comparison reveals
    /// nothing about the token.
    key: hmac::Key,
    administrators: RwLock<Vec<Administrator>>,
    failures: Mutex<TokenBucket>,
}

struct Administrator {
    name: String,
    tag: hmac::Tag,
}

/// Why a request is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// The request has no `Authorization` header.
    Missing,
    /// The header has another scheme than `Bearer`, or no token.
    Scheme,
    /// The header has a token that is in no line of the file.
    Unknown,
    /// Wrong tokens have come faster than [`FAILURES`] allows.
    TooMany,
}

impl Denied {
    /// The reason, for the client and for the log.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Missing => "the request has no Authorization header; a bearer token is needed",
            Self::Scheme => {
                "the Authorization header of the request is not of the form `Bearer TOKEN`: it has \
                 another scheme, or no token"
            }
            Self::Unknown => "the bearer token is in no line of the server's --admin-tokens file",
            Self::TooMany => "too many wrong tokens came lately; try again in a second",
        }
    }
}

impl Access {
    /// Reads the file of tokens: a name and a token on each line. Text after `#` is a comment.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        Self::parse(&text(path)?, Instant::now())
    }

    /// Reads the file again. Returns a sentence for each change, which shows no token.
    ///
    /// # Errors
    /// The file cannot be used. The old tokens stay valid.
    pub(crate) fn reload(&self, path: &Path) -> Result<Vec<String>, String> {
        let new = administrators(&self.key, &text(path)?)?;
        let mut own = self.administrators.write().unwrap_or_else(PoisonError::into_inner);
        let is_in = |all: &[Administrator], one: &Administrator| {
            all.iter().any(|known| known.name == one.name && known.tag.as_ref() == one.tag.as_ref())
        };
        let told = |what: &str, names: Vec<&str>| {
            (!names.is_empty()).then(|| format!("admin tokens {what}: {}", names.join(", ")))
        };
        let name = |one: &Administrator| -> Option<String> { Some(one.name.clone()) };
        let added: Vec<_> = new.iter().filter(|one| !is_in(&own, one)).filter_map(name).collect();
        let gone: Vec<_> = own.iter().filter(|one| !is_in(&new, one)).filter_map(name).collect();
        *own = new;
        let [added, gone] = [&added, &gone].map(|names| names.iter().map(String::as_str).collect());
        Ok([told("that are valid from now on", added), told("that are no longer valid", gone)]
            .into_iter()
            .flatten()
            .collect())
    }

    fn parse(text: &str, now: Instant) -> Result<Self, String> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .map_err(|_| "the system gives no random bytes".to_owned())?;
        let administrators = RwLock::new(administrators(&key, text)?);
        Ok(Self { key, administrators, failures: Mutex::new(TokenBucket::full(now)) })
    }

    /// The administrator whose token this `Authorization` header carries.
    pub(super) fn judge(&self, header: Option<&[u8]>, now: Instant) -> Result<String, Denied> {
        let token = header.ok_or(Denied::Missing).and_then(bearer);
        let mut known = None;
        for administrator in &*self.administrators.read().unwrap_or_else(PoisonError::into_inner) {
            // All tokens are compared, and each comparison takes the same time whatever its
            // outcome, so that the time of an answer reveals nothing.
            let tag = administrator.tag.as_ref();
            if hmac::verify(&self.key, token.unwrap_or_default(), tag).is_ok() {
                known = Some(administrator.name.clone());
            }
        }
        // A valid token is accepted even after too many wrong ones, so nobody can lock out an
        // administrator.
        known.ok_or_else(|| {
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            let denied = token.err().unwrap_or(Denied::Unknown);
            if failures.take(FAILURES, 1.0, now) { denied } else { Denied::TooMany }
        })
    }
}

/// The token of an `Authorization` header. The scheme is case-insensitive, and any number of blanks
/// may follow it (RFC 9110, 11.1 and 11.4).
fn bearer(header: &[u8]) -> Result<&[u8], Denied> {
    let header = header.trim_ascii();
    let end = header.iter().position(|byte| byte.is_ascii_whitespace()).ok_or(Denied::Scheme)?;
    let (scheme, token) = header.split_at(end);
    if scheme.eq_ignore_ascii_case(b"bearer") {
        Ok(token.trim_ascii())
    } else {
        Err(Denied::Scheme)
    }
}

/// The text of the file of tokens.
fn text(path: &Path) -> Result<String, String> {
    regular_file::read_text(path, regular_file::LARGEST)
        .map_err(|error| regular_file::explain(path, &error))
}

/// The administrators of the file's lines.
fn administrators(key: &hmac::Key, text: &str) -> Result<Vec<Administrator>, String> {
    let mut administrators = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at = |reason: String| format!("line {}: {reason}", index + 1);
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if line.starts_with("-----BEGIN") {
            return Err(at("this is PEM; it may be a file for --cert or --key".to_owned()));
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, token] = words[..] else {
            let found = match words.len() {
                1 => "only one word".to_owned(),
                more => format!("{more} words"),
            };
            return Err(at(format!(
                "expected a name and a token, separated by a space, and found {found}"
            )));
        };
        if token.len() < SHORTEST {
            return Err(at(format!(
                "the token has fewer than {SHORTEST} characters and could be guessed; `openssl \
                 rand -hex 16` makes a longer one"
            )));
        }
        let tag = hmac::sign(key, token.as_bytes());
        administrators.push(Administrator { name: name.to_owned(), tag });
    }
    if administrators.is_empty() {
        let seen = if text.trim().is_empty() {
            "the file is empty (the disk may have been full when it was written)"
        } else {
            "the file holds only comments, and no token"
        };
        return Err(format!("{seen}; write a name and a token on each line"));
    }
    Ok(administrators)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const FILE: &str =
        "# who may\nann 0123456789abcdef01234567\nbob fedcba9876543210fedcba98 # ops\n";

    #[test]
    fn each_token_has_a_name_and_others_have_none() {
        let now = Instant::now();
        let access = Access::parse(FILE, now).unwrap();
        let judge = |header: &str| access.judge(Some(header.as_bytes()), now);
        assert_eq!(judge("Bearer 0123456789abcdef01234567"), Ok("ann".to_owned()));
        assert_eq!(judge("Bearer fedcba9876543210fedcba98"), Ok("bob".to_owned()));
        assert_eq!(access.judge(None, now), Err(Denied::Missing));
        for other in ["Bearer", "Bearer ", "0123456789abcdef01234567", "Basic abc", "", "Bearers x"]
        {
            assert_eq!(judge(other), Err(Denied::Scheme), "{other:?}");
        }
        assert_eq!(judge("Bearer x"), Err(Denied::Unknown));
    }

    /// Symptom: a token was refused if the scheme was not written exactly `Bearer`.
    #[test]
    fn bearer_in_lower_case_and_with_several_blanks_is_the_same() {
        let now = Instant::now();
        let access = Access::parse(FILE, now).unwrap();
        for scheme in ["bearer ", "BEARER ", "Bearer  ", " bEARER \t ", "bearer\t"] {
            let header = format!("{scheme}0123456789abcdef01234567 ");
            assert_eq!(
                access.judge(Some(header.as_bytes()), now),
                Ok("ann".to_owned()),
                "{header}"
            );
        }
    }

    #[test]
    fn a_file_that_changes_takes_tokens_away_and_brings_others() {
        let now = Instant::now();
        let path = std::env::temp_dir().join(format!("tokens-again-{}", std::process::id()));
        std::fs::write(&path, FILE).unwrap();
        let access = Access::read(&path).unwrap();
        assert_eq!(access.reload(&path), Ok(Vec::new()));
        std::fs::write(&path, FILE.replace("bob fedc", "eve fedd")).unwrap();
        let changes = access.reload(&path).unwrap().join("; ");
        assert!(changes.contains("now on: eve") && changes.contains("valid: bob"), "{changes}");
        assert!(!changes.contains("fed"), "no token is shown: {changes}");
        let judge = |header: &str| access.judge(Some(header.as_bytes()), now);
        assert_eq!(judge("Bearer feddba9876543210fedcba98"), Ok("eve".to_owned()));
        assert_eq!(judge("Bearer fedcba9876543210fedcba98"), Err(Denied::Unknown));
        std::fs::write(&path, "eve").unwrap();
        assert!(access.reload(&path).unwrap_err().contains("line 1"));
        assert_eq!(judge("Bearer 0123456789abcdef01234567"), Ok("ann".to_owned()), "the old stay");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn an_address_that_tries_many_tokens_is_ignored_for_a_while() {
        let now = Instant::now();
        let access = Access::parse(FILE, now).unwrap();
        let tried = (0..1000).filter(|_| access.judge(None, now) == Err(Denied::Missing)).count();
        assert!((10..=11).contains(&tried), "{tried}");
        let right = Some(&b"Bearer 0123456789abcdef01234567"[..]);
        assert_eq!(access.judge(None, now), Err(Denied::TooMany));
        assert_eq!(access.judge(right, now), Ok("ann".to_owned()), "nobody is locked out");
        assert_eq!(access.judge(None, now + Duration::from_secs(2)), Err(Denied::Missing));
    }

    #[test]
    fn a_file_that_cannot_be_used_says_why() {
        for (text, says) in [
            ("", "was written); write a name and a token"),
            ("# none yet", "only comments, and no token"),
            ("-----BEGIN CERTIFICATE-----", "line 1: this is PEM"),
            (
                "ann my token",
                "line 1: expected a name and a token, separated by a space, and found 3",
            ),
            ("ann", "line 1: expected a name"),
            ("\nann short", "line 2: the token has fewer"),
        ] {
            let error = Access::parse(text, Instant::now()).err().unwrap();
            assert!(error.contains(says), "{error}");
        }
    }
}
