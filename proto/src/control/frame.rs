//! Framing of the control stream: a length, then that many bytes.
//!
//! [`frame`] for a writer; [`Framer::next_frame`] for a reader, until it returns `None`.

/// Most bytes of a control message. The largest, a server's hello, has fewer than 200.
pub const MAX_FRAME: usize = 1024;

/// Bytes of the length at the beginning of a frame.
const LENGTH_BYTES: usize = 2;

/// Why a byte stream cannot be split into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A frame is longer than any message.
    #[error("frame of {length} bytes, above the limit of {MAX_FRAME}")]
    TooLong {
        /// The claimed length.
        length: usize,
    },
    /// A frame has no content.
    #[error("empty frame")]
    Empty,
}

/// Splits a byte stream that arrives in arbitrary pieces into frames, holding at most one
/// unfinished frame.
#[derive(Debug, Default)]
pub struct Framer {
    /// The unfinished frame: its length, then the content received so far.
    partial: Vec<u8>,
}

impl Framer {
    /// A framer at the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes off the front of `bytes` up to the end of the next frame and returns
    /// its content, or `None` once `bytes` is used up.
    ///
    /// # Errors
    /// The stream cannot be continued: the connection must be closed.
    pub fn next_frame(&mut self, bytes: &mut &[u8]) -> Result<Option<Vec<u8>>, FrameError> {
        self.take_until(LENGTH_BYTES, bytes);
        let &[low, high, ..] = self.partial.as_slice() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_le_bytes([low, high]));
        if length == 0 {
            return Err(FrameError::Empty);
        }
        if length > MAX_FRAME {
            return Err(FrameError::TooLong { length });
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

/// Wraps `content` into a frame.
///
/// # Errors
/// The content is empty or longer than [`MAX_FRAME`].
pub fn frame(content: &[u8]) -> Result<Vec<u8>, FrameError> {
    if content.is_empty() {
        return Err(FrameError::Empty);
    }
    let too_long = FrameError::TooLong { length: content.len() };
    let length = u16::try_from(content.len()).map_err(|_| too_long)?;
    if content.len() > MAX_FRAME {
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
        let contents: [&[u8]; 3] = [b"a", b"hello", &[7; MAX_FRAME]];
        let stream: Vec<u8> = contents.iter().flat_map(|content| frame(content).unwrap()).collect();
        for chunk in [1, 2, 3, 7, 100, stream.len()] {
            let mut framer = Framer::new();
            let mut found = Vec::new();
            for mut piece in stream.chunks(chunk) {
                while let Some(content) = framer.next_frame(&mut piece).unwrap() {
                    found.push(content);
                }
                assert!(framer.partial.len() <= LENGTH_BYTES + MAX_FRAME);
            }
            assert_eq!(found, contents, "chunks of {chunk}");
        }
    }

    #[test]
    fn invalid_lengths_end_the_stream() {
        let mut oversized: &[u8] = &[0x01, 0x04, 0];
        assert_eq!(
            Framer::new().next_frame(&mut oversized),
            Err(FrameError::TooLong { length: MAX_FRAME + 1 })
        );
        let mut empty: &[u8] = &[0, 0];
        assert_eq!(Framer::new().next_frame(&mut empty), Err(FrameError::Empty));
        assert_eq!(frame(&[]), Err(FrameError::Empty));
        assert!(frame(&[0; MAX_FRAME + 1]).is_err());
        assert!(frame(&[0; 70_000]).is_err());
    }
}
