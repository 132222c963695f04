//! A summary of a recording for lists, from a few reads at both ends of its file.

use std::io::{self, Read, Seek, SeekFrom};

use crate::format::{MAGIC, VERSION, decode, decode_header, decode_start};
use crate::frame::{self, Chain, END_AT_MOST, Found, Kind, START, read_exact};

/// Bytes of the longest header that a summary is read from. Names of maps and builds are far
/// shorter.
const LONGEST_HEADER: u64 = 4 << 10;

/// Bytes of the beginning of a keyframe's body in which its tick is.
const TICK: usize = 9;

/// The facts that the header and the end mark of a recording state. The frames between them are not
/// read, so nothing proves the facts: a [`Recording`](crate::Recording) may still find damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The name of the map.
    pub map_name: String,
    /// Ticks per second.
    pub tick_rate: u32,
    /// The tick after which the recording begins.
    pub first_tick: u64,
    /// The last tick; `None` if the file does not end with an end mark, because its writer was cut
    /// off or still writes.
    pub last_tick: Option<u64>,
}

impl Summary {
    /// Reads the summary of a recording from its start; `None` if the file does not begin as a
    /// recording of this version.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(file: &mut (impl Read + Seek)) -> io::Result<Option<Self>> {
        let mut start = [0; MAGIC.len() + 2];
        if !read_exact(file, &mut start)? {
            return Ok(None);
        }
        let [magic @ .., low, high] = start;
        if magic != MAGIC || u16::from_le_bytes([low, high]) != VERSION {
            return Ok(None);
        }
        let header = frame::read(&mut file.by_ref().take(LONGEST_HEADER), &mut Chain::new())?;
        let Found::Frame(Kind::Header, body) = header else { return Ok(None) };
        let Ok(header) = decode_header(&body) else { return Ok(None) };
        let Some(first_tick) = first_tick(file)? else { return Ok(None) };
        let last_tick = last_tick(file)?.filter(|&last| last >= first_tick);
        let tick_rate = header.config().tick_rate;
        Ok(Some(Self { map_name: header.map_name, tick_rate, first_tick, last_tick }))
    }

    /// The seconds that the recording lasts; `None` without an end mark.
    pub fn seconds(&self) -> Option<u64> {
        Some((self.last_tick? - self.first_tick) / u64::from(self.tick_rate.max(1)))
    }
}

/// The tick of the first keyframe, which comes next, or after a `game.toml` that is skipped.
fn first_tick(file: &mut (impl Read + Seek)) -> io::Result<Option<u64>> {
    let mut start = [0; START];
    for _ in 0..2 {
        if !read_exact(file, &mut start)? {
            return Ok(None);
        }
        match frame::kind_and_length(start) {
            Some((Kind::Keyframe, length)) => {
                let mut body = Vec::new();
                file.by_ref().take(TICK.min(length) as u64).read_to_end(&mut body)?;
                return Ok(decode_start(&body));
            }
            Some((Kind::GameFile, length)) => frame::skip_body(file, length)?,
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// The tick that the end mark names, if the file ends with one.
fn last_tick(file: &mut (impl Read + Seek)) -> io::Result<Option<u64>> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(END_AT_MOST as u64)))?;
    let mut tail = Vec::new();
    file.by_ref().take(END_AT_MOST as u64).read_to_end(&mut tail)?;
    // The mark's length depends on the tick in it, so each length is tried.
    let mut marks = (0..tail.len()).filter_map(|from| frame::as_end(&tail[from..]));
    Ok(marks.find_map(|body| decode(body).ok()))
}
