//! The state of a connection for each of its three kinds of packets.

use std::collections::{BTreeMap, BTreeSet};

use super::packet::Protection;
use super::reader::write_integer;

/// How many packet numbers are remembered for acknowledgements.
const REMEMBERED: usize = 256;

/// Maximum number of ranges in an acknowledgement.
const RANGES: usize = 32;

/// The state of one kind of packets.
#[derive(Default)]
pub(super) struct Level {
    /// The keys, once there are any.
    pub(super) protection: Option<Protection>,
    pub(super) next_number: u64,
    /// Numbers of the latest packets that came.
    pub(super) received: BTreeSet<u64>,
    /// Whether a packet has come that has to be acknowledged.
    pub(super) is_owed: bool,
    /// All bytes that TLS has sent at this level.
    pub(super) said: Vec<u8>,
    /// The offset up to which TLS has got all bytes, and the bytes that came ahead of it.
    heard: u64,
    ahead: BTreeMap<u64, Vec<u8>>,
}

impl Level {
    /// Notes that the packet of this number came.
    pub(super) fn note(&mut self, number: u64) {
        self.received.insert(number);
        if self.received.len() > REMEMBERED {
            self.received.pop_first();
        }
    }

    /// An ACK frame for what came, if one is due.
    pub(super) fn acknowledgement(&mut self) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.is_owed) {
            return None;
        }
        // Ranges from the latest number down: first and last number of each.
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for &number in self.received.iter().rev() {
            match ranges.last_mut() {
                Some((first, _)) if *first == number + 1 => *first = number,
                _ => ranges.push((number, number)),
            }
        }
        ranges.truncate(RANGES);
        let mut frame = vec![0x02];
        let &(mut first, last) = ranges.first()?;
        for value in [last, 0, ranges.len() as u64 - 1, last - first] {
            write_integer(&mut frame, value);
        }
        for &(next_first, next_last) in &ranges[1..] {
            write_integer(&mut frame, first - next_last - 2);
            write_integer(&mut frame, next_last - next_first);
            first = next_first;
        }
        Some(frame)
    }

    /// Takes bytes of TLS, and returns those that are next in order.
    pub(super) fn hear(&mut self, offset: u64, bytes: Vec<u8>) -> Vec<u8> {
        self.ahead.insert(offset, bytes);
        let mut next = Vec::new();
        while let Some(entry) = self.ahead.first_entry() {
            let Some(known) = self.heard.checked_sub(*entry.key()) else { break };
            let bytes = entry.remove();
            let fresh = bytes.get(known as usize..).unwrap_or_default();
            self.heard += fresh.len() as u64;
            next.extend_from_slice(fresh);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_has_the_ranges_that_came() {
        let mut level = Level::default();
        [1, 2, 3, 7, 9, 10].into_iter().for_each(|number| level.note(number));
        assert_eq!(level.acknowledgement(), None, "nothing is owed");
        level.is_owed = true;
        // Latest 10, no delay, two more ranges; one before 10, then 7 alone, then 1 to 3.
        assert_eq!(level.acknowledgement().unwrap(), [2, 10, 0, 2, 1, 0, 0, 2, 2]);
        assert_eq!(level.acknowledgement(), None);
    }

    #[test]
    fn bytes_of_tls_come_in_order_and_once() {
        let mut level = Level::default();
        assert_eq!(level.hear(2, vec![2, 3]), []);
        assert_eq!(level.hear(0, vec![0, 1, 2]), [0, 1, 2, 3]);
        assert_eq!(level.hear(1, vec![1, 2]), []);
        assert_eq!(level.hear(4, vec![4]), [4]);
    }
}
