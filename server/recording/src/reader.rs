use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::format::{MAGIC, VERSION, WITHOUT_BUILD, decode_header, decode_tick};
use crate::{Header, RecordingError, Tick};

/// Reads a recording frame by frame. It may come from anyone: what no
/// recorder writes is an error, and never more than one frame is held.
#[derive(Debug)]
pub struct Reader<R = BufReader<File>> {
    path: PathBuf,
    file: R,
    header: Header,
    ticks: u64,
    ended: bool,
}

impl Reader {
    /// Opens a recording and reads its header.
    ///
    /// # Errors
    /// The file cannot be read or is no recording of this version.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Read { path: path.to_owned(), source };
        Self::new(path, BufReader::new(File::open(path).map_err(failed)?))
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header of a recording that is not a file, or is opened already; errors
    /// name it as `path`.
    ///
    /// # Errors
    /// It cannot be read or is no recording of this version.
    pub fn new(path: &Path, mut file: R) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Read { path: path.to_owned(), source };
        let mut start = [0; MAGIC.len() + size_of::<u16>()];
        let magic = || RecordingError::Magic { path: path.to_owned() };
        read_exact(&mut file, &mut start).map_err(failed)?.ok_or_else(magic)?;
        let (found, version) = start.split_at(MAGIC.len());
        if found != MAGIC {
            return Err(magic());
        }
        let version = u16::from_le_bytes([version[0], version[1]]);
        if ![WITHOUT_BUILD, VERSION].contains(&version) {
            return Err(RecordingError::Version { path: path.to_owned(), version });
        }
        let truncated = || RecordingError::Truncated { path: path.to_owned(), tick: 0 };
        let body = read_frame(&mut file).map_err(failed)?.ok_or_else(truncated)?;
        let damaged = |reason| RecordingError::Damaged { path: path.to_owned(), tick: 0, reason };
        let header = decode_header(body, version).map_err(damaged)?;
        Ok(Self { path: path.to_owned(), file, header, ticks: 0, ended: false })
    }

    /// The set-up of the match.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next tick, or `None` after the last.
    ///
    /// # Errors
    /// The file breaks off, or holds something else.
    pub fn next_tick(&mut self) -> Result<Option<Tick>, RecordingError> {
        if self.ended {
            return Ok(None);
        }
        let (path, tick) = (self.path.clone(), self.ticks);
        let body = match read_frame(&mut self.file) {
            Ok(Some(body)) => body,
            Ok(None) => return Err(RecordingError::Truncated { path, tick }),
            Err(source) => return Err(RecordingError::Read { path, source }),
        };
        let damaged = |reason| RecordingError::Damaged { path: path.clone(), tick, reason };
        let next = decode_tick(&body).map_err(damaged)?;
        if next.is_some() {
            self.ticks += 1;
            return Ok(next);
        }
        self.ended = true;
        match self.file.read(&mut [0]) {
            Ok(0) => Ok(None),
            Ok(_) => Err(damaged("something follows the end mark".into())),
            Err(source) => Err(RecordingError::Read { path, source }),
        }
    }
}

/// `None` if the file ends within it.
fn read_frame(file: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 2];
    if read_exact(file, &mut length)?.is_none() {
        return Ok(None);
    }
    let mut body = vec![0; usize::from(u16::from_le_bytes(length))];
    Ok(read_exact(file, &mut body)?.map(|()| body))
}

/// `None` if the file ends too early.
fn read_exact(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<Option<()>> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(Some(())),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
