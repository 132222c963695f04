//! Packets of QUIC: their headers (RFC 9000, section 17) and their protection (RFC 9001, section 5).

use rustls::Side;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{Keys, PacketKeySet, Secrets, Version};

use super::reader::{Reader, write_integer};
use super::{DATA, HANDSHAKE_LEVEL, INITIAL};

/// The only version of QUIC that is spoken here.
const VERSION: u32 = 1;

/// Bytes of each packet number that is sent, of a sample for the header's protection, and of the
/// tag after a payload.
const NUMBER_LENGTH: usize = 4;
const SAMPLE_LENGTH: usize = 16;
const TAG_LENGTH: usize = 16;

/// The bit that marks a long header, and the bit that is set in every packet.
const LONG: u8 = 0x80;
const FIXED: u8 = 0x40;

/// The bit of a short header that changes with the keys.
const KEY_PHASE: u8 = 0x04;

/// The keys of one level.
pub(super) struct Protection {
    keys: Keys,
    /// The keys after the next update, and the secrets of those after them. Only the last level
    /// updates its keys.
    next: Option<(PacketKeySet, Secrets)>,
    /// Whether the number of updates is odd.
    phase: bool,
}

impl Protection {
    pub(super) fn new(keys: Keys, secrets: Option<Secrets>) -> Self {
        let next = secrets.map(|mut secrets| (secrets.next_packet_keys(), secrets));
        Self { keys, next, phase: false }
    }

    /// The keys that anybody can compute, from the id in the client's first packet.
    pub(super) fn initial(server_id: &[u8]) -> Self {
        let suite = TLS13_AES_128_GCM_SHA256.tls13().and_then(|suite| suite.quic_suite());
        let suite = suite.expect("ring has the keys of a first packet");
        Self::new(suite.keys(server_id, Side::Client, Version::V1), None)
    }

    /// Switches to the keys that the server has begun to use.
    fn update(&mut self) {
        let Some((set, secrets)) = &mut self.next else { return };
        let PacketKeySet { local, remote } = std::mem::replace(set, secrets.next_packet_keys());
        (self.keys.local.packet, self.keys.remote.packet) = (local, remote);
        self.phase = !self.phase;
    }
}

/// The header of a packet to be sent.
pub(super) struct Sealed<'a> {
    pub(super) level: usize,
    pub(super) to: &'a [u8],
    pub(super) from: &'a [u8],
    /// The token of an Initial packet.
    pub(super) token: &'a [u8],
    pub(super) number: u64,
    /// Bytes that the packet must have at least.
    pub(super) least: usize,
}

impl Sealed<'_> {
    /// The protected packet with these frames.
    pub(super) fn bytes(&self, mut payload: Vec<u8>, protection: &Protection) -> Vec<u8> {
        let first = self.header(0, protection).len();
        let others = first + NUMBER_LENGTH + TAG_LENGTH;
        // A shorter payload would be too short for the sample.
        let least = self.least.saturating_sub(others).max(NUMBER_LENGTH);
        payload.resize(payload.len().max(least), 0);
        let mut bytes = self.header(payload.len(), protection);
        bytes.extend((self.number as u32).to_be_bytes());
        let keys = &protection.keys.local;
        let tag = keys.packet.encrypt_in_place(self.number, &bytes, &mut payload);
        let tag = tag.expect("a payload can be encrypted");
        bytes.extend(payload);
        bytes.extend(tag.as_ref());
        let (header, rest) = bytes.split_at_mut(first);
        let (number, rest) = rest.split_at_mut(NUMBER_LENGTH);
        let protected =
            keys.header.encrypt_in_place(&rest[..SAMPLE_LENGTH], &mut header[0], number);
        protected.expect("a header can be protected");
        bytes
    }

    /// The header up to the packet number, for a payload of this many bytes.
    fn header(&self, payload: usize, protection: &Protection) -> Vec<u8> {
        let number_bits = NUMBER_LENGTH as u8 - 1;
        if self.level == DATA {
            let phase = if protection.phase { KEY_PHASE } else { 0 };
            return [&[FIXED | phase | number_bits], self.to].concat();
        }
        let kind = if self.level == INITIAL { 0 } else { 0x20 };
        let mut header = vec![LONG | FIXED | kind | number_bits];
        header.extend(VERSION.to_be_bytes());
        for id in [self.to, self.from] {
            header.push(id.len() as u8);
            header.extend_from_slice(id);
        }
        if self.level == INITIAL {
            write_integer(&mut header, self.token.len() as u64);
            header.extend_from_slice(self.token);
        }
        // The length always takes two bytes, so that the header's size does not depend on it.
        let length = (NUMBER_LENGTH + payload + TAG_LENGTH) as u16;
        header.extend((length | 0x4000).to_be_bytes());
        header
    }
}

