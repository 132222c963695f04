use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::limits::{LONGEST_HANDSHAKE, PIECE};
use crate::door::outgoing::Payer;

/// The charge of a listener for the bytes that it sends.
#[derive(Clone)]
pub(crate) enum Toll {
    /// The bytes are not charged, because they do not leave the machine.
    Free,
    /// The bytes are charged but do not wait: an operator's probe must be answered during any
    /// download.
    Noted(Payer),
    /// The bytes are charged, and wait until the budgets allow them.
    Paid(Payer),
}

/// A connection whose bytes are charged before they are sent: TLS records, heads and bodies alike.
pub(crate) struct Metered<S> {
    stream: S,
    toll: Toll,
    /// Bytes that are charged but not sent yet.
    paid: usize,
    /// The wait for the next piece.
    paying: Option<Pin<Box<dyn Future<Output = usize> + Send>>>,
    sent: Arc<AtomicU64>,
    /// Bytes that may still be read before the TLS handshake is finished. `None` once it is.
    handshake: Option<usize>,
}

impl<S> Metered<S> {
    /// A connection that is charged by `toll`.
    pub(crate) fn new(stream: S, toll: Toll) -> Self {
        Self { stream, toll, paid: 0, paying: None, sent: Arc::default(), handshake: None }
    }

    /// Bytes sent so far.
    pub(crate) fn sent(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.sent)
    }

    /// The connection itself.
    pub(crate) fn get_ref(&self) -> &S {
        &self.stream
    }

    /// Lets no more than [`LONGEST_HANDSHAKE`] bytes be read until [`Metered::is_open`] is called.
    pub(crate) fn opens(&mut self) {
        self.handshake = Some(LONGEST_HANDSHAKE);
    }

    /// Notes that the handshake is finished.
    pub(crate) fn is_open(&mut self) {
        self.handshake = None;
    }

    /// Waits until at least one byte is paid. Pays for at most `wanted` bytes at a time.
    fn poll_pay(&mut self, context: &mut Context<'_>, wanted: usize) -> Poll<()> {
        if self.paid > 0 {
            return Poll::Ready(());
        }
        let piece = wanted.min(PIECE);
        self.paid = match &self.toll {
            Toll::Free => piece,
            Toll::Noted(payer) => {
                payer.note(piece);
                piece
            }
            Toll::Paid(payer) => {
                let paying = self.paying.get_or_insert_with(|| {
                    let payer = payer.clone();
                    Box::pin(async move {
                        payer.pay(piece).await;
                        piece
                    })
                });
                let paid = ready!(paying.as_mut().poll(context));
                self.paying = None;
                paid
            }
        };
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let read = buffer.filled().len() - before;
        if let Some(left) = &mut self.handshake {
            *left = left.checked_sub(read).ok_or_else(|| {
                let long = format!("the TLS handshake is longer than {LONGEST_HANDSHAKE} bytes");
                io::Error::new(io::ErrorKind::InvalidData, long)
            })?;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        ready!(self.poll_pay(context, bytes.len()));
        let piece = &bytes[..bytes.len().min(self.paid)];
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, piece))?;
        self.paid -= written;
        self.sent.fetch_add(written as u64, Ordering::Relaxed);
        Poll::Ready(Ok(written))
    }

    /// Writes the first of the buffers that holds anything.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = buffers.iter().find(|buffer| !buffer.is_empty());
        self.poll_write(context, first.map_or(&[], |buffer| buffer))
    }

    /// Returns true, although buffers are written one by one, because hyper would otherwise copy
    /// whole bodies.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
