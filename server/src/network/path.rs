//! The path to a client: a native player's QUIC connection. [`web`](super::web) has the path to a
//! browser: a WebTransport session within a QUIC connection.

use std::future::Future;

use bytes::Bytes;
use quinn::VarInt;
use tokio::io::AsyncWrite;

use super::end::End;

/// Both halves of a stream that a client opens for the map.
pub(super) type MapStream = (quinn::SendStream, quinn::RecvStream);

/// The path of datagrams, and the control stream beside them.
pub(super) trait Path: Clone + Send + Sync {
    /// The sending half of the control stream.
    type Stream: AsyncWrite + Unpin + Send;
    /// The receiving half of the control stream.
    type Incoming: Send;

    /// The QUIC connection that carries the path.
    fn connection(&self) -> &quinn::Connection;
    /// Bytes of the largest datagram that fits. `None` if the other end takes no datagrams.
    fn largest_datagram(&self) -> Option<usize>;
    /// Bytes of room for datagrams that wait to be sent.
    fn room(&self) -> usize;
    /// Sends a datagram. Returns false if it was not accepted.
    fn send(&self, datagram: Bytes) -> bool;
    /// The next datagram of the client.
    fn datagram(&self) -> impl Future<Output = Result<Bytes, End>> + Send;
    /// The next bytes of the control stream; `None` after the last.
    fn read(
        &self,
        incoming: &mut Self::Incoming,
        into: &mut [u8],
    ) -> impl Future<Output = Result<Option<usize>, End>> + Send;
    /// The next stream that the client opens for the map. Waits forever on a path that has no such
    /// streams.
    fn map_stream(&self) -> impl Future<Output = Result<MapStream, End>> + Send;
    /// Closes the path. A page then closes the connection, once it has read the reason.
    fn close(&self, code: VarInt, phrase: &[u8]);
    /// Waits until either end has closed the path.
    fn closed(&self) -> impl Future<Output = ()> + Send;
}

impl Path for quinn::Connection {
    type Stream = quinn::SendStream;
    type Incoming = quinn::RecvStream;

    fn connection(&self) -> &quinn::Connection {
        self
    }

    fn largest_datagram(&self) -> Option<usize> {
        self.max_datagram_size()
    }

    fn room(&self) -> usize {
        self.datagram_send_buffer_space()
    }

    fn send(&self, datagram: Bytes) -> bool {
        self.send_datagram(datagram).is_ok()
    }

    async fn datagram(&self) -> Result<Bytes, End> {
        self.read_datagram().await.map_err(|error| End::from(&error))
    }

    async fn read(
        &self,
        incoming: &mut Self::Incoming,
        into: &mut [u8],
    ) -> Result<Option<usize>, End> {
        incoming.read(into).await.map_err(|error| End::from(&error))
    }

    async fn map_stream(&self) -> Result<MapStream, End> {
        self.accept_bi().await.map_err(|error| End::from(&error))
    }

    fn close(&self, code: VarInt, phrase: &[u8]) {
        Self::close(self, code, phrase);
    }

    async fn closed(&self) {
        Self::closed(self).await;
    }
}
