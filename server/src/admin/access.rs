//! Access to the admin interface: bearer tokens from a file, and a limit on wrong ones.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use ring::hmac;
use ring::rand::SystemRandom;

use crate::token_bucket::{Rate, TokenBucket};

/// Characters of the shortest token that is accepted. As hexadecimal digits they hold 96 bits.
const SHORTEST: usize = 24;

/// The rate of wrong tokens that is allowed. Beyond it, the answer to a wrong token is to wait. A
/// valid token is accepted even then, which does not help to guess one: 96 bits are too many to
/// try.
const FAILURES: Rate = Rate { per_second: 1.0, burst: 10.0 };

/// The administrators, who may use the admin interface.
pub(super) struct Access {
    /// Tokens are compared by their HMACs under this key, so that the time of a comparison reveals
    /// nothing about the token.
    key: hmac::Key,
    administrators: Vec<Administrator>,
    failures: Mutex<TokenBucket>,
}

struct Administrator {
    name: String,
    tag: hmac::Tag,
}

/// Why a request is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// The request has no token, or a wrong one.
    Unknown,
    /// Wrong tokens have come faster than [`FAILURES`] allows.
    TooMany,
}

impl Access {
    /// Reads the file of tokens: a name and a token on each line. Text after `#` is a comment.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = obsp::text::read(path).map_err(|error| error.to_string())?;
        Self::parse(&text, Instant::now())
    }

    fn parse(text: &str, now: Instant) -> Result<Self, String> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .map_err(|_| "cannot get random bytes from the system".to_owned())?;
        let mut administrators = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, token] = words[..] else {
                return Err(format!(
                    "line {}: expected a name and a token, separated by a space",
                    index + 1
                ));
            };
            if token.len() < SHORTEST {
                return Err(format!(
                    "line {}: the token has fewer than {SHORTEST} characters and could be guessed; \
                     `openssl rand -hex 16` makes a longer one",
                    index + 1
                ));
            }
            let tag = hmac::sign(&key, token.as_bytes());
            administrators.push(Administrator { name: name.to_owned(), tag });
        }
        if administrators.is_empty() {
            return Err("the file holds no token; write a name and a token on each line".to_owned());
        }
        Ok(Self { key, administrators, failures: Mutex::new(TokenBucket::full(now)) })
    }

    /// The administrator whose token this `Authorization` header carries.
    pub(super) fn judge(&self, header: Option<&[u8]>, now: Instant) -> Result<&str, Denied> {
        let token = header.and_then(|header| header.strip_prefix(b"Bearer "));
        let mut known = None;
        for administrator in &self.administrators {
            // All tokens are compared, and each comparison takes the same time whatever its
            // outcome, so that the time of an answer reveals nothing.
            let tag = administrator.tag.as_ref();
            if hmac::verify(&self.key, token.unwrap_or_default(), tag).is_ok() {
                known = Some(administrator.name.as_str());
            }
        }
        // A valid token is accepted even after too many wrong ones, so nobody can lock out an
        // administrator.
        known.ok_or_else(|| {
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            if failures.take(FAILURES, 1.0, now) { Denied::Unknown } else { Denied::TooMany }
        })
    }
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
        assert_eq!(access.judge(Some(b"Bearer 0123456789abcdef01234567"), now), Ok("ann"));
        assert_eq!(access.judge(Some(b"Bearer fedcba9876543210fedcba98"), now), Ok("bob"));
        for wrong in
            [None, Some(&b"Bearer "[..]), Some(b"0123456789abcdef01234567"), Some(b"Bearer x")]
        {
            assert_eq!(access.judge(wrong, now), Err(Denied::Unknown));
        }
    }

    #[test]
    fn an_address_that_tries_many_tokens_is_ignored_for_a_while() {
        let now = Instant::now();
        let access = Access::parse(FILE, now).unwrap();
        let tried = (0..1000).filter(|_| access.judge(None, now) == Err(Denied::Unknown)).count();
        assert!((10..=11).contains(&tried), "{tried}");
        let right = Some(&b"Bearer 0123456789abcdef01234567"[..]);
        assert_eq!(access.judge(None, now), Err(Denied::TooMany));
        assert_eq!(access.judge(right, now), Ok("ann"), "nobody is locked out");
        assert_eq!(access.judge(None, now + Duration::from_secs(2)), Err(Denied::Unknown));
    }

    #[test]
    fn a_file_that_cannot_be_used_says_why() {
        for (text, says) in [
            ("", "no token"),
            ("ann", "line 1: expected a name"),
            ("\nann short", "line 2: the token has fewer"),
        ] {
            let error = Access::parse(text, Instant::now()).err().unwrap();
            assert!(error.contains(says), "{error}");
        }
    }
}
