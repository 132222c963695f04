use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::format::{MAGIC, VERSION, encode_end, encode_header, encode_tick};
use super::{Header, RecordingError, Tick};

/// Writes a recording. One that is dropped before [`Writer::finish`] breaks
/// off, and a reader can tell.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Writer {
    /// Makes the file, in place of any that is there.
    ///
    /// # Errors
    /// The file cannot be made or written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Write { path: path.to_owned(), source };
        let file = BufWriter::new(File::create(path).map_err(failed)?);
        let mut writer = Self { path: path.to_owned(), file };
        writer.write(&[&MAGIC[..], &VERSION.to_le_bytes()].concat())?;
        writer.frame(encode_header(header))?;
        Ok(writer)
    }

    /// Adds the next tick.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn tick(&mut self, tick: &Tick) -> Result<(), RecordingError> {
        self.frame(encode_tick(tick))
    }

    /// Marks the recording as complete.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        self.frame(encode_end())?;
        self.file.flush().map_err(|source| self.failed(source))
    }

    fn frame(&mut self, body: Option<Vec<u8>>) -> Result<(), RecordingError> {
        let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, "a frame is over 64 KiB");
        let body = body.ok_or_else(|| self.failed(too_long()))?;
        // The body of a frame never exceeds what its length can say.
        self.write(&(body.len() as u16).to_le_bytes())?;
        self.write(&body)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        self.file.write_all(bytes).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> RecordingError {
        RecordingError::Write { path: self.path.clone(), source }
    }
}
