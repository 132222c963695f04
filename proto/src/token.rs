//! Connect tokens, after netcode.io. A backend seals a token, a client carries it, and a server
//! opens it. So only clients that the backend has sent may join.
//!
//! Backend and server share a [`JoinKey`]. A client can neither read nor change its token.
//! `PROTOCOL.md` has the layout of a token, so that a backend in any language can write tokens.
//! [`JoinKey::seal`] and [`JoinKey::open`] keep no state. The server itself ensures that each token
//! is used once.

use std::fmt;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use crate::control::{MAX_TOKEN, PlayerName};

/// The first bytes of a token. Another layout would begin with other bytes.
const MAGIC: &[u8; 4] = b"obt1";

/// Number of bytes in front of the sealed content: the magic, the expiry time, and the salt.
const HEADER: usize = MAGIC.len() + 8 + SALT;

/// Bytes of the salt, which also identifies the token.
const SALT: usize = 16;

/// Bytes of the authentication tag.
const SEAL: usize = 16;

/// Maximum number of servers that a token may name.
pub const MAX_TOKEN_SERVERS: usize = 4;

/// Maximum length of a server's address in a token, in bytes.
pub const MAX_TOKEN_SERVER: usize = 48;

/// Maximum length of the user data in a token, in bytes.
pub const MAX_USER_DATA: usize = 128;

/// The secret that backend and server share.
///
/// ```
/// use obsp_proto::control::PlayerName;
/// use obsp_proto::token::{JoinKey, TokenClaims};
///
/// let key = JoinKey::from_bytes([7; 32]);
/// let claims = TokenClaims {
///     player: 1,
///     name: PlayerName::new("Ann")?,
///     reserved: false,
///     servers: Vec::new(),
///     user_data: Vec::new(),
/// };
/// // The backend seals a token, and the server opens it.
/// let token = key.seal(&claims, 2_000_000_000)?;
/// assert_eq!(key.open(&token)?.claims, claims);
/// assert!(JoinKey::from_bytes([8; 32]).open(&token).is_err(), "another key");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct JoinKey([u8; 32]);

/// The content of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenClaims {
    /// The number that the backend gives to the player; never 0.
    pub player: u64,
    /// The player's name, which overrides the name in the client's hello.
    pub name: PlayerName,
    /// Whether the player may take a reserved place.
    pub reserved: bool,
    /// The servers that accept the token, as `HOST:PORT`; empty if every server with the key
    /// accepts it.
    pub servers: Vec<String>,
    /// Bytes that the backend chooses, for the server's game.
    pub user_data: Vec<u8>,
}

/// An opened token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedToken {
    /// The salt of the token, which identifies it.
    pub id: [u8; SALT],
    /// Time at which the token expires, in seconds since 1970.
    pub expires: u64,
    /// Content of the token.
    pub claims: TokenClaims,
}

/// The reason why a token cannot be opened or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The token does not have the length or the first bytes of a token.
    #[error("not a connect token")]
    Format,
    /// The token was sealed with another key, or was changed.
    #[error("the token was sealed with another key, or was changed")]
    Seal,
    /// The content of the token violates the layout.
    #[error("the content of the token is malformed")]
    Content,
    /// The content does not fit into a token.
    #[error("the content does not fit into a token")]
    TooLong,
    /// The system provides no random bytes.
    #[error("cannot get random bytes from the system")]
    NoRandomness,
}

/// The text is not a [`JoinKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is not a join key of 64 hexadecimal digits")]
pub struct JoinKeySyntax;

impl JoinKey {
    /// A key of these bytes, which should be random.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A new key.
    ///
    /// # Errors
    /// [`TokenError::NoRandomness`].
    pub fn generate() -> Result<Self, TokenError> {
        Ok(Self(random()?))
    }

    /// The key as it is written in a file: hexadecimal.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Seals a token that expires at `expires`, in seconds since 1970.
    ///
    /// # Errors
    /// The content does not fit, or the system provides no random bytes.
    pub fn seal(&self, claims: &TokenClaims, expires: u64) -> Result<Vec<u8>, TokenError> {
        self.seal_with(claims, expires, random()?)
    }

    /// Seals a token with a salt, which must never have been used before.
    ///
    /// # Errors
    /// The content does not fit.
    pub fn seal_with(
        &self,
        claims: &TokenClaims,
        expires: u64,
        salt: [u8; SALT],
    ) -> Result<Vec<u8>, TokenError> {
        self.seal_bytes(&encode(claims)?, expires, salt)
    }

