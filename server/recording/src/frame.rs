//! Frames, of which a recording consists. Each ends with a hash of itself and of all frames before
//! it, so that no bit of a recording can change unnoticed, and no frame can be left out.

use std::io::{self, Read, Seek, Write};

use crate::format::{MAGIC, MAX_BODY, VERSION};

/// Number of bytes of the hash that ends a frame: the first half of BLAKE3's hash.
const HASH: usize = 16;

/// Number of bytes that begin a frame: its kind, and the length of its body.
pub(crate) const START: usize = 5;

/// Number of bytes of the longest end mark. Its body is one number.
pub(crate) const END_AT_MOST: usize = START + 9 + HASH;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Header,
    /// The `game.toml` that the match was set up by.
    GameFile,
    /// The whole match after a tick.
    Keyframe,
    /// The whole match, packed by the previous keyframe.
    Delta,
    /// Some ticks.
    Chunk,
    /// Names and lines of the ticks of the next chunk.
    Words,
    /// Some [`Note`](crate::Note)s.
    Notes,
    /// The recording is complete.
    End,
}

impl Kind {
    const ALL: [(Self, u8); 8] = [
        (Self::Header, b'H'),
        (Self::GameFile, b'G'),
        (Self::Keyframe, b'K'),
        (Self::Delta, b'D'),
        (Self::Chunk, b'T'),
        (Self::Words, b'W'),
        (Self::Notes, b'N'),
        (Self::End, b'E'),
    ];

    /// Whether the body is a keyframe.
    pub(crate) fn is_keyframe(self) -> bool {
        matches!(self, Self::Keyframe | Self::Delta)
    }

    fn byte(self) -> u8 {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or(0, |(_, byte)| *byte)
    }

    fn of(byte: u8) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == byte).map(|(kind, _)| *kind)
    }
}

/// The hash of all frames so far.
#[derive(Clone, Debug)]
pub(crate) struct Chain(blake3::Hasher);

impl Chain {
    /// The hash of a recording that contains only the magic and the version so far.
    pub(crate) fn new() -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&MAGIC).update(&VERSION.to_le_bytes());
        Self(hasher)
    }

    /// Adds a frame and returns the hash that ends it, which counts as part of the frame.
    fn add(&mut self, start: &[u8], body: &[u8]) -> [u8; HASH] {
        self.0.update(start).update(body);
        let hash = self.0.finalize();
        let mut own = [0; HASH];
        own.copy_from_slice(&hash.as_bytes()[..HASH]);
        self.0.update(&own);
        own
    }
}

fn start_of(kind: Kind, length: u32) -> [u8; START] {
    let mut start = [kind.byte(), 0, 0, 0, 0];
    start[1..].copy_from_slice(&length.to_le_bytes());
    start
}

/// Writes a frame. Returns the number of bytes that it takes.
pub(crate) fn write(
    file: &mut impl Write,
    chain: &mut Chain,
    kind: Kind,
    body: &[u8],
) -> io::Result<u64> {
    let start = start_of(kind, body.len() as u32);
    file.write_all(&start)?;
    file.write_all(body)?;
    file.write_all(&chain.add(&start, body))?;
    Ok((start.len() + body.len() + HASH) as u64)
}

/// The result of reading a frame.
pub(crate) enum Found {
    Frame(Kind, Vec<u8>),
    /// The file ends within the frame or before it.
    End,
    /// The frame differs from what was written.
    Damaged(&'static str),
}

/// Reads the next frame. Memory is allocated only for bytes that have arrived.
pub(crate) fn read(file: &mut impl Read, chain: &mut Chain) -> io::Result<Found> {
    let mut start = [0; START];
    if !read_exact(file, &mut start)? {
        return Ok(Found::End);
    }
    let Some((kind, length)) = kind_and_length(start) else {
        return Ok(Found::Damaged("a frame has an unknown kind"));
    };
    if length > MAX_BODY {
        return Ok(Found::Damaged("a frame is longer than a recorder writes"));
    }
    let mut body = Vec::new();
    if file.by_ref().take(length as u64).read_to_end(&mut body)? < length {
        return Ok(Found::End);
    }
    let mut hash = [0; HASH];
    if !read_exact(file, &mut hash)? {
        return Ok(Found::End);
    }
    if chain.add(&start, &body) != hash {
        return Ok(Found::Damaged("the hash of a frame does not match: its bytes have changed"));
    }
    Ok(Found::Frame(kind, body))
}

/// The kind of a frame and the length of its body; `None` for a kind that does not exist.
pub(crate) fn kind_and_length([byte, length @ ..]: [u8; START]) -> Option<(Kind, usize)> {
    Some((Kind::of(byte)?, u32::from_le_bytes(length) as usize))
}

/// Goes from the body of a frame to the frame after it.
pub(crate) fn skip_body(file: &mut impl Seek, length: usize) -> io::Result<()> {
    file.seek_relative((length + HASH) as i64)
}

/// The body of the end mark, if `bytes` are exactly an end mark. Its hash is not checked.
pub(crate) fn as_end(bytes: &[u8]) -> Option<&[u8]> {
    let (start, rest) = bytes.split_first_chunk()?;
    let (body, _) = rest.split_last_chunk::<HASH>()?;
    (kind_and_length(*start) == Some((Kind::End, body.len()))).then_some(body)
}

/// Fills `bytes` from the file. Returns false if the file ends too early.
pub(crate) fn read_exact(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