/// A packet that came, still protected.
pub(super) struct Packet<'a> {
    pub(super) level: usize,
    /// The id that the server gives itself in a long header.
    pub(super) from: Vec<u8>,
    is_retry: bool,
    bytes: &'a mut [u8],
    /// The offset of the packet number; in a Retry, of the token.
    number_at: usize,
}

/// A packet's number and frames.
pub(super) struct Opened {
    pub(super) number: u64,
    pub(super) payload: Vec<u8>,
}

/// Takes the next packet out of a datagram. `None` if no packet is left that this client can read.
pub(super) fn split_first<'a>(
    datagram: &mut &'a mut [u8],
    own_id_length: usize,
) -> Option<Packet<'a>> {
    let (level, from, number_at, end, is_retry) = measure(datagram, own_id_length)?;
    let (bytes, rest) = std::mem::take(datagram).split_at_mut_checked(end)?;
    *datagram = rest;
    Some(Packet { level, from, is_retry, bytes, number_at })
}

/// The packet's level, its sender's id, where its number begins, where it ends, and whether it is
/// a Retry.
fn measure(bytes: &[u8], own_id_length: usize) -> Option<(usize, Vec<u8>, usize, usize, bool)> {
    let mut reader = Reader(bytes);
    let first = reader.byte()?;
    if first & LONG == 0 {
        return Some((DATA, Vec::new(), 1 + own_id_length, bytes.len(), false));
    }
    if reader.take(4)? != VERSION.to_be_bytes() {
        return None;
    }
    let length = reader.byte()?;
    reader.take(length.into())?;
    let length = reader.byte()?;
    let from = reader.take(length.into())?.to_vec();
    let level = match first & 0x30 {
        0x00 => INITIAL,
        0x20 => HANDSHAKE_LEVEL,
        0x30 => return Some((INITIAL, from, bytes.len() - reader.0.len(), bytes.len(), true)),
        _ => return None,
    };
    if level == INITIAL {
        reader.counted()?;
    }
    let length = usize::try_from(reader.integer()?).ok()?;
    let number_at = bytes.len() - reader.0.len();
    Some((level, from, number_at, number_at + length, false))
}

impl Packet<'_> {
    /// The token, if the packet is a Retry.
    pub(super) fn retry_token(&self) -> Option<&[u8]> {
        let end = self.bytes.len().checked_sub(TAG_LENGTH)?;
        self.bytes.get(self.number_at..end).filter(|_| self.is_retry)
    }

    /// Removes the protection. `expected` is the packet number that would come next. `None` if the
    /// packet does not belong to this connection.
    pub(super) fn open(self, protection: &mut Protection, expected: u64) -> Option<Opened> {
        let (header, rest) = self.bytes.split_at_mut_checked(self.number_at)?;
        let (number, sampled) = rest.split_at_mut_checked(NUMBER_LENGTH)?;
        let sample = sampled.get(..SAMPLE_LENGTH)?;
        protection.keys.remote.header.decrypt_in_place(sample, &mut header[0], number).ok()?;
        let length = usize::from(header[0] & 0x03) + 1;
        let is_updated = self.level == DATA && (header[0] & KEY_PHASE != 0) != protection.phase;
        let number = full_number(&rest[..length], expected);
        let (header, payload) = self.bytes.split_at_mut(self.number_at + length);
        let payload = if is_updated {
            let (next, _) = protection.next.as_ref()?;
            let payload = next.remote.decrypt_in_place(number, header, payload).ok()?.to_vec();
            protection.update();
            payload
        } else {
            protection.keys.remote.packet.decrypt_in_place(number, header, payload).ok()?.to_vec()
        };
        Some(Opened { number, payload })
    }
}

/// The packet number that ends with these bytes and is nearest to `expected` (RFC 9000, appendix
/// A.3).
fn full_number(bytes: &[u8], expected: u64) -> u64 {
    let window = 1_u64 << (8 * bytes.len());
    let low = bytes.iter().fold(0, |number: u64, byte| (number << 8) | u64::from(*byte));
    let near = (expected & !(window - 1)) | low;
    if near + window / 2 <= expected {
        near + window
    } else if near > expected + window / 2 && near >= window {
        near - window
    } else {
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_was_cut_is_found_again() {
        // The first number is the example of RFC 9000, appendix A.3.
        assert_eq!(full_number(&[0x9b, 0x32], 0xa82f_30eb), 0xa82f_9b32);
        assert_eq!(full_number(&[0xff], 0x100), 0xff);
        assert_eq!(full_number(&[0x01], 0xff), 0x101);
        assert_eq!(full_number(&[0x03], 0), 0x03);
    }
}