    /// Seals any content, valid or not. Public for tests and fuzzing only.
    ///
    /// # Errors
    /// The content does not fit.
    #[doc(hidden)]
    pub fn seal_bytes(
        &self,
        content: &[u8],
        expires: u64,
        salt: [u8; SALT],
    ) -> Result<Vec<u8>, TokenError> {
        let mut token = Vec::with_capacity(MAX_TOKEN);
        token.extend(MAGIC);
        token.extend(expires.to_le_bytes());
        token.extend(salt);
        let mut content = content.to_owned();
        let tag = self
            .cipher(&salt)
            .seal_in_place_separate_tag(nonce(), Aad::from(&token), &mut content)
            .map_err(|_| TokenError::Seal)?;
        token.extend(content);
        token.extend(tag.as_ref());
        if token.len() > MAX_TOKEN {
            return Err(TokenError::TooLong);
        }
        Ok(token)
    }

    /// Opens a token. The caller checks whether it has expired or was used before.
    ///
    /// # Errors
    /// The bytes are not a token, were not sealed with this key, or violate the layout.
    pub fn open(&self, token: &[u8]) -> Result<OpenedToken, TokenError> {
        if token.len() > MAX_TOKEN || token.len() < HEADER + SEAL || !token.starts_with(MAGIC) {
            return Err(TokenError::Format);
        }
        let (header, sealed) = token.split_at(HEADER);
        let (expires, salt) = header[MAGIC.len()..].split_at(8);
        let (Ok(expires), Ok(id)) = (expires.try_into(), <[u8; SALT]>::try_from(salt)) else {
            return Err(TokenError::Format);
        };
        let mut sealed = sealed.to_owned();
        let content = self
            .cipher(&id)
            .open_in_place(nonce(), Aad::from(header), &mut sealed)
            .map_err(|_| TokenError::Seal)?;
        let claims = decode(content).ok_or(TokenError::Content)?;
        Ok(OpenedToken { id, expires: u64::from_le_bytes(expires), claims })
    }

    /// The cipher of the token with this salt.
    fn cipher(&self, salt: &[u8; SALT]) -> LessSafeKey {
        let key = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.0), salt);
        match UnboundKey::new(&CHACHA20_POLY1305, key.as_ref()) {
            Ok(key) => LessSafeKey::new(key),
            Err(_) => unreachable!("HMAC-SHA256 gives 32 bytes, as the cipher wants"),
        }
    }
}

/// The nonce is always zero. Each token has its own key, so a nonce is never used twice with one
/// key.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

fn random<const N: usize>() -> Result<[u8; N], TokenError> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| TokenError::NoRandomness)?;
    Ok(bytes)
}

/// Does not print the secret.
impl fmt::Debug for JoinKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JoinKey(..)")
    }
}

impl std::str::FromStr for JoinKey {
    type Err = JoinKeySyntax;

    fn from_str(text: &str) -> Result<Self, JoinKeySyntax> {
        let text = text.trim();
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(JoinKeySyntax);
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            let digits = &text[2 * index..2 * index + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| JoinKeySyntax)?;
        }
        Ok(Self(bytes))
    }
}

/// The content to be sealed.
fn encode(claims: &TokenClaims) -> Result<Vec<u8>, TokenError> {
    let TokenClaims { player, name, reserved, servers, user_data } = claims;
    let servers_fit = servers.len() <= MAX_TOKEN_SERVERS
        && servers.iter().all(|server| (1..=MAX_TOKEN_SERVER).contains(&server.len()));
    if !servers_fit || user_data.len() > MAX_USER_DATA || *player == 0 {
        return Err(TokenError::TooLong);
    }
    let mut content = Vec::new();
    content.extend(player.to_le_bytes());
    content.push(u8::from(*reserved));
    let mut text = |text: &[u8]| {
        // All texts are shorter than 256 bytes.
        content.push(text.len() as u8);
        content.extend(text);
    };
    text(name.as_str().as_bytes());
    text(user_data);
    servers.iter().for_each(|server| text(server.as_bytes()));
    Ok(content)
}

