//! Limits the packets of answers. Each address has a share, so no address uses up the answers to
//! others. An exempt address (`--address-exempt`) stands for many people, and only the rate of all
//! addresses limits it.

use std::collections::HashMap;
use std::time::Instant;

use super::PACKETS;
use crate::common::address_key::AddressKey;
use crate::common::token_bucket::{Rate, TokenBucket};

/// Packets of answers to one address. A browser that shows a server asks three times, and a refresh
/// every few seconds leaves room for a household. The longest answer has fewer than 30 packets.
const PACKETS_OF_ADDRESS: Rate = Rate { per_second: 10.0, burst: 40.0 };

/// Addresses that are remembered, some 100 bytes each. An address regains its whole share in four
/// seconds. Far fewer addresses can be answered in that time.
const REMEMBERED: usize = 4096;

/// The packets of answers that were sent lately: to each address, and to all addresses.
pub(super) struct Askers {
    all: TokenBucket,
    each: HashMap<AddressKey, TokenBucket>,
}

impl Askers {
    pub(super) fn new(now: Instant) -> Self {
        Self { all: TokenBucket::full(now), each: HashMap::new() }
    }

    /// Whether the share of an address and the rate of all addresses both have a packet left.
    /// Nothing is taken. `None` stands for an exempt address.
    pub(super) fn may_ask(&mut self, address: Option<AddressKey>, now: Instant) -> bool {
        let is_left = |bucket: &mut TokenBucket, rate| bucket.wait(rate, 1.0, now).is_zero();
        let each = address.and_then(|address| self.each.get_mut(&address));
        each.is_none_or(|each| is_left(each, PACKETS_OF_ADDRESS)) && is_left(&mut self.all, PACKETS)
    }

    /// Takes the packets of a whole answer from the address's share and from the rate of all
    /// addresses, if both hold them and the address `pays` for their bytes. Otherwise takes
    /// nothing.
    pub(super) fn take(
        &mut self,
        address: Option<AddressKey>,
        packets: f64,
        now: Instant,
        pays: impl FnOnce() -> bool,
    ) -> bool {
        if self.each.len() >= REMEMBERED {
            self.each.retain(|_, bucket| !bucket.is_full(PACKETS_OF_ADDRESS, now));
            if self.each.len() >= REMEMBERED {
                return false;
            }
        }
        let full = TokenBucket::full(now);
        let mut each = address.map(|address| self.each.entry(address).or_insert(full));
        let holds = |bucket: &mut TokenBucket, rate| bucket.wait(rate, packets, now).is_zero();
        let may = each.as_deref_mut().is_none_or(|each| holds(each, PACKETS_OF_ADDRESS))
            && holds(&mut self.all, PACKETS)
            && pays();
        if may {
            each.into_iter().for_each(|each| each.charge(PACKETS_OF_ADDRESS, packets, now));
            self.all.charge(PACKETS, packets, now);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::Duration;

    use super::*;

    fn address(host: u32) -> Option<AddressKey> {
        Some(IpAddr::from(Ipv4Addr::from(0x0a00_0000 + host)).into())
    }

    /// Symptom: one address with a proven challenge asked as fast as it could. It used up the
    /// answers of all addresses, although it was sent few of them.
    #[test]
    fn one_address_that_asks_without_end_silences_nobody_else() {
        let begin = Instant::now();
        let mut askers = Askers::new(begin);
        let (greedy, other) = (address(1), address(2));
        let mut answered = 0;
        for millisecond in 0..10_000 {
            let now = begin + Duration::from_millis(millisecond);
            answered += u32::from(askers.take(greedy, 1.0, now, || true));
            if millisecond % 1000 == 999 {
                assert!(askers.may_ask(other, now) && askers.take(other, 4.0, now, || true));
            }
        }
        // The burst, and then the rate, for ten seconds.
        assert!((138..=140).contains(&answered), "{answered}");
    }

    #[test]
    fn a_refused_answer_takes_nothing() {
        let now = Instant::now();
        let mut askers = Askers::new(now);
        // The address has no bytes left, or asks for more packets than its share.
        for _ in 0..1000 {
            assert!(!askers.take(address(1), 4.0, now, || false));
            assert!(!askers.take(address(1), 41.0, now, || panic!("nothing is paid for")));
        }
        assert!(askers.take(address(1), 40.0, now, || true));
        assert!(!askers.take(address(1), 1.0, now, || panic!("nothing is paid for")));
        // The rate of all addresses has 360 packets left.
        for host in 2..11 {
            assert!(askers.take(address(host), 40.0, now, || true), "{host}");
        }
        assert!(!askers.may_ask(address(11), now));
        assert!(!askers.take(address(11), 1.0, now, || panic!("nothing is paid for")));
    }

    #[test]
    fn an_exempt_address_is_limited_by_the_rate_of_all_alone() {
        let now = Instant::now();
        let mut askers = Askers::new(now);
        assert!(
            (0..400).all(|_| askers.may_ask(None, now) && askers.take(None, 1.0, now, || true))
        );
        assert!(!askers.may_ask(None, now) && !askers.take(None, 1.0, now, || true));
    }

    #[test]
    fn addresses_that_regained_their_share_are_forgotten() {
        let begin = Instant::now();
        let mut askers = Askers::new(begin);
        for host in 0..REMEMBERED as u32 {
            askers.take(address(host), 1.0, begin, || false);
        }
        assert!(askers.each.len() <= REMEMBERED);
        assert!(askers.take(address(u32::MAX >> 9), 1.0, begin, || true));
        assert_eq!(askers.each.len(), 1);
    }
}
