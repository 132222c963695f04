//! A browser's WebTransport session, as the path to a client.

use std::future::pending;

use bytes::Bytes;
use obsp_proto::control::Reason;
use quinn::VarInt;
use web_transport_quinn::{RecvStream, SendStream, Session};

use crate::network::end::End;
use crate::network::path::{MapStream, Path};

impl Path for Session {
    type Stream = SendStream;
    type Incoming = RecvStream;

    fn connection(&self) -> &quinn::Connection {
        self
    }

    fn largest_datagram(&self) -> Option<usize> {
        Some(self.max_datagram_size()).filter(|&size| size > 0)
    }

    fn room(&self) -> usize {
        self.datagram_send_buffer_space()
    }

    fn send(&self, datagram: Bytes) -> bool {
        self.send_datagram(datagram).is_ok()
    }

    async fn datagram(&self) -> Result<Bytes, End> {
        self.read_datagram().await.map_err(|error| broken(self, error))
    }

    async fn read(
        &self,
        incoming: &mut Self::Incoming,
        into: &mut [u8],
    ) -> Result<Option<usize>, End> {
        incoming.read(into).await.map_err(|error| broken(self, error))
    }

    /// Waits forever: a page fetches the map over HTTP.
    async fn map_stream(&self) -> Result<MapStream, End> {
        pending().await
    }

    fn close(&self, code: VarInt, phrase: &[u8]) {
        // Pages get the same codes as native clients. All of them fit 32 bits.
        Self::close(self, u32::try_from(code.into_inner()).unwrap_or_default(), phrase);
    }

    async fn closed(&self) {
        Self::closed(self).await;
        self.connection().closed().await;
    }
}

/// The end of a session on which reading failed.
fn broken(session: &Session, error: impl ToString) -> End {
    End::of(session, End::with_detail(Reason::Closed, error))
}
