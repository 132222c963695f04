//! The map for a client that lacks it, on a stream that the client opens: the length,
//! then the bytes of the compiled map.
//!
//! The server writes [`announce`]'s bytes and the map; the client passes every piece to
//! [`MapReceiver::receive`] and calls [`MapReceiver::finish`] at the end of the stream.
//! The receiver holds no more than has arrived, and fails at once if the length is
//! invalid. The caller compares the map's hash with the server's hello.

/// Most bytes of a compiled map that can be fetched: far more than the largest known,
/// few enough for a client to hold.
pub const MAX_MAP_BYTES: u32 = 64 << 20;

/// What a client writes on the stream that it opens for the map.
pub const REQUEST: &[u8] = b"map";

/// Bytes of the length that precedes the map.
const LENGTH_BYTES: usize = 4;

/// Why a stream carries no valid map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// The length is out of range.
    #[error("a map of {length} bytes, not of 1 to {MAX_MAP_BYTES}")]
    Length {
        /// The announced length.
        length: u32,
    },
    /// The stream ended before the map, or continued after it.
    #[error("received {received} bytes of a map of {length}")]
    Incomplete {
        /// Bytes that arrived.
        received: usize,
        /// Bytes that were announced.
        length: u32,
    },
}

/// The bytes that precede a map; `None` if it is empty or too long.
pub fn announce(map: &[u8]) -> Option<[u8; LENGTH_BYTES]> {
    let length = u32::try_from(map.len()).ok()?;
    (1..=MAX_MAP_BYTES).contains(&length).then(|| length.to_le_bytes())
}

/// Collects a map from the pieces in which it arrives.
#[derive(Debug, Default)]
pub struct MapReceiver {
    bytes: Vec<u8>,
}

impl MapReceiver {
    /// A receiver at the beginning of the stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next piece.
    ///
    /// # Errors
    /// The length is out of range, or more bytes arrived than it says.
    pub fn receive(&mut self, piece: &[u8]) -> Result<(), TransferError> {
        let room = MAX_MAP_BYTES as usize + LENGTH_BYTES;
        let wanted = self.length()?.map_or(room, |length| length as usize + LENGTH_BYTES);
        if self.bytes.len() + piece.len() > wanted {
            return Err(TransferError::Incomplete {
                received: self.bytes.len() + piece.len() - LENGTH_BYTES,
                length: self.length()?.unwrap_or(MAX_MAP_BYTES),
            });
        }
        self.bytes.extend_from_slice(piece);
        self.length().map(|_| ())
    }

    /// Share of the map that has arrived.
    pub fn progress(&self) -> f64 {
        match self.length() {
            Ok(Some(length)) => (self.bytes.len() - LENGTH_BYTES) as f64 / f64::from(length),
            _ => 0.0,
        }
    }

    /// The map, once the stream has ended.
    ///
    /// # Errors
    /// It ended before the announced length.
    pub fn finish(mut self) -> Result<Vec<u8>, TransferError> {
        let length = self.length()?.ok_or(TransferError::Incomplete { received: 0, length: 0 })?;
        let received = self.bytes.len() - LENGTH_BYTES;
        if received != length as usize {
            return Err(TransferError::Incomplete { received, length });
        }
        Ok(self.bytes.split_off(LENGTH_BYTES))
    }

    fn length(&self) -> Result<Option<u32>, TransferError> {
        let Some(&[a, b, c, d]) = self.bytes.first_chunk() else { return Ok(None) };
        let length = u32::from_le_bytes([a, b, c, d]);
        let possible = (1..=MAX_MAP_BYTES).contains(&length);
        possible.then_some(Some(length)).ok_or(TransferError::Length { length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(map: &[u8]) -> Vec<u8> {
        [announce(map).unwrap().as_slice(), map].concat()
    }

    #[test]
    fn a_map_survives_any_chunking() {
        let map: Vec<u8> = (0..1000_u32).map(|n| n as u8).collect();
        for chunk in [1, 3, 4, 5, 999, 2000] {
            let mut receiver = MapReceiver::new();
            for piece in stream(&map).chunks(chunk) {
                receiver.receive(piece).unwrap();
            }
            assert_eq!(receiver.progress(), 1.0);
            assert_eq!(receiver.finish(), Ok(map.clone()), "chunks of {chunk}");
        }
    }

    #[test]
    fn invalid_streams_are_rejected_at_once() {
        for length in [0, MAX_MAP_BYTES + 1, u32::MAX] {
            let mut receiver = MapReceiver::new();
            let error = receiver.receive(&length.to_le_bytes()).unwrap_err();
            assert_eq!(error, TransferError::Length { length });
        }
        let mut receiver = MapReceiver::new();
        receiver.receive(&stream(b"abc")).unwrap();
        assert!(receiver.receive(b"d").is_err(), "one byte too many");
        let mut receiver = MapReceiver::new();
        receiver.receive(&stream(b"abc")[..6]).unwrap();
        assert_eq!(receiver.finish(), Err(TransferError::Incomplete { received: 2, length: 3 }));
        assert!(MapReceiver::new().finish().is_err());
        assert_eq!(announce(&[]), None);
    }
}
