//! Bytes in and out, for callers with a connection of their own.

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use obsp_client::{LoadedMap, MapError, Transmit};
use obsp_proto::download::{Download, Receiver};
use obsp_proto::game_data::GameData;

use crate::failure::{Failure, ObspStatus, guard, guard_status};
use crate::handle::ObspClient;
use crate::raw;

/// Handles bytes that arrived on the control stream, in pieces of any length.
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

/// Tells the client that the connection has ended, or could not be made. `reason` becomes the text
/// of the event `OBSP_EVENT_KIND_DISCONNECTED`.
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

/// Keeps the data of the game for the call of `obsp_client_use_map` that follows. Call it after
/// `OBSP_EVENT_KIND_JOINED` has named the data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_use_game(
    client: *mut ObspClient,
    bytes: *const u8,
    length: usize,
) -> ObspStatus {
    guard_status(|| {
        // SAFETY: the contract of the header.
        let (client, bytes) = unsafe { (raw::client(client)?, raw::bytes(bytes, length)?) };
        use_game(client, bytes)
    })
}

/// Keeps the data of the game as the server sends them. Open a bidirectional stream, write the
/// four bytes "game", finish it, and pass on the bytes that arrive, with `is_end` at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_handle_game_stream(
    client: *mut ObspClient,
    bytes: *const u8,
    length: usize,
    is_end: bool,
) -> ObspStatus {
    guard_status(|| {
        // SAFETY: the contract of the header.
        let (client, bytes) = unsafe { (raw::client(client)?, raw::bytes(bytes, length)?) };
        match received(&mut client.game_stream, Download::Game, bytes, is_end)? {
            Some(game) => use_game(client, &game),
            None => Ok(()),
        }
    })
}

/// Uses a compiled map, the content of an .obsp file. Call it after `OBSP_EVENT_KIND_JOINED` has
/// named the map. The own player is predicted from then on. If that event names data of a game,
/// call `obsp_client_use_game` before.
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

/// Uses a map as the server sends it. Open a bidirectional stream, write the three bytes
/// "map", finish it, and pass on the bytes that arrive, with `is_end` at the end.
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
        match received(&mut client.map_stream, Download::Map, bytes, is_end)? {
            Some(map) => use_map(client, &map, now),
            None => Ok(()),
        }
    })
}

/// The whole content, after the stream that brings it has ended.
fn received(
    stream: &mut Receiver,
    what: Download,
    bytes: &[u8],
    is_end: bool,
) -> Result<Option<Vec<u8>>, Failure> {
    let received = stream.receive(bytes);
    if received.is_ok() && !is_end {
        return Ok(None);
    }
    let whole = std::mem::replace(stream, Receiver::new(what));
    received.and_then(|()| whole.finish()).map(Some).map_err(Failure::wrong_map)
}

fn use_game(client: &mut ObspClient, bytes: &[u8]) -> Result<(), Failure> {
    let hello = client.client.session().hello();
    let hello = hello.ok_or_else(|| Failure::wrong_map("the client has not joined"))?;
    let game = GameData::from_bytes(bytes).map_err(Failure::wrong_map)?;
    if game.hash() != hello.game {
        return Err(Failure::wrong_map(MapError::OtherGame));
    }
    client.game = bytes.to_owned();
    Ok(())
}

fn use_map(client: &mut ObspClient, bytes: &[u8], now: f64) -> Result<(), Failure> {
    let (client, game) = (&mut client.client, &client.game);
    let hello = client.session().hello();
    let hello = hello.ok_or_else(|| Failure::wrong_map("the client has not joined"))?;
    let map = LoadedMap::from_bytes(bytes, game, hello).map_err(Failure::wrong_map)?;
    client.use_map(Arc::new(map), raw::time(now)).map_err(Failure::wrong_map)
}

/// The kind of a task for the caller's transport.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObspTransmitKind {
    /// Write the bytes to the control stream, in order.
    Stream,
    /// Send the bytes as a datagram. If that is not possible at once, drop them.
    Datagram,
    /// Finish the control stream, and wait a little for the server to close the connection.
    Finish,
    /// Close the connection with the code; the bytes are the reason.
    Close,
}

/// A task for the caller's transport.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspTransmit {
    /// The kind of the task.
    pub kind: ObspTransmitKind,
    /// QUIC's application error code with which to close the connection.
    pub code: u32,
    /// The bytes, valid until the next call with this client.
    pub bytes: *const u8,
    /// The number of bytes.
    pub length: usize,
}

/// Takes the next task for the transport; false if there is none. After every other call with this
/// client, call this function until it returns false. A client of `obsp_connect` sends its output
/// without this call.
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
        // SAFETY: the contract of the header.
        unsafe { raw::put(transmit, ObspTransmit { kind, code, bytes, length })? };
        Ok(true)
    })
}
