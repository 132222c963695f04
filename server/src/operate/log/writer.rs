//! The thread that writes queued log lines to standard error.

use std::io::{self, ErrorKind, Write};
use std::sync::Arc;
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use tracing::Level;

use super::limit::{PER_SECOND, SiteLimit};
use super::line::line;
use super::lost::LostLine;
use super::queue::Queue;
use crate::operate::log::LogFormat;

/// Time between two reports of suppressed lines.
const SUPPRESSED_EVERY: Duration = Duration::from_secs(10);

/// How long to wait if a write would block. Standard error is non-blocking only if another process
/// that shares it made it so.
const RETRY: Duration = Duration::from_millis(20);

/// Bytes of a buffer that are kept allocated for the next lines.
const KEPT: usize = 64 * 1024;

/// Starts the thread that writes the lines in `queue` to `output`. The thread ends with the
/// process.
pub(super) fn start(
    queue: Arc<Queue>,
    output: impl Write + Send + 'static,
    format: LogFormat,
    limit: SiteLimit,
) -> io::Result<()> {
    let mut writer = LogWriter::new(output, format, limit);
    let run = move || {
        let mut batch = Vec::new();
        loop {
            let drained = queue.drain(&mut batch);
            writer.write(&batch, drained.dropped, drained.flush.is_some(), Instant::now());
            batch.clear();
            batch.shrink_to(KEPT);
            if let Some(flush) = drained.flush {
                queue.flushed(flush);
            }
        }
    };
    Builder::new().name("log".into()).spawn(run)?;
    Ok(())
}

/// Writes lines, and reports how many are lost.
struct LogWriter<W> {
    output: W,
    format: LogFormat,
    limit: SiteLimit,
    /// Counts of lost lines that are not reported yet: dropped lines, and lines that could not be
    /// written.
    untold: [u64; 2],
    /// Whether the last line written lacks its end.
    torn: bool,
    reported_suppressed: Instant,
}

impl<W: Write> LogWriter<W> {
    fn new(output: W, format: LogFormat, limit: SiteLimit) -> Self {
        Self {
            output,
            format,
            limit,
            untold: [0; 2],
            torn: false,
            reported_suppressed: Instant::now(),
        }
    }

    /// Writes the lines in `batch`. `dropped` lines after them were lost. Lost lines are reported
    /// by the next call, or by this one if `at_the_end` is set.
    fn write(&mut self, batch: &[u8], dropped: u64, at_the_end: bool, now: Instant) {
        self.tell_lost();
        self.untold[1] += self.write_lines(batch);
        self.untold[0] += dropped;
        if at_the_end {
            self.tell_lost();
        }
        if at_the_end || now.saturating_duration_since(self.reported_suppressed) >= SUPPRESSED_EVERY
        {
            self.reported_suppressed = now;
            for suppressed in self.limit.take_suppressed() {
                let fields = [("site", suppressed.site.into()), ("lines", suppressed.lines.into())];
                let message = format!(
                    "log lines were suppressed: the line of code that `site` names logs more than \
                     {PER_SECOND} lines a second"
                );
                let notice = line(self.format, Level::WARN, &message, &fields);
                self.untold[1] += self.write_lines(notice.as_bytes());
            }
        }
    }

    /// Reports how many lines were lost, if there are any and the log can be written.
    fn tell_lost(&mut self) {
        let [dropped, unwritten] = self.untold;
        if dropped + unwritten == 0 {
            return;
        }
        let fields = [
            (LostLine::QueueFull.label(), dropped.into()),
            (LostLine::Unwritable.label(), unwritten.into()),
        ];
        let message = format!("{} lines of the log were lost here", dropped + unwritten);
        let notice = line(self.format, Level::WARN, &message, &fields);
        if self.write_all(notice.as_bytes()).is_ok() {
            self.untold = [0; 2];
        }
    }

    /// Writes lines. Returns how many were lost.
    fn write_lines(&mut self, lines: &[u8]) -> u64 {
        let Err(rest) = self.write_all(lines) else { return 0 };
        let lost = rest.iter().filter(|&&byte| byte == b'\n').count() as u64;
        LostLine::Unwritable.count(lost);
        lost
    }

    /// Writes bytes. The error holds the bytes that could not be written.
    fn write_all<'a>(&mut self, bytes: &'a [u8]) -> Result<(), &'a [u8]> {
        if self.torn && !bytes.is_empty() {
            self.torn = false;
            if self.write_all(b"\n").is_err() {
                self.torn = true;
                return Err(bytes);
            }
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.output.write(rest) {
                Ok(0) => return Err(rest),
                Ok(written) => {
                    self.torn = rest[written - 1] != b'\n';
                    rest = &rest[written..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(RETRY),
                Err(_) => return Err(rest),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for `room` more bytes. The test can make more room.
    struct Disk {
        written: Vec<u8>,
        room: usize,
    }

    impl Write for &mut Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let fits = bytes.len().min(self.room);
            if fits == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            self.written.extend(&bytes[..fits]);
            self.room -= fits;
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_loses_whole_lines_and_is_told_once_there_is_room() {
        let mut disk = Disk { written: Vec::new(), room: 10 };
        let now = Instant::now();
        let limit = SiteLimit::default();
        let mut untold = [0; 2];
        let mut torn = false;
        let mut write = |disk: &mut Disk, lines: &str, dropped: u64| {
            let mut writer = LogWriter::new(disk, LogFormat::Text, limit.clone());
            (writer.untold, writer.torn) = (untold, torn);
            writer.write(lines.as_bytes(), dropped, false, now);
            (untold, torn) = (writer.untold, writer.torn);
            untold
        };
        let before = LostLine::Unwritable.counted();
        assert_eq!(write(&mut disk, "first\nsecond\nthird\n", 0), [0, 2]);
        assert_eq!(write(&mut disk, "fourth\n", 5), [5, 3]);
        assert_eq!(LostLine::Unwritable.counted() - before, 3);
        disk.room = 1000;
        assert_eq!(write(&mut disk, "fifth\n", 0), [0, 0]);
        let written = String::from_utf8(disk.written).unwrap();
        let lines: Vec<_> = written.lines().collect();
        assert_eq!((lines[0], lines[1], lines[3]), ("first", "seco", "fifth"), "{written}");
        let told = "8 lines of the log were lost here queue_full=5 unwritable=3";
        assert!(lines[2].ends_with(told), "{written}");
        assert_eq!(lines.len(), 4, "{written}");
    }
}
