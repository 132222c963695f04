use std::net::SocketAddr;
use std::time::{Duration, Instant};

use ring::hmac;
use ring::rand::SystemRandom;

/// How long a challenge is valid. The challenge of the preceding period is also accepted.
const PERIOD: Duration = Duration::from_secs(60);

/// Numbers that only a peer who receives at its address knows. They are computed from the address,
/// so nothing is kept for a sender who may have forged it.
pub(super) struct Challenges {
    key: hmac::Key,
    begin: Instant,
}

impl Challenges {
    /// Challenges that no other server gives. `None` if the system gives no random bytes.
    pub(super) fn new(begin: Instant) -> Option<Self> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok()?;
        Some(Self { key, begin })
    }

    /// The challenge of a sender.
    pub(super) fn of(&self, sender: SocketAddr, now: Instant) -> u32 {
        self.in_period(sender, self.period(now))
    }

    /// Whether a query with this challenge comes from its address.
    pub(super) fn is_proof(&self, challenge: u32, sender: SocketAddr, now: Instant) -> bool {
        let period = self.period(now);
        [period, period.saturating_sub(1)]
            .into_iter()
            .any(|period| self.in_period(sender, period) == challenge)
    }

    fn period(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.begin).as_secs() / PERIOD.as_secs()
    }

    fn in_period(&self, sender: SocketAddr, period: u64) -> u32 {
        let tag = hmac::sign(&self.key, format!("{sender} {period}").as_bytes());
        let bytes = tag.as_ref();
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_good_for_its_address_and_for_a_while() {
        let begin = Instant::now();
        let challenges = Challenges::new(begin).unwrap();
        let [sender, other] = ["192.0.2.1:5", "192.0.2.1:6"].map(|text| text.parse().unwrap());
        let last = begin + PERIOD - Duration::from_millis(1);
        let challenge = challenges.of(sender, last);
        assert!(challenges.is_proof(challenge, sender, last));
        assert!(challenges.is_proof(challenge, sender, last + PERIOD));
        assert!(!challenges.is_proof(challenge, sender, begin + 2 * PERIOD));
        assert!(!challenges.is_proof(challenge, other, last));
    }
}
