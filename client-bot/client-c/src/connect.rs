//! Clients with a socket thread of the library's own (feature `connect`).

use std::ffi::c_char;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

use obsp_client::quic::{MapStore, SocketThread, Trust};

use crate::failure::{Failure, guard};
use crate::handle::{ObspClient, ObspIdentity};
use crate::raw;

/// Makes a client that connects to `server`, such as "127.0.0.1:4433", on a thread of its own.
/// `pin` is the SHA-256 of the server's certificate, which the server prints when it starts; for a
/// server on this machine it may be null. `maps` is a folder with compiled maps, or null. A map
/// that is not in the folder is fetched from the server. Call `obsp_client_tick` every frame: it
/// receives and sends. If no server answers, an event says so. Free the client with
/// `obsp_client_free`. Returns null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_connect(
    server: *const c_char,
    pin: *const c_char,
    maps: *const c_char,
    identity: *const ObspIdentity,
    now: f64,
) -> *mut ObspClient {
    guard(ptr::null_mut(), || {
        // SAFETY: the contract of the header.
        let server = unsafe { raw::text(server, "the server")? };
        let address = |error| Failure::invalid(format!("{server:?} is no address: {error}"));
        let server: SocketAddr = server.parse().map_err(address)?;
        let pin = if pin.is_null() {
            None
        } else {
            // SAFETY: the contract of the header.
            let pin = unsafe { raw::text(pin, "the pin")? };
            Some(pin.parse().map_err(Failure::invalid)?)
        };
        let folders = if maps.is_null() {
            Vec::new()
        } else {
            // SAFETY: the contract of the header.
            vec![PathBuf::from(unsafe { raw::text(maps, "the folder of maps")? })]
        };
        // SAFETY: the contract of the header.
        let mut client = unsafe { ObspClient::new(identity, now)? };
        let trust = Trust::new(server.ip(), pin, None).map_err(|_| {
            Failure::invalid(format!(
                "{server} is not on this machine: its certificate needs a pin"
            ))
        })?;
        let socket = SocketThread::connect(server, trust, Arc::new(MapStore::new(folders)));
        client.socket = Some(socket.map_err(Failure::invalid)?);
        client.flush();
        Ok(Box::into_raw(Box::new(client)))
    })
}
