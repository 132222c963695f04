//! Checks connect tokens (`--join-key`). Each token is opened, judged and used up before anything
//! else is done for its client.

pub(crate) mod join_key;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use obsp_proto::token::{JoinKey, OpenedToken, TokenClaims, TokenError};
use thiserror::Error;

use crate::common::clock::Reading;

/// A token may end at most this many seconds from now, because it is for one connection that is
/// about to be made. So the time for which used tokens are remembered is bounded.
pub(crate) const LONGEST: u64 = 3600;

/// Maximum number of used tokens that are remembered. With this many, no other token is accepted
/// until some have expired, because a token that was forgotten could be used again.
const REMEMBERED: usize = 65_536;

/// Judges tokens.
#[derive(Debug)]
pub(crate) struct TokenGate {
    key: RwLock<JoinKey>,
    /// Tokens that were used, and when they end.
    used: Mutex<HashMap<[u8; 16], End>>,
}

/// The end of a used token, by both clocks. The token is forgotten when both clocks are past its
/// end. So nobody can use a token twice if the wall clock is set forward and back again.
#[derive(Clone, Copy, Debug)]
struct End {
    /// The end by the wall clock, in seconds since 1970.
    unix: u64,
    /// The end by the elapsed time of the machine.
    elapsed: Duration,
}

impl End {
    fn is_past(&self, now: Reading) -> bool {
        self.unix <= now.unix() && self.elapsed <= now.elapsed
    }
}

/// Why a token is not accepted.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Rejected {
    #[error("the token cannot be opened: {0}")]
    Closed(#[from] TokenError),
    #[error("the token has expired")]
    Expired,
    /// The token expires too late.
    #[error("the token ends more than {LONGEST} s from now; seal it with an earlier end")]
    TooLong,
    /// The token is for other servers.
    #[error("the token is for {0}, not for this server; seal it for this server, or for any")]
    Elsewhere(String),
    #[error("the token was used before")]
    Used,
    /// Too many used tokens are remembered.
    #[error("{REMEMBERED} used tokens are remembered, and no more are accepted until some expire")]
    Busy,
}

impl TokenGate {
    /// A gate for tokens that were sealed with this key.
    pub(crate) fn new(key: JoinKey) -> Self {
        Self { key: RwLock::new(key), used: Mutex::default() }
    }

    /// Takes only tokens of another key from now on. Returns false if it is the same key.
    pub(crate) fn change_key(&self, key: JoinKey) -> bool {
        let mut own = self.key.write().unwrap_or_else(PoisonError::into_inner);
        let is_new = own.to_hex() != key.to_hex();
        *own = key;
        is_new
    }

    /// Opens a token and uses it up. `here` are names of this server.
    pub(crate) fn redeem(
        &self,
        token: &[u8],
        here: &[String],
        now: Reading,
    ) -> Result<OpenedToken, Rejected> {
        let opened = self.key.read().unwrap_or_else(PoisonError::into_inner).open(token)?;
        let (clocks, now) = (now, now.unix());
        if opened.expires <= now {
            return Err(Rejected::Expired);
        }
        if opened.expires - now > LONGEST {
            return Err(Rejected::TooLong);
        }
        let TokenClaims { servers, .. } = &opened.claims;
        if !servers.is_empty() && !servers.iter().any(|server| here.contains(server)) {
            return Err(Rejected::Elsewhere(servers.join(", ")));
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.contains_key(&opened.id) {
            return Err(Rejected::Used);
        }
        if used.len() >= REMEMBERED {
            used.retain(|_, end| !end.is_past(clocks));
        }
        if used.len() >= REMEMBERED {
            return Err(Rejected::Busy);
        }
        let elapsed = clocks.elapsed + Duration::from_secs(opened.expires - now);
        used.insert(opened.id, End { unix: opened.expires, elapsed });
        Ok(opened)
    }

    /// Lets a token be used again, because its client found no place through no fault of its own.
    pub(crate) fn give_back(&self, token: &OpenedToken) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).remove(&token.id);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use obsp_proto::control::PlayerName;
    use obsp_sim::Random;

    use super::*;
    use crate::common::clock::Clock;

    /// A reading in which both clocks show `unix` seconds.
    fn at(unix: u64) -> Reading {
        let elapsed = Duration::from_secs(unix);
        Reading { wall: std::time::UNIX_EPOCH + elapsed, elapsed }
    }

    fn claims(servers: &[&str]) -> TokenClaims {
        TokenClaims {
            player: 7,
            name: PlayerName::new("Ann").unwrap(),
            reserved: false,
            servers: servers.iter().map(ToString::to_string).collect(),
            user_data: Vec::new(),
        }
    }

    #[test]
    fn a_token_is_good_once_here_and_for_a_while() {
        let key = JoinKey::from_bytes([1; 32]);
        let gate = TokenGate::new(key.clone());
        let here = ["192.0.2.1:4433".to_owned()];
        let token = key.seal(&claims(&["192.0.2.1:4433"]), 100).unwrap();
        let opened = gate.redeem(&token, &here, at(50)).unwrap();
        assert_eq!(gate.redeem(&token, &here, at(51)), Err(Rejected::Used));
        gate.give_back(&opened);
        assert!(gate.redeem(&token, &here, at(52)).is_ok());
        let token = key.seal(&claims(&[]), 100).unwrap();
        assert_eq!(gate.redeem(&token, &here, at(100)), Err(Rejected::Expired));
        let token = key.seal(&claims(&["elsewhere:1"]), 100).unwrap();
        assert!(matches!(gate.redeem(&token, &here, at(50)), Err(Rejected::Elsewhere(_))));
        let token = key.seal(&claims(&[]), 51 + LONGEST).unwrap();
        assert_eq!(gate.redeem(&token, &here, at(50)), Err(Rejected::TooLong));
        let other = JoinKey::from_bytes([2; 32]).seal(&claims(&[]), 100).unwrap();
        let closed = gate.redeem(&other, &here, at(50));
        assert_eq!(closed, Err(Rejected::Closed(TokenError::Seal)));
    }

