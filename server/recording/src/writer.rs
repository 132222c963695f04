use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::format::{MAGIC, VERSION, encode_end, encode_header, encode_tick};
use crate::{Header, RecordingError, Tick};

/// Writes a recording. One that is dropped before [`Writer::finish`] breaks
/// off, and a reader can tell.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
}

impl Writer {
    /// Creates the file, in place of any that is there, and writes the header.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Write { path: path.to_owned(), source };
        Self::begin(path.to_owned(), File::create(path).map_err(failed)?, header)
    }

    /// Writes the header to a file that is empty, and hands it to the system:
    /// whatever becomes of this process, the file can be read from now on.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn begin(path: PathBuf, file: File, header: &Header) -> Result<Self, RecordingError> {
        let mut writer = Self { path, file: BufWriter::new(file), bytes: 0 };
        writer.write(&[&MAGIC[..], &VERSION.to_le_bytes()].concat())?;
        writer.frame(encode_header(header))?;
        writer.flush()?;
        Ok(writer)
    }

    /// Adds the next tick. It may stay in memory until [`Writer::flush`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn tick(&mut self, tick: &Tick) -> Result<(), RecordingError> {
        self.frame(encode_tick(tick))
    }

    /// Hands all ticks so far to the system: a crash of this process does not
    /// lose them any more, one of the machine may.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> Result<(), RecordingError> {
        self.file.flush().map_err(|source| self.failed(source))
    }

    /// Marks the recording as complete.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        self.frame(encode_end())?;
        self.flush()
    }

    /// Bytes written so far, those in memory included.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn frame(&mut self, body: Option<Vec<u8>>) -> Result<(), RecordingError> {
        let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, "a frame is over 64 KiB");
        let body = body.ok_or_else(|| self.failed(too_long()))?;
        // The body of a frame never exceeds what its length can say.
        self.write(&(body.len() as u16).to_le_bytes())?;
        self.write(&body)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        self.file.write_all(bytes).map_err(|source| self.failed(source))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn failed(&self, source: io::Error) -> RecordingError {
        RecordingError::Write { path: self.path.clone(), source }
    }
}
