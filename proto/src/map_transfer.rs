//! The map for a client that lacks it, on a stream that the client opens for
//! it: the length, then the bytes of the compiled map.
//!
//! The stream's receiver holds no more than has arrived, and gives up as soon
//! as the length is one that no map has. Whether the bytes are the map that
//! the server's hello named is for the caller to check: the hash is in them.

/// Most bytes that a compiled map may have to be fetched: far more than the
/// largest known, few enough for a client to hold.
pub const MAX_MAP_BYTES: u32 = 64 << 20;

/// What a client writes, in whole, on the stream that it opens.
pub const REQUEST: &[u8] = b"map";

/// Bytes of the length.
const LENGTH_BYTES: usize = 4;

/// Why a stream carries no map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// The length is none that a map has.
    #[error("a map of {length} bytes, which is not 1 to {MAX_MAP_BYTES}")]
    Length {
        /// What it claims.
        length: u32,
    },
    /// The stream ended before the map, or went on after it.
    #[error("{received} bytes of a map came, {length} were announced")]
    Incomplete {
        /// What came.
        received: usize,
        /// What was to come.
        length: u32,
    },
}

/// What precedes the bytes of a map; `None` if they are too many.
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
    /// Nothing has arrived yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next piece.
    ///
    /// # Errors
    /// It cannot become a map any more.
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
    /// It ended too early.
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
    fn what_is_no_map_is_given_up_at_once() {
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