/// The content of a token; `None` if it violates a rule.
fn decode(content: &[u8]) -> Option<TokenClaims> {
    let (player, rest) = content.split_first_chunk::<8>()?;
    let player = u64::from_le_bytes(*player);
    let (&flags, mut rest) = rest.split_first()?;
    let mut next = || {
        let (&length, after) = rest.split_first()?;
        let (text, after) = after.split_at_checked(length.into())?;
        rest = after;
        Some(text)
    };
    let name = PlayerName::new(std::str::from_utf8(next()?).ok()?).ok()?;
    let user_data = next()?.to_owned();
    let mut servers = Vec::new();
    while let Some(server) = next() {
        servers.push(std::str::from_utf8(server).ok()?.to_owned());
    }
    let claims = TokenClaims { player, name, reserved: flags == 1, servers, user_data };
    // Unknown flags and trailing bytes are rejected.
    let is_exact = flags <= 1 && encode(&claims).ok()?.len() == content.len();
    is_exact.then_some(claims)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> TokenClaims {
        TokenClaims {
            player: 7,
            name: PlayerName::new("Ann").unwrap(),
            reserved: true,
            servers: vec!["192.0.2.1:4433".into(), "[::1]:4433".into()],
            user_data: vec![1, 2, 3],
        }
    }

    #[test]
    fn a_token_opens_to_what_was_sealed() {
        let key = JoinKey::generate().unwrap();
        let key: JoinKey = key.to_hex().parse().unwrap();
        let token = key.seal(&claims(), 1_000).unwrap();
        let opened = key.open(&token).unwrap();
        assert_eq!((opened.expires, opened.claims), (1_000, claims()));
        assert_ne!(key.seal(&claims(), 1_000).unwrap(), token, "each token has another salt");
    }

    #[test]
    fn the_longest_content_fits_a_hello() {
        let longest = TokenClaims {
            player: u64::MAX,
            name: PlayerName::new(&"\u{10ffff}".repeat(24)).unwrap(),
            servers: vec!["x".repeat(MAX_TOKEN_SERVER); MAX_TOKEN_SERVERS],
            user_data: vec![255; MAX_USER_DATA],
            ..claims()
        };
        let key = JoinKey::from_bytes([5; 32]);
        let token = key.seal(&longest, u64::MAX).unwrap();
        assert_eq!(key.open(&token).unwrap().claims, longest);
        for too_long in [
            TokenClaims { servers: vec!["x".into(); MAX_TOKEN_SERVERS + 1], ..claims() },
            TokenClaims { servers: vec!["x".repeat(MAX_TOKEN_SERVER + 1)], ..claims() },
            TokenClaims { servers: vec![String::new()], ..claims() },
            TokenClaims { user_data: vec![0; MAX_USER_DATA + 1], ..claims() },
            TokenClaims { player: 0, ..claims() },
        ] {
            assert_eq!(key.seal(&too_long, 1), Err(TokenError::TooLong), "{too_long:?}");
        }
    }

    #[test]
    fn no_changed_bit_and_no_other_key_opens_a_token() {
        let key = JoinKey::from_bytes([5; 32]);
        let token = key.seal(&claims(), 1_000).unwrap();
        for bit in 0..token.len() * 8 {
            let mut changed = token.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(key.open(&changed).is_err(), "bit {bit}");
        }
        for length in 0..token.len() {
            assert!(key.open(&token[..length]).is_err(), "{length} bytes");
        }
        assert_eq!(JoinKey::from_bytes([6; 32]).open(&token), Err(TokenError::Seal));
        assert_eq!(key.open(&[0; 2000]), Err(TokenError::Format));
    }

    #[test]
    fn sealed_but_malformed_content_is_rejected() {
        let good = encode(&claims()).unwrap();
        let mut padded = good.clone();
        padded.push(0);
        let mut flags = good.clone();
        flags[8] = 2;
        for content in [vec![], good[..9].to_vec(), padded, flags] {
            assert_eq!(decode(&content), None, "{content:?}");
        }
        assert_eq!(decode(&good), Some(claims()));
    }

    #[test]
    fn keys_are_64_digits() {
        for bad in ["", "12", &"g".repeat(64), &"a".repeat(63), &"ä".repeat(32)] {
            assert!(bad.parse::<JoinKey>().is_err(), "{bad}");
        }
        assert_eq!(format!("{:?}", JoinKey::from_bytes([1; 32])), "JoinKey(..)");
    }
}
