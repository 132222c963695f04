//! Secrets that clients present: the password of a match, and the words of single players.

use ring::hmac::{self, HMAC_SHA256};
use ring::rand::SystemRandom;

/// Characters of the shortest secret. Guesses are limited, so it need not be longer.
pub(super) const SHORTEST: usize = 6;

/// Bytes of the longest secret: a hello has no room for more.
pub(super) const LONGEST: usize = obsp_proto::control::MAX_TOKEN;

/// Turns secrets into tags that can be compared. A tag depends on a key that nobody knows, so the
/// time of a comparison reveals nothing about the secret.
#[derive(Debug)]
pub(super) struct Tagger(hmac::Key);

/// The tag of a secret.
pub(super) type Tag = [u8; 32];

impl Tagger {
    pub(super) fn new() -> Result<Self, String> {
        hmac::Key::generate(HMAC_SHA256, &SystemRandom::new())
            .map(Self)
            .map_err(|_| "the system gives no random bytes".to_owned())
    }

    pub(super) fn tag(&self, secret: &[u8]) -> Tag {
        let mut tag = Tag::default();
        tag.copy_from_slice(hmac::sign(&self.0, secret).as_ref());
        tag
    }
}

/// Checks that a text can be a secret.
///
/// # Errors
/// The reason, which does not contain the text.
pub(super) fn check(secret: &str) -> Result<(), String> {
    let (characters, bytes) = (secret.chars().count(), secret.len());
    if characters < SHORTEST {
        return Err(format!("it has fewer than {SHORTEST} characters and could be guessed"));
    }
    if bytes > LONGEST {
        return Err(format!("it has {bytes} bytes, but a client can send only {LONGEST}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_secrets_alone_have_equal_tags() {
        let tagger = Tagger::new().unwrap();
        assert_eq!(tagger.tag(b"sesame"), tagger.tag(b"sesame"));
        assert_ne!(tagger.tag(b"sesame"), tagger.tag(b"sesame "));
        assert_ne!(tagger.tag(b"sesame"), Tagger::new().unwrap().tag(b"sesame"));
    }

    #[test]
    fn a_secret_is_neither_too_short_nor_too_long() {
        for (length, is_right) in [(SHORTEST - 1, false), (SHORTEST, true), (LONGEST, true)] {
            assert_eq!(check(&"x".repeat(length)).is_ok(), is_right, "{length}");
        }
        let error = check(&"x".repeat(LONGEST + 1)).unwrap_err();
        assert!(error.contains("513"), "{error}");
    }
}