    #[test]
    fn the_gate_remembers_a_bounded_number_and_forgets_none_too_soon() {
        let key = JoinKey::from_bytes([1; 32]);
        let gate = TokenGate::new(key.clone());
        gate.used.lock().unwrap().extend((0..REMEMBERED as u64).map(|number| {
            let mut id = [0; 16];
            id[..8].copy_from_slice(&number.to_le_bytes());
            (id, End { unix: 200, elapsed: Duration::from_secs(200) })
        }));
        let token = key.seal(&claims(&[]), 300).unwrap();
        assert_eq!(gate.redeem(&token, &[], at(199)), Err(Rejected::Busy));
        assert!(gate.redeem(&token, &[], at(200)).is_ok());
        assert_eq!(gate.used.lock().unwrap().len(), 1);
    }

    /// The clock is set forward and back again, and the list of used tokens is full meanwhile.
    #[test]
    fn a_stepped_clock_makes_no_used_token_good_again() {
        let clock = Clock::by_hand(1_000_000);
        let key = JoinKey::from_bytes([1; 32]);
        let gate = TokenGate::new(key.clone());
        let token = key.seal(&claims(&[]), 1_000_600).unwrap();
        gate.redeem(&token, &[], clock.now()).unwrap();
        let fill = || {
            gate.used.lock().unwrap().extend((1..REMEMBERED as u64).map(|number| {
                let mut id = [0; 16];
                id[..8].copy_from_slice(&number.to_le_bytes());
                (id, End { unix: 0, elapsed: Duration::ZERO })
            }));
        };
        fill();
        clock.set(2_000_000);
        let later = key.seal(&claims(&[]), 2_000_060).unwrap();
        gate.redeem(&later, &[], clock.now()).unwrap();
        clock.set(1_000_060);
        assert_eq!(gate.redeem(&token, &[], clock.now()), Err(Rejected::Used));
        // Once both clocks are past the token's end, its place is free again.
        clock.pass(Duration::from_secs(600));
        fill();
        let last = key.seal(&claims(&[]), clock.unix() + 60).unwrap();
        gate.redeem(&last, &[], clock.now()).unwrap();
        assert!(gate.used.lock().unwrap().len() <= 2);
    }

    #[test]
    fn another_key_counts_from_now_on_and_used_tokens_stay_used() {
        let [first, second] = [1, 2].map(|byte| JoinKey::from_bytes([byte; 32]));
        let gate = TokenGate::new(first.clone());
        let [old, new] = [&first, &second].map(|key| key.seal(&claims(&[]), 100).unwrap());
        gate.redeem(&old, &[], at(50)).unwrap();
        assert!(!gate.change_key(first.clone()) && gate.change_key(second));
        assert!(matches!(gate.redeem(&old, &[], at(50)), Err(Rejected::Closed(_))));
        gate.redeem(&new, &[], at(50)).unwrap();
        assert!(gate.change_key(first));
        assert_eq!(gate.redeem(&old, &[], at(50)), Err(Rejected::Used));
    }

    /// Random operations in any order: tokens are made, changed, used, given back and grow old. A
    /// token is accepted if and only if a model that remembers everything says so.
    #[test]
    fn a_hundred_thousand_operations_agree_with_a_model() {
        let seed = 13;
        let mut random = Random::new(seed);
        let mut below = move |most: u64| (random.between(0.0, most as f64)) as u64;
        let key = JoinKey::from_bytes([1; 32]);
        let gate = TokenGate::new(key.clone());
        let mut now = 1_000_u64;
        let (mut tokens, mut used) = (Vec::new(), BTreeMap::new());
        for operation in 0..100_000 {
            match below(8) {
                0 => now += below(3),
                1 | 2 => {
                    let expires = now + below(6);
                    tokens.push((key.seal(&claims(&[]), expires).unwrap(), expires));
                    if tokens.len() > 64 {
                        tokens.remove(0);
                    }
                }
                3 if !tokens.is_empty() => {
                    let (mut token, _) = tokens[below(tokens.len() as u64) as usize].clone();
                    let bit = below(token.len() as u64 * 8) as usize;
                    token[bit / 8] ^= 1 << (bit % 8);
                    assert!(gate.redeem(&token, &[], at(now)).is_err(), "seed {seed}, {operation}");
                }
                4..8 if !tokens.is_empty() => {
                    let number = below(tokens.len() as u64) as usize;
                    let (token, expires) = &tokens[number];
                    let expected = *expires > now && !used.contains_key(token);
                    let redeemed = gate.redeem(token, &[], at(now));
                    assert_eq!(redeemed.is_ok(), expected, "seed {seed}, {operation}");
                    if let Ok(opened) = redeemed {
                        if below(4) == 0 {
                            gate.give_back(&opened);
                        } else {
                            used.insert(token.clone(), *expires);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
