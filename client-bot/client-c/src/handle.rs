//! Making and freeing clients.

use std::ffi::c_char;
use std::ptr;

#[cfg(feature = "connect")]
use obsp_client::quic::SocketThread;
use obsp_client::{Client, Credentials};
use obsp_proto::control::{MapHash, PlayerName, Ticket};
use obsp_proto::download::{Download, Receiver};

use crate::failure::{Failure, guard};
use crate::raw;

/// Bytes of a ticket.
pub const OBSP_TICKET_BYTES: usize = 16;

/// One player in a match. Any thread may use it, but only one thread at a time.
#[derive(Debug)]
pub struct ObspClient {
    pub(crate) client: Client,
    /// The connection, if the library made it.
    #[cfg(feature = "connect")]
    pub(crate) socket: Option<SocketThread>,
    /// The map, while it arrives in pieces.
    pub(crate) map_stream: Receiver,
    /// The game's data, while they arrive in pieces.
    pub(crate) game_stream: Receiver,
    /// The data of the game that is played; empty until the data have arrived, or if the game has
    /// no data.
    pub(crate) game: Vec<u8>,
    /// The bytes that the latest `ObspTransmit` points at.
    pub(crate) transmit: Vec<u8>,
}

/// The means by which a client identifies itself when it joins, and the match that it wants.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspIdentity {
    /// The player's name, in UTF-8: at most 24 characters.
    pub name: *const c_char,
    /// A connect token, or the password of the match; null if there is none.
    pub token: *const u8,
    /// Bytes of the token or password.
    pub token_length: usize,
    /// The ticket of a connection that was lost, `OBSP_TICKET_BYTES` long; null if there is
    /// none. See `obsp_client_ticket`.
    pub ticket: *const u8,
    /// The name of the match to join on a server with several matches; null for the server's first
    /// match. A ticket is valid only in the match that it comes from.
    pub match_name: *const c_char,
}

impl ObspClient {
    /// # Safety
    /// The pointers are null, or valid for reads.
    pub(crate) unsafe fn new(identity: *const ObspIdentity, now: f64) -> Result<Self, Failure> {
        // SAFETY: as this function demands.
        let identity = unsafe { raw::structure(identity, "the identity")? };
        // SAFETY: as this function demands.
        let name = unsafe { raw::text(identity.name, "the name")? };
        let name = PlayerName::new(name).map_err(Failure::invalid)?;
        // SAFETY: as this function demands.
        let token = unsafe { raw::bytes(identity.token, identity.token_length)? }.to_owned();
        let mut credentials = Credentials { token, effects: true, ..Credentials::default() };
        if !identity.ticket.is_null() {
            // SAFETY: as this function demands. The header demands a whole ticket.
            let ticket = unsafe { raw::bytes(identity.ticket, OBSP_TICKET_BYTES)? };
            credentials.ticket = Ticket(ticket.try_into().map_err(Failure::invalid)?);
        }
        if !identity.match_name.is_null() {
            // SAFETY: as this function demands.
            let name = unsafe { raw::text(identity.match_name, "the match")? };
            credentials.match_name = Some(name.parse().map_err(Failure::invalid)?);
        }
        Ok(Self {
            client: Client::new(&name, MapHash::ANY, &credentials, raw::time(now)),
            #[cfg(feature = "connect")]
            socket: None,
            map_stream: Receiver::new(Download::Map),
            game_stream: Receiver::new(Download::Game),
            game: Vec::new(),
            transmit: Vec::new(),
        })
    }

    /// Sends the waiting output, if the connection is the library's own.
    pub(crate) fn flush(&mut self) {
        #[cfg(feature = "connect")]
        if let Some(socket) = &mut self.socket {
            socket.transmit(&mut self.client);
        }
    }
}

/// Version of the protocol that this library speaks. A server of another version refuses its
/// clients.
#[unsafe(no_mangle)]
pub extern "C" fn obsp_protocol_version() -> u32 {
    obsp_proto::PROTOCOL_VERSION
}

/// Makes a client for a connection that the caller has made: QUIC with the protocol "obsp/1", and
/// one bidirectional stream that the caller has opened. Free the client with `obsp_client_free`.
/// Returns null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_new(
    identity: *const ObspIdentity,
    now: f64,
) -> *mut ObspClient {
    guard(ptr::null_mut(), || {
        // SAFETY: the contract of the header.
        let client = unsafe { ObspClient::new(identity, now)? };
        Ok(Box::into_raw(Box::new(client)))
    })
}

/// Frees a client. If the library made its connection, closes the connection, which may take two
/// and a half seconds. Null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_free(client: *mut ObspClient) {
    guard((), || {
        if !client.is_null() {
            // SAFETY: from `Box::into_raw`, and freed once, by the contract of the header.
            drop(unsafe { Box::from_raw(client) });
        }
        Ok(())
    });
}

/// Copies the ticket with which to rejoin as the same player after the connection was lost:
/// `OBSP_TICKET_BYTES`, to be kept secret. Before the client has joined, returns false and writes
/// nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_ticket(client: *mut ObspClient, ticket: *mut u8) -> bool {
    guard(false, || {
        // SAFETY: the contract of the header.
        let own = unsafe { raw::client(client)? }.client.ticket();
        if own == Ticket::NONE {
            return Ok(false);
        }
        // SAFETY: the contract of the header.
        unsafe { raw::put(ticket.cast(), own.0)? };
        Ok(true)
    })
}
