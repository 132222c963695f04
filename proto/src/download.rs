//! Transfers the map and the game's data to a client that lacks them. The client opens a stream for
//! each. The server sends the length on this stream, then the bytes.
//!
//! The server writes the bytes of [`Download::announce`] and the content. The client passes every
//! piece to [`Receiver::receive`], and calls [`Receiver::finish`] at the end of the stream. The
//! receiver holds no more than has arrived, and fails at once if the length is invalid. The caller
//! compares the hash of the content with the server's hello.

use crate::game_data::MAX_GAME_DATA;

/// Maximum length of a compiled map that can be fetched, in bytes. It is far more than the length
/// of the largest known map, and few enough for a client to hold.
pub const MAX_MAP_BYTES: u32 = 64 << 20;

/// Something that a client can fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Download {
    /// The compiled map.
    Map,
    /// The [game's data](crate::game_data::GameData).
    Game,
}

impl Download {
    /// The bytes that a client writes on the stream that it opens for the download.
    pub const fn request(self) -> &'static [u8] {
        match self {
            Self::Map => b"map",
            Self::Game => b"game",
        }
    }

    /// The download that a client requests by these bytes; `None` if they request none.
    pub fn requested(request: &[u8]) -> Option<Self> {
        [Self::Map, Self::Game].into_iter().find(|download| download.request() == request)
    }

    /// Limit in bytes of the content.
    pub const fn max_bytes(self) -> u32 {
        match self {
            Self::Map => MAX_MAP_BYTES,
            Self::Game => MAX_GAME_DATA as u32,
        }
    }

    /// The bytes that precede the content; `None` if the content is empty or too long.
    pub fn announce(self, content: &[u8]) -> Option<[u8; LENGTH_BYTES]> {
        let length = u32::try_from(content.len()).ok()?;
        (1..=self.max_bytes()).contains(&length).then(|| length.to_le_bytes())
    }
}

/// Limit in bytes of a request.
pub const MAX_REQUEST: usize = 4;

/// Bytes of the length that precedes the content.
const LENGTH_BYTES: usize = 4;

/// Why a download failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    /// The length is out of range.
    #[error("the announced length is {length} bytes; 1 to {most} are allowed")]
    Length {
        /// The announced length.
        length: u32,
        /// The most that is allowed.
        most: u32,
    },
    /// The stream ended before the length of the content had arrived.
    #[error("the stream ended before the length of the content had arrived")]
    NoLength,
    /// The stream ended before the end of the content, or continued after it.
    #[error("received {received} bytes, but {length} were announced")]
    Incomplete {
        /// Bytes that arrived.
        received: usize,
        /// Bytes that were announced.
        length: u32,
    },
}

/// Collects a download from the pieces in which it arrives.
///
/// ```
/// use obsp_proto::download::{Download, Receiver};
///
/// let map = b"a compiled map";
/// let mut receiver = Receiver::new(Download::Map);
/// receiver.receive(&Download::Map.announce(map).unwrap())?;
/// for piece in map.chunks(5) {
///     receiver.receive(piece)?;
/// }
/// assert_eq!(receiver.progress(), 1.0);
/// assert_eq!(receiver.finish()?, map);
/// # Ok::<(), obsp_proto::download::DownloadError>(())
/// ```
#[derive(Debug)]
pub struct Receiver {
    what: Download,
    bytes: Vec<u8>,
}

impl Receiver {
    /// A receiver at the beginning of the stream.
    pub fn new(what: Download) -> Self {
        Self { what, bytes: Vec::new() }
    }

    /// Adds the next piece.
    ///
    /// # Errors
    /// The length is out of range, or more bytes arrived than were announced.
    pub fn receive(&mut self, piece: &[u8]) -> Result<(), DownloadError> {
        let room = self.what.max_bytes() as usize + LENGTH_BYTES;
        let wanted = self.length()?.map_or(room, |length| length as usize + LENGTH_BYTES);
        if self.bytes.len() + piece.len() > wanted {
            return Err(DownloadError::Incomplete {
                received: self.bytes.len() + piece.len() - LENGTH_BYTES,
                length: self.length()?.unwrap_or(self.what.max_bytes()),
            });
        }
        self.bytes.extend_from_slice(piece);
        self.length().map(|_| ())
    }

    /// Share of the content that has arrived.
    pub fn progress(&self) -> f64 {
        match self.length() {
            Ok(Some(length)) => (self.bytes.len() - LENGTH_BYTES) as f64 / f64::from(length),
            _ => 0.0,
        }
    }

    /// The content, once the stream has ended.
    ///
    /// # Errors
    /// The stream ended before the length had arrived, or before so many bytes had.
    pub fn finish(mut self) -> Result<Vec<u8>, DownloadError> {
        let length = self.length()?.ok_or(DownloadError::NoLength)?;
        let received = self.bytes.len() - LENGTH_BYTES;
        if received != length as usize {
            return Err(DownloadError::Incomplete { received, length });
        }
        Ok(self.bytes.split_off(LENGTH_BYTES))
    }

    fn length(&self) -> Result<Option<u32>, DownloadError> {
        let Some(&[a, b, c, d]) = self.bytes.first_chunk() else { return Ok(None) };
        let length = u32::from_le_bytes([a, b, c, d]);
        let most = self.what.max_bytes();
        let possible = (1..=most).contains(&length);
        possible.then_some(Some(length)).ok_or(DownloadError::Length { length, most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(map: &[u8]) -> Vec<u8> {
        [Download::Map.announce(map).unwrap().as_slice(), map].concat()
    }

    #[test]
    fn a_map_survives_any_chunking() {
        let map: Vec<u8> = (0..1000_u32).map(|n| n as u8).collect();
        for chunk in [1, 3, 4, 5, 999, 2000] {
            let mut receiver = Receiver::new(Download::Map);
            for piece in stream(&map).chunks(chunk) {
                receiver.receive(piece).unwrap();
            }
            assert_eq!(receiver.progress(), 1.0);
            assert_eq!(receiver.finish(), Ok(map.clone()), "chunks of {chunk}");
        }
    }

    #[test]
    fn invalid_streams_are_rejected_at_once() {
        for what in [Download::Map, Download::Game] {
            let most = what.max_bytes();
            for length in [0, most + 1, u32::MAX] {
                let mut receiver = Receiver::new(what);
                let error = receiver.receive(&length.to_le_bytes()).unwrap_err();
                assert_eq!(error, DownloadError::Length { length, most });
            }
            assert_eq!(Download::requested(what.request()), Some(what));
            assert!(what.request().len() <= MAX_REQUEST);
        }
        assert_eq!(Download::requested(b"mapp"), None);
        let mut receiver = Receiver::new(Download::Map);
        receiver.receive(&stream(b"abc")).unwrap();
        assert!(receiver.receive(b"d").is_err(), "one byte too many");
        let mut receiver = Receiver::new(Download::Map);
        receiver.receive(&stream(b"abc")[..6]).unwrap();
        assert_eq!(receiver.finish(), Err(DownloadError::Incomplete { received: 2, length: 3 }));
        for length_bytes in 0..LENGTH_BYTES {
            let mut receiver = Receiver::new(Download::Map);
            receiver.receive(&stream(b"abc")[..length_bytes]).unwrap();
            assert_eq!(receiver.finish(), Err(DownloadError::NoLength));
        }
        assert_eq!(Download::Map.announce(&[]), None);
    }
}
