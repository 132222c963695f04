//! Framing of the control stream: a length, then that many bytes.
//!
//! A writer calls [`frame`]. A reader calls [`Framer::next_frame`] until it returns `None`.

/// Maximum length of a client's control message, in bytes. The longest message is a hello with a
/// connect token.
pub const MAX_CLIENT_FRAME: usize = 1024;

/// Maximum length of a server's control message, in bytes. The longest message is a hello with a
/// schema.
pub const MAX_SERVER_FRAME: usize = 8192;

/// Bytes of the length at the beginning of a frame.
const LENGTH_BYTES: usize = 2;

/// The reason why a byte stream cannot be split into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A frame is longer than any message.
    #[error("a frame has {length} bytes, more than the limit of {limit}")]
    TooLong {
        /// The claimed length.
        length: usize,
        /// The limit of the direction.
        limit: usize,
    },
    /// A frame has no content.
    #[error("a frame is empty")]
    Empty,
}

/// Splits a byte stream that arrives in arbitrary pieces into frames, holding at most one
/// unfinished frame.
///
/// ```
/// use obsp_proto::control::{Framer, MAX_CLIENT_FRAME, frame};
///
/// let stream = [frame(b"one", MAX_CLIENT_FRAME)?, frame(b"two", MAX_CLIENT_FRAME)?].concat();
/// let mut framer = Framer::new(MAX_CLIENT_FRAME);
/// let mut contents = Vec::new();
/// for mut piece in stream.chunks(4) {
///     while let Some(content) = framer.next_frame(&mut piece)? {
///         contents.push(content);
///     }
/// }
/// assert_eq!(contents, [b"one", b"two"]);
/// # Ok::<(), obsp_proto::control::FrameError>(())
/// ```
#[derive(Debug)]
pub struct Framer {
    /// Limit in bytes of a frame.
    limit: usize,
    /// The unfinished frame: its length, then the content received so far.
    partial: Vec<u8>,
}

impl Framer {
    /// A framer at the beginning of a stream whose frames have at most `limit` bytes:
    /// [`MAX_CLIENT_FRAME`] or [`MAX_SERVER_FRAME`].
    pub fn new(limit: usize) -> Self {
        Self { limit, partial: Vec::new() }
    }

    /// Takes bytes off the front of `bytes` up to the end of the next frame, and returns the
    /// frame's content. Returns `None` if `bytes` is used up.
    ///
    /// # Errors
    /// The stream cannot be continued, so the connection must be closed.
    pub fn next_frame(&mut self, bytes: &mut &[u8]) -> Result<Option<Vec<u8>>, FrameError> {
        self.take_until(LENGTH_BYTES, bytes);
        let &[low, high, ..] = self.partial.as_slice() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_le_bytes([low, high]));
        if length == 0 {
            return Err(FrameError::Empty);
        }
        if length > self.limit {
            return Err(FrameError::TooLong { length, limit: self.limit });
        }
        self.take_until(LENGTH_BYTES + length, bytes);
        if self.partial.len() < LENGTH_BYTES + length {
            return Ok(None);
        }
        let content = self.partial.split_off(LENGTH_BYTES);
        self.partial.clear();
        Ok(Some(content))
    }

    /// Whether a frame has begun and not ended.
    pub fn is_unfinished(&self) -> bool {
        !self.partial.is_empty()
    }

    /// Moves bytes until `partial` has `wanted` of them or none is left.
    fn take_until(&mut self, wanted: usize, bytes: &mut &[u8]) {
        let missing = wanted.saturating_sub(self.partial.len()).min(bytes.len());
        let (taken, rest) = bytes.split_at(missing);
        self.partial.extend_from_slice(taken);
        *bytes = rest;
    }
}

/// Wraps `content` into a frame of at most `limit` bytes: [`MAX_CLIENT_FRAME`] or
/// [`MAX_SERVER_FRAME`].
///
/// # Errors
/// The content is empty or longer than `limit`.
pub fn frame(content: &[u8], limit: usize) -> Result<Vec<u8>, FrameError> {
    if content.is_empty() {
        return Err(FrameError::Empty);
    }
    let too_long = FrameError::TooLong { length: content.len(), limit };
    let length = u16::try_from(content.len()).map_err(|_| too_long)?;
    if content.len() > limit {
        return Err(too_long);
    }
    let mut framed = Vec::with_capacity(LENGTH_BYTES + content.len());
    framed.extend_from_slice(&length.to_le_bytes());
    framed.extend_from_slice(content);
    Ok(framed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_any_chunking() {
        let limit = MAX_CLIENT_FRAME;
        let contents: [&[u8]; 3] = [b"a", b"hello", &[7; MAX_CLIENT_FRAME]];
        let stream: Vec<u8> =
            contents.iter().flat_map(|content| frame(content, limit).unwrap()).collect();
        for chunk in [1, 2, 3, 7, 100, stream.len()] {
            let mut framer = Framer::new(limit);
            let mut found = Vec::new();
            for mut piece in stream.chunks(chunk) {
                while let Some(content) = framer.next_frame(&mut piece).unwrap() {
                    found.push(content);
                }
                assert!(framer.partial.len() <= LENGTH_BYTES + limit);
            }
            assert_eq!(found, contents, "chunks of {chunk}");
        }
    }

    #[test]
    fn invalid_lengths_end_the_stream() {
        for limit in [MAX_CLIENT_FRAME, MAX_SERVER_FRAME] {
            let length = (limit + 1) as u16;
            let mut oversized: &[u8] = &length.to_le_bytes();
            assert_eq!(
                Framer::new(limit).next_frame(&mut oversized),
                Err(FrameError::TooLong { length: limit + 1, limit })
            );
            let mut empty: &[u8] = &[0, 0];
            assert_eq!(Framer::new(limit).next_frame(&mut empty), Err(FrameError::Empty));
            assert_eq!(frame(&[], limit), Err(FrameError::Empty));
            assert!(frame(&vec![0; limit + 1], limit).is_err());
            assert!(frame(&[0; 70_000], limit).is_err());
        }
    }
}
