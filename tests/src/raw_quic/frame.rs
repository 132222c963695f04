//! The frames of QUIC (RFC 9000, section 19) that attackers send, and that a server sends back.

use super::Closed;
use super::reader::{Reader, write_integer};

/// A frame of a server. Frames that do not matter to this client are `Other`.
pub(super) enum Frame {
    Crypto { offset: u64, bytes: Vec<u8> },
    HandshakeDone,
    PathResponse,
    RetireConnectionId,
    Datagram,
    Close(Closed),
    Acknowledgement,
    Other,
}

impl Frame {
    /// Whether a packet with this frame has to be acknowledged.
    pub(super) fn wants_acknowledgement(&self) -> bool {
        !matches!(self, Self::Acknowledgement | Self::Close(_))
    }
}

/// The frames of a packet.
///
/// # Panics
/// If they are malformed.
pub(super) fn parse(payload: &[u8]) -> Vec<Frame> {
    let mut reader = Reader(payload);
    let mut frames = Vec::new();
    while !reader.0.is_empty() {
        let kind = reader.integer().expect("a frame has a type");
        let frame = parse_one(kind, &mut reader);
        let frame = frame.unwrap_or_else(|| panic!("a frame of type {kind} cannot be parsed"));
        // Padding, of type 0, is left out: it does not want an acknowledgement.
        if kind != 0 {
            frames.push(frame);
        }
    }
    frames
}

fn parse_one(kind: u64, reader: &mut Reader<'_>) -> Option<Frame> {
    let skip = |reader: &mut Reader<'_>, integers: u64| {
        (0..integers).try_for_each(|_| reader.integer().map(|_| ()))
    };
    match kind {
        0x00 | 0x01 | 0x1f => {}
        0x02 | 0x03 => {
            skip(reader, 2)?;
            let more = reader.integer()?;
            skip(reader, 1 + 2 * more + 3 * (kind - 2))?;
            return Some(Frame::Acknowledgement);
        }
        0x04 => skip(reader, 3)?,
        0x05 | 0x11 | 0x15 => skip(reader, 2)?,
        0x06 => {
            let offset = reader.integer()?;
            return Some(Frame::Crypto { offset, bytes: reader.counted()?.to_vec() });
        }
        0x07 => drop(reader.counted()?),
        0x08..=0x0f => {
            skip(reader, 1 + ((kind >> 2) & 1))?;
            if kind & 2 != 0 {
                reader.counted()?
            } else {
                reader.take(reader.0.len())?
            };
        }
        0x10 | 0x12..=0x14 | 0x16 | 0x17 => skip(reader, 1)?,
        0x18 => {
            skip(reader, 2)?;
            let length = reader.byte()?;
            reader.take(usize::from(length) + 16)?;
        }
        0x19 => {
            skip(reader, 1)?;
            return Some(Frame::RetireConnectionId);
        }
        0x1a => drop(reader.take(8)?),
        0x1b => {
            reader.take(8)?;
            return Some(Frame::PathResponse);
        }
        0x1c | 0x1d => {
            let code = reader.integer()?;
            skip(reader, 0x1d - kind)?;
            let reason = String::from_utf8_lossy(reader.counted()?).into_owned();
            return Some(Frame::Close(Closed { by_application: kind == 0x1d, code, reason }));
        }
        0x1e => return Some(Frame::HandshakeDone),
        0x30 => {
            reader.take(reader.0.len())?;
            return Some(Frame::Datagram);
        }
        0x31 => {
            reader.counted()?;
            return Some(Frame::Datagram);
        }
        _ => return None,
    }
    Some(Frame::Other)
}

/// A frame of this type with these integers.
fn of_integers(kind: u8, integers: &[u64]) -> Vec<u8> {
    let mut frame = vec![kind];
    integers.iter().for_each(|&integer| write_integer(&mut frame, integer));
    frame
}

/// A PING frame.
pub const PING: &[u8] = &[0x01];

/// A PATH_CHALLENGE frame with this number.
pub fn path_challenge(number: u64) -> Vec<u8> {
    let mut frame = vec![0x1a];
    frame.extend(number.to_be_bytes());
    frame
}

/// A NEW_CONNECTION_ID frame, which asks the peer to retire all ids before `retire_prior_to`.
pub fn new_connection_id(sequence: u64, retire_prior_to: u64) -> Vec<u8> {
    let mut frame = of_integers(0x18, &[sequence, retire_prior_to]);
    frame.push(8);
    frame.extend((sequence ^ 0x5eed_5eed_5eed_5eed).to_be_bytes());
    frame.extend([sequence as u8; 16]);
    frame
}

/// A RETIRE_CONNECTION_ID frame.
pub fn retire_connection_id(sequence: u64) -> Vec<u8> {
    of_integers(0x19, &[sequence])
}

/// A RESET_STREAM frame, for a stream of which `size` bytes were sent.
pub fn reset_stream(stream: u64, size: u64) -> Vec<u8> {
    of_integers(0x04, &[stream, 0, size])
}

/// A STOP_SENDING frame.
pub fn stop_sending(stream: u64) -> Vec<u8> {
    of_integers(0x05, &[stream, 0])
}

/// A DATA_BLOCKED frame.
pub fn data_blocked(limit: u64) -> Vec<u8> {
    of_integers(0x14, &[limit])
}

/// A STREAM frame.
pub fn stream(stream: u64, offset: u64, bytes: &[u8]) -> Vec<u8> {
    let mut frame = of_integers(0x0e, &[stream, offset, bytes.len() as u64]);
    frame.extend_from_slice(bytes);
    frame
}

/// A STREAM frame with all the bytes that a stream will ever have.
pub fn whole_stream(stream: u64, bytes: &[u8]) -> Vec<u8> {
    let mut frame = self::stream(stream, 0, bytes);
    frame[0] |= 0x01;
    frame
}

/// A DATAGRAM frame.
pub fn datagram(bytes: &[u8]) -> Vec<u8> {
    let mut frame = of_integers(0x31, &[bytes.len() as u64]);
    frame.extend_from_slice(bytes);
    frame
}

/// A CRYPTO frame.
pub(super) fn crypto(offset: u64, bytes: &[u8]) -> Vec<u8> {
    let mut frame = of_integers(0x06, &[offset, bytes.len() as u64]);
    frame.extend_from_slice(bytes);
    frame
}
