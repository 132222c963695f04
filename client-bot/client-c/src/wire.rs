//! Bytes in and out, for callers with a connection of their own.

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use obsp_client::{LoadedMap, Transmit};
use obsp_proto::map_transfer::MapReceiver;

use crate::failure::{Failure, ObspStatus, guard, guard_status};
use crate::handle::ObspClient;
use crate::raw;

/// Handles bytes that arrived on the control stream, cut anywhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_handle_stream(
    client: *mut ObspClient,
    bytes: *const u8,
    length: usize,
    now: f64,
) -> ObspStatus {
    guard_status(|| {
        // SAFETY: the contract of the header.
        let (client, bytes) = unsafe { (raw::client(client)?, raw::bytes(bytes, length)?) };
        client.client.handle_stream(bytes, raw::time(now));
        Ok(())
    })
}

/// Handles a datagram.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_handle_datagram(
    client: *mut ObspClient,
    bytes: *const u8,
    length: usize,
    now: f64,
) -> ObspStatus {
    guard_status(|| {
        // SAFETY: the contract of the header.
        let (client, bytes) = unsafe { (raw::client(client)?, raw::bytes(bytes, length)?) };
        client.client.handle_datagram(bytes, raw::time(now));
        Ok(())
    })
}

/// Takes note that the connection has ended, or could not be made; `reason` is a text for
/// `OBSP_EVENT_KIND_DISCONNECTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_handle_closed(
    client: *mut ObspClient,
    reason: *const c_char,
) -> ObspStatus {
    guard_status(|| {
        // SAFETY: the contract of the header.
        let (client, reason) = unsafe { (raw::client(client)?, raw::text(reason, "the reason")?) };
        client.client.handle_closed(reason);
        Ok(())
    })
}

/// Uses a compiled map, the content of an .obsp file, once `OBSP_EVENT_KIND_JOINED` has
/// named it: the own player is predicted from then on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_use_map(
    client: *mut ObspClient,
    bytes: *const u8,
    length: usize,
    now: f64,
) -> ObspStatus {
    guard_status(|| {
        // SAFETY: the contract of the header.
        let (client, bytes) = unsafe { (raw::client(client)?, raw::bytes(bytes, length)?) };
        use_map(client, bytes, now)
    })
}

/// The same for a map that the server sends: open a bidirectional stream, write the three
/// bytes "map", finish it, and pass on what arrives, with `is_end` at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_handle_map_stream(
    client: *mut ObspClient,
    bytes: *const u8,
    length: usize,
    is_end: bool,
    now: f64,
) -> ObspStatus {
    guard_status(|| {
        // SAFETY: the contract of the header.
        let (client, bytes) = unsafe { (raw::client(client)?, raw::bytes(bytes, length)?) };
        let received = client.map.receive(bytes);
        if received.is_err() || is_end {
            let map = std::mem::replace(&mut client.map, MapReceiver::new());
            let map = received.and_then(|()| map.finish()).map_err(Failure::wrong_map)?;
            return use_map(client, &map, now);
        }
        Ok(())
    })
}

fn use_map(client: &mut ObspClient, bytes: &[u8], now: f64) -> Result<(), Failure> {
    let client = &mut client.client;
    let hello = client.session().hello();
    let hash = hello.ok_or_else(|| Failure::wrong_map("the client has not joined"))?.map;
    let map = LoadedMap::from_bytes(bytes, hash).map_err(Failure::wrong_map)?;
    client.use_map(Arc::new(map), raw::time(now)).map_err(Failure::wrong_map)
}

/// The next message that the caller has to send.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObspTransmitKind {
    /// Write the bytes to the control stream, in order.
    Stream,
    /// Send the bytes as a datagram, or drop them if that is not possible at once.
    Datagram,
    /// Finish the control stream, and wait a little for the server to close the connection.
    Finish,
    /// Close the connection with the code; the bytes are the reason.
    Close,
}

/// Something to be sent.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspTransmit {
    /// What to do.
    pub kind: ObspTransmitKind,
    /// QUIC's application error code, to close with.
    pub code: u32,
    /// The bytes, valid until the next call with this client.
    pub bytes: *const u8,
    /// How many bytes.
    pub length: usize,
}

/// Takes what is to be sent next; false if there is nothing. To be called until then after
/// all other calls with this client. A client of `obsp_connect` sends by itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_poll_transmit(
    client: *mut ObspClient,
    transmit: *mut ObspTransmit,
) -> bool {
    guard(false, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        let Some(next) = client.client.poll_transmit() else { return Ok(false) };
        let (kind, code, bytes) = match next {
            Transmit::Stream(bytes) => (ObspTransmitKind::Stream, 0, bytes),
            Transmit::Datagram(bytes) => (ObspTransmitKind::Datagram, 0, bytes),
            Transmit::Finish => (ObspTransmitKind::Finish, 0, Vec::new()),
            Transmit::Close { code, reason } => {
                (ObspTransmitKind::Close, code, reason.into_bytes())
            }
        };
        client.transmit = bytes;
        let bytes = if client.transmit.is_empty() { ptr::null() } else { client.transmit.as_ptr() };
        let length = client.transmit.len();
        // SAFETY: the same.
        unsafe { raw::put(transmit, ObspTransmit { kind, code, bytes, length })? };
        Ok(true)
    })
}
