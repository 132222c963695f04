//! Messages that wait for a control stream, bounded in bytes and in time.

use std::io;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use obsp_proto::IDLE_TIMEOUT;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

/// Limit in bytes of the messages that wait for one client. It is enough for everything that
/// happens in a full match of 128 fighting players within the idle time-out, while QUIC takes
/// nothing.
const MOST: usize = 256 * 1024;

/// How long QUIC may take to accept the last messages.
const FAREWELL: Duration = Duration::from_secs(2);

/// A control stream, and the messages that QUIC has not taken yet.
///
/// QUIC takes nothing while the bytes that it holds are not acknowledged, as on a line that is
/// gone. The connection's task does not wait for it: messages are kept here. The client is given up
/// only if QUIC took none of them for the idle time-out, or if they become too many.
pub(crate) struct Outbox<S> {
    stream: S,
    waiting: BytesMut,
    /// Since when messages have waited without QUIC taking any.
    waiting_since: Option<Instant>,
}

/// More messages would wait than may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

impl<S: AsyncWrite + Unpin> Outbox<S> {
    /// An outbox in which nothing waits.
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, waiting: BytesMut::new(), waiting_since: None }
    }

    /// Adds messages to those that wait.
    ///
    /// # Errors
    /// There would be too many. The messages that already wait are kept.
    pub(crate) fn push(&mut self, now: Instant, messages: &[u8]) -> Result<(), Overflow> {
        if messages.is_empty() {
            return Ok(());
        }
        if self.waiting.len() + messages.len() > MOST {
            return Err(Overflow);
        }
        self.waiting.extend_from_slice(messages);
        self.waiting_since.get_or_insert(now);
        Ok(())
    }

    /// Whether no message waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Waits until the stream takes something, and writes as much as it takes. Does not return
    /// while no message waits. Dropping the future loses nothing.
    ///
    /// # Errors
    /// The stream is broken.
    pub(crate) async fn write(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return std::future::pending().await;
        }
        if self.stream.write_buf(&mut self.waiting).await? == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.waiting_since = (!self.waiting.is_empty()).then(Instant::now);
        Ok(())
    }

    /// Whether messages wait and none was taken for the idle time-out.
    pub(crate) fn is_stalled(&self, now: Instant) -> bool {
        let since = |since| now.saturating_duration_since(since);
        self.waiting_since.is_some_and(|begin| since(begin) >= IDLE_TIMEOUT)
    }

    /// Writes the messages that wait, and ends the stream. Returns false if that takes too long or
    /// the stream is broken.
    pub(crate) async fn finish(&mut self) -> bool {
        let finish = async {
            self.stream.write_all_buf(&mut self.waiting).await?;
            self.stream.shutdown().await
        };
        matches!(timeout(FAREWELL, finish).await, Ok(Ok(())))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test);
    }

    /// Writes for as long as the stream takes something without waiting.
    async fn write_now<S: AsyncWrite + Unpin>(outbox: &mut Outbox<S>) {
        while timeout(Duration::ZERO, outbox.write()).await.is_ok_and(|done| done.is_ok()) {}
    }

    #[test]
    fn bytes_a_stream_refuses_wait_and_arrive_in_order() {
        run(async {
            let (ours, mut theirs) = tokio::io::duplex(10);
            let mut outbox = Outbox::new(ours);
            let now = Instant::now();
            outbox.push(now, &[1; 8]).unwrap();
            outbox.push(now, &[2; 8]).unwrap();
            write_now(&mut outbox).await;
            assert!(!outbox.is_stalled(now));
            assert!(outbox.is_stalled(Instant::now() + IDLE_TIMEOUT));
            let mut received = [0; 16];
            theirs.read_exact(&mut received[..10]).await.unwrap();
            write_now(&mut outbox).await;
            theirs.read_exact(&mut received[10..]).await.unwrap();
            assert_eq!(received, [[1; 8], [2; 8]].concat().as_slice());
            assert!(!outbox.is_stalled(Instant::now() + 2 * IDLE_TIMEOUT), "nothing waits");
            assert!(outbox.finish().await);
        });
    }

    #[test]
    fn progress_is_what_counts_and_not_how_much_waits() {
        run(async {
            let (ours, mut theirs) = tokio::io::duplex(4);
            let mut outbox = Outbox::new(ours);
            let long_ago = Instant::now();
            outbox.push(long_ago, &[0; 100]).unwrap();
            write_now(&mut outbox).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
            theirs.read_exact(&mut [0; 4]).await.unwrap();
            write_now(&mut outbox).await;
            assert!(!outbox.is_stalled(long_ago + IDLE_TIMEOUT));
        });
    }

    #[test]
    fn too_much_is_refused() {
        let mut outbox = Outbox::new(tokio::io::sink());
        let now = Instant::now();
        outbox.push(now, &vec![0; MOST]).unwrap();
        assert_eq!(outbox.push(now, &[0]), Err(Overflow));
        assert_eq!(outbox.push(now, &[]), Ok(()));
    }

    #[test]
    fn a_stream_that_is_broken_says_so() {
        run(async {
            let (ours, theirs) = tokio::io::duplex(4);
            drop(theirs);
            let mut outbox = Outbox::new(ours);
            outbox.push(Instant::now(), &[0; 4]).unwrap();
            assert!(outbox.write().await.is_err());
            assert!(!outbox.finish().await);
        });
    }
}
