//! Clients with a socket thread of the library's own (feature `connect`).

use std::ffi::c_char;
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

use obsp_client::quic::{Authority, MapStore, ServerAddress, SocketThread, Trust};

use crate::failure::{Failure, guard};
use crate::handle::{ObspClient, ObspIdentity};
use crate::raw;

/// Makes a client that connects to `server`, such as "127.0.0.1:4433" or "play.example.org:4433",
/// on a thread of its own. The thread looks a name up, tries all of its addresses, and takes the
/// first address that answers. `pin` is the SHA-256 of the server's certificate, which the server
/// prints when it starts; for a server on this machine it may be null. `maps` is a folder with
/// compiled maps, or null. A map that is not in the folder is fetched from the server. Call
/// `obsp_client_tick` in every frame, because it receives and sends. If no server answers, an event
/// tells how each address failed. Free the client with `obsp_client_free`. Returns null if it
/// fails.
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
        let server: ServerAddress = server.parse().map_err(Failure::invalid)?;
        let pin = if pin.is_null() {
            None
        } else {
            // SAFETY: the contract of the header.
            let pin = unsafe { raw::text(pin, "the pin")? };
            Some(pin.parse().map_err(Failure::invalid)?)
        };
        let trust = Trust::new(&server, pin, None).map_err(|_| {
            Failure::invalid(format!(
                "{server} is not on this machine: its certificate needs a pin, or an authority \
                 (obsp_connect_by_authority)"
            ))
        })?;
        // SAFETY: the contract of the header.
        unsafe { connect(server, trust, maps, identity, now) }
    })
}

/// Makes a client as `obsp_connect` does, for a server whose certificate an authority has issued.
/// The client needs no new pin when the certificate is renewed. `authority` is the text of a PEM
/// file with the certificates of the trusted authorities, such as Let's Encrypt's roots or your own
/// authority. The server's certificate must carry the name, or the address, that `server` gives.
/// Returns null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_connect_by_authority(
    server: *const c_char,
    authority: *const c_char,
    maps: *const c_char,
    identity: *const ObspIdentity,
    now: f64,
) -> *mut ObspClient {
    guard(ptr::null_mut(), || {
        // SAFETY: the contract of the header.
        let server = unsafe { raw::text(server, "the server")? };
        let server: ServerAddress = server.parse().map_err(Failure::invalid)?;
        // SAFETY: the contract of the header.
        let pem = unsafe { raw::text(authority, "the authority")? };
        let authority = Authority::parse(pem.as_bytes(), server.host());
        let authority = authority.map_err(|reason| {
            Failure::invalid(format!(
                "the certificate authority cannot be used: \
                {reason}"
            ))
        })?;
        // SAFETY: the contract of the header.
        unsafe { connect(server, Trust::Authority(authority), maps, identity, now) }
    })
}

/// Makes a client and its socket thread.
///
/// # Safety
/// The contract of the header, for `maps` and `identity`.
unsafe fn connect(
    server: ServerAddress,
    trust: Trust,
    maps: *const c_char,
    identity: *const ObspIdentity,
    now: f64,
) -> Result<*mut ObspClient, Failure> {
    let folders = if maps.is_null() {
        Vec::new()
    } else {
        // SAFETY: the caller's promise.
        vec![PathBuf::from(unsafe { raw::text(maps, "the folder of maps")? })]
    };
    // SAFETY: the caller's promise.
    let mut client = unsafe { ObspClient::new(identity, now)? };
    let socket = SocketThread::connect(server, trust, Arc::new(MapStore::new(folders)));
    client.socket = Some(socket.map_err(Failure::invalid)?);
    client.flush();
    Ok(Box::into_raw(Box::new(client)))
}
